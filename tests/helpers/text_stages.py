"""Small stages in plain Python, in the place of those of a pipeline: they split at blanks and remember words."""

import re
from typing import ClassVar

import numpy as np

from swvp.io.model_files import require
from swvp.io.tree_checks import column_of
from swvp.text.sentence import Segmentation

FAKES = {
    "tokens": ("helpers.text_stages", "BlankTokenizer"),
    "multiword": ("helpers.text_stages", "Dictionary"),
    "tags": ("helpers.text_stages", "RememberedTags"),
    "lemmas": ("helpers.text_stages", "RememberedLemmas"),
}


class Stage:
    """A stage whose model is a dict of strings."""

    def __init__(self, known):
        self.known = known

    def contents(self):
        return {"known": self.known}, {"size": np.array([len(self.known)])}

    @staticmethod
    def array_names(meta):
        return {"size"}

    @classmethod
    def from_contents(cls, meta, arrays, memory):
        require(isinstance(meta["known"], dict) and int(arrays["size"][0]) == len(meta["known"]), "words")
        return cls(meta["known"])


class BlankTokenizer(Stage):
    """Tokens are what is between blanks, a full stop at the end of one is a token that ends its sentence."""

    @classmethod
    def train(cls, table, *, dev=None, random_state=0, watch=None):
        return cls({})

    def segment(self, text):
        tokens = [match.span() for match in re.finditer(r"[^\s.]+|\.", text)]
        ends = [k + 1 for k, (a, b) in enumerate(tokens) if text[a:b] == "."]
        offsets = sorted({0, *ends, len(tokens)})
        starts, stops = np.array(tokens, np.int64).reshape(-1, 2).T
        return Segmentation(starts, stops, np.array(offsets, np.int64))

    def segment_stream(self, chunks):
        text = "".join(chunks)
        for piece in re.findall(r"[^.]*\.|[^.]+$", text):  # a part for each sentence, with the spaces before it
            yield piece, self.segment(piece)


class Dictionary(Stage):
    """Two multiword tokens."""

    feats: ClassVar = {"cannot": "Typo=Yes"}

    @classmethod
    def train(cls, table):
        return cls({"du": ["de", "le"], "cannot": ["can", "not"]})

    def expand_all(self, forms, sentence_offsets):
        return [tuple(self.known[form]) if form in self.known else None for form in forms]


class RememberedTags(Stage):
    """Each word has the tags of its first occurrence."""

    @classmethod
    def train(cls, treebank, *, dev=None, random_state=0, epochs=1, watch=None):
        rows = zip(*(listed(column) for column in (treebank.words, treebank.upos, treebank.feats)), strict=True)
        known = {}
        for word, upos, feats in rows:
            known.setdefault(word, [upos, feats])
        return cls(known)

    def predict(self, words, offsets):
        rows = [self.known.get(word, ["X", "_"]) for word in listed(words)]
        return column_of(row[0] for row in rows), column_of("_" for _ in rows), column_of(row[1] for row in rows)


class RememberedLemmas(Stage):
    """Each word has the lemma of its first occurrence."""

    def __init__(self, known):
        super().__init__(known)
        self.lexicon = {}

    @classmethod
    def train(cls, treebank, *, dev=None, random_state=0, epochs=1, watch=None):
        known = {}
        for word, lemma in zip(listed(treebank.words), listed(treebank.lemmas), strict=True):
            known.setdefault(word, lemma)
        return cls(known)

    def predict(self, words, upos, xpos, feats, offsets):
        return column_of(self.known.get(word, word) for word in listed(words))


def listed(column):
    return [column.strings[k] for k in column.ids]


def treebank_text(sentences=12):
    """A small treebank of a made-up language, in which "du" is "de le"."""
    nouns, verbs = ["chien", "chat", "roi"], ["dort", "mange"]
    lines = []
    for k in range(sentences):
        noun, other, verb = nouns[k % 3], nouns[(k + 1) % 3], verbs[k % 2]
        lines += ["# newpar"] if k % 4 == 0 else []
        lines += [f"# text = le {noun} du {other} {verb}."]
        lines += [
            "1\tle\tle\tDET\t_\tDefinite=Def\t2\tdet\t_\t_",
            f"2\t{noun}\t{noun}\tNOUN\t_\tNumber=Sing\t6\tnsubj\t_\t_",
            "3-4\tdu\t_\t_\t_\t_\t_\t_\t_\t_",
            "3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_",
            "4\tle\tle\tDET\t_\tDefinite=Def\t5\tdet\t_\t_",
            f"5\t{other}\t{other}\tNOUN\t_\tNumber=Sing\t2\tnmod\t_\t_",
            f"6\t{verb}\t{verb[:-1]}r\tVERB\t_\tTense=Pres\t0\troot\t_\tSpaceAfter=No",
            "7\t.\t.\tPUNCT\t_\t_\t6\tpunct\t_\t_",
            "",
        ]
    return "\n".join(lines) + "\n"
