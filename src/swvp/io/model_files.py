"""Saving and loading models: versions and migrations, arrays stored without zeros, checks of what was read."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.container import ArrayNames, Contents, read_container, write_container
from swvp.io.memory import MOST_MEMORY, PLUS, TIMES, Memory, memory_needed

__all__ = [
    "ROWS",
    "Format",
    "Migration",
    "by_rows",
    "fill",
    "filled",
    "from_rows",
    "load_model",
    "require",
    "save_model",
    "sparse",
    "sparse_names",
    "strings",
    "threads",
]

MAX_THREADS = 64

Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
Model = TypeVar("Model")


class Migration(NamedTuple):
    """How to read a model of an older version: the names of its arrays, and what turns it into the next version."""

    arrays: ArrayNames
    apply: Callable[[Contents], Contents]


class Format(NamedTuple):
    """A kind of model file: its current version, the names of its arrays, and migrations from older versions.

    `migrations` are by the older version. A file that names no version has version 1.
    """

    kind: str
    version: int
    arrays: ArrayNames
    migrations: Mapping[int, Migration] = MappingProxyType({})

    def version_in(self, meta: dict[str, Any]) -> int:
        """Return the version of a file; raise InputError if this swvp cannot read it."""
        version = meta.get("format", 1)
        require(type(version) is int and version > 0, "version")
        if version > self.version:
            raise InputError(
                f"a {self.kind} of version {version}, this swvp reads up to {self.version}: use a newer swvp"
            )
        if version < self.version and version not in self.migrations:
            raise InputError(f"a {self.kind} of version {version}, which this swvp cannot read any more: train again")
        return int(version)

    def arrays_in(self, meta: dict[str, Any]) -> Any:
        """Return the names of the arrays of a file of any version."""
        version = self.version_in(meta)
        return (self.arrays if version == self.version else self.migrations[version].arrays)(meta)

    def migrated(self, contents: Contents) -> Contents:
        """Return the contents of a file of any version as those of the current one."""
        for version in range(self.version_in(contents.meta), self.version):
            contents = self.migrations[version].apply(contents)
        return contents


def save_model(
    path: Path, format: Format, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *weights: NDArray[Any]
) -> None:
    """Write a model atomically; warn if loading it, with `weights` not sparse, will need more memory than allowed."""
    kind = format.kind
    try:
        write_container(path, kind, {"format": format.version, **meta}, arrays)
    except UnicodeEncodeError as error:
        raise InputError(f"a {kind} with half a character ({error.object[error.start]!a}) cannot be saved") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"a {kind} with numbers that are not finite cannot be saved ({error})") from None
    allowed = TIMES * path.stat().st_size + PLUS
    if sum(array.nbytes for array in weights) <= allowed:
        return
    needed = sum(memory_needed(np.flatnonzero(array), array.nbytes, array.itemsize) for array in weights)
    if needed > allowed:
        warnings.warn(
            f"{path} takes {needed / 2**30:.1f} GB of memory, much for its size: to load it, set the environment "
            f"variable {MOST_MEMORY}={needed // 2**30 + 1}G",
            stacklevel=4,
        )


def load_model(path: Path, format: Format, rebuild: Callable[[Contents, Memory], Model]) -> Model:
    """Read a model of this kind; raise InputError if the file is damaged or `rebuild` fails on its contents."""
    contents = read_container(path, format.kind, format.arrays_in)
    try:
        size = path.stat().st_size
        described = max(0, size - sum(array.nbytes for array in contents.arrays.values()))
        return rebuild(format.migrated(contents), Memory(size, described))
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, MemoryError, OSError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: its parts do not fit together ({what})") from None


def require(condition: bool, what: str) -> None:
    """Raise InputError, naming what is wrong in the file, unless the condition is true."""
    if not condition:
        raise InputError(f"its {what} cannot be right")


def strings(value: Any) -> list[str]:
    """Return a list of strings; raise InputError if the value is something else."""
    require(isinstance(value, list) and all(isinstance(item, str) for item in value), "list of strings")
    return list(value)


def threads(value: Any) -> int:
    """Return the number of threads that a file names; 1 if it is not a number from 1 to MAX_THREADS."""
    return value if type(value) is int and 1 <= value <= MAX_THREADS else 1


def sparse(name: str, array: Floats) -> Arrays:
    """Return the nonzero elements of an array of any shape: their places in the flat array, and their values."""
    flat = array.ravel()
    places = np.flatnonzero(flat)
    return {f"{name} places": places, f"{name} values": flat[places]}


def sparse_names(name: str) -> set[str]:
    """Return the names of the arrays that `sparse` returns."""
    return {f"{name} places", f"{name} values"}


def parts_of(arrays: Arrays, name: str, size: int) -> tuple[NDArray[Any], Floats]:
    """Return the checked places and values that `sparse` stored of an array with `size` elements."""
    places, values = arrays[f"{name} places"], arrays[f"{name} values"]
    if places.dtype.kind not in "iu" or places.ndim != 1 or places.shape != values.shape:
        raise ValueError(f"its array '{name}' is of another size")
    if len(places) and not 0 <= places.min() <= places.max() < size:
        raise ValueError(f"its array '{name}' is of another size")
    return places, values


def fill(array: Floats, arrays: Arrays, name: str) -> None:
    """Overwrite an array with what `sparse` stored of one of the same shape."""
    places, values = parts_of(arrays, name, math.prod(array.shape))
    flat = array.reshape(-1)
    flat[:] = 0.0
    flat[places] = values


def filled(memory: Memory, size: int, arrays: Arrays, name: str) -> Floats:
    """Return the flat array of `size` elements that `sparse` stored."""
    return memory.filled((size,), *parts_of(arrays, name, size))


ROWS = {"weights_per_attribute", "weight_labels", "weights"}
"""The names of the arrays that `by_rows` returns."""


def by_rows(weights: Floats) -> Arrays:
    """Return the nonzero weights of an array (attribute, label): how many each attribute has, their labels, values."""
    rows, columns = np.nonzero(weights)
    return {
        "weights_per_attribute": np.bincount(rows, minlength=len(weights)).astype(np.uint32),
        "weight_labels": columns.astype(np.uint32),
        "weights": weights[rows, columns],
    }


def from_rows(arrays: Arrays, attributes: int, labels: int, memory: Memory) -> Floats:
    """Return the array (attribute, label) that `by_rows` stored."""
    counts, columns, values = (arrays[name] for name in ("weights_per_attribute", "weight_labels", "weights"))
    require(counts.shape == (attributes,) and columns.ndim == values.ndim == 1, "weights")
    require(counts.dtype.kind == columns.dtype.kind == "u", "numbers of weights")
    require(int(counts.sum(dtype=np.uint64)) == len(columns) == len(values), "numbers of weights")
    require(not len(columns) or int(columns.max()) < labels, "labels of weights")
    places = np.repeat(np.arange(0, attributes * labels, labels), counts)
    places += columns
    return memory.filled((attributes, labels), places, values)
