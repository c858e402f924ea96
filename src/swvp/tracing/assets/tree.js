/** Dependency trees as SVG: predicted arcs above the words, missed gold arcs below them; words are buttons if asked. */

import {draw, make, percent} from "./dom.js";
import {layOut} from "./layout.js";

const WORD = 16, SMALL = 11.5; // font sizes, as in drawings.css
const LEVEL = 21, FOOT = 8, CORNER = 9, ARROW = 7, BORDER = 10, GROUP = 26;

/**
 * @typedef {Object} TreeWord  a word as it is predicted, and as it is in the gold tree if there is one
 * @property {string} form
 * @property {?number} head  0 for a root, null for none
 * @property {?string} [deprel]
 * @property {?string} [tag]
 * @property {?number} [confidence]
 * @property {?number} [goldHead]  undefined or null without gold tree
 * @property {?string} [goldDeprel]
 * @property {?string} [goldTag]
 */

/**
 * Draw a tree.
 * @param {TreeWord[]} words
 * @param {{onChoose?: function(number): void, groups?: {first: number, last: number, text: string}[], label?: string}} options
 *   onChoose gets the number of a word; groups are tokens of several words
 * @returns {SVGElement}
 */
export function drawTree(words, {onChoose = null, groups = [], label = "Dependency tree"} = {}) {
  const [above, below] = arcsOf(words);
  const rows = rowsOf(words);
  const widths = words.map((word, k) => Math.max(...rows.map(row => textWidth(row.text(word, k), row.size))));
  const spans = side => side.map(({head, modifier, width}) => ({head, modifier, width}));
  const layout = layOut(widths, [spans(above), spans(below)]);
  const box = extent(layout, widths, [above, below]);
  const mirrored = rightToLeft(words), width = box.right - box.left;
  const across = x => mirrored ? box.right - x : x - box.left;
  const heights = layout.sides.map(heightOf);
  const bottom = rows.reduce((sum, row) => sum + row.step, 4), foot = bottom + (groups.length ? GROUP : 0);
  const height = heights[0] + foot + heights[1] + BORDER / 2;
  const svg = draw("svg", {
    class: "tree", width, height, viewBox: `0 0 ${width} ${height}`, "data-width": width, "data-height": height,
    role: onChoose ? "group" : "img", "aria-label": `${label}: ${words.map(word => word.form).join(" ")}`,
  });
  if (!onChoose) svg.append(draw("desc", {}, words.map((_, k) => spoken(words, k + 1)).join("; ")));
  const sides = [[above, layout.sides[0], heights[0], -1], [below, layout.sides[1], heights[0] + foot, 1]];
  for (const [arcs, placed, start, up] of sides) {
    arcs.forEach((arc, n) => {
      const {headX, modifierX, level, labelX} = placed[n];
      const place = {headX: across(headX), modifierX: across(modifierX), level, labelX: across(labelX)};
      svg.append(drawArc(words, arc, place, start, up, onChoose));
    });
  }
  words.forEach((_, k) => svg.append(drawWord(words, k, rows, across(layout.words[k]), heights[0], widths[k], onChoose)));
  for (const {first, last, text} of groups) {
    const ends = [layout.words[first - 1] - widths[first - 1] / 2, layout.words[last - 1] + widths[last - 1] / 2].map(across);
    svg.append(drawGroup(Math.min(...ends), Math.max(...ends), heights[0] + bottom + 3, text));
  }
  if (onChoose) moveByKeys(svg, words, mirrored, onChoose);
  return svg;
}

/** Show which word is chosen, and the arc into it; null for none. */
export function markChosen(svg, chosen) {
  svg.classList.toggle("has-chosen", chosen !== null);
  for (const node of svg.querySelectorAll("[data-word]")) {
    const here = Number(node.dataset.word) === chosen;
    node.classList.toggle("chosen", here);
    if (node.hasAttribute("aria-pressed")) node.setAttribute("aria-pressed", String(here));
  }
}

/** Show a tree larger or smaller; 1 is its natural size. */
export function zoomTo(svg, zoom) {
  svg.setAttribute("width", svg.dataset.width * zoom);
  svg.setAttribute("height", svg.dataset.height * zoom);
}

