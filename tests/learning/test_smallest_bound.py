"""Theorem 2 at its smallest over u and δ, against brute force; Theorem 3 from data."""

import functools
import math

import numpy as np
import pytest

from helpers.problems import as_chain, separable_sequences
from helpers.slow import slow_except
from helpers.theory_problems import TINY, Table, orthogonal_examples, random_table, separable_matchings, tiny
from swvp import theory
from swvp.errors import InputError
from swvp.estimators import StructuredPerceptron
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import as_rule
from swvp.structures.chain.indicator import new_model

NEAR = 1 + 1e-6


@functools.cache
def tables(seed, features):
    """Six tables whose gold label is good on the whole, and not separable."""
    rng = np.random.default_rng([40, seed])
    X = [random_table(rng, labels=2, length=2, features=features) for _ in range(6)]
    for x in X:
        x[0, 0] = x[0, 0] + 4
    return Table(), X, [(0, 0)] * 6


@functools.cache
def nearly_separable(seed, examples=60):
    rng = np.random.default_rng([41, seed])
    chain, X, Y, w = separable_sequences(rng, examples=examples, length=2, symbols=3, labels=2)
    Y[0] = tuple(1 - label for label in Y[0])
    return chain, X, Y, w


# ---------------------------------------------------------------- Theorem 2


@pytest.mark.parametrize("substructures", ["full", "single", ("single", "full")])
@pytest.mark.parametrize("seed", slow_except(range(5), 0))
def test_no_direction_of_the_plane_gives_a_smaller_bound(seed, substructures):
    data = tables(seed, 2)
    angles = np.linspace(0, 2 * math.pi, 500)
    brute = [
        theory.first_pass_bound(*data, np.array([math.cos(a), math.sin(a)]), substructures=substructures)
        for a in angles
    ]
    found = theory.smallest_first_pass_bound(*data, substructures=substructures)
    assert found.bound <= min(brute) * NEAR
    assert found.bound > 0.95 * min(brute)  # the plane is searched densely, so not much smaller either


@pytest.mark.slow
@pytest.mark.parametrize(("substructures", "near"), [("full", NEAR), ("single", 1.01)])
def test_no_random_direction_near_or_far_gives_a_smaller_bound(substructures, near):
    """Of CSP; what is not convex is searched, so that a bound may be a little too large."""
    rng = np.random.default_rng(42)
    for seed in range(2):
        *data, w = nearly_separable(seed)
        found = theory.smallest_first_pass_bound(*data, substructures=substructures)
        others = [found.u + size * rng.normal(size=len(w)) for size in (1e-3, 1e-2, 0.1, 1) for _ in range(10)]
        without_noise = theory.separator(data[0], data[1][1:], data[2][1:])
        for u in (w, without_noise, *others):
            assert found.bound <= theory.first_pass_bound(*data, u, substructures=substructures) * near


@pytest.mark.parametrize("substructures", ["full", "single"])
def test_the_smallest_bound_is_the_bound_at_its_u_and_delta(substructures):
    *data, _ = nearly_separable(0)
    found = theory.smallest_first_pass_bound(*data, substructures=substructures)
    at = theory.first_pass_bound(*data, found.u, delta=found.delta, substructures=substructures)
    assert found.bound == pytest.approx(at)
    assert np.linalg.norm(found.u) == pytest.approx(1)


def test_the_smallest_bound_of_separable_data_is_that_of_theorem_1():
    found = tiny(theory.smallest_first_pass_bound)
    assert found.bound <= 1  # one example: one mistake at most
    problem, X, Y = orthogonal_examples(6)
    assert theory.smallest_first_pass_bound(problem, X, Y).bound == pytest.approx(6)


@pytest.mark.slow
def test_equal_examples_count_as_often_as_they_come():
    problem, X, Y = tables(0, 2)
    one, three = (theory.smallest_first_pass_bound(problem, X * k, Y * k) for k in (1, 3))
    assert three.bound > one.bound
    brute = min(
        theory.first_pass_bound(problem, X * 3, Y * 3, np.array([math.cos(a), math.sin(a)]))
        for a in np.linspace(0, 2 * math.pi, 500)
    )
    assert 0.95 * brute < three.bound <= brute * NEAR


@pytest.mark.slow
def test_the_mixed_bound_is_that_of_csp_for_csp_and_never_larger():
    *data, _ = nearly_separable(0)
    csp, single = (theory.smallest_first_pass_bound(*data, substructures=jj) for jj in ("full", "single"))
    assert csp.mixed == csp.bound
    assert single.mixed <= single.bound <= csp.bound * NEAR


def test_data_that_nothing_separates_bound_the_mistakes_by_the_examples():
    contradiction = Table(), [TINY, TINY], [(0, 0), (1, 0)]
    found = theory.smallest_first_pass_bound(*contradiction)
    assert found.bound == pytest.approx(2)


def test_labels_without_features_bound_nothing_but_the_examples():
    found = theory.smallest_first_pass_bound(Table(), [{(0,): [0, 0], (1,): [0, 0]}] * 3, [(0,)] * 3)
    assert (found.bound, found.delta) == (3, math.inf)


