"""The compiled arc-factored model learns what its definition learns, for every rule."""

import numpy as np
import pytest

from helpers.arc_treebanks import RULES, Both, every_kind, every_pruning
from helpers.slow import slow_except
from helpers.treebanks import arcs_of
from swvp.estimators import StructuredPerceptron
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import as_rule
from swvp.structures import operations
from swvp.structures.tree.first_order.features import score_sentence
from swvp.structures.tree.first_order.model import labels, new_model, predict_all
from swvp.structures.tree.reference import best_tree


@every_pruning
@every_kind
@pytest.mark.parametrize("rule", slow_except(RULES, "csp", "a-wm:mira"))
def test_kernels_and_definition_learn_the_same_weights(rule, projective, one_root, prune):
    rng = np.random.default_rng([RULES.index(rule), projective, one_root, prune])
    given = as_rule(rule, beta=float(rng.uniform(0.3, 3)), C=float(rng.choice([0.03, 0.3, 10])))
    both = Both(rng, projective=projective, one_root=one_root, prune=prune, exact="mira" in rule)
    check_training(both, given)
    if "mira" in rule:
        assert both.model.claimed[0] == np.count_nonzero(both.model.owners) == len(both.keys)


@every_kind
def test_steps_of_mira_with_hashed_weights(projective, one_root):
    """With the types of a parser with default options."""
    both = Both(np.random.default_rng([projective, one_root]), projective=projective, one_root=one_root, prune=True)
    check_training(both, as_rule("a-wm:mira", C=0.3))


def check_training(both, given):
    """Train both; the weights, the scores of all arcs and what happened must be the same."""
    history = list(run_epochs(both.problem, both.model, given, examples=len(both.X), epochs=3))
    generic = StructuredPerceptron(both.plain, rule=given, epochs=3, average_power=1, shuffle=False).fit(
        both.X, both.Y, initial=both.start
    )
    atol = 1e-6 if given.k_best > 1 else 1e-9
    np.testing.assert_allclose(both.weights(operations.weights(both.model)), generic.last_coef_, atol=atol)
    averaged = operations.averaged_weights(both.model, len(both.X) * len(history))
    np.testing.assert_allclose(both.weights(averaged), generic.averaged_coef_, atol=atol)
    assert [counts(epoch) for epoch in history] == [counts(epoch) for epoch in generic.history_]
    assert [epoch.norm for epoch in history] == pytest.approx([epoch.norm for epoch in generic.history_], abs=1e-5)
    assert sum(epoch.updates + epoch.without_violation for epoch in history) > 0
    for i, x in enumerate(both.X):
        score_sentence(both.problem.nodes, both.problem.tables, i, both.model.w, both.model.owners, both.model.buffers)
        expected = both.plain.allowed_scores(x, generic.last_coef_)
        for arc in arcs_of(x):
            np.testing.assert_allclose(both.model.buffers.scores[arc], expected[arc], atol=10 * atol)


def counts(epoch):
    return {name: value for name, value in epoch.as_dict().items() if name not in ("norm", "seconds")}


@every_pruning
@every_kind
def test_predictions_are_those_of_the_definition(projective, one_root, prune):
    rng = np.random.default_rng([9, projective, one_root, prune])
    pruned = forced = 0
    for _ in range(10):
        both = Both(rng, projective=projective, one_root=one_root, prune=prune)
        out = np.empty(sum(map(len, both.X)), np.int32)
        predict_all(both.problem, both.model, 0, len(both.X), out)
        expected = [both.plain.argmax(x, both.start) for x in both.X]
        assert out.tolist() == [h for y in expected for h in y]
        for x, y in zip(both.X, expected, strict=True):
            pruned += sum(both.plain.pruned(x, h, m) for h, m in arcs_of(x))
            forced += any(both.plain.pruned(x, h, m) for m, h in enumerate(y, 1))
    assert (pruned > 0) == prune
    assert (forced > 0) == (prune and not projective)


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "hashed"])
def test_owners_are_given_as_features_are_met(exact):
    """From zero weights: the places taken are those of the features of updates, and scores are w·φ."""
    rng = np.random.default_rng(10)
    both = Both(rng, projective=False, one_root=True, prune=False)
    model = new_model(both.problem, 2**16, exact=exact)
    for epoch in run_epochs(both.problem, model, as_rule("mira"), examples=len(both.X), epochs=20):
        assert epoch.mistakes == 0 or epoch.epoch < 20
    if exact:
        owned = set(model.owners[model.owners != 0].tolist())
        assert owned <= {int(key) for key in both.keys}
        assert len(owned) == model.claimed[0]
        assert set(np.flatnonzero(model.w)) <= set(np.flatnonzero(model.owners))
    out = np.empty(sum(map(len, both.X)), np.int32)
    predict_all(both.problem, model, 0, len(both.X), out)
    assert out.tolist() == both.problem.heads.tolist()


