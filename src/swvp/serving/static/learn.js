/** The page that plays a training: chooses data, rules and β, and hands the training to the player. */

import {ask} from "./api.js";
import {make} from "./dom.js";
import {showNotices} from "./notices.js";
import {playTraining} from "./player.js";
import {columnSample, treeSample} from "./samples.js";
import {fieldsOfAddress, writeAddress} from "./share.js";
import {onToken, showTokenField} from "./token.js";

const DELAY = 600; // milliseconds without a key before a training
const OWN = {
  column: {
    title: "Your own sentences with labels",
    hint: "A token per line with its label last, an empty line after each sentence. At most 30 sentences of 40 words.",
    text: columnSample,
  },
  conllu: {
    title: "A piece of a treebank",
    hint: "Sentences in CoNLL-U, with HEAD. At most 30 sentences of 40 words.",
    text: treeSample,
  },
};

const FIGURES = {
  "figure-1": "Figure 1 of the paper. CSP punishes all wrong arcs alike; SWVP weighs each by how badly it violates, so most of the update goes to the root of the mistake.",
  hmm: "Each label has a favourite symbol and a favourite next label. Press a set J to see its mixed assignment in place of the prediction.",
  "two-dimensions": "Each point of the drawing is a weight vector. Training is done when w lies in the cone, where all separators are.",
};

const get = id => document.getElementById(id);
const typed = {column: OWN.column.text, conllu: OWN.conllu.text};
let player = null, kind = null, timer = null, request = new AbortController();

async function start() {
  try {
    const {lessons, rules, default: given} = await ask("lessons");
    showTokenField();
    const option = (value, text) => make("option", {value}, text);
    get("data").replaceChildren(
      make("optgroup", {label: "Lessons"}, ...lessons.map(({name, title}) => option(name, title))),
      make("optgroup", {label: "Your data"}, ...Object.entries(OWN).map(([name, {title}]) => option(name, title))));
    get("rule-1").replaceChildren(...rules.map(name => option(name, name)));
    get("rule-2").replaceChildren(option("", "no other"), ...rules.map(name => option(name, name)));
    [get("rule-1").value, get("rule-2").value] = given.rules;
    const fields = fieldsOfAddress();
    for (const id of ["data", "rule-1", "rule-2", "beta"]) {
      const field = get(id), value = fields[id];
      if (value !== undefined && (!field.options || [...field.options].some(each => each.value === value))) field.value = value;
    }
    useData();
  } catch (error) {
    fail(error, start);
  }
}

function useData() {
  const name = get("data").value;
  kind = name in OWN ? name : null;
  get("own").hidden = get("epochs").parentElement.hidden = kind === null;
  if (kind) {
    get("sentences").value = typed[kind];
    get("own-hint").textContent = OWN[kind].hint;
  }
  train();
}

function trainSoon(delay = DELAY) {
  clearTimeout(timer);
  timer = setTimeout(train, delay);
}

/** Ask for the training that the fields describe, and play it from its first mistake. */
async function train() {
  request.abort();
  request = new AbortController();
  const {signal} = request, rules = [...new Set([get("rule-1").value, get("rule-2").value])].filter(Boolean), beta = get("beta").value || "1";
  writeAddress({data: get("data").value, "rule-1": rules[0], "rule-2": get("rule-2").value, beta});
  const options = {signal, onBusy: seconds => showNotices(get("notices"), [{text: `The server is busy; trying again in ${seconds} s.`}])};
  get("player").setAttribute("aria-busy", "true");
  try {
    const training = kind
      ? await ask("trace", {...options, body: {kind, data: typed[kind], rules, beta: Number(beta), epochs: Number(get("epochs").value) || 10}})
      : await ask(`lessons/${encodeURIComponent(get("data").value)}?${new URLSearchParams({rules: rules.join(","), beta})}`, options);
    showTraining(training);
  } catch (error) {
    if (!signal.aborted) fail(error, train);
  } finally {
    if (request.signal === signal) get("player").removeAttribute("aria-busy");
  }
}

function showTraining(training) {
  const cut = training.runs.filter(run => run.truncated).map(run => run.rule);
  showNotices(get("notices"), cut.length ? [{text: `The training with ${cut.join(" and ")} has more updates than are shown.`}] : []);
  get("title").textContent = training.title;
  get("figure").textContent = FIGURES[training.name] ?? "";
  player?.stop();
  player = playTraining(get("player"), training);
}

function fail(error, again) {
  player?.stop();
  get("player").replaceChildren();
  get("title").textContent = get("figure").textContent = "";
  showTokenField(error);
  const retry = [0, 408, 429, 503].includes(error.status) ? {name: "Try again", run: again} : null;
  showNotices(get("notices"), [{text: error.message, kind: "error", action: retry}]);
}

get("data").addEventListener("change", useData);
for (const id of ["rule-1", "rule-2"]) get(id).addEventListener("change", train);
for (const id of ["beta", "epochs"]) get(id).addEventListener("input", () => trainSoon());
get("sentences").addEventListener("input", event => { typed[kind] = event.target.value; trainSoon(); });
get("setup").addEventListener("submit", event => { event.preventDefault(); trainSoon(0); });
onToken(start);
start();