def test_examples_without_a_wrong_label_are_no_mistakes():
    found = theory.smallest_first_pass_bound(Table(), [{(1,): (7, 7)}], [(1,)])
    assert found.bound == found.mixed == 0


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["csp", "a-wm", "a-uniform:segments", "b-optimal"])
def test_the_smallest_bounds_hold_for_the_first_pass(rule):
    """Back-offs use J = [L_x], so "full" is always right; the rule's own JJ without back-offs."""
    for seed in range(4):
        chain, X, Y, _ = nearly_separable(seed)
        model = new_model(3, 2, 2)
        (epoch,) = run_epochs(as_chain(X, Y), model, as_rule(rule), examples=len(X), epochs=1)
        families = ["full"] if epoch.back_offs else ["full", as_rule(rule).substructures]
        for family in families:
            found = theory.smallest_first_pass_bound(chain, X, Y, substructures=family)
            assert epoch.mistakes <= found.mixed <= found.bound


def test_the_mixed_bound_holds_where_mixing_leaves_the_outputs():
    rng = np.random.default_rng(43)
    for _ in range(20):
        problem, X, Y = separable_matchings(rng)
        (epoch,) = StructuredPerceptron(problem, rule="a-uniform", epochs=1, shuffle=False).fit(X, Y).history_
        found = theory.smallest_first_pass_bound(problem, X, Y, substructures="single")
        assert epoch.mistakes <= found.mixed <= found.bound


# ---------------------------------------------------------------- Theorem 3


def test_one_sample_is_twice_its_bound_over_the_number_of_examples():
    *data, _ = nearly_separable(0)
    found = theory.error_bound(*data)
    smallest = theory.smallest_first_pass_bound(*data).bound
    assert found.bound == pytest.approx(2 / 60 * smallest)
    assert (found.n, found.samples, found.standard_error) == (59, 1, None)


def test_the_samples_are_separate_and_all_of_n_plus_1_examples():
    seen = []

    class Counting(Table):
        def outputs(self, x):
            seen.append(id(x))
            return list(x)

    _, X, Y = tables(0, 2)
    found = theory.error_bound(Counting(), X, Y, n=1, random_state=0)
    assert found.samples == 3
    assert sorted(set(seen)) == sorted(map(id, X))
    assert found.standard_error > 0


def test_the_order_of_the_samples_is_decided_by_random_state():
    _, X, Y = tables(0, 2)
    one, again, other = (theory.error_bound(Table(), X, Y, n=2, random_state=seed).bound for seed in (0, 0, 1))
    assert one == again != other


@pytest.mark.slow
def test_a_rule_that_backs_off_has_the_error_bound_of_csp():
    *data, _ = nearly_separable(1)
    csp = theory.error_bound(*data).bound
    assert theory.error_bound(*data, rule="a-wm").bound == pytest.approx(csp)
    assert theory.error_bound(*data, rule="a-wm", back_off=False).bound < csp


def test_the_mean_error_of_the_voted_perceptron_is_below_the_bound():
    rng = np.random.default_rng(44)
    chain, X, Y, _ = separable_sequences(rng, examples=400, length=2, symbols=2, labels=2)
    n, wrong, runs = 39, 0, 10
    for r in range(runs):
        part = slice(r * (n + 1), (r + 1) * (n + 1))
        learner = StructuredPerceptron(chain, rule="csp", vote=True, epochs=1, shuffle=False)
        predicted = learner.fit(X[part][:n], Y[part][:n]).predict(X[part][n:])
        wrong += predicted[0] != Y[part][n]
    assert wrong / runs <= theory.error_bound(chain, X, Y, n=n, random_state=0).bound < 1


@pytest.mark.parametrize("n", [0, -1, 2.5, True, None, "7"])
def test_the_generalization_bound_needs_a_number_of_examples(n):
    with pytest.raises(InputError, match="n, the number of training examples, must be a whole number of at least 1"):
        theory.generalization_bound([4, 6], n=n)


@pytest.mark.parametrize("bounds", [[], [[1, 2]], [float("nan")], [3, -1]])
def test_the_generalization_bound_needs_bounds(bounds):
    with pytest.raises(InputError, match="mistake_bounds must be"):
        theory.generalization_bound(bounds, n=9)


@pytest.mark.parametrize("n", [0, -1, 6, 2.5, True])
def test_the_error_bound_needs_fewer_training_examples_than_there_are(n):
    with pytest.raises(InputError, match="n must be a whole number from 1 to 5"):
        theory.error_bound(*tables(0, 2), n=n)


@pytest.mark.parametrize(("X", "Y"), [([], []), ([TINY], [(0, 0)]), ([TINY, TINY], [(0, 0)])])
def test_the_error_bound_needs_two_examples(X, Y):
    with pytest.raises(InputError, match="give the same number of both, at least two"):
        theory.error_bound(Table(), X, Y)


@pytest.mark.parametrize(("rule", "reason"), [("b-wm", "condition"), ("a-wm:sqrt", "step unit"), ("mira", "step unit")])
def test_the_error_bound_is_refused_for_rules_that_theorem_3_does_not_cover(rule, reason):
    with pytest.raises(InputError, match=f"Theorem 3 does not apply to rule .*{reason}"):
        theory.error_bound(*tables(0, 2), rule=rule)
