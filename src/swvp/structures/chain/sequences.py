"""Owns what all chains share: sequences in one array, comparing with the gold labels, making mixed assignments.

A problem has `offsets` and the gold labels `y`; a model has the kept prediction `predicted` and, between calls, the
gold labels of the same sequence in `mixed`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import inlined, kernel

__all__ = ["Ids", "compare", "labels", "longest", "mix"]

Ids = NDArray[np.uint32]
"""Unsigned, so that an index taken from it needs no test for being negative."""


@kernel
def longest(problem):
    most = 0
    for i in range(len(problem.offsets) - 1):
        most = max(most, problem.offsets[i + 1] - problem.offsets[i])
    return most


@inlined
def compare(gold, start, n, predicted, mixed, wrong):
    """Write the wrong positions and return how many there are; leave the gold labels in `mixed`."""
    count = 0
    for k in range(n):
        mixed[k] = gold[start + k]
        wrong[count] = k  # without a branch, which would often be guessed wrong
        count += predicted[k] != gold[start + k]
    return count


@inlined
def mix(positions, first, last, source, start, mixed):
    """Put the labels of `source` at the positions of J = positions[first:last]."""
    for p in range(first, last):
        mixed[positions[p]] = source[start + positions[p]]


def labels(problem: Any, model: Any, i: int) -> tuple[Ids, Ids]:
    gold = problem.y[problem.offsets[i] : problem.offsets[i + 1]]
    return gold, model.predicted[: len(gold)]
