"""Owns the confusion table: how often each gold label was given each predicted label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from swvp.scoring.counts import Counts

__all__ = ["Confusion"]


class Confusion(NamedTuple):
    """How many tokens have each pair of (gold label, predicted label); pairs that do not occur are absent."""

    counts: Mapping[tuple[str, str], int]

    @property
    def labels(self) -> list[str]:
        """Every gold and predicted label, sorted."""
        return sorted({label for pair in self.counts for label in pair})

    def confusions(self, most: int | None = None) -> list[tuple[str, str, int]]:
        """(gold label, predicted label, tokens) of the wrong pairs, the most frequent first, ties by label."""
        wrong = [(gold, predicted, count) for (gold, predicted), count in self.counts.items() if gold != predicted]
        return sorted(wrong, key=lambda row: (-row[2], row[:2]))[:most]

    def by_label(self) -> dict[str, Counts]:
        """The tokens of each label in the gold labels, in the prediction, and in both; labels sorted."""
        gold: Counter[str] = Counter()
        predicted: Counter[str] = Counter()
        for (a, b), count in self.counts.items():
            gold[a] += count
            predicted[b] += count
        return {
            label: Counts(gold[label], predicted[label], self.counts.get((label, label), 0)) for label in self.labels
        }

    def table(self) -> list[list[int]]:
        """The counts as a square: a row for each gold label, a column for each predicted one, as in `labels`."""
        labels = self.labels
        return [[self.counts.get((gold, predicted), 0) for predicted in labels] for gold in labels]
