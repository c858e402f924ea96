"""A single training of the parsing study: its parser, and what is measured."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.evaluation.trees import SENTENCE_LENGTHS, arc_lengths, binned, names_of, of_strings
from swvp.features.context import is_punctuation
from swvp.io.tree_checks import positions, sizes
from swvp.io.treebank import Treebank, treebank_of
from swvp.learning.epoch import COUNTS
from swvp.parsing.options import has_one_root
from swvp.parsing.parser import Parser
from swvp.parsing.tree_model import DEFAULT_HEADS as MOST_HEADS
from swvp.studies.common.rules import REST
from swvp.studies.common.running import CONTROL, CSP, Ask
from swvp.studies.common.tables import std
from swvp.studies.parsing.settings import ParsingSettings, notation
from swvp.studies.parsing.treebanks import Data
from swvp.training.training import Progress, Stopped

__all__ = [
    "ParserOptions",
    "Pruning",
    "Run",
    "Scores",
    "Share",
    "Timing",
    "Trained",
    "Training",
    "make_parser",
    "measure",
    "train_once",
]

ARC_LENGTHS = (0, 1, 2, 3, 6, 11, 21)
ARC_NAMES = ["root", *names_of(ARC_LENGTHS[1:])]


class Training(NamedTuple):
    """What identifies a training. β is None if there is none to choose; `draw` is the random order of the control."""

    treebank: str
    order: int
    rule: str
    beta: float | None = None
    draw: int | None = None
    seed: int = 0


class Share(NamedTuple):
    """Correct words, and all words."""

    right: int
    words: int

    @property
    def value(self) -> float:
        """The share of correct words; 0 without words."""
        return self.right / max(self.words, 1)


@dataclass(frozen=True)
class Pruning:
    """What pruning leaves of the test set: the share of the gold arcs, and heads per word."""

    recall: float
    heads: float


@dataclass(frozen=True)
class Timing:
    """CPU seconds of the training, and of parsing the test set."""

    train: float
    parse: float


@dataclass(frozen=True)
class Scores:
    """Correct heads of the test set: of all words, without punctuation, by sentence, and by lengths."""

    test: Share
    no_punctuation: Share
    right: list[int]
    by_sentence_length: dict[str, Share]
    by_arc_length: dict[str, Share]


@dataclass(frozen=True)
class Run:
    """A finished training.

    `dev` is None if the parser was trained on the dev set. `right` has the correct words of each test sentence.
    `certified` is the share of test sentences whose tree is proved to be the best one. `history` has the counts of each
    epoch and the norm of the weights after it.
    """

    treebank: str
    order: int
    rule: str
    beta: float | None
    draw: int | None
    dev: Share | None
    test: Share
    no_punctuation: Share
    right: list[int]
    by_sentence_length: dict[str, Share]
    by_arc_length: dict[str, Share]
    pruning: Pruning
    certified: float
    history: dict[str, list[float]]
    timing: Timing
    seed: int = 0

    @property
    def training(self) -> Training:
        """What identifies this training."""
        return Training(self.treebank, self.order, self.rule, self.beta, self.draw, self.seed)

    @property
    def uas(self) -> float:
        """UAS on the test set, as a share."""
        return self.test.value

    @property
    def dev_uas(self) -> float:
        """UAS on the dev set, as a share."""
        assert self.dev is not None, "trained on the dev set"
        return self.dev.value

    @property
    def name(self) -> str:
        """The rule with its β: b-wm@0.5, a-wm@0.5/30."""
        return self.rule if self.beta is None else notation(self.rule).with_beta(self.beta)

    @property
    def scores(self) -> dict[str, float | None]:
        """The scores of this training, as shares, for a table of all runs."""
        dev = None if self.dev is None else self.dev_uas
        return {"dev": dev, "test": self.uas, "no_punctuation": self.no_punctuation.value}

    def total(self, count: str) -> float:
        """Return a count summed over all epochs."""
        return sum(self.history[count])

    def to_json(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        return {**vars(self), "pruning": vars(self.pruning), "timing": vars(self.timing)}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Run:
        """Return the run that `to_json` wrote."""
        values: dict[str, Any] = {
            field.name: fields[field.name] for field in dataclasses.fields(cls) if field.name in fields
        }
        for name in ("test", "no_punctuation"):
            values[name] = Share(*fields[name])
        for name in ("by_sentence_length", "by_arc_length"):
            values[name] = {group: Share(*counts) for group, counts in fields[name].items()}
        values["dev"] = None if fields["dev"] is None else Share(*fields["dev"])
        return cls(**values | {"pruning": Pruning(**fields["pruning"]), "timing": Timing(**fields["timing"])})


class Trained:
    """The runs of one rule and β on a treebank, one for each seed, with means and sums over the seeds."""

    def __init__(self, runs: Sequence[Run]):
        self.runs = list(runs)
        self.treebank, self.order, self.rule, self.beta, self.draw, _ = runs[0].training
        self.name = runs[0].name

    @property
    def is_scored(self) -> bool:
        """Whether there are dev scores: not if the parsers were trained on the dev set."""
        return self.runs[0].dev is not None

    def mean(self, value: Callable[[Run], float]) -> float:
        """Return the mean of a value over the seeds."""
        return float(np.mean([value(run) for run in self.runs]))

    @property
    def uas(self) -> float:
        """The mean UAS on the test set, as a share."""
        return self.mean(lambda run: run.uas)

    @property
    def std(self) -> float:
        """The standard deviation of the test UAS over the seeds; 0 for a single one."""
        return std([run.uas for run in self.runs])

    @property
    def dev_uas(self) -> float:
        """The mean UAS on the dev set, as a share."""
        return self.mean(lambda run: run.dev_uas)

    @property
    def right(self) -> list[list[int]]:
        """The correct words of each test sentence, for each seed."""
        return [run.right for run in self.runs]

    def share(self, group: Callable[[Run], Share]) -> Share:
        """Return the sum of a share over the seeds."""
        return Share(*map(sum, zip(*map(group, self.runs), strict=True)))

    def total(self, count: str) -> float:
        """Return a count summed over all epochs and seeds."""
        return sum(run.total(count) for run in self.runs)


class ParserOptions(NamedTuple):
    """What all parsers of a study with one order have in common."""

    epochs: int
    projective: bool
    hashed: int | None
    features: str | None = None
    prune_heads: int = MOST_HEADS
    prune_threshold: float | None = None
    shuffle: bool = True
    one_root: bool | None = None

    @classmethod
    def of(cls, settings: ParsingSettings, order: int) -> ParserOptions:
        """Return the options for parsers of an order."""
        return cls(
            epochs=settings.epochs,
            projective=settings.projective,
            hashed=settings.hashed,
            features=settings.features_of(order),
            prune_heads=settings.most_heads,
            prune_threshold=settings.prune_threshold,
            shuffle=settings.shuffle,
            one_root=settings.one_root,
        )


def make_parser(options: ParserOptions, training: Training, *, one_root: bool) -> Parser:
    """Return the parser of a training, not trained yet."""
    rule = notation(CSP if training.rule in (CONTROL, REST) else training.rule)
    orders = None if training.draw is None else np.random.default_rng([training.seed, 2, training.draw])
    return Parser(
        rule=rule.rule(training.beta),
        margin=rule.margin or 0.0,
        epochs=options.epochs,
        order=training.order,
        labels=False,
        projective=options.projective,
        one_root=one_root,
        features=options.features,
        prune_heads=options.prune_heads,
        prune_threshold=options.prune_threshold,
        hashed=options.hashed,
        random_state=training.seed if orders is None else orders,
    )


def train_once(options: ParserOptions, data: Data, training: Training, stopped: Ask) -> Run | None:
    """Train a parser, and measure its weights after the last epoch; return None if the event stopped it.

    CSP has nothing to tune, so it is trained on the whole training set. All other rules leave out a sampled dev set.
    """

    def stop_if_asked(progress: Progress) -> None:
        if stopped.is_set():
            raise Stopped

    one_root = has_one_root(data.whole) if options.one_root is None else options.one_root
    compile_for(options._replace(epochs=1, hashed=2**10), training._replace(treebank="", draw=None, seed=0), one_root)
    parser = make_parser(options, training, one_root=one_root)
    start = time.thread_time()
    session = parser.start(data.whole if training.rule == CSP else data.train)
    session.shuffle = options.shuffle or training.draw is not None
    try:
        session.run(options.epochs, watch=stop_if_asked)
    except Stopped:
        return None
    parser.finish(session)
    train_seconds = time.thread_time() - start
    heads, _ = parser.predict_trees(data.test)  # the first call may still compile something
    start = time.thread_time()
    parser.predict_trees(data.test)
    parse_seconds = time.thread_time() - start
    dev = None
    if not (training.rule == CSP and data.sampled):
        dev = share(parser.predict_trees(data.dev)[0] == data.dev.trees)
    pruned = parser.pruning(data.test)
    return Run(
        **training._asdict(),
        dev=dev,
        **vars(measure(data.test, heads == data.test.trees)),
        pruning=Pruning(pruned.recall, pruned.heads),
        certified=parser.certified(data.test),
        history={name: [getattr(epoch, name) for epoch in parser.history_] for name in (*COUNTS, "norm")},
        timing=Timing(train_seconds, parse_seconds),
    )


@cache
def compile_for(options: ParserOptions, training: Training, one_root: bool) -> None:
    """Compile the kernels of a training, so that compiling is not part of the measured time."""
    tiny = treebank_of([["a", "b"]], heads=[[2, 0]])
    parser = make_parser(options, training, one_root=one_root)
    session = parser.start(tiny)
    session.run(1)
    parser.finish(session)
    parser.predict_trees(tiny)


def share(right: NDArray[np.bool_]) -> Share:
    """Return the share of correct words."""
    return Share(int(np.count_nonzero(right)), len(right))


def measure(test: Treebank, right: NDArray[np.bool_]) -> Scores:
    """Count the correct heads of the test set; `right` has a truth value for each word."""
    lengths = np.repeat(sizes(test.offsets), sizes(test.offsets))
    arcs = arc_lengths(test.trees, positions(test.offsets))

    def grouped(names: list[str], group: NDArray[np.int64]) -> dict[str, Share]:
        words, correct = (np.bincount(groups, minlength=len(names)).tolist() for groups in (group, group[right]))
        return {name: Share(correct[k], words[k]) for k, name in enumerate(names)}

    return Scores(
        test=share(right),
        no_punctuation=share(right[~of_strings(test.words, is_punctuation)]),
        right=np.add.reduceat(right, test.offsets[:-1], dtype=np.int64).tolist(),
        by_sentence_length=grouped(names_of(SENTENCE_LENGTHS), binned(SENTENCE_LENGTHS, lengths)),
        by_arc_length=grouped(ARC_NAMES, binned(ARC_LENGTHS, arcs)),
    )
