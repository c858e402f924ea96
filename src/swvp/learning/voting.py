"""The voted perceptron (Freund & Schapire 1999; the paper's appendix): all weight vectors of a training.

    w^t       the weights after round t, one example; h^t(x) = argmax_y' w^t·φ(x, y')
    c_k       `survived`: the number of rounds after which the k-th different vector was the current one
    predict   the label y with the largest Σ c_k over the vectors k with h_k(x) = y

Votes are for whole labels. Of labels with equal votes the one with the earliest vote wins. The averaged weights are the
mean of the same vectors, Σ c_k w_k / Σ c_k.

A vector differs from the one before in the few weights that one update changed. Only these are stored, with their new
values, so that replaying them gives each w^t exactly: 16 bytes for each changed weight and 16 for each vector, beside
the first vector.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swvp.structures.generic import Label, Problem, PythonModel, predict
from swvp.types import Floats, Ints

__all__ = ["Hypotheses", "Recorder", "changes_of", "vote"]

Changes = Callable[[int], tuple[Ints, Floats]]
"""Called after an update on example i: returns the weights that changed since the last call, as (numbers, values)."""


@dataclass(frozen=True)
class Hypotheses:
    """The different weight vectors of a training in their order, and how many rounds each one survived.

    Vector k differs from vector k - 1 in the weights features[starts[k]:starts[k + 1]], which have the new `values`.
    Vector 0 is `initial`; it survived 0 rounds if the first example was a mistake.
    """

    initial: Floats
    starts: Ints
    features: Ints
    values: Floats
    survived: Ints

    def __len__(self) -> int:
        return len(self.survived)

    @property
    def nbytes(self) -> int:
        """The memory that the vectors take."""
        return sum(part.nbytes for part in (self.initial, self.starts, self.features, self.values, self.survived))

    def replay(self) -> Iterator[tuple[Floats, int]]:
        """Yield each vector with the rounds it survived. The array is reused: copy it to store it."""
        w = self.initial.copy()
        for k, rounds in enumerate(self.survived.tolist()):
            changed = slice(self.starts[k], self.starts[k + 1])
            w[self.features[changed]] = self.values[changed]
            yield w, rounds

    def until(self, rounds: int) -> Hypotheses:
        """The vectors of the first `rounds` rounds."""
        total = np.cumsum(self.survived)
        if rounds >= total[-1]:
            return self
        count = int(np.searchsorted(total, rounds)) + 1
        survived = self.survived[:count].copy()
        survived[-1] -= total[count - 1] - rounds
        end = self.starts[count]
        return Hypotheses(self.initial, self.starts[: count + 1], self.features[:end], self.values[:end], survived)


class Recorder:
    """Collects the weight vectors during training; call `after` after every example."""

    def __init__(self, initial: Floats, changes: Changes):
        self.initial = initial
        self.changes = changes
        self.starts, self.survived = array("q", [0, 0]), array("q", [0])
        self.features, self.values = array("q"), array("d")

    def after(self, i: int, updated: bool) -> None:
        """Note that example i was seen, and whether it changed the weights."""
        if updated:
            features, values = self.changes(i)
            if len(features):  # an update may add up to nothing
                self.features.frombytes(np.ascontiguousarray(features, np.int64).tobytes())
                self.values.frombytes(np.ascontiguousarray(values, np.float64).tobytes())
                self.starts.append(len(self.features))
                self.survived.append(0)
        self.survived[-1] += 1

    def hypotheses(self) -> Hypotheses:
        """The vectors collected so far."""
        starts, features, survived = (np.array(part, np.int64) for part in (self.starts, self.features, self.survived))
        return Hypotheses(self.initial, starts, features, np.array(self.values, np.float64), survived)


def changes_of(model: PythonModel) -> Changes:
    """The function that reports changes of a model with one vector of weights."""
    seen = model.w.copy()

    def changes(i: int) -> tuple[Ints, Floats]:
        features = np.flatnonzero(model.w != seen)
        seen[features] = model.w[features]
        return features, seen[features]

    return changes


def vote(problem: Problem, X: Sequence[Any], hypotheses: Hypotheses) -> list[Label]:
    """Return the label of each input with the most votes, by one `argmax` for each vector and input."""
    votes: list[dict[tuple[Any, ...], int]] = [{} for _ in X]
    labels: list[dict[tuple[Any, ...], Label]] = [{} for _ in X]
    for w, rounds in hypotheses.replay():
        if not rounds:
            continue
        for i, x in enumerate(X):
            label = predict(problem, x, w.copy(), None, f"input {i}")  # a copy: a problem may keep what it is given
            key = tuple(label)
            labels[i].setdefault(key, label)
            votes[i][key] = votes[i].get(key, 0) + rounds
    # max takes the first of equals, and dicts are in the order of the first vote
    return [labels[i][max(counted, key=counted.__getitem__)] for i, counted in enumerate(votes)]
