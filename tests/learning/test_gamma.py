"""The γ schemes follow their formulas, meet their conditions, and back off to CSP where they cannot."""

import numpy as np
import pytest
from scipy.optimize import linprog

from helpers.margins import gamma_of
from helpers.problems import RememberingChain, as_chain, random_sequences
from swvp.estimators import StructuredPerceptron
from swvp.learning.gamma import GAMMAS, choose, impose_condition_2, normalise, weigh, weighted_margin
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import as_rule
from swvp.structures.chain.indicator import new_model


def chosen(margins, *, aggressive):
    """(the number of violations, the margins in use)."""
    margins = np.array(margins, float)
    index, used = np.empty(len(margins), np.int64), np.empty(len(margins))
    violations, n = choose(margins, len(margins), 1e-10, aggressive, False, index, used)
    np.testing.assert_array_equal(used[:n], margins[index[:n]])
    return violations, used[:n].tolist()


def scaled(weights):
    return weights / weights.sum()


def rank_by_sorting(margins):
    order = sorted(range(len(margins)), key=lambda j: (-abs(margins[j]), j))
    return np.argsort(order)


FORMULAS = {
    "wm": lambda m, beta: np.abs(m) ** beta,
    "wmr": lambda m, beta: ((len(m) - rank_by_sorting(m)) / len(m)) ** beta,
    "uniform": lambda m, beta: np.ones(len(m)),
    "softmin": lambda m, beta: np.exp(-beta * m),
    "worst": lambda m, beta: (m == m.min()).astype(float),
}


@pytest.mark.parametrize("scheme", FORMULAS)
def test_a_scheme_follows_its_formula(scheme):
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 7, 16, 17, 40):
        margins, beta = rng.normal(size=n), rng.uniform(0.2, 4)
        np.testing.assert_allclose(gamma_of(scheme, margins, beta), scaled(FORMULAS[scheme](margins, beta)), rtol=1e-9)


@pytest.mark.parametrize("scheme", GAMMAS)
def test_gamma_meets_condition_1(scheme):
    rng = np.random.default_rng(3)
    for _ in range(60):
        gamma = gamma_of(scheme, rng.uniform(0.1, 100) * margins_with_a_violation(rng), rng.uniform(0.1, 5))
        assert gamma.min() >= 0
        assert gamma.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("scheme", GAMMAS)
@pytest.mark.parametrize("margin", [-2.5, -1e-6])
def test_a_single_mixed_assignment_has_gamma_1(scheme, margin):
    assert gamma_of(scheme, [margin], beta=0.7).tolist() == [1]


def test_optimal_gives_gamma_1_to_a_single_margin_that_is_zero_but_for_rounding():
    assert gamma_of("optimal", [5e-11]).tolist() == [1]


def test_wmr_gives_most_to_the_largest_margin_in_absolute_value():
    np.testing.assert_allclose(gamma_of("wmr", [-1, 3, -2]), [1 / 6, 3 / 6, 2 / 6])


def ranks_of(margins, n):
    """The ranks r behind ((n - r) / n)^1."""
    gamma = np.full(n, np.nan)
    weigh(GAMMAS.index("wmr"), 1.0, np.array(margins, float), n, 0, 0.0, gamma)
    return np.rint(n - n * gamma).astype(int).tolist()


@pytest.mark.parametrize("n", [3, 16, 17, 50])
def test_equal_margins_are_ranked_in_their_order(n):
    margins = np.where(np.arange(n) % 2, -2.0, 2.0)  # equal in absolute value
    assert ranks_of(margins, n) == list(range(n))


@pytest.mark.parametrize("n", [16, 17, 200])
def test_ranks_with_some_ties_are_those_of_a_stable_sort(n):
    margins = np.random.default_rng(n).integers(-3, 4, size=n)
    assert ranks_of(margins, n) == rank_by_sorting(margins).tolist()


@pytest.mark.parametrize("n", [10, 20])
def test_ranks_ignore_what_lies_behind_the_margins_in_use(n):
    assert ranks_of([*range(n), 1e9, 1e9], n) == list(range(n - 1, -1, -1))


def test_worst_takes_the_first_of_equal_margins():
    assert gamma_of("worst", [0, -1, -1]).tolist() == [0, 1, 0]


def test_wm_of_zero_margins_is_all_zero():
    assert gamma_of("wm", [0, 0, 0]).tolist() == [0, 0, 0]


def program(margins, sign):
    """min or max Σγ·margin subject to conditions (1) and (2)."""
    n = len(margins)
    solved = linprog(sign * margins, A_ub=[margins], b_ub=[0], A_eq=[np.ones(n)], b_eq=[1], bounds=[(0, None)] * n)
    return sign * solved.fun


def margins_with_a_violation(rng):
    margins = rng.normal(loc=rng.choice([-1, 0, 1]), size=rng.integers(1, 12))
    margins[rng.integers(len(margins))] = -abs(margins[0]) - 0.01
    return margins


