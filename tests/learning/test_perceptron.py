"""Laws of training on the compiled chain."""

import numpy as np
import pytest

from helpers.problems import RememberingChain, as_chain, random_sequences, separable_sequences
from swvp.estimators import StructuredPerceptron
from swvp.learning.perceptron import new_state, run_epochs
from swvp.learning.rule import PAPER_RULES, as_rule
from swvp.structures import operations
from swvp.structures.chain.indicator import new_model


def learn(X, Y, rule, *, symbols, labels, epochs=5, seed=None):
    model = new_model(symbols, labels, max(map(len, X)))
    orders = None if seed is None else np.random.default_rng(seed)
    history = list(
        run_epochs(as_chain(X, Y), model, as_rule(rule), examples=len(X), epochs=epochs, random_state=orders)
    )
    return operations.weights(model), history


@pytest.fixture
def sequences():
    return random_sequences(np.random.default_rng(3), examples=30, symbols=6, labels=3, longest=5)


@pytest.mark.parametrize("rule", ["a-uniform:full", "b-wmr:full", "a-softmin:full:count", "b-worst:full:impose"])
def test_every_rule_over_full_is_the_collins_perceptron(sequences, rule):
    expected, _ = learn(*sequences, "csp", symbols=6, labels=3)
    np.testing.assert_array_equal(learn(*sequences, rule, symbols=6, labels=3)[0], expected)


def test_the_collins_perceptron_is_algorithm_1(sequences):
    X, Y = sequences
    chain = RememberingChain(6, 3)
    w = np.zeros(len(chain.joint_feature(X[0], Y[0])))
    for _ in range(5):
        for x, y in zip(X, Y, strict=True):
            predicted = chain.argmax(x, w)
            if predicted != y:
                w += chain.joint_feature(x, y) - chain.joint_feature(x, predicted)
    np.testing.assert_array_equal(learn(X, Y, "csp", symbols=6, labels=3)[0], w)


@pytest.mark.parametrize("rule", PAPER_RULES)
def test_training_stops_after_a_pass_without_a_mistake(rule):
    chain, X, Y, _ = separable_sequences(np.random.default_rng(0), examples=8, symbols=4, labels=3, length=4)
    w, history = learn(X, Y, rule, symbols=4, labels=3, epochs=500)
    assert len(history) < 500
    assert [epoch.mistakes > 0 for epoch in history] == [True] * (len(history) - 1) + [False]
    assert [chain.argmax(x, w) for x in X] == Y


@pytest.mark.parametrize("rule", ["a-wm:segments", "a-uniform:segments", "b-wmr:segments"])
def test_segments_of_a_chain_are_all_violations(sequences, rule):
    _, history = learn(*sequences, rule, symbols=6, labels=3)
    assert sum(epoch.violating for epoch in history) > 0
    assert sum(epoch.non_violating for epoch in history) == 0


@pytest.mark.parametrize("rule", ["a-wm", "b-wm", "b-wm:impose", "a-wm:pairs:sqrt"])
def test_the_counts_of_a_pass_fit_together(sequences, rule):
    _, history = learn(*sequences, rule, symbols=6, labels=3)
    for epoch in history:
        assert epoch.updates == epoch.mistakes <= epoch.examples == 30
        assert 0 <= epoch.back_offs <= epoch.updates
        assert epoch.condition_2_failures + epoch.back_offs <= epoch.updates
        assert epoch.norm > 0
        if rule.startswith("a"):
            assert epoch.condition_2_failures == epoch.excluded == 0
        if "impose" in rule:
            assert epoch.condition_2_failures == 0
    assert history[0].back_offs >= 1  # w = 0


def test_condition_2_fails_for_some_balanced_updates_and_is_counted(sequences):
    _, history = learn(*sequences, "b-wm", symbols=6, labels=3)
    assert sum(epoch.condition_2_failures for epoch in history) > 0
    _, imposed = learn(*sequences, "b-wm:impose", symbols=6, labels=3)
    assert sum(epoch.excluded for epoch in imposed) > 0


def test_a_seed_fixes_the_weights_byte_for_byte(sequences):
    runs = [learn(*sequences, "a-wm", symbols=6, labels=3, seed=seed)[0].tobytes() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_renaming_the_labels_renames_the_weights():
    rng = np.random.default_rng(5)
    X, Y = random_sequences(rng, examples=20, symbols=6, labels=3, longest=5)
    new_name = [2, 0, 1]
    start = rng.normal(size=6 + 3 + 4 + 18 + 12 + 72)
    start[:6] = 0
    chains, results = [RememberingChain(6, 3)], []
    for names in ([0, 1, 2], new_name):
        blocks = [start[6:9], start[9:13], start[13:31], start[31:43], start[43:]]
        shapes = [(3,), (4,), (6, 3), (4, 3), (6, 4, 3)]
        order = np.argsort(names)
        order_start = np.append(order, 3)
        y, p, e, m, q = (block.reshape(shape) for block, shape in zip(blocks, shapes, strict=True))
        renamed = [y[order], p[order_start], e[:, order], m[order_start][:, order], q[:, order_start][:, :, order]]
        model = new_model(6, 3, 5, np.concatenate([start[:6], *(block.ravel() for block in renamed)]))
        labels = [tuple(names[label] for label in sequence) for sequence in Y]
        list(run_epochs(as_chain(X, labels), model, as_rule("b-wm"), examples=len(X), epochs=3))
        results.append([chains[0].argmax(x, operations.weights(model)) for x in X])
    assert [tuple(new_name[label] for label in sequence) for sequence in results[0]] == results[1]


@pytest.mark.parametrize("rule", ["a-wm", "b-wm:impose", "b-optimal", "a-wmr:pairs"])
@pytest.mark.parametrize(("one", "other"), [(0.5, 2.0**-17), (0.5, 2.0**30), (1, 2**10)])
def test_scaling_all_features_changes_no_decision(sequences, rule, one, other):
    """Where features are counts before and after, or neither."""

    class Scaled(RememberingChain):
        def __init__(self, factor):
            super().__init__(6, 3)
            self.factor = factor

        def joint_feature(self, x, y):
            return self.factor * super().joint_feature(x, y)

    X, Y = sequences
    plain, scaled = (
        StructuredPerceptron(Scaled(factor), rule=rule, epochs=4, shuffle=False).fit(X, Y) for factor in (one, other)
    )
    np.testing.assert_allclose(scaled.last_coef_ / other, plain.last_coef_ / one)
    assert [e.back_offs for e in scaled.history_] == [e.back_offs for e in plain.history_]
    assert [e.excluded for e in scaled.history_] == [e.excluded for e in plain.history_]


def test_training_in_two_parts_is_training_in_one(sequences):
    whole, _ = learn(*sequences, "b-wm", symbols=6, labels=3, epochs=4)
    model, rule = new_model(6, 3, 5), as_rule("b-wm")
    state = new_state(rule, model)
    for _ in range(2):
        list(run_epochs(as_chain(*sequences), model, rule, examples=30, epochs=2, state=state))
    np.testing.assert_array_equal(operations.weights(model), whole)
