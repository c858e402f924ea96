"""Owns beam search in chains of first and second order, and where it goes wrong (violation fixing).

A hypothesis is a prefix of labels, kept as its score, its last two labels and a back pointer. Hypotheses in the same
state (the last label, or the last two in second order) have the same future, so only the best of them is kept: a beam
that holds every state is exact search. Hypotheses that no allowed transitions lead to the end are left out, so the
beam never dies while the sequence has an allowed label at all; if it has none, every label is 0, as in exact search.

Ties go to the smallest label, from the last position backwards: of two prefixes in the same state, the one with the
smaller label before it; of two states, the one with the smaller last label, then the smaller label before it.

With inexact search y* may score below y, so that φ(x, y) - φ(x, y*) is no violation (Huang, Fayong & Guo 2012). A fix
cuts the example at a prefix where the search is wrong. Let z^t be the best hypothesis after t positions; its margin
is w·φ(y[1..t]) - w·φ(z^t), of the features up to position t, and the whole label with its end comes after t = n:

    none            the whole label, violated or not
    early           the first t at which y[1..t] is not in the beam, else the whole label
    max-violation   the t with the smallest margin; of equal ones the longest
    latest          the last t with a margin of at most 0

Only prefixes with z^t ≠ y[1..t] are looked at, so no update is empty. If y* ≠ y there is such a t with a margin of at
most 0: where y left the beam something at least as good took its place, and if it never left, y* won at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import inlined, kernel
from swvp.structures.chain.sequences import Ids
from swvp.structures.operations import Floats, Ints

__all__ = ["FIXES", "Beam", "new_beam", "search"]

FIXES = ("none", "early", "max-violation", "latest")
NONE, EARLY, MAX_VIOLATION, LATEST = range(len(FIXES))


class Beam(NamedTuple):
    """The hypotheses at one position, in the order of their states, and room for all that follow from them.

    Hypotheses with the same last label make a group, in first order all of them; cell (y, g) of the table is the
    best continuation of group g by y.
    """

    alive: Ids  # [r, y]: whether y can reach the end by r more labels
    score: Floats
    now: Ids  # the last label
    before: Ids  # the one before
    label: Ids  # [k, slot]: the last label at position k
    parent: Ints  # [k, slot]: the slot at position k - 1
    groups: Ids  # the last label of each group
    row: Floats
    row_parent: Ints
    table: Floats
    table_parent: Ints
    best: Ints  # the best cells, in decreasing order


def new_beam(labels: int, room: int, moves: Floats, order: int, width: int) -> Beam:
    """A beam of `width` hypotheses, or of as many as there are states; `moves` is -inf where not allowed."""
    width = min(width, labels**order)
    cells = labels * (min(width, labels) if order == 2 else 1) if width else 0
    return Beam(
        alive=alive(moves, room if width else 0),
        score=np.zeros(width),
        now=np.zeros(width, np.uint32),
        before=np.zeros(width, np.uint32),
        label=np.zeros((room, width), np.uint32),
        parent=np.zeros((room, width), np.int64),
        groups=np.zeros(labels, np.uint32),
        row=np.zeros(labels),
        row_parent=np.zeros(labels, np.int64),
        table=np.zeros(cells),
        table_parent=np.zeros(cells, np.int64),
        best=np.zeros(width, np.int64),
    )


def alive(moves: Floats, room: int) -> Ids:
    """[r, y]: 1 if the end can be reached from label y by r more labels and allowed transitions only."""
    open_to = moves > -np.inf
    table = np.ones((room, len(moves) - 1), np.uint32)
    reached: NDArray[np.bool_] = open_to[:-1, -1]
    for r in range(room):
        table[r] = reached
        following = np.logical_or.reduce(open_to[:-1, :-1] & reached, axis=1)
        if (following == reached).all():
            table[r:] = reached
            break
        reached = following
    return table


@inlined
def expand(k, n, size, node, moves, triples, beam):
    """Write the best continuation of each group by each label into the table; return the number of groups."""
    labels = node.shape[1]
    second = triples.shape[0] > 0
    groups = 1
    for slot in range(1, size):
        groups += second and beam.now[slot] != beam.now[slot - 1]
    slot = 0
    for g in range(groups):
        beam.groups[g] = beam.now[slot]
        for y in range(labels):
            beam.row[y] = -np.inf
        while slot < size and (not second or beam.now[slot] == beam.groups[g]):
            score, previous, older = beam.score[slot], beam.now[slot], beam.before[slot]
            for y in range(labels):
                step = moves[previous, y] + triples[older, previous, y] if second else moves[previous, y]
                better = score + step > beam.row[y]
                beam.row[y] = score + step if better else beam.row[y]
                beam.row_parent[y] = slot if better else beam.row_parent[y]
            slot += 1
        for y in range(labels):
            beam.table[y * groups + g] = beam.row[y] + node[k, y] if beam.alive[n - 1 - k, y] else -np.inf
            beam.table_parent[y * groups + g] = beam.row_parent[y]
    return groups


@inlined
def lowest_kept(cells, beam):
    """The score of the worst cell that the beam can hold, and its number: of equal ones, those up to it are kept."""
    table, best, width = beam.table, beam.best, len(beam.score)
    if cells <= width:
        return -np.inf, -1
    count = 0
    lowest = -np.inf
    for c in range(cells):
        if table[c] <= lowest:
            continue
        p = min(count, width - 1)
        count = p + 1
        while p > 0 and table[best[p - 1]] < table[c]:
            best[p] = best[p - 1]
            p -= 1
        best[p] = c
        if count == width:
            lowest = table[best[width - 1]]
    return (lowest, best[width - 1]) if count == width else (-np.inf, np.int64(-1))


@inlined
def select(k, groups, labels, beam, gold_slot, gold_label):
    """Keep the best cells as hypotheses: returns how many, which is the best, and which is y[1..k + 1] (or -1)."""
    lowest, last = lowest_kept(labels * groups, beam)
    size, best, found = 0, 0, -1
    for y in range(labels):
        for g in range(groups):
            c = y * groups + g
            score = beam.table[c]
            if score > lowest or (score == lowest and c <= last):
                beam.score[size] = score
                beam.now[size] = y
                beam.before[size] = beam.groups[g]
                beam.label[k, size] = y
                beam.parent[k, size] = beam.table_parent[c]
                if score > beam.score[best]:
                    best = size
                if beam.table_parent[c] == gold_slot and y == gold_label:
                    found = size
                size += 1
    return size, best, found


@inlined
def step_score(moves, triples, older, previous, label):
    score = moves[previous, label]
    if triples.shape[0] > 0:
        score += triples[older, previous, label]
    return score


@inlined
def write_path(beam, t, slot, predicted, at):
    for k in range(t - 1, -1, -1):
        predicted[at + k] = beam.label[k, slot]
        slot = beam.parent[k, slot]


@kernel
def search(n, node, moves, triples, beam, gold, start, fix, predicted, at):
    """Search the n ≥ 1 positions scored in `node`; write z^t of the fix, t labels, into predicted[at:at + t].

    The gold labels gold[start:start + n] are read only if there is a fix. Returns t, or n + 1 for the whole label.
    """
    labels = node.shape[1]
    BOUNDARY = np.uint32(labels)
    beam.score[0], beam.now[0], beam.before[0] = 0.0, BOUNDARY, BOUNDARY
    size, gold_slot, gold_label = 1, 0 if fix else -1, BOUNDARY
    gold_score, previous, older = 0.0, BOUNDARY, BOUNDARY
    t, best_slot, lowest = n + 1, 0, np.inf
    for k in range(n):
        if fix:
            gold_label = gold[start + k]
        groups = expand(k, n, size, node, moves, triples, beam)
        size, best, gold_slot = select(k, groups, labels, beam, gold_slot, gold_label)
        if size == 0:  # nothing is allowed
            for other in range(n):
                predicted[at + other] = 0
            return n + 1
        if fix:
            gold_score = gold_score + step_score(moves, triples, older, previous, gold_label) + node[k, gold_label]
            older, previous = previous, gold_label
            margin = gold_score - beam.score[best]
            if fix == EARLY and gold_slot < 0:
                write_path(beam, k + 1, best, predicted, at)
                return k + 1
            if gold_slot != best and margin <= (lowest if fix == MAX_VIOLATION else 0.0) and fix != EARLY:
                t, best_slot, lowest = k + 1, best, margin

    best, best_score = 0, -np.inf
    for slot in range(size):
        score = beam.score[slot] + step_score(moves, triples, beam.before[slot], beam.now[slot], BOUNDARY)
        if score > best_score:
            best, best_score = slot, score
    if fix in (MAX_VIOLATION, LATEST) and gold_slot != best:
        margin = gold_score + step_score(moves, triples, older, previous, BOUNDARY) - best_score
        if t <= n and margin > (
            lowest if fix == MAX_VIOLATION else 0.0
        ):  # the whole label is not the worst, or no violation
            write_path(beam, t, best_slot, predicted, at)
            return t
    write_path(beam, n, best, predicted, at)
    return n + 1
