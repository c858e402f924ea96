"""The training loop: epochs, dev scores, the best epoch, patience.

The state of a training is explicit (the weights and their averaging sums in `model`, the counters, the random numbers
and the history), so that a checkpoint can hold it. The loop knows the structure by its operations only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from swvp.learning.perceptron import Epoch, run_epochs
from swvp.learning.rule import UpdateRule
from swvp.learning.voting import Recorder
from swvp.structures.exact import averaged
from swvp.types import Floats

__all__ = ["Development", "Progress", "Stopped", "Training", "Watch", "Weights", "ignore", "sum_of", "weight_names"]

Weights = dict[str, Floats]
"""The weight arrays of a model by name, without its buffers."""


class Development(Protocol):
    """A dev set: scores weights, the higher the better; `metric` is the name of the score.

    `model` is that of the training: it has what prediction needs besides the values of the weights.
    """

    @property
    def metric(self) -> str: ...

    def score(self, weights: Weights, model: Any) -> float: ...


class Stopped(KeyboardInterrupt):
    """Raised when the user stops training (Ctrl-C), after the observers are notified."""


class Progress(NamedTuple):
    """An epoch, its dev score, and whether that is the best so far."""

    epoch: Epoch
    score: float | None
    best: bool


Watch = Callable[[Progress], object]


def ignore(progress: Progress) -> None:
    """Do nothing after an epoch."""


class Training:
    """Epochs over one problem with one rule; the weights are those of the best epoch on `dev`, or of the last one.

    `model` is a NamedTuple with its weights in fields that begin with w, each with a field of averaging sums
    (`weight_names`). `kind` says what is trained, for checkpoints: "tagger". A `recorder` collects the weight vectors,
    for a vote.
    """

    resumable = True
    """Whether a checkpoint holds all of its state."""
    shuffle = True  # a new order of the examples in every epoch
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
        # a checkpoint does not hold the vectors of a vote
        self.resumable = resumable and type(self).resumable and recorder is None
        self.clock = 0
        self.largest = np.zeros(1)
        self.history: list[Epoch] = []
        self.scores: list[float] = []
        self.best: Weights | None = None

    @property
    def best_epoch(self) -> int:
        """The number of the epoch whose weights are used, from 1."""
        return int(np.argmax(self.scores)) + 1 if self.scores else len(self.history)

    def finished(self, epochs: int, patience: int | None) -> bool:
        """Whether training is over: all epochs done, one without a mistake, or `patience` without a better score."""
        done = len(self.history)
        no_mistake = self.stops_without_mistakes and done > 0 and self.history[-1].mistakes == 0
        stale = patience is not None and bool(self.scores) and done - self.best_epoch >= patience
        return done >= epochs or no_mistake or stale

    def run(self, epochs: int, patience: int | None = None, watch: Watch = ignore) -> None:
        """Train up to `epochs` epochs in all; stop after `patience` of them without a better dev score.

        `watch` is called after each epoch.
        """
        if self.finished(epochs, patience):
            return
        for epoch in run_epochs(
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

    def continue_from(self, previous: Training) -> None:
        """Continue the counters and the random numbers of the training on the previous batch."""
        self.clock, self.largest, self.orders = previous.clock, previous.largest, previous.orders

    def _record(self, epoch: Epoch, watch: Watch) -> None:
        """Append an epoch to the history, score it, and copy its weights if they are the best so far."""
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
        """The weights now: their mean over all examples seen, or the last ones."""
        return {
            name: averaged(getattr(self.model, name), getattr(self.model, sum_of(name)), self.clock)
            if self.average
            else getattr(self.model, name).copy()
            for name in weight_names(self.model)
        }

    def result(self) -> Weights:
        """The weights of the best epoch. Call it last: without `dev` it overwrites the model's arrays."""
        if self.best is not None:
            return self.best
        result = {}
        for name in weight_names(self.model):
            w, total = getattr(self.model, name), getattr(self.model, sum_of(name))
            result[name] = averaged(w, total, self.clock, out=total) if self.average else w
        return result


def weight_names(model: Any) -> Sequence[str]:
    """The fields of a model that hold weights; each has a field of averaging sums, w_move ↔ delayed_move."""
    return [name for name in model._fields if sum_of(name) in model._fields and name != sum_of(name)]


def sum_of(name: str) -> str:
    """The field of the averaging sums of a field of weights; empty if the field holds no weights."""
    return "delayed" + name.removeprefix("w") if name.startswith("w") else ""
