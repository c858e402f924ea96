"""Beam search in chains of first and second order, and where it goes wrong (violation fixing).

A hypothesis is a prefix of labels, stored as its score, its last two labels and a back pointer. Hypotheses in the same
state (the last label, or the last two in second order) have the same future, so only the best of them stays: a beam
that holds every state is exact search. Hypotheses that cannot reach the end by allowed transitions are dropped, so the
beam is never empty if the sequence has an allowed label. If it has none, every label is 0, as in exact search.

Ties go to the smallest label, from the last position backwards: of two prefixes in the same state, the one with the
smaller label before it; of two states, the one with the smaller last label, then the smaller label before it.

With inexact search y* may score below y, so that φ(x, y) - φ(x, y*) is not a violation (Huang, Fayong & Guo 2012). A
fix cuts the example at a prefix where the search is wrong. Let z^t be the best hypothesis after t positions; its margin
is w·φ(y[1..t]) - w·φ(z^t), of the features up to position t, and the whole label with its end comes after t = n:

    none            the whole label, violated or not
    early           the first t at which y[1..t] is not in the beam, else the whole label
    max-violation   the t with the smallest margin; of equal ones the longest
    latest          the last t with a margin of at most 0

Only prefixes with z^t ≠ y[1..t] are considered, so no update is empty. If y* ≠ y there is such a t with a margin of at
most 0: where y left the beam something at least as good took its place, and if it never left, y* won at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import inlined, inlined_with_arrays, kernel
from swvp.types import Bools, Floats, Ids, Ints

__all__ = ["FIXES", "Beam", "new_beam", "search"]

FIXES = ("none", "early", "max-violation", "latest")
NONE, EARLY, MAX_VIOLATION, LATEST = range(len(FIXES))


class Beam(NamedTuple):
    """The hypotheses at one position, in the order of their states, and buffers for their continuations.

    Hypotheses with the same last label make a group, in first order all of them; cell (y, g) of the table is the
    best continuation of group g by y.
    """

    alive: Ids  # [r, y]: whether y can reach the end by r more labels
    score: Floats
    now: Ids  # the last label
    before: Ids  # the one before; 0 in first order
    label: Ids  # [k, slot]: the last label at position k
    parent: Ints  # [k, slot]: the slot at position k - 1
    groups: Ids  # the last label of each group
    table: Floats  # [g * labels + y]
    table_parent: Ints
    best: Ints  # the best cells, in decreasing order


def new_beam(labels: int, positions: int, moves: Floats, order: int, width: int) -> Beam:
    """A beam of `width` hypotheses, or of as many as there are states; `moves` is -inf where not allowed."""
    width = min(width, labels**order)
    cells = labels * (min(width, labels) if order == 2 else 1) if width else 0
    return Beam(
        alive=alive(moves, positions if width else 0),
        score=np.zeros(width),
        now=np.zeros(width, np.uint32),
        before=np.zeros(width, np.uint32),
        label=np.zeros((positions, width), np.uint32),
        parent=np.zeros((positions, width), np.int64),
        groups=np.zeros(labels, np.uint32),
        table=np.zeros(cells),
        table_parent=np.zeros(cells, np.int64),
        best=np.zeros(width, np.int64),
    )


def alive(moves: Floats, positions: int) -> Ids:
    """[r, y]: 1 if the end can be reached from label y by r more labels and allowed transitions only."""
    open_to = moves > -np.inf
    table = np.ones((positions, len(moves) - 1), np.uint32)
    reached: Bools = open_to[:-1, -1]
    for r in range(positions):
        table[r] = reached
        following = np.logical_or.reduce(open_to[:-1, :-1] & reached, axis=1)
        if (following == reached).all():
            table[r:] = reached
            break
        reached = following
    return table


@inlined
def expand(k, n, size, node, steps, beam):
    """Write the best continuation of each group by each label into the table; return the number of groups."""
    labels = node.shape[1]
    first_order = len(steps) == 1
    groups = 1
    for slot in range(1, size):
        groups += not first_order and beam.now[slot] != beam.now[slot - 1]
    slot = 0
    for g in range(groups):
        beam.groups[g] = beam.now[slot]
        row = g * labels
        for y in range(labels):
            beam.table[row + y] = -np.inf
        while slot < size and (first_order or beam.now[slot] == beam.groups[g]):
            so_far, previous, older = beam.score[slot], beam.now[slot], beam.before[slot]
            for y in range(labels):
                score = so_far + steps[older, previous, y]
                better = score > beam.table[row + y]
                beam.table[row + y] = score if better else beam.table[row + y]
                beam.table_parent[row + y] = slot if better else beam.table_parent[row + y]
            slot += 1
        for y in range(labels):
            beam.table[row + y] += node[k, y] if beam.alive[n - 1 - k, y] else -np.inf
    return groups


@inlined
def lowest_in_beam(groups, labels, beam):
    """The score of the worst cell that the beam can hold, and its rank: of equal ones, those up to it stay.

    Cells rank by their last label, then by their group.
    """
    table, best, width = beam.table, beam.best, len(beam.score)
    if groups * labels <= width:
        return -np.inf, -1
    count = 0
    lowest = -np.inf
    for y in range(labels):
        for g in range(groups):
            c = g * labels + y
            if not table[c] > lowest:
                continue
            p = min(count, width - 1)
            count = p + 1
            while p > 0 and table[best[p - 1]] < table[c]:
                best[p] = best[p - 1]
                p -= 1
            best[p] = c
            if count == width:
                lowest = table[best[width - 1]]
    return lowest, best[width - 1] % labels * groups + best[width - 1] // labels


@inlined_with_arrays
def select(k, groups, labels, first_order, beam, gold_slot, gold_label):
    """Make the best cells the hypotheses; return their number, the best one, and that of y[1..k + 1] (or -1)."""
    lowest, last = lowest_in_beam(groups, labels, beam)
    size, best, gold = 0, 0, -1
    for y in range(labels):
        for g in range(groups):
            c = g * labels + y
            score, parent = beam.table[c], beam.table_parent[c]
            if score > lowest or (score == lowest and score > -np.inf and y * groups + g <= last):
                beam.score[size] = score
                beam.now[size] = beam.label[k, size] = y
                beam.before[size] = 0 if first_order else beam.groups[g]
                beam.parent[k, size] = parent
                if score > beam.score[best]:
                    best = size
                if parent == gold_slot and y == gold_label:
                    gold = size
                size += 1
    return size, best, gold


@kernel
def search(n, node, steps, beam, gold, start, fix, predicted, at):
    """Search the n ≥ 1 positions scored in `node`; write z^t of the fix, t labels, into predicted[at:at + t].

    steps[y'', y', y] scores a transition, -inf where it is not allowed; in first order y'' is 0. The gold labels
    gold[start:start + n] are read only if there is a fix. Returns t, or n + 1 for the whole label.
    """
    labels = node.shape[1]
    first_order = len(steps) == 1
    BOUNDARY = np.uint32(labels)
    older, previous, label = np.uint32(0) if first_order else BOUNDARY, BOUNDARY, BOUNDARY  # of the gold labels
    beam.score[0], beam.now[0], beam.before[0] = 0.0, previous, older
    size, best, gold_slot, gold_score = 1, 0, 0 if fix else -1, 0.0
    t, slot, lowest = n + 1, 0, np.inf if fix == MAX_VIOLATION else 0.0
    for k in range(n):
        if fix:
            label = gold[start + k]
        groups = expand(k, n, size, node, steps, beam)
        size, best, gold_slot = select(k, groups, labels, first_order, beam, gold_slot, label)
        if size == 0:  # nothing is allowed
            for other in range(n):
                predicted[at + other] = 0
            return n + 1
        if fix:
            gold_score = gold_score + steps[older, previous, label] + node[k, label]
            older, previous = np.uint32(0) if first_order else previous, label
            margin = gold_score - beam.score[best]
            if fix == EARLY:
                if gold_slot < 0:
                    t, slot = k + 1, best
                    break
            elif gold_slot != best and margin <= lowest:
                t, slot = k + 1, best
                lowest = margin if fix == MAX_VIOLATION else 0.0

    if t > n or fix != EARLY:
        best, best_score = 0, -np.inf
        for other in range(size):
            score = beam.score[other] + steps[beam.before[other], beam.now[other], BOUNDARY]
            if score > best_score:
                best, best_score = other, score
        # the whole label, unless another prefix is more violated or it is no violation at all
        if t > n or gold_slot == best or gold_score + steps[older, previous, BOUNDARY] - best_score <= lowest:
            t, slot = n + 1, best
    for k in range(min(t, n) - 1, -1, -1):
        predicted[at + k] = beam.label[k, slot]
        slot = beam.parent[k, slot]
    return t
