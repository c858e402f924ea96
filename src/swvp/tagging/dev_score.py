"""Dev scores of taggers, and fast counts of phrases in arrays of label numbers.

The counts are those of `swvp.evaluation.phrases`. Whether a phrase begins or ends between two labels depends on these
two labels alone, so it is a table over pairs of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.evaluation.counts import Counts, look_like_phrases, phrases
from swvp.tagging.decoder import before_and_after
from swvp.training.training import Weights
from swvp.types import Ints

__all__ = ["Development", "PhraseCounter"]


class Development:
    """A dev set: `predict` returns the labels of its sentences under given weights, as numbers."""

    def __init__(
        self, predict: Callable[[Weights], NDArray[np.uint32]], gold: NDArray[Any], offsets: Ints, labels: Any
    ):
        self.predict, self.gold, self.offsets = predict, gold, offsets
        all_strings = all(isinstance(label, str) for label in labels)
        self.counter = PhraseCounter(labels) if all_strings and look_like_phrases([labels]) else None

    @property
    def metric(self) -> str:
        return "accuracy" if self.counter is None else "F1"

    def score(self, weights: Weights, model: Any) -> float:
        """F1 if the labels are those of phrases, else accuracy."""
        predicted = self.predict(weights)
        if self.counter is None:
            return float(np.mean(predicted == self.gold)) if len(self.gold) else 1.0
        counts: Counts = self.counter.counts(self.gold, predicted, self.offsets)
        return counts.f1


Numbers = NDArray[np.integer]


class PhraseCounter:
    """Counts phrases; labels are numbers into `labels`."""

    def __init__(self, labels: Sequence[str]):
        ends = [*labels, "O"]  # the last one is the boundary of a sentence
        self.outside = len(labels)
        shape = (len(ends), len(ends))
        self.begins, self.closes = np.zeros(shape, bool), np.zeros(shape, bool)
        for i, before in enumerate(ends):
            for j, label in enumerate(ends):
                spans = phrases([before, label])
                self.begins[i, j] = any(first == 1 for _, first, _ in spans)
                self.closes[i, j] = any(last == 1 for _, _, last in spans)
        kinds = {kind: number for number, kind in enumerate(dict.fromkeys(label.partition("-")[2] for label in ends))}
        self.kind = np.array([kinds[label.partition("-")[2]] for label in ends], np.int64)

    def phrases(self, ids: Numbers, offsets: Ints) -> tuple[Ints, Ints, Ints]:
        """The phrases of all sentences, as (first token, token after the last, type)."""
        before, after = before_and_after(ids, offsets, self.outside)
        begin = np.flatnonzero(self.begins[before, ids])
        end = np.flatnonzero(self.closes[ids, after])
        return begin, end + 1, self.kind[ids[begin]]

    def keys(self, ids: Numbers, offsets: Ints) -> Ints:
        """A number for each phrase, the same for the same phrase."""
        begin, end, kind = self.phrases(ids, offsets)
        return (begin * (len(ids) + 1) + end) * (int(self.kind.max()) + 1) + kind

    def counts(self, gold: Numbers, predicted: Numbers, offsets: Ints) -> Counts:
        """Phrases in the gold labels, in the prediction, and in both."""
        a, b = self.keys(gold, offsets), self.keys(predicted, offsets)
        return Counts(len(a), len(b), len(np.intersect1d(a, b, assume_unique=True)))
