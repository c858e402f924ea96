"""k-best MIRA (McDonald, Crammer and Pereira 2005), a rival of the weighted violations.

Each example changes w by as little as possible, so that its gold label beats each of the k best outputs z by a margin
of at least its Hamming loss, w·Δφ(x, y, z) ≥ loss(z). An example may change w though its best output is right. The
change is Σ α(z) Δφ(x, y, z), where α is the solution of the dual problem

    max  Σ α(z) (loss(z) - w·Δφ(z)) - ½ ‖Σ α(z) Δφ(z)‖²    with 0 ≤ α(z) ≤ C,

so a margin that would cost more than C is not reached. With k = 1 this is the rule `mira`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import kernel
from swvp.learning.epoch import MISTAKES, NON_VIOLATING, UPDATES, VIOLATING, WRONG_POSITIONS
from swvp.learning.gamma import RELATIVE_ZERO
from swvp.learning.step import dot, table
from swvp.structures.exact import on_grid
from swvp.structures.operations import (
    add,
    best_outputs,
    counts_features,
    direction,
    importance,
    keep,
    longest,
    margins,
)

__all__ = ["KBest", "hildreth", "sweep_k_best"]

MOST_ROUNDS = 1000
TOLERANCE = 1e-10
"""The tolerance of margins; the smallest loss is 1."""


class KBest(NamedTuple):
    """The rule mira:K, for kernels and for plain Python."""

    k: int
    C: float
    grid: float


@kernel
def hildreth(gram, missing, n, C, alpha):
    """Write the α of n outputs from the inner products of their Δφ and from loss - margin.

    Hildreth's algorithm: one α after the other is set to its best value while the others stay, round by round.
    """
    for a in range(n):
        alpha[a] = 0.0
    for _ in range(MOST_ROUNDS):
        largest = 0.0
        for a in range(n):
            if gram[a, a] <= 0:  # Δφ = 0
                continue
            rest = missing[a]
            for b in range(n):
                rest -= gram[a, b] * alpha[b]
            new = min(C, max(0.0, alpha[a] + rest / gram[a, a]))
            largest = max(largest, abs(new - alpha[a]) * gram[a, a])
            alpha[a] = new
        if largest <= TOLERANCE:
            break


@kernel
def inner_products(n, ends, features, values, gram):
    """Write the inner products of n sparse vectors; vector a has the pairs ends[a]:ends[a + 1]."""
    for a in range(n):
        keys, sums = table(ends[a], ends[a + 1], features, values)
        for b in range(a, n):
            gram[a, b] = gram[b, a] = dot(keys, sums, ends[b], ends[b + 1], features, values)


@kernel
def sweep_k_best(problem, model, rule, order, clock, power, largest, counts):
    """One epoch, with the arguments and the result of `perceptron.sweep`. Violations are counted among the k best."""
    k = rule.k
    wrong = np.empty(longest(problem), np.int64)
    whole, first, amount, margin = np.zeros(2, np.int64), np.zeros(1, np.int64), np.ones(1), np.empty(1)
    rank, ends = np.empty(k, np.int64), np.zeros(k + 1, np.int64)
    missing, alpha, gram = np.empty(k), np.empty(k), np.empty((k, k))
    features, values = np.empty(0, np.int64), np.empty(0)
    exact = counts_features(problem)
    for t in range(len(order)):
        i = order[t]
        number, outputs = best_outputs(problem, model, i, k)
        n = 0
        all_reached = True
        for r in range(number):
            whole[1] = keep(problem, model, i, outputs, r, wrong)
            if whole[1] == 0:  # y itself
                continue
            if r == 0:
                counts[MISTAKES] += 1
                counts[WRONG_POSITIONS] += whole[1]
            margins(problem, model, i, whole, wrong, 1, margin)
            largest[0] = max(largest[0], abs(margin[0]))
            zero = rule.grid / 2 if exact else RELATIVE_ZERO * largest[0]
            counts[VIOLATING if margin[0] <= zero else NON_VIOLATING] += 1
            rank[n] = r
            missing[n] = whole[1] - margin[0]
            all_reached = all_reached and missing[n] <= TOLERANCE
            n += 1
        if all_reached:
            continue

        amount[0] = 1.0
        for c in range(n):
            whole[1] = keep(problem, model, i, outputs, rank[c], wrong)
            size, new_features, new_values = direction(problem, model, i, whole, wrong, first, 1, amount)
            ends[c + 1] = ends[c] + size
            if ends[c + 1] > len(features):
                features, values = longer(features, 2 * ends[c + 1]), longer(values, 2 * ends[c + 1])
            for p in range(size):
                features[ends[c] + p], values[ends[c] + p] = new_features[p], new_values[p]
        inner_products(n, ends, features, values, gram)
        hildreth(gram, missing, n, rule.C * importance(problem, i), alpha)
        changed = False
        for c in range(n):
            amount[0] = on_grid(alpha[c], rule.grid) if exact else alpha[c]
            if amount[0] > 0:
                changed = True
                whole[1] = keep(problem, model, i, outputs, rank[c], wrong)
                add(problem, model, i, whole, wrong, first, 1, amount, float(clock + t) ** power)
        counts[UPDATES] += changed
    return len(order)


@kernel
def longer(array, size):
    """A longer array that begins with the same numbers."""
    result = np.empty(size, array.dtype)
    for p in range(len(array)):
        result[p] = array[p]
    return result
