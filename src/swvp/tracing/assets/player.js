/** Plays a training, a column for each rule: step or play, from the JSON of docs/reference/training-json.md. */

import {bar, counted, make, signed, table} from "./dom.js";
import {drawPlane} from "./plane.js";
import {drawTree, goldKey, rightToLeft} from "./tree.js";

const PAUSE = 1400; // milliseconds between two steps

/**
 * Show a training in an element, with its controls.
 * @param {HTMLElement} root
 * @param {Object} data  the training
 * @returns {{stop: function(): void}} stop ends it: it plays no longer and hears no keys
 */
export function playTraining(root, data) {
  const last = Math.max(0, ...data.runs.map(run => run.updates.length));
  const picked = new Map(); // of each run, the mixed assignment to show instead of the prediction
  let at = 0, timer = null;

  const button = (id, text, title, action) => make("button", {id, type: "button", title, onclick: action}, text);
  const leave = step => () => { pause(); show(step()); };
  const first = button("first", "|◀", "First (Home)", leave(() => 0));
  const back = button("back", "◀ back", "Back (←)", leave(() => at - 1));
  const play = button("play", "▶ play", "Play (space)", () => timer === null ? goOn() : pause());
  const next = button("next", "step ▶", "Step (→)", leave(() => at + 1));
  const range = make("input", {id: "at", type: "range", min: 0, max: last, value: 0, "aria-label": "Mistake", oninput: event => {
    pause();
    show(Number(event.target.value));
  }});
  const where = make("span", {id: "where", class: "where", "aria-live": "polite"});
  const runs = make("div", {class: "runs", id: "runs"});
  first.setAttribute("aria-label", "First");
  play.classList.add("primary");
  root.replaceChildren(make("div", {class: "controls", role: "group", "aria-label": "Steps of the training"}, first, back, play, next, range, where), runs);

  function show(step) {
    at = Math.max(0, Math.min(last, step));
    picked.clear();
    range.value = at;
    where.textContent = at === 0 ? "start" : `mistake ${at} of ${last}`;
    back.disabled = first.disabled = at === 0;
    next.disabled = at === last;
    fill();
    if (at === last) pause();
  }
  function fill() {
    const columns = data.runs.map((each, k) => column(data, each, at, picked.get(k) ?? null, j => {
      picked.set(k, picked.get(k) === j ? null : j);
      fill();
      runs.children[k].querySelectorAll(".pick")[j].focus();
    }));
    runs.replaceChildren(...columns);
  }
  function pause() {
    clearInterval(timer);
    timer = null;
    play.textContent = "▶ play";
  }
  function goOn() {
    if (at === last) show(0);
    timer = setInterval(() => show(at + 1), PAUSE);
    play.textContent = "⏸ pause";
  }

  const keys = new AbortController();
  document.addEventListener("keydown", event => {
    if (event.target.closest("input, textarea, select, a, summary, [role=button]")) return;
    if (event.altKey || event.ctrlKey || event.metaKey || (event.key === " " && event.target.closest("button"))) return;
    const actions = {ArrowRight: () => next.click(), ArrowLeft: () => back.click(), Home: () => first.click(), End: leave(() => last), " ": () => play.click()};
    if (!(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  }, {signal: keys.signal});
  show(Math.min(1, last));
  return {stop() { pause(); keys.abort(); }};
}

/** The column of one rule at a step. */
function column(data, run, at, picked, onPick) {
  const update = run.updates[at - 1], name = run.rule + (run.beta === null ? "" : `, β = ${run.beta}`);
  const node = make("section", {class: "run card", "aria-label": name},
    make("div", {class: "head"}, make("h2", {}, name), make("span", {class: "quiet small"}, stateOf(run, update, at))), bound(run, at));
  if (run.w && run.w[0].length === 2) {
    const cone = data.separator?.cone ?? null;
    const every = data.runs.flatMap(other => other.w ?? []);
    node.append(make("h3", {}, `w${cone ? " and the cone of all separators" : ""}`), drawPlane(run.w.slice(0, at + 1), every, cone));
  }
  if (update) node.append(...updateParts(update, picked, onPick));
  return node;
}

function stateOf(run, update, at) {
  if (at === 0 && run.updates.length) return "start";
  if (update) return `epoch ${update.epoch}, example ${update.example + 1}`;
  return run.converged ? "no mistake left" : "end of the trace";
}

/** How many updates were made so far, and how many Theorem 1 allows. */
function bound(run, at) {
  const made = run.updates.slice(0, at).filter(update => update.updated).length;
  const soFar = `${counted(made, "update")} so far`;
  if (run.bound === null) return make("p", {class: "quiet small"}, soFar + (run.no_bound ? `; no bound: ${run.no_bound}` : ""));
  const most = Math.floor(run.bound), meter = bar(made / run.bound, "gamma");
  return make("div", {}, make("p", {class: "quiet small"}, `${soFar}; Theorem 1 allows at most ${most}`),
    make("div", {class: "meter", role: "img", "aria-label": `${made} of at most ${most} updates`}, meter));
}

function updateParts(update, picked, onPick) {
  const terms = update.back_off ? [...update.mixed, update.back_off] : update.mixed, term = terms[picked];
  const title = term ? `Gold, and the mixed assignment of ${positionsOf(update, term)}` : "Gold and predicted";
  const parts = [
    make("h3", {}, title), sentence(update, term ? term.label : update.predicted),
    make("h3", {}, "Mixed assignments: predicted on J, gold elsewhere"), mixedTable(update, terms, picked, onPick),
    make("p", {class: "small"}, conclusion(update)),
    make("p", {class: "small"}, `Gold − predicted: ${signed(update.before.gold - update.before.predicted)} before, `
      + `${signed(update.after.gold - update.after.predicted)} after.`),
  ];
  if (update.changes.length) {
    const rows = update.changes.map(({name, before, after}) => [[name, "name"], ...[before, after, after - before].map(value => [signed(value), "number"])]);
    parts.push(make("h3", {}, `Weights that changed most (${update.changes.length} of ${update.changed_weights})`),
      table("Weights that changed most", ["feature", "before", "after", "change"], rows));
  }
  return parts;
}

/** A tree or a row of labels against gold; wrong parts are marked. */
function sentence(update, labels) {
  if (update.structure !== "heads") return sequence(update, labels);
  const words = update.gold.map((gold, k) => ({form: update.tokens[k] || String(k + 1), head: labels[k], goldHead: gold}));
  const place = {class: "scroll", tabindex: 0, role: "region", "aria-label": "Tree", dir: rightToLeft(words) ? "rtl" : "ltr"};
  return make("div", {}, make("div", place, drawTree(words)), goldKey());
}

function sequence(update, labels) {
  return make("ol", {class: "sequence", dir: "auto"}, ...update.gold.map((gold, k) => {
    const wrong = labels[k] !== gold;
    return make("li", {class: wrong ? "differs" : null},
      make("span", {class: "token"}, update.tokens[k] || String(k + 1)),
      make("span", {class: "predicted"}, String(labels[k] ?? "–")),
      wrong ? make("span", {class: "gold"}, make("span", {class: "visually-hidden"}, "gold: "), String(gold)) : null);
  }));
}

function mixedTable(update, terms, picked, onPick) {
  const largest = Math.max(...terms.map(term => Math.abs(term.margin))) || 1;
  return table("Mixed assignments", ["J", "margin", "", "γ", ""], terms.map((term, j) => [
    make("button", {type: "button", class: "pick", "aria-pressed": String(j === picked), title: "Show this mixed assignment", onclick: () => onPick(j)}, positionsOf(update, term)),
    [signed(term.margin), "number"], [bar(Math.abs(term.margin) / largest, term.violation ? "violation" : ""), "bars"],
    [term.gamma.toFixed(3), "number"], [bar(term.gamma, "gamma"), "bars"]]));
}

function conclusion(update) {
  const used = update.mixed.filter(term => term.gamma > 0).length;
  const kind = !update.updated ? "no update" : update.back_off ? "back-off to CSP" : `${used} of ${update.mixed.length} mixed assignments used`;
  const step = update.step === null ? "of AdaGrad" : +update.step.toFixed(4);
  return `Condition (2): Σγ·margin = ${signed(update.weighted_margin)}, ${update.condition_2 ? "holds" : "fails"}. Step ${step}; ${kind}.`;
}

/** J as people read it, counted from 1; neighbours as a range: "{1–3, 5}". */
function positionsOf(update, term) {
  if (term === update.back_off) return "all: back-off";
  const runs = [];
  for (const k of term.positions) {
    if (runs.length && k === runs.at(-1)[1] + 1) runs.at(-1)[1] = k;
    else runs.push([k, k]);
  }
  return `{${runs.map(([a, b]) => a === b ? a + 1 : `${a + 1}–${b + 1}`).join(", ")}}`;
}
