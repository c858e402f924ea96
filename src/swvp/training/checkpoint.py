"""Checkpoints: the whole state of a training in a file, from which it resumes to the same weights."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.errors import InputError, is_real, is_whole
from swvp.io.container import read_container, write_container
from swvp.io.files import remove_leftovers
from swvp.io.model_files import fill, require, sparse, sparse_names
from swvp.structures.operations import refresh
from swvp.training.options import epochs_of, scores_of
from swvp.training.training import Training, sum_of, weight_names

__all__ = ["START_AGAIN", "Data", "remove_checkpoint", "resume", "save_checkpoint", "stamp"]


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
    return {"options": options, "data": digest.hexdigest(), "swvp": __version__}


def arrays_of(problem: Any) -> list[NDArray[Any]]:
    """All arrays of a problem, also those in nested tuples."""
    if isinstance(problem, np.ndarray):
        return [problem]
    return [array for part in problem for array in arrays_of(part)] if isinstance(problem, tuple) else []


def kind_of(training: Training) -> str:
    return f"{training.kind} training"


def save_checkpoint(path: Path, training: Training, stamped: dict[str, Any]) -> None:
    """Write the state of a training after an epoch; zeros take no space."""
    meta = {
        "stamp": stamped,
        "clock": training.clock,
        "largest": float(training.largest[0]),
        "orders": training.orders.bit_generator.state,
        "history": [epoch.as_dict() for epoch in training.history],
        "scores": training.scores,
    }
    arrays: dict[str, NDArray[Any]] = {}
    for name in weight_names(training.model):
        for part in (name, sum_of(name)):
            arrays |= sparse(part, getattr(training.model, part))
        if training.best is not None:
            arrays |= sparse(f"best {name}", training.best[name])
    write_container(path, kind_of(training), meta, arrays)


def array_names(training: Training, meta: dict[str, Any]) -> set[str]:
    """The arrays of a checkpoint: weights and their sums, and the weights of the best epoch if epochs are scored."""
    names = weight_names(training.model)
    parts = [part for name in names for part in (name, sum_of(name), *([f"best {name}"] if meta["scores"] else []))]
    return {array for part in parts for array in sparse_names(part)}


def resume(path: Path, training: Training, stamped: dict[str, Any]) -> bool:
    """Bring a new training to the state in a file; return whether there is one.

    Raises InputError if it is the checkpoint of another training, or damaged.
    """
    if not path.exists():
        return False
    try:
        contents = read_container(path, kind_of(training), lambda meta: array_names(training, meta))
    except InputError as error:
        raise InputError(f"{error}: {START_AGAIN}") from None
    try:
        differing = different(contents.meta["stamp"], stamped)
        if differing:
            parts = ", ".join(differing)
            raise InputError(f"{path} is the checkpoint of another training ({parts} differ): {START_AGAIN}")
        clock, largest = contents.meta["clock"], contents.meta["largest"]
        require(is_whole(clock, 0) and is_real(largest) and largest >= 0, "clock")
        training.clock, training.largest[0] = clock, largest
        training.orders.bit_generator.state = contents.meta["orders"]
        training.history, training.scores = epochs_of(contents.meta["history"]), scores_of(contents.meta["scores"])
        epochs = len(training.history)
        if [epoch.epoch for epoch in training.history] != list(range(1, epochs + 1)) or (
            (training.clock, len(training.scores)) != (epochs * training.examples, epochs if training.dev else 0)
        ):
            raise ValueError("its epochs are not counted right")
        names = weight_names(training.model)
        for name in names:
            for part in (name, sum_of(name)):
                fill(getattr(training.model, part), contents.arrays, part)
        if training.scores:
            training.best = {name: np.zeros_like(getattr(training.model, name)) for name in names}
            for name, array in training.best.items():
                fill(array, contents.arrays, f"best {name}")
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
