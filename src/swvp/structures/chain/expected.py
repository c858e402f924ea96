"""The difference φ(x, y) - E[φ(x, y')] of a chain, for the rule `softmax`: the gradient of log p(y | x) with costs.

p(y') ∝ exp(w·φ(x, y') + Σ_k cost(y_k, y'_k)), the distribution of softmax-margin training (Gimpel and Smith 2010). The
sums over y' are those of `swvp.structures.chain.marginals`.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import implement, kernel
from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain, number_of_weights
from swvp.structures.chain.marginals import (
    BY_LOGARITHMS,
    CHECKED,
    FREE,
    SPREAD,
    ChainBuffers,
    Transitions,
    backward,
    forward,
)

__all__ = ["LEAST"]

LEAST = 0.01
"""Differences of positions and of transitions that are smaller are left out."""


@kernel
def prepared(moves):
    """`marginals.transitions` for kernels, with temperature 1."""
    size = len(moves)
    largest, smallest, allowed = -np.inf, np.inf, 0
    for p in range(size):
        for y in range(size):
            score = moves[p, y] if p + 1 < size or y + 1 < size else moves[0, 0]
            if score > -np.inf:
                largest, smallest = max(largest, score), min(smallest, score)
                allowed += 1
    largest = 0.0 if largest == -np.inf else largest
    factor, turned = np.empty((size, size)), np.empty((size, size))
    for p in range(size):
        for y in range(size):
            factor[p, y] = np.exp(min(moves[p, y] - largest, 0.0))
            turned[y, p] = factor[p, y]
    way = FREE if allowed == size * size else CHECKED
    if allowed and largest - smallest > SPREAD:
        way = BY_LOGARITHMS
    return Transitions(moves, factor, turned, largest, 1.0, way)


@implement(operations.expected_difference, AttributeChain)
@kernel
def expected_difference(problem, model, i):
    labels = model.node.shape[1]
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    moves = prepared(model.moves)
    buffers = ChainBuffers(np.empty((n, labels)), np.empty((n, labels)), np.empty(n + 1), np.empty(labels))
    expected = np.zeros((n, labels))
    pairs, exact = np.zeros((labels + 1, labels + 1)), np.zeros((labels + 1, labels + 1))
    log_z, way = forward(n, model.node, moves, buffers)
    if log_z == -np.inf:
        return 0, np.empty(0, np.int64), np.empty(0)
    backward(n, model.node, moves, way, buffers, expected, 0, pairs, exact)

    previous, size = labels, 0
    for k in range(n):
        gold = np.int64(problem.y[start + k])
        expected[k, gold] -= 1.0
        exact[previous, gold] -= 1.0
        previous = gold
        for y in range(labels):
            if abs(expected[k, y]) >= LEAST:
                size += problem.starts[start + k + 1] - problem.starts[start + k]
    exact[previous, labels] -= 1.0
    features, values = np.empty(size + pairs.size, np.int64), np.empty(size + pairs.size)
    size = 0
    for k in range(n):
        for y in range(labels):
            difference = -expected[k, y]
            if abs(difference) >= LEAST:
                for q in range(problem.starts[start + k], problem.starts[start + k + 1]):
                    features[size] = np.int64(problem.attributes[q]) * labels + y
                    values[size] = difference if len(problem.values) == 0 else difference * problem.values[q]
                    size += 1
    for p in range(labels + 1):
        for y in range(labels + 1):
            difference = -(pairs[p, y] * moves.factor[p, y] + exact[p, y])
            if abs(difference) >= LEAST:
                features[size], values[size] = number_of_weights(model) + p * (labels + 1) + y, difference
                size += 1
    return size, features, values
