"""The best dependency tree of any kind: Chu–Liu–Edmonds, on scores of all arcs or on lists of arcs.

On all arcs, it is Tarjan's form for dense graphs, O(n²). scores[h, m] is the score of the arc from h to m; node 0 is
the root. If the best heads of all words are a tree, it is the best one. Else a path follows best heads back from a
word. Where it meets itself there is a cycle, and the cycle becomes one node: an arc (h, m) into it is worth its score
less that of the arc into m it replaces. When the path reaches the root, or a word of an earlier path, all its nodes
have heads. A cycle's arc then replaces the arc of the one node in it that it enters, from the last cycle to the first.

Arcs are compared by level first, then by score: an arc of the root has level -(n + 1) if there may be only one, a
forbidden arc (-inf) -1 and score 0. Pairs are added and compared as numbers are, so both rules are kept exactly: one
root, then as few forbidden arcs as possible, then the score. No large penalty reduces the precision of the scores.

Ties: the smallest head; of arcs from the same head into a cycle, the smallest modifier. Paths start from the words in
order. With several best trees this determines which one is found; it need not be the first in any order of trees.

On lists of arcs, for candidate heads, a node has only the arcs of its words. If the root may have one child and has
more, everything is repeated, and an arc of the root is the best one into a node only if there is no other. No cycle
contains such an arc, so none gains from it. Ties: the first arc of the words in the order in which they joined a node,
and of one word the smallest head.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import borrowing, kernel

__all__ = ["best_tree_of_arcs", "chu_liu_edmonds", "is_tree_of"]

EXCLUDED = -(2**40)  # the level of arcs inside a node


@kernel
def chu_liu_edmonds(scores, n, one_root, heads):
    """Write the heads of the best tree of n words into heads[:n], with exactly one child of the root if `one_root`.

    Arcs of -inf are used only if there is no tree without them, and then as few as possible.
    """
    tree = greedy(scores, n, heads)
    several = one_root and children_of_root(n, heads) > 1
    if several or not tree:
        # most trees have one child anyway, and without the rule there is less to contract; the rule is always a
        # variable, since Numba would compile `contract` again for each constant
        contract(scores, n, several, heads)
        if one_root and children_of_root(n, heads) > 1:
            contract(scores, n, one_root, heads)


@kernel
def children_of_root(n, heads):
    count = 0
    for k in range(n):
        count += heads[k] == 0
    return count


@kernel
def greedy(scores, n, heads):
    """Write the best head of each word; return whether they are a tree, which is then the best one."""
    best = np.empty(n + 1)
    head = np.zeros(n + 1, np.int64)
    for m in range(1, n + 1):
        best[m] = scores[0, m]
    for h in range(1, n + 1):
        for m in range(1, h):
            better = scores[h, m] > best[m]
            best[m] = scores[h, m] if better else best[m]
            head[m] = h if better else head[m]
        for m in range(h + 1, n + 1):
            better = scores[h, m] > best[m]
            best[m] = scores[h, m] if better else best[m]
            head[m] = h if better else head[m]
    for m in range(1, n + 1):
        heads[m - 1] = head[m]
    seen = np.zeros(n + 1, np.int64)
    for start in range(1, n + 1):
        m = start
        while m > 0 and seen[m] == 0:
            seen[m] = start
            m = head[m]
        if m > 0 and seen[m] == start:
            return False
    return True


@kernel
def contract(scores, n, one_root, heads):
    """Write the heads of the best tree, found by contraction.

    Row r of `value`, `level` and `entry` belongs to a node made of one word or more: what the arc from h into it is
    worth, and which word it enters. `row[h]` is the row of the node that h is part of.
    """
    value = np.empty((n + 1, n + 1))
    level = np.zeros((n + 1, n + 1), np.int64)
    entry = np.empty((n + 1, n + 1), np.int64)
    for m in range(1, n + 1):
        for h in range(n + 1):
            entry[m, h] = m
            value[m, h] = scores[h, m]
            if value[m, h] == -np.inf:
                value[m, h], level[m, h] = 0.0, -1
        if one_root:
            level[m, 0] -= n + 1
        value[m, m], level[m, m] = 0.0, EXCLUDED
    row = np.arange(n + 1)
    # nodes are numbered in the order they are made, words first; made[r] is the node of row r
    made = np.arange(n + 1)
    nodes = n + 1
    parent, head, modifier = np.zeros((3, 2 * n + 1), np.int64)
    best_value, best_level = np.zeros(n + 1), np.zeros(n + 1, np.int64)
    path = np.empty(n + 1, np.int64)
    place = np.full(n + 1, -1)  # of a row in the path
    done = np.zeros(n + 1, np.bool_)
    done[0] = True
    for start in range(1, n + 1):
        if done[row[start]]:
            continue
        length = np.int64(0)  # no constant, as above
        r = start
        while not done[r]:
            if place[r] >= 0:
                first = place[r]
                merge(
                    n, path, first, length, place, row, value, level, entry, best_value, best_level, made, parent, nodes
                )
                nodes += 1
                length = first
            path[length], place[r] = r, length
            length += 1
            h = best_head(n, r, value, level)
            best_value[r], best_level[r] = value[r, h], level[r, h]
            head[made[r]], modifier[made[r]] = h, entry[r, h]
            r = row[h]
        for p in range(length):
            done[path[p]], place[path[p]] = True, -1
    replaced = np.zeros(nodes, np.bool_)
    for node in range(nodes - 1, 0, -1):
        if not replaced[node]:
            m = modifier[node]
            heads[m - 1] = head[node]
            while m != node:
                replaced[m] = True
                m = parent[m]


@kernel
def best_head(n, r, value, level):
    """The first head of the best arc into row r."""
    best, x, y = 0, value[r, 0], level[r, 0]
    for h in range(1, n + 1):
        better = (level[r, h] > y) | ((level[r, h] == y) & (value[r, h] > x))
        best, x, y = (h, value[r, h], level[r, h]) if better else (best, x, y)
    return best


@kernel
def merge(n, path, first, last, place, row, value, level, entry, best_value, best_level, made, parent, node):
    """Make one node, with the number `node`, of the cycle path[first:last]: it has the row of the cycle's first."""
    r = path[first]
    less_x, less_y = best_value[r], best_level[r]
    for h in range(n + 1):
        value[r, h] -= less_x
        level[r, h] -= less_y
    parent[made[r]], made[r] = node, node
    for p in range(first + 1, last):
        c = path[p]
        less_x, less_y = best_value[c], best_level[c]
        for h in range(n + 1):
            x, y = value[c, h] - less_x, level[c, h] - less_y
            better = (x > value[r, h]) | ((x == value[r, h]) & (entry[c, h] < entry[r, h]))
            better = (y > level[r, h]) | ((y == level[r, h]) & better)
            value[r, h] = x if better else value[r, h]
            level[r, h] = y if better else level[r, h]
            entry[r, h] = entry[c, h] if better else entry[r, h]
        parent[made[c]] = node
    for h in range(1, n + 1):
        if place[row[h]] >= first:
            row[h] = r
            value[r, h], level[r, h] = 0.0, EXCLUDED
    for p in range(first, last):
        place[path[p]] = -1


# ---------------------------------------------------------------- lists of arcs


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
        if not contract_lists(parts, n, turn > 0, alive, weights, heads):
            return -np.inf, greedy
        total, roots = 0.0, 0
        for m in range(1, n + 1):
            total += weights[parts.arc[heads[m - 1], m]]
            roots += heads[m - 1] == 0
        if roots == 1 or not one_root:
            return total, greedy
    return -np.inf, greedy


@kernel
def contract_lists(parts, n, strict, alive, weights, heads):
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
