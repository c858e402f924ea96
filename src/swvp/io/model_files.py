"""Owns what model files and checkpoints share: weights without their zeros, and parts that must fit together."""

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
from swvp.io.memory import MOST_MEMORY, PLUS, TIMES, Memory, room_for

__all__ = [
    "ROWS",
    "Format",
    "Migration",
    "by_rows",
    "fill",
    "filled",
    "from_rows",
    "load_model",
    "must",
    "save_model",
    "sparse",
    "sparse_names",
    "strings",
    "threads",
]

MOST_THREADS = 64

Floats = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]
Model = TypeVar("Model")


class Migration(NamedTuple):
    """How a model of an older version becomes one of the next: which arrays it has, and what is done with it."""

    arrays: ArrayNames
    apply: Callable[[Contents], Contents]


class Format(NamedTuple):
    """A kind of model file: the version that is written, its arrays, and how models of older versions become such.

    `migrations` are by the older version; the first version is 1, which files need not name.
    """

    kind: str
    version: int
    arrays: ArrayNames
    migrations: Mapping[int, Migration] = MappingProxyType({})

    def version_in(self, meta: dict[str, Any]) -> int:
        """The version of a file; one that cannot be read is refused."""
        version = meta.get("format", 1)
        must(type(version) is int and version > 0, "version")
        if version > self.version:
            raise InputError(
                f"a {self.kind} of version {version}, this swvp reads up to {self.version}: use a newer swvp"
            )
        if version < self.version and version not in self.migrations:
            raise InputError(f"a {self.kind} of version {version}, which this swvp cannot read any more: train again")
        return int(version)

    def arrays_in(self, meta: dict[str, Any]) -> Any:
        """The names of the arrays of a file of any version."""
        version = self.version_in(meta)
        return (self.arrays if version == self.version else self.migrations[version].arrays)(meta)

    def migrated(self, contents: Contents) -> Contents:
        """The contents of a file of any version as those of the newest."""
        for version in range(self.version_in(contents.meta), self.version):
            contents = self.migrations[version].apply(contents)
        return contents


def save_model(
    path: Path, format: Format, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], *weights: NDArray[Any]
) -> None:
    """Write a model whole or not at all. `weights` are what loading has to make room for."""
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
    taken = sum(room_for(np.flatnonzero(array), array.nbytes, array.itemsize) for array in weights)
    if taken > allowed:
        warnings.warn(
            f"{path} takes {taken / 2**30:.1f} GB of memory, much for its size: to load it, set the environment "
            f"variable {MOST_MEMORY}={taken // 2**30 + 1}G",
            stacklevel=4,
        )


def load_model(path: Path, format: Format, rebuild: Callable[[Contents, Memory], Model]) -> Model:
    """Read a model of this kind; whatever `rebuild` stumbles over in a file of anyone's is one clear error."""
    contents = read_container(path, format.kind, format.arrays_in)
    try:
        size = path.stat().st_size
        described = max(0, size - sum(array.nbytes for array in contents.arrays.values()))
        return rebuild(format.migrated(contents), Memory(size, described))
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, MemoryError, OSError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: its parts do not fit together ({what})") from None


def must(holds: bool, what: str) -> None:
    """Raise InputError if a condition on a file does not hold."""
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


def sparse_names(name: str) -> set[str]:
    """The names of the arrays that `sparse` makes."""
    return {f"{name} places", f"{name} values"}


def parts_of(arrays: Arrays, name: str, size: int) -> tuple[NDArray[Any], Floats]:
    """What `sparse` gave of an array with `size` numbers: places and values, for sure such."""
    places, values = arrays[f"{name} places"], arrays[f"{name} values"]
    if places.dtype.kind not in "iu" or places.ndim != 1 or places.shape != values.shape:
        raise ValueError(f"its array '{name}' is of another size")
    if len(places) and not 0 <= places.min() <= places.max() < size:
        raise ValueError(f"its array '{name}' is of another size")
    return places, values


def fill(array: Floats, arrays: Arrays, name: str) -> None:
    """Put what `sparse` gave back into an array of that shape."""
    places, values = parts_of(arrays, name, math.prod(array.shape))
    flat = array.reshape(-1)
    flat[:] = 0.0
    flat[places] = values


def filled(memory: Memory, size: int, arrays: Arrays, name: str) -> Floats:
    """The flat array of which `sparse` gave the numbers."""
    return memory.filled((size,), *parts_of(arrays, name, size))


ROWS = {"weights_per_attribute", "weight_labels", "weights"}
"""The names of the arrays that `by_rows` makes."""


def by_rows(weights: Floats) -> Arrays:
    """Weights (attribute, label) as how many each attribute has that are not 0, of which labels, and these."""
    rows, columns = np.nonzero(weights)
    return {
        "weights_per_attribute": np.bincount(rows, minlength=len(weights)).astype(np.uint32),
        "weight_labels": columns.astype(np.uint32),
        "weights": weights[rows, columns],
    }


def from_rows(arrays: Arrays, attributes: int, labels: int, memory: Memory) -> Floats:
    """What `by_rows` was given."""
    counts, columns, values = (arrays[name] for name in ("weights_per_attribute", "weight_labels", "weights"))
    must(counts.shape == (attributes,) and columns.ndim == values.ndim == 1, "weights")
    must(counts.dtype.kind == columns.dtype.kind == "u", "numbers of weights")
    must(int(counts.sum(dtype=np.uint64)) == len(columns) == len(values), "numbers of weights")
    must(not len(columns) or int(columns.max()) < labels, "labels of weights")
    places = np.repeat(np.arange(0, attributes * labels, labels), counts)
    places += columns
    return memory.filled((attributes, labels), places, values)
