"""The compiled chain of taggers against its definition."""

import numpy as np
import pytest

from helpers.plain_tagger import (
    ATTRIBUTES,
    BARRIERS,
    LABELS,
    LONGEST,
    PlainTagger,
    as_problem,
    random_examples,
    started,
)
from swvp.estimators import StructuredPerceptron
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import as_rule
from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain, new_model, predict_all

RULES = [
    "csp",
    "a-wm",
    "b-wmr:sqrt",
    "a-softmin:segments",
    "b-uniform:pairs:impose",
    "a-worst:prefixes",
    "b-optimal:all",
]


@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
@pytest.mark.parametrize("valued", [False, True], ids=["unit", "valued"])
@pytest.mark.parametrize("rule", RULES)
def test_the_compiled_tagger_learns_the_weights_of_the_generic_learner(rule, valued, barrier):
    rng = np.random.default_rng([RULES.index(rule), valued, barrier is None])
    for _ in range(5):
        X, Y = random_examples(rng, valued=valued, barrier=barrier)
        model, start = started(rng, barrier)
        history = list(run_epochs(as_problem(X, Y, valued=valued), model, as_rule(rule), examples=len(X), epochs=3))
        generic = StructuredPerceptron(PlainTagger(barrier), rule=rule, epochs=3, shuffle=False).fit(
            X, Y, initial=start
        )
        np.testing.assert_allclose(operations.weights(model), generic.last_coef_, atol=1e-9)
        averaged = operations.averaged_weights(model, len(history) * len(X))
        np.testing.assert_allclose(averaged, generic.averaged_coef_, atol=1e-9)
        np.testing.assert_allclose(
            model.moves, model.w_move + (0 if barrier is None else barrier), atol=1e-12
        )  # the table that decoding sees


@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
@pytest.mark.parametrize("valued", [False, True], ids=["unit", "valued"])
def test_prediction_is_the_best_of_all_allowed_labels(valued, barrier):
    rng = np.random.default_rng(7)
    for _ in range(20):
        X, Y = random_examples(rng, valued=valued, barrier=barrier)
        model, w = started(rng, barrier)
        out = np.empty(sum(map(len, X)), np.uint32)
        predict_all(as_problem(X, Y, valued=valued), model, out)
        expected = [label for x in X for label in PlainTagger(barrier).argmax(x, w)]
        assert out.tolist() == expected


def test_ties_go_to_the_smallest_label_from_the_end():
    rng = np.random.default_rng(8)
    for _ in range(50):
        X, Y = random_examples(rng, valued=False)
        model = new_model(ATTRIBUTES, LABELS, LONGEST)
        model.w[:] = rng.integers(-1, 2, size=model.w.shape)
        model.w_move[:] = rng.integers(-1, 2, size=model.w_move.shape)
        model.moves[:] = model.w_move
        out = np.empty(sum(map(len, X)), np.uint32)
        predict_all(as_problem(X, Y, valued=False), model, out)
        w = operations.weights(model)
        assert out.tolist() == [label for x in X for label in PlainTagger().argmax(x, w)]


def test_positions_without_attributes_and_sequences_without_positions_are_predicted():
    model, _ = started(np.random.default_rng(9))
    empty = AttributeChain(
        np.zeros(0, np.uint32), np.zeros(0), np.zeros(4, np.int64), np.zeros(3, np.uint32), np.array([0, 0, 3, 3])
    )
    out = np.full(3, 99, np.uint32)
    predict_all(empty, model, out)
    assert tuple(out.tolist()) == PlainTagger().argmax([[], [], []], operations.weights(model))
