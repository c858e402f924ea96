"""Updates of `SearchChain` as sparse vectors, for the steps `mira` and `ada` in second order and with a beam."""

from __future__ import annotations

import numpy as np

from swvp.compiled import borrowing, implement, inlined, kernel
from swvp.structures import operations
from swvp.structures.chain.search import SearchChain, SearchModel

__all__ = ["change", "direction"]


@implement(operations.reach, SearchChain)
def reach(problem: SearchChain) -> int:
    return 2


@inlined
def changed_at(model, here):
    """Which labels of the transition that ends at a place are not gold: 1 for the last, 2 and 4 for those before."""
    kind = 0
    for back in range(3 if len(model.w_triple) else 2):
        kind += (model.mixed[here + 2 - back] != model.gold[here + 2 - back]) << back
    return kind


@implement(operations.direction, SearchChain)
@kernel
def direction(problem, model, i, starts, positions, sets, count, amounts):
    gold, mixed, predicted = model.gold, model.mixed, model.predicted
    start, labels = problem.offsets[i], model.w.shape[1]
    n = problem.offsets[i + 1] - start
    reach = 3 if len(model.w_triple) else 2
    # what the sets replace, summed over them: at positions, and in transitions by the kind of change
    at, kinds = np.zeros(n), np.zeros((n + 1, 8))
    for c in range(count):
        first, last = starts[sets[c]], starts[sets[c] + 1]
        for p in range(first, last):
            mixed[positions[p] + 2] = predicted[positions[p]]
            at[positions[p]] += amounts[c]
        beyond = 0
        for p in range(first, last):
            k = positions[p]
            for here in range(max(k, beyond), min(k + reach, model.places[0])):
                kinds[here, changed_at(model, here)] += amounts[c]
            beyond = k + reach
        for p in range(first, last):
            mixed[positions[p] + 2] = gold[positions[p] + 2]

    most = 2 * (problem.starts[start + n] - problem.starts[start]) + 32 * (n + 1)
    features, values = np.empty(most, np.int64), np.empty(most)
    size = 0
    for k in range(n):
        if at[k] != 0:
            y, z = np.int64(gold[k + 2]), np.int64(predicted[k])
            for q in range(problem.starts[start + k], problem.starts[start + k + 1]):
                row = np.int64(problem.attributes[q]) * labels
                change = at[k] if len(problem.values) == 0 else at[k] * problem.values[q]
                features[size], values[size] = row + y, change
                features[size + 1], values[size + 1] = row + z, -change
                size += 2
    for here in range(min(n + 1, model.places[0])):
        for kind in range(1, 8):
            amount = kinds[here, kind]
            if amount == 0:
                continue
            for turn in range(2):  # the gold transition, then the mixed one
                move, triple = np.int64(0), np.int64(0)
                for back in range(2, -1, -1):
                    k = here - back
                    label = np.int64(predicted[k]) if turn and kind >> back & 1 else np.int64(gold[k + 2])
                    triple = triple * (labels + 1) + label
                    move = move * (labels + 1) + label if back < 2 else move
                features[size], values[size] = model.w.size + move, -amount if turn else amount
                size += 1
                if len(model.w_triple):
                    features[size], values[size] = model.w.size + model.w_move.size + triple, values[size - 1]
                    size += 1
    return size, features, values


@implement(operations.change, SearchModel)
@borrowing
def change(model, feature, amount, clock):
    labels = model.w.shape[1]
    if feature < model.w.size:
        model.w[feature // labels, feature % labels] += amount
        model.delayed[feature // labels, feature % labels] += amount * clock
        return
    edge = labels + 1
    move = feature - model.w.size
    first, end = 0, len(model.steps)
    if move < model.w_move.size:
        y_1, y = move // edge, move % edge
        model.w_move[y_1, y] += amount
        model.delayed_move[y_1, y] += amount * clock
    else:
        first = (move - model.w_move.size) // (edge * edge)
        end = first + 1
        y_1, y = (move - model.w_move.size) // edge % edge, (move - model.w_move.size) % edge
        model.w_triple[first, y_1, y] += amount
        model.delayed_triple[first, y_1, y] += amount * clock
    for older in range(first, end):
        if model.steps[older, y_1, y] > -np.inf:
            triple = model.w_triple[older, y_1, y] if len(model.w_triple) else 0.0
            model.steps[older, y_1, y] = model.w_move[y_1, y] + triple
