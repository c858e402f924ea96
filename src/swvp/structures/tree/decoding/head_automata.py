"""Head automata: the best children of one head, with its siblings and grandparents, for given weights of its arcs.

The automaton of word h chooses one arc b = (g, h) into h and any arcs from h to others, but none to g. Its value is the
weight of b, the weights and grandparent scores of the children, and the sibling scores of both sides. For each b a side
is a path over the ranks of its chain from START to STOP, found by Viterbi's algorithm. The root has no arc into it, and
at least one child, or exactly one. With k heads for each word and k arcs in a chain this takes O(k³).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import borrowing, inlined
from swvp.structures.tree.second_order.parts import grandparent, siblings
from swvp.types import Bools, Floats, Ints

__all__ = ["Automata", "new_automata", "solve_automata"]

NONE = -1  # the arc into the root


class Automata(NamedTuple):
    """The weights of arcs, for the automaton of the head and for that of the modifier, and what the automata choose.

    An arc that is not `alive` is not chosen. value[h] is the value of automaton h, head_arc[m] the arc into m that
    automaton m chose, and chosen[a] whether the automaton of its head chose arc a as a child. enter[a] is the value of
    the automaton of its modifier if it has to choose arc a. An automaton is `stale` if its weights changed, an arc that
    it chose died, or one came alive. If an arc dies that it did not choose, only `enter` may be too large.
    """

    child: Floats
    into: Floats
    alive: Bools
    value: Floats
    chosen: Bools
    head_arc: Ints
    enter: Floats
    stale: Bools
    forward: Floats
    back: Ints
    rank: Ints


def new_automata(words: int, arcs: int) -> Automata:
    """Buffers for sentences of at most `words` words and `arcs` arcs."""
    return Automata(
        child=np.zeros(arcs),
        into=np.zeros(arcs),
        alive=np.zeros(arcs, np.bool_),
        value=np.zeros(words + 1),
        chosen=np.zeros(arcs, np.bool_),
        head_arc=np.zeros(words + 1, np.int64),
        enter=np.zeros(arcs),
        stale=np.zeros(words + 1, np.bool_),
        forward=np.zeros(words + 1),
        back=np.zeros(words + 1, np.int64),
        rank=np.zeros(words + 1, np.int64),
    )


@borrowing
def solve_automata(parts, n, one_root, automata):
    """Write the best choices of the stale automata: value, enter, head_arc, chosen; return the sum of all values."""
    total = 0.0
    for h in range(n + 1):
        if automata.stale[h]:
            solve(parts, h, one_root and h == 0, automata)
            automata.stale[h] = False
        total += automata.value[h]
    return total


@inlined
def solve(parts, h, alone, automata):
    best, head_arc = -np.inf, NONE
    start, end = parts.arcs[h], parts.arcs[h + 1]
    for turn in range(start, end + 1):  # the last turn is for the path of the best, or for the root
        b = turn if turn < end else head_arc
        if turn < end and not automata.alive[b]:
            continue
        x = automata.into[b] if b >= 0 else 0.0
        for c in range(2 * h, 2 * h + 2):
            x += best_side(parts, c, b, alone, automata)
            if turn == end:
                read_path(parts, c, automata)
        if turn < end:
            automata.enter[b] = x
        if x > best:
            best, head_arc = x, b
    automata.value[h], automata.head_arc[h] = best, head_arc


@inlined
def best_side(parts, c, b, alone, automata):
    """The value of the best path through chain c if arc b leads to its head; with only one child if `alone`."""
    forward, back, scores = automata.forward, automata.back, parts.sibling_scores
    first, k = parts.chains[c], parts.chains[c + 1] - parts.chains[c]
    last = 0  # the place of the last arc that may be chosen; forward, back and rank are by place
    g = parts.heads[b] if b >= 0 else 0
    for p in range(first, first + k):
        a = parts.chain[p]
        if automata.alive[a] and parts.modifiers[a] != g:
            j = p - first + 1
            best, before = scores[siblings(parts, c, 0, j)], 0
            if not alone:
                for i in range(1, last + 1):
                    x = forward[i] + scores[siblings(parts, c, automata.rank[i], j)]
                    if x > best:
                        best, before = x, i
            best += automata.child[a]
            if b >= 0:
                best += parts.grandparent_scores[grandparent(parts, a, b)]
            last += 1
            forward[last], back[last], automata.rank[last] = best, before, j
    best, before = scores[siblings(parts, c, 0, k + 1)] if c != 1 else -np.inf, 0
    for i in range(1, last + 1):
        x = forward[i] + scores[siblings(parts, c, automata.rank[i], k + 1)]
        if x > best:
            best, before = x, i
    back[0] = before
    return best


@inlined
def read_path(parts, c, automata):
    """Write which arcs are on the path of `best_side`."""
    first = parts.chains[c]
    for p in range(first, parts.chains[c + 1]):
        automata.chosen[parts.chain[p]] = False
    i = automata.back[0]
    while i > 0:
        automata.chosen[parts.chain[first + automata.rank[i] - 1]] = True
        i = automata.back[i]
