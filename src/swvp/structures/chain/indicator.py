"""The linear chain of the paper's synthetic study: one observed symbol x_i and one label y_i per position.

φ(x, y) counts, over the positions i, the binary indicator features of section 6

    x_i,  y_i,  y_{i-1},  (x_i, y_i),  (y_{i-1}, y_i),  (x_i, y_{i-1}, y_i)

where y_0 is START, an extra label, numbered after the others. The triple (x_i, y_{i-1}, y_i) is a *part*:
it determines the other five features, so every weight is a sum over the parts that contain it, and the sums for
averaging are kept for the parts alone. The weight of x_i alone never moves, because Δφ never contains it.

Prediction: V_i(y) = max_{y'} [V_{i-1}(y') + w(y') + w(y', y) + w(x_i, y', y)] + w(y) + w(x_i, y). Ties go to the
smallest label, from the last position backwards.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from swvp.compiled import borrowing, implement, inlined, kernel
from swvp.structures import operations
from swvp.structures.chain.attributes import compare, labels, length, longest, mix, replaced_pairs
from swvp.structures.exact import averaged
from swvp.types import Floats, Ids, Ints


class IndicatorChain(NamedTuple):
    """Examples: sequence i is x[offsets[i]:offsets[i + 1]] with the gold labels y[offsets[i]:offsets[i + 1]]."""

    x: Ids
    y: Ids
    offsets: Ints


class IndicatorModel(NamedTuple):
    """The weights, their averaging sums for each part, and buffers for one prediction.

    `delayed` is Σ clock·update, as in `AttributeModel`.
    """

    w: Floats  # all weights; the next five are views of it, those of (x) come first and never move
    w_label: Floats  # (y)
    w_previous: Floats  # (y')
    w_emit: Floats  # (x, y)
    w_move: Floats  # (y', y)
    w_part: Floats  # (x, y', y)
    delayed: Floats  # like w_part, of updates that move all features of a part alike
    delayed_single: Floats  # like w, of updates that move each feature by itself
    predicted: Ids
    mixed: Ids
    back: Ids
    now: Floats
    before: Floats


def new_model(symbols: int, labels: int, positions: int, w: Floats | None = None) -> IndicatorModel:
    """A model with the weights w, by default 0, for sequences of at most `positions` positions."""
    shapes = ((labels,), (labels + 1,), (symbols, labels), (labels + 1, labels), (symbols, labels + 1, labels))
    ends = np.cumsum([symbols, *(math.prod(shape) for shape in shapes)])
    w = np.zeros(ends[-1]) if w is None else np.array(w, float)
    views = (w[a:b].reshape(shape) for (a, b), shape in zip(itertools.pairwise(ends), shapes, strict=True))
    w_label, w_previous, w_emit, w_move, w_part = views
    return IndicatorModel(
        w=w,
        w_label=w_label,
        w_previous=w_previous,
        w_emit=w_emit,
        w_move=w_move,
        w_part=w_part,
        delayed=np.zeros(shapes[-1]),
        delayed_single=np.zeros(ends[-1]),
        predicted=np.zeros(positions, np.uint32),
        mixed=np.zeros(positions, np.uint32),
        back=np.zeros((positions, labels), np.uint32),
        now=np.zeros(labels),
        before=np.zeros(labels),
    )


implement(operations.longest, IndicatorChain)(longest)
implement(operations.labels, IndicatorChain)(labels)
implement(operations.length, IndicatorChain)(length)


@implement(operations.reach, IndicatorChain)
def reach(problem: IndicatorChain) -> int:
    return 1


@implement(operations.counts_features, IndicatorChain)
@kernel
def counts_features(problem):
    return True


@inlined
def viterbi(model, x, start, n, predicted, at):
    """Write argmax_y' w·φ(x, y') for x[start:start + n] into predicted[at:at + n]."""
    labels = len(model.w_label)
    now, before, back = model.now, model.before, model.back
    for k in range(n):
        symbol = x[start + k]
        if k == 0:
            for y in range(labels):
                now[y] = model.w_previous[labels] + model.w_move[labels, y] + model.w_part[symbol, labels, y]
        else:
            for y in range(labels):
                before[y] = now[y] + model.w_previous[y]
            for y in range(labels):
                best = before[0] + (model.w_move[0, y] + model.w_part[symbol, 0, y])
                best_previous = 0
                for previous in range(1, labels):
                    score = before[previous] + (model.w_move[previous, y] + model.w_part[symbol, previous, y])
                    better = score > best
                    best = score if better else best
                    best_previous = previous if better else best_previous
                now[y] = best
                back[k, y] = best_previous
        for y in range(labels):
            now[y] += model.w_label[y] + model.w_emit[symbol, y]
    y = np.uint32(0)
    for other in range(1, labels):
        if now[other] > now[y]:
            y = np.uint32(other)
    for k in range(n - 1, -1, -1):
        predicted[at + k] = y
        y = back[k, y]


@implement(operations.find_mistakes, IndicatorChain, force_inline=True)
@kernel
def find_mistakes(problem, model, i, wrong):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    viterbi(model, problem.x, start, n, model.predicted, 0)
    return compare(problem.y, start, n, model.predicted, model.mixed, wrong)


@implement(operations.margins, IndicatorChain, force_inline=True)
@kernel
def margins(problem, model, i, starts, positions, count, out):
    x, gold, mixed = problem.x, problem.y, model.mixed
    START = np.uint32(len(model.w_label))
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    for j in range(count):
        mix(positions, starts[j], starts[j + 1], model.predicted, 0, mixed)
        margin = 0.0
        beyond = 0
        for p in range(starts[j], starts[j + 1]):
            # J changes the parts that end at its positions and those right after them, each part once
            for here in range(max(positions[p], beyond), min(positions[p] + 2, n)):
                symbol, y, z = x[start + here], gold[start + here], mixed[here]
                y_previous = gold[start + here - 1] if here else START
                z_previous = mixed[here - 1] if here else START
                margin += model.w_label[y] - model.w_label[z]
                margin += model.w_previous[y_previous] - model.w_previous[z_previous]
                margin += model.w_emit[symbol, y] - model.w_emit[symbol, z]
                margin += model.w_move[y_previous, y] - model.w_move[z_previous, z]
                margin += model.w_part[symbol, y_previous, y] - model.w_part[symbol, z_previous, z]
            beyond = positions[p] + 2
        mix(positions, starts[j], starts[j + 1], gold, start, mixed)
        out[j] = margin


@implement(operations.add, IndicatorChain, force_inline=True)
@kernel
def add(problem, model, i, starts, positions, sets, count, amounts, clock):
    x, gold, mixed = problem.x, problem.y, model.mixed
    START = np.uint32(len(model.w_label))
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    for c in range(count):
        amount = amounts[c]
        if amount == 0:
            continue
        first, last = starts[sets[c]], starts[sets[c] + 1]
        mix(positions, first, last, model.predicted, 0, mixed)
        beyond = 0
        for p in range(first, last):
            for here in range(max(positions[p], beyond), min(positions[p] + 2, n)):
                symbol, y, z = x[start + here], gold[start + here], mixed[here]
                y_previous = gold[start + here - 1] if here else START
                z_previous = mixed[here - 1] if here else START
                model.w_label[y] += amount
                model.w_label[z] -= amount
                model.w_previous[y_previous] += amount
                model.w_previous[z_previous] -= amount
                model.w_emit[symbol, y] += amount
                model.w_emit[symbol, z] -= amount
                model.w_move[y_previous, y] += amount
                model.w_move[z_previous, z] -= amount
                model.w_part[symbol, y_previous, y] += amount
                model.w_part[symbol, z_previous, z] -= amount
                model.delayed[symbol, y_previous, y] += amount * clock
                model.delayed[symbol, z_previous, z] -= amount * clock
            beyond = positions[p] + 2
        mix(positions, first, last, gold, start, mixed)


@inlined
def put_part(model, symbol, previous, y, amount, size, features, values):
    """Write the five features of a part, numbered as in w; the sixth, (x), never moves. Returns their number."""
    if amount == 0:
        return size
    labels = len(model.w_label)
    first = model.w_emit.shape[0]
    features[size] = first + y
    first += labels
    features[size + 1] = first + previous
    first += labels + 1
    features[size + 2] = first + symbol * labels + y
    first += model.w_emit.size
    features[size + 3] = first + previous * labels + y
    first += model.w_move.size
    features[size + 4] = first + (symbol * (labels + 1) + previous) * labels + y
    for f in range(size, size + 5):
        values[f] = amount
    return size + 5


@implement(operations.direction, IndicatorChain)
@kernel
def direction(problem, model, i, starts, positions, sets, count, amounts):
    gold, predicted = problem.y, model.predicted
    START = len(model.w_label)
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    amount = replaced_pairs(n, starts, positions, sets, count, amounts)
    features, values = np.empty(20 * n, np.int64), np.empty(20 * n)
    size = 0
    for k in range(n):  # a part ends at each position, none after the last
        if amount[k, 0] == 0 and amount[k, 1] == 0 and amount[k, 2] == 0:
            continue
        symbol, y, z = np.int64(problem.x[start + k]), np.int64(gold[start + k]), np.int64(predicted[k])
        y_previous = np.int64(gold[start + k - 1]) if k else START
        z_previous = np.int64(predicted[k - 1]) if k else START
        total = amount[k, 0] + amount[k, 1] + amount[k, 2]
        size = put_part(model, symbol, y_previous, y, total, size, features, values)
        size = put_part(model, symbol, y_previous, z, -amount[k, 0], size, features, values)
        size = put_part(model, symbol, z_previous, y, -amount[k, 1], size, features, values)
        size = put_part(model, symbol, z_previous, z, -amount[k, 2], size, features, values)
    return size, features, values


@implement(operations.change, IndicatorModel)
@borrowing
def change(model, feature, amount, clock):
    model.w[feature] += amount
    model.delayed_single[feature] += amount * clock


@implement(operations.weights, IndicatorModel)
def weights(model: IndicatorModel) -> Floats:
    """w as one vector, in the order (x), (y), (y'), (x, y), (y', y), (x, y', y); the weights of (x) are 0."""
    return model.w.copy()


@implement(operations.norm, IndicatorModel)
def norm(model: IndicatorModel) -> float:
    return float(np.linalg.norm(model.w))


@implement(operations.averaged_weights, IndicatorModel)
def averaged_weights(model: IndicatorModel, clock: float) -> Floats:
    parts = model.delayed
    sums = (parts.sum((1, 2)), parts.sum((0, 1)), parts.sum((0, 2)), parts.sum(1), parts.sum(0), parts)
    sums_of_parts = np.concatenate([block.ravel() for block in sums])
    return averaged(model.w, sums_of_parts + model.delayed_single, clock)


@kernel
def predict_all(model: IndicatorModel, x: Ids, offsets: Ints, out: Ids) -> None:
    """Write the predictions for all sequences, one after the other, as x holds them."""
    for i in range(len(offsets) - 1):
        viterbi(model, x, offsets[i], offsets[i + 1] - offsets[i], out, offsets[i])
