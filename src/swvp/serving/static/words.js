/** What the page knows about the words of a sentence: predicted, of another analysis, gold; and how many are right. */

const known = value => value !== null && value !== undefined && value !== "_" && value !== "";

/**
 * The words of an analysis, for drawings and tables.
 * @param {Object} sentence  of the answer to analyze
 * @param {number} rank  which of its alternatives, from 0
 * @param {string} target  of the model: trees, labels, or a column
 */
export function wordsOf(sentence, rank, target) {
  const other = sentence.alternatives?.[rank];
  return sentence.words.map((word, k) => {
    const gold = sentence.gold?.[k], result = {...word, tag: known(word.upos) ? word.upos : known(word.xpos) ? word.xpos : ""};
    if (other && rank > 0) {
      if (other.heads) Object.assign(result, {head: other.heads[k], deprel: other.deprels?.[k] ?? null});
      if (other.labels) result.label = other.labels[k];
      delete result.confidence; // it is that of the best analysis
    }
    if (!gold) return result;
    result.goldTag = [gold.upos, gold.xpos].find(known) ?? null;
    result.goldHead = target === "trees" ? gold.head : null;
    result.goldDeprel = known(gold.deprel) ? gold.deprel : null;
    result.goldLabel = known(gold.label) ? gold.label : null;
    return result;
  });
}

/** How many words are right, or null without gold: {words, heads, labels, tags}, each but words null where unknown. */
export function scoreOf(words) {
  const headed = words.filter(word => typeof word.goldHead === "number" && typeof word.head === "number");
  const labelled = headed.filter(word => word.goldDeprel && word.deprel);
  const tagged = words.filter(word => word.goldLabel && word.label);
  if (!headed.length && !tagged.length) return null;
  const right = word => word.head === word.goldHead;
  return {
    words: headed.length || tagged.length,
    heads: headed.length ? headed.filter(right).length : null,
    labels: labelled.length ? labelled.filter(word => right(word) && word.deprel === word.goldDeprel).length : null,
    tags: tagged.length ? tagged.filter(word => word.label === word.goldLabel).length : null,
  };
}

/** The sum of scores, or null. */
export function sumOf(scores) {
  const given = scores.filter(Boolean);
  if (!given.length) return null;
  const sum = name => given.every(score => score[name] === null) ? null : given.reduce((total, score) => total + (score[name] ?? 0), 0);
  return {words: sum("words"), heads: sum("heads"), labels: sum("labels"), tags: sum("tags")};
}

/** A score for people: "UAS 93.3, LAS 86.7", of all words. */
export function scoreText(score) {
  const shares = [["UAS", score.heads], ["LAS", score.labels], ["accuracy", score.tags]].filter(([, count]) => count !== null);
  return shares.map(([name, count]) => `${name} ${(100 * count / score.words).toFixed(1)}`).join(", ");
}

/** The phrases of BIO and similar labels: {type, first, last}, positions from 0; null if the labels are of another kind. */
export function phrasesOf(labels) {
  if (!labels.length || !labels.every(label => label === "O" || /^[BIESLUM]-./.test(label))) return null;
  const phrases = [];
  labels.forEach((label, k) => {
    if (label === "O") return;
    const [mark, type] = [label[0], label.slice(2)], last = phrases.at(-1);
    const continues = "IELM".includes(mark) && last && last.last === k - 1 && last.type === type && !last.closed;
    if (continues) last.last = k;
    else phrases.push({type, first: k, last: k, closed: false});
    phrases.at(-1).closed = "ESLU".includes(mark);
  });
  return phrases;
}
