/**
 * Positions of the words and arcs of a tree, such that no label overlaps anything; as swvp/parsing/svg.py does it.
 *
 * An arc is one level above all shorter arcs that it overlaps, and its label is on the arc. Words are moved apart until
 * each label fits between the ends of its arc, and between the arcs that come down through it.
 */

const PORT = 7; // between the ends of two arcs at the same word
const SPACE = 18; // between two words
const MARGIN = 9; // between a label and a corner or another arc

/**
 * @typedef {{head: number, modifier: number, width: number}} Span  two words, from 1 (head 0: a root); width of the label
 * @typedef {{headX: number, modifierX: number, level: number, labelX: number}} Placed
 */

/**
 * @param {number[]} widths  of the words
 * @param {Span[][]} sides  the arcs above the words, and those below
 * @returns {{words: number[], sides: Placed[][]}} the middle of each word, and the arcs
 */
export function layOut(widths, sides) {
  const drawings = sides.map(spans => new Side(spans, widths.length));
  const wide = widths.map((width, k) => Math.max(width, ...drawings.map(side => side.portsWidth(k + 1))));
  const words = [0]; // the middle of each word, from 1; 0 is not used
  wide.forEach((width, k) => words.push(k ? words[k] + SPACE + (wide[k - 1] + width) / 2 : width / 2));
  for (const side of drawings) side.widen(words);
  return {words: words.slice(1), sides: drawings.map(side => side.place(words))};
}

/** The level of each arc, from 1; arcs of roots are on top. */
function levelsOf(spans) {
  const levels = spans.map(() => 0);
  const bounds = spans.map(({head, modifier}) => [Math.min(head, modifier), Math.max(head, modifier)]);
  const length = n => bounds[n][1] - bounds[n][0];
  const order = [...spans.keys()].filter(n => spans[n].head).sort((n, m) => length(n) - length(m));
  order.forEach((n, k) => {
    const [a, b] = bounds[n];
    const overlapped = order.slice(0, k).filter(m => bounds[m][0] < b && a < bounds[m][1]);
    levels[n] = 1 + Math.max(0, ...overlapped.map(m => levels[m]));
  });
  const top = 1 + Math.max(0, ...levels);
  return levels.map(level => level || top);
}

/** The arcs above the words, or the arcs below them. */
class Side {
  constructor(spans, size) {
    this.spans = spans;
    this.levels = levelsOf(spans);
    const ends = Array.from({length: size + 1}, () => []); // at each word: [sort key, arc]
    spans.forEach(({head, modifier}, n) => {
      for (const [here, there] of [[head, modifier], [modifier, head]]) {
        if (here) ends[here].push([there ? (there < here ? -1 : 1) / this.levels[n] : 0, n]);
      }
    });
    this.ends = ends.map(keyed => keyed.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, n]) => n));
  }

  /** The width that the ends of arcs need at a word. */
  portsWidth(word) {
    return PORT * Math.max(0, this.ends[word].length - 1);
  }

  /** Where arc n ends at a word. On each side shorter arcs end farther out, so that none cross. */
  x(words, word, n) {
    const ends = this.ends[word];
    return words[word] + PORT * (ends.indexOf(n) - (ends.length - 1) / 2);
  }

  /** The pieces of arc n between the arcs that come down through it: start, end, and the words at both. */
  pieces(words, n) {
    const {head, modifier} = this.spans[n];
    const first = Math.min(head, modifier), last = Math.max(head, modifier);
    const start = this.x(words, first, n), stop = this.x(words, last, n), inside = [];
    for (let word = first; word <= last; word++) {
      for (const m of this.ends[word]) {
        const x = this.x(words, word, m);
        if (this.levels[m] > this.levels[n] && start < x && x < stop) inside.push([x, word]);
      }
    }
    const cuts = [[start, first], ...inside.sort((a, b) => a[0] - b[0] || a[1] - b[1]), [stop, last]];
    return cuts.slice(1).map(([b, j], k) => [...cuts[k], b, j]).filter(([, i, , j]) => i < j);
  }

  /** Move words apart until each label fits; no distance shrinks, so a label that fits continues to fit. */
  widen(words) {
    const order = [...this.spans.keys()].sort((n, m) => this.levels[n] - this.levels[m]);
    for (const n of order.filter(m => this.spans[m].head)) {
      const [a, i, b, j] = this.pieces(words, n).reduce((best, piece) => piece[2] - piece[0] > best[2] - best[0] ? piece : best);
      moveApart(words, i, j, this.spans[n].width + 2 * MARGIN - (b - a));
    }
    const roots = order.filter(n => !this.spans[n].head).sort((n, m) => this.spans[n].modifier - this.spans[m].modifier);
    roots.slice(1).forEach((m, k) => {
      const n = roots[k], i = this.spans[n].modifier, j = this.spans[m].modifier;
      const between = this.x(words, j, m) - this.x(words, i, n);
      moveApart(words, i, j, (this.spans[n].width + this.spans[m].width) / 2 + MARGIN - between);
    });
  }

  /** The position of each arc, given those of the words. */
  place(words) {
    return this.spans.map(({head, modifier, width}, n) => {
      const modifierX = this.x(words, modifier, n), headX = head ? this.x(words, head, n) : modifierX;
      const middle = (headX + modifierX) / 2, half = width / 2 + MARGIN;
      const places = (head ? this.pieces(words, n) : []).map(([a, , b]) => [a + half, b - half])
        .filter(([a, b]) => b - a > -1e-6).map(([a, b]) => Math.min(Math.max(middle, a), b));
      const labelX = places.length ? places.reduce((best, x) => Math.abs(x - middle) < Math.abs(best - middle) ? x : best) : middle;
      return {headX, modifierX, level: this.levels[n], labelX};
    });
  }
}

/** Widen the gaps between words i to j equally, by `missing` in all. */
function moveApart(words, i, j, missing) {
  if (missing <= 0) return;
  for (let k = i + 1; k < words.length; k++) words[k] += missing * Math.min(1, (k - i) / (j - i));
}
