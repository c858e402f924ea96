/** Why a word has its head, label or lemma: the weights for it and against it, as bars on two sides of a line. */

import {bar, counted, make, signed} from "./dom.js";

const NAMES = {head: "Head", label: "Label", lemma: "Lemma"};
const SOURCES = {
  lexicon: "It is in the dictionary of lemmas.", memory: "The word with this tag was in the training data.",
  form: "The form itself is the lemma.",
};

/**
 * A panel that explains one word.
 * @param {Object} word
 * @param {string[]} kinds  what can be explained: head, label, lemma
 * @param {function(string): Promise<Object>} explain  asks the server
 * @param {function(): void} onClose
 */
export function explanationPanel(word, kinds, explain, onClose) {
  const content = make("div", {class: "content"}), heading = make("h3", {class: "question", dir: "auto"});
  const tabs = kinds.map(kind => make("button", {type: "button", "aria-pressed": "false", onclick: () => show(kind)}, NAMES[kind]));
  const close = make("button", {type: "button", class: "plain square", "aria-label": "Close the explanation", title: "Close (Esc)", onclick: onClose}, "✕");
  const choice = make("div", {class: "group joined", role: "group", "aria-label": "What to explain", hidden: kinds.length < 2}, ...tabs);
  const panel = make("section", {class: "explanation", "aria-label": `Explanation of ${word.form}`},
    make("div", {class: "row", "aria-live": "polite"}, heading, choice, close), content);

  let current = null;
  async function show(kind) {
    current = kind;
    tabs.forEach((tab, k) => tab.setAttribute("aria-pressed", String(kinds[k] === kind)));
    content.setAttribute("aria-busy", "true");
    try {
      const answer = await explain(kind);
      if (kind !== current) return; // another one was chosen since
      heading.replaceChildren(...question(word, kind, answer));
      content.replaceChildren(...contents(answer));
    } catch (error) {
      content.replaceChildren(make("p", {class: "wrong"}, error.message));
    }
    content.removeAttribute("aria-busy");
  }
  show(kinds[0]);
  return panel;
}

function contents(answer) {
  const source = SOURCES[answer.source];
  if (source) return [make("p", {}, source)];
  if (!answer.contributions.length) return [make("p", {class: "quiet"}, "There was no other choice.")];
  const hidden = answer.features - answer.shown;
  const rest = hidden > 0 ? `; ${counted(hidden, "smaller feature")} not shown` : "";
  return [
    make("p", {class: "quiet small"}, `Bars to the right speak for it, bars to the left for the second best. Sum of all: ${signed(answer.total)}${rest}.`),
    weightTable(answer.contributions),
  ];
}

function question(word, kind, {predicted, second}) {
  const strong = text => make("b", {}, make("bdi", {}, text));
  const against = second ? [" and not ", strong(second), "?"] : ["?"];
  return ["Why does ", strong(word.form), ` have the ${kind} `, strong(predicted), ...against];
}

function weightTable(contributions) {
  const largest = Math.max(...contributions.map(({value}) => Math.abs(value))) || 1;
  const rows = contributions.map(({feature, value}) => {
    const side = value > 0 ? "for" : "against";
    const half = (name, shown) => make("span", {class: `half ${name}`}, shown ? bar(Math.abs(value) / largest, side) : null);
    return make("tr", {}, make("th", {scope: "row", class: "name", dir: "auto"}, feature), make("td", {class: "number"}, signed(value)),
      make("td", {class: "scale", "aria-label": side}, half("left", value < 0), half("right", value > 0)));
  });
  return make("table", {class: "weights"}, make("caption", {class: "visually-hidden"}, "Features and their weights"), make("tbody", {}, ...rows));
}
