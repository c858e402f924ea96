/** The page that analyses text as it is typed: its fields, its requests, its results. */

import {ask} from "./api.js";
import {counted, make} from "./dom.js";
import {saveText} from "./download.js";
import {showNotices} from "./notices.js";
import {sentenceCard} from "./sentence.js";
import {copy, fieldsOfAddress, writeAddress} from "./share.js";
import {onToken, showTokenField} from "./token.js";
import {zoomTo} from "./tree.js";
import {phrasesOf, scoreOf, scoreText, sumOf, wordsOf} from "./words.js";

const DELAY = 250; // milliseconds without a key before a request
const BEST = 5, AT_ONCE = 20, FEATURES = 12; // analyses; sentences; features of an explanation
const ZOOMS = [0.5, 0.65, 0.8, 1, 1.25, 1.5, 2];
const INPUTS = {text: "Plain text", presegmented: "A sentence per line", horizontal: "Tokens with spaces between", vertical: "A token per line", conllu: "CoNLL-U"};

const get = id => document.getElementById(id);
const state = {models: [], limits: {}, model: null, answer: null, shown: 0, zoom: 1, confidence: false, kBest: false};
let timer = null, request = new AbortController();

// ---------------------------------------------------------------- fields

async function start() {
  try {
    const {models, limits, default: first} = await ask("models");
    showTokenField();
    showNotices(get("notices"), []);
    state.models = models;
    state.limits = limits ?? {};
    get("model").replaceChildren(...models.map(({name, kind}) => make("option", {value: name}, `${name} · ${kind}`)));
    useModel(first);
    readAddress();
  } catch (error) {
    fail(error, start);
  }
}

function useModel(name) {
  const before = state.model;
  state.model = state.models.find(model => model.name === name) ?? state.models[0];
  const {inputs, examples, features} = state.model;
  get("model").value = state.model.name;
  get("input").replaceChildren(make("option", {value: ""}, "Automatic"), ...inputs.map(input => make("option", {value: input}, INPUTS[input] ?? input)));
  get("confidence").hidden = !features.includes("confidence");
  get("k-best").hidden = !features.includes("k");
  get("examples").replaceChildren(...examples.map(text => make("button", {type: "button", class: "example", dir: "auto", title: text, onclick: () => setText(text)}, text)));
  const text = get("text").value;
  if (!text.trim() || before?.examples.includes(text)) setText(examples[0] ?? "");
  else analyseSoon(0);
}

function setText(text) {
  get("text").value = text;
  grow();
  analyseSoon(0);
}

/** Take text, model and options from the address, if they are there. */
function readAddress() {
  const {text, model, input, confidence, best} = fieldsOfAddress();
  if (model && state.models.some(({name}) => name === model)) useModel(model);
  if (input && state.model.inputs.includes(input)) get("input").value = input;
  toggle("confidence", Boolean(confidence) && state.model.features.includes("confidence"));
  toggle("kBest", Boolean(best) && state.model.features.includes("k"));
  if (text) setText(text);
}

function toggle(name, on) {
  state[name] = on;
  get(name === "kBest" ? "k-best" : name).setAttribute("aria-pressed", String(on));
}

