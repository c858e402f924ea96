"""The training loop (epochs, dev scores, the best epoch, patience), and checkpoints, from which it resumes.

The state of a training is explicit: the weights and their averaging sums in `model` (`SUMS`), the sums of squares of
the step `ada`, the counters, the random numbers and the history. A checkpoint is that state in a file; a training that
resumes from it ends in the same weights.
The loop knows the structure by its operations only.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.errors import InputError, is_real, is_whole
from swvp.io.container import read_container, write_container
from swvp.io.files import remove_leftovers
from swvp.io.model_files import Arrays, fill, require, sparse, sparse_names
from swvp.learning.perceptron import Epoch, new_state, run_epochs
from swvp.learning.rule import UpdateRule
from swvp.learning.voting import Recorder
from swvp.structures.chain.attributes import copy_known
from swvp.structures.exact import averaged
from swvp.structures.operations import refresh
from swvp.training.options import epochs_of, scores_of
from swvp.types import Floats

__all__ = [
    "SQUARES",
    "START_AGAIN",
    "SUMS",
    "Data",
    "Development",
    "Progress",
    "Stopped",
    "Training",
    "Watch",
    "Weights",
    "as_given",
    "ignore",
    "remove_checkpoint",
    "resume",
    "save_checkpoint",
    "stamp",
    "weight_names",
]

Weights = dict[str, NDArray[Any]]
"""The weight arrays of a model by name, without its buffers; for rows of weights also the arrays of the rows."""


SUMS = {"w": "delayed", "w_move": "delayed_move", "w_triple": "delayed_triple"}
"""The fields of models that hold weights, and for each the field of its averaging sums. Checkpoints use these names."""


SQUARES = "squares"
"""The array of a checkpoint that holds the sums of squares of the step `ada`."""


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


ForRule = Callable[[Any, UpdateRule], tuple[Any, float]]
"""A function of a problem and a rule: the problem with the margin of that rule, and the rule's power of averaging."""


def as_given(problem: Any, rule: UpdateRule) -> tuple[Any, float]:
    """The problem as it is, and the mean of all weights."""
    return problem, 1.0


def ignore(progress: Progress) -> None:
    """Do nothing after an epoch."""


