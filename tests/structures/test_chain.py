"""The compiled chain against its definition."""

import numpy as np
import pytest

from helpers.problems import RememberingChain, as_chain, random_sequences
from swvp.structures import operations
from swvp.structures.chain.indicator import new_model, predict_all

SYMBOLS, LABELS, LONGEST = 6, 3, 5


def predictions(X, w, labels=LABELS):
    chain = as_chain(X, [[0] * len(x) for x in X])
    out = np.full(len(chain.x), 99, np.uint32)
    predict_all(new_model(SYMBOLS, labels, LONGEST, w), chain.x, chain.offsets, out)
    return [tuple(out[a:b].tolist()) for a, b in zip(chain.offsets, chain.offsets[1:], strict=False)]


@pytest.mark.parametrize("seed", range(20))
def test_prediction_is_the_best_of_all_labels(seed):
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(1, 4))
    chain = RememberingChain(SYMBOLS, labels)
    X, _ = random_sequences(rng, examples=10, symbols=SYMBOLS, labels=labels, longest=LONGEST)
    w = rng.normal(size=len(chain.joint_feature((0,), (0,))))
    assert predictions(X, w, labels) == [chain.argmax(x, w) for x in X]


@pytest.mark.parametrize("seed", range(20))
def test_ties_go_to_the_smallest_label_from_the_end(seed):
    rng = np.random.default_rng(seed)
    chain = RememberingChain(SYMBOLS, LABELS)
    X = [tuple(rng.integers(SYMBOLS, size=size).tolist()) for size in rng.integers(1, LONGEST + 1, size=10)]
    w = rng.integers(-1, 2, size=len(chain.joint_feature((0,), (0,)))).astype(float)  # exact sums, many ties
    assert predictions(X, w) == [chain.argmax(x, w) for x in X]


def test_zero_weights_predict_the_first_label():
    assert predictions([(0, 1, 2)], None) == [(0, 0, 0)]


def test_sequences_of_no_and_of_one_position_are_predicted():
    w = np.zeros(6 + 3 + 4 + 18 + 12 + 72)
    w[6 + 2] = 1.0  # label 2
    assert predictions([(), (3,), ()], w) == [(), (2,), ()]


@pytest.mark.parametrize("seed", range(10))
def test_margins_and_updates_are_those_of_the_definition_for_any_set_of_positions(seed):
    rng = np.random.default_rng(seed)
    X, Y = random_sequences(rng, examples=1, symbols=SYMBOLS, labels=LABELS, longest=LONGEST)
    chain, (x,), (y,) = RememberingChain(SYMBOLS, LABELS), X, Y
    start = rng.normal(size=len(chain.joint_feature(x, y)))
    model = new_model(SYMBOLS, LABELS, LONGEST, start)
    wrong = np.empty(LONGEST, np.int64)
    k = operations.find_mistakes(as_chain(X, Y), model, 0, wrong)
    predicted = chain.argmax(x, start)
    assert wrong[:k].tolist() == [j for j in range(len(x)) if y[j] != predicted[j]]

    sets = [J for J in ((0,), (0, 1), (1, 2), (0, 2), (0, 1, 2, 3, 4)) if J[-1] < len(x)]
    starts, positions = np.cumsum([0, *map(len, sets)]), np.concatenate([np.array(J) for J in sets])
    deltas = [
        chain.joint_feature(x, y)
        - chain.joint_feature(x, tuple(predicted[j] if j in J else y[j] for j in range(len(x))))
        for J in sets
    ]
    margins = np.empty(len(sets))
    operations.margins(as_chain(X, Y), model, 0, starts, positions, len(sets), margins)
    np.testing.assert_allclose(margins, [start @ delta for delta in deltas], atol=1e-12)

    amounts = rng.random(len(sets))
    operations.add(as_chain(X, Y), model, 0, starts, positions, np.arange(len(sets)), len(sets), amounts, 7)
    change = amounts @ np.array(deltas)
    np.testing.assert_allclose(operations.weights(model), start + change, atol=1e-12)
    np.testing.assert_allclose(operations.averaged_weights(model, 10), start + 0.3 * change, atol=1e-12)
