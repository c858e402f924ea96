"""Hill climbing: a tree is improved by giving one word another head as long as the score grows.

A change of the head of m changes the parts of m, those of its children as grandchildren, and two chains. Words are
tried in turn, each with its candidates in order, and the first change that is better is made. At the end no single
change makes a better tree.
"""

from __future__ import annotations

from swvp.compiled import borrowing, inlined, inner
from swvp.structures.tree.second_order.parts import grandparent, siblings

__all__ = ["hill_climb"]


@borrowing
def hill_climb(parts, n, one_root, heads):
    """Improve the tree heads[:n] by changes of one head while that is possible; return the total gain."""
    gain, idle, m = 0.0, 0, 0
    while idle < n:
        m = m % n + 1
        idle += 1
        old = heads[m - 1]
        if one_root and old == 0:
            continue
        for a in range(parts.arcs[m], parts.arcs[m + 1]):
            h = parts.heads[a]
            if h == old or (one_root and h == 0) or is_below(heads, h, m):
                continue
            c, d = 2 * old + (m > old), 2 * h + (m > h)
            before = around(parts, n, heads, m, c, d)
            heads[m - 1] = h
            change = around(parts, n, heads, m, c, d) - before
            if change > 1e-9 * (1.0 + abs(before)):
                gain += change
                old, idle = h, 0
            else:
                heads[m - 1] = old
    return gain


@inlined
def is_below(heads, h, m):
    while h > 0 and h != m:
        h = heads[h - 1]
    return h == m


@inner
def around(parts, n, heads, m, c, d):
    """The score of the parts that depend on the head of m, which is in chain c or d."""
    h = heads[m - 1]
    b = parts.arc[h, m]
    total = parts.arc_scores[b] + chain_score(parts, heads, c)
    if d != c:
        total += chain_score(parts, heads, d)
    if h > 0:
        total += parts.grandparent_scores[grandparent(parts, b, parts.arc[heads[h - 1], h])]
    for p in range(parts.chains[2 * m], parts.chains[2 * m + 2]):
        a = parts.chain[p]
        if heads[parts.modifiers[a] - 1] == m:
            total += parts.grandparent_scores[grandparent(parts, a, b)]
    return total


@inlined
def chain_score(parts, heads, c):
    total, before, k = 0.0, 0, parts.chains[c + 1] - parts.chains[c]
    for j in range(1, k + 1):
        if heads[parts.modifiers[parts.chain[parts.chains[c] + j - 1]] - 1] == c // 2:
            total += parts.sibling_scores[siblings(parts, c, before, j)]
            before = j
    return total + parts.sibling_scores[siblings(parts, c, before, k + 1)]
