"""Owns a single training of the parsing study: its rule, its parser, and what is measured of it."""

from __future__ import annotations

import math
import threading
import time
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from swvp.errors import InputError
from swvp.evaluation.trees import SENTENCE_LENGTHS, arc_lengths, binned, names_of, of_strings
from swvp.features.context import is_punctuation
from swvp.learning.epoch import COUNTS
from swvp.learning.rule import UpdateRule, as_rule
from swvp.parsing.checks import positions, sizes
from swvp.parsing.options import has_one_root
from swvp.parsing.parser import Parser
from swvp.parsing.pruner import MOST as MOST_HEADS
from swvp.parsing.treebank import Treebank, treebank_of
from swvp.studies.parsing.treebanks import Data
from swvp.training.training import Progress

__all__ = ["CONTROL", "CSP", "MEASURED", "REST", "Notation", "Run", "is_swvp", "make_parser", "notation", "train_once"]

CSP = "csp"
CONTROL = "csp-orders"
REST = "csp-rest"
ARC_LENGTHS = (0, 1, 2, 3, 6, 11, 21)
ARC_NAMES = ["root", *names_of(ARC_LENGTHS[1:])]
MEASURED = (
    *("dev", "test", "no_punctuation", "right", "by_sentence_length", "by_arc_length"),
    *("pruning", "certified", "history", "timing"),
)


class Notation(NamedTuple):
    """A rule as users write it, RULE[@β][/MARGIN]; β None is all of the study's."""

    name: str
    beta: float | None
    margin: float

    @property
    def text(self) -> str:
        beta = "" if self.beta is None else f"@{self.beta:g}"
        return f"{self.name}{beta}" + (f"/{self.margin:g}" if self.margin else "")

    @property
    def tuned(self) -> bool:
        """Whether β is to be chosen."""
        return self.beta is None and as_rule(self.name).uses_beta

    def rule(self, beta: float | None) -> UpdateRule:
        """The rule with this β, unless it has its own."""
        given = self.beta if self.beta is not None else beta
        return as_rule(self.name) if given is None else as_rule(self.name, beta=given)


def notation(text: str) -> Notation:
    """Read a rule.

    >>> notation("a-wm@0.25/30")
    Notation(name='a-wm', beta=0.25, margin=30.0)
    """
    rest, slash, margin = text.partition("/")
    name, at, beta = rest.partition("@")
    rule = as_rule(name)
    result = Notation(
        rule.name, number(text, "@", beta) if at else None, number(text, "/", margin, least=0.0) if slash else 0.0
    )
    if at and not rule.uses_beta:
        raise InputError(f"rule '{text}': {rule.name} has no β")
    result.rule(None)
    return result


def number(rule: str, sign: str, text: str, least: float = -math.inf) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= least):
        at_least = f" of at least {least:g}" if math.isfinite(least) else ""
        raise InputError(f"rule '{rule}': what is after {sign} must be a number{at_least}")
    return value


def is_swvp(rule: str) -> bool:
    """Whether updates are made of sub-structures: not so CSP and MIRA, whatever their margin, and the controls."""
    return rule not in (CONTROL, REST) and as_rule(notation(rule).name).substructures != "full"


class Run(NamedTuple):
    """One training: β is None where there is none to choose, `draw` numbers the random orders of the control."""

    treebank: str
    order: int
    rule: str
    beta: float | None = None
    draw: int | None = None


class Options(NamedTuple):
    """What all trainings have in common."""

    epochs: int
    seed: int
    projective: bool
    hashed: int | None
    features: tuple[tuple[int, str], ...] = ()
    prune_heads: int = MOST_HEADS
    prune_threshold: float | None = None
    shuffle: bool = True
    one_root: bool | None = None