class Training:
    """Epochs over one problem with one rule; the weights are those of the best epoch on `dev`, or of the last one.

    `model` is a NamedTuple with its weights and their averaging sums in the fields that `SUMS` names. `kind` says what
    is trained, for checkpoints: "tagger". `for_rule` adjusts the problem to a rule. A `recorder` collects the weight
    vectors, for a vote. `batch_size` and `n_jobs` are as in `run_epochs`.
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
        for_rule: ForRule = as_given,
        dev: Development | None = None,
        recorder: Recorder | None = None,
        resumable: bool = True,
        batch_size: int = 1,
        n_jobs: int = 1,
    ):
        self.problem, self.model, self.kind = problem, model, kind
        self.examples, self.average, self.orders, self.dev = examples, average, orders, dev
        self.batch_size, self.n_jobs = batch_size, n_jobs
        self.for_rule = for_rule
        self.use_rule(rule)
        self.recorder = recorder
        # a checkpoint does not hold the vectors of a vote
        self.resumable = resumable and type(self).resumable and recorder is None
        self.history: list[Epoch] = []
        self.scores: list[float] = []
        self.best: Weights | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the weights besides the options of the learner, for checkpoints."""
        return {}

    def more_arrays(self) -> dict[str, Floats]:
        """Further arrays of its state, for checkpoints, by name."""
        return {}

    def arrays(self) -> Arrays:
        """All arrays of its state, for checkpoints; zeros take no space."""
        arrays: Arrays = {}
        for name in weight_names(self.model):
            for part in (name, SUMS[name]):
                arrays |= sparse(part, getattr(self.model, part))
            if self.best is not None:
                arrays |= sparse(f"best {name}", self.best[name])
        if len(self.state.squares):
            arrays |= sparse(SQUARES, self.state.squares)
        for name, array in self.more_arrays().items():
            arrays |= sparse(name, array)
        return arrays

    def restore(self, arrays: Arrays) -> None:
        """Bring a new training to the state of these arrays, which `arrays` returned; its scores are restored."""
        names = weight_names(self.model)
        for name in names:
            for part in (name, SUMS[name]):
                fill(getattr(self.model, part), arrays, part)
        if len(self.state.squares):
            fill(self.state.squares, arrays, SQUARES)
        for name, array in self.more_arrays().items():
            fill(array, arrays, name)
        if self.scores:
            self.best = {name: np.zeros_like(getattr(self.model, name)) for name in names}
            for name, array in self.best.items():
                fill(array, arrays, f"best {name}")

    @property
    def best_epoch(self) -> int:
        """The number of the epoch whose weights are used, from 1."""
        return int(np.argmax(self.scores)) + 1 if self.scores else len(self.history)

    def use_rule(self, rule: UpdateRule) -> None:
        """Train with this rule from now on, with its margin and its power of averaging."""
        self.rule = rule
        self.problem, self.average_power = self.for_rule(self.problem, rule)
        self.state = new_state(rule, self.model)

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
            power=self.average_power,
            state=self.state,
            first=len(self.history) + 1,
            after=None if self.recorder is None else self.recorder.after,
            batch_size=self.batch_size,
            n_jobs=self.n_jobs,
        ):
            self._record(epoch, watch)
            if self.finished(epochs, patience):
                return

    def continue_from(self, previous: Training) -> None:
        """Continue the counters, sums of squares and random numbers of the training on the previous batch."""
        new, old = self.state, previous.state
        new.clock, new.largest, self.orders = old.clock, old.largest, previous.orders
        if len(new.squares) and len(old.squares):
            known, grown = by_name(previous.model, old.squares), by_name(self.model, new.squares)
            if all(known[name].shape == grown[name].shape for name in grown):
                new.squares[:] = old.squares
            else:  # a chain with more attributes or labels
                copy_known(grown, known, known["w"].shape[1])

    def _record(self, epoch: Epoch, watch: Watch) -> None:
        """Append an epoch to the history, score it, and copy its weights if they are the best so far."""
        self.history.append(epoch)
        if self.dev is None:
            watch(Progress(epoch, None, True))
            return
        weights, score = self.scored()
        best = not self.scores or score > max(self.scores)
        self.scores.append(score)
        if best:
            self.best = weights
        watch(Progress(epoch, score, best))

    def scored(self) -> tuple[Weights, float]:
        """The weights now, and their dev score."""
        assert self.dev is not None
        weights = self.weights()
        return weights, self.dev.score(weights, self.model)

    def weights(self) -> Weights:
        """The weights now: their mean over all examples seen, or the last ones."""
        return {
            name: averaged(getattr(self.model, name), getattr(self.model, SUMS[name]), self._clock())
            if self.average
            else getattr(self.model, name).copy()
            for name in weight_names(self.model)
        }

    def _clock(self) -> float:
        """The number of examples seen, to the power of averaging."""
        return float(self.state.clock**self.average_power)

    def result(self) -> Weights:
        """The weights of the best epoch. Call it last: without `dev` it overwrites the model's arrays."""
        if self.best is not None:
            return self.best
        result = {}
        for name in weight_names(self.model):
            w, total = getattr(self.model, name), getattr(self.model, SUMS[name])
            result[name] = averaged(w, total, self._clock(), out=total) if self.average else w
        return result


def weight_names(model: Any) -> Sequence[str]:
    """The fields of a model that hold weights."""
    return [name for name in SUMS if name in model._fields]


