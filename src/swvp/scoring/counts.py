"""Owns what scores are made of: how many of how many are right, and the shares of these."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["Counts", "Share"]


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
