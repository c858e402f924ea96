/** One sentence of the results: its text, its tree or labels, its other analyses, an explanation, a table. */

import {savePng, saveSvg} from "./download.js";
import {make, percent, table} from "./dom.js";
import {explanationPanel} from "./explanation.js";
import {drawLabels} from "./labels.js";
import {drawTree, goldKey, markChosen, rightToLeft, zoomTo} from "./tree.js";
import {scoreOf, scoreText, wordsOf} from "./words.js";

/**
 * A card for a sentence.
 * @param {Object} sentence  of the answer to analyze
 * @param {Object} model  of the answer to models
 * @param {{zoom: number, types: string[], phrases: boolean, explain: function(Object, number, string): Promise<Object>}} context
 */
export function sentenceCard(sentence, model, context) {
  let rank = 0, chosen = null;
  const drawing = make("div", {class: "drawing"}), panel = make("div", {}), ranks = rankButtons();
  const score = make("p", {class: "score small"}), details = make("details", {class: "as-table"}, make("summary", {}, "Table"));
  const card = make("article", {class: "sentence card", "aria-label": `Sentence ${sentence.id}`},
    make("header", {dir: rightToLeft(sentence.words) ? "rtl" : null}, make("span", {class: "ordinal", "aria-hidden": "true"}, String(sentence.id)),
      make("p", {class: "text", dir: "auto"}, sentence.text), score),
    ranks, drawing, panel, make("footer", {}, details, saving()));
  details.addEventListener("toggle", fillTable);
  card.addEventListener("keydown", event => { if (event.key === "Escape" && chosen !== null) close(); });

  const words = () => wordsOf(sentence, rank, model.target);

  function rankButtons() {
    if (!sentence.alternatives) return null;
    const best = sentence.alternatives[0]?.score;
    const buttons = sentence.alternatives.map((other, k) => make("button", {type: "button", "aria-pressed": String(k === 0), onclick: () => {
      rank = k;
      buttons.forEach((button, n) => button.setAttribute("aria-pressed", String(n === k)));
      fill();
    }}, `${k + 1}`, k ? make("span", {class: "quiet small"}, ` −${(best - other.score).toFixed(2)}`) : null));
    return make("div", {class: "ranks"}, make("span", {class: "quiet small", id: `ranks-${sentence.id}`}, "Best analyses, and how much less each scores"),
      make("div", {class: "group joined scroll", role: "group", "aria-labelledby": `ranks-${sentence.id}`}, ...buttons));
  }

  function fill() {
    const list = words(), right = scoreOf(list);
    score.textContent = right ? scoreText(right) : "";
    score.hidden = !right;
    drawing.replaceChildren(model.target === "trees" ? scrolling(list) : drawn(list));
    if (right) drawing.append(right.heads === null ? make("p", {class: "key small quiet"}, "Struck out: predicted. Below it: gold.") : goldKey());
    fillTable();
    mark();
  }

  function scrolling(list) {
    const svg = drawTree(list, {onChoose: model.explains.length ? choose : null, groups: groupsOf(sentence), label: "Tree"});
    zoomTo(svg, context.zoom);
    return make("div", {class: "scroll", role: "region", "aria-label": "Tree, scrolls", tabindex: -1, dir: rightToLeft(list) ? "rtl" : "ltr"}, svg);
  }

  function drawn(list) {
    if (model.kind === "tagger") return drawLabels(list, {phrases: context.phrases, types: context.types, onChoose: choose});
    const labelled = list.map(word => ({...word, label: word.tag || null, goldLabel: word.goldTag}));
    return drawLabels(labelled, {phrases: false, types: [], onChoose: choose});
  }

  function choose(number) {
    chosen = chosen === number || !model.explains.length ? null : number;
    mark();
    if (chosen === null) return panel.replaceChildren();
    panel.replaceChildren(explanationPanel(sentence.words[number - 1], model.explains, kind => context.explain(sentence, number, kind), close));
  }

  function close() {
    const number = chosen;
    choose(chosen);
    drawing.querySelector(`.word[data-word="${number}"]`)?.focus();
  }

  function mark() {
    const svg = drawing.querySelector("svg.tree");
    if (svg) return markChosen(svg, chosen);
    for (const button of drawing.querySelectorAll("button.word")) button.setAttribute("aria-pressed", String(Number(button.dataset.word) === chosen));
  }

  function fillTable() {
    if (!details.open) return;
    details.replaceChildren(details.firstElementChild, wordTable(words(), choose));
  }

  function saving() {
    if (model.target !== "trees") return null;
    const name = `sentence-${sentence.id}`, svg = () => drawing.querySelector("svg.tree");
    return make("div", {class: "group"}, make("button", {type: "button", title: "Download the tree as SVG", onclick: () => saveSvg(svg(), `${name}.svg`)}, "SVG"),
      make("button", {type: "button", title: "Download the tree as PNG", onclick: () => savePng(svg(), `${name}.png`)}, "PNG"));
  }

  fill();
  return card;
}

/** The multiword tokens of a sentence, by their words. */
function groupsOf(sentence) {
  return sentence.tokens.filter(token => token.words.length > 1)
    .map(token => ({first: token.words[0], last: token.words.at(-1), text: token.text}));
}

const COLUMNS = [["form", "Word"], ["lemma", "Lemma"], ["upos", "UPOS"], ["xpos", "XPOS"], ["feats", "Features"], ["label", "Label"],
  ["goldLabel", "Gold label"], ["head", "Head"], ["deprel", "Relation"], ["goldHead", "Gold head"], ["goldDeprel", "Gold relation"]];

/** All that the drawing shows, as a table; a word is a button that explains it. */
function wordTable(words, onChoose) {
  const isGiven = value => value !== null && value !== undefined && value !== "_";
  const columns = COLUMNS.filter(([name]) => words.some(word => isGiven(word[name])));
  const head = number => number === 0 ? "0 root" : `${number} ${words[number - 1]?.form ?? ""}`;
  const cell = (word, name) => {
    const value = word[name];
    if (!isGiven(value)) return "";
    if (name === "form") return make("button", {type: "button", class: "plain as-link", title: "Explain", onclick: () => onChoose(word.id)}, make("bdi", {}, value));
    if (name === "head") return word.goldHead !== null && word.goldHead !== undefined && word.goldHead !== value ? [head(value), "wrong"] : head(value);
    if (name === "goldHead") return head(value);
    return name === "feats" ? value.replaceAll("|", " ") : String(value);
  };
  const sure = words.some(word => typeof word.confidence === "number");
  const rows = words.map(word => [[String(word.id), "number"], ...columns.map(([name]) => cell(word, name)),
    ...(sure ? [[typeof word.confidence === "number" ? percent(word.confidence) : "", "number"]] : [])]);
  return table("Words of the sentence", ["", ...columns.map(([, title]) => title), ...(sure ? ["Confidence"] : [])], rows);
}