/** What the dashes of a tree beside gold mean. */
export function goldKey() {
  const sample = kind => make("span", {class: `sample ${kind}`, "aria-hidden": "true"});
  return make("p", {class: "key small quiet"}, sample("missing-gold"), "predicted, wrong", sample("missed"), "gold");
}

/** Whether most words are written from right to left; then the sentence is too. */
export function rightToLeft(words) {
  const lettered = words.filter(({form}) => /\p{L}/u.test(form));
  const right = lettered.filter(({form}) => /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(form));
  return 2 * right.length > lettered.length;
}

/** A word and its arc in one sentence, for tooltips and screen readers. */
export function spoken(words, number) {
  const word = words[number - 1], parts = [word.form];
  const headed = head => head ? `head ${words[head - 1]?.form ?? head}` : "root of the sentence";
  if (word.tag) parts.push(word.tag);
  if (word.head !== null && word.head !== undefined) {
    parts.push(headed(word.head));
    if (word.deprel && word.head) parts.push(word.deprel);
  }
  if (typeof word.confidence === "number") parts.push(percent(word.confidence));
  if (hasGold(word)) {
    if (word.goldHead !== word.head) parts.push(`wrong, gold ${headed(word.goldHead)}`);
    else if (labelDiffers(word)) parts.push(`wrong label, gold ${word.goldDeprel}`);
    else parts.push("right");
  }
  if (word.goldTag && word.goldTag !== word.tag) parts.push(`gold tag ${word.goldTag}`);
  return parts.join(", ");
}

const hasGold = word => word.goldHead !== null && word.goldHead !== undefined;
const labelDiffers = word => Boolean(word.deprel && word.goldDeprel && word.deprel !== word.goldDeprel);

/** The predicted arcs, one for each word that has a head, and the missed gold arcs. */
function arcsOf(words) {
  const above = [], below = [];
  words.forEach((word, k) => {
    const wrong = hasGold(word) && word.goldHead !== word.head;
    if (word.head !== null && word.head !== undefined) {
      const gold = !wrong && hasGold(word) && labelDiffers(word) ? word.goldDeprel : "";
      above.push(newArc(word.head, k + 1, word.deprel ?? "", gold, wrong ? "missing-gold" : "right"));
    }
    if (wrong) below.push(newArc(word.goldHead, k + 1, word.goldDeprel ?? "", "", "missed"));
  });
  return [above, below];
}

function newArc(head, modifier, text, gold, kind) {
  return {head, modifier, text, gold, kind, width: textWidth(gold ? `${text} ${gold}` : text, SMALL)};
}

/** The rows of text at a word: the word, its tags, its confidence. */
function rowsOf(words) {
  const rows = [{kind: "form", size: WORD, step: 22, text: word => word.form}];
  if (words.some(word => word.tag)) rows.push({kind: "tag", size: SMALL, step: 16, text: word => word.tag ?? ""});
  if (words.some(word => word.goldTag && word.goldTag !== word.tag)) {
    rows.push({kind: "gold-tag", size: SMALL, step: 16, text: word => word.goldTag === word.tag ? "" : word.goldTag ?? ""});
  }
  if (words.some(word => typeof word.confidence === "number")) {
    rows.push({kind: "share", size: SMALL, step: 16, text: word => typeof word.confidence === "number" ? percent(word.confidence) : ""});
  }
  return rows;
}

function extent(layout, widths, sides) {
  const lefts = [0], rights = [40];
  const add = (x, half) => { lefts.push(x - half); rights.push(x + half); };
  layout.words.forEach((x, k) => add(x, widths[k] / 2 + 4));
  layout.sides.forEach((placed, s) => placed.forEach(({headX, modifierX, labelX}, n) => {
    add(labelX, sides[s][n].width / 2);
    add(headX, ARROW);
    add(modifierX, ARROW);
  }));
  return {left: Math.min(...lefts) - BORDER, right: Math.max(...rights) + BORDER};
}

function heightOf(placed) {
  return placed.length ? FOOT + LEVEL * (1 + Math.max(...placed.map(({level}) => level))) : 0;
}

