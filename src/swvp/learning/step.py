"""The length of an update: w += step · d with d = Σγ(m^J) Δφ(x, y, m^J) and Σγ = 1.

    unit    1, the paper's
    sqrt    √m, for m mixed assignments with γ > 0
    count   m
    mira    min(C, max(0, (loss - w·d) / ‖d‖²)), where loss = Σγ(m^J) |J|

The step `mira` is the passive-aggressive one: just long enough to make the margin w·d as large as the loss, but at most
C. |J| counts wrong positions, so the loss is the Hamming loss of m^J. With J = [L_x] it is MIRA for one output, else
the weighted-violations MIRA.

‖d‖² and inner products are sums over sparse vectors, given as pairs (feature, value) in which a feature may come more
than once. A hash table with open addressing holds the sum of each feature; its size is a power of 2, and at most half
of its slots are used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swvp.compiled import borrowing, implement, in_python, kernel, operation
from swvp.learning.gamma import weighted_margin
from swvp.learning.python_rule import PythonRule
from swvp.learning.rule_kernels import CompiledMira, CompiledRule
from swvp.structures.operations import direction, margins
from swvp.types import Floats, Ints

__all__ = ["step_length"]

FREE = -1


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
def step_length(
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
):
    """The length of the update of example i along the `count` sets, by γ and their margins; `used` have γ > 0.

    used = 0 means a back-off: there is one set, and its margin is not computed yet.
    """


@implement(step_length, CompiledRule)
@borrowing
def power_length(rule, problem, model, i, starts, positions, sets, count, gamma, margin, used):
    return float(used) ** rule.power if used > 1 and rule.power > 0 else 1.0


@implement(step_length, CompiledMira)
@kernel
def mira_length(rule, problem, model, i, starts, positions, sets, count, gamma, margin, used):
    if used == 0:
        margins(problem, model, i, starts, positions, 1, margin)
    loss = 0.0
    for c in range(count):
        loss += gamma[c] * (starts[sets[c] + 1] - starts[sets[c]])
    missing = loss - weighted_margin(gamma, margin, count)
    if missing <= 0:
        return 0.0
    size, features, values = direction(problem, model, i, starts, positions, sets, count, gamma)
    norm = squared_norm(size, features, values)
    return min(rule.C, missing / norm) if norm > 0 else 0.0  # where d = 0, no step changes anything


@implement(step_length, PythonRule)
def python_length(rule: PythonRule, *example: Any) -> float:
    function = power_length if rule.C is None else mira_length
    return float(in_python(function)(rule, *example))
