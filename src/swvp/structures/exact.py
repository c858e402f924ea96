"""Exact arithmetic: ties between outputs are real, and no order of summation changes them.

Where φ counts features (`operations.counts_features`), each update adds multiples of GRID to the weights. So every
weight and every score is a multiple of GRID, and sums of them have no rounding error up to 2^53 · GRID ≈ 5·10^8. Equal
scores are then equal numbers, in whatever order they are summed, and a margin is either at most 0 or at least GRID.
Rules whose steps are at most C < 1 have a finer grid, by about the same factor (`grid_of`).

An average of weights is rounded to multiples of a power of 2 too, 2^-AVERAGE_BITS of the largest weight.
"""

from __future__ import annotations

import math

import numpy as np

from swvp.compiled import kernel
from swvp.types import Floats

__all__ = ["GRID", "averaged", "grid_of", "on_grid"]

GRID = 2.0**-24
AVERAGE_BITS = 36


@kernel
def on_grid(x: float, grid: float) -> float:
    """The nearest multiple of the grid."""
    return math.floor(x / grid + 0.5) * grid


def grid_of(longest_step: float) -> float:
    """The grid of a rule: GRID or, if no step is longer than 1/2^k, GRID/2^k.

    >>> grid_of(1.0) == grid_of(50.0) == GRID, grid_of(0.01) == GRID / 128
    (True, True)
    """
    return GRID if longest_step >= 1 else math.ldexp(GRID, max(math.frexp(longest_step)[1] - 1, -900))


def averaged(w: Floats, delayed: Floats, clock: float, out: Floats | None = None) -> Floats:
    """Return the mean of w after each of `clock` examples, rounded so that sums of averaged weights are exact too.

    If t^p takes the place of the number t of examples, here and in `delayed`, the weights after example t count
    t^p - (t-1)^p in the mean: the later ones count more.

    Parameters
    ----------
    w : the weights after the last example
    delayed : the averaging sums Σ (examples seen before)·(change of w), which a model collects with each update
    clock : number of examples seen
    out : array for the result, optional

    Returns
    -------
    array of weights


    >>> averaged(np.array([2.0, 1.0]), np.array([4.0, 0.0]), 3).round(3)
    array([0.667, 1.   ])
    """
    mean = np.multiply(delayed, -1 / max(clock, 1), out=out)
    mean += w
    largest = max(float(mean.max(initial=0.0)), -float(mean.min(initial=0.0)))
    if 0 < largest < math.inf:
        unit = math.ldexp(1.0, max(math.frexp(largest)[1] - AVERAGE_BITS, -1000))
        mean /= unit
        np.rint(mean, out=mean)
        mean *= unit
    return mean
