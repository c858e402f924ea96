"""Small trainings for teaching: the tree of the paper's Figure 1, sequences of an HMM, weights that fit on a page."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swvp.errors import unknown_name
from swvp.types import Floats

__all__ = ["LESSONS", "Lesson", "lesson"]


@dataclass(frozen=True)
class Lesson:
    """A problem with its examples, for `StructuredPerceptron` and `export_trace`.

    Parameters
    ----------
    name : str
        Its name in `lesson`.
    title : str
        One line about it.
    problem : object
        A problem with `argmax`, `joint_feature`, `outputs` and `feature_names`.
    X, y : list
        The inputs and their gold labels.
    initial : ndarray or None
        The weights to start from; None for 0.
    """

    name: str
    title: str
    problem: Any
    X: list[Any]
    y: list[Any]
    initial: Floats | None = None


class OneSentence:
    """Dependency trees of a few words; a tree has one root, and each of its arcs is a feature."""

    structure = "heads"

    def __init__(self, words: Sequence[str]):
        self.words = tuple(words)
        nodes = ["root", *words]
        self.feature_names = [f"{nodes[h]} → {word}" for word in words for h in range(len(nodes))]

    def joint_feature(self, x: Any, y: Sequence[int]) -> Floats:
        size = len(self.words) + 1
        phi = np.zeros(len(self.words) * size)
        phi[[k * size + head for k, head in enumerate(y)]] = 1
        return phi

    @functools.cached_property
    def trees(self) -> list[tuple[int, ...]]:
        size = len(self.words)
        heads = itertools.product(*([h for h in range(size + 1) if h != m] for m in range(1, size + 1)))
        return [y for y in heads if y.count(0) == 1 and is_tree(y)]

    def outputs(self, x: Any) -> list[tuple[int, ...]]:
        return self.trees

    def argmax(self, x: Any, w: Floats) -> tuple[int, ...]:
        trees = np.array(self.trees)
        size = len(self.words) + 1
        scores = w[trees + np.arange(len(self.words)) * size].sum(axis=1)
        return self.trees[int(scores.argmax())]


def is_tree(heads: Sequence[int]) -> bool:
    """Whether every word reaches the root.

    >>> is_tree((2, 0)), is_tree((2, 1))
    (True, False)
    """
    for word in range(1, len(heads) + 1):
        at = word
        for _ in heads:
            at = heads[at - 1] if at else 0
        if at:
            return False
    return True


class Points:
    """Labels 0 or 1 of points in the plane, φ(x, y) = Σ y_k · point k: so w has two dimensions."""

    feature_names = ("across", "up")

    def joint_feature(self, x: Sequence[tuple[int, int]], y: Sequence[int]) -> Floats:
        phi: Floats = np.asarray(y, float) @ np.array(x, float)
        return phi

    def outputs(self, x: Sequence[tuple[int, int]]) -> list[tuple[int, ...]]:
        return list(itertools.product((0, 1), repeat=len(x)))

    def argmax(self, x: Sequence[tuple[int, int]], w: Floats) -> tuple[int, ...]:
        return tuple(int(value > 0) for value in np.array(x, float) @ w)


class Chain:
    """Label sequences: each pair of a label and its symbol is a feature, and so is each pair of neighbouring labels."""

    def __init__(self, labels: Sequence[str], symbols: Sequence[str]):
        self.labels = tuple(labels)
        names = [f"{symbol} at {label}" for label in labels for symbol in symbols]
        self.feature_names = [*names, *(f"{a} then {b}" for a in labels for b in labels)]
        self.numbers = {name: k for k, name in enumerate(self.feature_names)}

    def joint_feature(self, x: Sequence[str], y: Sequence[str]) -> Floats:
        phi = np.zeros(len(self.numbers))
        for symbol, label in zip(x, y, strict=True):
            phi[self.numbers[f"{symbol} at {label}"]] += 1
        for a, b in itertools.pairwise(y):
            phi[self.numbers[f"{a} then {b}"]] += 1
        return phi

    def outputs(self, x: Sequence[str]) -> list[tuple[str, ...]]:
        return list(itertools.product(self.labels, repeat=len(x)))

    def argmax(self, x: Sequence[str], w: Floats) -> tuple[str, ...]:
        return max(self.outputs(x), key=lambda y: float(w @ self.joint_feature(x, y)))


def figure_1() -> Lesson:
    """The paper's Figure 1: the weights to start from predict its wrong tree, in which *worse* is the root.

    The arc from the root to *worse* scores far too high. The other wrong arcs follow from it, or are a little too high.
    """
    words = ["Some", "mistakes", "are", "worse", "than", "others"]
    gold, predicted = (2, 3, 0, 3, 4, 5), (2, 4, 4, 0, 6, 4)
    problem = OneSentence(words)
    too_high = {1: 0, 2: 1, 3: -1, 4: 4, 5: 1, 6: 2}  # by how much a predicted arc beats the gold one
    w = np.zeros(len(problem.feature_names))
    for word in range(1, len(words) + 1):
        at = (word - 1) * (len(words) + 1)
        w[at + gold[word - 1]] = 3
        w[at + predicted[word - 1]] = 3 + too_high[word]
    title = "The sentence of the paper's Figure 1: the wrong head of “worse” causes other mistakes"
    return Lesson("figure-1", title, problem, [words], [gold], w)


def two_dimensions() -> Lesson:
    """Three examples of three points each, whose weights are points of the plane."""
    y = [tuple(int(np.dot(point, (3, 2)) > 0) for point in points) for points in POINTS]
    title = "Three examples of three points each; the weights w are a point of the same plane"
    return Lesson("two-dimensions", title, Points(), POINTS, y)


POINTS = [
    [(-1, 3), (0, -1), (2, 2)],
    [(1, -2), (-1, 2), (4, -3)],
    [(3, -1), (-4, 1), (0, -2)],
]
"""Chosen from random ones so that CSP needs several updates and the rules differ; mostly they differ less, or not."""


def hmm() -> Lesson:
    """Four sequences of a hidden Markov model with three labels, as in the paper's synthetic data but smaller."""
    X, y = [list(symbols) for symbols, _ in SEQUENCES], [tuple(labels) for _, labels in SEQUENCES]
    title = "Four sequences of a hidden Markov model: labels A, B, C emit x, y, z"
    return Lesson("hmm", title, Chain("ABC", "xyz"), X, y)


SEQUENCES = [("xyzxx", "CBCAA"), ("zxyzx", "CABCA"), ("yzxxy", "BCAAB"), ("zxzzx", "CABCA")]
"""Random ones: A mostly emits x and goes to B, and so on. Other random ones favour now one rule, now another."""

LESSONS = {"figure-1": figure_1, "hmm": hmm, "two-dimensions": two_dimensions}


def lesson(name: str) -> Lesson:
    """Return a small training for teaching.

    Parameters
    ----------
    name : str
        "figure-1": the tree of the paper's Figure 1, from weights that predict its wrong tree. "hmm": short sequences
        of a hidden Markov model. "two-dimensions": a problem with two weights.

    Returns
    -------
    Lesson

    Examples
    --------
    >>> lesson("figure-1").X[0]
    ['Some', 'mistakes', 'are', 'worse', 'than', 'others']
    """
    if name not in LESSONS:
        raise unknown_name("lesson", name, LESSONS)
    return LESSONS[name]()
