"""Counts and the scores computed from them: shares, precision, recall and F1, confusion tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

__all__ = ["Confusion", "Counts", "Share"]


class Share(NamedTuple):
    """How many of how many are right.

    Attributes
    ----------
    right, total : int
        The number of right tokens (or sentences), and the number of all.

    Examples
    --------
    >>> share = Share(3, 4)
    >>> share.value, share.percent()
    (0.75, '75.00')
    """

    right: int
    total: int

    @property
    def value(self) -> float:
        """right / total; 1 if the total is 0."""
        return self.right / self.total if self.total else 1.0

    def percent(self) -> str:
        """Return the share in percent with two digits; a dash if the total is 0."""
        return f"{100 * self.value:.2f}" if self.total else "–"

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and the share, ready for JSON."""
        return {"right": self.right, "total": self.total, "value": self.value}


class Counts(NamedTuple):
    """The phrases of a type, or the tokens of a label: how many are gold, predicted, and both.

    Attributes
    ----------
    gold : int
        In the gold labels; also called the support.
    predicted : int
        In the prediction.
    correct : int
        In both.

    Examples
    --------
    >>> counts = Counts(gold=4, predicted=2, correct=2)
    >>> counts.precision, counts.recall, round(counts.f1, 3)
    (1.0, 0.5, 0.667)
    """

    gold: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        """correct / predicted; 0 if nothing is predicted."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """correct / gold; 0 if nothing is gold."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if both are 0."""
        return 2 * self.correct / (self.gold + self.predicted) if self.gold + self.predicted else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and the scores computed from them, ready for JSON."""
        return {**self._asdict(), "precision": self.precision, "recall": self.recall, "f1": self.f1}


class Confusion(NamedTuple):
    """How many tokens have each pair of gold and predicted label.

    Attributes
    ----------
    counts : mapping of (str, str) to int
        The number of tokens of each (gold label, predicted label); pairs that do not occur are absent.

    Examples
    --------
    >>> table = Confusion({("N", "N"): 2, ("V", "N"): 1})
    >>> table.labels, table.table()
    (['N', 'V'], [[2, 0], [1, 0]])
    >>> table.confusions()
    [('V', 'N', 1)]
    """

    counts: Mapping[tuple[str, str], int]

    @property
    def labels(self) -> list[str]:
        """All gold and predicted labels, sorted."""
        return sorted({label for pair in self.counts for label in pair})

    def confusions(self, most: int | None = None) -> list[tuple[str, str, int]]:
        """Return (gold label, predicted label, tokens) of wrong pairs, the most frequent first, ties by label.

        Parameters
        ----------
        most : int, optional
            Return at most this many pairs.
        """
        wrong = [(gold, predicted, count) for (gold, predicted), count in self.counts.items() if gold != predicted]
        return sorted(wrong, key=lambda row: (-row[2], row[:2]))[:most]

    def by_label(self) -> dict[str, Counts]:
        """Return the `Counts` of the tokens of each label; labels are sorted."""
        gold: Counter[str] = Counter()
        predicted: Counter[str] = Counter()
        for (a, b), count in self.counts.items():
            gold[a] += count
            predicted[b] += count
        return {
            label: Counts(gold[label], predicted[label], self.counts.get((label, label), 0)) for label in self.labels
        }

    def table(self) -> list[list[int]]:
        """Return the counts as a square table: a row per gold label, a column per predicted label, as in `labels`."""
        labels = self.labels
        return [[self.counts.get((gold, predicted), 0) for predicted in labels] for gold in labels]
