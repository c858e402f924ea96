"""All sub-structures of second-order chains in linear time: sums over pairs of neighbouring indicators.

In a second-order chain each feature depends on labels at most two positions apart. Let z_j = [j ∈ J] for the wrong
positions 1, …, k. The margin of J is a sum over z_j, over z_j z_{j+1}, over z_j z_{j+2} and over z_j z_{j+1} z_{j+2},
the latter only for three wrong positions in a row; the margins of these sets of one, two and three positions give the
terms, as in `all_subsets`. So γ(m^J) ∝ exp(-λ·margin(m^J)) is a Markov chain of second order over z, and
forward–backward over the pairs (z_{j-1}, z_j) computes its expectations in O(k).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import implement, inlined, kernel
from swvp.learning.subset_sums import expectations, lay_out, least_margin, log_sum, new_sums
from swvp.types import Floats, Ints

__all__ = ["AllOfTriples", "Triples"]

PAIR, APART, TRIPLE = range(3)
"""The sets {j, j+1}, {j, j+2} and {j, j+1, j+2}."""


class AllOfTriples(NamedTuple):
    """A rule as `all_subsets.AllSubsets`, for second-order chains."""

    base: Any
    maxent: bool


class Triples(NamedTuple):
    """term[j] has the numbers of the sets {j, j+1}, {j, j+2} and {j, j+1, j+2}, -1 if they share no feature.

    extra[j] is what these sets have in their margins beyond those of smaller ones. forward[j, u, v] is the log of the
    sum of exp(-λ·margin) over the sets of positions up to j with (z_{j-1}, z_j) = (u, v); backward[j, u, v] is that
    over the positions behind j.
    """

    term: Ints
    extra: Floats
    forward: Floats
    backward: Floats


@implement(new_sums, AllOfTriples)
@kernel
def new_triples(rule, n):
    return Triples(np.empty((n, 3), np.int64), np.empty((n, 3)), np.empty((n, 2, 2)), np.empty((n, 2, 2)))


@implement(lay_out, Triples)
@kernel
def ones_to_threes(sums, problem, model, i, wrong, k, starts, positions):
    """Write the sets {j} of the k wrong positions, then those of two and three that share features."""
    starts[0] = 0
    for j in range(k):
        positions[j], starts[j + 1] = wrong[j], j + 1
    count, end = k, k
    for j in range(k):
        for kind in range(3):
            last = j + 1 if kind == PAIR else j + 2
            sums.term[j, kind] = -1
            if last < k and wrong[last] <= wrong[j] + 2:
                sums.term[j, kind] = count
                for member in range(j, last + 1):
                    if kind != APART or member != j + 1:
                        positions[end] = wrong[member]
                        end += 1
                count += 1
                starts[count] = end
    return count, starts, positions


@kernel
def find_extras(sums, margin, k):
    """Write what sets of two and three have in their margins beyond those of smaller sets."""
    term, extra = sums.term, sums.extra
    for j in range(k):
        for kind in range(2):
            t = term[j, kind]
            extra[j, kind] = margin[t] - margin[j] - margin[j + 1 + kind] if t >= 0 else 0.0
    for j in range(k):
        extra[j, TRIPLE] = 0.0
        if term[j, TRIPLE] >= 0:
            ones = margin[j] + margin[j + 1] + margin[j + 2]
            extra[j, TRIPLE] = (
                margin[term[j, TRIPLE]] - ones - extra[j, PAIR] - extra[j + 1, PAIR] - extra[j, APART]
            )  # fmt: skip


@inlined
def added(sums, margin, j, u, v):
    """What j adds to the margin of a set with (z_{j-2}, z_{j-1}) = (u, v)."""
    total = margin[j]
    if v and j > 0:
        total += sums.extra[j - 1, PAIR]
    if u and j > 1:
        total += sums.extra[j - 2, APART] + (sums.extra[j - 2, TRIPLE] if v else 0.0)
    return total


@implement(least_margin, Triples)
@kernel
def least_margin_of_triples(sums, margin, k, count):
    find_extras(sums, margin, k)
    least = np.full((k, 2, 2), np.inf)
    result = math.inf
    for j in range(k):
        for v in range(2):  # z_{j-1}
            for u in range(2):  # z_{j-2}
                before = least[j - 1, u, v] if j else (0.0 if u + v == 0 else math.inf)
                least[j, v, 0] = min(least[j, v, 0], before)
                least[j, v, 1] = min(least[j, v, 1], before + added(sums, margin, j, u, v))
            result = min(result, least[j, v, 1])
    return result


@implement(expectations, Triples)
@kernel
def expectations_of_triples(sums, multiplier, margin, k, count, amount):
    forward, backward = sums.forward, sums.backward
    find_extras(sums, margin, k)
    log_z = -math.inf  # the log of the sum over non-empty sets, by their last position
    for j in range(k):
        for v in range(2):
            forward[j, v, 0] = forward[j, v, 1] = -math.inf
            for u in range(2):
                before = forward[j - 1, u, v] if j else (0.0 if u + v == 0 else -math.inf)
                forward[j, v, 0] = log_sum(forward[j, v, 0], before)
                forward[j, v, 1] = log_sum(forward[j, v, 1], before - multiplier * added(sums, margin, j, u, v))
            log_z = log_sum(log_z, forward[j, v, 1])
    for u in range(2):
        for v in range(2):
            backward[k - 1, u, v] = 0.0
            for j in range(k - 2, -1, -1):
                backward[j, u, v] = 0.0
    for j in range(k - 2, -1, -1):
        for u in range(2):
            for v in range(2):
                after = backward[j + 1, v, 1] - multiplier * added(sums, margin, j + 1, u, v)
                backward[j, u, v] = log_sum(backward[j + 1, v, 0], after)

    mean = 0.0
    for t in range(count):
        amount[t] = 0.0
    for j in range(k):
        # P(z_j), P(z_j z_{j+1}), P(z_j z_{j+2}) and P(z_j z_{j+1} z_{j+2}), less those of the sets around them
        for u in range(2):
            amount[j] += math.exp(forward[j, u, 1] + backward[j, u, 1] - log_z)
        mean += amount[j] * margin[j]
    for j in range(k):
        if sums.term[j, PAIR] >= 0:
            p = math.exp(forward[j + 1, 1, 1] + backward[j + 1, 1, 1] - log_z)
            mean += p * sums.extra[j, PAIR]
            amount[sums.term[j, PAIR]] += p
            amount[j] -= p
            amount[j + 1] -= p
        if sums.term[j, TRIPLE] >= 0:
            apart = 0.0
            for v in range(2):
                by = multiplier * added(sums, margin, j + 2, 1, v)
                p = math.exp(forward[j + 1, 1, v] - by + backward[j + 2, v, 1] - log_z)
                apart += p
            amount[sums.term[j, APART]] += apart - p
            amount[j] += p - apart
            amount[j + 2] += p - apart
            amount[sums.term[j, TRIPLE]] += p
            amount[sums.term[j, PAIR]] -= p
            amount[sums.term[j + 1, PAIR]] -= p
            amount[j + 1] += p
            mean += apart * sums.extra[j, APART] + p * sums.extra[j, TRIPLE]
    return mean
