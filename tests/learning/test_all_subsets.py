"""γ over all sub-structures by sums is γ over their list, and `maxent` is the γ of largest entropy."""

import itertools

import numpy as np
import pytest

from helpers.arc_treebanks import Both
from helpers.margins import gamma_of
from helpers.plain_tagger import ATTRIBUTES, LABELS, LONGEST, as_problem, random_examples, started
from swvp import SequenceTagger
from swvp.learning.all_subsets import AllSubsets, sweep_all_subsets
from swvp.learning.epoch import BACK_OFFS, CONDITION_2_FAILURES, COUNTS, WITHOUT_VIOLATION, WRONG_POSITIONS
from swvp.learning.perceptron import new_state, prepare, sweep
from swvp.learning.rule import as_rule
from swvp.learning.subset_sums import expectations, lay_out, least_margin, maximise_entropy, new_sums
from swvp.learning.triples import AllOfTriples
from swvp.structures import operations
from swvp.structures.chain.attributes import new_model

# ---------------------------------------------------------------- the sums


RULES_OF_SUMS = {AllSubsets: 1, AllOfTriples: 2}
"""How far apart positions are that share features."""


class Lattice:
    """Random margins of sets of positions that share features, and the margins of all non-empty sets by definition."""

    def __init__(self, rng, k, rule):
        self.k, reach = k, RULES_OF_SUMS[rule]
        self.wrong = np.sort(rng.choice(2 * k, size=k, replace=False))
        self.sums = new_sums(rule(None, False), k)
        starts, positions = np.zeros(4 * k + 1, np.int64), np.empty(8 * k, np.int64)
        count, starts, positions = lay_out(self.sums, None, None, 0, self.wrong, k, starts, positions)
        self.sets = [tuple(positions[starts[c] : starts[c + 1]].tolist()) for c in range(count)]
        wrong = self.wrong.tolist()
        share = [J for size in (1, 2, 3) for J in itertools.combinations(wrong, size) if J[-1] - J[0] <= reach]
        own = {J: rng.normal(scale=3) for J in share}
        self.margin_of = lambda J: sum(margin for S, margin in own.items() if set(S) <= set(J))
        self.margin = np.array([self.margin_of(J) for J in self.sets])
        self.every = [J for size in range(1, k + 1) for J in itertools.combinations(wrong, size)]
        self.margins = np.array([self.margin_of(J) for J in self.every])

    def amounts(self, multiplier=None):
        """Σγ·margin and the amounts of the sets, for one λ or by maximum entropy."""
        amount, sizes = np.empty(len(self.sets)), (self.k, len(self.sets))
        if multiplier is None:
            mean = maximise_entropy(self.sums, self.margin, *sizes, 1e-12, amount)
        else:
            mean = expectations(self.sums, multiplier, self.margin, *sizes, amount)
        return mean, amount

    def check(self, gamma, amount, atol):
        """Compare how much of each indicator z_p and z_p z_q the update has."""
        for positions in self.sets:
            expected = sum(g for g, J in zip(gamma, self.every, strict=True) if set(positions) <= set(J))
            mine = sum(a for a, J in zip(amount, self.sets, strict=True) if set(positions) <= set(J))
            np.testing.assert_allclose(mine, expected, atol=atol)

    def shifted(self, least):
        """This lattice with other margins of its first position, so that the smallest margin is `least`."""
        first = int(self.wrong[0])
        for _ in range(200):
            gap = least - self.margins.min()
            if abs(gap) <= 1e-15:
                break
            has_first = np.array([first in J for J in self.every])
            self.margins = self.margins + gap * has_first
            self.margin = self.margin + gap * np.array([first in J for J in self.sets])
        return self


def lattices(count=60, seed=0, rule=AllSubsets):
    rng = np.random.default_rng(seed)
    return [Lattice(rng, int(rng.integers(1, 9)), rule) for _ in range(count)]


def test_the_sets_are_single_positions_and_pairs_of_neighbours():
    for lattice in lattices():
        singles = [(p,) for p in lattice.wrong.tolist()]
        assert lattice.sets == singles + [
            (p, q) for p, q in itertools.pairwise(lattice.wrong.tolist()) if q == p + 1
        ]  # fmt: skip


def test_in_second_order_the_sets_are_all_of_positions_that_share_a_feature():
    for lattice in lattices(rule=AllOfTriples):
        assert len(set(lattice.sets)) == len(lattice.sets)
        assert set(lattice.sets) == {J for J in lattice.every if len(J) <= 3 and J[-1] - J[0] <= 2}


