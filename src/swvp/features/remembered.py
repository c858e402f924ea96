"""Rows of numbers for strings, each computed once: blocks of a file mostly have the strings of the blocks before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.types import Ints

__all__ = ["StringRows"]

MOST = 2**16
UNKNOWN = -1


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
            places = self._find(strings)
            new = [strings[k] for k in np.flatnonzero(places == UNKNOWN).tolist()]
            if len(self._places) + len(new) > self.most:
                self._places, self._rows, new = {}, self._rows[:0], list(strings)
            if new:
                new = list(dict.fromkeys(new))
                first = len(self._places)
                self._rows = np.concatenate([self._rows, self.compute(new)])
                self._places.update(zip(new, range(first, first + len(new)), strict=True))
                places = self._find(strings)
            return self._rows[places]

    def _find(self, strings: Sequence[str]) -> Ints:
        """Return the row of each string, or UNKNOWN."""
        return np.fromiter(map(self._places.get, strings, repeat(UNKNOWN)), np.int64, len(strings))