/** How the text is to be read: as the reader says, or as it looks; null: as the server does by default. */
function inputOf(text) {
  const {inputs} = state.model, chosen = get("input").value;
  if (chosen) return chosen;
  if (inputs.includes("conllu") && /^(?:#.*\n)*\d[^\t\n]*(?:\t[^\t\n]*){9}$/m.test(text)) return "conllu";
  return inputs.includes("text") ? "text" : null;
}

/** The part of a request that holds the text. A tagger of several columns gets tokens: a line each, with its columns. */
function queryOf(text) {
  const input = inputOf(text), model = state.model.name, columns = state.model.columns?.length ?? 1;
  if (input === "conllu") return {model, conllu: text};
  if (columns > 1) return {model, tokens: text.trim().split(/\n\s*\n/).map(lines => lines.split("\n").map(line => line.trim().split(/\s+/)))};
  return {model, text, ...(input && {input})};
}

/** What the address holds. */
function addressFields() {
  return {text: get("text").value, model: state.model.name, input: get("input").value, confidence: state.confidence && 1, best: state.kBest && 1};
}

function hintOf(text) {
  const {columns} = state.model;
  if (inputOf(text) === "conllu") return "Read as CoNLL-U: gold is shown beside what is predicted.";
  if (columns?.length > 1) return `A token per line with its columns ${columns.join(", ")}; an empty line after each sentence.`;
  return "";
}

/** The textarea is as high as its text, up to a limit. */
function grow() {
  const area = get("text");
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + 2, 360)}px`;
}

// ---------------------------------------------------------------- requests

function analyseSoon(delay = DELAY) {
  clearTimeout(timer);
  timer = setTimeout(analyse, delay);
}

async function analyse() {
  if (!state.model) return; // start does it
  const text = get("text").value, bytes = new Blob([text]).size, most = state.limits.bytes;
  get("hint").textContent = hintOf(text);
  get("text").classList.toggle("code", inputOf(text) === "conllu");
  request.abort();
  writeAddress(addressFields());
  if (!text.trim()) return clear();
  if (bytes > most) {
    return fail(new Error(`The text is too long: it has ${counted(bytes, "byte")}, and this server takes at most ${counted(most, "byte")}. `
      + "Analyse it in parts, or with swvp on your computer."));
  }
  request = new AbortController();
  const {signal} = request, slow = setTimeout(() => { get("progress").hidden = false; }, 300);
  get("results").setAttribute("aria-busy", "true");
  try {
    const body = {...queryOf(text), ...(state.confidence && {confidence: true}), ...(state.kBest && {k: Math.min(BEST, state.limits.k ?? BEST)})};
    const answer = await ask("analyze", {body, signal, onBusy: seconds => {
      showNotices(get("notices"), [{text: `The server is busy; trying again in ${counted(seconds, "second")}.`}]);
    }});
    show(answer);
  } catch (error) {
    if (!signal.aborted) fail(error, analyse);
  } finally {
    clearTimeout(slow);
    if (request.signal === signal) {
      get("progress").hidden = true;
      get("results").removeAttribute("aria-busy");
    }
  }
}

function explain(sentence, number, what) {
  const predicts = state.model.kind === "pipeline" ? ["form"] : ["form", "lemma", "upos", "xpos", "feats"].filter(name => name !== state.model.target);
  const tokens = sentence.words.map(word => Object.fromEntries(predicts.map(name => [name, word[name]]).filter(([, value]) => value && value !== "_")));
  return ask("explain", {body: {model: state.model.name, tokens, word: number, what, top: FEATURES}});
}

/** Show an error; `again` is what to try again if nothing else helps. */
function fail(error, again = null) {
  clear();
  showTokenField(error);
  const retry = again && [0, 408, 429, 503].includes(error.status) ? {name: "Try again", run: again} : null;
  showNotices(get("notices"), [{text: error.message, kind: "error", action: retry}]);
}

// ---------------------------------------------------------------- results

function clear() {
  state.answer = null;
  get("toolbar").hidden = get("more").hidden = true;
  get("sentences").replaceChildren();
  showNotices(get("notices"), []);
}

function show(answer) {
  state.answer = answer;
  state.shown = 0;
  showNotices(get("notices"), (answer.notes ?? []).map(text => ({text: `${text[0].toUpperCase()}${text.slice(1)}.`})));
  const {sentences, seconds} = answer, words = sentences.reduce((sum, sentence) => sum + sentence.words.length, 0);
  const score = sumOf(sentences.map(sentence => scoreOf(wordsOf(sentence, 0, state.model.target))));
  const parts = [counted(sentences.length, "sentence"), counted(words, "word"), `${Math.max(1, Math.round(1000 * seconds))} ms`];
  get("summary").textContent = parts.join(" · ") + (score ? ` · ${scoreText(score)}` : "");
  get("toolbar").hidden = false;
  get("zoom").hidden = state.model.target !== "trees";
  get("sentences").replaceChildren();
  showMore();
}

function showMore() {
  const {sentences} = state.answer, labels = sentences.flatMap(({words}) => words.map(word => word.label ?? "_"));
  const known = state.model.labels?.filter(label => label !== "O") ?? labels;
  const context = {zoom: state.zoom, explain, phrases: phrasesOf(labels) !== null && (known.length > 0),
    types: [...new Set(known.filter(label => /^.-/.test(label)).map(label => label.slice(2)))].sort()};
  const next = sentences.slice(state.shown, state.shown + AT_ONCE);
  get("sentences").append(...next.map(sentence => sentenceCard(sentence, state.model, context)));
  state.shown += next.length;
  const left = sentences.length - state.shown;
  get("more").hidden = left === 0;
  get("more").textContent = `Show ${Math.min(left, AT_ONCE)} more of ${counted(left, "sentence")}`;
}

function setZoom(zoom) {
  state.zoom = zoom;
  get("natural").textContent = `${Math.round(100 * zoom)} %`;
  get("smaller").disabled = zoom === ZOOMS[0];
  get("larger").disabled = zoom === ZOOMS.at(-1);
  for (const svg of document.querySelectorAll("svg.tree")) zoomTo(svg, zoom);
}

function zoomBy(steps) {
  const place = ZOOMS.indexOf(state.zoom) + steps;
  setZoom(ZOOMS[Math.min(ZOOMS.length - 1, Math.max(0, place))]);
}

async function saveConllu() {
  try {
    const {result} = await ask("analyze", {body: {...queryOf(get("text").value), output: "conllu"}});
    saveText(result, "sentences.conllu", "text/plain");
  } catch (error) {
    fail(error);
  }
}

async function copyLink() {
  const fits = writeAddress(addressFields()), done = fits && await copy(location.href);
  get("link").textContent = done ? "Copied" : fits ? "See the address" : "Too long for a link";
  setTimeout(() => { get("link").textContent = "Copy link"; }, 2500);
}

// ---------------------------------------------------------------- events

get("text").addEventListener("input", () => { grow(); analyseSoon(); });
get("text").addEventListener("keydown", event => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) analyseSoon(0); });
get("compose").addEventListener("submit", event => event.preventDefault());
get("model").addEventListener("change", event => useModel(event.target.value));
get("input").addEventListener("change", () => analyseSoon(0));
get("confidence").addEventListener("click", () => { toggle("confidence", !state.confidence); analyseSoon(0); });
get("k-best").addEventListener("click", () => { toggle("kBest", !state.kBest); analyseSoon(0); });
get("smaller").addEventListener("click", () => zoomBy(-1));
get("larger").addEventListener("click", () => zoomBy(1));
get("natural").addEventListener("click", () => setZoom(1));
get("sentences").addEventListener("wheel", event => {
  if (!event.ctrlKey || !event.target.closest("svg.tree")) return;
  event.preventDefault();
  zoomBy(event.deltaY < 0 ? 1 : -1);
}, {passive: false});
get("save-conllu").addEventListener("click", saveConllu);
get("save-json").addEventListener("click", () => saveText(`${JSON.stringify(state.answer, null, 1)}\n`, "sentences.json", "application/json"));
get("link").addEventListener("click", copyLink);
get("more").addEventListener("click", showMore);
onToken(start);
window.addEventListener("hashchange", readAddress);
start();
