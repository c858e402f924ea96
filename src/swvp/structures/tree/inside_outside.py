"""Log Z and the arcs' probabilities of projective trees: Eisner's algorithm with sums for maxima, O(n³).

The names are those of `swvp.structures.tree.decoding.eisner`. The derivative of log Z by an arc's score is the arc's
probability. `d_x` is the derivative of x.

Without logarithms: the weights of each word's arcs are scaled to sum to 1. So every inside and outside sum is at most
1. Values below TINY count as 0: a probability changes by no more than about n³·TINY / Z. As in `eisner`, a value is
added to all that need it as soon as it is known, and zeros are left out. The derivatives of Z take the same way back.

With logarithms, for the few sentences whose Z is below LEAST, where too much precision could be lost: every value is
the logarithm of a sum. On the way back each value hands its own derivative to those it is made of, in proportion.
Nothing is subtracted, so the result is as precise as the logarithms; columns are scaled to keep those small. This takes
ten times as long.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import inlined, kernel
from swvp.structures.tree.matrix_tree import scale

__all__ = ["projective_marginals", "projective_products"]


# ---------------------------------------------------------------- with logarithms


@kernel
def projective_marginals(scores, n, one_root, marginals):
    """log Z of the projective trees of n words; writes P(h → m | x) into `marginals`, which is 0 before."""
    log_z, right = projective_products(scores, n, one_root, marginals)
    return log_z if right else projective_logarithms(scores, n, one_root, marginals)


@kernel
def projective_logarithms(scores, n, one_root, marginals):
    """`projective_marginals` for every input, slowly."""
    scaled, common = scale(scores, n, False)
    right = np.full((n + 1, n + 1), -np.inf)  # [s, t]
    left = np.full((n + 1, n + 1), -np.inf)  # [t, s]: the end that is summed over comes last
    right_arc = np.full((n + 1, n + 1), -np.inf)  # [s, t]
    left_arc = np.full((n + 1, n + 1), -np.inf)  # [t, s]
    joined = np.full((n + 1, n + 1), -np.inf)
    right_turned = np.full((n + 1, n + 1), -np.inf)  # [t, s]
    left_turned = np.full((n + 1, n + 1), -np.inf)  # [s, t]
    for s in range(n, -1, -1):
        right[s, s] = left[s, s] = right_turned[s, s] = left_turned[s, s] = 0.0
        for t in range(s + 1, n + 1):
            joined[s, t] = log_sum(right[s], 0, left[t], 1, s, last_split(s, t, one_root))
            right_arc[s, t] = joined[s, t] + scaled[s, t]
            right[s, t] = right_turned[t, s] = log_sum(right_arc[s], 1, right_turned[t], 1, s, t)
            if s > 0:
                left_arc[t, s] = joined[s, t] + scaled[t, s]
                left[t, s] = left_turned[s, t] = log_sum(left_arc[t], 0, left_turned[s], 0, s, t)
    if right[0, n] == -np.inf:
        return -np.inf
    d_right, d_left = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    d_right_turned, d_left_turned = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    d_right[0, n] = 1.0
    for s in range(n + 1):
        for t in range(n, s, -1):
            d = d_right[s, t] + d_right_turned[t, s]
            share(d, right[s, t], right_arc[s], marginals[s], 1, right_turned[t], d_right_turned[t], 1, s, t)
            if s > 0:
                d = d_left[t, s] + d_left_turned[s, t]
                share(d, left[t, s], left_arc[t], marginals[t], 0, left_turned[s], d_left_turned[s], 0, s, t)
            d = marginals[s, t] + marginals[t, s]
            last = last_split(s, t, one_root)
            share(d, joined[s, t], right[s], d_right[s], 0, left[t], d_left[t], 1, s, last)
    for h in range(n + 1):
        for m in range(1, n + 1):
            marginals[h, m] = min(marginals[h, m], 1.0)
    return right[0, n] + common


@kernel
def last_split(s, t, one_root):
    """The end of the k in joined(s, t): with one child of the root, 0 is the only one for s = 0."""
    return 1 if one_root and s == 0 else t


@kernel
def log_sum(a, a_shift, b, b_shift, first, last):
    """log Σ_{first ≤ k < last} exp(a[k + a_shift] + b[k + b_shift])."""
    most = -np.inf
    for k in range(first, last):
        most = max(most, a[k + a_shift] + b[k + b_shift])
    if most == -np.inf:
        return most
    total = 0.0
    for k in range(first, last):
        total += np.exp(a[k + a_shift] + b[k + b_shift] - most)
    return most + np.log(total)


@kernel
def share(d, value, a, d_a, a_shift, b, d_b, b_shift, first, last):
    """Add the derivative d of `value`, which is `log_sum` of a and b, to theirs."""
    if d == 0.0:
        return
    for k in range(first, last):
        part = d * np.exp(a[k + a_shift] + b[k + b_shift] - value)
        d_a[k + a_shift] += part
        d_b[k + b_shift] += part


# ---------------------------------------------------------------- without logarithms

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
