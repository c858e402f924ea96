"""The k best label sequences of a chain, and the k best outputs of an example for k-best MIRA.

V_i(y) of `attributes.viterbi` is the score of the best labels of the positions up to i with y at i, so the best
sequence that ends in given labels is known without a search. Every other sequence leaves a better one at one last
position: the labels after it are the same, the one at it differs, those before it are the best ones for it. Its score
is that of the better one less the loss at that position. So each sequence gives the ways to leave it, and the next
best is the best of all ways not yet used: O(n·L² + k·n·L), no sequence twice.

Equal scores are in the order of the labels from the last position backwards, smallest first, as `viterbi` chooses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import implement, kernel
from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain, compare, score_with_costs, viterbi
from swvp.types import Floats, Ids, Ints

__all__ = ["KBestBuffers", "best_outputs", "k_best", "keep", "new_k_best_buffers"]


class KBestBuffers(NamedTuple):
    """Buffers for `k_best` and its results, to be given as `*buffers`. Sequence j is paths[j, :n], with scores[j]."""

    value: Floats  # V_i(y)
    paths: Ids  # (k, positions)
    scores: Floats
    turns: Ints  # (k, 3): the better sequence, the position where it is left, the label there


def new_k_best_buffers(k: int, labels: int, positions: int) -> KBestBuffers:
    """Buffers for at most k sequences of at most `positions` positions."""
    return KBestBuffers(
        value=np.zeros((positions, labels)),
        paths=np.zeros((k, positions), np.uint32),
        scores=np.zeros(k),
        turns=np.zeros((k, 3), np.int64),
    )


@kernel
def k_best(n, node, moves, k, value, paths, scores, turns):
    """Write the k best label sequences for the n positions scored in `node`, best first, and their scores.

    Transitions of -inf are forbidden. Returns the number of sequences: fewer than k if fewer are allowed. A
    chain without positions has one, of score 0.
    """
    labels = node.shape[1]
    if k <= 0:
        return 0
    if n == 0:
        scores[0] = 0.0
        return 1
    viterbi(n, node, moves, value, paths[0], 0)
    last = paths[0, n - 1]
    scores[0] = value[n - 1, last] + moves[last, labels]
    if scores[0] == -np.inf:
        return 0
    turns[0, 0], turns[0, 1], turns[0, 2] = 0, n, labels
    # scores[:done] are final; scores[done:known] are the best ways to leave them, in order
    done, known = 0, 1
    while done < known:
        parent, turn, y = turns[done, 0], turns[done, 1], turns[done, 2]
        for t in range(turn + 1, n):
            paths[done, t] = paths[parent, t]
        if turn < n:
            paths[done, turn] = y
        for t in range(turn - 1, -1, -1):
            best = 0
            for z in range(1, labels):
                if value[t, z] + moves[z, y] > value[t, best] + moves[best, y]:
                    best = z
            paths[done, t] = best
            most = value[t, best] + moves[best, y]
            for z in range(labels):
                score = scores[done] - (most - (value[t, z] + moves[z, y]))
                if z != best and score > -np.inf and (known < k or score >= scores[known - 1]):
                    known = insert(n, done, t, z, score, k, known, paths, scores, turns)
            y = best
        done += 1
    return done


@kernel
def insert(n, parent, turn, y, score, k, known, paths, scores, turns):
    """Put a way to leave a sequence among the `known` ones, in order, and drop the last if they are more than k."""
    place = known
    while place - 1 > parent and score >= scores[place - 1]:  # the parent, the last final one, stays before it
        if score == scores[place - 1] and not precedes(n, parent, turn, y, place - 1, paths, turns):
            break
        place -= 1
    if place == k:
        return known
    for j in range(min(known, k - 1), place, -1):
        scores[j] = scores[j - 1]
        turns[j, 0], turns[j, 1], turns[j, 2] = turns[j - 1, 0], turns[j - 1, 1], turns[j - 1, 2]
    scores[place] = score
    turns[place, 0], turns[place, 1], turns[place, 2] = parent, turn, y
    return min(known + 1, k)


@kernel
def precedes(n, parent, turn, y, other, paths, turns):
    """Whether leaving `parent` at `turn` for y gives smaller labels, from the last position, than turn `other`.

    Neither of the two has the last labels of the other, so they differ before those that are not written yet.
    """
    for t in range(n - 1, -1, -1):
        a = np.int64(paths[parent, t]) if t > turn else y
        b = np.int64(paths[turns[other, 0], t]) if t > turns[other, 1] else turns[other, 2]
        if a != b:
            return a < b
    return False


@implement(operations.best_outputs, AttributeChain)
@kernel
def best_outputs(problem, model, i, k):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    paths, scores, turns = np.empty((k, n), np.uint32), np.empty(k), np.empty((k, 3), np.int64)
    score_with_costs(problem, model, start, n)
    number = k_best(n, model.node, model.moves, k, model.value, paths, scores, turns)
    return number, paths


@implement(operations.keep, AttributeChain)
@kernel
def keep(problem, model, i, outputs, r, wrong):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    for t in range(n):
        model.predicted[t] = outputs[r, t]
    return compare(problem.y, start, n, model.predicted, model.mixed, wrong)
