"""The best projective dependency tree: Eisner's algorithm, O(n³).

scores[h, m] is the score of the arc from h to m; node 0 is the root. For the words s, …, t, s < t:

    joined(s, t) = max_{s ≤ k < t} right(s, k) + left(k + 1, t)                         both ends lack a head
    right(s, t)  = max_{s < k ≤ t} joined(s, k) + scores[s, k] + right(k, t)            s is the head of all
    left(s, t)   = max_{s ≤ k < t} left(s, k) + joined(k, t) + scores[t, k]             t is the head of all

and right(s, s) = left(s, s) = 0. The best tree has score right(0, n); if the root has one child, joined(0, t) allows
k = 0 only. As soon as a value with end k is known, it is added to all that need it, for all t at once: these loops are
over rows of arrays. The way back looks for the maxima again, along one tree.

Ties: the smallest k, from the widest span to the narrower ones.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel

__all__ = ["eisner", "eisner_allowed"]

RIGHT, LEFT, JOINED = range(3)


@kernel
def eisner(scores, n, one_root, heads):
    """Write the heads of the best projective tree of n words into heads[:n], with one child of the root if `one_root`.

    Arcs of -inf are used only if there is no tree without them, and then as few as possible: they count as a score so
    low that no others make up for it. Of the trees with as few, the best is found up to the precision of sums with
    that number.
    """
    if not eisner_allowed(scores, n, one_root, heads):
        eisner_allowed(with_penalty(scores, n), n, one_root, heads)


@kernel
def with_penalty(scores, n):
    """The scores less their smallest one, with -(n + 1) times their range for the forbidden arcs."""
    least, most = np.inf, -np.inf
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and scores[h, m] > -np.inf:
                least, most = min(least, scores[h, m]), max(most, scores[h, m])
    penalty = (n + 1) * (most - least if most > least else 1.0)
    shifted = np.empty((n + 1, n + 1))
    for h in range(n + 1):
        for m in range(1, n + 1):
            shifted[h, m] = scores[h, m] - least if scores[h, m] > -np.inf else -penalty
    return shifted


@kernel
def eisner_allowed(scores, n, one_root, heads):
    """Write the best projective tree without forbidden arcs into heads[:n]; return whether there is one."""
    right = np.full((n + 1, n + 1), -np.inf)
    left = np.full((n + 1, n + 1), -np.inf)
    joined = np.full((n + 1, n + 1), -np.inf)
    left_arc = np.empty((n + 1, n + 1))  # joined(s, t) + scores[t, s]
    for s in range(n, -1, -1):
        right[s, s] = left[s, s] = 0.0
        for k in range(s, n + 1):
            if k > s:
                arc = joined[s, k] + scores[s, k]
                right[s, k] = max(right[s, k], arc)
                for t in range(k + 1, n + 1):
                    x = arc + right[k, t]
                    right[s, t] = x if x > right[s, t] else right[s, t]
            if k > s > 0:
                left_arc[s, k] = joined[s, k] + scores[k, s]
                left[s, k] = max(left[s, k], left_arc[s, k])
                x_k = left[s, k]
                for t in range(k + 1, n + 1):
                    x = x_k + left_arc[k, t]
                    left[s, t] = x if x > left[s, t] else left[s, t]
            if s > 0 or k == 0 or not one_root:
                x_k = right[s, k]
                for t in range(k + 1, n + 1):
                    x = x_k + left[k + 1, t]
                    joined[s, t] = x if x > joined[s, t] else joined[s, t]
    if right[0, n] == -np.inf:
        return False
    way_back(scores, n, one_root, right, left, joined, left_arc, heads)
    return True


@kernel
def way_back(scores, n, one_root, right, left, joined, left_arc, heads):
    """Write the heads of the tree whose score is right(0, n)."""
    spans = np.empty((2 * n + 2, 3), np.int64)  # still to be divided
    spans[0, 0], spans[0, 1], spans[0, 2] = RIGHT, 0, n
    open_spans = 1
    while open_spans:
        open_spans -= 1
        kind, s, t = spans[open_spans, 0], spans[open_spans, 1], spans[open_spans, 2]
        if s == t:
            continue
        best, best_k = -np.inf, s
        for k in range(s + 1 if kind == RIGHT else s, t + 1 if kind == RIGHT else t):
            if kind == RIGHT:
                x = joined[s, k] + scores[s, k] + right[k, t]
            elif kind == LEFT:
                x = left[s, k] + left_arc[k, t]
            elif s == 0 and k > 0 and one_root:
                break
            else:
                x = right[s, k] + left[k + 1, t]
            if x > best:
                best, best_k = x, k
        k = best_k
        first, second = spans[open_spans], spans[open_spans + 1]
        if kind == RIGHT:
            heads[k - 1] = s
            first[0], first[1], first[2] = JOINED, s, k
            second[0], second[1], second[2] = RIGHT, k, t
        elif kind == LEFT:
            heads[k - 1] = t
            first[0], first[1], first[2] = LEFT, s, k
            second[0], second[1], second[2] = JOINED, k, t
        else:
            first[0], first[1], first[2] = RIGHT, s, k
            second[0], second[1], second[2] = LEFT, k + 1, t
        open_spans += 2
