/** The result of a tagger: phrases as coloured spans of the text, other labels below their words. */

import {make, percent} from "./dom.js";
import {phrasesOf} from "./words.js";

const COLOURS = 6; // of types of phrases, in site.css

/**
 * Draw labelled words; each is a button.
 * @param {Object[]} words  of wordsOf
 * @param {boolean} phrases  whether the model's labels are BIO or the like
 * @param {string[]} types  the types of phrases in a fixed order, so that each keeps its colour
 */
export function drawLabels(words, {phrases, types, onChoose}) {
  const parts = phrases ? phrasesOf(words.map(word => word.label)) : null;
  const node = make("div", {class: parts ? "phrases" : "sequence chips", dir: "auto", role: "group", "aria-label": "Labelled words"});
  if (parts) fillPhrases(node, words, parts, types, onChoose);
  else node.append(...words.map((word, k) => wordButton(word, k, onChoose, true)));
  const buttons = [...node.querySelectorAll("button")];
  buttons.forEach((button, k) => { button.tabIndex = k ? -1 : 0; });
  node.addEventListener("keydown", event => moveByKeys(event, buttons));
  return node;
}

function fillPhrases(node, words, phrases, types, onChoose) {
  const begins = new Map(phrases.map(phrase => [phrase.first, phrase]));
  for (let k = 0; k < words.length; k++) {
    const phrase = begins.get(k), last = phrase?.last ?? k;
    const buttons = words.slice(k, last + 1).map((word, n) => wordButton(word, k + n, onChoose, false));
    if (!phrase) node.append(...buttons, " ");
    else {
      const colour = Math.max(0, types.indexOf(phrase.type)) % COLOURS;
      const end = make("span", {class: "end"}, buttons.pop(), " ", make("span", {class: "type"}, phrase.type));
      node.append(make("span", {class: `phrase colour-${colour}`}, ...buttons.flatMap(button => [button, " "]), end), " ");
    }
    k = last;
  }
}

function wordButton(word, k, onChoose, withLabel) {
  const wrong = Boolean(word.goldLabel && word.goldLabel !== word.label);
  const spoken = [word.form, word.label ?? "no label", typeof word.confidence === "number" ? percent(word.confidence) : null,
    wrong ? `wrong, gold ${word.goldLabel}` : null].filter(Boolean).join(", ");
  const node = make("button", {type: "button", class: `word ${wrong ? "differs" : ""}`, "data-word": k + 1, "aria-pressed": "false",
    "aria-label": `${k + 1}: ${spoken}`, title: spoken, onclick: () => onChoose(k + 1)}, make("span", {class: "token"}, word.form));
  if (typeof word.confidence === "number") node.style.setProperty("--unsure", `${Math.round(70 * (1 - word.confidence))}%`);
  if (withLabel && word.label) node.append(make("span", {class: "predicted"}, word.label));
  if (wrong) node.append(make("span", {class: "gold"}, word.goldLabel));
  return node;
}

function moveByKeys(event, buttons) {
  const from = buttons.indexOf(event.target.closest("button"));
  const forward = getComputedStyle(event.currentTarget).direction === "rtl" ? -1 : 1;
  const targets = {ArrowRight: from + forward, ArrowLeft: from - forward, Home: 0, End: buttons.length - 1};
  if (from < 0 || !(event.key in targets)) return;
  event.preventDefault();
  const to = buttons[targets[event.key]];
  if (!to) return;
  for (const button of buttons) button.tabIndex = button === to ? 0 : -1;
  to.focus();
}
