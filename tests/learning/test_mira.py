"""MIRA: the step, the norm it needs, and the k best outputs, against hand-worked numbers, definitions and the twin."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from helpers.plain_tagger import BARRIERS, PlainTagger, as_problem, random_examples, started
from helpers.problems import PlainChain, RememberingChain, as_chain, random_sequences
from helpers.twin import train, train_k_best
from swvp import SequenceTagger, theory
from swvp.errors import InputError
from swvp.estimators import StructuredPerceptron
from swvp.learning.mira import KBest, hildreth, sweep_k_best
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import UpdateRule, as_rule
from swvp.learning.step import dot, squared_norm, table
from swvp.structures import operations
from swvp.structures.chain import indicator
from swvp.structures.exact import GRID, grid_of

VALUED = pytest.mark.parametrize("valued", [False, True], ids=["unit", "valued"])


class Tagger(PlainTagger):
    """With the k best outputs."""

    def k_best(self, x, w, k):
        self.argmax(x, w)
        outputs, features = self.known[id(x)]
        return [outputs[j] for j in np.argsort(-(features @ w), kind="stable")[:k]]


class Votes:
    """Every position is decided by itself: y_k = 1 where w_k > 0. φ is y, scaled."""

    def joint_feature(self, x, y):
        return np.array([2.0, 1.0, 1.0]) * y

    def argmax(self, x, w):
        return [int(v > 0) for v in w]

    def k_best(self, x, w, k):
        outputs = sorted(itertools.product([0, 1], repeat=3), key=lambda y: -(w @ self.joint_feature(x, y)))
        return [list(y) for y in outputs[:k]]


@pytest.mark.parametrize(
    ("rule", "C", "expected"),
    [
        # y = 111 against 000: d = (2, 1, 1), loss 3, w·d = 0, so 3 / 6
        ("mira", 1, [1, 0.5, 0.5]),
        ("mira", 0.1, [0.2, 0.1, 0.1]),
        # γ = 1/3 each: d = (2, 1, 1) / 3, loss 1, so 1 / (6 / 9)
        ("a-uniform:mira", 5, [1, 0.5, 0.5]),
        ("a-uniform:mira", 1, [2 / 3, 1 / 3, 1 / 3]),
        # the first violation alone: d = (2, 0, 0), loss 1
        ("a-worst:mira", 1, [0.5, 0, 0]),
        # a back-off: wm is 0/0 at w = 0
        ("a-wm:mira", 1, [1, 0.5, 0.5]),
    ],
)
def test_one_update_by_hand(rule, C, expected):
    learner = StructuredPerceptron(Votes(), rule=as_rule(rule, C=C), epochs=1).fit([None], [[1, 1, 1]])
    np.testing.assert_allclose(learner.last_coef_, expected, atol=3 * GRID)


def test_one_update_against_two_outputs_by_hand():
    # at w = (0, -1, -2) the best are 000 and 100, margins -3 and -3, losses 3 and 2; d = (2, 1, 1) and (0, 1, 1)
    # 6a + 2b = 6 and 2a + 2b = 5 would give a = 1/4, b = 9/4
    fit = StructuredPerceptron(Votes(), rule=as_rule("mira:2", C=5), epochs=1).fit
    learner = fit([None], [[1, 1, 1]], initial=np.array([0.0, -1, -2]))
    np.testing.assert_allclose(learner.last_coef_, [0.5, 1.5, 0.5], atol=1e-8)
    learner = StructuredPerceptron(Votes(), rule=as_rule("mira:2", C=2), epochs=1).fit(
        [None], [[1, 1, 1]], initial=np.array([0.0, -1, -2])
    )  # b = 2, and 6a = 6 - 4
    np.testing.assert_allclose(learner.last_coef_, [2 / 3, 4 / 3, 1 / 3], atol=1e-8)


def some_sets(rng, wrong):
    """Three random sets of wrong positions, stored one after the other, in an order of their own."""
    sets = [sorted(rng.permutation(wrong)[: rng.integers(1, len(wrong) + 1)].tolist()) for _ in range(3)]
    starts = np.cumsum([0, *map(len, sets)])
    return sets, starts, np.concatenate(sets).astype(np.int64), rng.permutation(3), rng.normal(size=3)


def check_direction(rng, plain, problem, model, X, Y):
    wrong = np.empty(10, np.int64)
    seen = 0
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        k = operations.find_mistakes(problem, model, i, wrong)
        if not k:
            continue
        seen += 1
        sets, starts, positions, order, amounts = some_sets(rng, wrong[:k])
        guess = operations.labels(problem, model, i)[1]
        expected = sum(
            amount
            * (
                plain.joint_feature(x, y)
                - plain.joint_feature(x, [guess[t] if t in J else y[t] for t in range(len(y))])
            )
            for amount, J in zip(amounts, [sets[c] for c in order], strict=True)
        )
        size, features, values = operations.direction(problem, model, i, starts, positions, order, 3, amounts)
        found = np.bincount(features[:size], values[:size], minlength=len(expected))
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_allclose(squared_norm(size, features, values), expected @ expected)
    assert seen > 1


@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
@VALUED
def test_the_direction_of_a_tagger_is_the_sum_of_differences(valued, barrier):
    rng = np.random.default_rng(1)
    for _ in range(10):
        model, _ = started(rng, barrier)
        X, Y = random_examples(rng, valued=valued, barrier=barrier, examples=12)
        X = [[[(a % 3, value) for a, value in position] for position in x] for x in X]  # attributes come again
        check_direction(rng, PlainTagger(), as_problem(X, Y, valued=valued), model, X, Y)


def test_the_direction_of_an_indicator_chain_is_the_sum_of_differences():
    rng = np.random.default_rng(2)
    plain = PlainChain(3, 3)
    for _ in range(10):
        X = [tuple(rng.integers(3, size=rng.integers(1, 8)).tolist()) for _ in range(12)]  # symbols come again
        Y = [tuple(rng.integers(3, size=len(x)).tolist()) for x in X]
        model = indicator.new_model(3, 3, 8, rng.normal(size=len(plain.joint_feature(X[0], Y[0]))))
        check_direction(rng, plain, as_chain(X, Y), model, X, Y)


def test_sparse_sums_are_those_of_dense_vectors():
    rng = np.random.default_rng(3)
    for size in (0, 1, 7, 500):
        features = rng.integers(0, 40, size=size) * 64  # many come again, and collide
        values = rng.normal(size=size)
        other = rng.integers(0, 60, size=20) * 64
        dense = np.bincount(features, values, minlength=64 * 60)
        np.testing.assert_allclose(squared_norm(size, features, values), dense @ dense)
        keys, sums = table(0, size, features, values)
        expected = dense @ np.bincount(other[5:15], np.ones(10), minlength=64 * 60)
        np.testing.assert_allclose(dot(keys, sums, 5, 15, other, np.ones(20)), expected, atol=1e-12)


@VALUED
def test_after_an_update_that_is_not_cut_the_margin_is_the_loss(valued):
    rng = np.random.default_rng(4)
    for _ in range(20):
        model, start = started(rng)
        X, Y = random_examples(rng, valued=valued, examples=1)
        guess = PlainTagger().argmax(X[0], start)
        problem = as_problem(X, Y, valued=valued)
        list(run_epochs(problem, model, as_rule("mira", C=1e6), examples=1, epochs=1))
        d = PlainTagger().joint_feature(X[0], Y[0]) - PlainTagger().joint_feature(X[0], guess)
        loss = sum(a != b for a, b in zip(Y[0], guess, strict=True))
        np.testing.assert_allclose(operations.weights(model) @ d, loss, atol=1e-9 if valued else 100 * GRID)


def test_no_step_is_longer_than_c():
    rng = np.random.default_rng(5)
    model, start = started(rng)
    X, Y = random_examples(rng, valued=False, examples=1)
    guess = PlainTagger().argmax(X[0], start)
    list(run_epochs(as_problem(X, Y, valued=False), model, as_rule("mira", C=1e-3), examples=1, epochs=1))
    d = PlainTagger().joint_feature(X[0], Y[0]) - PlainTagger().joint_feature(X[0], guess)
    assert d.any()
    np.testing.assert_allclose(operations.weights(model) - start, 1e-3 * d, atol=GRID)


RULES = ["mira", "a-wm:mira", "b-softmin:segments:mira", "b-wmr:all:mira:impose", "a-optimal:pairs:mira"]


@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
@VALUED
@pytest.mark.parametrize("rule", RULES)
def test_tagger_generic_learner_and_twin_learn_the_same_weights(rule, valued, barrier):
    rng = np.random.default_rng([RULES.index(rule), valued, barrier is None])
    for C in (0.05, 0.3, 20):
        X, Y = random_examples(rng, valued=valued, barrier=barrier)
        model, start = started(rng, barrier)
        given = as_rule(rule, C=C, beta=1.5)
        history = list(run_epochs(as_problem(X, Y, valued=valued), model, given, examples=len(X), epochs=3))
        plain = PlainTagger(barrier)
        names = ("substructures", "gamma", "approach", "beta", "step", "C", "impose")
        fields = {name: getattr(given, name) for name in names}
        last, mean, counts = train(plain, X, Y, start, epochs=3, exact=not valued, **fields)
        generic = StructuredPerceptron(plain, rule=given, epochs=3, shuffle=False).fit(X, Y, initial=start)
        check_same(model, history, generic, last, mean, len(X))
        assert [(epoch.mistakes, epoch.back_offs) for epoch in history] == counts


def check_same(model, history, generic, last, mean, examples, atol=1e-9):
    np.testing.assert_allclose(generic.last_coef_, last, atol=atol)
    np.testing.assert_allclose(generic.averaged_coef_, mean, atol=atol)
    np.testing.assert_allclose(operations.weights(model), last, atol=atol)
    np.testing.assert_allclose(operations.averaged_weights(model, len(history) * examples), mean, atol=atol)
    for mine, other in zip(history, generic.history_, strict=True):
        assert {**mine.as_dict(), "norm": 0, "seconds": 0} == {**other.as_dict(), "norm": 0, "seconds": 0}


@pytest.mark.parametrize("barrier", BARRIERS.values(), ids=BARRIERS)
@VALUED
@pytest.mark.parametrize("k", [2, 4])
def test_k_best_mira_is_that_of_the_twin(k, valued, barrier):
    rng = np.random.default_rng([k, valued, barrier is None])
    for C in (0.05, 0.3, 20):
        X, Y = random_examples(rng, valued=valued, barrier=barrier)
        model, start = started(rng, barrier)
        given = as_rule(f"mira:{k}", C=C)
        history = list(run_epochs(as_problem(X, Y, valued=valued), model, given, examples=len(X), epochs=3))
        plain = Tagger(barrier)
        last, mean, counts = train_k_best(plain, X, Y, start, epochs=3, k=k, C=C)
        generic = StructuredPerceptron(plain, rule=given, epochs=3, shuffle=False).fit(X, Y, initial=start)
        check_same(model, history, generic, last, mean, len(X), atol=1e-6)
        assert [(epoch.mistakes, epoch.updates) for epoch in history] == counts


def test_k_best_mira_with_one_output_is_mira():
    rng = np.random.default_rng(6)
    for C in (0.05, 20):
        X, Y = random_examples(rng, valued=True)
        one, start = started(rng)
        same, _ = started(rng)
        same.w[:], same.w_move[:], same.moves[:] = one.w, one.w_move, one.moves
        problem, counts = as_problem(X, Y, valued=True), np.zeros(8, np.int64)
        (epoch,) = run_epochs(problem, one, as_rule("mira", C=C), examples=len(X), epochs=1)
        sweep_k_best(problem, same, KBest(1, C, grid_of(C)), np.arange(len(X)), 0, 1.0, np.zeros(1), counts)
        np.testing.assert_allclose(operations.weights(same), operations.weights(one), atol=1e-12)
        np.testing.assert_allclose(same.delayed, one.delayed, atol=1e-12)
        assert not np.array_equal(operations.weights(one), start)
        assert (epoch.mistakes, epoch.updates, epoch.wrong_positions) == (counts[0], counts[1], counts[7])


@pytest.mark.parametrize("C", [0.1, 1, 100])
def test_hildreth_solves_the_quadratic_program(C):
    rng = np.random.default_rng(7)
    for n, rank in itertools.product((1, 2, 3, 5, 8), (2, 12)):  # rank 2: Δφ that depend on each other
        rows = rng.normal(size=(n, rank))
        gram, lacking, alpha = rows @ rows.T, rng.normal(2, 3, size=n), np.empty(n)
        hildreth(gram, lacking, n, C, alpha)

        def negated(a, gram=gram, lacking=lacking):
            return a @ gram @ a / 2 - lacking @ a

        options = {"ftol": 1e-14, "maxiter": 1000}
        best = minimize(
            negated, np.zeros(n), jac=lambda a, g=gram, b=lacking: g @ a - b, bounds=[(0, C)] * n, options=options
        )
        assert alpha.min() >= 0
        assert alpha.max() <= C
        assert negated(alpha) <= best.fun + 1e-7 * max(1, abs(best.fun))


def test_a_difference_of_zero_takes_no_part():
    alpha = np.empty(2)
    hildreth(np.array([[0.0, 0.0], [0.0, 4.0]]), np.array([3.0, 2.0]), 2, 1.0, alpha)
    np.testing.assert_allclose(alpha, [0, 0.5])


class Blind(Votes):
    """No label differs from another in any feature."""

    def joint_feature(self, x, y):
        return np.zeros(3)


@pytest.mark.parametrize("rule", ["mira", "mira:3", "a-uniform:mira"])
def test_where_nothing_can_change_nothing_is_changed(rule):
    learner = StructuredPerceptron(Blind(), rule=rule, epochs=2).fit([None], [[1, 1, 1]])
    assert not learner.last_coef_.any()
    assert [(epoch.mistakes, epoch.updates) for epoch in learner.history_] == [(1, 0), (1, 0)]


def test_a_balanced_update_whose_margin_is_large_enough_changes_nothing():
    # violated at the first position by -1, margins 10 at the others: Σγ·margin = 19 / 3 > loss 1
    start = np.array([-0.5, -10, -10])
    learner = StructuredPerceptron(Lopsided(), rule="b-uniform:mira", epochs=1).fit([None], [[1, 1, 1]], initial=start)
    np.testing.assert_array_equal(learner.last_coef_, start)
    assert (learner.history_[0].mistakes, learner.history_[0].updates) == (1, 0)


class Lopsided(Votes):
    """Predicts 000 whatever the weights; the features of the last two positions count against 1."""

    def joint_feature(self, x, y):
        return np.array([2.0, -1.0, -1.0]) * y

    def argmax(self, x, w):
        return [0, 0, 0]


def test_a_users_gamma_can_take_the_step_mira_on_a_compiled_chain():
    rng = np.random.default_rng(8)
    X, Y = random_sequences(rng, examples=10, symbols=6, labels=3, longest=5)
    own, built_in = (indicator.new_model(6, 3, 5) for _ in range(2))
    rule = UpdateRule(gamma=lambda margins, beta: np.ones(len(margins)), step="mira", C=0.1)
    list(run_epochs(as_chain(X, Y), own, rule, examples=10, epochs=3))
    list(run_epochs(as_chain(X, Y), built_in, as_rule(rule, gamma="uniform"), examples=10, epochs=3))
    np.testing.assert_allclose(own.w, built_in.w, atol=1e-12)
    assert own.w.any()


def test_the_sequence_tagger_takes_both_by_name():
    X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["Rex", "barks"], ["cats", "sleep"]]
    y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["N", "V"]]
    for rule in ("mira", "a-wm:segments:mira", "mira:3"):
        tagger = SequenceTagger(rule=rule, random_state=0).fit(X, y)
        assert tagger.history_[-1].mistakes == 0
        assert tagger.predict([["a", "dog", "sleeps"]])[0] == ["D", "N", "V"]


def test_a_structure_that_cannot_says_so():
    X, Y = random_sequences(np.random.default_rng(9), examples=2, symbols=6, labels=3, longest=5)
    with pytest.raises(InputError, match=r"'mira:2' is not offered for IndicatorChain, .* best_outputs is not"):
        list(run_epochs(as_chain(X, Y), indicator.new_model(6, 3, 5), as_rule("mira:2"), examples=2, epochs=1))

    class Strange(tuple):
        pass

    with pytest.raises(InputError, match=r"'a-wm:mira' is not offered for Strange, .* direction is not implemented"):
        list(run_epochs(Strange(), None, as_rule("a-wm:mira"), examples=0, epochs=1))


def test_k_best_of_a_user_is_asked_for_and_checked():
    def fit(outputs):
        problem = Votes()
        problem.k_best = outputs
        return StructuredPerceptron(problem, rule="mira:2").fit([None], [[1, 1, 1]])

    with pytest.raises(InputError, match=r"Votes has no method k_best\(x, w, k\)"):
        fit(None)
    with pytest.raises(InputError, match="k_best returned no label for example 0"):
        fit(lambda x, w, k: [])
    with pytest.raises(InputError, match="k_best returned an output with 2 positions for example 0"):
        fit(lambda x, w, k: [[0, 0]])


@pytest.mark.parametrize("rule", ["mira", "mira:2", "a-wm:mira"])
def test_theorem_1_says_nothing_of_mira(rule):
    with pytest.raises(InputError, match=f"Theorem 1 does not apply to rule '{rule}'"):
        theory.update_bound(RememberingChain(3, 2), [(0,)], [(0,)], np.ones(3), rule=rule)


def test_the_gamma_conditions_know_nothing_of_k_best():
    assert as_rule("mira").respects_conditions()
    assert not as_rule("mira:2").respects_conditions()
    assert not as_rule("mira:2").uses_beta
