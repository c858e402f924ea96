"""Owns what scores are made of: how many of how many are right, and the shares of these.

Owns the confusion table: how often each gold label was given each predicted label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["Confusion", "Counts", "Share"]


class Share(NamedTuple):
    """How many of how many are right."""

    right: int
    total: int

    @property
    def value(self) -> float:
        """The share; 1 if there is nothing to get wrong."""
        return self.right / self.total if self.total else 1.0

    def percent(self) -> str:
        return f"{100 * self.value:.2f}" if self.total else "–"

    def as_dict(self) -> dict[str, Any]:
        return {"right": self.right, "total": self.total, "value": self.value}


class Counts(NamedTuple):
    """Phrases of a type, or tokens of a label: in the gold labels (the support), in the prediction, and in both."""

    gold: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.correct / (self.gold + self.predicted) if self.gold + self.predicted else 0.0

    def as_dict(self) -> dict[str, Any]:
        """The counts and the shares made of them."""
        return {**self._asdict(), "precision": self.precision, "recall": self.recall, "f1": self.f1}


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
