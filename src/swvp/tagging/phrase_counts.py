"""Owns counting phrases in arrays of label numbers: the same as `swvp.tagging.evaluate`, for whole corpora at once.

Whether a phrase begins or ends between two labels depends on those two alone, so it is a table over pairs of labels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swvp.structures.operations import Ints
from swvp.tagging.constraints import before_and_after
from swvp.tagging.evaluate import Counts, phrases

__all__ = ["PhraseCounter"]

Numbers = NDArray[np.integer]


class PhraseCounter:
    """Counts phrases of labels given as numbers into `labels`."""

    def __init__(self, labels: Sequence[str]):
        ends = [*labels, "O"]  # the last stands for what is outside a sentence
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
