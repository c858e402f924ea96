"""Owns exact arithmetic: ties between outputs are real, and no order of summation changes them.

Where φ counts features (`operations.counts_features`), each update adds multiples of GRID to the weights. So every
weight and every score is a multiple of GRID, and sums of them have no rounding error up to 2^53 · GRID ≈ 5·10^8. Equal
scores are then equal numbers, whoever adds them up, and a margin is either at most 0 or at least GRID.

An average of weights is rounded to multiples of a power of 2 too, 2^-AVERAGE_BITS of the largest weight.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import kernel

__all__ = ["GRID", "averaged", "on_grid"]

GRID = 2.0**-24
AVERAGE_BITS = 36


@kernel
def on_grid(x: float) -> float:
    """The nearest multiple of GRID."""
    return math.floor(x / GRID + 0.5) * GRID


def averaged(
    w: NDArray[np.float64], delayed: NDArray[np.float64], clock: int, out: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The mean of w after each of `clock` examples, where delayed = Σ (examples seen before)·(change of w).

    It is rounded, so that sums of averaged weights are exact too.

    >>> averaged(np.array([2.0, 1.0]), np.array([4.0, 0.0]), 3) * 2**36 / 2
    array([2.29064922e+10, 3.43597384e+10])
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
