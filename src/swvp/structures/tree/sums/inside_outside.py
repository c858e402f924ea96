"""Log Z and the arcs' probabilities of projective trees: Eisner's algorithm with sums for maxima, O(n³).

The names are those of `eisner`; every value is the logarithm of a sum. The derivative of log Z by an arc's score is
the arc's probability. On the way back each value hands its own derivative to those it is made of, in proportion.
Nothing is subtracted, so the result is as precise as the logarithms; columns are scaled to keep those small. Most
sentences do not need logarithms (`inside_outside_products`), which takes a tenth of the time.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel
from swvp.structures.tree.sums.inside_outside_products import projective_products
from swvp.structures.tree.sums.matrix_tree import scale

__all__ = ["projective_marginals"]


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
