"""The quantities of the theorems, checked by hand on tiny problems, and the theorems themselves on random ones."""

import functools
import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from problems import RememberingChain, as_chain, random_sequences, separable_sequences
from swvp.errors import InputError
from swvp.estimator import StructuredPerceptron
from swvp.learning import theory
from swvp.learning.gamma import GAMMAS
from swvp.learning.perceptron import passes
from swvp.learning.rule import APPROACHES, POWERS, UpdateRule, as_rule
from swvp.learning.substructures import OF_POSITIONS
from swvp.structures.chain.indicator import new_model

# ---------------------------------------------------------------- problems


class Table:
    """x is a table {label: φ}; ties go to the label that comes first."""

    def joint_feature(self, x, y):
        return np.array(x[tuple(y)], float)

    def outputs(self, x):
        return list(x)

    def argmax(self, x, w):
        return max(x, key=lambda y: float(w @ self.joint_feature(x, y)))


TINY = {(0, 0): (0, 0), (0, 1): (-3, 0), (1, 0): (0, -1), (1, 1): (-3, -4)}
"""Δφ from the gold label (0, 0) is (3, 0), (0, 1) and (3, 4); the last one is not that of a single position."""


def tiny(function, *rest, **options):
    return function(Table(), [TINY], [(0, 0)], *rest, **options)


def random_table(rng, *, labels, length, features):
    return {y: rng.normal(size=features) for y in itertools.product(range(labels), repeat=length)}


class Matching:
    """y_k is the column matched to row k; x[k, c] holds the features of a pair."""

    def joint_feature(self, x, y):
        return x[np.arange(len(x)), list(y)].sum(0)

    def outputs(self, x):
        return itertools.permutations(range(len(x)))

    def argmax(self, x, w):
        return tuple(linear_sum_assignment(x @ w, maximize=True)[1].tolist())


def separable_matchings(rng):
    problem, w = Matching(), rng.normal(size=6)
    X = [rng.normal(size=(3, 3, 6)) for _ in range(3)]
    return problem, X, [problem.argmax(x, w) for x in X]


def train(X, Y, rule, *, symbols, labels, epochs):
    """The compiled chain, from w = 0."""
    model = new_model(symbols, labels, max(len(x) for x in X))
    return list(passes(as_chain(X, Y), model, rule, examples=len(X), epochs=epochs))


def rules_that_respect_the_conditions(substructures, *, steps=POWERS):
    fields = itertools.product(GAMMAS, APPROACHES, steps, (False, True))
    every = [
        UpdateRule(substructures=substructures, gamma=gamma, approach=approach, step=step, impose=impose)
        for gamma, approach, step, impose in fields
        if approach == "balanced" or not impose
    ]
    return [rule for rule in every if rule.respects_conditions()]


# ---------------------------------------------------------------- by hand


def test_the_radius_is_the_longest_difference():
    assert tiny(theory.radius) == 5


def test_the_radius_of_single_positions_leaves_the_others_out():
    assert tiny(theory.radius, substructures="single") == 3


def test_a_tuple_of_families_is_their_union():
    assert tiny(theory.radius, substructures=("single", "full")) == 5
    assert tiny(theory.radius, substructures=("full", "single")) == 5


def test_the_margin_is_the_smallest_product():
    assert tiny(theory.margin, np.array([0.6, 0.8])) == pytest.approx(0.8)


def test_the_margin_scales_u_to_length_1():
    assert tiny(theory.margin, np.array([30.0, 40.0])) == pytest.approx(0.8)


def test_the_margin_is_negative_where_u_does_not_separate():
    assert tiny(theory.margin, np.array([0.6, -0.8])) == pytest.approx(-1.4)


def test_slacks_are_per_example():
    X = [TINY, {(0, 0): (0, 0), (0, 1): (-2, 1)}]
    np.testing.assert_allclose(theory.slacks(Table(), X, [(0, 0)] * 2, np.array([0.6, -0.8])), [-1.4, 2])


def test_slacks_with_single_positions_leave_the_others_out():
    slacks = tiny(theory.slacks, np.array([0.6, -0.8]), substructures="single")
    np.testing.assert_allclose(slacks, [-0.8])


