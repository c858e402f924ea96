/** Elements, numbers and tables: what all parts of the pages draw with. Text is always text, never markup. */

/**
 * Make an HTML element.
 * @param {string} tag
 * @param {Object} attributes  functions are listeners ("onclick"); null and false are left out
 * @param {...(Node|string)} children
 */
export function make(tag, attributes = {}, ...children) {
  return complete(document.createElement(tag), attributes, children);
}

/** Make an SVG element, as `make`. */
export function draw(tag, attributes = {}, ...children) {
  return complete(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function complete(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter(child => child !== null && child !== undefined));
  return node;
}

/** A number with its sign, and three digits: "−0.250". */
export const signed = value => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(3);

/** A probability as people read it: "97 %"; only 1 is "100 %". */
export const percent = share => `${share < 1 ? Math.min(99, Math.round(100 * share)) : 100} %`;

/** "1 word", "2 words". */
export const counted = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** A bar; its share is between 0 and 1. The width is set as a property: the page allows no style attributes. */
export function bar(share, kind = "") {
  const node = make("span", {class: `bar ${kind}`});
  node.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  return node;
}

/**
 * A table that scrolls if it is too wide. A cell is a text, a node, or [text or node, class].
 * @param {string} caption  for screen readers
 */
export function table(caption, headings, rows) {
  const [first] = rows;
  const cells = row => row.map(cell => {
    const [content, kind] = Array.isArray(cell) ? cell : [cell, null];
    return make("td", {class: kind || null}, content);
  });
  const heads = headings.map((text, k) => {
    const number = first && Array.isArray(first[k]) && first[k][1] === "number";
    return make("th", {scope: "col", class: number ? "number" : null}, text);
  });
  const content = make("table", {}, make("caption", {class: "visually-hidden"}, caption),
    make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows.map(row => make("tr", {}, ...cells(row)))));
  return make("div", {class: "scroll"}, content);
}
