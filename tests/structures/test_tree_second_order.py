"""The second-order parser learns what its definition learns, for every rule."""

import numpy as np
import pytest

from helpers.part_treebanks import KINDS, LINES, RULES, Both
from helpers.slow import in_plain_python, slow_except, without_jit
from swvp.errors import InputError
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import as_rule
from swvp.structures import operations
from swvp.structures.tree.second_order.model import new_part_model, predict_parts

every_kind = pytest.mark.parametrize("kind", in_plain_python(KINDS, rare=lambda kind: "projective" in kind))
every_share = pytest.mark.parametrize("share", [1.0, 0.4], ids=["all-heads", "candidates"])


def both_of(seed, kind, **given):
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    both = Both(rng, LINES, **KINDS[kind], **given)
    both.shake()
    return both


def train(both, rule, epochs=3):
    """Train both; what happened must be the same."""
    history = list(run_epochs(both.problem, both.model, rule, examples=len(both.X), epochs=epochs))
    plain = list(run_epochs(both.generic, both.learnt, rule, examples=len(both.X), epochs=epochs))
    assert [counts(epoch) for epoch in history] == [counts(epoch) for epoch in plain]
    assert [epoch.norm for epoch in history] == pytest.approx([epoch.norm for epoch in plain])
    return history


def counts(epoch):
    return {name: value for name, value in epoch.as_dict().items() if name not in ("norm", "seconds")}


def check(both, history):
    both.check(operations.weights(both.model), both.learnt.w)
    clock = len(both.X) * len(history)
    both.check(operations.averaged_weights(both.model, clock), operations.averaged_weights(both.learnt, clock))


@every_share
@every_kind
@pytest.mark.parametrize(
    "rule", slow_except(RULES, "csp", "a-uniform:components:mira", rare=lambda rule: "ada" in rule)
)
def test_kernels_and_definition_learn_the_same_weights(rule, kind, share):
    both = both_of(RULES.index(rule), kind, share=share)
    given = as_rule(rule, beta=float(both.rng.uniform(0.3, 3)), C=float(both.rng.choice([0.03, 0.3, 10])))
    history = train(both, given)
    assert sum(epoch.updates for epoch in history) > 0
    check(both, history)
    assert both.model.claimed[0] == np.count_nonzero(both.model.owners)
    predictions, certain, _ = both.model.solved
    assert certain >= predictions - 1


@pytest.mark.parametrize("rule", in_plain_python(["a-wm", "mira"], rare=lambda rule: rule == "mira"))
@every_kind
def test_gold_arcs_must_win_by_the_margin(rule, kind):
    both = both_of(20, kind, margin=1.5)
    check(both, train(both, as_rule(rule)))


@without_jit
@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_those_of_the_definition(kind):
    wrong = 0
    for seed in range(3):
        both = both_of(30 + seed, kind, share=[1.0, 0.6, 0.3][seed], lengths=(5, 1, 3, 4, 4, 2))
        out = np.full(sum(map(len, both.X)), -1, np.int32)
        predict_parts(both.problem, both.model, 0, len(both.X), out)
        expected = [both.plain.argmax(x, both.learnt.w) for x in both.X]
        assert out.tolist() == [h for y in expected for h in y]
        assert both.plain.k_best(both.X[0], both.learnt.w, 1) == expected[:1]
        wrong += sum(y != gold for y, gold in zip(expected, both.Y, strict=True))
    assert wrong > 5


@without_jit
def test_the_prediction_is_kept_with_its_mistakes():
    both = both_of(40, "any")
    for i, x in enumerate(both.X):
        wrong = np.zeros(len(x), np.int64)
        count = operations.find_mistakes(both.problem, both.model, i, wrong)
        expected = both.plain.argmax(x, both.learnt.w)
        gold, predicted = operations.labels(both.problem, both.model, i)
        assert (gold.tolist(), tuple(predicted.tolist())) == (list(both.Y[i]), expected)
        assert [heads.tolist() for heads in operations.heads(both.problem, both.model, i)] == [
            list(both.Y[i]),
            list(expected),
        ]
        assert wrong[:count].tolist() == [k for k in range(len(x)) if expected[k] != both.Y[i][k]]