def test_an_example_without_a_wrong_label_has_no_slack():
    u = np.array([0.6, 0.8])
    X, Y = [TINY, {(1,): (7, 7)}], [(0, 0), (1,)]
    assert theory.slacks(Table(), X, Y, u).tolist() == [pytest.approx(0.8), math.inf]
    assert theory.r_diff(Table(), X, Y, u, substructures="single") == pytest.approx(0)


def test_distance_is_the_length_of_what_is_missing():
    X = [TINY, {(0, 0): (0, 0), (0, 1): (-2, 1)}, {(0, 0): (0, 0), (0, 1): (0, 0)}]
    distance = theory.distance(Table(), X, [(0, 0)] * 3, np.array([0.6, -0.8]), 1)
    assert distance == pytest.approx(math.hypot(2.4, 0, 1))


def test_r_diff_is_the_smallest_gain_of_an_example():
    assert tiny(theory.r_diff, np.array([0.6, -0.8]), substructures="single") == pytest.approx(0.6)
    other = {**TINY, (1, 1): (-3, -2)}
    gain = theory.r_diff(Table(), [TINY, other], [(0, 0)] * 2, np.array([0.6, -0.8]), substructures="single")
    assert gain == pytest.approx(0)  # the second example: min(1.8, -0.8, 0.2) both ways


def test_the_update_bound_of_csp_is_the_square_of_radius_over_margin():
    assert tiny(theory.update_bound, np.array([0.6, 0.8])) == pytest.approx((5 / 0.8) ** 2)


def test_the_update_bound_without_back_off_takes_the_rules_sub_structures():
    bound = tiny(theory.update_bound, np.array([0.6, 0.8]), rule="a-wmr", back_off=False)
    assert bound == pytest.approx((3 / 0.8) ** 2)


def test_the_update_bound_with_back_off_takes_the_full_label_too():
    bound = tiny(theory.update_bound, np.array([0.6, 0.8]), rule="a-wmr")
    assert bound == pytest.approx((5 / 0.8) ** 2)


def test_longer_steps_have_a_larger_update_bound():
    unit, count = (
        tiny(theory.update_bound, np.array([0.6, 0.8]), rule=rule, back_off=False) for rule in ("a-wmr", "a-wmr:count")
    )
    assert 2 * unit <= count <= 4 * unit  # two sets at most: a step between 1 and 2


def test_the_first_pass_bound_of_csp():
    assert tiny(theory.first_pass_bound, np.array([0.6, -0.8]), delta=1) == pytest.approx((5 + 2.4) ** 2)


def test_the_first_pass_bound_of_single_positions():
    bound = tiny(theory.first_pass_bound, np.array([0.6, -0.8]), delta=1, substructures="single")
    assert bound == pytest.approx(((3 + 2.4) / (1 + 0.6)) ** 2)


def test_the_search_for_delta_finds_no_worse_than_a_grid():
    rng = np.random.default_rng(20)
    for _ in range(5):
        X = [random_table(rng, labels=2, length=2, features=4) for _ in range(6)]
        data = Table(), X, [(0, 0)] * 6, rng.normal(size=4)
        grid = [theory.first_pass_bound(*data, delta=delta) for delta in np.geomspace(1e-3, 1e3, 40)]
        assert theory.first_pass_bound(*data) <= min(grid) * (1 + 1e-6)


def test_the_generalization_bound_is_twice_the_mean_over_the_number_of_examples():
    assert theory.generalization_bound([4, 6], n=9) == pytest.approx(1)


def test_the_separator_is_the_nearest_point_of_the_hull():
    np.testing.assert_allclose(tiny(theory.separator), np.array([1, 3]) / math.sqrt(10))  # foot on (3, 0)–(0, 1)


@pytest.mark.parametrize("substructures", ["full", "single"])
def test_no_other_vector_near_the_separator_has_a_larger_margin(substructures):
    rng = np.random.default_rng(21)
    chain, X, Y, _ = separable_sequences(rng, examples=3, symbols=3, labels=2, length=3)
    u = theory.separator(chain, X, Y, substructures=substructures)
    best = theory.margin(chain, X, Y, u, substructures=substructures)
    assert best > 0
    for size in (1e-3, 1e-2, 0.1, 1):
        other = u + size * rng.normal(size=len(u))
        assert theory.margin(chain, X, Y, other, substructures=substructures) < best


