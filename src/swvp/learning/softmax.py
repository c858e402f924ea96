"""The rule `softmax`, a rival of SWVP: online softmax-margin learning, on mistakes only.

SWVP with JJ_x = 2^[L_x] sums over outputs that have y_k or y*_k at each position k. Here the sum is over all
outputs y':

    g = φ(x, y) - Σ_y' p(y') φ(x, y'),    p(y') ∝ exp(w·φ(x, y') + Σ_k cost(y_k, y'_k)).

This is the gradient of a conditional random field with costs (softmax-margin, Gimpel and Smith 2010), for one example,
and an update takes the step `ada` along it. An example is skipped if y wins by its costs: like the perceptron, and
unlike a CRF, the rule learns from mistakes only. It is not SWVP: γ condition (2) is about outputs that mix y and y*.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel
from swvp.learning.epoch import MISTAKES, UPDATES, WRONG_POSITIONS
from swvp.learning.step import adapt
from swvp.structures.operations import counts_features, expected_difference, find_mistakes, importance, longest

__all__ = ["sweep_softmax"]


@kernel
def sweep_softmax(problem, model, rule, order, clock, power, largest, counts):
    """One epoch, with the arguments and the result of `perceptron.sweep`. Violations are not counted."""
    wrong = np.empty(longest(problem), np.int64)
    exact = counts_features(problem)
    for t in range(len(order)):
        i = order[t]
        k = find_mistakes(problem, model, i, wrong)
        if k == 0:
            continue
        counts[MISTAKES] += 1
        counts[WRONG_POSITIONS] += k
        size, features, values = expected_difference(problem, model, i)
        weight = importance(problem, i)
        counts[UPDATES] += adapt(rule, model, size, features, values, weight, exact, float(clock + t) ** power)
    return len(order)
