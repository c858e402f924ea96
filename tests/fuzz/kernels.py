"""Run every borrowing kernel as plain Python, where NumPy checks each index.

    NUMBA_DISABLE_JIT=1 python -m tests.fuzz.kernels

Compiled kernels check no index, and `borrowing`, `inner` and `inlined` ones count no references: an index out of range
would read or write other memory. Here small models of every kind are trained with checks. Prints the kernels that were
not executed; the tests require that there are none.
"""

from __future__ import annotations

import ast
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numba
import numpy as np

import swvp
from swvp import DependencyParser, SequenceTagger
from swvp.io.treebank import treebank_of
from swvp.studies import SyntheticSettings
from swvp.studies.synthetic.runs import make_dataset, train_once
from swvp.studies.synthetic.study import trainings
from swvp.text.morphology import MorphologicalTagger

SOURCE = Path(swvp.__file__).parent
DECORATORS = {"borrowing", "inner", "inlined"}

X = [["the", "dog", "barks"], ["a", "cat", "sees", "the", "dog"], ["dogs", "bark"], ["the", "old", "man"]]
Y = [["D", "N", "V"], ["D", "N", "V", "D", "N"], ["N", "V"], ["D", "A", "N"]]
TAGGED = [
    [(word, tag, tag, "x", f"F={tag}|G=1") for word, tag in zip(x, y, strict=True)] for x, y in zip(X, Y, strict=True)
]
TREES = [
    [(2, "det"), (3, "nsubj"), (0, "root")],
    [(3, "x"), (4, "nsubj"), (0, "root"), (3, "det"), (2, "obj")],  # arcs cross
    [(2, "nsubj"), (0, "root")],
    [(0, "root"), (1, "amod"), (2, "x")],
]


def kernels() -> set[tuple[str, str]]:
    """Return (file, name) of all borrowing kernels, from the sources."""
    borrowing = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
                if names & DECORATORS:
                    borrowing.add((str(path), node.name))
    return borrowing


def executed(work: Callable[[], None]) -> set[tuple[str, str]]:
    """Return (file, name) of the functions that `work` calls, in all threads."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            seen.add((frame.f_code.co_filename, frame.f_code.co_name))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return seen


def train_all() -> None:
    """Train and use a model of every kind."""
    for options in (
        {},
        {"rule": "csp", "hashed": 32},
        {"rule": "mira:3"},
        {"rule": "a-wm:pairs:mira"},
        {"rule": "csp:ada", "cost": {"N": 2}},
        {"clusters": 3},
        {"candidates": 2},
        {"rule": "b-wmr-printed"},
        {"rule": "b-wmr-printed", "order": 2},
        {"vote": True},
        {"rule": "crf"},
        {"order": 2},
        {"order": 2, "rule": "b-maxent:all:ada"},
        {"rule": "b-maxent:all:3"},
        *(
            {"decoder": "beam", "width": 2, "order": order, "fix": fix}
            for order in (1, 2)
            for fix in ("early", "latest")
        ),
        {"decoder": "beam", "width": 2, "constraint": lambda before, label: label != "A" or before == "D"},
    ):
        use_tagger(SequenceTagger(epochs=2, random_state=0, **options))
    SequenceTagger(rule="csp", random_state=0).partial_fit(X, Y)  # it has a weight for every pair from the start
    for order in (1, 2):
        for options in (
            {},
            {"projective": True},
            {"one_root": False, "hashed": None},
            {"rule": "csp", "margin": 0.0, "prune": False},
            {"rule": "mira:3"} if order == 1 else {"rule": "b-wm:parts"},
            {"rule": "b-wmr-printed"},
            {"rule": "csp:ada"},
            {"rule": "b-maxent:all", "margin": 50.0, "prune": False},
            {"rule": "a-wm:subtrees", "projective": True, "one_root": False},
        ):
            use_parser(DependencyParser(epochs=2, random_state=0, order=order, **({"hashed": 1024} | options)))
    for rule in ("softmax", "b-wmr-printed"):
        words = treebank_of(TAGGED)
        MorphologicalTagger.train(words, epochs=2, rule=rule, places=1024).predict(words.words, words.offsets)
    settings = SyntheticSettings(
        rules=("csp", "b-wm", "mira", "csp:ada"), betas=(1.0,), setups=(1,), datasets=1, sizes=(9, 5, 5), epochs=2
    )
    data = make_dataset(settings, 1, 0)
    for training in trainings(settings)[:4]:
        train_once(settings, data, training, threading.Event())


def use_tagger(tagger: SequenceTagger) -> None:
    tagger.fit(X, Y).predict(X)
    if tagger.order == 1 and tagger.decoder == "viterbi":
        tagger.predict_k_best(X, 3)
        tagger.predict_marginals(X)


def use_parser(parser: DependencyParser) -> None:
    parser.fit(TAGGED, TREES).predict(TAGGED)
    parser.predict_k_best(TAGGED[:2], 2)
    parser.explain(TAGGED[0])
    parser.top_features(TAGGED[:2])
    if parser.prune or parser.order == 1:
        parser.confidence(TAGGED[:2])
        parser.predict_marginals(TAGGED[:2])


def main() -> int:
    if not numba.config.DISABLE_JIT:
        print("set NUMBA_DISABLE_JIT=1: compiled kernels check no index")
        return 2
    np.seterr(all="ignore")  # hashes overflow on purpose
    warnings.simplefilter("ignore")
    every = kernels()
    missing = sorted(every - executed(train_all))
    print(f"{len(every) - len(missing)} of {len(every)} borrowing kernels executed")
    for path, name in missing:
        print(f"not executed: {Path(path).relative_to(SOURCE)} {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