def test_the_separator_is_at_least_as_good_as_the_weights_that_made_the_data():
    for seed in range(5):
        rng = np.random.default_rng([22, seed])
        chain, X, Y, w = separable_sequences(rng, examples=4, symbols=3, labels=2, length=3)
        u = theory.separator(chain, X, Y)
        assert theory.margin(chain, X, Y, u) >= theory.margin(chain, X, Y, w) > 0


# ---------------------------------------------------------------- Observations 1 and 2


@pytest.mark.parametrize("substructures", OF_POSITIONS)
def test_observation_1_mixed_assignments_have_no_smaller_margin_and_no_larger_radius(substructures):
    rng = np.random.default_rng(23)
    for _ in range(10):
        X = [random_table(rng, labels=2, length=length, features=5) for length in (1, 2, 3, 4)]
        data = Table(), X, [tuple(rng.integers(2, size=length)) for length in (1, 2, 3, 4)]
        u = rng.normal(size=5)
        assert theory.margin(*data, u, substructures=substructures) >= theory.margin(*data, u)
        assert theory.radius(*data, substructures=substructures) <= theory.radius(*data)


@pytest.mark.parametrize("substructures", OF_POSITIONS)
def test_observation_2_mixed_assignments_have_no_smaller_slack(substructures):
    rng = np.random.default_rng(24)
    for _ in range(10):
        X = [random_table(rng, labels=2, length=length, features=5) for length in (1, 2, 3, 4)]
        data = Table(), X, [tuple(rng.integers(2, size=length)) for length in (1, 2, 3, 4)]
        u = rng.normal(size=5)
        assert (theory.slacks(*data, u, substructures=substructures) >= theory.slacks(*data, u)).all()
        assert theory.r_diff(*data, u, substructures=substructures) >= 0


# ---------------------------------------------------------------- Theorem 1

CHAINS = {"symbols": 3, "labels": 3}


@functools.cache
def separable(seed):
    chain, X, Y, _ = separable_sequences(np.random.default_rng([25, seed]), examples=5, length=3, **CHAINS)
    return chain, X, Y


@functools.cache
def update_bound(seed, substructures, step, *, separating="full", back_off=True):
    data = separable(seed)
    u = theory.separator(*data, substructures=separating)
    rule = UpdateRule(substructures=substructures, step=step)
    return theory.update_bound(*data, u, rule=rule, back_off=back_off)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("substructures", OF_POSITIONS)
def test_theorem_1_bounds_the_updates_until_convergence(substructures, seed):
    _, X, Y = separable(seed)
    for rule in rules_that_respect_the_conditions(substructures):
        bound = update_bound(seed, substructures, rule.step)
        history = train(X, Y, rule, epochs=math.floor(bound) + 1, **CHAINS)
        assert history[-1].mistakes == 0, rule.name
        assert sum(epoch.updates for epoch in history) <= bound, rule.name


@pytest.mark.parametrize("substructures", OF_POSITIONS)
def test_theorem_1_bounds_runs_without_back_off_by_their_own_sub_structures(substructures):
    runs = 0
    for seed, rule in itertools.product(range(3), rules_that_respect_the_conditions(substructures)):
        _, X, Y = separable(seed)
        history = train(X, Y, rule, epochs=1000, **CHAINS)
        if sum(epoch.back_offs for epoch in history) == 0:
            runs += 1
            for separating in ("full", substructures):
                bound = update_bound(seed, substructures, rule.step, separating=separating, back_off=False)
                assert sum(epoch.updates for epoch in history) <= bound, rule.name
    assert runs > 0


def orthogonal_examples(n):
    """Two labels each, the wrong one first; Δφ of example i is the unit vector e_i."""
    return Table(), [{(1,): np.zeros(n), (0,): np.eye(n)[i]} for i in range(n)], [(0,)] * n


def test_theorem_1_is_tight_for_orthogonal_examples():
    problem, X, Y = orthogonal_examples(6)
    learner = StructuredPerceptron(problem, rule="csp", shuffle=False).fit(X, Y)
    assert sum(epoch.updates for epoch in learner.history_) == 6
    assert theory.update_bound(problem, X, Y, theory.separator(problem, X, Y)) == pytest.approx(6)


