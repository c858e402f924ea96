"""Log Z and the arcs' probabilities of all trees: the matrix-tree theorem by eliminating words, O(n³).

With weights W[h, m] = exp(scores[h, m]), Z is a determinant of sums of W. Gaussian elimination on it, written so that
nothing is subtracted, takes out a word v at a time:

    S_v = Σ_h W[h, v],    W[h, m] += W[h, v]·W[v, m] / S_v,    and at last Z = Π_v S_v,

where h and m are nodes that are left, the root among the h: the arcs h → v → m become arcs h → m. With exactly one
child of the root, S_v is without the root's arc, which only the last word takes: the trees that use it more often are
left out. There the last word must be one without any other head, if there is such a word.
The derivatives D[h, m] = ∂ log Z / ∂W[h, m] come in the reverse order, and P(h → m | x) = W[h, m]·D[h, m]:

    D[v, m] = Σ_h W[h, v]·D[h, m] / S_v,    e_h = Σ_m D[h, m]·W[v, m],
    D[h, v] = (1 - Σ_h W[h, v]·e_h / S_v + e_h) / S_v,    without 1 - Σ if S_v is without h.

Z has the relative precision of its sums, so scores that nearly forbid every tree do no harm; the probabilities have an
absolute one. Each column of W is scaled by its largest weight (with one child of the root, by that of the words); then
the weights of the root by their largest one. No weight ever decreases. If one that is not 0 is below SMALLEST all the
same, or one of the root above 1 / SMALLEST, everything is computed again with logarithms: right for every input, and
about 20 times slower.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import inlined_source, kernel

__all__ = ["scale", "tree_marginals"]

SMALLEST = 1e-140


@inlined_source
def tree_marginals(scores, n, one_root, marginals):
    """log Z of all trees of n words; writes P(h → m | x) into `marginals`, which is 0 before."""
    scaled, log_z = scale(scores, n, one_root)
    order = np.arange(n + 1)  # of the words, as rows and columns of the weights
    sums = np.zeros(n + 1)
    weight = np.exp(scaled)
    log_product, safe = eliminate(scaled, weight, n, one_root, sums, order)
    if not safe:
        order[:] = np.arange(n + 1)
        weight[:] = scaled
        log_product = eliminate_logarithms(weight, n, one_root, sums, order)
    if log_product == -np.inf:
        return log_product
    slope = slopes(weight, n, one_root, sums) if safe else slopes_logarithms(weight, n, one_root, sums)
    for i in range(n + 1):
        for j in range(1, n + 1):
            x = scaled[order[i], order[j]]
            if i != j and x > -np.inf:
                p = np.exp(x) * slope[i, j] if safe else np.exp(x + slope[i, j])
                marginals[order[i], order[j]] = min(max(p, 0.0), 1.0)
    return log_z + log_product


@kernel
def scale(scores, n, one_root):
    """The scores less what all trees have in common, and the sum of that. An arc of a word to itself has 0."""
    scaled = np.full((n + 1, n + 1), -np.inf)
    total = 0.0
    for m in range(1, n + 1):
        most = -np.inf
        for h in range(1 if one_root else 0, n + 1):
            most = max(most, scores[h, m]) if h != m else most
        most = most if most > -np.inf else 0.0
        total += most
        for h in range(n + 1):
            scaled[h, m] = scores[h, m] - most if h != m else 0.0
    if one_root and n > 0:
        most = np.max(scaled[0, 1:])
        most = most if most > -np.inf else 0.0
        total += most
        for m in range(1, n + 1):
            scaled[0, m] -= most
    return scaled, total


@kernel
def exchange(weight, v, u, n, order):
    """Exchange two words, with their rows and columns."""
    order[v], order[u] = order[u], order[v]
    for h in range(n + 1):
        weight[h, v], weight[h, u] = weight[h, u], weight[h, v]
    for m in range(n + 1):
        weight[v, m], weight[u, m] = weight[u, m], weight[v, m]


@kernel
def eliminate(scaled, weight, n, one_root, sums, order):
    """log Π S_v, from the last word to the first; S_v into `sums`. And whether nothing was lost."""
    for h in range(n + 1):
        for m in range(1, n + 1):
            if weight[h, m] < SMALLEST and scaled[h, m] > -np.inf:
                return 0.0, False
    log_product = 0.0
    for v in range(n, 0, -1):
        for u in range(v, 0, -1):
            total = 0.0
            for h in range(1 if one_root and v > 1 else 0, v + 1):
                total += weight[h, u] if h != u else 0.0
            if total > 0.0:
                break
        if total == 0.0:
            return -np.inf, is_safe(weight, n)
        if u != v:
            exchange(weight, v, u, n, order)
        sums[v] = total
        log_product += np.log(total)
        for h in range(v):
            factor = weight[h, v] / total
            if factor > 0.0:
                for m in range(1, v):
                    weight[h, m] += factor * weight[v, m]
    return log_product, is_safe(weight, n)


@kernel
def is_safe(weight, n):
    """Whether no weight of an arc is too small or too large. Each is as it was when its word was taken out."""
    for m in range(1, n + 1):
        if not weight[0, m] <= 1.0 / SMALLEST:
            return False
        for h in range(n + 1):
            if 0.0 < weight[h, m] < SMALLEST:
                return False
    return True


@kernel
def slopes(weight, n, one_root, sums):
    """D[h, m] after `eliminate`, for the words in its order; only where W[h, m] is not 0, which is all that is used."""
    slope, turned = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))  # [h, m] and [m, h]
    e = np.zeros(n + 1)
    for v in range(1, n + 1):
        e[:v] = 0.0
        for m in range(1, v):
            x = weight[v, m]
            if x > 0.0:
                for h in range(v):
                    e[h] += turned[m, h] * x
        rest = 1.0
        for h in range(v):
            factor = weight[h, v] / sums[v]
            if factor > 0.0:
                rest -= factor * e[h]
                for m in range(1, v):
                    slope[v, m] += factor * slope[h, m]
        for m in range(1, v):
            turned[m, v] = slope[v, m]
        for h in range(v):
            if weight[h, v] > 0.0:
                slope[h, v] = (e[h] if one_root and h == 0 and v > 1 else e[h] + rest) / sums[v]
                turned[v, h] = slope[h, v]
    return slope


@kernel
def log_add(a, b):
    """log(exp(a) + exp(b))."""
    most, least = max(a, b), min(a, b)
    return most + np.log1p(np.exp(least - most)) if least > -np.inf else most


@kernel
def eliminate_logarithms(weight, n, one_root, sums, order):
    """`eliminate` with the logarithms of weights and sums."""
    log_product = 0.0
    for v in range(n, 0, -1):
        for u in range(v, 0, -1):
            total = -np.inf
            for h in range(1 if one_root and v > 1 else 0, v + 1):
                total = log_add(total, weight[h, u]) if h != u else total
            if total > -np.inf:
                break
        if total == -np.inf:
            return total
        if u != v:
            exchange(weight, v, u, n, order)
        sums[v] = total
        log_product += total
        for h in range(v):
            factor = weight[h, v] - total
            if factor > -np.inf:
                for m in range(1, v):
                    weight[h, m] = log_add(weight[h, m], factor + weight[v, m])
    return log_product


@kernel
def slopes_logarithms(weight, n, one_root, sums):
    """The logarithm of D[h, m] after `eliminate_logarithms`."""
    slope = np.full((n + 1, n + 1), -np.inf)
    e = np.zeros(n + 1)
    for v in range(1, n + 1):
        rest = 1.0
        for h in range(v):
            factor = weight[h, v] - sums[v]
            e[h] = -np.inf
            for m in range(1, v):
                e[h] = log_add(e[h], slope[h, m] + weight[v, m])
            rest -= np.exp(factor + e[h])
            for m in range(1, v):
                slope[v, m] = log_add(slope[v, m], factor + slope[h, m])
        for h in range(v):
            if not (one_root and h == 0 and v > 1) and e[h] < 700.0:  # rest does not count against more
                x = np.exp(e[h]) + rest
                e[h] = np.log(x) if x > 0.0 else -np.inf
            slope[h, v] = e[h] - sums[v]
    return slope
