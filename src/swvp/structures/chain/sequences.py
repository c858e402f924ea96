"""What all chains share: sequences in one array, comparing with the gold labels, making mixed assignments.

A problem has `offsets` and the gold labels `y`. A model has the last prediction in `predicted` and, between calls, the
gold labels of the same sequence in `mixed`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swvp.compiled import inlined, inlined_with_arrays, kernel
from swvp.types import Floats, Ids

__all__ = ["Ids", "compare", "counts_features", "labels", "length", "longest", "mix", "replaced_pairs"]


@kernel
def longest(problem):
    most = 0
    for i in range(len(problem.offsets) - 1):
        most = max(most, problem.offsets[i + 1] - problem.offsets[i])
    return most


@inlined
def length(problem, model, i):
    return problem.offsets[i + 1] - problem.offsets[i]


@kernel
def counts_features(problem):
    """True if the attributes have no values: then each of them counts 1."""
    return len(problem.values) == 0


@inlined
def compare(gold, start, n, predicted, mixed, wrong):
    """Write the wrong positions and return their number; copy the gold labels to `mixed`."""
    count = 0
    for k in range(n):
        mixed[k] = gold[start + k]
        wrong[count] = k  # without a branch, which would often be mispredicted
        count += predicted[k] != gold[start + k]
    return count


@inlined
def mix(positions, first, last, source, start, mixed):
    """Put the labels of `source` at the positions of J = positions[first:last]."""
    for p in range(first, last):
        mixed[positions[p]] = source[start + positions[p]]


@inlined_with_arrays
def replaced_pairs(n, starts, positions, sets, count, amounts):
    """How much of each pair of neighbours (y_{k-1}, y_k), k = 0, …, n, the sets replace: Σ_c amounts[c], by kind.

    Kind 0: only y_k is in J. 1: only y_{k-1} is. 2: both are. So the result does not grow with the number of sets.
    """
    amount = np.zeros((n + 1, 3))
    for c in range(count):
        first, last = starts[sets[c]], starts[sets[c] + 1]
        for p in range(first, last):
            k = positions[p]
            amount[k, 2 if p > first and positions[p - 1] == k - 1 else 0] += amounts[c]
            if p + 1 == last or positions[p + 1] != k + 1:
                amount[k + 1, 1] += amounts[c]
    return amount


def labels(problem: Any, model: Any, i: int) -> tuple[Ids, Ids]:
    gold = problem.y[problem.offsets[i] : problem.offsets[i + 1]]
    return gold, model.predicted[: len(gold)]


def squares(*arrays: Floats) -> float:
    """Σ w² over all weights; not by BLAS, whose threads keep spinning afterwards."""
    return sum(float(np.einsum("i,i->", array.ravel(), array.ravel())) for array in arrays)
