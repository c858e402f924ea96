"""The limit on the memory of a loaded model: a small multiple of the size of its file.

A file holds only the nonzero weights. In memory, zeros lie between them, so a few weights far apart can need much more
memory than the file: a page of PAGE bytes each. Pages with only zeros need none. The memory of all weights is added up
before any is allocated, and a file that needs more than the limit is an error.
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

__all__ = ["MOST_MEMORY", "PLUS", "TIMES", "Memory", "limit", "memory_needed", "page_bytes"]

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
        needed = memory_needed(places, size, np.dtype(dtype).itemsize)
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
    """Return how many bytes the weights of a file of `size` bytes may take; `described` are those of its manifest."""
    given = os.environ.get(MOST_MEMORY, "").strip()
    if not given:
        return TIMES * size + PLUS - DESCRIPTION * described
    match = re.fullmatch(r"([0-9]{1,15})([KMGT]?)B?", given.upper())
    if match is None:
        raise InputError(f"{MOST_MEMORY} is a number of bytes, as 500M or 16G, not '{given}'")
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
