/** Weights of two dimensions: the way of w through the plane, and the cone of all separators. */

import {draw} from "./dom.js";

const SIZE = 300, EDGE = 35;

/**
 * Draw the way of w.
 * @param {number[][]} w  the points so far, the last is now
 * @param {number[][]} every  all points that the drawing has room for
 * @param {?number[]} cone  two angles in degrees, between which all separators lie
 */
export function drawPlane(w, every, cone) {
  const points = [[0, 0], ...every], now = w[w.length - 1];
  const low = [0, 1].map(k => Math.min(...points.map(point => point[k])));
  const high = [0, 1].map(k => Math.max(...points.map(point => point[k])));
  const unit = (SIZE - 2 * EDGE) / Math.max(1e-9, high[0] - low[0], high[1] - low[1]);
  const place = ([x, y]) => [EDGE + unit * (x - low[0]), SIZE - EDGE - unit * (y - low[1])];
  const [left, down] = place([0, 0]);
  const written = `(${now.map(value => +value.toFixed(2)).join(", ")})`.replaceAll("-", "−");
  const svg = draw("svg", {class: "plane", viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img", "aria-label": `w is ${written}, after ${w.length - 1} mistakes`});
  if (cone) {
    const [a, b] = cone.map(degrees => degrees * Math.PI / 180).map(angle => [left + 900 * Math.cos(angle), down - 900 * Math.sin(angle)]);
    svg.append(draw("path", {class: "cone", d: `M${left} ${down} L${a} L${b} Z`}));
  }
  svg.append(draw("path", {class: "axes", d: `M0 ${down} H${SIZE} M${left} 0 V${SIZE}`}),
    draw("polyline", {class: "way", points: w.map(place).join(" ")}));
  w.forEach((point, k) => {
    const [cx, cy] = place(point), last = k === w.length - 1;
    svg.append(draw("circle", {class: last ? "now" : "before", cx, cy, r: last ? 5.5 : 2.8}));
  });
  const [x, y] = place(now);
  svg.append(draw("text", {x: Math.min(x + 9, SIZE - 100), y: Math.max(y - 10, 16)}, `w = ${written}`));
  return svg;
}
