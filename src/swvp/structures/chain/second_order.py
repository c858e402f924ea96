"""Exact search in second-order chains: Viterbi over pairs of labels.

V_i(y', y) = max_{y''} [V_{i-1}(y'', y') + step(y'', y', y)] + Σ_a value·w(a, y), in O(n L³), where a step is
w(y'', y', y) + w(y', y) + barrier(y', y). Ties go to the smallest label, from the last position backwards.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel

__all__ = ["viterbi_pairs"]


@kernel
def viterbi_pairs(n, node, steps, value, predicted, at):
    """Write argmax_y' w·φ(x, y') for the n ≥ 1 positions scored in `node` into predicted[at:at + n].

    value[k, y', y] is V of the pair that ends at position k; value[0, 0, y] that of (BOUNDARY, y).
    """
    labels = node.shape[1]
    for y in range(labels):
        value[0, 0, y] = steps[labels, labels, y] + node[0, y]
    for k in range(1, n):
        for previous in range(labels):
            if k == 1:
                v_a = value[0, 0, previous]
                for y in range(labels):
                    value[k, previous, y] = v_a + steps[labels, previous, y]
            else:
                best_continuations(k, previous, labels, steps, value)
            for y in range(labels):
                value[k, previous, y] += node[k, y]

    y, previous = best_end(n, labels, steps, value)
    predicted[at + n - 1] = y
    if n > 1:
        predicted[at + n - 2] = previous
    # the way back computes the maximum again, along one path only
    for k in range(n - 1, 1, -1):
        older = 0
        for other in range(1, labels):
            score = value[k - 1, other, previous] + steps[other, previous, y]
            if score > value[k - 1, older, previous] + steps[older, previous, y]:
                older = other
        predicted[at + k - 2] = older
        y, previous = previous, older


@kernel
def best_continuations(k, previous, labels, steps, value):
    """Write max_{y''} [V_{k-1}(y'', y') + step(y'', y', y)] for one y' and every y: four y'' at a time."""
    for y in range(labels):
        value[k, previous, y] = -np.inf
    for a in range(0, labels, 4):
        b, c, d = min(a + 1, labels - 1), min(a + 2, labels - 1), min(a + 3, labels - 1)  # the last one may come again
        v_a, v_b = value[k - 1, a, previous], value[k - 1, b, previous]
        v_c, v_d = value[k - 1, c, previous], value[k - 1, d, previous]
        for y in range(labels):
            s_a, s_b = v_a + steps[a, previous, y], v_b + steps[b, previous, y]
            s_c, s_d = v_c + steps[c, previous, y], v_d + steps[d, previous, y]
            s_a = s_a if s_a > s_b else s_b
            s_c = s_c if s_c > s_d else s_d
            s_a = s_a if s_a > s_c else s_c
            value[k, previous, y] = s_a if s_a > value[k, previous, y] else value[k, previous, y]


@kernel
def best_end(n, labels, steps, value):
    """The last label and the one before it (0 if there is none) of the best path through the end."""
    best, best_y, best_previous = -np.inf, 0, 0
    for y in range(labels):
        for previous in range(labels if n > 1 else 1):
            before = previous if n > 1 else labels
            score = value[n - 1, previous, y] + steps[before, y, labels]
            if score > best:
                best, best_y, best_previous = score, y, previous
    return best_y, best_previous
