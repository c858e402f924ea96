"""The best projective tree of second order: siblings and grandparents over candidate heads.

The algorithm is Eisner's with Koo and Collins' (2010) change: each span of a head h also knows the arc b = (g, h)
into h, so that a child of h can be scored with its grandparent. The arc into the root is a dummy. With
C the complete spans, O the open ones, and the ranks of a chain as in `parts`:

    C(b, e)     h and all of its side up to e: the last child a of the side is chosen, and e is where a's own side ends
                C(b, e) = max_a O(b, a) + C(a, e) + siblings(a, STOP);  if e = h, siblings(START, STOP)
    O(b, a)     h, its child by arc a, and all between them: the child before a is chosen, START or an arc i
                O(b, a) = arc(a) + grandparent(b, a) + max {C(a, h ± 1) + siblings(START, a),
                                                            max_i O(b, i) + between(i, a) + siblings(i, a)}
    between     the outer side of i and the inner side of a meet at some e: max_e C(i, e) + C(a, e ± 1)

Spans are made from the narrowest to the widest, each side of each head in turn, only for arcs there are: with k heads
for each word that is O(k² n²), and O(n³) for the chain of the root if it may have several children. A span that would
hold g is never used. The way back looks for the maxima again, along one tree. Ties: the nearest child.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import inlined, inlined_source, inner
from swvp.structures.tree.second_order.parts import Candidates, grandparent, measure, siblings
from swvp.types import Floats, Ints

__all__ = ["ProjectiveBuffers", "best_projective", "new_projective_buffers"]

COMPLETE, OPEN = range(2)


class ProjectiveBuffers(NamedTuple):
    """The values of all spans of one sentence.

    complete[b, e] is C(b, e) of the left side, e ≤ h, and complete[b, e + 1] of the right side, h ≤ e; so where two
    sides meet both are in one column. opened and between are laid out as the parts of grandparents (with those of the
    root at the end) and siblings are. reached[c] counts the arcs of chain c within the present width.
    """

    complete: Floats
    opened: Floats
    between: Floats
    reached: Ints
    spans: Ints


def new_projective_buffers(candidates: Candidates, starts: Ints) -> ProjectiveBuffers:
    """Buffers for the spans of any of the sentences whose nodes are starts[i]:starts[i + 1]."""
    words, arcs, siblings, grandparents = (int(size) for size in measure(candidates, starts))
    return ProjectiveBuffers(
        complete=np.zeros((arcs + 1, words + 2)),
        opened=np.zeros(grandparents + arcs),
        between=np.zeros(siblings),
        reached=np.zeros(2 * words + 2, np.int64),
        spans=np.zeros((3 * words + 4, 3), np.int64),
    )


@inlined_source
def best_projective(parts, n, one_root, buffers, heads):
    """Write the best projective tree of n words into heads[:n], with one child of the root if `one_root`.

    Returns its score, or -inf if the candidates allow no such tree.
    """
    make_spans(parts, n, one_root, buffers)
    arcs = parts.arcs[n + 1]
    if buffers.complete[arcs, n + 1] == -np.inf:
        return -np.inf
    way_back(parts, n, one_root, buffers, heads)
    return buffers.complete[arcs, n + 1] + parts.sibling_scores[siblings(parts, 0, 0, 1)]


@inlined
def incoming(parts, n, h):
    """The arcs into h, from and to."""
    return (parts.arcs[h], parts.arcs[h + 1]) if h > 0 else (parts.arcs[n + 1], parts.arcs[n + 1] + 1)


@inlined
def place(parts, n, a, b):
    """Where O(b, a) is."""
    return grandparent(parts, a, b) if parts.heads[a] > 0 else parts.grandparents[parts.arcs[n + 1]] + a


@inlined
def holds(parts, h, b, e):
    """Whether a span from h to e has the head of b, the arc into h, inside."""
    if h == 0:
        return False
    g = parts.heads[b]
    return h < g <= e or e <= g < h


@inner
def make_spans(parts, n, one_root, buffers):
    complete, opened, reached = buffers.complete, buffers.opened, buffers.reached
    for b in range(parts.arcs[n + 1] + 1):
        for e in range(n + 2):
            complete[b, e] = -np.inf
    for c in range(2 * n + 2):
        reached[c] = 0
    for width in range(n + 1):
        for c in range(2 * n + 2):
            h, right = c // 2, c % 2
            e = h + width if right else h - width
            if e < 1 or e > n:
                continue
            first, k = parts.chains[c], parts.chains[c + 1] - parts.chains[c]
            if reached[c] < k and parts.modifiers[parts.chain[first + reached[c]]] == e:
                reached[c] += 1
                open_arc(parts, n, one_root, buffers, c, reached[c])
            if h == 0 and e < n:
                continue
            start, end = incoming(parts, n, h)
            for b in range(start, end):
                if holds(parts, h, b, e):
                    continue
                best = -np.inf if width > 0 else parts.sibling_scores[siblings(parts, c, 0, k + 1)]
                for i in range(1, reached[c] + 1):
                    a = parts.chain[first + i - 1]
                    x = opened[place(parts, n, a, b)] + complete[a, e + right]
                    best = max(best, x + parts.sibling_scores[siblings(parts, c, i, k + 1)])
                complete[b, e + right] = best


@inner
def open_arc(parts, n, one_root, buffers, c, j):
    """Find between(i, a) and then O(b, a) for the arc a of rank j in chain c."""
    complete, opened, between = buffers.complete, buffers.opened, buffers.between
    h, first = c // 2, parts.chains[c]
    a = parts.chain[first + j - 1]
    m = parts.modifiers[a]
    before = 1 if h > 0 or not one_root else j  # the first rank that may come before j
    for i in range(before, j):
        other = parts.chain[first + i - 1]
        s = parts.modifiers[other]
        best = -np.inf
        for e in range(min(m, s) + 1, max(m, s) + 1):
            best = max(best, complete[other, e] + complete[a, e])
        p = siblings(parts, c, i, j)
        between[p] = best + parts.sibling_scores[p]
    alone = complete[a, h + c % 2] + parts.sibling_scores[siblings(parts, c, 0, j)]
    start, end = incoming(parts, n, h)
    for b in range(start, end):
        best = -np.inf
        if not holds(parts, h, b, m):
            best = alone
            for i in range(before, j):
                x = opened[place(parts, n, parts.chain[first + i - 1], b)] + between[siblings(parts, c, i, j)]
                best = max(best, x)
            best += parts.arc_scores[a]
            if h > 0:
                best += parts.grandparent_scores[grandparent(parts, a, b)]
        opened[place(parts, n, a, b)] = best


@inner
def way_back(parts, n, one_root, buffers, heads):
    """Write the heads of the tree whose score is C of the root."""
    complete, opened, spans = buffers.complete, buffers.opened, buffers.spans
    arcs = parts.arcs[n + 1]
    spans[0, 0], spans[0, 1], spans[0, 2] = COMPLETE, arcs, n + 1
    left = 1
    while left:
        left -= 1
        kind, b = spans[left, 0], spans[left, 1]
        h = parts.modifiers[b] if b < arcs else 0
        if kind == COMPLETE:
            column = spans[left, 2]
            right = np.int64(column > h)
            if column == h + right:
                continue
            c, e = 2 * h + right, column - right
            first, k = parts.chains[c], parts.chains[c + 1] - parts.chains[c]
            best, chosen = -np.inf, 0
            for p in range(first, parts.chains[c + 1]):
                a = parts.chain[p]
                m = parts.modifiers[a]
                if (m > e) if right else (m < e):
                    break
                x = opened[place(parts, n, a, b)] + complete[a, column]
                x += parts.sibling_scores[siblings(parts, c, p - first + 1, k + 1)]
                if x > best:
                    best, chosen = x, a
            spans[left, 0], spans[left, 1], spans[left, 2] = OPEN, b, chosen
            spans[left + 1, 0], spans[left + 1, 1], spans[left + 1, 2] = COMPLETE, chosen, column
            left += 2
        else:
            a = spans[left, 2]
            m, j = parts.modifiers[a], parts.rank[a]
            heads[m - 1] = h
            c = 2 * h + (m > h)
            best = complete[a, h + c % 2] + parts.sibling_scores[siblings(parts, c, 0, j)]
            chosen = 0
            for i in range(1 if h > 0 or not one_root else j, j):
                x = opened[place(parts, n, parts.chain[parts.chains[c] + i - 1], b)]
                x += buffers.between[siblings(parts, c, i, j)]
                if x > best:
                    best, chosen = x, i
            if chosen == 0:
                spans[left, 0], spans[left, 1], spans[left, 2] = COMPLETE, a, h + c % 2
                left += 1
                continue
            other = parts.chain[parts.chains[c] + chosen - 1]
            s = parts.modifiers[other]
            best, meet = -np.inf, 0
            for e in range(min(m, s) + 1, max(m, s) + 1):
                if complete[other, e] + complete[a, e] > best:
                    best, meet = complete[other, e] + complete[a, e], e
            spans[left, 0], spans[left, 1], spans[left, 2] = OPEN, b, other
            spans[left + 1, 0], spans[left + 1, 1], spans[left + 1, 2] = COMPLETE, other, meet
            spans[left + 2, 0], spans[left + 2, 1], spans[left + 2, 2] = COMPLETE, a, meet
            left += 3
