"""The rule softmax in second order: the expectations are those of all outputs, and training separates data."""

import numpy as np
import pytest

from helpers.plain_search import BARRIERS, LABELS, PlainSearch, as_chain, random_examples, started
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import as_rule
from swvp.structures import operations
from swvp.structures.chain.expected import LEAST
from swvp.structures.chain.search import as_search


def difference_of(problem, model, i):
    """What the kernel returns, as a vector."""
    operations.find_mistakes(problem, model, i, np.zeros(5, np.int64))
    size, features, values = operations.expected_difference(problem, model, i)
    difference = np.zeros_like(operations.weights(model))
    np.add.at(difference, features[:size], values[:size])
    return difference


def brute_force(plain, x, y, w, costs):
    """φ(x, y) - E[φ(x, y')] over all allowed outputs."""
    outputs = plain.outputs(len(x))
    phi = np.array([plain.joint_feature(x, z) for z in outputs])
    scores = phi @ w + [sum(costs[a, b] for a, b in zip(y, z, strict=True)) for z in outputs]
    p = np.exp(scores - scores.max())
    return plain.joint_feature(x, y) - (p / p.sum()) @ phi


@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
@pytest.mark.parametrize("valued", [False, True], ids=["unit", "valued"])
@pytest.mark.parametrize("scale", [0.0, 1.0, 8.0])
def test_the_difference_is_that_of_the_definition(barrier, valued, scale):
    rng = np.random.default_rng(5)
    plain = PlainSearch(2, barrier)
    for _ in range(4):
        X, Y = random_examples(rng, plain, valued=valued)
        costs = rng.choice([0.5, 1.0, 2.0], size=(LABELS, LABELS)) * (1 - np.eye(LABELS))
        problem = as_search(as_chain(X, Y, valued=valued))._replace(costs=costs)
        model, w = started(rng, order=2, width=0, barrier=barrier)
        model.w[:] *= scale
        model.w_move[:] *= scale
        model.w_triple[:] *= scale
        operations.refresh(model)
        most = max(1.0, *(abs(value) for x in X for position in x for _, value in position))
        for i, (x, y) in enumerate(zip(X, Y, strict=True)):
            expected = brute_force(plain, x, y, scale * w, costs)
            np.testing.assert_allclose(difference_of(problem, model, i), expected, atol=6 * LEAST * most)


def test_with_scores_hundreds_apart_the_expectation_is_the_best_output():
    rng = np.random.default_rng(6)
    plain = PlainSearch(2)
    X, Y = random_examples(rng, plain)
    problem = as_search(as_chain(X, Y))
    model, w = started(rng, order=2, width=0)
    for part in (model.w, model.w_move, model.w_triple):
        part *= 1e4
    operations.refresh(model)
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        expected = plain.joint_feature(x, y) - plain.joint_feature(x, plain.argmax(x, 1e4 * w))
        np.testing.assert_allclose(difference_of(problem, model, i), expected, atol=1e-9)


def test_training_ends_when_all_gold_labels_win_by_the_margin():
    X, Y = [[[(0, 1.0)], [(1, 1.0)], [(0, 1.0)]]], [(1, 0, 2)]
    costs = 2.0 * (1 - np.eye(LABELS))
    problem = as_search(as_chain(X, Y))._replace(costs=costs)
    model, _ = started(np.random.default_rng(0), order=2, width=0)
    history = list(run_epochs(problem, model, as_rule("softmax"), examples=1, epochs=80))
    assert history[-1].mistakes == 0
    plain, w = PlainSearch(2), operations.weights(model)
    scores = {z: w @ plain.joint_feature(X[0], z) for z in plain.outputs(3)}
    wrong = {z: sum(a != b for a, b in zip(Y[0], z, strict=True)) for z in scores}
    assert all(scores[Y[0]] >= scores[z] + 2 * wrong[z] - 1e-9 for z in scores)
