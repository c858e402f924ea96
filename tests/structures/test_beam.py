"""Beam search and violation fixing against a slow twin."""

import numpy as np
import pytest

from helpers.plain_search import BARRIERS, LABELS, LONGEST, PlainSearch, as_chain, put, random_examples, started, train
from helpers.slow import slow_except
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import UpdateRule, as_rule
from swvp.structures import operations
from swvp.structures.chain.attributes import AttributeChain
from swvp.structures.chain.beam import FIXES
from swvp.structures.chain.search import as_search, new_search_model, predict_all

RULES = [
    "csp",
    "a-wm",
    "b-wmr:sqrt",
    "a-softmin:segments",
    "b-uniform:pairs:impose",
    "a-worst:prefixes",
    "b-uniform:all",
]
ORDERS = [1, 2]
FIXED = FIXES[1:]


def predicted(model, X, Y, fix="none"):
    out = np.empty(sum(map(len, X)), np.uint32)
    predict_all(as_search(as_chain(X, Y), fix), model, out)
    return [tuple(y.tolist()) for y in np.split(out, np.cumsum([len(x) for x in X])[:-1])]


@pytest.mark.parametrize("integers", [False, True], ids=["floats", "ties"])
@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
@pytest.mark.parametrize("order", ORDERS)
def test_a_beam_that_holds_every_state_is_exact_and_a_narrow_one_is_the_twins(order, barrier, integers):
    rng = np.random.default_rng(order)
    inexact = 0
    for _ in range(10):
        plain = PlainSearch(order, barrier)
        X, Y = random_examples(rng, plain)
        size = len(plain.joint_feature([], []))
        weights = rng.integers(-1, 2, size=size).astype(float) if integers else rng.normal(size=size)
        exact = [plain.argmax(x, weights) for x in X]
        for width in (1, 2, 3, LABELS**order, 1000):
            model, w = started(rng, order=order, width=width, barrier=barrier, weights=weights)
            found = predicted(model, X, Y)
            assert found == [plain.beam(x, w, width)[-1][0][1] for x in X]
            assert all(map(plain.allowed, found))
            if width >= LABELS**order:
                assert found == exact
            inexact += found != exact
    assert inexact or barrier is BARRIERS["alternating"]  # which leaves one label for each length