@without_jit
def test_weights_without_owners():
    """Hashed: features have the places that their keys say; here none is shared, so they learn what owned ones do."""
    both = both_of(50, "any", lengths=(2, 3, 4))
    hashed, rule = new_part_model(both.problem, 2**19), as_rule("b-wm:components:mira")
    mask = np.uint64(len(hashed.w) - 1)

    def pairs():
        owned = np.flatnonzero(both.model.owners)
        return owned, both.model.owners[owned] & mask

    owned, places = pairs()
    hashed.w[places], hashed.delayed[places] = both.model.w[owned], both.model.delayed[owned]
    history = train(both, rule)
    check(both, history)
    epochs = list(run_epochs(both.problem, hashed, rule, examples=len(both.X), epochs=3))
    assert [counts(epoch) for epoch in epochs] == [counts(epoch) for epoch in history]
    owned, places = pairs()
    assert len(set(places.tolist())) == len(owned)
    np.testing.assert_allclose(hashed.w[places], both.model.w[owned], atol=1e-9)
    np.testing.assert_allclose(hashed.delayed[places], both.model.delayed[owned], atol=1e-9)
    assert set(np.flatnonzero(hashed.w)) <= set(places.tolist())


@without_jit
def test_owners_are_given_as_features_are_met():
    """From zero weights: places are taken by the features of updates only, and what is learnt is what is predicted."""
    both = both_of(60, "any")
    model = new_part_model(both.problem, 2**14, exact=True)
    for epoch in run_epochs(both.problem, model, as_rule("csp"), examples=len(both.X), epochs=30):
        assert epoch.mistakes == 0 or epoch.epoch < 30
    assert 0 < np.count_nonzero(model.owners) == model.claimed[0] < len(both.plain.numbers)
    assert set(np.flatnonzero(model.w)) <= set(np.flatnonzero(model.owners))
    out = np.empty(sum(map(len, both.X)), np.int32)
    predict_parts(both.problem, model, 0, len(both.X), out)
    assert out.tolist() == both.problem.heads.tolist()


def test_a_table_that_is_too_small_is_filled_to_the_half_and_shared():
    both = both_of(70, "any")
    model = new_part_model(both.problem, 64, exact=True)
    list(run_epochs(both.problem, model, as_rule("csp"), examples=len(both.X), epochs=3))
    assert np.count_nonzero(model.owners) == model.claimed[0] == 32


def test_margins_of_disjoint_sets_need_not_add_up():
    """Unlike with arcs alone: two heads that change together have other parts than each of them."""
    both = both_of(80, "any", lengths=(4,) * 5)
    differ = 0
    for i in range(len(both.X)):
        wrong = np.array(both.keep(i, both.random_heads(i)), np.int64)
        single, whole = np.zeros(len(wrong)), np.zeros(1)
        operations.margins(both.problem, both.model, i, np.arange(len(wrong) + 1), wrong, len(wrong), single)
        operations.margins(both.problem, both.model, i, np.array([0, len(wrong)]), wrong, 1, whole)
        differ += abs(single.sum() - whole[0]) > 1e-6
    assert differ > 3


def test_rules_of_several_outputs_are_refused():
    both = both_of(90, "any")
    with pytest.raises(InputError, match="'mira:3' is not offered for second-order parsers"):
        list(run_epochs(both.problem, both.model, as_rule("mira:3"), examples=len(both.X), epochs=1))


def test_an_update_for_nothing_changes_nothing():
    """Amounts that cancel leave no trace, not even of rounding."""
    both = both_of(91, "any")
    wrong = np.array(both.keep(4, both.random_heads(4)), np.int64)
    before, starts = both.model.w.copy(), np.array([0, len(wrong)])
    twice = np.zeros(2, np.int64)
    operations.add(both.problem, both.model, 4, starts, wrong, twice, 2, np.array([0.3, -0.3]), 1)
    assert (both.model.w == before).all()
