"""Owns the best tree of second order, projective or not: dual decomposition, and a search where it leaves a doubt.

Each arc has three copies: one in a tree of first order, one in the automaton of its head, as a child, and one in the
automaton of its modifier, as the arc it comes by (see `automata`). Their weights add up to the score of the arc. All
problems are solved by themselves; the sum of their values is the dual, and no tree is better. If the copies agree, they
are the best tree. Else the weights of the copies that say yes sink and those of the others rise: a subgradient step of
Polyak's length, (dual - score of the best tree so far) / (sum of squares of the step).

The best tree so far is at first the best one of the arcs alone, and then any tree found on the way: the one of the tree
problem, or the arcs that the automata come by if they are a tree; each improved by `climb`. If these do not suffice
soon, the best projective tree is one more: in long sentences it is often the best of all, and hard to meet by chance.

An arc whose value, in the automaton of its modifier and in the tree problem, is so much less than the best that the
dual would fall to the score of the best tree cannot be in a better one, and dies: soon few are alive. If the dual no
longer sinks, the relaxation has a gap, and the search branches: a word about which the copies disagreed often takes one
of its arcs, its others die; when nothing better is left that way, they come alive again and that one arc dies. Where
each word has one arc left, these are tried as a tree, and nothing else is left that way. When nothing is left at all,
the best tree is certain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import inlined, inner, pasted
from swvp.structures.tree.decoding.head_automata import Automata, new_automata, solve_automata
from swvp.structures.tree.decoding.hill_climbing import climb
from swvp.structures.tree.decoding.second_order_eisner import ProjectiveRoom, best_projective, new_projective_room
from swvp.structures.tree.decoding.sparse_edmonds import best_tree_of_arcs, is_tree_of
from swvp.structures.tree.second_order.parts import Candidates, measure, score_heads
from swvp.types import Floats, Ints

__all__ = ["LONG", "DualRoom", "best_nonprojective", "new_dual_room", "rounds_for"]

TOLERANCE = 1e-8  # relative to the score
ALIVE = 1 << 30  # the depth at which no arc dies
LENGTH = 1.8  # of a step, in Polyak's
WAIT = 15  # steps within which the gap has to shrink
SHRINK = 0.8  # to this share, or the search branches
LATE = 20  # the iteration that looks for the best projective tree
LONG = 200  # words; the rounds of longer sentences are bounded by their work
MOST_WORK = 100_000_000  # of all rounds of a long sentence, in steps of automata
NOTHING, ONE, CHOICE = range(3)  # what words have left


class DualRoom(NamedTuple):
    """What one sentence needs.

    tree[a] is the weight of an arc in the tree problem. died[a] is the depth of the search at which an arc died,
    forced[d] the arc that depth d + 1 is about, and doubts[m] how often the copies disagreed about the head of m.
    `heads` is the tree of the tree problem, `came` are the heads that the automata come by.
    """

    automata: Automata
    tree: Floats
    died: Ints
    forced: Ints
    doubts: Floats
    heads: Ints
    came: Ints
    spans: ProjectiveRoom


def new_dual_room(candidates: Candidates, starts: Ints) -> DualRoom:
    """Room for any of the sentences whose nodes are starts[i]:starts[i + 1]."""
    words, arcs, _, _ = (int(size) for size in measure(candidates, starts))
    return DualRoom(
        automata=new_automata(words, arcs),
        tree=np.zeros(arcs),
        died=np.zeros(arcs, np.int64),
        forced=np.zeros(words + 1, np.int64),
        doubts=np.zeros(words + 1),
        heads=np.zeros(words, np.int64),
        came=np.zeros(words, np.int64),
        spans=new_projective_room(candidates, starts),
    )


@inner
def rounds_for(parts, n, most):
    """How many iterations the search for the tree of n words gets: `most`, or fewer if the sentence is long.

    A step is a pair of arcs of one chain, for one arc into its head: what an automaton looks at.
    """
    if n <= LONG:
        return most
    work = 1
    for c in range(2 * n + 2):
        k, h = parts.chains[c + 1] - parts.chains[c], c // 2
        work += k * k * max(1, parts.arcs[h + 1] - parts.arcs[h])
    return min(most, MOST_WORK // work)


@pasted
def best_nonprojective(parts, n, one_root, most, room, heads):
    """Write the best tree of n words into heads[:n], with one child of the root if `one_root`.

    Returns whether it is certainly the best one, which it need not be after `most` iterations, their number, and its
    score: -inf if the candidates allow no tree. It is never worse than the best tree of the arcs alone or, from LATE
    iterations on, than the best projective one.
    """
    set_up(parts, n, room)
    score, small, least, aim = -np.inf, 0.0, np.inf, np.inf
    depth, steps = np.int64(0), 0  # no constant: for each, Numba would compile anew what it is given to
    both = False
    settled = False  # each word has one arc
    dual = np.inf
    for iteration in range(most + 1):
        tree_value, greedy = best_tree_of_arcs(parts, n, one_root, room.automata.alive, room.tree, room.heads)
        done = tree_value == -np.inf
        if iteration == 0:
            if done:
                return False, 0, tree_value
            score = try_trees(parts, n, one_root, room, both, score, heads)
            share(parts, n, room)
            continue
        if not done:
            if not settled:
                dual = tree_value + solve_automata(parts, n, one_root, room.automata)
                if iteration == LATE:
                    both = best_projective(parts, n, one_root, room.spans, room.came) > -np.inf
                else:
                    both = came_by(parts, n, one_root, room)
            score = try_trees(parts, n, one_root, room, both, score, heads)
            small = TOLERANCE * (1.0 + abs(score))
            done = settled or dual - score <= small
            if not done:
                left = kill(parts, n, room, depth, dual - score - small, tree_value, greedy)
                done, settled = left == NOTHING, left == ONE
                if settled:
                    continue
        if done:
            settled = False
            if depth == 0:
                return True, iteration, score
            depth -= 1
            revive(parts, n, room, depth)
            steps, aim, least = 0, np.inf, np.inf
            continue
        least, steps = min(least, dual), steps + 1
        if steps >= WAIT:
            if least - score > aim:
                branch(parts, n, room, heads, depth)
                depth += 1
                steps, aim, least = 0, np.inf, np.inf
                continue
            steps, aim = 0, SHRINK * (least - score)
        move(parts, n, room, LENGTH * (dual - score))
    return False, most, score


@pasted
def set_up(parts, n, room):
    """All arcs are alive, and the tree problem has their scores: its first tree is the best one of the arcs alone."""
    for h in range(n + 1):
        room.doubts[h] = 0.0
    for a in range(parts.arcs[n + 1]):
        room.automata.alive[a], room.died[a] = True, ALIVE
        room.tree[a] = parts.arc_scores[a]


@pasted
def share(parts, n, room):
    """The copies of an arc get an equal part of its score each."""
    for h in range(n + 1):
        room.automata.stale[h] = True
    for a in range(parts.arcs[n + 1]):
        weight = parts.arc_scores[a] / 3.0
        room.automata.child[a] = room.automata.into[a] = weight
        room.tree[a] = weight


@pasted
def came_by(parts, n, one_root, room):
    """Write the heads that the automata come by; whether they are a tree."""
    for m in range(1, n + 1):
        room.came[m - 1] = parts.heads[room.automata.came[m]]
    return is_tree_of(n, room.came, one_root)


@inner
def try_trees(parts, n, one_root, room, both, score, heads):
    """Replace heads, of the given score, by a better tree: that of the tree problem or, if `both`, came. Its score."""
    for turn in range(2 if both else 1):
        tree = room.came if turn else room.heads
        x = score_heads(parts, n, tree)
        if x > score:
            for k in range(n):
                heads[k] = tree[k]
            score = x + climb(parts, n, one_root, heads)
    return score


@pasted
def kill(parts, n, room, depth, gap, tree_value, greedy):
    """Arcs die that no better tree has, since the dual would sink by `gap`. Returns what words have left.

    If one has no arc left there is no better tree. The tree problem sinks by what its best arcs for each word do, less
    what they are more than the best tree.
    """
    automata, tree = room.automata, room.tree
    most = ONE
    for m in range(1, n + 1):
        best = -np.inf
        for a in range(parts.arcs[m], parts.arcs[m + 1]):
            if automata.alive[a]:
                best = max(best, tree[a])
        left = 0
        for a in range(parts.arcs[m], parts.arcs[m + 1]):
            if automata.alive[a]:
                sinks = max(0.0, best - tree[a] - (greedy - tree_value))
                if automata.value[m] - automata.enter[a] + sinks >= gap:
                    die(parts, room, a, depth)
                else:
                    left += 1
        if left == 0:
            return NOTHING
        if left > 1:
            most = CHOICE
    return most


@inlined
def die(parts, room, a, depth):
    automata = room.automata
    h, m = parts.heads[a], parts.modifiers[a]
    automata.alive[a], room.died[a] = False, depth
    automata.stale[m] |= automata.came[m] == a
    automata.stale[h] |= automata.taken[a]
    automata.taken[a] = False


@pasted
def branch(parts, n, room, heads, depth):
    """Choose a word with many doubts and an arc into it, that of the best tree if it can; its others die."""
    automata = room.automata
    word, most = 0, -1.0
    for m in range(1, n + 1):
        left = 0
        for a in range(parts.arcs[m], parts.arcs[m + 1]):
            left += automata.alive[a]
        if left > 1 and room.doubts[m] > most:
            word, most = m, room.doubts[m]
        room.doubts[m] *= 0.5
    arc = parts.arc[heads[word - 1], word]
    if not automata.alive[arc]:
        arc = automata.came[word]
    for a in range(parts.arcs[word], parts.arcs[word + 1]):
        if automata.alive[a] and a != arc:
            die(parts, room, a, depth + 1)
    room.forced[depth] = arc


@pasted
def revive(parts, n, room, depth):
    """Arcs that died deeper come alive, but the one that was forced dies."""
    for a in range(parts.arcs[n + 1]):
        if not room.automata.alive[a] and room.died[a] > depth:
            h, m = parts.heads[a], parts.modifiers[a]
            room.automata.alive[a], room.died[a] = True, ALIVE
            room.automata.stale[h] = room.automata.stale[m] = True
    die(parts, room, room.forced[depth], depth)


@pasted
def move(parts, n, room, size):
    """Move the weights of copies that disagree: down where a copy is in its solution and up where not."""
    automata = room.automata
    changes = 0
    for turn in range(2):
        step = size / (changes * 2.0 / 3.0) if turn else 0.0
        for m in range(1, n + 1):
            for a in range(parts.arcs[m], parts.arcs[m + 1]):
                if not automata.alive[a]:
                    continue
                h = parts.heads[a]
                x, y, z = np.int64(automata.taken[a]), np.int64(automata.came[m] == a), np.int64(room.heads[m - 1] == h)
                if not 0 < x + y + z < 3:
                    continue
                changes += 1
                if turn:
                    mean = (x + y + z) / 3.0
                    automata.child[a] -= step * (x - mean)
                    automata.into[a] -= step * (y - mean)
                    room.tree[a] -= step * (z - mean)
                    automata.stale[h] = automata.stale[m] = True
                    room.doubts[m] += 1.0
        if changes == 0:
            return
