"""Iterative parameter mixing (McDonald, Hall and Mann 2010): the weights of a round are means of those of its shards.

In round r every shard s makes one epoch from the mixed weights w, over its N_s sentences, and ends in w_s. Then

    w ← Σ_s μ_s w_s,        D ← D + Σ_s μ_s (N / N_s)^p D_s,

where μ_s are the shares of the shards, Σ_s μ_s = 1, N is the number of all sentences, and D_s the averaging sum of the
epoch: Σ t^p · (change of w at time t), t = (r - 1) N_s, (r - 1) N_s + 1, …. With it, w - D / (rN)^p is the mean, with
the shares, of the mean weights of all shards since the beginning (see `structures.exact.averaged`): both sums are
linear in the weights. With one shard both are what plain training has.

Shards send only the weights that they changed. The sums are made in the order of the shards, so the bytes of the result
do not depend on who computed what, or when it arrived.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import unknown_name
from swvp.io.compact import compact, restored
from swvp.learning.rule import UpdateRule
from swvp.structures.exact import GRID, grid_of
from swvp.types import Floats, Ints

__all__ = [
    "MIXINGS",
    "Mixture",
    "Packed",
    "Sparse",
    "bytes_of",
    "change_of",
    "grid_for",
    "late_sums",
    "packed",
    "share_of",
    "unpacked",
]

MIXINGS = ("uniform", "mistakes", "changed")
"""How the shares of shards are chosen: all alike, or in proportion to the mistakes that each made in the round."""


class Sparse(NamedTuple):
    """Values at some places of a flat array."""

    places: Ints
    values: NDArray[Any]


def change_of(old: NDArray[Any], new: NDArray[Any]) -> Sparse:
    """The new values where an array changed."""
    places = np.flatnonzero(old.reshape(-1) != new.reshape(-1))
    return Sparse(places, new.reshape(-1)[places])


def share_of(mixing: str, mistakes: int) -> float:
    """The share of a shard, not yet divided by the sum of all shares."""
    if mixing not in MIXINGS:
        raise unknown_name("mixing", mixing, MIXINGS)
    # a shard without a mistake has the weights of the round before: its share must not be 0 if no shard had any
    return float(mistakes) + 1e-9 if mixing == "mistakes" else 1.0


class Mixture:
    """The mean of the arrays of shards, each given by its changes of a common array `old`.

    With `changed` the mean of an element is that of the shards that have changed it.
    """

    def __init__(self, old: NDArray[Any], *, changed: bool = False):
        self.old = old.reshape(-1)
        self.sum: Floats = np.zeros(0)
        self.shares: Floats = np.zeros(0)
        self.changed = changed
        self.first: tuple[float, Sparse] | None = None
        """The only shard so far: its values need no sums, nor memory for them."""

    def add(self, share: float, new: Sparse) -> None:
        """Add a shard with its share. Call it in the order of the shards."""
        if self.first is None and not len(self.shares):
            self.first = share, new
            return
        if self.first is not None:
            first, self.first = self.first, None
            self._add_difference(*first)
        self._add_difference(share, new)

    def _add_difference(self, share: float, new: Sparse) -> None:
        self.add_to(share, Sparse(new.places, new.values - self.old[new.places]))

    def add_to(self, share: float, new: Sparse, factor: float = 1.0) -> None:
        """Add a shard whose values are not new ones but what it adds to the old ones, to be multiplied by `factor`."""
        if not len(self.shares):
            self.sum, self.shares = np.zeros(len(self.old)), np.zeros(len(self.old) if self.changed else 1)
        self.sum[new.places] += share * (factor * new.values)
        self.shares[new.places if self.changed else 0] += share

    def write(self, grid: float = 0.0) -> Sparse:
        """Overwrite `old` with the mean, in multiples of the grid if there is one; return what has changed."""
        if self.first is not None:  # the values of a single shard, without rounding
            _, only = self.first
            self.old[only.places] = only.values
            return only
        places = np.flatnonzero(self.sum)
        mean = self.old[places] + self.sum[places] / (self.shares[places] if self.changed else self.shares[0])
        self.old[places] = np.floor(mean / grid + 0.5) * grid if grid else mean
        return Sparse(places, self.old[places])


def grid_for(rule: UpdateRule) -> float:
    """The grid of the weights that a rule learns, where φ counts features: the finest one of its stages."""
    return min(grid_of(stage.C) if stage.step in ("mira", "ada") else GRID for stage in rule.stages)


# ---------------------------------------------------------------- on the way

Packed = dict[str, tuple[NDArray[Any], list[str] | None]]


def packed(arrays: dict[str, NDArray[Any]]) -> Packed:
    """Arrays in fewer bytes, with nothing lost."""
    return {name: compact(array) for name, array in arrays.items()}


def unpacked(given: Packed) -> dict[str, NDArray[Any]]:
    """What `packed` was given."""
    return {name: restored(array, recipe) for name, (array, recipe) in given.items()}


def bytes_of(given: Packed) -> int:
    """The number of bytes of packed arrays."""
    return sum(array.nbytes for array, _ in given.values())


def late_sums(w: Floats, delayed: Floats, before: Floats, then: float) -> Floats:
    """The averaging sums of the time after `then` alone, for `averaged`.

    `before` are Σ (t^p - (t-1)^p) w_t = w·T^p - D at that time T, `then` is T^p.
    """
    return delayed - w * then + before
