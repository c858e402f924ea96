"""Owns exact search in second-order chains: Viterbi over pairs of labels.

V_i(y', y) = max_{y''} [V_{i-1}(y'', y') + w(y'', y', y)] + w(y', y) + barrier(y', y) + Σ_a value·w(a, y), in O(n L³).
Ties go to the smallest label, from the last position backwards.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel

__all__ = ["viterbi_pairs"]


@kernel
def viterbi_pairs(n, node, moves, triples, value, predicted, at):
    """Write argmax_y' w·φ(x, y') for the n ≥ 1 positions scored in `node` into predicted[at:at + n].

    value[k, y', y] is V of the pair that ends at position k; value[0, 0, y] that of (BOUNDARY, y).
    """
    labels = node.shape[1]
    for y in range(labels):
        value[0, 0, y] = moves[labels, y] + triples[labels, labels, y] + node[0, y]
    for k in range(1, n):
        for previous in range(labels):
            if k == 1:
                v_a = value[0, 0, previous]
                for y in range(labels):
                    value[k, previous, y] = v_a + triples[labels, previous, y]
            else:
                best_continuations(k, previous, labels, triples, value)
            for y in range(labels):
                value[k, previous, y] += moves[previous, y] + node[k, y]

    y, previous = best_end(n, labels, moves, triples, value)
    predicted[at + n - 1] = y
    if n > 1:
        predicted[at + n - 2] = previous
    # the way back looks for the maximum again, along one path only
    for k in range(n - 1, 1, -1):
        older = 0
        for other in range(1, labels):
            if value[k - 1, other, previous] + triples[other, previous, y] > (
                value[k - 1, older, previous] + triples[older, previous, y]
            ):
                older = other
        predicted[at + k - 2] = older
        y, previous = previous, older


@kernel
def best_continuations(k, previous, labels, triples, value):
    """Write max_{y''} [V_{k-1}(y'', y') + w(y'', y', y)] for one y' and every y: four y'' at a time."""
    for y in range(labels):
        value[k, previous, y] = -np.inf
    older = 0
    while older + 4 <= labels:
        a, b, c, d = older, older + 1, older + 2, older + 3
        v_a, v_b = value[k - 1, a, previous], value[k - 1, b, previous]
        v_c, v_d = value[k - 1, c, previous], value[k - 1, d, previous]
        for y in range(labels):
            s_a, s_b = v_a + triples[a, previous, y], v_b + triples[b, previous, y]
            s_c, s_d = v_c + triples[c, previous, y], v_d + triples[d, previous, y]
            s_a = s_a if s_a > s_b else s_b
            s_c = s_c if s_c > s_d else s_d
            s_a = s_a if s_a > s_c else s_c
            value[k, previous, y] = s_a if s_a > value[k, previous, y] else value[k, previous, y]
        older += 4
    while older < labels:
        v_a = value[k - 1, older, previous]
        for y in range(labels):
            s_a = v_a + triples[older, previous, y]
            value[k, previous, y] = s_a if s_a > value[k, previous, y] else value[k, previous, y]
        older += 1


@kernel
def best_end(n, labels, moves, triples, value):
    """The last label and the one before it (0 if there is none) of the best path through the end."""
    best, best_y, best_previous = -np.inf, 0, 0
    for y in range(labels):
        for previous in range(labels if n > 1 else 1):
            before = previous if n > 1 else labels
            score = value[n - 1, previous, y] + (moves[y, labels] + triples[before, y, labels])
            if score > best:
                best, best_y, best_previous = score, y, previous
    return best_y, best_previous
