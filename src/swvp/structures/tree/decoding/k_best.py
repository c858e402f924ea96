"""The k best dependency trees, by Lawler's partition.

A set of trees is given by the heads of the words 1, …, p, which are fixed, and by heads that word p + 1 must not have.
Without its best tree y it is the union of disjoint sets, one for each word m > p: the words before m have their heads
of y, m does not have its own. The decoder finds the best tree of each, so the next best tree of all is the best of
those not yet used: O(k·n) calls of the decoder, no tree twice.

Equal scores are in the order in which the trees are found: from better trees first, then from smaller m.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel
from swvp.structures.tree.decoding.chu_liu_edmonds import chu_liu_edmonds
from swvp.structures.tree.decoding.eisner import eisner_allowed

__all__ = ["best_allowed", "k_best", "tree_score"]


@kernel
def k_best(scores, n, k, projective, one_root, out):
    """Write the k best trees of n words into out[:k, :n], best first; return their number.

    There are fewer than k if fewer have no forbidden arc (-inf), and none if every tree has one. A sentence without
    words has one tree.
    """
    if k <= 0 or not best_allowed(scores, n, projective, one_root, out[0]):
        return 0
    totals = np.empty(k)
    totals[0] = tree_score(scores, n, out[0])
    fixed = np.zeros(k, np.int64)  # p of the set that a tree is the best of
    banned = np.zeros((k, n + 1), np.bool_)  # heads that word p + 1 must not have
    allowed = np.empty((n + 1, n + 1))
    heads = np.empty(n, np.int64)
    done, known = 0, 1
    while done < known:
        for h in range(n + 1):
            for m in range(1, n + 1):
                allowed[h, m] = scores[h, m]
        for m in range(1, fixed[done] + 1):
            fix(allowed, n, m, out[done, m - 1])
        for h in range(n + 1):
            if banned[done, h]:
                allowed[h, fixed[done] + 1] = -np.inf
        for m in range(fixed[done] + 1, n + 1):
            head = out[done, m - 1]
            allowed[head, m] = -np.inf
            if best_allowed(allowed, n, projective, one_root, heads):
                total = tree_score(scores, n, heads)
                place = known
                while place - 1 > done and total > totals[place - 1]:
                    place -= 1
                if place < k:
                    known = min(known + 1, k)
                    shift_back(place, known, n, out, totals, fixed, banned)
                    totals[place], fixed[place] = total, m - 1
                    for h in range(n + 1):
                        banned[place, h] = h == head or (m == fixed[done] + 1 and banned[done, h])
                    for t in range(n):
                        out[place, t] = heads[t]
            allowed[head, m] = scores[head, m]
            fix(allowed, n, m, head)
        done += 1
    return done


@kernel
def tree_score(scores, n, heads):
    """The sum of the scores of the tree's arcs, in the order of the words."""
    total = 0.0
    for m in range(1, n + 1):
        total += scores[heads[m - 1], m]
    return total


@kernel
def best_allowed(scores, n, projective, one_root, heads):
    """Write the best tree without forbidden arcs into heads[:n]; return whether there is one."""
    if projective:
        return eisner_allowed(scores, n, one_root, heads)
    chu_liu_edmonds(scores, n, one_root, heads)
    return tree_score(scores, n, heads) > -np.inf


@kernel
def fix(scores, n, m, head):
    """Forbid every arc into m but the one from `head`."""
    for h in range(n + 1):
        if h != head:
            scores[h, m] = -np.inf


@kernel
def shift_back(place, known, n, out, totals, fixed, banned):
    """Move the trees from `place` on back by one; the last one is lost if there are k."""
    for j in range(known - 1, place, -1):
        totals[j], fixed[j] = totals[j - 1], fixed[j - 1]
        for h in range(n + 1):
            banned[j, h] = banned[j - 1, h]
        for t in range(n):
            out[j, t] = out[j - 1, t]
