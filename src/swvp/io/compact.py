"""Arrays of model files in fewer bytes, with nothing lost.

Whole numbers are stored in the narrowest type that holds them; if they increase, as the places of weights do, their
differences are stored, which are smaller. Floating-point numbers are stored with 2 or 4 bytes if that is exact. The
recipe of an array, such as ["<i8", "differences"], says how it was before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.io.model_files import require

__all__ = ["compact", "restored", "rounded"]

DIFFERENCES, AS_IT_IS = "differences", "as it is"
NARROW = (np.uint8, np.uint16, np.uint32)
WIDE = ("<f8", "<f4", "<i8", "<i4", "<u4")
"""The types of arrays that are made smaller."""


def compact(array: NDArray[Any]) -> tuple[NDArray[Any], list[str] | None]:
    """Return an array in fewer bytes, and the recipe by which `restored` gets it back, or None.

    Examples
    --------
    >>> compact(np.array([3, 300, 301]))
    (array([  3, 297,   1], dtype=uint16), ['<i8', 'differences'])
    """
    if array.dtype.str not in WIDE or not array.size:
        return array, None
    how = AS_IT_IS
    if array.dtype.kind == "f":
        found = next((smaller for smaller in shortened(array) if np.array_equal(smaller, array)), None)
        if found is None:
            return array, None
        smaller: NDArray[Any] = found
    elif array.min() < 0:
        return array, None
    else:
        if array.ndim == 1 and bool((array[1:] >= array[:-1]).all()):
            how = DIFFERENCES
            array_or_gaps = np.diff(array, prepend=array.dtype.type(0))
        else:
            array_or_gaps = array
        most = int(array_or_gaps.max())
        kind = next((kind for kind in NARROW if most <= np.iinfo(kind).max), None)
        if kind is None or np.dtype(kind).itemsize >= array.itemsize:
            return array, None
        smaller = array_or_gaps.astype(kind)
    return smaller, [array.dtype.str, how]


def shortened(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield floating-point numbers in 2 bytes each, then in 4 if that is fewer than they have."""
    for kind in (np.float16, np.float32):
        if np.dtype(kind).itemsize < array.itemsize:
            with np.errstate(over="ignore"):
                yield array.astype(kind)


def rounded(weights: NDArray[Any]) -> NDArray[Any]:
    """Return weights with as many digits as 2 bytes hold, or 4 if some are too large for that."""
    with np.errstate(over="ignore"):
        half = weights.astype(np.float16)
    return (half if np.isfinite(half).all() else weights.astype(np.float32)).astype(weights.dtype)


def restored(array: NDArray[Any], recipe: Any) -> NDArray[Any]:
    """Return the array that `compact` was given; raise InputError if the recipe is not one of its own."""
    if recipe is None:
        return array
    require(isinstance(recipe, list) and len(recipe) == 2 and recipe[0] in WIDE, "types of arrays")
    dtype, how = np.dtype(recipe[0]), recipe[1]
    require(how in (DIFFERENCES, AS_IT_IS) and (array.dtype.kind == "f") == (dtype.kind == "f"), "types of arrays")
    if how == AS_IT_IS:
        return array.astype(dtype)
    require(array.ndim == 1 and dtype.kind in "iu", "types of arrays")
    return np.cumsum(array, dtype=dtype)
