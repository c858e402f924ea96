"""The linear chain of taggers: any number of attributes a_1, a_2, … per position, one label y_i.

φ(x, y) counts the features (a, y_i), each with the value of its attribute, and (y_{i-1}, y_i), where the labels
before the first and after the last position are BOUNDARY, numbered after the others. The weights of one attribute
are a row over the labels, so that scoring a position is a sum of rows.

Prediction: V_i(y) = max_{y'} [V_{i-1}(y') + w(y', y) + barrier(y', y)] + Σ_a value·w(a, y). A barrier is 0 or -inf
and forbids a transition; it is not a weight and not a part of a margin. Ties go to the smallest label, from the last
position backwards.

The kernels that come first serve all chains. A problem has `offsets` and the gold labels `y`. A model has the last
prediction in `predicted` and, between calls, the gold labels of the same sequence in `mixed`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import borrowing, implement, inlined, inlined_with_arrays, inner, kernel, operation
from swvp.structures import operations
from swvp.structures.exact import averaged
from swvp.types import Floats, Ids, Ints

__all__ = [
    "NO_COSTS",
    "NO_IMPORTANCE",
    "add_weight",
    "compare",
    "copy_known",
    "counts_features",
    "labels",
    "length",
    "longest",
    "mix",
    "number_of_weights",
    "replaced_pairs",
    "score",
    "score_dense",
    "score_with_costs",
    "take_over",
]


@kernel
def longest(problem):
    most = 0
    for i in range(len(problem.offsets) - 1):
        most = max(most, problem.offsets[i + 1] - problem.offsets[i])
    return most


@inlined
def length(problem, model, i):
    return problem.offsets[i + 1] - problem.offsets[i]


@kernel
def counts_features(problem):
    """True if the attributes have no values: then each of them counts 1."""
    return len(problem.values) == 0


@inlined
def compare(gold, start, n, predicted, mixed, wrong):
    """Write the wrong positions and return their number; copy the gold labels to `mixed`."""
    count = 0
    for k in range(n):
        mixed[k] = gold[start + k]
        wrong[count] = k  # without a branch, which would often be mispredicted
        count += predicted[k] != gold[start + k]
    return count


@inlined
def mix(positions, first, last, source, start, mixed):
    """Put the labels of `source` at the positions of J = positions[first:last]."""
    for p in range(first, last):
        mixed[positions[p]] = source[start + positions[p]]


@inlined_with_arrays
def replaced_pairs(n, starts, positions, sets, count, amounts):
    """How much of each pair of neighbours (y_{k-1}, y_k), k = 0, …, n, the sets replace: Σ_c amounts[c], by kind.

    Kind 0: only y_k is in J. 1: only y_{k-1} is. 2: both are. So the result does not grow with the number of sets.
    """
    amount = np.zeros((n + 1, 3))
    for c in range(count):
        first, last = starts[sets[c]], starts[sets[c] + 1]
        for p in range(first, last):
            k = positions[p]
            amount[k, 2 if p > first and positions[p - 1] == k - 1 else 0] += amounts[c]
            if p + 1 == last or positions[p + 1] != k + 1:
                amount[k + 1, 1] += amounts[c]
    return amount


def labels(problem: Any, model: Any, i: int) -> tuple[Ids, Ids]:
    gold = problem.y[problem.offsets[i] : problem.offsets[i + 1]]
    return gold, model.predicted[: len(gold)]


def squares(*arrays: Floats) -> float:
    """Σ w² over all weights; not by BLAS, whose threads keep spinning afterwards."""
    return sum(float(np.einsum("i,i->", array.ravel(), array.ravel())) for array in arrays)


NO_COSTS: Floats = np.zeros((0, 0))
NO_IMPORTANCE: Floats = np.zeros(0)


class AttributeChain(NamedTuple):
    """Sequences of positions offsets[i]:offsets[i + 1]; position t has attributes[starts[t]:starts[t + 1]].

    `values` are those of the attributes, or empty if all are 1. `y` are the gold labels, or empty. `costs` are what a
    label costs in the place of another in training, at [gold label, label], or empty: the gold labels must win by them.
    `importance` are weights of the sequences, or empty if all are 1.
    """

    attributes: Ids
    values: Floats
    starts: Ints
    y: Ids
    offsets: Ints
    costs: Floats = NO_COSTS
    importance: Floats = NO_IMPORTANCE


class AttributeModel(NamedTuple):
    """The weights, their averaging sums, the transitions as decoding uses them, and buffers for one prediction.

    `delayed` and the other fields of that name are Σ clock·update, from which `averaged_weights` makes the averages;
    checkpoints use these names.
    """

    w: Floats  # (a, y)
    w_move: Floats  # (y', y), both with BOUNDARY
    moves: Floats  # w_move + barrier, updated with w_move
    delayed: Floats
    delayed_move: Floats
    predicted: Ids
    mixed: Ids
    node: Floats  # Σ_a value·w(a, y) of each position of the last prediction
    value: Floats  # V_i(y)


def new_model(attributes: int, labels: int, positions: int, barrier: Floats | None = None) -> AttributeModel:
    """A model with all weights 0, for sequences of at most `positions` positions."""
    moves = (labels + 1, labels + 1)
    return AttributeModel(
        w=np.zeros((attributes, labels)),
        w_move=np.zeros(moves),
        moves=np.zeros(moves) if barrier is None else np.array(barrier, float),
        delayed=np.zeros((attributes, labels)),
        delayed_move=np.zeros(moves),
        predicted=np.zeros(positions, np.uint32),
        mixed=np.zeros(positions, np.uint32),
        node=np.zeros((positions, labels)),
        value=np.zeros((positions, labels)),
    )


implement(operations.longest, AttributeChain)(longest)
implement(operations.counts_features, AttributeChain)(counts_features)


@implement(operations.reach, AttributeChain)
def reach(problem: AttributeChain) -> int:
    return 1


implement(operations.labels, AttributeChain)(labels)
implement(operations.length, AttributeChain)(length)


@kernel
def score_positions(attributes, values, starts, first, n, w, node):
    """Write Σ_a value·w(a, y) of the positions first:first + n.

    Four rows at a time, for speed: the sums stay in registers.
    """
    labels = w.shape[1]
    for k in range(n):
        p, last = starts[first + k], starts[first + k + 1]
        for y in range(labels):
            node[k, y] = 0.0
        if len(values) == 0:
            while p + 4 <= last:
                a, b, c, d = attributes[p], attributes[p + 1], attributes[p + 2], attributes[p + 3]
                for y in range(labels):
                    node[k, y] += (w[a, y] + w[b, y]) + (w[c, y] + w[d, y])
                p += 4
        while p < last:
            a = attributes[p]
            times = values[p] if len(values) else 1.0
            for y in range(labels):
                node[k, y] += times * w[a, y]
            p += 1


@operation
def score(model: Any, problem: Any, first: int, n: int) -> None:
    """Write Σ_a value·w(a, y) of the positions first:first + n to model.node."""


@operation
def number_of_weights(model: Any) -> int:
    """The number of weights of attributes; in a vector of all weights, those of the transitions come after them."""


@operation
def add_weight(model: Any, attribute: int, label: int, amount: float, delayed: float) -> None:
    """w(a, y) += amount; its averaging sum takes `delayed`."""


@implement(score, AttributeModel)
@inlined
def score_dense(model, problem, first, n):
    score_positions(problem.attributes, problem.values, problem.starts, first, n, model.w, model.node)


@implement(number_of_weights, AttributeModel)
@inner
def size_of_weights(model):
    return model.w.size


@implement(add_weight, AttributeModel)
@inlined
def add_to_weight(model, attribute, label, amount, delayed):
    model.w[attribute, label] += amount
    model.delayed[attribute, label] += delayed


@kernel
def viterbi(n, node, moves, value, predicted, at):
    """Write argmax_y' w·φ(x, y') for the n positions scored in `node` into predicted[at:at + n]."""
    labels = node.shape[1]
    for y in range(labels):
        value[0, y] = moves[labels, y] + node[0, y]
    for k in range(1, n):
        for y in range(labels):
            value[k, y] = -np.inf
        previous = 0
        while previous + 4 <= labels:
            a, b, c, d = previous, previous + 1, previous + 2, previous + 3
            v_a, v_b, v_c, v_d = value[k - 1, a], value[k - 1, b], value[k - 1, c], value[k - 1, d]
            for y in range(labels):
                s_a, s_b, s_c, s_d = v_a + moves[a, y], v_b + moves[b, y], v_c + moves[c, y], v_d + moves[d, y]
                s_a = s_a if s_a > s_b else s_b
                s_c = s_c if s_c > s_d else s_d
                s_a = s_a if s_a > s_c else s_c
                value[k, y] = s_a if s_a > value[k, y] else value[k, y]
            previous += 4
        while previous < labels:
            v_a = value[k - 1, previous]
            for y in range(labels):
                s_a = v_a + moves[previous, y]
                value[k, y] = s_a if s_a > value[k, y] else value[k, y]
            previous += 1
        for y in range(labels):
            value[k, y] += node[k, y]
    # the way back computes the maximum again, along one path only: storing it above would cost more
    y = labels
    for k in range(n, 0, -1):
        best_previous = 0
        for previous in range(1, labels):
            if value[k - 1, previous] + moves[previous, y] > value[k - 1, best_previous] + moves[best_previous, y]:
                best_previous = previous
        y = best_previous
        predicted[at + k - 1] = y


@inlined
def predict_one(problem, model, i, predicted, at):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    if n:
        score(model, problem, start, n)
        viterbi(n, model.node, model.moves, model.value, predicted, at)


@implement(operations.importance, AttributeChain)
@borrowing
def importance(problem, i):
    return problem.importance[i] if len(problem.importance) else 1.0


@inlined
def score_with_costs(problem, model, start, n):
    """Score n positions, each label with what it costs: the prediction is then the worst violation of a margin."""
    score(model, problem, start, n)
    if len(problem.costs):
        for k in range(n):
            for y in range(model.node.shape[1]):
                model.node[k, y] += problem.costs[problem.y[start + k], y]


@implement(operations.find_mistakes, AttributeChain)
@kernel
def find_mistakes(problem, model, i, wrong):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    if n:
        score_with_costs(problem, model, start, n)
        viterbi(n, model.node, model.moves, model.value, model.predicted, 0)
    return compare(problem.y, start, n, model.predicted, model.mixed, wrong)


@implement(operations.margins, AttributeChain)
@kernel
def margins(problem, model, i, starts, positions, count, out):
    gold, mixed, w_move, node = problem.y, model.mixed, model.w_move, model.node
    BOUNDARY = np.uint32(len(w_move) - 1)
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    for j in range(count):
        mix(positions, starts[j], starts[j + 1], model.predicted, 0, mixed)
        margin = 0.0
        beyond = 0
        for p in range(starts[j], starts[j + 1]):
            k = positions[p]
            margin += node[k, gold[start + k]] - node[k, mixed[k]]
            # J changes the transitions into its positions and out of them, each once
            for here in range(max(k, beyond), k + 2):
                y, z = (gold[start + here], mixed[here]) if here < n else (BOUNDARY, BOUNDARY)
                margin += w_move[gold[start + here - 1] if here else BOUNDARY, y]
                margin -= w_move[mixed[here - 1] if here else BOUNDARY, z]
            beyond = k + 2
        mix(positions, starts[j], starts[j + 1], gold, start, mixed)
        out[j] = margin


@inlined
def add_move(model, label, previous, amount, clock):
    model.w_move[previous, label] += amount
    model.moves[previous, label] += amount
    model.delayed_move[previous, label] += amount * clock


@implement(operations.add, AttributeChain)
@kernel
def add(problem, model, i, starts, positions, sets, count, amounts, clock):
    gold, mixed = problem.y, model.mixed
    BOUNDARY = np.uint32(model.node.shape[1])
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    unit = len(problem.values) == 0
    for c in range(count):
        amount = amounts[c]
        if amount == 0:
            continue
        first, last = starts[sets[c]], starts[sets[c] + 1]
        mix(positions, first, last, model.predicted, 0, mixed)
        beyond = 0
        for p in range(first, last):
            k = positions[p]
            y, z = gold[start + k], mixed[k]
            for q in range(problem.starts[start + k], problem.starts[start + k + 1]):
                a = problem.attributes[q]
                change = amount if unit else amount * problem.values[q]
                add_weight(model, a, y, change, change * clock)
                add_weight(model, a, z, -change, -(change * clock))
            for here in range(max(k, beyond), k + 2):
                y, z = (gold[start + here], mixed[here]) if here < n else (BOUNDARY, BOUNDARY)
                add_move(model, y, gold[start + here - 1] if here else BOUNDARY, amount, clock)
                add_move(model, z, mixed[here - 1] if here else BOUNDARY, -amount, clock)
            beyond = k + 2
        mix(positions, first, last, gold, start, mixed)


@implement(operations.direction, AttributeChain)
@kernel
def direction(problem, model, i, starts, positions, sets, count, amounts):
    gold, predicted = problem.y, model.predicted
    labels, weights_of_attributes = model.node.shape[1], number_of_weights(model)
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    amount = replaced_pairs(n, starts, positions, sets, count, amounts)
    most = 4 * (n + 1) + 2 * (problem.starts[start + n] - problem.starts[start])
    features, values = np.empty(most, np.int64), np.empty(most)
    size = 0
    for k in range(n + 1):
        if amount[k, 0] == 0 and amount[k, 1] == 0 and amount[k, 2] == 0:
            continue
        y, z = (np.int64(gold[start + k]), np.int64(predicted[k])) if k < n else (labels, labels)
        y_previous = np.int64(gold[start + k - 1]) if k else labels
        z_previous = np.int64(predicted[k - 1]) if k else labels
        moved = amount[k, 0] + amount[k, 2]
        if moved != 0:
            for q in range(problem.starts[start + k], problem.starts[start + k + 1]):
                row = np.int64(problem.attributes[q]) * labels
                change = moved if len(problem.values) == 0 else moved * problem.values[q]
                features[size], values[size] = row + y, change
                features[size + 1], values[size + 1] = row + z, -change
                size += 2
        row, width = weights_of_attributes, labels + 1
        features[size], values[size] = row + y_previous * width + y, moved + amount[k, 1]
        features[size + 1], values[size + 1] = row + y_previous * width + z, -amount[k, 0]
        features[size + 2], values[size + 2] = row + z_previous * width + y, -amount[k, 1]
        features[size + 3], values[size + 3] = row + z_previous * width + z, -amount[k, 2]
        size += 4
    return size, features, values


@implement(operations.change, AttributeModel)
@borrowing
def change(model, feature, amount, clock):
    labels = model.w.shape[1]
    if feature < model.w.size:
        model.w[feature // labels, feature % labels] += amount
        model.delayed[feature // labels, feature % labels] += amount * clock
    else:
        move = feature - model.w.size
        add_move(model, move % (labels + 1), move // (labels + 1), amount, clock)


@implement(operations.weights, AttributeModel)
def weights(model: AttributeModel) -> Floats:
    """w as one vector: (a, y), then (y', y)."""
    return np.concatenate([model.w.ravel(), model.w_move.ravel()])


@implement(operations.refresh, AttributeModel)
def refresh(model: AttributeModel) -> None:
    model.moves[:] = np.where(np.isneginf(model.moves), -np.inf, model.w_move)


@implement(operations.norm, AttributeModel)
def norm(model: AttributeModel) -> float:
    return math.sqrt(squares(model.w[model.w != 0], model.w_move))  # as `growing` has them: in the same order


@implement(operations.averaged_weights, AttributeModel)
def averaged_weights(model: AttributeModel, clock: float) -> Floats:
    return averaged(weights(model), np.concatenate([model.delayed.ravel(), model.delayed_move.ravel()]), clock)


@kernel
def predict_all(problem: AttributeChain, model: AttributeModel, out: Ids) -> None:
    """Write the predictions for all sequences, one after the other."""
    for i in range(len(problem.offsets) - 1):
        start = problem.offsets[i]
        predict_one(problem, model, i, out, start)


def take_over(model: Any, old: Mapping[str, Floats], labels: int) -> None:
    """Copy the weights and averaging sums of a model with fewer labels, by their field names, into a larger model.

    `labels` is the number of labels of the old one.
    """
    copy_known({name: getattr(model, name) for name in old}, old, labels)
    operations.refresh(model)


def copy_known(new: Mapping[str, NDArray[Any]], old: Mapping[str, NDArray[Any]], labels: int) -> None:
    """Copy arrays over attributes or labels into larger ones of the same names.

    BOUNDARY is numbered after the labels, so its elements move.
    """
    for name, values in old.items():
        array = new[name]
        if name in ("w", "delayed"):
            array[: len(values), :labels] = values
        elif len(values):
            array[np.ix_(*[[*range(labels), len(array) - 1]] * array.ndim)] = values
