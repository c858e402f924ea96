"""The best projective dependency tree: Eisner's algorithm, of first order, O(n³), and of second order.

scores[h, m] is the score of the arc from h to m; node 0 is the root. For the words s, …, t, s < t:

    joined(s, t) = max_{s ≤ k < t} right(s, k) + left(k + 1, t)                         both ends lack a head
    right(s, t)  = max_{s < k ≤ t} joined(s, k) + scores[s, k] + right(k, t)            s is the head of all
    left(s, t)   = max_{s ≤ k < t} left(s, k) + joined(k, t) + scores[t, k]             t is the head of all

and right(s, s) = left(s, s) = 0. The best tree has score right(0, n); if the root has one child, joined(0, t) allows
k = 0 only. As soon as a value with end k is known, it is added to all that need it, for all t at once: these loops are
over rows of arrays. The way back looks for the maxima again, along one tree.

Ties: the smallest k, from the widest span to the narrower ones.

Second order, with siblings and grandparents over candidate heads, needs Koo and Collins' (2010) change: each span of a
head h also knows the arc b = (g, h) into h, so that a child of h can be scored with its grandparent. The arc into the
root is a dummy. With C the complete spans, O the open ones, and the ranks of a chain as in `second_order.parts`:

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

from swvp.compiled import inlined, inlined_source, inner, kernel
from swvp.structures.tree.second_order.parts import Candidates, grandparent, measure, siblings
from swvp.types import Floats, Ints

__all__ = ["ProjectiveBuffers", "best_projective", "eisner", "eisner_allowed", "new_projective_buffers"]

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


# ---------------------------------------------------------------- second order

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
    way_back_of_parts(parts, n, one_root, buffers, heads)
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
def way_back_of_parts(parts, n, one_root, buffers, heads):
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