def test_a_table_that_is_too_small_is_filled_to_the_half_and_shared():
    both = Both(np.random.default_rng(11), projective=False, one_root=True, prune=False)
    model = new_model(both.problem, 64, exact=True)
    list(run_epochs(both.problem, model, as_rule("mira"), examples=len(both.X), epochs=3))
    assert np.count_nonzero(model.owners) == model.claimed[0] == 32


def test_margins_of_disjoint_sets_add_up_to_that_of_the_whole_prediction():
    rng = np.random.default_rng(12)
    both = Both(rng, projective=False, one_root=True, prune=False, lengths=(5,) * 10)
    wrong, several = np.empty(5, np.int64), 0
    for i in range(len(both.X)):
        k = operations.find_mistakes(both.problem, both.model, i, wrong)
        gold, predicted = labels(both.problem, both.model, i)
        given_gold, given_predicted = operations.heads(both.problem, both.model, i)
        assert given_gold.tolist() == gold.tolist() == list(both.Y[i])
        assert given_predicted.tolist() == predicted.tolist() == list(both.plain.argmax(both.X[i], both.start))
        single, whole = np.empty(k), np.empty(1)
        operations.margins(both.problem, both.model, i, np.arange(k + 1), wrong, k, single)
        operations.margins(both.problem, both.model, i, np.array([0, k]), wrong, 1, whole)
        np.testing.assert_allclose(single.sum(), whole[0], atol=1e-9)
        assert whole[0] <= 0
        several += k > 1
    assert several > 3


@every_pruning
def test_gold_arcs_must_win_by_the_margin(prune):
    """Pruned ones, too, which training has only if its trees do not say what is pruned."""
    rng = np.random.default_rng(3)
    both = Both(rng, projective=False, one_root=True, prune=prune)
    problem, rho = both.problem._replace(margin=2.5), 2.5
    wrong, out, lost = np.zeros(4, np.int64), np.zeros(1), 0
    for i, (x, y) in enumerate(zip(both.X, both.Y, strict=True)):
        n = len(x)
        scores = np.full((n + 1, n + 1), -np.inf)
        for h, m in arcs_of(x):
            scores[h, m] = sum(both.start[number] for number in both.plain.arcs(x)[h, m]) - rho * (y[m - 1] == h)
        count = operations.find_mistakes(problem, both.model, i, wrong)
        predicted = tuple(both.model.predicted[:n].tolist())
        pruned = [both.plain.pruned(x, h, m) for m, h in enumerate(predicted, 1)]
        allowed = scores.copy()
        for h, m in arcs_of(x):
            allowed[h, m] = -np.inf if both.plain.pruned(x, h, m) else scores[h, m]
        assert any(pruned) or predicted == best_tree(allowed, n)
        lost += sum(both.plain.pruned(x, y[k], k + 1) for k in wrong[:count])
        assert wrong[:count].tolist() == [k for k in range(n) if predicted[k] != y[k]]
        operations.margins(problem, both.model, i, np.array([0, count]), wrong, 1, out)
        lacking = [scores[y[k], k + 1] - scores[predicted[k], k + 1] for k in wrong[:count]]
        np.testing.assert_allclose(out[0], sum(lacking), atol=1e-9)
    assert (lost > 0) == prune
