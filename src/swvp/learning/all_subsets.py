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

λ is β for the γ `softmin`. For `maxent` it is the smallest λ ≥ 0 that meets condition (2), Σγ·margin ≤ 0.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import kernel
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
from swvp.learning.gamma import HIGH, RELATIVE_ZERO, new_bracket, next_multiplier, rounding
from swvp.learning.step import update
from swvp.structures.operations import counts_features, find_mistakes, longest, margins

__all__ = ["AllSubsets", "expectations", "least_margin", "sweep_all_subsets"]


LARGEST_EXPONENT = 1e6
"""λ·|margin| beyond which the sums have too few correct digits: such a λ counts as infinite."""


class AllSubsets(NamedTuple):
    """A rule over all sub-structures: its step, β and grid in `base`; λ by maximum entropy instead of β if `maxent`."""

    base: Any
    maxent: bool


@kernel
def singles_and_neighbours(wrong, k, starts, positions, pair):
    """Write the sets {j} of the k wrong positions, then those of two neighbours; return the number of sets.

    pair[j] is the number of the set {j, j + 1}, or -1 if the next wrong position is not a neighbour.
    """
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
    return count


@kernel
def interaction(margin, pair, j):
    """b_j."""
    return margin[pair[j]] - margin[j] - margin[j + 1] if pair[j] >= 0 else 0.0


@kernel
def least_margin(margin, pair, k):
    """The smallest margin of a non-empty set."""
    without, ending = math.inf, math.inf  # the smallest margins of non-empty sets without and with position j
    for j in range(k):
        before = ending + interaction(margin, pair, j - 1) if j else math.inf
        ending, without = margin[j] + min(0.0, without, before), min(without, ending)
    return min(without, ending)


@kernel
def log_sum(a, b):
    """log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    return high + math.log1p(math.exp(low - high))


@kernel
def expectations(multiplier, margin, pair, k, forward, backward, amount):
    """Write the amounts of the sets of `singles_and_neighbours` in the update; return Σγ·margin, for λ = multiplier.

    forward[j, z] is the log of the sum of exp(-λ·margin) over the sets of positions up to j with z_j = z;
    backward[j, z] is that over the positions behind j, given z_j.
    """
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
def maximise_entropy(margin, pair, k, count, zero, forward, backward, amount):
    """Write the amounts for the smallest λ ≥ 0 with Σγ·margin ≤ 0; return this sum, or inf if λ is infinite."""
    mean = expectations(0.0, margin, pair, k, forward, backward, amount)
    if mean <= zero:
        return mean
    size = 0.0
    for j in range(count):
        size = max(size, abs(margin[j]))
    bracket, multiplier = new_bracket(mean), 1 / size
    while 0 < multiplier <= LARGEST_EXPONENT / size:
        mean = expectations(multiplier, margin, pair, k, forward, backward, amount)
        multiplier = next_multiplier(bracket, multiplier, mean)
    if bracket[HIGH] == np.inf:
        return np.inf
    return expectations(bracket[HIGH], margin, pair, k, forward, backward, amount)


@kernel
def sweep_all_subsets(problem, model, rule, order, clock, power, largest, counts, found=None):
    """One epoch, with the arguments and the result of `perceptron.sweep`.

    Violations are counted among the single positions and the pairs of neighbours. `maxent` backs off to CSP if λ would
    be too large to compute with.
    """
    base = rule.base
    n = longest(problem)
    wrong, pair = np.empty(n, np.int64), np.empty(n, np.int64)
    starts, positions, sets = np.zeros(2 * n + 1, np.int64), np.empty(3 * n, np.int64), np.arange(2 * n)
    margin, amount, whole = np.empty(2 * n), np.empty(2 * n), np.zeros(2, np.int64)
    forward, backward = np.empty((n, 2)), np.empty((n, 2))
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

        count = singles_and_neighbours(wrong, k, starts, positions, pair)
        margins(problem, model, i, starts, positions, count, margin)
        for j in range(count):
            largest[0] = max(largest[0], abs(margin[j]))
        zero = base.grid / 2 if exact else RELATIVE_ZERO * largest[0]
        for j in range(count):
            counts[VIOLATING if margin[j] <= zero else NON_VIOLATING] += 1

        # γ(m^J) ∝ exp(-λ·margin(m^J)), if any m^J is a violation
        used = count if least_margin(margin, pair, k) <= zero else 0
        if used > 0:
            small = RELATIVE_ZERO * largest[0]
            if rule.maxent:
                mean = maximise_entropy(margin, pair, k, count, small, forward, backward, amount)
                used = 0 if mean == np.inf else used
            else:
                mean = expectations(base.beta, margin, pair, k, forward, backward, amount)
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
