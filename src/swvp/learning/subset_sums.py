"""Sums over many sub-structures: γ ∝ exp(-λ·margin) without listing all of them. What the ways to do it have in common.

Where the features allow it, the margins of very many mixed assignments come from those of a few *terms* t, so that

    Σ_J γ(m^J) Δφ(m^J) = Σ_t amount_t · Δφ(t),    Σ_J γ(m^J) margin(m^J) = Σ_t amount_t · margin(t),

with amounts that can be computed for any λ. Each way to do it has buffers of a class of its own, by which kernels find
its operations:

    Neighbours    sets of wrong positions, features of neighbours      `all_subsets`
    Triples       sets of wrong positions, features of three in a row  `triples`
    Groups        sets of wrong positions in groups without features in common    `groups`
    LabelLattice  labels of the K best outputs                         `label_lattice`

λ is β for the γ `softmin`. For `maxent` it is the smallest λ ≥ 0 that meets condition (2), Σγ·margin ≤ 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from swvp.compiled import kernel, operation
from swvp.learning.gamma import HIGH, new_bracket, next_multiplier
from swvp.types import Floats, Ints

__all__ = ["expectations", "lay_out", "least_margin", "log_sum", "maximise_entropy", "new_sums"]

LARGEST_EXPONENT = 1e6
"""λ·|margin| beyond which the sums have too few correct digits: such a λ counts as infinite."""


@operation
def new_sums(rule: Any, n: int) -> Any:
    """The buffers of a rule, for labels of at most n positions."""


@operation
def lay_out(
    sums: Any, problem: Any, model: Any, i: int, wrong: Ints, k: int, starts: Ints, positions: Ints
) -> tuple[int, Ints, Ints]:
    """Write the terms for the k wrong positions of example i, sets of positions, as (their number, starts, positions).

    The arrays are replaced by larger ones if they are too small. The number is -1 if there are too many sets.
    """


@operation
def least_margin(sums: Any, margin: Floats, k: int, count: int) -> float:
    """The smallest margin of a mixed assignment, from the margins of the `count` terms."""


@operation
def expectations(sums: Any, multiplier: float, margin: Floats, k: int, count: int, amount: Floats) -> float:
    """Write the amounts of the `count` terms for λ = multiplier; return Σγ·margin."""


@kernel
def log_sum(a, b):
    """log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    return high + math.log1p(math.exp(low - high)) if low > -math.inf else high


@kernel
def maximise_entropy(sums, margin, k, count, zero, amount):
    """Write the amounts for the smallest λ ≥ 0 with Σγ·margin ≤ 0; return this sum, or inf if λ is infinite."""
    mean = expectations(sums, 0.0, margin, k, count, amount)
    if mean <= zero:
        return mean
    size = 0.0
    for t in range(count):
        size = max(size, abs(margin[t]))
    bracket, multiplier = new_bracket(mean), 1 / size
    while 0 < multiplier <= LARGEST_EXPONENT / size:
        mean = expectations(sums, multiplier, margin, k, count, amount)
        multiplier = next_multiplier(bracket, multiplier, mean)
    if bracket[HIGH] == np.inf:
        return np.inf
    return expectations(sums, bracket[HIGH], margin, k, count, amount)
