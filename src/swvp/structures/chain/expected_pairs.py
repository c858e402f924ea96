"""The difference φ(x, y) - E[φ(x, y')] of a second-order chain, for the rule `softmax`, by sums over pairs of labels.

p(y') ∝ exp(w·φ(x, y') + Σ_k cost(y_k, y'_k)), as in `swvp.structures.chain.expected`. With F(y'', y', y) the
exponential of a step and E_k(y) that of the scores of position k,

    α_k(y', y) = E_k(y) Σ_y'' α_{k-1}(y'', y') F(y'', y', y),
    β_{k-1}(y'', y') = Σ_y F(y'', y', y) E_k(y) β_k(y', y),

in O(n L³). The sums of each position are scaled to add up to 1. If a sum is too small for that, which only happens with
scores hundreds apart, the expectation is that of the best output alone.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import implement, kernel
from swvp.structures import operations
from swvp.structures.chain.expected import LEAST
from swvp.structures.chain.search import SearchChain

__all__: list[str] = []

SPREAD = 230.0
"""By how much the scores of steps, or of labels of one position, may differ."""
SMALLEST = 1e-200
"""A smaller sum may be lost in the next step."""


@kernel
def exponentials(scores):
    """exp(score - the largest score), 0 for forbidden steps; and whether these scores are near enough to each other."""
    largest, smallest = -np.inf, np.inf
    for score in scores.flat:
        if score > -np.inf:
            largest, smallest = max(largest, score), min(smallest, score)
    factor = np.empty(scores.shape)
    for a in range(scores.shape[0]):
        for b in range(scores.shape[1]):
            for c in range(scores.shape[2]):
                factor[a, b, c] = np.exp(scores[a, b, c] - largest)
    return factor, largest - smallest <= SPREAD


@kernel
def forward_pairs(n, node, factor, emit, alpha, norm):
    """Write α, exp(node) as `emit`, and by what the sums of each position were divided; return whether none was lost.

    alpha[0, 0, y] is that of (BOUNDARY, y); norm[n] is the sum over all sequences that end after position n - 1.
    """
    labels = node.shape[1]
    for k in range(n):
        most, least = node[k, 0], node[k, 0]
        for y in range(1, labels):
            most, least = max(most, node[k, y]), min(least, node[k, y])
        if most - least > SPREAD:
            return False
        for y in range(labels):
            emit[k, y] = np.exp(node[k, y] - most)
        total = 0.0
        for p in range(labels if k else 1):
            for y in range(labels):
                alpha[k, p, y] = factor[labels, labels, y] if k == 0 else 0.0
            for o in range(0 if k == 0 else labels if k > 1 else 1):
                before, older = alpha[k - 1, o, p], o if k > 1 else labels
                if before > 0.0:
                    for y in range(labels):
                        alpha[k, p, y] += before * factor[older, p, y]
            for y in range(labels):
                reached = alpha[k, p, y] > 0.0
                alpha[k, p, y] *= emit[k, y]
                if reached and alpha[k, p, y] < SMALLEST:
                    return False
                total += alpha[k, p, y]
        if total == 0.0:
            return False
        norm[k] = total
        for p in range(labels if k else 1):
            for y in range(labels):
                alpha[k, p, y] /= total
    norm[n] = 0.0
    for p in range(labels if n > 1 else 1):
        for y in range(labels):
            norm[n] += alpha[n - 1, p, y] * factor[p if n > 1 else labels, y, labels]
    return norm[n] > 0.0


@kernel
def backward_pairs(n, factor, emit, alpha, norm, single, triples):
    """Add P(y_k | x) to `single`, and to `triples` the expected counts of three labels in a row, both after `alpha`."""
    labels = emit.shape[1]
    beta, ahead = np.zeros((n, labels, labels)), np.empty(labels)
    for p in range(labels if n > 1 else 1):
        before = p if n > 1 else labels
        for y in range(labels):
            beta[n - 1, p, y] = factor[before, y, labels] / norm[n]
            triples[before, y, labels] += alpha[n - 1, p, y] / norm[n]
    for k in range(n - 1, -1, -1):
        for p in range(labels if k else 1):
            for y in range(labels):
                single[k, y] += alpha[k, p, y] * beta[k, p, y]
                ahead[y] = emit[k, y] * beta[k, p, y] / norm[k]
            for o in range(0 if k == 0 else labels if k > 1 else 1):
                before, older = alpha[k - 1, o, p], o if k > 1 else labels
                for y in range(labels):
                    beta[k - 1, o, p] += factor[older, p, y] * ahead[y]
                    triples[older, p, y] += before * ahead[y]
            if k == 0:
                for y in range(labels):
                    triples[labels, labels, y] += ahead[y]
    for o in range(labels + 1):  # once for all positions
        for p in range(labels + 1):
            for y in range(labels + 1):
                triples[o, p, y] *= factor[o, p, y]


@kernel
def count_output(output, at, n, amount, single, triples):
    """Add `amount` times the labels of an output, and its labels three in a row with the boundaries."""
    labels = single.shape[1]
    older, previous = labels, labels
    for k in range(n + 1):
        y = np.int64(output[at + k]) if k < n else labels
        triples[older, previous, y] += amount
        if k < n:
            single[k, y] += amount
        older, previous = previous, y


@implement(operations.expected_difference, SearchChain)
@kernel
def expected_difference(problem, model, i):
    if len(model.w_triple) == 0:
        raise ValueError("the rule softmax of a SearchChain is for order 2; use an AttributeChain for order 1")
    labels = model.w.shape[1]
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    emit, norm, alpha = np.empty((n, labels)), np.empty(n + 1), np.zeros((n, labels, labels))
    single, triples = np.zeros((n, labels)), np.zeros((labels + 1, labels + 1, labels + 1))
    factor, near = exponentials(model.steps)
    if near and forward_pairs(n, model.node, factor, emit, alpha, norm):
        backward_pairs(n, factor, emit, alpha, norm, single, triples)
    else:
        count_output(model.predicted, 0, n, 1.0, single, triples)
    count_output(problem.y, start, n, -1.0, single, triples)
    return sparse_pairs(problem, model, start, n, single, triples)


@kernel
def sparse_pairs(problem, model, start, n, single, triples):
    """The features of minus these counts of labels and of three labels in a row, without tiny ones."""
    labels = single.shape[1]
    size = model.w_move.size + triples.size
    for k in range(n):
        for y in range(labels):
            if abs(single[k, y]) >= LEAST:
                size += problem.starts[start + k + 1] - problem.starts[start + k]
    features, values = np.empty(size, np.int64), np.empty(size)
    size = 0
    for k in range(n):
        for y in range(labels):
            if abs(single[k, y]) >= LEAST:
                for q in range(problem.starts[start + k], problem.starts[start + k + 1]):
                    features[size] = np.int64(problem.attributes[q]) * labels + y
                    values[size] = -single[k, y] if len(problem.values) == 0 else -single[k, y] * problem.values[q]
                    size += 1
    for p in range(labels + 1):
        for y in range(labels + 1):
            total, move = 0.0, p * (labels + 1) + y
            for o in range(labels + 1):
                total += triples[o, p, y]
                if abs(triples[o, p, y]) >= LEAST:
                    features[size] = model.w.size + model.w_move.size + o * model.w_move.size + move
                    values[size] = -triples[o, p, y]
                    size += 1
            if abs(total) >= LEAST:
                features[size], values[size] = model.w.size + move, -total
                size += 1
    return size, features, values
