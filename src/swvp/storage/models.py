"""Owns what model files and checkpoints share: weights without their zeros, and parts that must fit together."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.storage.container import Contents, read_container, write_container

__all__ = ["by_rows", "fill", "from_rows", "load_model", "must", "save_model", "sparse", "strings", "threads"]

MOST_THREADS = 64

Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
Model = TypeVar("Model")


def save_model(path: Path, kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a model of this kind, "tagger", whole or not at all."""
    try:
        write_container(path, kind, meta, arrays)
    except UnicodeEncodeError as error:
        raise InputError(f"a {kind} with half a character ({error.object[error.start]!a}) cannot be saved") from None


def load_model(path: Path, kind: str, rebuild: Callable[[Contents], Model]) -> Model:
    """Read a model of this kind; whatever `rebuild` stumbles over in a file of anyone's is one clear error."""
    contents = read_container(path, kind)
    try:
        return rebuild(contents)
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, MemoryError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: its parts do not fit together ({what})") from None


def must(holds: bool, what: str) -> None:
    """Refuse a file in which something does not hold."""
    if not holds:
        raise InputError(f"its {what} cannot be right")


def strings(value: Any) -> list[str]:
    """A list of strings, for sure."""
    must(isinstance(value, list) and all(isinstance(item, str) for item in value), "list of strings")
    return list(value)


def threads(value: Any) -> int:
    """How many threads a file may ask for; one that asks for more gets one."""
    return value if type(value) is int and 1 <= value <= MOST_THREADS else 1


def sparse(name: str, array: Floats) -> Arrays:
    """An array of any shape as the places and values of its numbers that are not 0."""
    flat = array.ravel()
    places = np.flatnonzero(flat)
    return {f"{name} places": places, f"{name} values": flat[places]}


def fill(array: Floats, arrays: Arrays, name: str, *, new: bool = False) -> None:
    """Put what `sparse` gave back into an array of that shape; a new one is 0, and most of it is not touched."""
    places, values = arrays[f"{name} places"], arrays[f"{name} values"]
    if places.shape != values.shape or (len(places) and not 0 <= places.min() <= places.max() < math.prod(array.shape)):
        raise ValueError(f"its array '{name}' is of another size")
    flat = array.reshape(-1)
    if not new:
        flat[:] = 0.0
    flat[places] = values


def by_rows(weights: Floats) -> Arrays:
    """Weights (attribute, label) as how many each attribute has that are not 0, of which labels, and these."""
    rows, columns = np.nonzero(weights)
    return {
        "weights_per_attribute": np.bincount(rows, minlength=len(weights)).astype(np.uint32),
        "weight_labels": columns.astype(np.uint32),
        "weights": weights[rows, columns],
    }


def from_rows(arrays: Arrays, attributes: int, labels: int) -> Floats:
    """What `by_rows` was given."""
    counts, columns, values = (arrays[name] for name in ("weights_per_attribute", "weight_labels", "weights"))
    must(counts.shape == (attributes,) and columns.ndim == values.ndim == 1, "weights")
    must(int(counts.sum(dtype=np.uint64)) == len(columns) == len(values), "numbers of weights")
    must(not len(columns) or int(columns.max()) < labels, "labels of weights")
    result = np.zeros((attributes, labels))
    result[np.repeat(np.arange(attributes), counts), columns] = values
    return result
