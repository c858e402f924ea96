/** Data to begin with on the page that plays a training: a few sentences with labels, and a few trees. */

const NAMES = ["Ann/B-PER saw/O Bo/B-PER", "Bo/B-PER Lee/I-PER left/O", "they/O saw/O Ann/B-PER Lee/I-PER"];

const TREES = [ // word/tag/head
  "the/DET/2 girl/NOUN/6 with/ADP/5 the/DET/5 hat/NOUN/2 saw/VERB/0 a/DET/8 dog/NOUN/6 in/ADP/11 the/DET/11 garden/NOUN/6",
  "she/PRON/2 ate/VERB/0 the/DET/4 cake/NOUN/2 of/ADP/7 the/DET/7 boy/NOUN/4 with/ADP/10 a/DET/10 fork/NOUN/2",
  "a/DET/2 dog/NOUN/6 of/ADP/5 the/DET/5 man/NOUN/2 barks/VERB/0 at/ADP/9 the/DET/9 girl/NOUN/6",
  "he/PRON/2 gave/VERB/0 the/DET/5 old/ADJ/5 man/NOUN/2 a/DET/7 book/NOUN/2 about/ADP/9 dogs/NOUN/7",
  "in/ADP/3 the/DET/3 garden/NOUN/5 she/PRON/5 saw/VERB/0 the/DET/7 hat/NOUN/5 of/ADP/10 the/DET/10 boy/NOUN/7",
];

const lines = (sentences, line) => sentences.map(text => `${text.split(" ").map((word, k) => line(word.split("/"), k)).join("\n")}\n`).join("\n");

/** Sentences with labels, a token per line. */
export const columnSample = lines(NAMES, fields => fields.join(" "));

/** Sentences in CoNLL-U. */
export const treeSample = lines(TREES, ([form, tag, head], k) => [k + 1, form, "_", tag, "_", "_", head, "_", "_", "_"].join("\t"));