@pytest.mark.parametrize(("scheme", "sign"), [("worst", 1), ("optimal", -1)])
def test_worst_and_optimal_reach_the_optimum_of_the_linear_program(scheme, sign):
    rng = np.random.default_rng(4)
    for _ in range(60):
        margins = margins_with_a_violation(rng)
        gamma = gamma_of(scheme, margins)
        assert gamma @ margins <= 1e-12
        assert gamma @ margins == pytest.approx(program(margins, sign), abs=1e-8)


@pytest.mark.parametrize("scheme", ["worst", "optimal"])
def test_worst_and_optimal_use_at_most_two_mixed_assignments(scheme):
    rng = np.random.default_rng(5)
    for _ in range(60):
        assert (gamma_of(scheme, margins_with_a_violation(rng)) > 0).sum() <= 2


@pytest.mark.parametrize("scheme", GAMMAS)
@pytest.mark.parametrize("beta", [1e-300, 1.0, 1e6, 1e300])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e150, 1e300])
def test_huge_margins_and_any_beta_do_not_overflow(scheme, beta, size):
    gamma = gamma_of(scheme, [-size, -size / 2, size / 3], beta)
    assert np.isfinite(gamma).all()
    assert gamma.sum() == pytest.approx(1)


@pytest.mark.parametrize(("scheme", "winner"), [("wm", 1), ("wmr", 1), ("softmin", 2)])
def test_a_huge_beta_leaves_only_the_first_in_line(scheme, winner):
    gamma = gamma_of(scheme, [-1, 5, -4], beta=1e5)
    assert gamma.tolist() == [float(j == winner) for j in range(3)]


@pytest.mark.parametrize("scheme", ["wm", "wmr", "softmin"])
def test_a_tiny_beta_is_uniform(scheme):
    np.testing.assert_allclose(gamma_of(scheme, [-1, 5, -4], beta=1e-12), 1 / 3)


def test_the_aggressive_approach_uses_violations_only():
    assert chosen([-1, 2, 0, 3], aggressive=True) == (2, [-1, 0])


def test_the_balanced_approach_uses_every_mixed_assignment():
    assert chosen([-1, 2, 0, 3], aggressive=False) == (2, [-1, 2, 0, 3])


@pytest.mark.parametrize("aggressive", [True, False])
def test_nothing_is_chosen_where_nothing_is_violated(aggressive):
    assert chosen([1, 2], aggressive=aggressive) == (0, [])


def test_a_margin_of_zero_but_for_rounding_is_a_violation():
    assert chosen([1e-11, 1e-6], aggressive=True) == (1, [1e-11])


def random_balanced_gamma(rng):
    margins = margins_with_a_violation(rng)
    return gamma_of(rng.choice(["wm", "wmr", "uniform", "softmin"]), margins, rng.uniform(0.3, 2)), margins


def test_imposing_condition_2_makes_it_hold():
    rng = np.random.default_rng(6)
    imposed = 0
    for _ in range(200):
        gamma, margins = random_balanced_gamma(rng)
        imposed += impose_condition_2(gamma, margins, len(margins), 0.0) > 0
        assert normalise(gamma, len(margins)) > 0
        assert weighted_margin(gamma, margins, len(margins)) <= 1e-8
    assert imposed > 20


def test_imposing_condition_2_excludes_non_violating_terms_only():
    rng = np.random.default_rng(7)
    for _ in range(200):
        gamma, margins = random_balanced_gamma(rng)
        before = gamma.copy()
        excluded = impose_condition_2(gamma, margins, len(margins), 0.0)
        changed = gamma != before
        assert changed.sum() == excluded
        assert (gamma[changed] == 0).all()
        assert (margins[changed] > 0).all()


def test_imposing_condition_2_excludes_the_largest_term_first_and_no_more_than_needed():
    gamma, margins = np.full(4, 0.25), np.array([1.0, -2.0, 4.0, 0.5])
    assert impose_condition_2(gamma, margins, 4, 0.0) == 1
    assert gamma.tolist() == [0.25, 0.25, 0, 0.25]


def test_imposing_condition_2_changes_nothing_where_it_holds():
    gamma = np.array([0.5, 0.5])
    assert impose_condition_2(gamma, np.array([-2.0, 1.0]), 2, 0.0) == 0
    assert gamma.tolist() == [0.5, 0.5]


class FourPictures:
    """A label of two bits with one weight for each of its four values: its positions are not independent."""

    def joint_feature(self, x, y):
        return np.eye(4)[2 * y[0] + y[1]]

    def argmax(self, x, w):
        return divmod(int(w.argmax()), 2)


def fit_pictures(rule, w, gold):
    return StructuredPerceptron(FourPictures(), rule=rule, epochs=1, shuffle=False).fit([None], [gold], initial=w)