@pytest.mark.parametrize("rule", RULES_OF_SUMS)
@pytest.mark.parametrize("multiplier", [0.0, 0.3, 1.0, 20.0])
def test_expectations_are_those_over_all_non_empty_sets(multiplier, rule):
    for lattice in lattices(rule=rule):
        gamma = np.exp(-multiplier * (lattice.margins - lattice.margins.min()))
        gamma /= gamma.sum()
        mean, amount = lattice.amounts(multiplier)
        np.testing.assert_allclose(mean, gamma @ lattice.margins, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(amount @ lattice.margin, mean, rtol=1e-9, atol=1e-9)
        lattice.check(gamma, amount, atol=1e-9)


@pytest.mark.parametrize("rule", RULES_OF_SUMS)
def test_the_least_margin_is_that_of_all_non_empty_sets(rule):
    for lattice in lattices(rule=rule):
        least = least_margin(lattice.sums, lattice.margin, lattice.k, len(lattice.sets))
        np.testing.assert_allclose(least, lattice.margins.min())


@pytest.mark.parametrize("rule", RULES_OF_SUMS)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_maximum_entropy_by_sums_is_that_of_the_list(scale, rule):
    solved = 0
    for lattice in lattices(count=150, seed=1, rule=rule):
        lattice.margin, lattice.margins = lattice.margin * scale, lattice.margins * scale
        if lattice.margins.min() >= -1e-3 * scale:
            continue
        gamma = gamma_of("maxent", lattice.margins, zero=1e-12)
        mean, amount = lattice.amounts()
        assert mean <= 1e-9 * scale
        lattice.check(gamma, amount, atol=1e-6)
        solved += lattice.margins.mean() > 0
    assert solved >= 15


@pytest.mark.parametrize("rule", RULES_OF_SUMS)
@pytest.mark.parametrize("least", [-(2.0**-22), 0.0, 2.0**-30])
def test_there_is_a_finite_multiplier_unless_all_margins_are_positive(least, rule):
    refused = 0
    for lattice in lattices(count=100, seed=2, rule=rule):
        lattice.margin, lattice.margins = 30 * lattice.margin, 30 * lattice.margins
        mean, amount = lattice.shifted(least).amounts()
        refused += mean == np.inf
        if mean != np.inf:
            assert mean <= 1e-9 * np.abs(lattice.margin).max()
            lattice.check(gamma_of("maxent", lattice.margins, zero=1e-9), amount, atol=1e-4)
    assert (refused > 0) == (least > 0)


# ---------------------------------------------------------------- one epoch


def one_update(run, rule, problem, model, i):
    counts, largest = np.zeros(len(COUNTS), np.int64), np.zeros(1)
    before = operations.weights(model)
    run(problem, model, rule, np.array([i]), 0, 1.0, largest, counts)
    return operations.weights(model) - before, counts


def copy_of(model):
    copy = new_model(ATTRIBUTES, LABELS, LONGEST, None)
    copy.w[:], copy.w_move[:] = model.w, model.w_move
    copy.moves[:] += model.w_move
    return copy


RULES = ["b-softmin:all", "b-maxent:all", "b-softmin:all:mira", "b-maxent:all:mira", "b-maxent:all:ada"]


def both_ways(name, problem, model, copy, i):
    """The change of w by the list of all sub-structures and by sums."""
    rule = as_rule(name, beta=0.7)
    listed, _ = one_update(sweep, prepare(rule, new_state(rule, model).squares), problem, model, i)
    base = prepare(rule, new_state(rule, model).squares)
    summed, counts = one_update(sweep_all_subsets, AllSubsets(base, rule.gamma == "maxent"), problem, copy, i)
    return listed, summed, counts


@pytest.mark.parametrize("from_zero", [False, True], ids=["random-start", "from-zero"])
@pytest.mark.parametrize("valued", [False, True], ids=["unit", "valued"])
@pytest.mark.parametrize("name", RULES)
def test_a_tagger_is_updated_as_by_the_list_of_all_sub_structures(name, valued, from_zero):
    rng = np.random.default_rng(3)
    for _ in range(20):
        X, Y = random_examples(rng, valued=valued)
        problem = as_problem(X, Y, valued=valued)
        for i in range(len(X)):
            model, w = started(rng)
            if from_zero:
                model.w[:], model.w_move[:], model.moves[:], w = 0, 0, 0, 0 * w
            copy = copy_of(model)
            listed, summed, counts = both_ways(name, problem, model, copy, i)
            np.testing.assert_allclose(summed, listed, atol=1e-5)
            if "maxent" in name:
                assert counts[CONDITION_2_FAILURES] == 0
                assert w @ summed <= 1e-5 or name.endswith("ada")  # whose step changes the direction


@pytest.mark.parametrize("name", RULES)
def test_a_first_order_parser_is_updated_as_by_the_list_of_all_sub_structures(name):
    rng = np.random.default_rng(4)
    for _ in range(5):
        seed = int(rng.integers(1000))
        kinds = {"projective": False, "one_root": True, "prune": False}
        first, second = (Both(np.random.default_rng(seed), **kinds) for _ in range(2))
        for i in range(len(first.X)):
            listed, summed, _ = both_ways(name, first.problem, first.model, second.model, i)
            np.testing.assert_allclose(summed, listed, atol=1e-5)
            second.model.w[:] = first.model.w


def test_in_an_arc_factored_model_maxent_is_a_multiple_of_csp():
    rng = np.random.default_rng(5)
    seen = 0
    while seen < 20:
        seed = int(rng.integers(10_000))
        first, second = (Both(np.random.default_rng(seed), projective=False, one_root=True, prune=False) for _ in "ab")
        for i in range(len(first.X)):
            wrong = np.empty(10, np.int64)
            k = operations.find_mistakes(first.problem, first.model, i, wrong)
            maxent = AllSubsets(prepare(as_rule("b-maxent:all")), True)
            summed, counts = one_update(sweep_all_subsets, maxent, first.problem, first.model, i)
            csp, _ = one_update(sweep, prepare(as_rule("csp")), second.problem, second.model, i)
            if k:
                np.testing.assert_allclose(summed, csp * 2**k / (2**k - 1) / 2, atol=1e-6)
                assert counts[BACK_OFFS] == 0
                seen += 1
            second.model.w[:] = first.model.w


def test_with_large_beta_softmin_over_all_is_csp():
    rng = np.random.default_rng(6)
    most = 0
    for _ in range(20):
        X, Y = random_examples(rng, valued=False)
        problem = as_problem(X, Y, valued=False)
        for i in range(len(X)):
            model, _ = started(rng)
            copy = copy_of(model)
            rule = AllSubsets(prepare(as_rule("b-softmin:all", beta=1e6)), False)
            summed, counts = one_update(sweep_all_subsets, rule, problem, model, i)
            csp, _ = one_update(sweep, prepare(as_rule("csp")), problem, copy, i)
            np.testing.assert_allclose(summed, csp, atol=1e-6)
            most = max(most, counts[WRONG_POSITIONS])
    assert most >= 3


def test_maxent_is_csp_if_the_prediction_ties_with_gold_and_is_the_only_violation():
    """Gold labels 0, 0; the prediction 1, 1 has the same score, and the mixed assignments 0, 1 and 1, 0 have less."""
    problem = as_problem([[[(0, 1.0)], [(1, 1.0)]]], [(0, 0)], valued=False)
    model = new_model(ATTRIBUTES, LABELS, LONGEST, None)
    model.w_move[1, 1], model.w[:, 1], model.w[:, 2] = 2.0, -1.0, -9.0
    copy = copy_of(model)
    for tied in (model, copy):
        tied.moves[:] = model.w_move
        tied.moves[0, 0] = -(2.0**-24)  # the search predicts 1, 1
    rule = AllSubsets(prepare(as_rule("b-maxent:all")), True)
    summed, counts = one_update(sweep_all_subsets, rule, problem, model, 0)
    csp, _ = one_update(sweep, prepare(as_rule("csp")), problem, copy, 0)
    assert counts[WRONG_POSITIONS] == 2
    assert counts[CONDITION_2_FAILURES] == 0
    np.testing.assert_array_equal(summed, csp)


def test_there_is_no_update_without_a_violation():
    """Search that cannot reach the gold labels, because a transition is forbidden, may predict something worse."""
    barrier = np.zeros((LABELS + 1, LABELS + 1))
    barrier[0, 0] = -np.inf
    problem = as_problem([[[(0, 1.0)], [(1, 1.0)]]], [(0, 0)], valued=False)
    model = new_model(ATTRIBUTES, LABELS, LONGEST, barrier)
    model.w[:, 0] = 5.0
    rule = AllSubsets(prepare(as_rule("b-maxent:all")), True)
    summed, counts = one_update(sweep_all_subsets, rule, problem, model, 0)
    assert counts[WITHOUT_VIOLATION] == 1
    assert not summed.any()


@pytest.mark.parametrize("rule", ["b-maxent:all", "b-softmin:all:mira"])
def test_there_is_no_limit_to_the_number_of_wrong_positions(rule):
    X = [[f"w{p}" for p in range(200)], [f"v{p}" for p in range(150)]]
    y = [[str(p * p % 7) for p in range(len(x))] for x in X]
    tagger = SequenceTagger(rule=rule, epochs=30, random_state=0).fit(X, y)
    assert tagger.history_[0].wrong_positions > 100
    assert tagger.score(X, y) > 0.5


# ---------------------------------------------------------------- maximum entropy


def test_maxent_has_the_largest_entropy_of_all_that_meet_the_conditions():
    rng = np.random.default_rng(7)
    for _ in range(100):
        margins = rng.normal(size=rng.integers(1, 9)) + rng.normal()
        margins[0] = -abs(margins[0])
        gamma = gamma_of("maxent", margins)
        assert gamma @ margins <= 1e-12
        # the conditions of optimality: log γ is linear in the margins, with a slope -λ ≤ 0, and λ·Σγ·margin = 0
        slope = np.polyfit(margins, np.log(gamma), 1)[0] if len(margins) > 1 else 0.0
        np.testing.assert_allclose(np.log(gamma) - slope * margins, np.log(gamma[0]) - slope * margins[0], atol=1e-6)
        assert slope <= 1e-9
        assert slope > -1e-9 or abs(gamma @ margins) < 1e-9


def test_maxent_is_uniform_if_that_meets_condition_2():
    np.testing.assert_allclose(gamma_of("maxent", [-3.0, 1.0, 1.0]), 1 / 3)


def test_maxent_uses_only_margins_of_0_if_none_is_negative():
    assert gamma_of("maxent", [2.0, 0.0, 1.0, 0.0]).tolist() == [0, 0.5, 0, 0.5]
