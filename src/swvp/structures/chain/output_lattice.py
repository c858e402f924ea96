"""The labels of the k best outputs of a chain, for γ over all their mixed assignments (`learning.label_lattice`)."""

from __future__ import annotations

import numpy as np

from swvp.compiled import implement, inlined, kernel
from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain, number_of_weights
from swvp.structures.chain.k_best import best_outputs

__all__ = ["label_lattice", "lattice_direction"]


@inlined
def label_at(labels, t, a, width, n, boundary):
    """Label a of position t as a number; both ends have BOUNDARY."""
    return labels[t * width + a] if 0 <= t < n else boundary


@implement(operations.label_lattice, AttributeChain)
@kernel
def label_lattice(problem, model, i, k):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    paths_number, paths = best_outputs(problem, model, i, k)
    BOUNDARY = np.int64(model.node.shape[1])
    number, table = np.ones(n, np.int64), np.empty((n, k + 1), np.int64)
    width = 1
    for t in range(n):
        table[t, 0] = problem.y[start + t]
        for r in range(paths_number):
            label = np.int64(paths[r, t])
            known = False
            for a in range(number[t]):
                known |= table[t, a] == label
            if not known:
                table[t, number[t]] = label
                number[t] += 1
        width = max(width, number[t])

    labels, margins = np.zeros(n * width, np.int64), np.zeros((n + (n + 1) * width) * width)
    for t in range(n):
        for a in range(number[t]):
            labels[t * width + a] = table[t, a]
            margins[t * width + a] = model.node[t, table[t, 0]] - model.node[t, table[t, a]]
    for t in range(n + 1):
        gold = model.w_move[label_at(labels, t - 1, 0, width, n, BOUNDARY), label_at(labels, t, 0, width, n, BOUNDARY)]
        for b in range(number[t - 1] if t > 0 else 1):
            y_previous = label_at(labels, t - 1, b, width, n, BOUNDARY)
            for a in range(number[t] if t < n else 1):
                y = label_at(labels, t, a, width, n, BOUNDARY)
                margins[(n + t * width + b) * width + a] = gold - model.w_move[y_previous, y]
    return width, labels, number, margins


@implement(operations.lattice_direction, AttributeChain)
@kernel
def lattice_direction(problem, model, i, width, labels, number, amounts):
    of_attributes = number_of_weights(model)
    start, n, count = problem.offsets[i], len(number), model.node.shape[1]
    size = 0
    for t in range(n):
        size += number[t] * (problem.starts[start + t + 1] - problem.starts[start + t])
    for t in range(n + 1):
        size += 2 * (number[t - 1] if t > 0 else 1) * (number[t] if t < n else 1)
    features, values = np.empty(size, np.int64), np.empty(size)
    size = 0
    for t in range(n):
        gold = 0.0
        for a in range(number[t] - 1, -1, -1):  # the gold label comes last, with what the others lose
            amount = gold if a == 0 else -amounts[t * width + a]
            gold -= amount
            if amount != 0:
                for q in range(problem.starts[start + t], problem.starts[start + t + 1]):
                    features[size] = np.int64(problem.attributes[q]) * count + labels[t * width + a]
                    values[size] = amount if len(problem.values) == 0 else amount * problem.values[q]
                    size += 1
    for t in range(n + 1):
        gold_pair = label_at(labels, t - 1, 0, width, n, count) * (count + 1)
        gold_pair += label_at(labels, t, 0, width, n, count)
        for b in range(number[t - 1] if t > 0 else 1):
            for a in range(number[t] if t < n else 1):
                amount = amounts[(n + t * width + b) * width + a]
                if amount != 0:
                    pair = label_at(labels, t - 1, b, width, n, count) * (count + 1)
                    pair += label_at(labels, t, a, width, n, count)
                    features[size], values[size] = of_attributes + gold_pair, amount
                    features[size + 1], values[size + 1] = of_attributes + pair, -amount
                    size += 2
    return size, features, values