@pytest.mark.parametrize("barrier", [None, BARRIERS["barred"]], ids=["free", "barred"])
@pytest.mark.parametrize("fix", FIXES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rule", slow_except(RULES, "csp", "a-wm"))
def test_training_with_each_fix_gives_the_weights_of_the_twin(rule, order, fix, barrier):
    rng = np.random.default_rng([RULES.index(rule), order, FIXES.index(fix)])
    shortened = 0
    for width in (1, 2, 3, 9):
        plain = PlainSearch(order, barrier)
        X, Y = random_examples(rng, plain, valued=width == 2, examples=8)
        model, w = started(rng, order=order, width=width, barrier=barrier)
        problem = as_search(as_chain(X, Y, valued=width == 2), fix)
        history = list(run_epochs(problem, model, as_rule(rule), examples=len(X), epochs=3))
        given = {"width": width, "fix": fix, "epochs": 3, "rule": as_rule(rule), "exact": width != 2}
        last, mean, cuts = train(plain, X, Y, w, **given)
        np.testing.assert_allclose(operations.weights(model), last, atol=1e-9)
        np.testing.assert_allclose(operations.averaged_weights(model, len(history) * len(X)), mean, atol=1e-9)
        assert sum(epoch.updates for epoch in history) == len(cuts)
        shortened += sum(not end for _, end, _ in cuts)
    assert (shortened > 0) == (fix != "none")


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("fix", FIXED)
@pytest.mark.parametrize("order", ORDERS)
def test_ties_in_training_are_broken_as_the_twin_does(order, fix, width):
    rng = np.random.default_rng([order, width])
    for _ in range(10):
        plain = PlainSearch(order)
        X, Y = random_examples(rng, plain)
        weights = rng.integers(-1, 2, size=len(plain.joint_feature([], []))).astype(float)
        model, w = started(rng, order=order, width=width, weights=weights)
        list(run_epochs(as_search(as_chain(X, Y), fix), model, as_rule("csp"), examples=len(X), epochs=2))
        last, _, _ = train(plain, X, Y, w, width=width, fix=fix, epochs=2, rule=as_rule("csp"))
        assert operations.weights(model).tolist() == last.tolist()
        assert predicted(model, X, Y) == predicted(model, X, Y, fix)  # gold labels change training only


@pytest.mark.parametrize("order", ORDERS)
def test_every_fix_of_csp_finds_a_violation_and_without_one_there_is_no_update(order):
    rng = np.random.default_rng(order)
    not_violated = dict.fromkeys(FIXES, 0)
    for _ in range(20):
        plain = PlainSearch(order)
        X, Y = random_examples(rng, plain, examples=10)
        for fix in FIXES:
            model, _ = started(np.random.default_rng(5), order=order, width=1)
            for epoch in run_epochs(as_search(as_chain(X, Y), fix), model, as_rule("csp"), examples=len(X), epochs=5):
                assert epoch.violating == epoch.updates == epoch.mistakes - epoch.without_violation
                assert epoch.back_offs == 0
                assert epoch.without_violation == epoch.non_violating
                not_violated[fix] += epoch.non_violating
    assert not_violated.pop("none") > 0
    assert set(not_violated.values()) == {0}


@pytest.mark.parametrize("order", ORDERS)
def test_no_update_is_empty_and_the_worst_prefix_is_at_least_as_bad_as_the_others(order):
    rng = np.random.default_rng(order)
    wrong, out, seen = np.zeros(LONGEST, np.int64), np.zeros(1), 0
    for _ in range(100):
        plain = PlainSearch(order)
        X, Y = random_examples(rng, plain, examples=1)
        model, _ = started(rng, order=order, width=int(rng.integers(1, 4)))
        margins, lengths = {}, {}
        exact = predicted(model, X, Y)[0]
        for fix in FIXES:
            problem = as_search(as_chain(X, Y), fix)
            k = operations.find_mistakes(problem, model, 0, wrong)
            assert (k > 0) == (exact != Y[0])
            assert (wrong[:k] < min(model.places[0], len(X[0]))).all()
            if k:
                operations.margins(problem, model, 0, np.array([0, k]), wrong, 1, out)
                margins[fix], lengths[fix] = out[0], model.places[0]
        if margins:
            seen += 1
            assert margins["max-violation"] <= min(margins["early"], margins["latest"]) + 1e-9
            assert lengths["early"] <= lengths["latest"] <= lengths["none"]
    assert seen > 50


def test_an_early_update_worked_by_hand():
    """Two labels, one attribute for each of three positions, a beam of one.

    w(a_0, 0) = 2, w(a_0, 1) = 1, w(a_1, 1) = 1, w(1, 1) = 3, all others 0. The best label is 1 1 1 with
    1 + 1 + 3 + 3 = 8, and so is the gold one. The beam takes 0 at first and ends with 0 1 1, 2 + 1 + 3 = 6: the margin
    8 - 6 is no violation. The gold prefix 1 falls off at the first position, where 1 - 2 = -1 is one. From the second
    position on the gold prefix is ahead, so that is the only violation.
    """
    chain = AttributeChain(
        np.arange(3, dtype=np.uint32), np.zeros(0), np.arange(4), np.ones(3, np.uint32), np.array([0, 3])
    )
    updated = {}
    for fix in FIXES:
        model = new_search_model(3, 2, 3, None, 1, 1)
        w = np.zeros(3 * 2 + 9)
        w[[0, 1, 3]] = 2, 1, 1
        w[6 + 1 * 3 + 1] = 3
        put(model, w)
        (epoch,) = run_epochs(as_search(chain, fix), model, as_rule("csp"), examples=1, epochs=1)
        updated[fix] = epoch.violating, epoch.wrong_positions, (operations.weights(model) - w).reshape(5, 3).tolist()
    # rows: w(a, y) as a_0 0, a_0 1, a_1 0 | a_1 1, a_2 0, a_2 1, then w(y', y) from 0, from 1, from BOUNDARY
    first = [[-1, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [-1, 1, 0]]
    assert updated["early"] == updated["max-violation"] == updated["latest"] == (1, 1, first)
    assert updated["none"] == (0, 1, np.zeros((5, 3)).tolist())  # no violation, no update


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_beam_does_not_die(n, order):
    """Only 0 1 0 1 … up to a last 1 is allowed: every hypothesis but one cannot be completed."""
    x = [[(k, 1.0)] for k in range(n)]
    plain = PlainSearch(order, BARRIERS["alternating"])
    rng = np.random.default_rng(n)
    for width in (1, 2):
        model, _ = started(rng, order=order, width=width, barrier=BARRIERS["alternating"])
        assert predicted(model, [x], [(0,) * n]) == plain.outputs(n)


@pytest.mark.parametrize("width", [0, 3])
@pytest.mark.parametrize("order", ORDERS)
def test_without_any_allowed_label_the_prediction_is_all_zero(order, width):
    shut = np.full((LABELS + 1, LABELS + 1), -np.inf)
    model, _ = started(np.random.default_rng(0), order=order, width=width, barrier=shut)
    model.beam.label[:] = 1  # left over from other sentences
    assert predicted(model, [[[(0, 1.0)], [(1, 1.0)]]], [(1, 1)]) == [(0, 0)]


@pytest.mark.parametrize("fix", FIXED)
def test_functions_of_the_user_see_the_prefix_only(fix):
    rng = np.random.default_rng(2)
    plain = PlainSearch(2)
    X, Y = random_examples(rng, plain, examples=20)
    model, w = started(rng, order=2, width=1)
    seen = []

    def every_position(gold, predicted):
        seen.append((tuple(gold.tolist()), tuple(predicted.tolist())))
        return [range(len(gold))]

    rule = UpdateRule(substructures=every_position, gamma="uniform")
    list(run_epochs(as_search(as_chain(X, Y), fix), model, rule, examples=len(X), epochs=1))
    last, _, cuts = train(plain, X, Y, w, width=1, fix=fix, epochs=1, rule=as_rule("csp"))
    np.testing.assert_allclose(operations.weights(model), last, atol=1e-9)
    assert [len(gold) for gold, _ in seen] == [len(guess) for _, guess in seen] == [length for length, _, _ in cuts]
    assert any(not end for _, end, _ in cuts)
