"""Owns sums over sparse vectors, given as pairs (feature, value) in which a feature may come more than once.

A table of open addressing holds the sum of each feature: a power of two of places, at most half of them taken.

Owns how long an update is: w += step · d with d = Σγ(m^J) Δφ(x, y, m^J) and Σγ = 1.

    unit    1, the paper's
    sqrt    √m, for m mixed assignments with γ > 0
    count   m
    mira    min(C, max(0, (loss - w·d) / ‖d‖²)), where loss = Σγ(m^J) |J|

The step `mira` is the passive-aggressive one: the smallest that makes the margin w·d as large as the loss, but at most
C. |J| counts wrong positions, so the loss is the Hamming loss of m^J. With J = [L_x] it is MIRA for one output, else
the weighted-violations MIRA.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swvp.compiled import borrowing, implement, in_python, kernel, operation
from swvp.learning.example import CompiledMira, CompiledRule, PythonRule
from swvp.learning.gamma import weighted_margin
from swvp.structures.operations import direction, margins
from swvp.types import Floats, Ints

__all__ = ["step_length"]

FREE = -1


@kernel
def table(first, last, features, values):
    """The table of the pairs first:last: the features, FREE at places not taken, and their sums."""
    places = 8
    while places < 2 * (last - first):
        places *= 2
    keys, sums = np.full(places, FREE), np.zeros(places)
    for p in range(first, last):
        at = place(keys, features[p])
        keys[at] = features[p]
        sums[at] += values[p]
    return keys, sums


@kernel
def place(keys, feature):
    """Where a feature is, or would be put."""
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
        total += sums[place(keys, features[p])] * values[p]
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

    used = 0 says that this is a back-off: one set, and a margin not yet known.
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
    lacking = loss - weighted_margin(gamma, margin, count)
    if lacking <= 0:
        return 0.0
    size, features, values = direction(problem, model, i, starts, positions, sets, count, gamma)
    norm = squared_norm(size, features, values)
    return min(rule.C, lacking / norm) if norm > 0 else 0.0  # where d = 0, no step changes anything


@implement(step_length, PythonRule)
def python_length(rule: PythonRule, *example: Any) -> float:
    function = power_length if rule.C is None else mira_length
    return float(in_python(function)(rule, *example))
