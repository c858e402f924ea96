"""Rows of numbers for strings, each computed once: blocks of a file mostly have the strings of the blocks before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["StringRows"]

MOST = 2**16


class StringRows:
    """A function from strings to rows of numbers that remembers what it computed; threads may share it.

    Parameters
    ----------
    compute : function
        Returns an array with one row for each of a list of strings.
    most : int
        It forgets everything before it would remember more strings than this.
    """

    def __init__(self, compute: Callable[[Sequence[str]], NDArray[Any]], most: int = MOST):
        self.compute, self.most = compute, most
        self._lock = Lock()
        self._places: dict[str, int] = {}
        self._rows = compute([])

    def __call__(self, strings: Sequence[str]) -> NDArray[Any]:
        """Return the rows of strings."""
        with self._lock:
            new = [string for string in strings if string not in self._places]
            if len(self._places) + len(new) > self.most:
                self._places, self._rows, new = {}, self._rows[:0], list(strings)
            if new:
                new = list(dict.fromkeys(new))
                first = len(self._places)
                self._rows = np.concatenate([self._rows, self.compute(new)])
                self._places.update(zip(new, range(first, first + len(new)), strict=True))
            return self._rows[np.fromiter(map(self._places.__getitem__, strings), np.int64, len(strings))]
