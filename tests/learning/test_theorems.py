"""Theorems 1 and 2 on random problems: no training makes more updates or mistakes than they say."""

import functools
import itertools
import math

import numpy as np
import pytest

from helpers.problems import as_chain, separable_sequences
from helpers.theory_problems import orthogonal_examples, separable_matchings
from swvp.errors import InputError
from swvp.estimators import StructuredPerceptron
from swvp.learning import theory
from swvp.learning.gamma import GAMMAS
from swvp.learning.perceptron import run_epochs
from swvp.learning.rule import APPROACHES, POWERS, UpdateRule, as_rule
from swvp.learning.substructures import OF_POSITIONS
from swvp.structures.chain.indicator import new_model


def train(X, Y, rule, *, symbols, labels, epochs):
    """The compiled chain, from w = 0."""
    model = new_model(symbols, labels, max(len(x) for x in X))
    return list(run_epochs(as_chain(X, Y), model, rule, examples=len(X), epochs=epochs))


def rules_that_respect_the_conditions(substructures, *, steps=POWERS):
    fields = itertools.product(GAMMAS, APPROACHES, steps, (False, True))
    every = [
        UpdateRule(substructures=substructures, gamma=gamma, approach=approach, step=step, impose=impose)
        for gamma, approach, step, impose in fields
        if approach == "balanced" or not impose
    ]
    return [rule for rule in every if rule.respects_conditions()]


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
        for rule in ("a-uniform", "a-wm", "b-optimal", "b-maxent", "b-wm:impose"):
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


@pytest.mark.slow
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


@pytest.mark.parametrize("rule", ["csp", "a-wm", "b-optimal:segments", "b-maxent:all"])
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
