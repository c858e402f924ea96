"""Log Z and the arcs' probabilities of projective trees without logarithms: `inside_outside` for the usual case.

The weights of each word's arcs are scaled to sum to 1. So every inside and outside sum is
at most 1. Values below TINY count as 0: a probability changes by no more than about n³·TINY / Z. If Z is below
LEAST, too much precision could be lost, and the caller has to use logarithms.

As in `eisner`, a value is added to all that need it as soon as it is known, and zeros are left out. The derivatives of
Z take the same way back. `d_x` is that of x.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import inlined, kernel

__all__ = ["projective_products"]

TINY = 1e-150
LEAST = 1e-100


@kernel
def projective_products(scores, n, one_root, marginals):
    """Write P(h → m | x) of the projective trees of n words into `marginals`, which is 0 before.

    Returns log Z and whether it is right; if not, nothing was written.
    """
    weight, log_sums, words = weights_of(scores, n)
    if not words:  # one has no head
        return -np.inf, True
    right, left, joined = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    left_arc = np.zeros((n + 1, n + 1))  # joined(s, t)·weight[t, s]
    inside(weight, n, one_root, right, left, joined, left_arc)
    z = right[0, n]
    if z < LEAST:
        return 0.0, False
    outside(weight, n, one_root, right, left, joined, left_arc, marginals)
    return log_sums + np.log(z), True


@kernel
def weights_of(scores, n):
    """exp(scores) scaled to sum to 1 for each word, the logarithm of what that changes, whether each word has some."""
    weight = np.zeros((n + 1, n + 1))
    total = 0.0
    for m in range(1, n + 1):
        most = -np.inf
        for h in range(n + 1):
            most = max(most, scores[h, m]) if h != m else most
        if most == -np.inf:
            return weight, 0.0, False
        column = 0.0
        for h in range(n + 1):
            if h != m:
                weight[h, m] = np.exp(scores[h, m] - most)
                column += weight[h, m]
        for h in range(n + 1):
            weight[h, m] /= column
        total += most + np.log(column)
    return weight, total, True


@inlined
def flushed(x):
    return x if x >= TINY else 0.0


@kernel
def inside(weight, n, one_root, right, left, joined, left_arc):
    for s in range(n, -1, -1):
        right[s, s] = left[s, s] = 1.0
        for k in range(s, n + 1):
            if k > s:
                joined[s, k] = flushed(joined[s, k])
                arc = flushed(joined[s, k] * weight[s, k])
                if arc > 0.0:
                    for t in range(k, n + 1):
                        right[s, t] += arc * right[k, t]
                right[s, k] = flushed(right[s, k])
            if k > s > 0:
                left_arc[s, k] = flushed(joined[s, k] * weight[k, s])
                left[s, k] = x = flushed(left[s, k] + left_arc[s, k])
                if x > 0.0:
                    for t in range(k + 1, n + 1):
                        left[s, t] += x * left_arc[k, t]
            x = right[s, k]
            if x > 0.0 and (s > 0 or k == 0 or not one_root):
                for t in range(k + 1, n + 1):
                    joined[s, t] += x * left[k + 1, t]


@kernel
def outside(weight, n, one_root, right, left, joined, left_arc, marginals):
    d_right, d_left = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    d_joined, d_left_arc = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    d_right[0, n] = 1.0 / right[0, n]
    for s in range(n + 1):
        for k in range(n, s - 1, -1):
            x = right[s, k]
            if x > 0.0 and (s > 0 or k == 0 or not one_root):
                d_right[s, k] += dot(d_joined[s], left[k + 1 if k < n else n], k + 1, n)
                for t in range(k + 1, n + 1):
                    d_left[k + 1, t] += d_joined[s, t] * x
            if k > s > 0:
                x = left[s, k]
                if x > 0.0:
                    d_left[s, k] += dot(d_left[s], left_arc[k], k + 1, n)
                    for t in range(k + 1, n + 1):
                        d_left_arc[k, t] += d_left[s, t] * x
                d_left[s, k] = flushed(d_left[s, k])
                d = flushed(d_left_arc[s, k] + d_left[s, k])
                marginals[k, s] = min(d * left_arc[s, k], 1.0)
                d_joined[s, k] = d * weight[k, s]
            if k > s:
                d_right[s, k] = flushed(d_right[s, k])
                arc = flushed(joined[s, k] * weight[s, k])
                if arc > 0.0:
                    d = dot(d_right[s], right[k], k, n)
                    marginals[s, k] = min(d * arc, 1.0)
                    d_joined[s, k] += d * weight[s, k]
                    for t in range(k, n + 1):
                        d_right[k, t] += d_right[s, t] * arc
                d_joined[s, k] = flushed(d_joined[s, k])


@kernel
def dot(a, b, first, last):
    """Σ a[t]·b[t] for first ≤ t ≤ last, in four sums."""
    w = x = y = z = 0.0
    t = first
    while t + 3 <= last:
        w += a[t] * b[t]
        x += a[t + 1] * b[t + 1]
        y += a[t + 2] * b[t + 2]
        z += a[t + 3] * b[t + 3]
        t += 4
    while t <= last:
        w += a[t] * b[t]
        t += 1
    return (w + x) + (y + z)