def by_name(model: Any, flat: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Views of a vector that has an element for each weight, as arrays with the names and shapes of the weights."""
    shapes = {name: getattr(model, name).shape for name in weight_names(model)}
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()])
    pieces = np.split(flat, ends[:-1])
    return {name: piece.reshape(shape) for (name, shape), piece in zip(shapes.items(), pieces, strict=True)}


# ---------------------------------------------------------------- checkpoints

START_AGAIN = "remove it to start again, or use --fresh on the command line"
"""What to do with a checkpoint that cannot be resumed from."""


class Data(Protocol):
    """Training data or a dev set: `parts` are all strings and arrays that distinguish it from other data."""

    def parts(self) -> Iterable[str | NDArray[Any]]: ...


def stamp(training: Training, options: dict[str, Any], *data: Data) -> dict[str, Any]:
    """The identity of a training: its options, a digest of its data, the version. Equal stamps give equal weights.

    `data` are what it was made of, dev set included: the words of the dev set are in no array of the training.
    """
    digest = hashlib.sha256()
    for part in [*(part for one in data for part in one.parts()), *arrays_of(training.problem)]:
        block = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        digest.update(f"{len(block)} ".encode())
        digest.update(block)
    return {"options": options | training.settings, "data": digest.hexdigest(), "swvp": __version__}


def arrays_of(problem: Any) -> list[NDArray[Any]]:
    """All arrays of a problem, also those in nested tuples, except costs, which follow from options."""
    if isinstance(problem, np.ndarray):
        return [problem]
    if not isinstance(problem, tuple):
        return []
    names = getattr(problem, "_fields", range(len(problem)))
    return [array for name, part in zip(names, problem, strict=True) if name != "costs" for array in arrays_of(part)]


def checkpoint_kind(training: Training) -> str:
    return f"{training.kind} training"


def save_checkpoint(path: Path, training: Training, stamped: dict[str, Any]) -> None:
    """Write the state of a training after an epoch; zeros take no space."""
    meta = {
        "stamp": stamped,
        "clock": training.state.clock,
        "largest": float(training.state.largest[0]),
        "orders": training.orders.bit_generator.state,
        "history": [epoch.as_dict() for epoch in training.history],
        "scores": training.scores,
        "adapts": len(training.state.squares) > 0,
    }
    write_container(path, checkpoint_kind(training), meta, training.arrays())


def array_names(training: Training, meta: dict[str, Any]) -> set[str]:
    """The arrays of a checkpoint: weights and their sums, and the weights of the best epoch if epochs are scored."""
    names = weight_names(training.model)
    parts = [part for name in names for part in (name, SUMS[name], *([f"best {name}"] if meta["scores"] else []))]
    parts += [SQUARES] if meta["adapts"] else []
    parts += training.more_arrays()
    return {array for part in parts for array in sparse_names(part)}


def resume(path: Path, training: Training, stamped: dict[str, Any]) -> bool:
    """Bring a new training to the state in a file; return whether there is one.

    Raises InputError if it is the checkpoint of another training, or damaged.
    """
    if not path.exists():
        return False
    try:
        contents = read_container(path, checkpoint_kind(training), lambda meta: array_names(training, meta))
    except InputError as error:
        raise InputError(f"{error}: {START_AGAIN}") from None
    try:
        differing = different(contents.meta["stamp"], stamped)
        if differing:
            parts = ", ".join(differing)
            raise InputError(f"{path} is the checkpoint of another training (other {parts}): {START_AGAIN}")
        clock, largest = contents.meta["clock"], contents.meta["largest"]
        require(is_whole(clock, 0) and is_real(largest) and largest >= 0, "clock")
        training.state.clock, training.state.largest[0] = clock, largest
        training.orders.bit_generator.state = contents.meta["orders"]
        training.history, training.scores = epochs_of(contents.meta["history"]), scores_of(contents.meta["scores"])
        epochs = len(training.history)
        if [epoch.epoch for epoch in training.history] != list(range(1, epochs + 1)) or (
            (training.state.clock, len(training.scores)) != (epochs * training.examples, epochs if training.dev else 0)
        ):
            raise ValueError("its epochs are not counted right")
        training.restore(contents.arrays)
    except InputError as error:
        text = str(error)
        raise error if text.endswith(START_AGAIN) else InputError(f"{path}: {text}: {START_AGAIN}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(f"{path}: its parts do not fit together ({error}): {START_AGAIN}") from None
    refresh(training.model)
    return True


def remove_checkpoint(path: Path) -> None:
    """Remove a checkpoint, and the unfinished files of a process that was killed while writing it."""
    path.unlink(missing_ok=True)
    remove_leftovers(path)


def different(saved: Any, current: dict[str, Any]) -> list[str]:
    """The names of options, and "data" or "swvp", in which two stamps differ."""
    before, now = saved["options"], current["options"]
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    names += [name for name in ("data", "swvp") if saved[name] != current[name]]
    return sorted(names)
