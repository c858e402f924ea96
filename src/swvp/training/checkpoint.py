"""Owns a training on disk: everything it needs to go on after being killed, to the very same weights."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.checks import is_real, is_whole
from swvp.errors import InputError
from swvp.io.container import read_container, write_container
from swvp.io.files import remove_leftovers
from swvp.io.model_files import fill, must, sparse, sparse_names
from swvp.structures.operations import refresh
from swvp.training.options import epochs_of, scores_of
from swvp.training.training import Training, sum_of, weight_names

__all__ = ["Data", "remove_checkpoint", "resume", "save_checkpoint", "stamp"]


class Data(Protocol):
    """What a training was made of: `parts` are all strings and arrays that tell it from other data."""

    def parts(self) -> Iterable[str | NDArray[Any]]: ...


def stamp(training: Training, options: dict[str, Any], *data: Data) -> dict[str, Any]:
    """What a training is: its options, its data as a digest, the program. Equal stamps go to equal weights.

    `data` are those it was made of, development data too: their words are seen nowhere else.
    """
    digest = hashlib.sha256()
    for part in [*(part for one in data for part in one.parts()), *arrays_of(training.problem)]:
        block = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        digest.update(f"{len(block)} ".encode())
        digest.update(block)
    return {"options": options, "data": digest.hexdigest(), "swvp": __version__}


def arrays_of(problem: Any) -> list[NDArray[Any]]:
    """The arrays of a problem, those of the tuples in it too."""
    if isinstance(problem, np.ndarray):
        return [problem]
    return [array for part in problem for array in arrays_of(part)] if isinstance(problem, tuple) else []


def kind_of(training: Training) -> str:
    return f"{training.kind} training"


def save_checkpoint(path: Path, training: Training, stamped: dict[str, Any]) -> None:
    """Write the state of a training after a pass; only numbers that are not 0 take room."""
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
    """Bring a new training to the state in the file, if there is one; refuse the file of another training."""
    if not path.exists():
        return False
    advice = "remove it, or use --fresh"
    try:
        contents = read_container(path, kind_of(training), lambda meta: array_names(training, meta))
    except InputError as error:
        raise InputError(f"{error}: {advice}") from None
    try:
        there = contents.meta["stamp"]
        differing = different(there, stamped)
        if differing:
            raise InputError(f"{path} is the checkpoint of another training ({', '.join(differing)} differ): {advice}")
        clock, largest = contents.meta["clock"], contents.meta["largest"]
        must(is_whole(clock, 0) and is_real(largest) and largest >= 0, "clock")
        training.clock, training.largest[0] = clock, largest
        training.orders.bit_generator.state = contents.meta["orders"]
        training.history, training.scores = epochs_of(contents.meta["history"]), scores_of(contents.meta["scores"])
        passes = len(training.history)
        if [epoch.epoch for epoch in training.history] != list(range(1, passes + 1)) or (
            (training.clock, len(training.scores)) != (passes * training.examples, passes if training.dev else 0)
        ):
            raise ValueError("its passes are not counted right")
        names = weight_names(training.model)
        for name in names:
            for part in (name, sum_of(name)):
                fill(getattr(training.model, part), contents.arrays, part)
        if training.scores:
            training.best = {name: np.zeros_like(getattr(training.model, name)) for name in names}
            for name, array in training.best.items():
                fill(array, contents.arrays, f"best {name}")
    except InputError as error:
        told = str(error)
        raise error if told.endswith(advice) else InputError(f"{path}: {told}: {advice}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        raise InputError(f"{path}: its parts do not fit together ({error}): {advice}") from None
    refresh(training.model)
    return True


def remove_checkpoint(path: Path) -> None:
    """Remove the file, and what a process that was killed while writing it has left."""
    path.unlink(missing_ok=True)
    remove_leftovers(path)


def different(there: Any, here: dict[str, Any]) -> list[str]:
    options, ours = there["options"], here["options"]
    names = [name for name in {**options, **ours} if options.get(name) != ours.get(name)]
    names += [name for name in ("data", "swvp") if there[name] != here[name]]
    return sorted(names)
