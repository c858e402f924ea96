"""The linear chain of taggers with many labels: weights of few labels for each attribute, few labels at each position.

φ(x, y) counts the features (a, y_i), with the value of the attribute a, and (y_{i-1}, y_i). An attribute has features
for some labels only (`Rows`), so w is one vector:

    the labels of attribute 0, of attribute 1, … | (y', y), both with BOUNDARY

Prediction: the candidates of a position are the `most` labels with the best scores Σ_a value·w(a, y), in training with
costs, and there the gold label too. Among sequences of candidates the search is exact, so it is exact for
most = the number of labels; it takes `most` steps for each candidate instead of one for each label. If a constraint
allows no sequence of candidates, all labels are candidates. Ties go to the smaller label, as in `attributes`, whose
margins and transitions are used.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from swvp.compiled import borrowing, implement, inlined, inner, kernel
from swvp.structures import operations
from swvp.structures.chain import attributes as dense
from swvp.structures.chain import lattice
from swvp.structures.chain.attributes import (
    AttributeChain,
    add_move,
    compare,
    replaced_pairs,
    squares,
)
from swvp.structures.chain.lattice import difference_from_expectation, viterbi
from swvp.structures.chain.likelihood import position_scores
from swvp.structures.chain.rows import Rows
from swvp.structures.exact import averaged
from swvp.types import Floats, Ids, Int32s, Ints

__all__ = [
    "SparseChain",
    "SparseModel",
    "as_sparse",
    "candidates_of_positions",
    "new_sparse_model",
    "predict_sparse",
]


class SparseChain(NamedTuple):
    """The fields of `AttributeChain`, those of `Rows`, and the number of candidates."""

    attributes: Ids
    values: Floats
    starts: Ints
    y: Ids
    offsets: Ints
    costs: Floats
    importance: Floats
    row_starts: Ints
    row_labels: Ids
    most: int


class SparseModel(NamedTuple):
    """The weights and their averaging sums, the transitions as decoding uses them, and buffers for one prediction."""

    w: Floats  # of the pairs of `Rows`
    w_move: Floats  # (y', y), both with BOUNDARY
    moves: Floats  # w_move + barrier, updated with w_move
    delayed: Floats
    delayed_move: Floats
    predicted: Ids
    mixed: Ids
    node: Floats  # (position, label): Σ_a value·w(a, y) of the last prediction
    candidates: Int32s  # (position, r): labels
    counts: Int32s  # how many candidates a position has
    gold: Int32s  # which of them is the gold label
    scores: Floats  # (position, r): `node` of the candidates
    value: Floats
    back: Int32s


def as_sparse(chain: AttributeChain, rows: Rows, most: int) -> SparseChain:
    """A chain with the labels of its attributes, for at most so many candidates."""
    fields = {name: getattr(chain, name) for name in AttributeChain._fields}
    return SparseChain(**fields, row_starts=rows.starts, row_labels=rows.labels, most=most)


def new_sparse_model(rows: Rows, labels: int, positions: int, barrier: Floats) -> SparseModel:
    """A model with all weights 0, for sequences of at most `positions` positions."""
    moves, here = (labels + 1, labels + 1), (positions, labels)
    return SparseModel(
        w=np.zeros(len(rows.labels)),
        w_move=np.zeros(moves),
        moves=np.array(barrier, float),
        delayed=np.zeros(len(rows.labels)),
        delayed_move=np.zeros(moves),
        predicted=np.zeros(positions, np.uint32),
        mixed=np.zeros(positions, np.uint32),
        node=np.zeros(here),
        candidates=np.zeros(here, np.int32),
        counts=np.zeros(positions, np.int32),
        gold=np.zeros(positions, np.int32),
        scores=np.zeros(here),
        value=np.zeros(here),
        back=np.zeros(here, np.int32),
    )


implement(operations.longest, SparseChain)(dense.longest)
implement(operations.length, SparseChain)(dense.length)
implement(operations.labels, SparseChain)(dense.labels)
implement(operations.counts_features, SparseChain)(dense.counts_features)
implement(operations.reach, SparseChain)(dense.reach)
implement(operations.importance, SparseChain)(dense.importance)
implement(operations.margins, SparseChain)(dense.margins)
implement(operations.refresh, SparseModel)(dense.refresh)


@inlined
def place_of(problem, attribute, label):
    """The number of the weight of an attribute and a label, or -1 if they do not occur together."""
    first, last = problem.row_starts[attribute], problem.row_starts[attribute + 1]
    while first < last:
        middle = (first + last) >> 1
        if problem.row_labels[middle] < label:
            first = middle + 1
        else:
            last = middle
    if first < problem.row_starts[attribute + 1] and problem.row_labels[first] == label:
        return first
    return -1


@implement(position_scores, SparseChain)
@kernel
def score_positions(problem, first, n, w, node):
    """Write Σ_a value·w(a, y) of all labels of the positions first:first + n; for speed, full rows on their own."""
    for k in range(n):
        for y in range(node.shape[1]):
            node[k, y] = 0.0
        for p in range(problem.starts[first + k], problem.starts[first + k + 1]):
            a = problem.attributes[p]
            times = problem.values[p] if len(problem.values) else 1.0
            first_weight, last_weight = problem.row_starts[a], problem.row_starts[a + 1]
            if last_weight - first_weight == node.shape[1]:
                for y in range(node.shape[1]):
                    node[k, y] += times * w[first_weight + y]
            else:
                for q in range(first_weight, last_weight):
                    node[k, problem.row_labels[q]] += times * w[q]


# ---------------------------------------------------------------- candidates


@kernel
def choose_candidates(model, k, most, gold):
    """Write the `most` labels with the best scores at position k, and the gold one if it is not -1, in ascending order.

    Of labels with the same score, the smaller ones are chosen.
    """
    node, candidates = model.node, model.candidates
    labels, count = node.shape[1], 0
    for y in range(labels):
        if most >= labels:
            candidates[k, y] = y
            count += 1
            continue
        score = node[k, y]
        if count == most:
            if score <= node[k, candidates[k, most - 1]]:
                continue
            count -= 1
        r = count
        while r > 0 and node[k, candidates[k, r - 1]] < score:
            candidates[k, r] = candidates[k, r - 1]
            r -= 1
        candidates[k, r] = y
        count += 1
    if most < labels:
        missing = gold >= 0
        for r in range(count):
            missing &= candidates[k, r] != gold
        if missing:
            candidates[k, count] = gold
            count += 1
        for r in range(1, count):
            y, s = candidates[k, r], r
            while s > 0 and candidates[k, s - 1] > y:
                candidates[k, s] = candidates[k, s - 1]
                s -= 1
            candidates[k, s] = y
    model.counts[k], model.gold[k] = count, -1
    for r in range(count):
        model.scores[k, r] = node[k, candidates[k, r]]
        if candidates[k, r] == gold:
            model.gold[k] = r


@kernel
def search(problem, model, start, n, with_gold):
    """Write the best labels of n positions, whose scores are in `node`, to model.predicted."""
    most = problem.most
    while True:
        for k in range(n):
            choose_candidates(model, k, most, np.int64(problem.y[start + k]) if with_gold else -1)
        if viterbi(problem, model, start, n, np.inf, model.scores) > -np.inf or most >= model.node.shape[1]:
            break
        most = model.node.shape[1]
    for k in range(n):
        model.predicted[k] = model.candidates[k, model.predicted[k]]


@implement(lattice.candidates_at, SparseChain)
@inner
def candidates_at(problem, model, first, k):
    return np.int64(model.counts[k])


@implement(lattice.candidate, SparseChain)
@inner
def candidate(problem, model, first, k, r):
    return np.int64(model.candidates[k, r])


@implement(lattice.gold_candidate, SparseChain)
@inner
def gold_candidate(problem, model, first, k):
    return np.int64(model.gold[k])


@implement(lattice.pair_score, SparseChain)
@inner
def pair_score(problem, model, before, label):
    return model.moves[before, label]


@implement(lattice.pair_size, SparseChain)
@inner
def pair_size(problem):
    return 1


@implement(lattice.write_pair, SparseChain)
@inner
def write_pair(problem, model, before, label, amount, size, features, values):
    width = len(model.w_move)
    features[size] = len(model.w) + before % width * width + label % width
    values[size] = amount
    return size + 1


@implement(lattice.node_size, SparseChain)
@inner
def node_size(problem, t, label):
    return problem.starts[t + 1] - problem.starts[t]


@implement(lattice.write_node, SparseChain)
@inner
def write_node(problem, model, t, label, amount, size, features, values):
    for p in range(problem.starts[t], problem.starts[t + 1]):
        place = place_of(problem, problem.attributes[p], label)
        if place >= 0:
            features[size] = place
            values[size] = amount * problem.values[p] if len(problem.values) else amount
            size += 1
    return size


# ---------------------------------------------------------------- training


@implement(operations.find_mistakes, SparseChain)
@kernel
def find_mistakes(problem, model, i, wrong):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    score_positions(problem, start, n, model.w, model.node)
    if len(problem.costs):
        for k in range(n):
            for y in range(model.node.shape[1]):
                model.node[k, y] += problem.costs[problem.y[start + k], y]
    if n:
        search(problem, model, start, n, True)
    return compare(problem.y, start, n, model.predicted, model.mixed, wrong)


@implement(operations.direction, SparseChain)
@kernel
def direction(problem, model, i, starts, positions, sets, count, amounts):
    gold, predicted = problem.y, model.predicted
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    amount = replaced_pairs(n, starts, positions, sets, count, amounts)
    most = 4 * (n + 1) + 2 * (problem.starts[start + n] - problem.starts[start])
    features, values = np.empty(most, np.int64), np.empty(most)
    size = 0
    for k in range(n + 1):
        if amount[k, 0] == 0 and amount[k, 1] == 0 and amount[k, 2] == 0:
            continue
        y, z = (np.int64(gold[start + k]), np.int64(predicted[k])) if k < n else (-1, -1)
        y_previous = np.int64(gold[start + k - 1]) if k else -1
        z_previous = np.int64(predicted[k - 1]) if k else -1
        moved = amount[k, 0] + amount[k, 2]
        if moved != 0:
            size = write_node(problem, model, start + k, y, moved, size, features, values)
            size = write_node(problem, model, start + k, z, -moved, size, features, values)
        size = write_pair(problem, model, y_previous, y, moved + amount[k, 1], size, features, values)
        size = write_pair(problem, model, y_previous, z, -amount[k, 0], size, features, values)
        size = write_pair(problem, model, z_previous, y, -amount[k, 1], size, features, values)
        size = write_pair(problem, model, z_previous, z, -amount[k, 2], size, features, values)
    return size, features, values


@implement(operations.change, SparseModel)
@borrowing
def change(model, feature, amount, clock):
    if feature < len(model.w):
        model.w[feature] += amount
        model.delayed[feature] += amount * clock
    else:
        move, width = feature - len(model.w), len(model.w_move)
        add_move(model, move % width, move // width, amount, clock)


@implement(operations.add, SparseChain)
@kernel
def add(problem, model, i, starts, positions, sets, count, amounts, clock):
    size, features, values = direction(problem, model, i, starts, positions, sets, count, amounts)
    for p in range(size):
        change(model, features[p], values[p], clock)


@implement(operations.expected_difference, SparseChain)
@kernel
def expected_difference(problem, model, i):
    return difference_from_expectation(problem, model, i, model.scores)


@implement(operations.weights, SparseModel)
def weights(model: SparseModel) -> Floats:
    return np.concatenate([model.w, model.w_move.ravel()])


@implement(operations.norm, SparseModel)
def norm(model: SparseModel) -> float:
    return math.sqrt(squares(model.w, model.w_move))


@implement(operations.averaged_weights, SparseModel)
def averaged_weights(model: SparseModel, clock: float) -> Floats:
    return averaged(weights(model), np.concatenate([model.delayed, model.delayed_move.ravel()]), clock)


# ---------------------------------------------------------------- prediction


@kernel
def predict_sparse(problem: SparseChain, model: SparseModel, out: Ids) -> None:
    """Write the predictions for all sequences, one after the other."""
    for i in range(len(problem.offsets) - 1):
        start = problem.offsets[i]
        n = problem.offsets[i + 1] - start
        score_positions(problem, start, n, model.w, model.node)
        if n:
            search(problem, model, start, n, False)
        for k in range(n):
            out[start + k] = model.predicted[k]


@kernel
def candidates_of_positions(problem: SparseChain, model: SparseModel, out: Int32s) -> None:
    """Write the candidates of each position, and its gold label if the problem has any; -1 where there are fewer."""
    for i in range(len(problem.offsets) - 1):
        start = problem.offsets[i]
        n = problem.offsets[i + 1] - start
        score_positions(problem, start, n, model.w, model.node)
        for k in range(n):
            choose_candidates(model, k, problem.most, np.int64(problem.y[start + k]) if len(problem.y) else -1)
            for r in range(out.shape[1]):
                out[start + k, r] = model.candidates[k, r] if r < model.counts[k] else -1
