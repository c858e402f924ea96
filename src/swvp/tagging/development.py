"""Owns how a tagger is scored on held-out sentences while it is trained."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.structures.operations import Ints
from swvp.tagging.evaluate import Counts, look_like_phrases
from swvp.tagging.phrase_counts import PhraseCounter
from swvp.training.training import Weights

__all__ = ["Development"]


class Development:
    """Held-out sentences: `predict` gives their labels under some weights, as numbers."""

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
        """The F1 of phrases if the labels are those of phrases, else the share of tokens labelled right."""
        predicted = self.predict(weights)
        if self.counter is None:
            return float(np.mean(predicted == self.gold)) if len(self.gold) else 1.0
        counts: Counts = self.counter.counts(self.gold, predicted, self.offsets)
        return counts.f1
