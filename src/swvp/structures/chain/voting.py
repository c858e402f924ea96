"""The kernels of a voted chain: which weights an update changed, and labels by the vote of all weight vectors.

See `swvp.learning.voting`. Weights are numbered as in `weights` of `swvp.structures.chain.attributes`. Each sentence
replays all vectors, but only for its own attributes and for the transitions, and is decoded again only if one of them
changed. With k vectors that is at most k Viterbi searches per sentence, and a visit to each recorded change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import kernel
from swvp.structures.chain.attributes import AttributeChain, AttributeModel, score_positions, viterbi
from swvp.types import Floats, Ids, Ints

__all__ = ["ChainVotes", "chain_votes", "changed_weights", "most_changes", "vote_all"]

NO_ROW = -1


class ChainVotes(NamedTuple):
    """Weight vectors that begin with 0: vector k sets weights starts[k]:starts[k + 1] and survived survived[k] rounds.

    The weight of (a, y) has the row a; that of the transition (y', y) has the row `attributes` + y'.
    """

    attributes: int
    starts: Ints
    rows: Ints
    columns: Ids
    values: Floats
    survived: Ints


def chain_votes(attributes: int, labels: int, starts: Ints, features: Ints, values: Floats, survived: Ints) -> Any:
    """Weight vectors whose changes are numbered as in `weights`, for `vote_all`."""
    emissions = attributes * labels
    moves = features >= emissions
    rows = np.where(moves, attributes + (features - emissions) // (labels + 1), features // labels)
    columns = np.where(moves, (features - emissions) % (labels + 1), features % labels).astype(np.uint32)
    return ChainVotes(attributes, starts, rows, columns, values, survived)


@kernel
def most_changes(problem: AttributeChain, labels: int) -> int:
    """The largest number of weights that change in an update on one sequence."""
    most = 0
    for i in range(len(problem.offsets) - 1):
        most = max(most, problem.starts[problem.offsets[i + 1]] - problem.starts[problem.offsets[i]])
    return most * labels + (labels + 1) ** 2


@kernel
def changed_weights(
    problem: AttributeChain,
    model: AttributeModel,
    i: int,
    seen: Floats,
    seen_move: Floats,
    features: Ints,
    values: Floats,
) -> int:
    """Write the weights of sequence i that differ from those seen before, and copy them there; return their number."""
    w, w_move = model.w, model.w_move
    labels = w.shape[1]
    size = 0
    for q in range(problem.starts[problem.offsets[i]], problem.starts[problem.offsets[i + 1]]):
        a = problem.attributes[q]
        for y in range(labels):
            if w[a, y] != seen[a, y]:
                seen[a, y] = w[a, y]
                features[size], values[size] = np.int64(a) * labels + y, w[a, y]
                size += 1
    for previous in range(labels + 1):
        for y in range(labels + 1):
            if w_move[previous, y] != seen_move[previous, y]:
                seen_move[previous, y] = w_move[previous, y]
                features[size], values[size] = w.size + previous * (labels + 1) + y, w_move[previous, y]
                size += 1
    return size


@kernel
def local_rows(problem, start, n, row_of, local, local_starts):
    """Number the attributes of one sequence from 0, in `row_of` and as `local`; return their number."""
    rows = 0
    first = problem.starts[start]
    for k in range(n + 1):
        local_starts[k] = problem.starts[start + k] - first
    for q in range(local_starts[n]):
        a = problem.attributes[first + q]
        if row_of[a] == NO_ROW:
            row_of[a] = rows
            rows += 1
        local[q] = row_of[a]
    return rows


@kernel
def apply_changes(votes, k, row_of, w, moves):
    """Apply the changes of vector k that matter for this sequence; return whether a row, and a transition, changed."""
    row_changed, move_changed = False, False
    for p in range(votes.starts[k], votes.starts[k + 1]):
        row = votes.rows[p]
        if row >= votes.attributes:
            previous = row - votes.attributes
            if moves[previous, votes.columns[p]] != -np.inf:
                moves[previous, votes.columns[p]] = votes.values[p]
                move_changed = True
        elif row_of[row] != NO_ROW:
            w[row_of[row], votes.columns[p]] = votes.values[p]
            row_changed = True
    return row_changed, move_changed


@kernel
def find_labels(known, count, predicted, n):
    """The number of a label sequence among the known ones, the latest first; `count` if it is new."""
    for c in range(count - 1, -1, -1):
        k = 0
        while k < n and known[c, k] == predicted[k]:
            k += 1
        if k == n:
            return c
    return count


@kernel
def vote_one(problem, votes, i, barrier, row_of, out):
    """Write the label of sequence i that has the most votes, the first of equals."""
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    labels = len(barrier) - 1
    first, last = problem.starts[start], problem.starts[start + n]
    local, local_starts = np.empty(last - first, np.uint32), np.empty(n + 1, np.int64)
    values = problem.values[first:last] if len(problem.values) else problem.values
    w = np.zeros((local_rows(problem, start, n, row_of, local, local_starts), labels))
    moves, node, value = barrier.copy(), np.empty((n, labels)), np.empty((n, labels))
    predicted = np.empty(n, np.uint32)
    known, counted = np.empty((4, n), np.uint32), np.zeros(4, np.int64)
    count, current, score, search = 0, 0, True, True
    for k in range(len(votes.survived)):
        row_changed, move_changed = apply_changes(votes, k, row_of, w, moves)
        score, search = score or row_changed, search or row_changed or move_changed
        if votes.survived[k] == 0:
            continue
        if search:
            if score:
                score_positions(local, values, local_starts, 0, n, w, node)
            viterbi(n, node, moves, value, predicted, 0)
            score, search = False, False
            current = find_labels(known, count, predicted, n)
            if current == count:
                if count == len(known):
                    known = np.concatenate((known, np.empty_like(known)))
                    counted = np.concatenate((counted, np.zeros_like(counted)))
                known[count] = predicted
                count += 1
        counted[current] += votes.survived[k]
    out[start : start + n] = known[counted[:count].argmax()]
    for q in range(first, last):
        row_of[problem.attributes[q]] = NO_ROW


@kernel
def vote_all(problem: AttributeChain, votes: ChainVotes, barrier: Floats, out: Ids) -> None:
    """Write the labels of all sequences that the weight vectors vote for."""
    row_of = np.full(votes.attributes, NO_ROW, np.int64)
    for i in range(len(problem.offsets) - 1):
        if problem.offsets[i + 1] > problem.offsets[i]:
            vote_one(problem, votes, i, barrier, row_of, out)
