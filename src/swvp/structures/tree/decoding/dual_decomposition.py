"""The best tree of second order, projective or not: dual decomposition, and branch and bound if that is not enough.

Each arc has three copies: one in a tree of first order, one in the automaton of its head, as a child, and one in the
automaton of its modifier, as the arc into it. Their weights add up to the score of the arc. Each problem is solved by
itself. The sum of their values is the dual, an upper bound for the score of any tree. If the copies agree, they are the
best tree. Else the weights of the copies in a solution decrease and those of the others increase: a subgradient step of
Polyak's length, (dual - score of the best tree so far) / (sum of squares of the step).

The best tree so far is at first the best one for the arcs alone, and then any tree met on the way: the one of the tree
problem, or the arcs that the automata choose for their heads if these are a tree; each improved by `hill_climb`. After
LATE iterations the best projective tree is tried too: in long sentences it is often the best of all.

An arc dies if it cannot be in a better tree: its value, in the automaton of its modifier and in the tree problem, is so
far below the best that the dual would fall to the score of the best tree. Soon few arcs are alive. If the dual stops
decreasing, the relaxation has a gap, and the search branches: a word on which the copies often disagreed is given one
of its arcs, and its others die. When that branch has nothing better, they come alive again and that one arc dies. If
each word has one arc left, these are tried as a tree, and the branch ends. When no branch is left, the best tree is
certain.

The automaton of word h chooses one arc b = (g, h) into h and any arcs from h to others, but none to g. Its value is the
weight of b, the weights and grandparent scores of the children, and the sibling scores of both sides. For each b a side
is a path over the ranks of its chain from START to STOP, found by Viterbi's algorithm. The root has no arc into it, and
at least one child, or exactly one. With k heads for each word and k arcs in a chain this takes O(k³).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import borrowing, inlined, inlined_source, inner
from swvp.structures.tree.decoding.chu_liu_edmonds import best_tree_of_arcs, is_tree_of
from swvp.structures.tree.decoding.eisner import ProjectiveBuffers, best_projective, new_projective_buffers
from swvp.structures.tree.decoding.hill_climbing import hill_climb
from swvp.structures.tree.second_order.parts import Candidates, grandparent, measure, score_heads, siblings
from swvp.types import Bools, Floats, Ints

__all__ = [
    "LONG",
    "Automata",
    "DualBuffers",
    "best_nonprojective",
    "new_automata",
    "new_dual_buffers",
    "rounds_for",
    "solve_automata",
]

TOLERANCE = 1e-8  # relative to the score
ALIVE = 1 << 30  # the depth at which no arc dies
LENGTH = 1.8  # of a step, in Polyak's
WAIT = 15  # steps within which the gap has to shrink
SHRINK = 0.8  # to this share, or the search branches
LATE = 20  # the iteration that looks for the best projective tree
LONG = 200  # words; the rounds of longer sentences are bounded by their work
MOST_WORK = 100_000_000  # of all rounds of a long sentence, in steps of automata
NOTHING, ONE, CHOICE = range(3)  # the arcs that words have left


class DualBuffers(NamedTuple):
    """Buffers for decoding one sentence, allocated once per thread.

    tree[a] is the weight of an arc in the tree problem. died[a] is the depth of the search at which an arc died,
    forced[d] the arc that is forced at depth d + 1, and disagreements[m] how often the copies disagreed on the head of
    m. `heads` is the tree of the tree problem, `automata_heads` are the heads that the automata choose.
    """

    automata: Automata
    tree: Floats
    died: Ints
    forced: Ints
    disagreements: Floats
    heads: Ints
    automata_heads: Ints
    spans: ProjectiveBuffers


def new_dual_buffers(candidates: Candidates, starts: Ints) -> DualBuffers:
    """Buffers for any of the sentences whose nodes are starts[i]:starts[i + 1]."""
    words, arcs, _, _ = (int(size) for size in measure(candidates, starts))
    return DualBuffers(
        automata=new_automata(words, arcs),
        tree=np.zeros(arcs),
        died=np.zeros(arcs, np.int64),
        forced=np.zeros(words + 1, np.int64),
        disagreements=np.zeros(words + 1),
        heads=np.zeros(words, np.int64),
        automata_heads=np.zeros(words, np.int64),
        spans=new_projective_buffers(candidates, starts),
    )


@inner
def rounds_for(parts, n, most):
    """The number of iterations for a sentence of n words: `most`, or fewer if it is long.

    The work is counted in pairs of arcs of one chain, for each arc into its head, which is what an automaton visits.
    """
    if n <= LONG:
        return most
    work = 1
    for c in range(2 * n + 2):
        k, h = parts.chains[c + 1] - parts.chains[c], c // 2
        work += k * k * max(1, parts.arcs[h + 1] - parts.arcs[h])
    return min(most, MOST_WORK // work)


@inlined_source
def best_nonprojective(parts, n, one_root, most, buffers, heads):
    """Write the best tree of n words into heads[:n], with one child of the root if `one_root`.

    Returns whether it is certainly the best one, which it need not be after `most` iterations, their number, and its
    score: -inf if the candidates allow no tree. It is never worse than the best tree of the arcs alone or, from LATE
    iterations on, than the best projective one.
    """
    set_up(parts, n, buffers)
    score, small, least, aim = -np.inf, 0.0, np.inf, np.inf
    depth, steps = np.int64(0), 0  # not a constant, for which Numba would compile again
    both = False
    settled = False  # each word has one arc
    dual = np.inf
    for iteration in range(most + 1):
        tree_value, greedy = best_tree_of_arcs(parts, n, one_root, buffers.automata.alive, buffers.tree, buffers.heads)
        done = tree_value == -np.inf
        if iteration == 0:
            if done:
                return False, 0, tree_value
            score = try_trees(parts, n, one_root, buffers, both, score, heads)
            share(parts, n, buffers)
            continue
        if not done:
            if not settled:
                dual = tree_value + solve_automata(parts, n, one_root, buffers.automata)
                if iteration == LATE:
                    both = best_projective(parts, n, one_root, buffers.spans, buffers.automata_heads) > -np.inf
                else:
                    both = read_automata_heads(parts, n, one_root, buffers)
            score = try_trees(parts, n, one_root, buffers, both, score, heads)
            small = TOLERANCE * (1.0 + abs(score))
            done = settled or dual - score <= small
            if not done:
                left = kill(parts, n, buffers, depth, dual - score - small, tree_value, greedy)
                done, settled = left == NOTHING, left == ONE
                if settled:
                    continue
        if done:
            settled = False
            if depth == 0:
                return True, iteration, score
            depth -= 1
            revive(parts, n, buffers, depth)
            steps, aim, least = 0, np.inf, np.inf
            continue
        least, steps = min(least, dual), steps + 1
        if steps >= WAIT:
            if least - score > aim:
                branch(parts, n, buffers, heads, depth)
                depth += 1
                steps, aim, least = 0, np.inf, np.inf
                continue
            steps, aim = 0, SHRINK * (least - score)
        move(parts, n, buffers, LENGTH * (dual - score))
    return False, most, score


@inlined_source
def set_up(parts, n, buffers):
    """Make all arcs alive and give the tree problem their scores: its first tree is the best one for the arcs alone."""
    for h in range(n + 1):
        buffers.disagreements[h] = 0.0
    for a in range(parts.arcs[n + 1]):
        buffers.automata.alive[a], buffers.died[a] = True, ALIVE
        buffers.tree[a] = parts.arc_scores[a]


@inlined_source
def share(parts, n, buffers):
    """Give each copy of an arc an equal share of its score."""
    for h in range(n + 1):
        buffers.automata.stale[h] = True
    for a in range(parts.arcs[n + 1]):
        weight = parts.arc_scores[a] / 3.0
        buffers.automata.child[a] = buffers.automata.into[a] = weight
        buffers.tree[a] = weight


@inlined_source
def read_automata_heads(parts, n, one_root, buffers):
    """Write the heads that the automata choose; return whether they are a tree."""
    for m in range(1, n + 1):
        buffers.automata_heads[m - 1] = parts.heads[buffers.automata.head_arc[m]]
    return is_tree_of(n, buffers.automata_heads, one_root)


@inner
def try_trees(parts, n, one_root, buffers, both, score, heads):
    """Replace `heads` by a better tree, that of the tree problem or, if `both`, of the automata; return its score."""
    for turn in range(2 if both else 1):
        tree = buffers.automata_heads if turn else buffers.heads
        x = score_heads(parts, n, tree)
        if x > score:
            for k in range(n):
                heads[k] = tree[k]
            score = x + hill_climb(parts, n, one_root, heads)
    return score


@inlined_source
def kill(parts, n, buffers, depth, gap, tree_value, greedy):
    """Let arcs die that no better tree has, since the dual would fall by `gap`; return what words have left.

    If a word has no arc left there is no better tree. The value of the tree problem falls at least by the loss of the
    word, less the difference between the sum of the best arcs and the best tree.
    """
    automata, tree = buffers.automata, buffers.tree
    most = ONE
    for m in range(1, n + 1):
        best = -np.inf
        for a in range(parts.arcs[m], parts.arcs[m + 1]):
            if automata.alive[a]:
                best = max(best, tree[a])
        left = 0
        for a in range(parts.arcs[m], parts.arcs[m + 1]):
            if automata.alive[a]:
                loss = max(0.0, best - tree[a] - (greedy - tree_value))
                if automata.value[m] - automata.enter[a] + loss >= gap:
                    die(parts, buffers, a, depth)
                else:
                    left += 1
        if left == 0:
            return NOTHING
        if left > 1:
            most = CHOICE
    return most


@inlined
def die(parts, buffers, a, depth):
    automata = buffers.automata
    h, m = parts.heads[a], parts.modifiers[a]
    automata.alive[a], buffers.died[a] = False, depth
    automata.stale[m] |= automata.head_arc[m] == a
    automata.stale[h] |= automata.chosen[a]
    automata.chosen[a] = False


@inlined_source
def branch(parts, n, buffers, heads, depth):
    """Choose a word with many disagreements and an arc into it, if possible that of the best tree; its others die."""
    automata = buffers.automata
    word, most = 0, -1.0
    for m in range(1, n + 1):
        left = 0
        for a in range(parts.arcs[m], parts.arcs[m + 1]):
            left += automata.alive[a]
        if left > 1 and buffers.disagreements[m] > most:
            word, most = m, buffers.disagreements[m]
        buffers.disagreements[m] *= 0.5
    arc = parts.arc[heads[word - 1], word]
    if not automata.alive[arc]:
        arc = automata.head_arc[word]
    for a in range(parts.arcs[word], parts.arcs[word + 1]):
        if automata.alive[a] and a != arc:
            die(parts, buffers, a, depth + 1)
    buffers.forced[depth] = arc


@inlined_source
def revive(parts, n, buffers, depth):
    """Make arcs alive that died deeper; the one that was forced dies."""
    for a in range(parts.arcs[n + 1]):
        if not buffers.automata.alive[a] and buffers.died[a] > depth:
            h, m = parts.heads[a], parts.modifiers[a]
            buffers.automata.alive[a], buffers.died[a] = True, ALIVE
            buffers.automata.stale[h] = buffers.automata.stale[m] = True
    die(parts, buffers, buffers.forced[depth], depth)


@inlined_source
def move(parts, n, buffers, size):
    """Move the weights of copies that disagree: down where a copy is in its solution and up where not."""
    automata = buffers.automata
    changes = 0
    for turn in range(2):
        step = size / (changes * 2.0 / 3.0) if turn else 0.0
        for m in range(1, n + 1):
            for a in range(parts.arcs[m], parts.arcs[m + 1]):
                if not automata.alive[a]:
                    continue
                h = parts.heads[a]
                x, y, z = (
                    np.int64(automata.chosen[a]),
                    np.int64(automata.head_arc[m] == a),
                    np.int64(buffers.heads[m - 1] == h),
                )
                if not 0 < x + y + z < 3:
                    continue
                changes += 1
                if turn:
                    mean = (x + y + z) / 3.0
                    automata.child[a] -= step * (x - mean)
                    automata.into[a] -= step * (y - mean)
                    buffers.tree[a] -= step * (z - mean)
                    automata.stale[h] = automata.stale[m] = True
                    buffers.disagreements[m] += 1.0
        if changes == 0:
            return


# ---------------------------------------------------------------- head automata

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
