"""Weights of taggers in training: an attribute has weights only for labels for which one has ever changed.

`GrowingModel` takes the place of `AttributeModel`, with the same predictions and updates in a fraction of the memory:
in CoNLL-2000 with 22 labels only a tenth of all pairs (attribute, label) ever change.

All weights are in one array, as are their labels, averaging sums and sums of squares. The weights of an attribute are a
row of it. A row has room for 4, 16, 64, … weights, up to half of the labels, or for all of them, and moves if it has no
more room. A row with room for all labels has them in their order; others have the labels in the order of their first
change. Rows that were left are used again. The array is as large as the rows could ever become, but memory that was
never written to takes none.

For prediction there are `WeightRows`, in the order of the attributes, with ascending labels.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from swvp.compiled import implement, inlined, inner, kernel
from swvp.structures import operations
from swvp.structures.chain import attributes as dense
from swvp.structures.chain.attributes import (
    AttributeChain,
    add_move,
    add_weight,
    number_of_weights,
    score,
    squares,
    viterbi,
)
from swvp.structures.chain.rows import FULL_FROM, WeightRows
from swvp.structures.exact import averaged
from swvp.types import Floats, Ids, Ints, Singles

__all__ = [
    "GrowingModel",
    "fill_in_order",
    "new_growing_model",
    "predict_with_rows",
    "rows_of_model",
    "weights_in_order",
]

FEWEST, TIMES = 4, 4
"""The room of the smallest row, and how many times larger the next larger row is."""


class GrowingModel(NamedTuple):
    """The fields of `AttributeModel`, with `w` and `delayed` by place, and where the weights of attributes are.

    The first places are those of the transitions, for the sums of squares.
    """

    w: Floats
    w_move: Floats  # (y', y), both with BOUNDARY
    moves: Floats  # w_move + barrier, updated with w_move
    delayed: Floats
    delayed_move: Floats
    squares: Singles  # of the step `ada`
    labels: Ids  # the label of each place; in a row that was left, at its first place, the next such row
    rows: Ids  # (attribute, 2): the first place of its row, and how many weights it has
    free: Ints  # the first row left, by room; at last the end of the places used
    predicted: Ids
    mixed: Ids
    node: Floats
    value: Floats


def rooms_of(labels: int) -> list[int]:
    """The rooms that rows may have, in ascending order."""
    rooms: list[int] = []
    while FEWEST * TIMES ** len(rooms) * 2 <= labels:
        rooms.append(FEWEST * TIMES ** len(rooms))
    return [*rooms, labels]


def new_growing_model(attributes: int, labels: int, positions: int, barrier: Floats) -> GrowingModel | None:
    """A model with all weights 0, for sequences of at most `positions` positions; None if it has too many places."""
    moves = (labels + 1, labels + 1)
    rooms = rooms_of(labels)
    places = (labels + 1) ** 2 + attributes * sum(rooms)
    if places >= 2**32:
        return None
    free = np.zeros(len(rooms) + 1, np.int64)
    free[-1] = (labels + 1) ** 2
    return GrowingModel(
        w=np.zeros(places),
        w_move=np.zeros(moves),
        moves=np.array(barrier, float),
        delayed=np.zeros(places),
        delayed_move=np.zeros(moves),
        squares=np.zeros(places, np.float32),
        labels=np.zeros(places, np.uint32),
        rows=np.zeros((attributes, 2), np.uint32),
        free=free,
        predicted=np.zeros(positions, np.uint32),
        mixed=np.zeros(positions, np.uint32),
        node=np.zeros((positions, labels)),
        value=np.zeros((positions, labels)),
    )


# ---------------------------------------------------------------- rows


@inner
def room_of(size, labels):
    """The room of a row of this size, and its number in `rooms_of`."""
    room, number = FEWEST, 0
    while room < size:
        room, number = room * TIMES, number + 1
    return (room, number) if 2 * room <= labels else (labels, number)


@inner
def find_place(model, attribute, label):
    """The place of a weight, or -1 if it has none."""
    first, size = np.int64(model.rows[attribute, 0]), np.int64(model.rows[attribute, 1])
    if size == model.node.shape[1]:
        return first + label
    for place in range(first, first + size):
        if model.labels[place] == label:
            return place
    return -1


@inner
def new_row(model, room, number):
    """The first place of a row with this room."""
    first = model.free[number]
    if first > 0:
        model.free[number] = np.int64(model.labels[first])
        return first
    first = model.free[len(model.free) - 1]
    model.free[len(model.free) - 1] += room
    return first


@kernel
def new_place(model, attribute, label):
    """The place of a weight that has none yet; its row moves if it has no more room."""
    labels = model.node.shape[1]
    first, size = np.int64(model.rows[attribute, 0]), np.int64(model.rows[attribute, 1])
    room, number = room_of(size + 1, labels)
    if size == 0 or room_of(size, labels)[0] != room:
        row = new_row(model, room, number)
        for k in range(room):
            model.labels[row + k] = k
            model.w[row + k], model.delayed[row + k], model.squares[row + k] = 0.0, 0.0, 0.0
        for k in range(size):
            old = first + k
            new = row + (np.int64(model.labels[old]) if room == labels else k)
            model.labels[new] = model.labels[old]
            model.w[new], model.delayed[new] = model.w[old], model.delayed[old]
            model.squares[new] = model.squares[old]
            model.w[old], model.delayed[old] = 0.0, 0.0
        if size > 0:
            left = room_of(size, labels)[1]
            model.labels[first] = model.free[left]
            model.free[left] = first
        first = row
        model.rows[attribute, 0] = row
    if room == labels:
        model.rows[attribute, 1] = labels
        return first + label
    model.rows[attribute, 1] = size + 1
    model.labels[first + size] = label
    return first + size


@inlined
def place_of(model, attribute, label):
    """The place of a weight, new if it has none."""
    place = find_place(model, attribute, label)
    return new_place(model, attribute, label) if place < 0 else place


# ---------------------------------------------------------------- operations


@implement(score, GrowingModel)
@kernel
def score_growing(model, problem, first, n):
    node, rows, labels, w = model.node, model.rows, model.labels, model.w
    every = node.shape[1]
    for k in range(n):
        for y in range(every):
            node[k, y] = 0.0
        for p in range(problem.starts[first + k], problem.starts[first + k + 1]):
            a = problem.attributes[p]
            times = problem.values[p] if len(problem.values) else 1.0
            begin, size = np.int64(rows[a, 0]), np.int64(rows[a, 1])
            if size == every:
                for y in range(every):
                    node[k, y] += times * w[begin + y]
            else:
                for q in range(begin, begin + size):
                    node[k, labels[q]] += times * w[q]


@implement(number_of_weights, GrowingModel)
@inner
def count_weights(model):
    return len(model.rows) * model.node.shape[1]


@implement(add_weight, GrowingModel)
@inner
def add_growing(model, attribute, label, amount, amount_delayed):
    place = place_of(model, np.int64(attribute), np.int64(label))
    model.w[place] += amount
    model.delayed[place] += amount_delayed


@implement(operations.change, GrowingModel)
@inner
def change(model, feature, amount, clock):
    labels = model.node.shape[1]
    move = feature - len(model.rows) * labels
    if move < 0:
        add_growing(model, feature // labels, feature % labels, amount, amount * clock)
    else:
        add_move(model, move % (labels + 1), move // (labels + 1), amount, clock)


@implement(operations.change_at, GrowingModel)
@inner
def change_at(model, place, feature, amount, clock):
    labels = model.node.shape[1]
    move = feature - len(model.rows) * labels
    if move < 0:
        model.w[place] += amount
        model.delayed[place] += amount * clock
    else:
        add_move(model, move % (labels + 1), move // (labels + 1), amount, clock)


@implement(operations.place, GrowingModel)
@inner
def place_of_feature(model, feature):
    labels = model.node.shape[1]
    move = feature - len(model.rows) * labels
    return move if move >= 0 else place_of(model, feature // labels, feature % labels)


@implement(operations.new_squares, GrowingModel)
def new_squares(model: GrowingModel) -> Singles:
    """The array of the model itself, because rows that move take their sums of squares with them."""
    model.squares[: model.free[-1]] = 0.0
    return model.squares


implement(operations.refresh, GrowingModel)(dense.refresh)


@implement(operations.norm, GrowingModel)
def norm(model: GrowingModel) -> float:
    """‖w‖, summed in the order of attributes and labels: where rows are makes no difference."""
    return math.sqrt(squares(in_rows(model, model.w, 0).weights, model.w_move))


# ---------------------------------------------------------------- rows in order


def weights_in_order(model: GrowingModel, values: Floats | Singles) -> tuple[Ints, Floats]:
    """Values by place that are not 0, in the order in which `AttributeModel` numbers its weights, and their numbers."""
    rows = in_rows(model, values.astype(np.float64, copy=False), 0)
    features = np.repeat(np.arange(len(model.rows)) * model.node.shape[1], np.diff(rows.starts))
    features += rows.labels
    return features, rows.weights


def fill_in_order(model: GrowingModel, name: str, features: Ints, given: Floats | Singles) -> None:
    """Set the values of these weights in the array `name`, which is by place; `weights_in_order` turned round."""
    fill_places(model, getattr(model, name), features, given)


@kernel
def fill_places(model, values, features, given):
    labels = model.node.shape[1]
    for p in range(len(features)):
        values[place_of(model, features[p] // labels, features[p] % labels)] = given[p]


def rows_of_model(model: GrowingModel, clock: float | None) -> WeightRows:
    """The weights of attributes, or their mean if a clock is given, without zeros; see `exact.averaged`."""
    end = model.free[-1]
    values = model.w[:end] if clock is None else averaged(model.w[:end], model.delayed[:end], clock)
    return in_rows(model, values, FULL_FROM)


def in_rows(model: GrowingModel, values: Floats, full_from: int) -> WeightRows:
    """Values by place as `WeightRows`; full are rows of more than 1/full_from of the labels, or none for 0."""
    starts = np.zeros(len(model.rows) + 1, np.int64)
    collect_rows(model, values, full_from, starts, np.zeros(0, np.uint32), np.zeros(0))
    np.cumsum(starts, out=starts)
    labels, ordered = np.empty(starts[-1], np.uint32), np.empty(starts[-1])
    collect_rows(model, values, full_from, starts, labels, ordered)
    return WeightRows(starts, labels, ordered)


@kernel
def collect_rows(model, values, full_from, starts, labels, ordered):
    """Write the labels of rows, ascending, and their values; without room for them, their numbers to starts[a + 1].

    Zeros are left out, except in full rows.
    """
    every = model.node.shape[1]
    row = np.zeros(every)
    for a in range(len(model.rows)):
        first, size = np.int64(model.rows[a, 0]), np.int64(model.rows[a, 1])
        count = 0
        for q in range(first, first + size):
            count += values[q] != 0
        count = every if count * full_from > every else count
        if len(ordered) == 0:
            starts[a + 1] = count
            continue
        if count == 0:
            continue
        for q in range(first, first + size):
            row[model.labels[q]] = values[q]
        end = starts[a]
        for y in range(every):
            if count == every or row[y] != 0:
                labels[end], ordered[end] = y, row[y]
                end += 1
            row[y] = 0.0


# ---------------------------------------------------------------- prediction


@kernel
def score_rows(problem, starts, labels, w, first, n, node):
    """Write Σ_a value·w(a, y) of the positions first:first + n, for weights as in `WeightRows`."""
    every = node.shape[1]
    for k in range(n):
        for y in range(every):
            node[k, y] = 0.0
        for p in range(problem.starts[first + k], problem.starts[first + k + 1]):
            a = problem.attributes[p]
            times = problem.values[p] if len(problem.values) else 1.0
            begin, end = starts[a], starts[a + 1]
            if end - begin == every:
                for y in range(every):
                    node[k, y] += times * w[begin + y]
            else:
                for q in range(begin, end):
                    node[k, labels[q]] += times * w[q]


@kernel
def predict_with_rows(
    problem: AttributeChain, starts: Ints, labels: Ids, w: Floats, moves: Floats, node: Floats, value: Floats, out: Ids
) -> None:
    """Write the predictions for all sequences, one after the other, as `attributes.predict_all`."""
    for i in range(len(problem.offsets) - 1):
        first = problem.offsets[i]
        n = problem.offsets[i + 1] - first
        if n:
            score_rows(problem, starts, labels, w, first, n, node)
            viterbi(n, node, moves, value, out, first)
