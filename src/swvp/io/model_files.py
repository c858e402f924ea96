"""Saving and loading models: versions and migrations, arrays stored without zeros, checks of what was read, memory.

A file holds only the nonzero weights. In memory, zeros lie between them, so a few weights far apart can need much more
memory than the file: a page of PAGE bytes each. Pages with only zeros need none. The memory of all weights is added up
before any is allocated, and a file that needs more than the limit, a small multiple of its size, is an error.
"""

from __future__ import annotations

import math
import mmap
import os
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.container import ArrayNames, Contents, read_container, write_container

__all__ = [
    "MOST_MEMORY",
    "PLUS",
    "ROWS",
    "TIMES",
    "Format",
    "Memory",
    "Migration",
    "by_rows",
    "checked_rows",
    "fill",
    "filled",
    "from_rows",
    "in_rows",
    "limit",
    "load_model",
    "memory_needed",
    "page_bytes",
    "parts_of",
    "require",
    "save_model",
    "sparse",
    "sparse_names",
    "strings",
    "threads",
]

TIMES, PLUS = 64, 2**29
"""The weights and the manifest of a model take at most TIMES the size of its file, plus PLUS bytes."""

DESCRIPTION = 45
"""Bytes of memory for each byte of the manifest, at most, once it is parsed."""

MOST_MEMORY = "SWVP_MAX_MEMORY"
"""The environment variable with another limit, in bytes or with a unit: 16G."""

PAGE = max(4096, mmap.PAGESIZE)
LARGE = 2**22
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Memory:
    """The bytes left for the weights of a file of `size` bytes, of which `described` are its manifest.

    Without a size there is no limit.
    """

    def __init__(self, size: int | None = None, described: int = 0):
        self.left = math.inf if size is None else limit(size, described)

    def filled(
        self, shape: tuple[int, ...], places: NDArray[Any], values: NDArray[Any], dtype: type = np.float64
    ) -> NDArray[Any]:
        """Return an array with these values at these places of its flat form, 0 elsewhere; count its memory."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        needed = self.count(shape, places, np.dtype(dtype).itemsize)
        result = few_pages(size, dtype) if needed < size else np.zeros(math.prod(shape), dtype)
        result[places] = values
        return result.reshape(shape)

    def count(self, shape: tuple[int, ...], places: NDArray[Any], itemsize: int) -> int:
        """Count the memory of such an array and return it; InputError if it is more than is left."""
        needed = memory_needed(places, math.prod(shape) * itemsize, itemsize)
        self.left -= needed
        if self.left < 0:
            raise InputError(
                f"its weights would take much more memory than the size of the file: if you trust it, "
                f"set {MOST_MEMORY} to what it may take, as {MOST_MEMORY}=16G"
            )
        return needed


def limit(size: int, described: int = 0) -> float:
    """Return how many bytes the weights of a file of `size` bytes may take; `described` are those of its manifest."""
    given = os.environ.get(MOST_MEMORY, "").strip()
    if not given:
        return TIMES * size + PLUS - DESCRIPTION * described
    match = re.fullmatch(r"([0-9]{1,15})([KMGT]?)B?", given.upper())
    if match is None:
        raise InputError(f"{MOST_MEMORY} must be a number of bytes, such as 500M or 16G, not '{given}'")
    return int(match[1]) * UNITS[match[2]]


def memory_needed(places: NDArray[Any], size: int, itemsize: int) -> int:
    """Return the bytes of memory of an array of `size` bytes in which only these places are not 0."""
    pages = page_bytes(places, itemsize)
    return pages if size >= LARGE and pages < size / 2 else size


def page_bytes(places: NDArray[Any], itemsize: int) -> int:
    """Return the bytes of all pages that hold these places of an array."""
    pages = np.right_shift(places, int(math.log2(PAGE // itemsize)))
    if (pages[1:] < pages[:-1]).any():
        pages.sort()
    return PAGE * int(np.count_nonzero(pages[1:] != pages[:-1]) + (len(pages) > 0))


def few_pages(size: int, dtype: type) -> NDArray[Any]:
    """Return zeros whose pages take memory only when they are written to; NumPy would ask for huge pages."""
    if not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(size // np.dtype(dtype).itemsize, dtype)
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, ValueError, OverflowError):
        raise MemoryError(f"cannot allocate {size} bytes") from None
    pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, dtype)


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
        surrogate = error.object[error.start]
        raise InputError(f"a {kind} with an unpaired surrogate ({surrogate!a}) cannot be saved") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"a {kind} with numbers that are not finite cannot be saved ({error})") from None
    allowed = TIMES * path.stat().st_size + PLUS
    weights = tuple(array for array in weights if isinstance(array, np.ndarray))
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
    require(isinstance(value, list) and set(map(type, value)) <= {str}, "list of strings")
    return list(value)


def threads(value: Any) -> int:
    """Return the number of threads that a file names; 1 if it is not a number from 1 to MAX_THREADS."""
    return value if type(value) is int and 1 <= value <= MAX_THREADS else 1


def sparse(name: str, array: NDArray[Any]) -> Arrays:
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


def fill(array: NDArray[Any], arrays: Arrays, name: str) -> None:
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


def by_rows(weights: Any) -> Arrays:
    """Return the nonzero weights of an array (attribute, label): how many each attribute has, their labels, values.

    The array may be a sparse matrix of SciPy in the format CSR.
    """
    if not isinstance(weights, np.ndarray):
        counts = np.diff(weights.indptr).astype(np.uint32)
        return {
            "weights_per_attribute": counts,
            "weight_labels": weights.indices.astype(np.uint32),
            "weights": weights.data,
        }
    rows, columns = np.nonzero(weights)
    return in_rows(len(weights), rows, columns, weights[rows, columns])


def in_rows(attributes: int, rows: NDArray[Any], columns: NDArray[Any], values: Floats) -> Arrays:
    """Return what `by_rows` returns, of weights by ascending attribute and label."""
    return {
        "weights_per_attribute": np.bincount(rows, minlength=attributes).astype(np.uint32),
        "weight_labels": columns.astype(np.uint32),
        "weights": values,
    }


def checked_rows(arrays: Mapping[str, NDArray[Any]], attributes: int, labels: int) -> tuple[NDArray[Any], ...]:
    """Return the numbers of weights, their labels and their values, which `by_rows` stored, if they can be right."""
    counts, columns, values = (arrays[name] for name in ("weights_per_attribute", "weight_labels", "weights"))
    require(counts.shape == (attributes,) and columns.ndim == values.ndim == 1, "weights")
    require(counts.dtype.kind == columns.dtype.kind == "u", "numbers of weights")
    require(int(counts.sum(dtype=np.uint64)) == len(columns) == len(values), "numbers of weights")
    require(not len(columns) or int(columns.max()) < labels, "labels of weights")
    return counts, columns, values


def from_rows(arrays: Arrays, attributes: int, labels: int, memory: Memory) -> Floats:
    """Return the array (attribute, label) that `by_rows` stored."""
    counts, columns, values = checked_rows(arrays, attributes, labels)
    places = np.repeat(np.arange(0, attributes * labels, labels), counts)
    places += columns
    return memory.filled((attributes, labels), places, values)
