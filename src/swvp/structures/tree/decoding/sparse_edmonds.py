"""The best tree of weighted arcs over candidate heads: Chu–Liu–Edmonds on lists of arcs.

It is the algorithm of `chu_liu_edmonds`, which visits all pairs of words; here a node has only the arcs of its words.
If the best arcs of all words are a tree, it is the best one. Else a path follows best arcs back from a word. Where it
meets itself, the cycle becomes one node, and an arc into it is worth its weight less that of the arc it replaces. If
the root may have one child and has more, everything is repeated, and an arc of the root is the best one into a node
only if there is no other. No cycle contains such an arc, so none gains from it.

Ties: the first arc of the words in the order in which they joined a node, and of one word the smallest head.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import borrowing, kernel

__all__ = ["best_tree_of_arcs", "is_tree_of"]


@borrowing
def best_tree_of_arcs(parts, n, one_root, alive, weights, heads):
    """Write the best tree of the arcs that are alive into heads[:n], with one child of the root if `one_root`.

    Returns its weight, -inf if there is none, and the sum of the best weights into each word.
    """
    greedy = 0.0
    for m in range(1, n + 1):
        best = -np.inf
        for a in range(parts.arcs[m], parts.arcs[m + 1]):
            if alive[a] and weights[a] > best:
                best, heads[m - 1] = weights[a], parts.heads[a]
        greedy += best
    if greedy == -np.inf or is_tree_of(n, heads, one_root):
        return greedy, greedy
    for turn in range(2):
        if not contract(parts, n, turn > 0, alive, weights, heads):
            return -np.inf, greedy
        total, roots = 0.0, 0
        for m in range(1, n + 1):
            total += weights[parts.arc[heads[m - 1], m]]
            roots += heads[m - 1] == 0
        if roots == 1 or not one_root:
            return total, greedy
    return -np.inf, greedy


@kernel
def contract(parts, n, strict, alive, weights, heads):
    """Write the heads of the best tree, with as few children of the root as possible if `strict`; False without a tree.

    row[m] is the first word of the node that m is in, the others follow by `after` up to last[row]. Nodes are
    numbered in the order they are made, words first; made[r] is the node of row r.
    """
    arcs = parts.arcs[n + 1]
    value = weights[:arcs].copy()
    row, made, last = np.arange(n + 1), np.arange(n + 1), np.arange(n + 1)
    after = np.zeros(n + 1, np.int64)
    nodes = n + 1
    parent, arc = np.zeros(2 * n + 1, np.int64), np.zeros(2 * n + 1, np.int64)
    path, place = np.zeros(n + 1, np.int64), np.full(n + 1, -1)
    done = np.zeros(n + 1, np.bool_)
    done[0] = True
    for start in range(1, n + 1):
        r, length = row[start], 0
        while not done[r]:
            if place[r] >= 0:
                first = place[r]
                for p in range(first, length):
                    c = path[p]
                    less = value[arc[made[c]]]
                    m = c
                    while m > 0:
                        row[m] = r
                        for a in range(parts.arcs[m], parts.arcs[m + 1]):
                            value[a] -= less
                        m = after[m] if m != last[c] else 0
                    if p > first:
                        after[last[r]], last[r] = c, last[c]
                    parent[made[c]], place[c] = nodes, -1
                made[r] = nodes
                nodes += 1
                length = first
            path[length], place[r] = r, length
            length += 1
            best, x, best_low = -1, 0.0, False
            m = r
            while m > 0:
                for a in range(parts.arcs[m], parts.arcs[m + 1]):
                    if not alive[a] or row[parts.heads[a]] == r:
                        continue
                    low = strict and parts.heads[a] == 0
                    if best < 0 or (best_low and not low) or (low == best_low and value[a] > x):
                        best, x, best_low = a, value[a], low
                m = after[m] if m != last[r] else 0
            if best < 0:
                return False
            arc[made[r]] = best
            r = row[parts.heads[best]]
        for p in range(length):
            done[path[p]], place[path[p]] = True, -1
    replaced = np.zeros(nodes, np.bool_)
    for node in range(nodes - 1, 0, -1):
        if not replaced[node]:
            m = parts.modifiers[arc[node]]
            heads[m - 1] = parts.heads[arc[node]]
            while m != node:
                replaced[m] = True
                m = parent[m]
    return True


@kernel
def is_tree_of(n, heads, one_root):
    """Whether heads[:n] are a tree, with one child of the root if `one_root`: O(n)."""
    seen = np.zeros(n + 1, np.int64)
    roots = 0
    for start in range(1, n + 1):
        m = start
        roots += heads[m - 1] == 0
        while m > 0 and seen[m] == 0:
            seen[m] = start
            m = heads[m - 1]
        if m > 0 and seen[m] == start:
            return False
    return roots == 1 or not one_root
