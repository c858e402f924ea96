"""γ over all mixed assignments of several predictions: the labels of the K best outputs are a lattice.

The paper mixes the gold label y with one prediction. Here position t may have the gold label or that of any of the K
best outputs, and γ(m) ∝ exp(-λ·margin(m)) over all assignments m ≠ y of this lattice. With K = 1 these are the mixed
assignments m^J of all non-empty J ⊆ wrong positions (`all_subsets`); with all labels, and λ = 1, the sums of the rule
`softmax`. Both γ conditions are about Σγ(m) w·Δφ(x, y, m), so Theorem 1 holds for `maxent` here too.

In a first-order chain the margin of m is a sum over positions and over neighbours. The terms are what each label of a
position, and each pair of labels of neighbours, takes from the gold score (`operations.label_lattice`), and their
amounts are probabilities, by forward–backward. The one path that is gold everywhere is left out: it is followed
separately from those that have another label already.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import implement, inlined, kernel
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
from swvp.learning.gamma import RELATIVE_ZERO, rounding, weighted_margin
from swvp.learning.step import take_step
from swvp.learning.subset_sums import expectations, least_margin, log_sum, maximise_entropy
from swvp.structures.operations import (
    counts_features,
    find_mistakes,
    importance,
    label_lattice,
    lattice_direction,
    longest,
)
from swvp.types import Floats, Ints

__all__ = ["AllOfLattice", "LabelLattice", "sweep_lattice"]


class AllOfLattice(NamedTuple):
    """A rule as `all_subsets.AllSubsets`, over the labels of the k best outputs."""

    base: Any
    maxent: bool
    k: int


class LabelLattice(NamedTuple):
    """The number of labels of each position, at most `width`, and buffers for the logs of sums over paths.

    forward[t, a] is that of the paths to label a of position t that are not gold everywhere; backward[t, a] that of all
    paths behind it.
    """

    width: int
    number: Ints
    forward: Floats
    backward: Floats


@inlined
def labels_at(sums, t, n):
    """The number of labels of position t; both ends have one."""
    return sums.number[t] if 0 <= t < n else 1


@implement(least_margin, LabelLattice)
@kernel
def least_margin_of_labels(sums, margin, n, count):
    width, least = sums.width, sums.forward  # of the paths to a label that are not gold everywhere
    for t in range(n + 1):
        for a in range(labels_at(sums, t, n)):
            here = math.inf
            for b in range(labels_at(sums, t - 1, n)):
                pair = margin[(n + t * width + b) * width + a]
                if t > 0:
                    here = min(here, least[t - 1, b] + pair)
                if b == 0 and a > 0:  # gold everywhere before
                    here = min(here, pair)
            least[t, a] = here + (margin[t * width + a] if t < n else 0.0)
    return least[n, 0]


@implement(expectations, LabelLattice)
@kernel
def expectations_of_labels(sums, multiplier, margin, n, count, amount):
    width, forward, backward = sums.width, sums.forward, sums.backward
    for t in range(n + 1):  # the end is place n
        for a in range(labels_at(sums, t, n)):
            total = -math.inf
            for b in range(labels_at(sums, t - 1, n)):
                pair = (n + t * width + b) * width + a
                by = multiplier * margin[pair]
                if t > 0:
                    total = log_sum(total, forward[t - 1, b] - by)
                if b == 0 and a > 0:  # gold everywhere before
                    total = log_sum(total, -by)
            forward[t, a] = total - (multiplier * margin[t * width + a] if t < n else 0.0)
    log_z = forward[n, 0]
    backward[n, 0] = 0.0
    for t in range(n - 1, -1, -1):
        for b in range(sums.number[t]):
            total = -math.inf
            for a in range(labels_at(sums, t + 1, n)):
                by = multiplier * margin[(n + (t + 1) * width + b) * width + a]
                by += multiplier * margin[(t + 1) * width + a] if t + 1 < n else 0.0
                total = log_sum(total, backward[t + 1, a] - by)
            backward[t, b] = total

    mean = 0.0
    for t in range(n + 1):
        for a in range(labels_at(sums, t, n)):
            if t < n and a > 0:
                p = math.exp(forward[t, a] + backward[t, a] - log_z)
                amount[t * width + a] = p
                mean += p * margin[t * width + a]
            for b in range(labels_at(sums, t - 1, n)):
                if a == 0 and b == 0:
                    continue
                pair = (n + t * width + b) * width + a
                before = forward[t - 1, b] if t > 0 else -math.inf
                before = log_sum(before, 0.0) if b == 0 else before
                by = multiplier * (margin[pair] + (margin[t * width + a] if t < n else 0.0))
                p = math.exp(before - by + backward[t, a] - log_z)
                amount[pair] = p
                mean += p * margin[pair]
    return mean


@kernel
def only_the_prediction(wrong, k, n, width, amount):
    """Write the amounts of y* alone: it is the best output, so its labels come second where they are wrong."""
    for c in range(len(amount)):
        amount[c] = 0.0
    before = j = 0
    for t in range(n + 1):
        here = 1 if j < k and wrong[j] == t else 0
        j += here
        if here:
            amount[t * width + 1] = 1.0
        if here or before:
            amount[(n + t * width + before) * width + here] = 1.0
        before = here


@kernel
def sweep_lattice(problem, model, rule, order, clock, power, largest, counts):
    """One epoch, with the arguments and the result of `perceptron.sweep`.

    Violations are counted among single labels. `maxent` backs off to CSP if λ would be too large to compute with.
    """
    base = rule.base
    n = longest(problem)
    wrong, forward, backward = np.empty(n, np.int64), np.empty((n + 1, rule.k + 1)), np.empty((n + 1, rule.k + 1))
    exact = counts_features(problem)
    for t in range(len(order)):
        i = order[t]
        k = find_mistakes(problem, model, i, wrong)
        if k == 0:
            continue
        counts[MISTAKES] += 1
        counts[WRONG_POSITIONS] += k

        width, labels, number, margin = label_lattice(problem, model, i, rule.k)
        sums = LabelLattice(width, number, forward, backward)
        count, positions = len(margin), len(number)
        for c in range(count):
            largest[0] = max(largest[0], abs(margin[c]))
        zero = base.grid / 2 if exact else RELATIVE_ZERO * largest[0]
        for place in range(positions):
            for a in range(1, number[place]):
                counts[VIOLATING if margin[place * width + a] <= zero else NON_VIOLATING] += 1

        # γ(m) ∝ exp(-λ·margin(m)), if any m is a violation
        amount, small = np.zeros(count), RELATIVE_ZERO * largest[0]
        mean = np.inf
        if least_margin(sums, margin, positions, count) <= zero:
            if rule.maxent:
                mean = maximise_entropy(sums, margin, positions, count, small, amount)
            else:
                mean = expectations(sums, base.beta, margin, positions, count, amount)
        if mean == np.inf:
            only_the_prediction(wrong, k, positions, width, amount)
            mean = weighted_margin(amount, margin, count)
            if mean > zero:
                counts[WITHOUT_VIOLATION] += 1
                continue
            counts[BACK_OFFS] += 1
        else:
            counts[CONDITION_2_FAILURES] += mean > small + rounding(margin, count)
        loss = 0.0
        for place in range(positions):
            for a in range(1, number[place]):
                loss += amount[place * width + a]
        size, features, values = lattice_direction(problem, model, i, width, labels, number, amount)
        weight, when = importance(problem, i), float(clock + t) ** power
        counts[UPDATES] += take_step(base, model, size, features, values, weight, k, loss, mean, exact, when)
    return len(order)
