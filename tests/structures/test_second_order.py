"""The second-order chain of taggers against its definition."""

import itertools

import numpy as np
import pytest

from helpers.plain_search import BARRIERS, LABELS, PlainSearch, as_chain, random_examples, started
from swvp.errors import InputError
from swvp.estimators import StructuredPerceptron
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import as_rule
from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain
from swvp.structures.chain.search import as_search, check_search, new_search_model, predict_all, with_weights

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
def test_the_compiled_chain_learns_the_weights_of_the_generic_learner(rule, valued, barrier):
    rng = np.random.default_rng([RULES.index(rule), valued])
    for _ in range(3):
        plain = PlainSearch(2, barrier)
        X, Y = random_examples(rng, plain, valued=valued)
        model, w = started(rng, order=2, width=0, barrier=barrier)
        problem = as_search(as_chain(X, Y, valued=valued))
        history = list(run_epochs(problem, model, as_rule(rule), examples=len(X), epochs=3))
        generic = StructuredPerceptron(plain, rule=rule, epochs=3, shuffle=False).fit(X, Y, initial=w)
        np.testing.assert_allclose(operations.weights(model), generic.last_coef_, atol=1e-9)
        averaged = operations.averaged_weights(model, len(history) * len(X))
        np.testing.assert_allclose(averaged, generic.averaged_coef_, atol=1e-9)
        assert (model.steps == with_weights(model, operations.weights(model)).steps).all()  # what decoding sees


@pytest.mark.parametrize("J", [J for size in (1, 2, 3) for J in itertools.combinations(range(5), size)])
def test_margins_and_updates_are_those_of_the_definition_for_any_positions(J):
    rng = np.random.default_rng(3)
    plain = PlainSearch(2)
    x = [[(k, 1.0)] for k in range(5)]
    gold, z = (0, 1, 2, 0, 1), (1, 2, 0, 1, 2)
    problem = as_search(as_chain([x], [gold]))
    model, w = started(rng, order=2, width=0)
    operations.find_mistakes(problem, model, 0, np.zeros(5, np.int64))
    model.predicted[:] = z
    delta = plain.joint_feature(x, gold) - plain.joint_feature(x, [z[k] if k in J else gold[k] for k in range(5)])
    starts, positions, out = np.array([0, len(J)]), np.array(J), np.zeros(1)
    operations.margins(problem, model, 0, starts, positions, 1, out)
    assert out[0] == pytest.approx(w @ delta)
    operations.add(problem, model, 0, starts, positions, np.zeros(1, np.int64), 1, np.array([0.5]), 4)
    np.testing.assert_allclose(operations.weights(model), w + 0.5 * delta, atol=1e-12)
    np.testing.assert_allclose(operations.averaged_weights(model, 10), w + 0.5 * delta * (1 - 4 / 10), atol=1e-12)


@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
def test_prediction_is_the_best_of_all_allowed_labels(barrier):
    rng = np.random.default_rng(7)
    for _ in range(20):
        plain = PlainSearch(2, barrier)
        X, Y = random_examples(rng, plain)
        model, w = started(rng, order=2, width=0, barrier=barrier)
        out = np.empty(sum(map(len, X)), np.uint32)
        predict_all(as_search(as_chain(X, Y)), model, out)
        assert out.tolist() == [label for x in X for label in plain.argmax(x, w)]


def test_ties_go_to_the_smallest_label_from_the_end():
    rng = np.random.default_rng(8)
    plain = PlainSearch(2)
    for _ in range(30):
        X, Y = random_examples(rng, plain)
        weights = rng.integers(-1, 2, size=len(plain.joint_feature([], []))).astype(float)
        model, w = started(rng, order=2, width=0, weights=weights)
        out = np.empty(sum(map(len, X)), np.uint32)
        predict_all(as_search(as_chain(X, Y)), model, out)
        assert out.tolist() == [label for x in X for label in PlainSearch(2).argmax(x, w)]


@pytest.mark.parametrize("labels", [1, 2, 5, 6, 7, 8, 23])
def test_any_number_of_labels(labels):
    """Against a beam that holds every state: another search, written apart."""
    rng = np.random.default_rng(labels)
    attributes, offsets = np.arange(9, dtype=np.uint32), np.array([0, 2, 9])
    problem = as_search(AttributeChain(attributes, np.zeros(0), np.arange(10), np.zeros(0, np.uint32), offsets))
    w = rng.normal(size=9 * labels + (labels + 1) ** 2 + (labels + 1) ** 3)
    found = []
    for width in (0, labels**2):
        out = np.full(9, 99, np.uint32)
        predict_all(problem, with_weights(new_search_model(0, labels, 9, None, 2, width), w), out)
        found.append(out.tolist())
    assert found[0] == found[1]
    assert max(found[0]) < labels


def test_what_second_order_can_learn_and_first_order_cannot():
    """Labels 0 0 1 1 0 0 1 1 …: the next one depends on two before it, and all positions look the same."""
    y = np.array([0, 0, 1, 1] * 10, np.uint32)
    chain = AttributeChain(np.zeros(0, np.uint32), np.zeros(0), np.zeros(41, np.int64), y, np.array([0, 40]))
    mistakes = {}
    for order in (1, 2):
        model = new_search_model(1, 2, 40, None, order, 0)
        history = list(run_epochs(as_search(chain), model, as_rule("csp"), examples=1, epochs=100))
        mistakes[order] = history[-1].mistakes
    assert mistakes == {1: 1, 2: 0}


@pytest.mark.parametrize("width", [0, 4])
@pytest.mark.parametrize("order", [1, 2])
def test_long_and_empty_sequences(order, width):
    n = 20_000
    rng = np.random.default_rng(0)
    chain = AttributeChain(
        np.arange(n, dtype=np.uint32) % 50,
        np.zeros(0),
        np.arange(n + 1),
        (np.arange(n) % 50 % LABELS).astype(np.uint32),
        np.array([0, 0, n, n]),
    )
    problem = as_search(chain, "max-violation" if width else "none")
    model = new_search_model(50, LABELS, n, None, order, width)
    list(run_epochs(problem, model, as_rule("csp"), examples=3, epochs=5, random_state=rng))
    out = np.full(n, 99, np.uint32)
    predict_all(problem, model, out)
    assert (out == chain.y).mean() > 0.99
    assert operations.labels(problem, model, 0)[0].size == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 0), "order must be 1 or 2, not 3"),
        ((1, -1), "width must be a whole number"),
        ((1, 2.5), "width must be a whole number"),
        ((1, 4, "erly"), "did you mean 'early'"),
        ((2, 0, "latest"), "fix 'latest' needs a beam"),
    ],
)
def test_choices_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        check_search(*arguments)