def make_parser(options: Options, run: Run, *, one_root: bool) -> Parser:
    """The parser of a run, not trained yet."""
    rule = notation(CSP if run.rule in (CONTROL, REST) else run.rule)
    return Parser(
        rule=rule.rule(run.beta),
        margin=rule.margin,
        epochs=options.epochs,
        order=run.order,
        labels=False,
        projective=options.projective,
        one_root=one_root,
        features=dict(options.features).get(run.order),
        prune_heads=options.prune_heads,
        prune_threshold=options.prune_threshold,
        hashed=options.hashed,
        random_state=options.seed if run.draw is None else np.random.default_rng([options.seed, 2, run.draw]),
    )


class Stopped(Exception):  # noqa: N818
    """Ends a training of which nobody wants the result."""


def train_once(options: Options, data: Data, run: Run, stopped: threading.Event) -> dict[str, Any] | None:
    """Train, and measure the weights after the last pass; None if it was stopped.

    CSP, which has nothing to tune, learns from the whole training set; all others leave out the development sentences.
    """

    def stop_if_asked(progress: Progress) -> None:
        if stopped.is_set():
            raise Stopped

    one_root = has_one_root(data.whole) if options.one_root is None else options.one_root
    compile_for(options._replace(epochs=1, hashed=2**10), run._replace(treebank="", draw=None), one_root)
    parser = make_parser(options, run, one_root=one_root)
    began = time.thread_time()
    training = parser.start(data.whole if run.rule == CSP else data.train)
    training.shuffle = options.shuffle or run.draw is not None
    try:
        training.run(options.epochs, watch=stop_if_asked)
    except Stopped:
        return None
    parser.finish(training)
    trained = time.thread_time()
    heads, _ = parser.predict_trees(data.test)  # the first time may still compile something
    before = time.thread_time()
    parser.predict_trees(data.test)
    parsed = time.thread_time()
    dev = None
    if not (run.rule == CSP and data.sampled):  # it has seen them
        dev = counted(parser.predict_trees(data.dev)[0] == data.dev.trees)
    pruned = parser.pruning(data.test)
    history = {name: [getattr(epoch, name) for epoch in parser.history_] for name in (*COUNTS, "norm")}
    return {
        **run._asdict(),
        "dev": dev,
        **measured(data.test, heads == data.test.trees),
        "pruning": {"recall": pruned.recall, "heads": pruned.heads},
        "certified": parser.certified(data.test),
        "history": history,
        "timing": {"train": trained - began, "parse": parsed - before},
    }


@cache
def compile_for(options: Options, run: Run, one_root: bool) -> None:
    """Have the kernels of a run compiled, so that no time is measured for that."""
    tiny = treebank_of([["a", "b"]], heads=[[2, 0]])
    parser = make_parser(options, run, one_root=one_root)
    training = parser.start(tiny)
    training.run(1)
    parser.finish(training)
    parser.predict_trees(tiny)


def counted(right: Any) -> list[int]:
    return [int(np.count_nonzero(right)), len(right)]


def measured(test: Treebank, right: Any) -> dict[str, Any]:
    """What is right on the test set as [right, of]: all words, those that are no punctuation, groups of them.

    `right` has the right words of each sentence.
    """
    lengths = np.repeat(sizes(test.offsets), sizes(test.offsets))
    arcs = arc_lengths(test.trees, positions(test.offsets))

    def grouped(names: list[str], which: Any) -> dict[str, list[int]]:
        of, found = (np.bincount(values, minlength=len(names)).tolist() for values in (which, which[right]))
        return {name: [found[k], of[k]] for k, name in enumerate(names)}

    return {
        "test": counted(right),
        "no_punctuation": counted(right[~of_strings(test.words, is_punctuation)]),
        "right": np.add.reduceat(right, test.offsets[:-1], dtype=np.int64).tolist(),
        "by_sentence_length": grouped(names_of(SENTENCE_LENGTHS), binned(SENTENCE_LENGTHS, lengths)),
        "by_arc_length": grouped(ARC_NAMES, binned(ARC_LENGTHS, arcs)),
    }
