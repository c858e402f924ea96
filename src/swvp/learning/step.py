"""The step of an update: how it changes w, given d = Σγ(m^J) Δφ(x, y, m^J) with Σγ = 1. w += step · d, where step is

    unit    1, the paper's
    sqrt    √m, for m mixed assignments with γ > 0
    count   m
    mira    min(C, max(0, (loss - w·d) / ‖d‖²)), where loss = Σγ(m^J) |J|

The step `mira` is the passive-aggressive one: just long enough to make the margin w·d as large as the loss, but at most
C. |J| counts wrong positions, so the loss is the Hamming loss of m^J. With J = [L_x] it is MIRA for one output, else
the weighted-violations MIRA.

    ada     w_f += C · g_f / √(1 + Σ g_f²) for each feature f, with the sum over the updates so far and this one

The step `ada` (AdaGrad, Duchi, Hazan and Singer 2011) moves features less the more they have moved before, so that rare
features learn as fast as frequent ones. g = d · k / Σγ(m^J) |J| for k wrong positions: each of them counts once, as in
CSP. Theorem 1 does not cover it, because d and w are measured with different norms.

‖d‖² and inner products are sums over sparse vectors, given as pairs (feature, value) in which a feature may come more
than once. A hash table with open addressing holds the sum of each feature; its size is a power of 2, and at most half
of its slots are used.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from swvp.compiled import implement, in_python, inlined, inlined_with_arrays, kernel, operation
from swvp.learning.gamma import weighted_margin
from swvp.learning.python_rule import PythonRule
from swvp.learning.rule import STEPS
from swvp.learning.rule_kernels import CompiledRule
from swvp.structures.exact import on_grid
from swvp.structures.operations import add, change, change_at, counts_features, direction, importance, margins, place
from swvp.types import Floats, Ints

__all__ = ["adapt", "take_step", "update"]

FREE = -1
_, SQRT, COUNT, MIRA, ADA = range(len(STEPS))


@kernel
def table(first, last, features, values):
    """The hash table of the pairs first:last: the feature of each slot, or FREE, and its sum."""
    slots = 8
    while slots < 2 * (last - first):
        slots *= 2
    keys, sums = np.full(slots, FREE), np.zeros(slots)
    for p in range(first, last):
        at = slot_of(keys, features[p])
        keys[at] = features[p]
        sums[at] += values[p]
    return keys, sums


@kernel
def slot_of(keys, feature):
    """The slot of a feature, or the free one where it belongs."""
    at = (feature * 2654435761 >> 15) & (len(keys) - 1)
    while keys[at] != feature and keys[at] != FREE:
        at = (at + 1) & (len(keys) - 1)
    return at


@kernel
def squared_norm(size, features, values):
    """‖v‖²: values of the same feature are added before they are squared."""
    _, sums = table(0, size, features, values)
    total = 0.0
    for at in range(len(sums)):
        total += sums[at] * sums[at]
    return total


@kernel
def dot(keys, sums, first, last, features, values):
    """The inner product of a table's vector with the pairs first:last of another one."""
    total = 0.0
    for p in range(first, last):
        total += sums[slot_of(keys, features[p])] * values[p]
    return total


@operation
def update(
    rule: Any,
    problem: Any,
    model: Any,
    i: int,
    starts: Ints,
    positions: Ints,
    sets: Ints,
    count: int,
    gamma: Floats,
    margin: Floats,
    used: int,
    k: int,
    clock: float,
):
    """Change w by the `count` sets of example i, which has k wrong positions; return whether anything changed.

    γ and the margins are those of the sets; `used` of them have γ > 0. used = 0 means a back-off: there is one set, and
    its margin is not computed yet. γ is overwritten. `clock` is for the averaging sums, as in `operations.add`.
    """


@inlined
def add_scaled(rule, step, problem, model, i, starts, positions, sets, count, gamma, clock):
    """w += step · Σ γ(m^J) Δφ(x, y, m^J), in multiples of the grid if φ counts features."""
    exact = counts_features(problem)
    step *= importance(problem, i)
    changed = False
    for c in range(count):
        gamma[c] = on_grid(step * gamma[c], rule.grid) if exact else step * gamma[c]
        changed |= gamma[c] != 0
    add(problem, model, i, starts, positions, sets, count, gamma, clock)
    return changed


@implement(update, CompiledRule)
@kernel
def update_compiled(rule, problem, model, i, starts, positions, sets, count, gamma, margin, used, k, clock):
    step = 1.0
    if rule.step == SQRT:
        step = math.sqrt(max(used, 1))
    elif rule.step == COUNT:
        step = float(max(used, 1))
    elif rule.step == MIRA or rule.step == ADA:
        if rule.step == MIRA:
            if used == 0:
                margins(problem, model, i, starts, positions, 1, margin)
            missing = loss(starts, sets, count, gamma) - weighted_margin(gamma, margin, count)
            if missing <= 0:
                return False
        size, features, values = direction(problem, model, i, starts, positions, sets, count, gamma)
        weight = importance(problem, i)
        if rule.step == ADA:
            scale = weight * k / loss(starts, sets, count, gamma)
            return adapt(rule, model, size, features, values, scale, counts_features(problem), clock)
        norm = weight * squared_norm(size, features, values)
        step = min(rule.C, missing / norm) if norm > 0 else 0.0  # where d = 0, no step changes anything
    return add_scaled(rule, step, problem, model, i, starts, positions, sets, count, gamma, clock)


@kernel
def loss(starts, sets, count, gamma):
    """Σγ(m^J) |J|."""
    total = 0.0
    for c in range(count):
        total += gamma[c] * (starts[sets[c] + 1] - starts[sets[c]])
    return total


@inlined_with_arrays
def adapt(rule, model, size, features, values, scale, exact, clock):
    """Change each feature by its learning rate, for g = scale · values; return whether anything changed."""
    keys, sums = table(0, size, features, values)
    changed = False
    for at in range(len(keys)):
        g = scale * sums[at]
        if g == 0:
            continue
        where = place(model, keys[at])
        total = rule.squares[where] + np.float32(g * g)
        rule.squares[where] = total
        amount = rule.C * g / math.sqrt(1.0 + np.float64(total))
        amount = on_grid(amount, rule.grid) if exact else amount
        if amount != 0:
            change_at(model, where, keys[at], amount, clock)
            changed = True
    return changed


@kernel
def take_step(rule, model, size, features, values, weight, k, loss, margin, exact, clock):
    """Change w along d, given as sparse pairs, with the step of a rule; return whether anything changed.

    It is for updates that are no list of sets. d has Σγ·|J| = `loss` and Σγ·margin = `margin`; the prediction has k
    wrong positions and the example the weight `weight`.
    """
    if rule.step == ADA:
        return adapt(rule, model, size, features, values, weight * k / loss, exact, clock)
    keys, sums = table(0, size, features, values)
    step = 1.0
    if rule.step == MIRA:
        norm = 0.0
        for at in range(len(sums)):
            norm += weight * sums[at] * sums[at]
        step = min(rule.C, max(0.0, loss - margin) / norm) if norm > 0 else 0.0
    changed = False
    for at in range(len(keys)):
        amount = step * weight * sums[at]
        amount = on_grid(amount, rule.grid) if exact else amount
        if amount != 0:
            change(model, keys[at], amount, clock)
            changed = True
    return changed


@implement(update, PythonRule)
def update_python(rule: PythonRule, *example: Any) -> bool:
    return bool(in_python(update_compiled)(rule, *example))
