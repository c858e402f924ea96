"""Weights only of pairs that have changed: the same training as with all of them, and rows that move."""

import numpy as np
import pytest

from helpers.plain_tagger import ATTRIBUTES, LABELS, LONGEST, as_problem, random_examples
from swvp.learning.perceptron import new_state, run_epochs
from swvp.learning.rule import as_rule
from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain, new_model, predict_all
from swvp.structures.chain.growing import (
    fill_in_order,
    new_growing_model,
    predict_with_rows,
    rooms_of,
    rows_of_model,
    weights_in_order,
)
from swvp.structures.chain.rows import weight_rows

FREE = np.zeros((LABELS + 1, LABELS + 1))
MANY = 20
RULES = ["csp", "a-wm:segments:sqrt", "mira", "csp:ada", "b-maxent:all:ada", "mira:3", "softmax", "b-maxent:all:2"]


def weights_of(model):
    """All weights and averaging sums of a growing model, as those of a dense one."""
    shape = len(model.rows), model.node.shape[1]
    result = []
    for values in (model.w, model.delayed):
        array = np.zeros(shape)
        features, found = weights_in_order(model, values)
        array.reshape(-1)[features] = found
        result.append(array)
    return result


def check_same_weights_as_dense(rule, *, valued):
    rng = np.random.default_rng(valued)
    for _ in range(5):
        X, Y = random_examples(rng, valued=valued)
        problem = as_problem(X, Y, valued=valued)._replace(costs=1.0 - np.eye(LABELS))
        dense = new_model(ATTRIBUTES, LABELS, LONGEST)
        growing = new_growing_model(ATTRIBUTES, LABELS, LONGEST, FREE)
        one, other = (
            list(run_epochs(problem, model, as_rule(rule), examples=len(X), epochs=4)) for model in (dense, growing)
        )
        assert [epoch.mistakes for epoch in one] == [epoch.mistakes for epoch in other]
        np.testing.assert_allclose([epoch.norm for epoch in other], [epoch.norm for epoch in one])
        compare = np.testing.assert_allclose if valued else np.testing.assert_array_equal
        for mine, theirs in zip(weights_of(growing), (dense.w, dense.delayed), strict=True):
            compare(mine, theirs)
        compare(growing.w_move, dense.w_move)
        compare(growing.delayed_move, dense.delayed_move)


@pytest.mark.parametrize("rule", ["csp", "softmax"])
def test_the_weights_are_those_of_the_dense_model(rule):
    check_same_weights_as_dense(rule, valued=False)


@pytest.mark.without_jit
@pytest.mark.parametrize("valued", [False, True], ids=["unit", "valued"])
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_learns_the_weights_of_the_dense_model(rule, valued):
    check_same_weights_as_dense(rule, valued=valued)


def random_chain(rng, attributes, labels):
    """Sentences of random attributes, in which many labels occur with each attribute."""
    lengths = rng.integers(1, 8, 40)
    starts = np.arange(0, 3 * lengths.sum() + 1, 3)
    return AttributeChain(
        rng.integers(0, attributes, starts[-1]).astype(np.uint32),
        np.zeros(0),
        starts,
        rng.integers(0, labels, lengths.sum()).astype(np.uint32),
        np.concatenate([[0], np.cumsum(lengths)]),
        1.0 - np.eye(labels),
    )


def trained(rng, labels=MANY, rule="softmax", epochs=6):
    """A dense and a growing model after the same training, and the problem."""
    problem = random_chain(rng, 12, labels)
    models = new_model(12, labels, 8), new_growing_model(12, labels, 8, np.zeros((labels + 1, labels + 1)))
    for model in models:
        for _ in run_epochs(problem, model, as_rule(rule), examples=40, epochs=epochs):
            pass
    return problem, *models


