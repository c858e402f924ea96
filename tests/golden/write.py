"""Write the golden files: a tiny model of every kind, and what it predicts.

    python tests/golden/write.py

Every later version must load them and predict the same. So they are written once, for each version of a format, into
a folder of its own: run this after a change of the format (`FORMAT` in `tagging/model.py` and `parsing/model.py`), not
after a change of training, on which loading does not depend.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path

from swvp import DependencyParser, SequenceTagger
from swvp.parsing import parser as parser_module
from swvp.parsing.labeller import Labeller

FOLDER = Path(__file__).parent / "format-1"

WORDS = [["the", "dog", "barks"], ["a", "cat", "sees", "the", "dog"], ["dogs", "bark"], ["the", "old", "man", "sleeps"]]
TAGS = [["D", "N", "V"], ["D", "N", "V", "D", "N"], ["N", "V"], ["D", "A", "N", "V"]]
NEW_WORDS = [["the", "cat", "barks"], ["a", "dog", "sleeps"], ["old", "dogs", "bark"], ["unknown"]]

TOKENS = [[("Ann", "NNP"), ("Lee", "NNP"), ("saw", "VB"), ("Rome", "NNP")], [("Bo", "NNP"), ("left", "VB")]]
NAMES = [["B-PER", "I-PER", "O", "B-LOC"], ["B-PER", "O"]]
NEW_TOKENS = [[("Ann", "NNP"), ("left", "VB"), ("Rome", "NNP")], [("Lee", "NNP")]]

READY = [[{"w": "a", "n": 0.5}, {"w": "b", "n": 2.0}], [{"w": "b"}, {"w": "a"}, {"w": "a", "n": 1}]]
READY_LABELS = [["x", "y"], ["y", "x", "x"]]

SENTENCES = [
    [("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")],
    [("a", "DET"), ("cat", "NOUN"), ("sees", "VERB"), ("the", "DET"), ("dog", "NOUN")],
    [("it", "PRON"), ("rains", "VERB"), (".", "PUNCT")],
]
TREES = [
    [(2, "det"), (3, "nsubj"), (0, "root")],
    [(2, "det"), (3, "nsubj"), (0, "root"), (5, "det"), (3, "obj")],
    [(2, "nsubj"), (0, "root"), (2, "punct")],
]
NEW_SENTENCES = [
    [("the", "DET"), ("cat", "NOUN"), ("barks", "VERB"), (".", "PUNCT")],
    [("a", "DET"), ("dog", "NOUN"), ("sees", "VERB"), ("it", "PRON")],
    [("new", "ADJ")],
]

FEW = ["word[0]", "suffix(word[0], 1)", "word[-1] & word[0]", "word[1]", "bias"]
ARCS = ["h.pos & m.pos", "h.word & m.word", "h.pos & m.pos & distance", "m.pos[1] & h.pos"]
PARTS = [*ARCS, "h.pos & m.pos & s.pos", "g.pos & h.pos & m.pos"]

TAGGERS = {
    "tagger-exact": ({}, (WORDS, TAGS, NEW_WORDS)),
    "tagger-hashed": ({"hashed": 64}, (WORDS, TAGS, NEW_WORDS)),
    "tagger-order-2": ({"order": 2}, (WORDS, TAGS, NEW_WORDS)),
    "tagger-crf": ({"rule": "crf", "l2": 0.5}, (WORDS, TAGS, NEW_WORDS)),
    "tagger-beam": ({"decoder": "beam", "width": 2, "order": 2, "fix": "early"}, (WORDS, TAGS, NEW_WORDS)),
    "tagger-columns": ({"features": ["word[0]", "pos[0] & pos[1]"], "constraint": "iob2"}, (TOKENS, NAMES, NEW_TOKENS)),
    "tagger-candidates": ({"candidates": 2}, (WORDS, TAGS, NEW_WORDS)),
    "tagger-features": ({"features": None}, (READY, READY_LABELS, READY)),
}
PARSERS = {
    "parser-hashed": {},
    "parser-exact": {"hashed": None, "labels": False},
    "parser-projective": {"projective": True, "one_root": False, "prune": False},
    "parser-second-order": {"order": 2, "features": PARTS},
    "parser-second-order-projective": {"order": 2, "features": PARTS, "projective": True, "labels": False},
}


def tagger_of(name: str) -> SequenceTagger:
    """A tagger of this kind, trained on a few sentences."""
    options, (X, y, _) = TAGGERS[name]
    return SequenceTagger(**({"epochs": 3, "random_state": 0, "features": FEW} | options)).fit(X, y)


def parser_of(name: str) -> DependencyParser:
    """A parser of this kind; its tables are small."""
    options = {"epochs": 3, "random_state": 0, "features": ARCS, "hashed": 2**10} | PARSERS[name]
    size, labeller = parser_module.EXACT_SIZE, parser_module.Labeller
    parser_module.EXACT_SIZE, parser_module.Labeller = 2**10, functools.partial(Labeller, rows=64)
    try:
        return DependencyParser(**options).fit(SENTENCES, TREES)
    finally:
        parser_module.EXACT_SIZE, parser_module.Labeller = size, labeller


def tags_of(tagger: SequenceTagger, name: str) -> list[list[str]]:
    """What it predicts for sentences it has not seen."""
    return [list(labels) for labels in tagger.predict(TAGGERS[name][1][2])]


def trees_of(parser: DependencyParser) -> list[list[list[object]]]:
    """The heads and labels that it predicts for sentences it has not seen."""
    return [
        [[head, label] for head, label in zip(tree.heads, tree.labels or [None] * len(tree), strict=True)]
        for tree in parser.predict(NEW_SENTENCES)
    ]


def write(folder: Path) -> None:
    """Write all models and what they predict."""
    folder.mkdir(exist_ok=True)
    expected: dict[str, object] = {}
    for name in TAGGERS:
        tagger = tagger_of(name)
        tagger.save(folder / f"{name}.swvp")
        expected[name] = tags_of(tagger, name)
    for name in PARSERS:
        parser = parser_of(name)
        parser.save(folder / f"{name}.swvp")
        expected[name] = trees_of(parser)
    lines = (f"{json.dumps(name)}: {json.dumps(value)}" for name, value in expected.items())
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
