"""Owns a training that can be watched: pass after pass, scored on development data, the best pass kept.

Its state is explicit: the weights and their sums in `model`, the counters, the random numbers and the history, so
that it can be kept on disk and gone on with (`swvp.training.checkpoint`). What is trained is known by the operations of
its structure only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from swvp.learning.perceptron import Epoch, passes
from swvp.learning.rule import UpdateRule
from swvp.learning.voting import Recorder
from swvp.structures.exact import averaged
from swvp.types import Floats

__all__ = ["Development", "Progress", "Training", "Watch", "Weights", "ignore", "sum_of", "weight_names"]

Weights = dict[str, Floats]
"""The arrays of weights of a model by name, without the room it works in."""


class Development(Protocol):
    """Held-out data: how good some weights are on them, the higher the better, and what that number is called.

    `model` is that of the training: what is known of its weights beside their values.
    """

    @property
    def metric(self) -> str: ...

    def score(self, weights: Weights, model: Any) -> float: ...


class Progress(NamedTuple):
    """A pass, its score on the development data, and whether it is the best so far."""

    epoch: Epoch
    score: float | None
    best: bool


Watch = Callable[[Progress], object]


def ignore(progress: Progress) -> None:
    """Watches nothing."""


class Training:
    """Passes over one problem with one rule; the best pass on `dev`, or the last one, gives the weights.

    `model` is a NamedTuple with its weights in fields that begin with w, each with a field of sums (`weight_names`).
    `kind` says what is trained, for checkpoints: "tagger". A `recorder` collects the weight vectors, for a vote; a
    checkpoint does not hold them.
    """

    resumable = True
    shuffle = True  # a new order of the examples in every pass
    stops_without_mistakes = True

    def __init__(
        self,
        problem: Any,
        model: Any,
        rule: UpdateRule,
        *,
        kind: str,
        examples: int,
        average: bool,
        orders: np.random.Generator,
        dev: Development | None = None,
        recorder: Recorder | None = None,
        resumable: bool = True,
    ):
        self.problem, self.model, self.rule, self.kind = problem, model, rule, kind
        self.examples, self.average, self.orders, self.dev = examples, average, orders, dev
        self.recorder = recorder
        self.resumable = resumable and type(self).resumable
        self.clock = 0
        self.largest = np.zeros(1)
        self.history: list[Epoch] = []
        self.scores: list[float] = []
        self.best: Weights | None = None

    def continue_from(self, before: Training) -> None:
        """Continue the clock, the largest margin and the random orders of an earlier training (`partial_fit`)."""
        self.clock, self.largest, self.orders = before.clock, before.largest, before.orders

    @property
    def best_epoch(self) -> int:
        """The number of the pass whose weights are used, from 1."""
        return int(np.argmax(self.scores)) + 1 if self.scores else len(self.history)

    def finished(self, epochs: int, patience: int | None) -> bool:
        """Whether there is nothing more to do: all passes done, one without a mistake, or no better one for long."""
        done = len(self.history)
        no_mistake = self.stops_without_mistakes and done > 0 and self.history[-1].mistakes == 0
        stale = patience is not None and bool(self.scores) and done - self.best_epoch >= patience
        return done >= epochs or no_mistake or stale

    def run(self, epochs: int, patience: int | None = None, watch: Watch = ignore) -> None:
        """Train up to `epochs` passes in all; stop after `patience` passes that are not better than the best.

        `watch` is called after each pass.
        """
        if self.finished(epochs, patience):
            return
        for epoch in passes(
            self.problem,
            self.model,
            self.rule,
            examples=self.examples,
            epochs=epochs - len(self.history),
            random_state=self.orders if self.shuffle else None,
            clock=self.clock,
            largest=self.largest,
            first=len(self.history) + 1,
            after=None if self.recorder is None else self.recorder.after,
        ):
            self.clock += self.examples
            self._record(epoch, watch)
            if self.finished(epochs, patience):
                return

    def _record(self, epoch: Epoch, watch: Watch) -> None:
        """Keep what a pass did, score it, and keep its weights if they are the best so far."""
        self.history.append(epoch)
        if self.dev is None:
            watch(Progress(epoch, None, True))
            return
        weights = self.weights()
        score = self.dev.score(weights, self.model)
        best = not self.scores or score > max(self.scores)
        self.scores.append(score)
        if best:
            self.best = weights
        watch(Progress(epoch, score, best))

    def weights(self) -> Weights:
        """The weights at this point: their mean over all examples seen, or the last ones."""
        return {
            name: averaged(getattr(self.model, name), getattr(self.model, sum_of(name)), self.clock)
            if self.average
            else getattr(self.model, name).copy()
            for name in weight_names(self.model)
        }

    def result(self) -> Weights:
        """The weights to keep: those of the best pass. Call it last; without `dev` the model's arrays are used up."""
        if self.best is not None:
            return self.best
        found = {}
        for name in weight_names(self.model):
            w, total = getattr(self.model, name), getattr(self.model, sum_of(name))
            found[name] = averaged(w, total, self.clock, out=total) if self.average else w
        return found


def weight_names(model: Any) -> Sequence[str]:
    """The fields of a model that hold weights; each has a field of sums, w_move ↔ delayed_move."""
    return [name for name in model._fields if sum_of(name) in model._fields and name != sum_of(name)]


def sum_of(name: str) -> str:
    return "delayed" + name.removeprefix("w") if name.startswith("w") else ""