function drawArc(words, arc, place, start, up, onChoose) {
  const {headX: a, modifierX: b, level, labelX} = place;
  const foot = start + 3 * up, line = start + up * (FOOT + LEVEL * level), tip = foot + up * ARROW;
  const side = b > a ? 1 : -1, r = Math.min(CORNER, Math.abs(b - a) / 2);
  const path = arc.head
    ? `M${a} ${foot}V${line - up * r}Q${a} ${line} ${a + side * r} ${line}H${b - side * r}Q${b} ${line} ${b} ${line - up * r}V${tip - up}`
    : `M${b} ${line}V${tip - up}`;
  const group = draw("g", {
    class: `arc ${arc.kind}`, "data-word": arc.modifier, "data-head": arc.head, "aria-hidden": onChoose ? "true" : null,
    onclick: onChoose ? () => onChoose(arc.modifier) : null,
  }, draw("title", {}, spoken(words, arc.modifier)));
  if (onChoose) group.append(draw("path", {class: "hit", d: path}));
  group.append(draw("path", {class: "line", d: path}),
    draw("path", {class: "tip", d: `M${b} ${foot}L${b - ARROW / 2} ${tip}H${b + ARROW / 2}Z`}));
  if (arc.text) {
    const text = draw("text", {class: "label", x: labelX, y: up < 0 ? line - 4 : line + SMALL + 1}, arc.gold ? "" : arc.text);
    if (arc.gold) text.append(draw("tspan", {class: "struck"}, arc.text), ` ${arc.gold}`);
    group.append(text);
  }
  return group;
}

function drawWord(words, k, rows, x, top, width, onChoose) {
  const word = words[k], height = rows.reduce((sum, row) => sum + row.step, 0);
  const group = draw("g", {
    class: "word", "data-word": k + 1,
    role: onChoose ? "button" : null, tabindex: onChoose ? (k ? "-1" : "0") : null, "aria-pressed": onChoose ? "false" : null,
    "aria-label": onChoose ? `${k + 1}: ${spoken(words, k + 1)}` : null, onclick: onChoose ? () => onChoose(k + 1) : null,
  });
  const box = {x: x - width / 2 - 5, y: top + 1, width: width + 10, height: height + 2, rx: 6};
  group.append(draw("rect", {class: "ground", ...box}));
  if (typeof word.confidence === "number") {
    group.append(draw("rect", {class: "doubt", ...box, height: 21, "fill-opacity": (0.7 * (1 - word.confidence)).toFixed(3)}));
  }
  let y = top;
  for (const row of rows) {
    y += row.step;
    const wrong = row.kind === "tag" && word.goldTag && word.goldTag !== word.tag;
    const text = row.text(word);
    if (text) group.append(draw("text", {class: wrong ? `${row.kind} wrong-tag` : row.kind, x, y: y - 5}, text));
  }
  return group;
}

/** A bracket below the words of one token. */
function drawGroup(left, right, y, text) {
  return draw("g", {class: "group"}, draw("path", {class: "bracket", d: `M${left} ${y}v4H${right}v-4`}),
    draw("text", {class: "tag", x: (left + right) / 2, y: y + 17}, text));
}

/** One stop for the tab key; arrow keys go to neighbours, up to the head and down to the first word below. */
function moveByKeys(svg, words, mirrored, onChoose) {
  const buttons = [...svg.querySelectorAll(".word")];
  svg.addEventListener("keydown", event => {
    const from = buttons.indexOf(event.target.closest(".word"));
    if (from < 0) return;
    const forward = mirrored ? -1 : 1;
    const targets = {
      ArrowRight: from + forward, ArrowLeft: from - forward, Home: 0, End: buttons.length - 1,
      ArrowUp: words[from].head ? words[from].head - 1 : from, ArrowDown: words.findIndex(word => word.head === from + 1),
    };
    if (event.key === "Enter" || event.key === " ") onChoose(from + 1);
    else if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    const to = buttons[targets[event.key] ?? from];
    if (!to) return;
    for (const button of buttons) button.setAttribute("tabindex", button === to ? "0" : "-1");
    to.focus();
    to.scrollIntoView({block: "nearest", inline: "nearest"});
  });
}

let measure = null;

/** The width of a text, in pixels. */
function textWidth(text, size) {
  measure ??= document.createElement("canvas").getContext("2d");
  const font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
  if (measure.font !== font) measure.font = font;
  return measure.measureText(text).width;
}
