"""JJ_x = 2^[L_x] in linear time: γ(m^J) ∝ exp(-λ·margin(m^J)) over all non-empty sets J of the k wrong positions.

The paper calls this JJ_x "highly inefficient": it has 2^k - 1 mixed assignments. But if each feature depends on one
position or on two neighbours, as in first-order chains and arc-factored trees, the margin of J is a sum over its
indicators z_j = [j ∈ J],

    margin(J) = Σ_j a_j z_j + Σ_j b_j z_j z_{j+1},    a_j = margin({j}),   b_j = margin({j, j+1}) - a_j - a_{j+1},

with b_j ≠ 0 only for neighbours. Δφ(x, y, m^J) is the same sum of vectors. So γ is the distribution of a Markov chain
over z, and forward–backward computes its expectations in O(k). The update becomes

    Σ_J γ(m^J) Δφ(m^J) = Σ_j (E[z_j] - E[z_j z_{j+1}] - E[z_{j-1} z_j]) Δφ({j}) + Σ_j E[z_j z_{j+1}] Δφ({j, j+1}),

where E[z_j z_{j+1}] stands for 0 if j and j+1 are not neighbours. It needs the margins and Δφ of 2k - 1 sub-structures.
J = ∅ is not a mixed assignment: the sum of all weights leaves it out.

The epoch, `sweep_all_subsets`, also serves structures whose features depend on more positions (`triples`, `groups`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import implement, kernel
from swvp.learning.epoch import (
    BACK_OFFS,
    CONDITION_2_FAILURES,
    MISTAKES,
    NON_VIOLATING,
    UPDATES,
    VIOLATING,
    WITHOUT_VIOLATION,
    WRONG_POSITIONS,
)
from swvp.learning.gamma import RELATIVE_ZERO, rounding
from swvp.learning.step import update
from swvp.learning.subset_sums import expectations, lay_out, least_margin, log_sum, maximise_entropy, new_sums
from swvp.structures.operations import counts_features, find_mistakes, longest, margins
from swvp.types import Floats, Ints

__all__ = ["AllSubsets", "Neighbours", "sweep_all_subsets"]


class AllSubsets(NamedTuple):
    """A rule over all sub-structures: its step, β and grid in `base`; λ by maximum entropy instead of β if `maxent`."""

    base: Any
    maxent: bool


class Neighbours(NamedTuple):
    """pair[j] is the number of the set {j, j + 1}, or -1 if the next wrong position is not a neighbour.

    forward[j, z] is the log of the sum of exp(-λ·margin) over the sets of positions up to j with z_j = z;
    backward[j, z] is that over the positions behind j, given z_j.
    """

    pair: Ints
    forward: Floats
    backward: Floats


@implement(new_sums, AllSubsets)
@kernel
def new_neighbours(rule, n):
    return Neighbours(np.empty(n, np.int64), np.empty((n, 2)), np.empty((n, 2)))


@implement(lay_out, Neighbours)
@kernel
def singles_and_neighbours(sums, problem, model, i, wrong, k, starts, positions):
    """Write the sets {j} of the k wrong positions, then those of two neighbours."""
    pair = sums.pair
    for j in range(k):
        starts[j], positions[j] = j, wrong[j]
    starts[k] = k
    count = k
    for j in range(k):
        pair[j] = -1
        if j + 1 < k and wrong[j + 1] == wrong[j] + 1:
            positions[starts[count]], positions[starts[count] + 1] = wrong[j], wrong[j + 1]
            starts[count + 1] = starts[count] + 2
            pair[j] = count
            count += 1
    return count, starts, positions


@kernel
def interaction(margin, pair, j):
    """b_j."""
    return margin[pair[j]] - margin[j] - margin[j + 1] if pair[j] >= 0 else 0.0


@implement(least_margin, Neighbours)
@kernel
def least_margin_of_neighbours(sums, margin, k, count):
    without, ending = math.inf, math.inf  # the smallest margins of non-empty sets without and with position j
    for j in range(k):
        before = ending + interaction(margin, sums.pair, j - 1) if j else math.inf
        ending, without = margin[j] + min(0.0, without, before), min(without, ending)
    return min(without, ending)


@implement(expectations, Neighbours)
@kernel
def expectations_of_neighbours(sums, multiplier, margin, k, count, amount):
    pair, forward, backward = sums.pair, sums.forward, sums.backward
    forward[0, 0], forward[0, 1] = 0.0, -multiplier * margin[0]
    log_z = forward[0, 1]  # the log of the sum over non-empty sets, by their last position
    for j in range(1, k):
        both = -multiplier * interaction(margin, pair, j - 1)
        forward[j, 0] = log_sum(forward[j - 1, 0], forward[j - 1, 1])
        forward[j, 1] = log_sum(forward[j - 1, 0], forward[j - 1, 1] + both) - multiplier * margin[j]
        log_z = log_sum(log_z, forward[j, 1])
    backward[k - 1, 0] = backward[k - 1, 1] = 0.0
    for j in range(k - 2, -1, -1):
        both = -multiplier * interaction(margin, pair, j)
        next_one = backward[j + 1, 1] - multiplier * margin[j + 1]
        backward[j, 0] = log_sum(backward[j + 1, 0], next_one)
        backward[j, 1] = log_sum(backward[j + 1, 0], next_one + both)
    mean = 0.0
    for j in range(k):
        amount[j] = math.exp(forward[j, 1] + backward[j, 1] - log_z)
        mean += amount[j] * margin[j]
    for j in range(k):
        if pair[j] >= 0:
            b = interaction(margin, pair, j)
            both = math.exp(forward[j, 1] + backward[j + 1, 1] - multiplier * (b + margin[j + 1]) - log_z)
            amount[pair[j]] = both
            amount[j] -= both
            amount[j + 1] -= both
            mean += both * b
    return mean


@kernel
def sweep_all_subsets(problem, model, rule, order, clock, power, largest, counts, found=None):
    """One epoch, with the arguments and the result of `perceptron.sweep`.

    Violations are counted among the terms: single positions, pairs of neighbours, and so on. `maxent` backs off to CSP
    if λ would be too large to compute with.
    """
    base = rule.base
    n = longest(problem)
    sums = new_sums(rule, n)
    wrong, whole = np.empty(n, np.int64), np.zeros(2, np.int64)
    starts, positions, sets = np.zeros(4 * n + 1, np.int64), np.empty(8 * n, np.int64), np.arange(4 * n)
    margin, amount = np.empty(4 * n), np.empty(4 * n)
    exact = counts_features(problem)
    for t in range(len(order)):
        i = order[t]
        if found is None:
            k = find_mistakes(problem, model, i, wrong)
        else:
            k, wrong = len(found), found
        if k == 0:
            continue
        counts[MISTAKES] += 1
        counts[WRONG_POSITIONS] += k

        count, starts, positions = lay_out(sums, problem, model, i, wrong, k, starts, positions)
        if count < 0:
            return t
        if count > len(margin):
            sets, margin, amount = np.arange(2 * count), np.empty(2 * count), np.empty(2 * count)
        margins(problem, model, i, starts, positions, count, margin)
        for j in range(count):
            largest[0] = max(largest[0], abs(margin[j]))
        zero = base.grid / 2 if exact else RELATIVE_ZERO * largest[0]
        for j in range(count):
            counts[VIOLATING if margin[j] <= zero else NON_VIOLATING] += 1

        # γ(m^J) ∝ exp(-λ·margin(m^J)), if any m^J is a violation
        used = count if least_margin(sums, margin, k, count) <= zero else 0
        if used > 0:
            small = RELATIVE_ZERO * largest[0]
            if rule.maxent:
                mean = maximise_entropy(sums, margin, k, count, small, amount)
                used = 0 if mean == np.inf else used
            else:
                mean = expectations(sums, base.beta, margin, k, count, amount)
            counts[CONDITION_2_FAILURES] += used > 0 and mean > small + rounding(margin, count)

        all_starts, all_positions = starts, positions
        if used == 0:
            all_starts, all_positions, count = whole, wrong, 1
            whole[1] = k
            margins(problem, model, i, whole, wrong, 1, margin)
            largest[0] = max(largest[0], abs(margin[0]))
            zero = base.grid / 2 if exact else RELATIVE_ZERO * largest[0]
            if margin[0] > zero:
                counts[WITHOUT_VIOLATION] += 1
                continue
            counts[BACK_OFFS] += 1
            amount[0] = 1.0
        when = float(clock + t) ** power
        counts[UPDATES] += update(
            base, problem, model, i, all_starts, all_positions, sets, count, amount, margin, used, k, when
        )
    return len(order)
