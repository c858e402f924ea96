"""Owns how much memory a model file may take: a small multiple of its size, whatever is in it.

A file holds only the weights that are not 0. In memory they lie among the others, so few of them can take a lot of
room: a page of PAGE bytes each, if they lie far apart. Pages without any take none. What all weights of a model take
is counted before they are put into their places, and a file that asks for too much is refused.
"""

from __future__ import annotations

import math
import mmap
import os
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError

__all__ = ["MOST_MEMORY", "PLUS", "TIMES", "Memory", "limit", "room_for", "touched"]

TIMES, PLUS = 64, 2**29
"""The weights and the description of a model take at most TIMES the size of its file and PLUS bytes."""

DESCRIPTION = 45
"""How many times their length texts and lists take at most, once they are read."""

MOST_MEMORY = "SWVP_MAX_MEMORY"
"""The environment variable with another limit, in bytes or as 16G."""

PAGE = max(4096, mmap.PAGESIZE)
LARGE = 2**22
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


class Memory:
    """What is left for the weights of a file of `size` bytes, `described` of them its description; without a size, as
    much as there is."""

    def __init__(self, size: int | None = None, described: int = 0):
        self.left = math.inf if size is None else limit(size, described)

    def filled(
        self, shape: tuple[int, ...], places: NDArray[Any], values: NDArray[Any], dtype: type = np.float64
    ) -> NDArray[Any]:
        """An array with these values at these places of its flat form, 0 elsewhere."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        needed = room_for(places, size, np.dtype(dtype).itemsize)
        self.left -= needed
        if self.left < 0:
            raise InputError(
                f"its weights would take much more memory than the size of the file: if you trust it, "
                f"set {MOST_MEMORY} to what it may take, as {MOST_MEMORY}=16G"
            )
        result = few_pages(size, dtype) if needed < size else np.zeros(math.prod(shape), dtype)
        result[places] = values
        return result.reshape(shape)


def limit(size: int, described: int = 0) -> float:
    """How many bytes the weights of a file of `size` bytes may take, `described` of them its description."""
    given = os.environ.get(MOST_MEMORY, "").strip()
    if not given:
        return TIMES * size + PLUS - DESCRIPTION * described
    found = re.fullmatch(r"([0-9]{1,15})([KMGT]?)B?", given.upper())
    if found is None:
        raise InputError(f"{MOST_MEMORY} is a number of bytes, as 500M or 16G, not '{given}'")
    return int(found[1]) * UNITS[found[2]]


def room_for(places: NDArray[Any], size: int, itemsize: int) -> int:
    """How many bytes an array of `size` bytes takes, of which only these places are not 0: less, if they are few."""
    pages = touched(places, itemsize)
    return pages if size >= LARGE and pages < size / 2 else size


def touched(places: NDArray[Any], itemsize: int) -> int:
    """How many bytes of memory the pages have in which these places of an array are."""
    pages = np.right_shift(places, int(math.log2(PAGE // itemsize)))
    if (pages[1:] < pages[:-1]).any():
        pages.sort()
    return PAGE * int(np.count_nonzero(pages[1:] != pages[:-1]) + (len(pages) > 0))


def few_pages(size: int, dtype: type) -> NDArray[Any]:
    """Zeros of which only pages that are written to take memory: without huge pages, which NumPy asks for."""
    if not hasattr(mmap, "MADV_NOHUGEPAGE"):
        return np.zeros(size // np.dtype(dtype).itemsize, dtype)
    try:
        room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (OSError, ValueError, OverflowError):
        raise MemoryError(f"no room for {size} bytes") from None
    room.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(room, dtype)