@pytest.mark.parametrize("approach", "ab")
@pytest.mark.parametrize("scheme", GAMMAS)
def test_an_update_without_a_violation_backs_off_to_csp_and_is_counted(scheme, approach):
    learner = fit_pictures(f"{approach}-{scheme}", w=[1, 0, 0, 2], gold=(0, 0))  # y* = (1, 1); one bit alone: worse
    np.testing.assert_array_equal(learner.last_coef_, [2, 0, 0, 1])
    (epoch,) = learner.history_
    assert (epoch.updates, epoch.back_offs, epoch.violating, epoch.non_violating) == (1, 1, 0, 2)


PICTURES = [1, 2, -5, 3]
"""Gold (0, 0) scores 1 and y* = (1, 1) scores 3; alone, the second bit is a violation and the first is not."""


def test_a_balanced_update_uses_what_is_not_violated_too():
    learner = fit_pictures("b-uniform", w=PICTURES, gold=(0, 0))
    np.testing.assert_array_equal(learner.last_coef_, [2, 1.5, -5.5, 3])
    assert learner.history_[0].condition_2_failures == 1


def test_a_balanced_update_that_imposes_condition_2_leaves_out_what_breaks_it():
    learner = fit_pictures("b-uniform:impose", w=PICTURES, gold=(0, 0))
    np.testing.assert_array_equal(learner.last_coef_, [2, 1, -5, 3])
    assert learner.history_[0].excluded == 1


def test_an_aggressive_update_uses_what_is_violated_only():
    learner = fit_pictures("a-uniform", w=PICTURES, gold=(0, 0))
    np.testing.assert_array_equal(learner.last_coef_, [2, 1, -5, 3])


def test_wm_backs_off_to_csp_where_all_weights_are_zero():
    learner = fit_pictures("a-wm", w=np.zeros(4), gold=(1, 1))
    np.testing.assert_array_equal(learner.last_coef_, [-1, 0, 0, 1])
    (epoch,) = learner.history_
    assert (epoch.back_offs, epoch.violating) == (1, 2)


@pytest.mark.parametrize("scheme", sorted(set(GAMMAS) - {"wm"}))
def test_other_schemes_do_not_back_off_where_all_weights_are_zero(scheme):
    assert fit_pictures(f"a-{scheme}", w=np.zeros(4), gold=(1, 1)).history_[0].back_offs == 0


def history(rule, rng):
    X, Y = random_sequences(rng, examples=30, symbols=6, labels=3, longest=6)
    return list(run_epochs(as_chain(X, Y), new_model(6, 3, 6), as_rule(rule), examples=30, epochs=10))


def test_wm_with_segments_of_a_chain_backs_off_only_at_the_first_update():
    first, *rest = history("a-wm:segments", np.random.default_rng(8))
    assert first.back_offs == 1
    assert sum(epoch.updates for epoch in rest) > 0
    assert sum(epoch.back_offs for epoch in rest) == 0


def test_balanced_rules_count_failures_of_condition_2():
    epochs = history("b-uniform", np.random.default_rng(8))
    assert sum(epoch.condition_2_failures for epoch in epochs) > 0
    assert sum(epoch.excluded for epoch in epochs) == 0


def test_imposing_rules_count_what_they_exclude_and_have_no_failures():
    epochs = history("b-uniform:impose", np.random.default_rng(8))
    assert sum(epoch.excluded for epoch in epochs) > 0
    assert sum(epoch.condition_2_failures for epoch in epochs) == 0


@pytest.mark.parametrize("rule", ["a-wm", "a-wmr", "a-softmin", "b-worst", "b-optimal"])
def test_rules_that_respect_the_conditions_never_fail_condition_2(rule):
    assert sum(epoch.condition_2_failures for epoch in history(rule, np.random.default_rng(9))) == 0


@pytest.mark.parametrize("rule", ["csp", "a-wm", "b-wmr", "a-uniform:segments", "b-worst:pairs"])
def test_scaling_the_features_scales_the_weights_and_changes_nothing_else(rule):
    class Scaled(RememberingChain):
        def __init__(self, factor):
            super().__init__(symbols=5, labels=3)
            self.factor = factor

        def joint_feature(self, x, y):
            return self.factor * super().joint_feature(x, y)

    X, Y = random_sequences(np.random.default_rng(10), examples=10, symbols=5, labels=3, longest=4)
    learners = [
        StructuredPerceptron(Scaled(factor), rule=rule, epochs=5, random_state=0).fit(X, Y) for factor in (1, 2, 8)
    ]
    for learner in learners[1:]:
        np.testing.assert_allclose(learner.last_coef_ / learner.problem.factor, learners[0].last_coef_, atol=1e-12)


def test_a_margin_that_is_zero_but_for_rounding_has_no_weight_in_wm():
    assert gamma_of("wm", [-1.0, 5e-17], beta=0.5).tolist() == [1, 0]