def test_theorem_1_for_matchings_needs_a_u_that_separates_the_mixed_assignments():
    """Mixing leaves Y(x), so Observation 1 does not hold and the bound of CSP is not one for other rules."""
    rng = np.random.default_rng(26)
    seen = 0
    while seen < 5:
        problem, X, Y = separable_matchings(rng)
        u = theory.separator(problem, X, Y)
        if theory.margin(problem, X, Y, u, substructures="single") > 0:
            continue
        seen += 1
        with pytest.raises(InputError, match="does not separate"):
            theory.update_bound(problem, X, Y, u, rule="a-uniform")


def test_theorem_1_bounds_matchings_whose_mixed_assignments_are_separated():
    rng = np.random.default_rng(27)
    seen = 0
    while seen < 10:
        problem, X, Y = separable_matchings(rng)
        try:
            u = theory.separator(problem, X, Y, substructures="single+full")
        except InputError:
            continue
        seen += 1
        for rule in ("a-uniform", "a-wm", "b-optimal", "b-wm:impose"):
            learner = StructuredPerceptron(problem, rule=rule, epochs=2000, shuffle=False).fit(X, Y)
            assert learner.converged_
            assert sum(epoch.updates for epoch in learner.history_) <= theory.update_bound(problem, X, Y, u, rule=rule)


# ---------------------------------------------------------------- Theorem 2


BITS = {"symbols": 2, "labels": 2}


@functools.cache
def nearly_separable(seed):
    """400 examples of which two have another label than the same input elsewhere; and some u to try."""
    rng = np.random.default_rng([28, seed])
    chain, X, Y, w = separable_sequences(rng, examples=400, length=3, **BITS)
    clean = theory.separator(chain, X, Y)
    for i in rng.choice(400, size=2, replace=False):
        Y[i] = tuple(1 - label for label in Y[i])
    return chain, X, Y, (clean, clean + 0.02 * rng.normal(size=len(w)), w)


@functools.cache
def first_pass_bound(seed, substructures):
    """The smallest over δ and some u."""
    *data, vectors = nearly_separable(seed)
    return min(theory.first_pass_bound(*data, u, substructures=substructures) for u in vectors)


@pytest.mark.parametrize("seed", range(2))
def test_the_data_for_theorem_2_are_not_separable(seed):
    *data, _ = nearly_separable(seed)
    with pytest.raises(InputError, match="not linearly separable"):
        theory.separator(*data)


@pytest.mark.parametrize("seed", range(2))
def test_theorem_2_says_more_than_that_no_example_is_wrong_twice(seed):
    assert first_pass_bound(seed, "full") < 0.9 * 400


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("substructures", OF_POSITIONS)
def test_theorem_2_bounds_the_mistakes_in_the_first_pass_of_every_rule_by_csps_bound(substructures, seed):
    """Also after back-offs: they use J = [L_x], and JJ with it has R^JJ = R and r^diff = 0."""
    _, X, Y, _ = nearly_separable(seed)
    for rule in rules_that_respect_the_conditions(substructures, steps=["unit"]):
        (epoch,) = train(X, Y, rule, epochs=1, **BITS)
        assert 0 < epoch.mistakes <= first_pass_bound(seed, "full"), rule.name


@pytest.mark.parametrize("substructures", OF_POSITIONS)
def test_theorem_2_bounds_a_first_pass_without_back_off_by_its_own_sub_structures(substructures):
    runs = 0
    for seed, rule in itertools.product(range(2), rules_that_respect_the_conditions(substructures, steps=["unit"])):
        _, X, Y, _ = nearly_separable(seed)
        (epoch,) = train(X, Y, rule, epochs=1, **BITS)
        if epoch.back_offs == 0:
            runs += 1
            assert epoch.mistakes <= first_pass_bound(seed, substructures), rule.name
    assert runs > 0


@pytest.mark.parametrize("rule", ["csp", "a-wm", "b-optimal:segments"])
def test_theorem_2_holds_for_any_u_and_delta(rule):
    *data, vectors = nearly_separable(0)
    (epoch,) = train(*data[1:], as_rule(rule), epochs=1, **BITS)
    for u, delta in itertools.product(vectors[:2], (0.03, 0.3, 3.0)):
        assert epoch.mistakes <= theory.first_pass_bound(*data, u, delta=delta)


def test_theorem_2_is_tight_for_orthogonal_examples():
    problem, X, Y = orthogonal_examples(6)
    (epoch,) = StructuredPerceptron(problem, rule="csp", epochs=1, shuffle=False).fit(X, Y).history_
    assert epoch.mistakes == 6
    assert theory.first_pass_bound(problem, X, Y, np.ones(6), delta=1 / math.sqrt(6)) == pytest.approx(6)


