"""The chains of taggers with a choice of order and of search: first or second order, exact search or a beam.

φ(x, y) counts the features (a, y_i), (y_{i-1}, y_i) and, in second order, (y_{i-2}, y_{i-1}, y_i). Labels before the
first position are BOUNDARY, and one BOUNDARY stands after the last: the end has the features (y_n, BOUNDARY) and
(y_{n-1}, y_n, BOUNDARY). Transitions end at a *place*: a position 0, …, n - 1, or the end, place n.

Exact search in second order is Viterbi over pairs of labels:
V_i(y', y) = max_{y''} [V_{i-1}(y'', y') + step(y'', y', y)] + Σ_a value·w(a, y), in O(n L³), where a step is
w(y'', y', y) + w(y', y) + barrier(y', y). Ties go to the smallest label, from the last position backwards.

A fix (see `swvp.structures.chain.beam`) may cut an example after t positions. Then only places before t count, the
prediction is the prefix z^t, and sub-structures, γ and the step of a rule use its wrong positions as always. With the
rule `csp` this is the violation-fixing perceptron.

How to use it:

    problem = as_search(chain, "max-violation")                          # of an AttributeChain
    model = new_search_model(attributes, labels, positions, barrier, order=2, width=8)
    run_epochs(problem, model, rule, …); w = averaged_weights(model, clock)  # as with every structure
    model = with_weights(new_search_model(0, labels, positions, barrier, order=2, width=8), w)
    predict_all(problem, model, out)

Order and width belong to the model, because they determine the sizes of its arrays. Width 0 is exact search.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from swvp.compiled import implement, inlined, kernel
from swvp.errors import InputError, unknown_name
from swvp.structures import operations
from swvp.structures.chain.attributes import (
    NO_COSTS,
    AttributeChain,
    counts_features,
    longest,
    score,
    score_dense,
    score_with_costs,
    squares,
)
from swvp.structures.chain.beam import FIXES, Beam, new_beam, search
from swvp.structures.exact import averaged
from swvp.types import Floats, Ids, Ints

__all__ = [
    "SearchChain",
    "SearchModel",
    "as_search",
    "check_search",
    "new_search_model",
    "predict_all",
    "viterbi_pairs",
    "with_weights",
]


@kernel
def viterbi_pairs(n, node, steps, value, predicted, at):
    """Write argmax_y' w·φ(x, y') for the n ≥ 1 positions scored in `node` into predicted[at:at + n].

    value[k, y', y] is V of the pair that ends at position k; value[0, 0, y] that of (BOUNDARY, y).
    """
    labels = node.shape[1]
    for y in range(labels):
        value[0, 0, y] = steps[labels, labels, y] + node[0, y]
    for k in range(1, n):
        for previous in range(labels):
            if k == 1:
                v_a = value[0, 0, previous]
                for y in range(labels):
                    value[k, previous, y] = v_a + steps[labels, previous, y]
            else:
                best_continuations(k, previous, labels, steps, value)
            for y in range(labels):
                value[k, previous, y] += node[k, y]

    y, previous = best_end(n, labels, steps, value)
    predicted[at + n - 1] = y
    if n > 1:
        predicted[at + n - 2] = previous
    # the way back computes the maximum again, along one path only
    for k in range(n - 1, 1, -1):
        older = 0
        for other in range(1, labels):
            score = value[k - 1, other, previous] + steps[other, previous, y]
            if score > value[k - 1, older, previous] + steps[older, previous, y]:
                older = other
        predicted[at + k - 2] = older
        y, previous = previous, older


@kernel
def best_continuations(k, previous, labels, steps, value):
    """Write max_{y''} [V_{k-1}(y'', y') + step(y'', y', y)] for one y' and every y: four y'' at a time."""
    for y in range(labels):
        value[k, previous, y] = -np.inf
    for a in range(0, labels, 4):
        b, c, d = min(a + 1, labels - 1), min(a + 2, labels - 1), min(a + 3, labels - 1)  # the last one may come again
        v_a, v_b = value[k - 1, a, previous], value[k - 1, b, previous]
        v_c, v_d = value[k - 1, c, previous], value[k - 1, d, previous]
        for y in range(labels):
            s_a, s_b = v_a + steps[a, previous, y], v_b + steps[b, previous, y]
            s_c, s_d = v_c + steps[c, previous, y], v_d + steps[d, previous, y]
            s_a = s_a if s_a > s_b else s_b
            s_c = s_c if s_c > s_d else s_d
            s_a = s_a if s_a > s_c else s_c
            value[k, previous, y] = s_a if s_a > value[k, previous, y] else value[k, previous, y]


@kernel
def best_end(n, labels, steps, value):
    """The last label and the one before it (0 if there is none) of the best path through the end."""
    best, best_y, best_previous = -np.inf, 0, 0
    for y in range(labels):
        for previous in range(labels if n > 1 else 1):
            before = previous if n > 1 else labels
            score = value[n - 1, previous, y] + steps[before, y, labels]
            if score > best:
                best, best_y, best_previous = score, y, previous
    return best_y, best_previous


class SearchChain(NamedTuple):
    """The sequences of an `AttributeChain` with their costs, and the number of a fix in `FIXES`."""

    attributes: Ids
    values: Floats
    starts: Ints
    y: Ids
    offsets: Ints
    fix: int
    costs: Floats = NO_COSTS


class SearchModel(NamedTuple):
    """The weights, their averaging sums, the transitions as decoding uses them, and buffers for one prediction.

    `delayed` and the other fields of that name are Σ clock·update, from which `averaged_weights` makes the averages;
    checkpoints use these names.
    """

    w: Floats  # (a, y)
    w_move: Floats  # (y', y), both with BOUNDARY
    w_triple: Floats  # (y'', y', y), all with BOUNDARY; empty in first order
    steps: Floats  # (y'', y', y): w_triple + w_move + barrier, updated with them; in first order y'' is 0 only
    delayed: Floats
    delayed_move: Floats
    delayed_triple: Floats
    predicted: Ids
    gold: Ids  # the gold label with two BOUNDARY before it and one after it
    mixed: Ids  # the same, or a mixed assignment inside `margins` and `add`
    places: Ints  # [0]: the number of places of the last prediction that count, n + 1 for all
    node: Floats  # Σ_a value·w(a, y) of each position of the last prediction
    value: Floats  # V_i(y', y) of exact search in second order, else empty
    beam: Beam


def as_search(chain: AttributeChain, fix: str = "none") -> SearchChain:
    """The same sequences for a model of `new_search_model`."""
    if fix not in FIXES:
        raise unknown_name("fix", fix, FIXES)
    return SearchChain(
        chain.attributes, chain.values, chain.starts, chain.y, chain.offsets, FIXES.index(fix), chain.costs
    )


def check_search(order: int, width: int, fix: str = "none") -> None:
    """Raise InputError if order, width and fix are not valid together.

    >>> check_search(2, 0, "early")
    Traceback (most recent call last):
    swvp.errors.InputError: fix 'early' needs a beam: with exact search every full update is a violation already
    """
    if isinstance(order, bool) or order not in (1, 2):
        raise InputError(f"order must be 1 or 2, not {order!r}")
    if isinstance(width, bool) or not isinstance(width, (int, np.integer)) or width < 0:
        raise InputError(f"width must be a whole number, 0 for exact search, not {width!r}")
    if fix not in FIXES:
        raise unknown_name("fix", fix, FIXES)
    if fix != "none" and not width:
        raise InputError(f"fix '{fix}' needs a beam: with exact search every full update is a violation already")


def new_search_model(
    attributes: int, labels: int, positions: int, barrier: Floats | None = None, order: int = 1, width: int = 0
) -> SearchModel:
    """A model with all weights 0, for sequences of at most `positions` positions.

    A beam of `width` hypotheses, or exact search if that is 0; `AttributeChain` is faster at first order, exact.
    """
    check_search(order, width)
    moves, triples = (labels + 1,) * 2, (labels + 1 if order == 2 else 0,) * 3
    bars = np.zeros(moves) if barrier is None else np.array(barrier, float)
    exact = order == 2 and not width
    return SearchModel(
        w=np.zeros((attributes, labels)),
        w_move=np.zeros(moves),
        w_triple=np.zeros(triples),
        steps=np.repeat(bars[None], labels + 1 if order == 2 else 1, axis=0),
        delayed=np.zeros((attributes, labels)),
        delayed_move=np.zeros(moves),
        delayed_triple=np.zeros(triples),
        predicted=np.zeros(positions, np.uint32),
        gold=np.full(positions + 3, labels, np.uint32),
        mixed=np.full(positions + 3, labels, np.uint32),
        places=np.zeros(1, np.int64),
        node=np.zeros((positions, labels)),
        value=np.zeros((positions if exact else 0, labels, labels)),
        beam=new_beam(labels, positions, bars, order, 0 if exact else width or labels),
    )


def with_weights(model: SearchModel, w: Floats) -> SearchModel:
    """The model with the weights w, one vector in the order of `weights`: views of it, for predicting only."""
    rest = model.w_move.size + model.w_triple.size
    emit, move, triple = np.split(w, [len(w) - rest, len(w) - model.w_triple.size])
    model = model._replace(
        w=emit.reshape(-1, model.w.shape[1]),
        w_move=move.reshape(model.w_move.shape),
        w_triple=triple.reshape(model.w_triple.shape),
    )
    refresh(model)
    return model


implement(score, SearchModel)(score_dense)


@implement(operations.refresh, SearchModel)
def refresh(model: SearchModel) -> None:
    steps = model.w_move + model.w_triple if len(model.w_triple) else model.w_move[None]
    model.steps[:] = np.where(np.isneginf(model.steps), -np.inf, steps)


@inlined
def predict_one(problem, model, i, fix, predicted, at):
    """Write the prediction, or z^t if there is a fix, into predicted[at:]; return the number of places that count."""
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    if n == 0:
        return 1
    score_with_costs(problem, model, start, n)
    if len(model.value):
        viterbi_pairs(n, model.node, model.steps, model.value, predicted, at)
        return n + 1
    return search(n, model.node, model.steps, model.beam, problem.y, start, fix, predicted, at)


implement(operations.longest, SearchChain)(longest)
implement(operations.counts_features, SearchChain)(counts_features)


@implement(operations.length, SearchChain)
@inlined
def length(problem, model, i):
    return min(problem.offsets[i + 1] - problem.offsets[i], model.places[0])


@implement(operations.labels, SearchChain)
def labels(problem: SearchChain, model: SearchModel, i: int) -> tuple[Ids, Ids]:
    """The gold label and the last prediction, up to where the fix cut them."""
    gold = problem.y[problem.offsets[i] : problem.offsets[i + 1]][: model.places[0]]
    return gold, model.predicted[: len(gold)]


@implement(operations.find_mistakes, SearchChain)
@kernel
def find_mistakes(problem, model, i, wrong):
    start = problem.offsets[i]
    n = problem.offsets[i + 1] - start
    places = predict_one(problem, model, i, problem.fix, model.predicted, 0)
    model.places[0] = places
    for k in range(n):
        model.gold[k + 2] = model.mixed[k + 2] = problem.y[start + k]
    model.gold[n + 2] = model.mixed[n + 2] = model.w.shape[1]  # BOUNDARY
    count = 0
    for k in range(min(n, places)):
        wrong[count] = k
        count += model.predicted[k] != problem.y[start + k]
    return count


@implement(operations.margins, SearchChain)
@kernel
def margins(problem, model, i, starts, positions, count, out):
    gold, mixed, node, w_move, w_triple = model.gold, model.mixed, model.node, model.w_move, model.w_triple
    reach = 3 if len(w_triple) else 2
    for j in range(count):
        for p in range(starts[j], starts[j + 1]):
            mixed[positions[p] + 2] = model.predicted[positions[p]]
        margin = 0.0
        beyond = 0
        for p in range(starts[j], starts[j + 1]):
            k = positions[p]
            margin += node[k, gold[k + 2]] - node[k, mixed[k + 2]]
            # J changes what ends at its positions and at the one or two places after them, each once
            for here in range(max(k, beyond), min(k + reach, model.places[0])):
                y_2, y_1, y = gold[here], gold[here + 1], gold[here + 2]
                z_2, z_1, z = mixed[here], mixed[here + 1], mixed[here + 2]
                margin += w_move[y_1, y] - w_move[z_1, z]
                if len(w_triple):
                    margin += w_triple[y_2, y_1, y] - w_triple[z_2, z_1, z]
            beyond = k + reach
        for p in range(starts[j], starts[j + 1]):
            mixed[positions[p] + 2] = gold[positions[p] + 2]
        out[j] = margin


@inlined
def add_place(model, labels, here, amount, clock):
    """Add `amount` to the transitions of `labels` that end at one place."""
    y_2, y_1, y = labels[here], labels[here + 1], labels[here + 2]
    model.w_move[y_1, y] += amount
    model.delayed_move[y_1, y] += amount * clock
    if len(model.w_triple):
        model.w_triple[y_2, y_1, y] += amount
        model.delayed_triple[y_2, y_1, y] += amount * clock
    for older in range(len(model.steps)):
        if model.steps[older, y_1, y] > -np.inf:
            triple = model.w_triple[older, y_1, y] if len(model.w_triple) else 0.0
            model.steps[older, y_1, y] = model.w_move[y_1, y] + triple


@implement(operations.add, SearchChain)
@kernel
def add(problem, model, i, starts, positions, sets, count, amounts, clock):
    start = problem.offsets[i]
    reach = 3 if len(model.w_triple) else 2
    for c in range(count):
        amount = amounts[c]
        if amount == 0:
            continue
        first, last = starts[sets[c]], starts[sets[c] + 1]
        for p in range(first, last):
            model.mixed[positions[p] + 2] = model.predicted[positions[p]]
        beyond = 0
        for p in range(first, last):
            k = positions[p]
            y, z = model.gold[k + 2], model.mixed[k + 2]
            for q in range(problem.starts[start + k], problem.starts[start + k + 1]):
                a = problem.attributes[q]
                change = amount * problem.values[q] if len(problem.values) else amount
                model.w[a, y] += change
                model.w[a, z] -= change
                model.delayed[a, y] += change * clock
                model.delayed[a, z] -= change * clock
            for here in range(max(k, beyond), min(k + reach, model.places[0])):
                add_place(model, model.gold, here, amount, clock)
                add_place(model, model.mixed, here, -amount, clock)
            beyond = k + reach
        for p in range(first, last):
            model.mixed[positions[p] + 2] = model.gold[positions[p] + 2]


@implement(operations.weights, SearchModel)
def weights(model: SearchModel) -> Floats:
    """w as one vector: (a, y), then (y', y), then (y'', y', y)."""
    return np.concatenate([model.w.ravel(), model.w_move.ravel(), model.w_triple.ravel()])


@implement(operations.norm, SearchModel)
def norm(model: SearchModel) -> float:
    return math.sqrt(squares(model.w, model.w_move, model.w_triple))


@implement(operations.averaged_weights, SearchModel)
def averaged_weights(model: SearchModel, clock: float) -> Floats:
    sums = (model.delayed, model.delayed_move, model.delayed_triple)
    return averaged(weights(model), np.concatenate([part.ravel() for part in sums]), clock)


@kernel
def predict_all(problem: SearchChain, model: SearchModel, out: Ids) -> None:
    """Write the predictions for all sequences, one after the other; `problem` may have no gold labels."""
    for i in range(len(problem.offsets) - 1):
        predict_one(problem, model, i, 0, out, problem.offsets[i])