@pytest.mark.parametrize("labels", [2, 7, 8, MANY, 40])
def test_rows_grow_to_all_labels_without_overlap(labels):
    _, dense, growing = trained(np.random.default_rng(labels), labels, "csp")
    np.testing.assert_array_equal(weights_of(growing)[0], dense.w)
    rooms = rooms_of(labels)
    taken = []
    for first, size in growing.rows.astype(int):
        if size:
            taken += range(first, first + next(room for room in rooms if room >= size))
            assert len(set(growing.labels[first : first + size])) == size
    assert len(set(taken)) == len(taken)
    assert min(taken) >= (labels + 1) ** 2
    assert max(taken) < growing.free[-1] <= len(growing.w)


def test_rows_that_were_left_are_used_again():
    rng = np.random.default_rng(0)
    *_, growing = trained(rng)
    assert growing.free[0] > 0
    before = growing.free.copy()
    empty = np.flatnonzero(growing.rows[:, 1] == 0)
    model = growing if len(empty) else growing._replace(rows=np.append(growing.rows, [[0, 0]], 0).astype(np.uint32))
    operations.change(model, (len(model.rows) - 1) * MANY, 1.0, 0.0)
    assert model.rows[-1, 0] == before[0]
    assert model.free[-1] == before[-1]


def test_sums_of_squares_move_with_their_rows():
    rng = np.random.default_rng(1)
    problem = random_chain(rng, 12, MANY)
    free = np.zeros((MANY + 1, MANY + 1))
    dense, growing = new_model(12, MANY, 8), new_growing_model(12, MANY, 8, free)
    rule = as_rule("3xcsp:ada..2xcsp..csp:ada")
    states = [new_state(rule, model) for model in (dense, growing)]
    for model, state in zip((dense, growing), states, strict=True):
        for _ in run_epochs(problem, model, rule, examples=40, epochs=8, state=state):
            pass
    squares = np.zeros(dense.w.size, np.float32)
    features, values = weights_in_order(growing, states[1].squares)
    squares[features] = values
    np.testing.assert_array_equal(squares, states[0].squares[: dense.w.size])
    np.testing.assert_array_equal(states[1].squares[: dense.w_move.size], states[0].squares[dense.w.size :])


@pytest.mark.parametrize("clock", [None, 240.0])
def test_rows_in_order_hold_the_weights_or_their_mean_and_predict_as_the_dense_model(clock):
    problem, dense, growing = trained(np.random.default_rng(2))
    rows = rows_of_model(growing, clock)
    expected = dense.w if clock is None else operations.averaged_weights(dense, clock)[: dense.w.size].reshape(12, -1)
    attributes, labels, values = rows.nonzero()
    found = np.zeros_like(dense.w)
    found[attributes, labels] = values
    np.testing.assert_array_equal(found, expected)
    again = weight_rows(np.bincount(attributes, minlength=12), labels, values, MANY)
    for one, other in zip(rows, again, strict=True):
        np.testing.assert_array_equal(one, other)

    predicted, by_rows = np.zeros((2, len(problem.y)), np.uint32)
    predict_all(problem, dense._replace(w=expected), predicted)
    buffers = np.zeros((8, MANY)), np.zeros((8, MANY))
    predict_with_rows(problem, rows.starts, rows.labels, rows.weights, dense.moves, *buffers, by_rows)
    np.testing.assert_array_equal(by_rows, predicted)


def test_a_model_can_be_filled_with_the_weights_of_another():
    *_, growing = trained(np.random.default_rng(3))
    other = new_growing_model(12, MANY, 8, np.zeros((MANY + 1, MANY + 1)))
    for name in ("w", "delayed", "squares"):
        fill_in_order(other, name, *weights_in_order(growing, getattr(growing, name)))
    for one, filled in zip(weights_of(growing), weights_of(other), strict=True):
        np.testing.assert_array_equal(one, filled)


def test_a_model_of_more_places_than_32_bits_can_number_is_refused():
    assert new_growing_model(2**31, 4, 1, np.zeros((5, 5))) is None