@pytest.mark.parametrize(("rule", "substructures"), [("a-uniform", "single"), ("a-wm", ("single", "full"))])
def test_theorem_2_bounds_the_first_pass_over_matchings(rule, substructures):
    """There r^diff may be negative, and only δ > -r^diff give a bound; a-wm backs off at w = 0."""
    rng = np.random.default_rng(29)
    for _ in range(60):
        problem, X, Y = separable_matchings(rng)
        u = theory.separator(problem, X, Y)
        (epoch,) = StructuredPerceptron(problem, rule=rule, epochs=1, shuffle=False).fit(X, Y).history_
        assert epoch.mistakes <= theory.first_pass_bound(problem, X, Y, u, substructures=substructures)


def test_a_delta_that_mixing_outside_the_outputs_uses_up_bounds_nothing():
    problem, X, Y = separable_matchings(np.random.default_rng(29))
    u = theory.separator(problem, X, Y)
    used_up = -theory.r_diff(problem, X, Y, u, substructures="single")
    assert used_up > 0
    assert theory.first_pass_bound(problem, X, Y, u, delta=used_up / 2, substructures="single") == math.inf
    assert theory.first_pass_bound(problem, X, Y, u, delta=used_up * 2, substructures="single") < math.inf


# ---------------------------------------------------------------- mixing


@pytest.mark.parametrize("substructures", OF_POSITIONS)
def test_chains_are_closed_under_mixing(substructures):
    X, Y = random_sequences(np.random.default_rng(30), examples=3, symbols=4, labels=2, longest=4)
    assert theory.closed_under_mixing(RememberingChain(4, 2), X, Y, substructures=substructures)


@pytest.mark.parametrize("substructures", sorted(set(OF_POSITIONS) - {"full"}))
def test_matchings_are_not_closed_under_mixing(substructures):
    x = np.zeros((4, 4, 1))
    assert not theory.closed_under_mixing(Matching(), [x], [(0, 1, 2, 3)], substructures=substructures)


def test_matchings_are_closed_under_taking_the_whole_prediction():
    x = np.zeros((4, 4, 1))
    assert theory.closed_under_mixing(Matching(), [x], [(0, 1, 2, 3)], substructures="full")


# ---------------------------------------------------------------- refusals


def test_a_problem_that_cannot_list_its_outputs_is_refused():
    class NoOutputs:
        def joint_feature(self, x, y):
            return [0]

    with pytest.raises(InputError, match="NoOutputs has no method outputs"):
        theory.radius(NoOutputs(), [None], [(0,)])


def test_a_problem_with_too_many_outputs_is_refused():
    class Endless(Table):
        def outputs(self, x):
            return ((k,) for k in itertools.count())

    with pytest.raises(InputError, match=f"more than {theory.MOST_OUTPUTS} labels"):
        theory.radius(Endless(), [{(0,): [0]}], [(0,)])


def test_the_update_bound_needs_a_u_that_separates():
    with pytest.raises(InputError, match=r"u does not separate the data: its margin is -1\.4"):
        tiny(theory.update_bound, np.array([0.6, -0.8]))


def test_the_separator_of_contradictory_data_is_refused():
    with pytest.raises(InputError, match="not linearly separable"):
        theory.separator(Table(), [TINY, TINY], [(0, 0), (1, 0)])


@pytest.mark.parametrize("delta", [0, -1, float("nan")])
def test_the_first_pass_bound_needs_a_positive_delta(delta):
    with pytest.raises(InputError, match="delta must be > 0"):
        tiny(theory.first_pass_bound, np.array([0.6, 0.8]), delta=delta)


@pytest.mark.parametrize("u", [[0, 0], [float("nan"), 1], [float("inf"), 1]])
def test_u_must_have_a_direction(u):
    with pytest.raises(InputError, match="u must be"):
        tiny(theory.margin, np.array(u, float))


@pytest.mark.parametrize(("X", "Y"), [([], []), ([TINY], []), ([TINY], [(0, 0), (0, 1)])])
def test_as_many_inputs_as_labels_and_at_least_one_are_needed(X, Y):
    with pytest.raises(InputError, match="give as many, at least one"):
        theory.radius(Table(), X, Y)
