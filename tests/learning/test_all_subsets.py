"""γ over all sub-structures by sums is γ over their list, and `maxent` is the γ of largest entropy."""

import itertools

import numpy as np
import pytest

from helpers.arc_treebanks import Both
from helpers.margins import gamma_of
from helpers.plain_tagger import ATTRIBUTES, LABELS, as_problem, random_examples, started
from swvp import SequenceTagger
from swvp.learning.all_subsets import AllSubsets, expectations, least_margin, singles_and_neighbours, sweep_all_subsets
from swvp.learning.epoch import BACK_OFFS, CONDITION_2_FAILURES, COUNTS
from swvp.learning.perceptron import prepare, sweep
from swvp.learning.rule import as_rule
from swvp.structures import operations
from swvp.structures.chain.attributes import new_model

# ---------------------------------------------------------------- the sums


class Lattice:
    """Random margins of single positions and of neighbours, and the margins of all non-empty sets by definition."""

    def __init__(self, rng, k):
        self.k = k
        self.wrong = np.sort(rng.choice(2 * k, size=k, replace=False))
        starts, positions, self.pair = np.zeros(2 * k + 1, np.int64), np.empty(3 * k, np.int64), np.empty(k, np.int64)
        count = singles_and_neighbours(self.wrong, k, starts, positions, self.pair)
        self.sets = [tuple(positions[starts[c] : starts[c + 1]].tolist()) for c in range(count)]
        own = dict(zip(self.wrong.tolist(), rng.normal(scale=3, size=k), strict=True))
        both = {(p, p + 1): rng.normal(scale=3) for p in own if p + 1 in own}
        self.margin_of = lambda J: sum(own[p] for p in J) + sum(b for (p, q), b in both.items() if p in J and q in J)
        self.margin = np.array([self.margin_of(J) for J in self.sets])
        self.every = [J for size in range(1, k + 1) for J in itertools.combinations(self.wrong.tolist(), size)]
        self.margins = np.array([self.margin_of(J) for J in self.every])

    def amounts(self, multiplier):
        buffers, amount = (np.empty((self.k, 2)), np.empty((self.k, 2))), np.empty(len(self.sets))
        mean = expectations(multiplier, self.margin, self.pair, self.k, *buffers, amount)
        return mean, amount


def lattices(count=60):
    """Lattices in which some set is a violation."""
    rng = np.random.default_rng(0)
    every = (Lattice(rng, int(rng.integers(1, 9))) for _ in itertools.count())
    return list(itertools.islice((lattice for lattice in every if lattice.margins.min() <= 0), count))


def test_the_sets_are_single_positions_and_pairs_of_neighbours():
    for lattice in lattices():
        singles = [(p,) for p in lattice.wrong.tolist()]
        assert lattice.sets == singles + [
            (p, q) for p, q in itertools.pairwise(lattice.wrong.tolist()) if q == p + 1
        ]  # fmt: skip


@pytest.mark.parametrize("multiplier", [0.0, 0.3, 1.0, 20.0])
def test_expectations_are_those_over_all_non_empty_sets(multiplier):
    for lattice in lattices():
        gamma = np.exp(-multiplier * (lattice.margins - lattice.margins.min()))
        gamma /= gamma.sum()
        mean, amount = lattice.amounts(multiplier)
        np.testing.assert_allclose(mean, gamma @ lattice.margins, rtol=1e-9, atol=1e-9)
        # the update, by how much of each indicator z_p and z_p z_q it has
        for positions in [*lattice.sets, *itertools.combinations(lattice.wrong.tolist(), 2)]:
            neighbours = len(positions) == 1 or positions in lattice.sets
            expected = sum(g for g, J in zip(gamma, lattice.every, strict=True) if set(positions) <= set(J))
            mine = sum(a for a, J in zip(amount, lattice.sets, strict=True) if set(positions) <= set(J))
            if neighbours:
                np.testing.assert_allclose(mine, expected, atol=1e-9)


def test_the_least_margin_is_that_of_all_non_empty_sets():
    for lattice in lattices():
        np.testing.assert_allclose(least_margin(lattice.margin, lattice.pair, lattice.k), lattice.margins.min())


# ---------------------------------------------------------------- one epoch


def one_update(run, rule, problem, model, i):
    counts, largest = np.zeros(len(COUNTS), np.int64), np.zeros(1)
    before = operations.weights(model)
    run(problem, model, rule, np.array([i]), 0, largest, counts)
    return operations.weights(model) - before, counts


RULES = ["b-softmin:all", "b-maxent:all", "b-softmin:all:mira", "b-maxent:all:mira"]


def both_ways(name, problem, model, copy, i):
    """The change of w by the list of all sub-structures and by sums."""
    rule = as_rule(name, beta=0.7)
    listed, _ = one_update(sweep, prepare(rule), problem, model, i)
    summed, counts = one_update(sweep_all_subsets, AllSubsets(prepare(rule), rule.gamma == "maxent"), problem, copy, i)
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
            copy = new_model(ATTRIBUTES, LABELS, 4, None)
            copy.w[:], copy.w_move[:] = model.w, model.w_move
            copy.moves[:] += model.w_move
            listed, summed, counts = both_ways(name, problem, model, copy, i)
            np.testing.assert_allclose(summed, listed, atol=1e-5)
            if "maxent" in name:
                assert counts[CONDITION_2_FAILURES] == 0
                assert w @ summed <= 1e-5


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
    X, Y = random_examples(rng, valued=False)
    problem = as_problem(X, Y, valued=False)
    for i in range(len(X)):
        model, w = started(rng)
        rule = AllSubsets(prepare(as_rule("b-softmin:all", beta=1e6)), False)
        summed, _ = one_update(sweep_all_subsets, rule, problem, model, i)
        model.w[:], model.w_move[:] = (
            w[: model.w.size].reshape(model.w.shape),
            w[model.w.size :].reshape(-1, LABELS + 1),
        )
        model.moves[:] = model.w_move
        csp, _ = one_update(sweep, prepare(as_rule("csp")), problem, model, i)
        np.testing.assert_allclose(summed, csp, atol=1e-6)


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
        entropy = -(gamma * np.log(gamma)).sum()
        for other in rng.dirichlet(np.ones(len(margins)), size=200):
            if other @ margins <= 0:
                assert -(other * np.log(other)).sum() <= entropy + 1e-9


def test_maxent_is_uniform_if_that_meets_condition_2():
    np.testing.assert_allclose(gamma_of("maxent", [-3.0, 1.0, 1.0]), 1 / 3)


def test_maxent_uses_only_margins_of_0_if_none_is_negative():
    assert gamma_of("maxent", [2.0, 0.0, 1.0, 0.0]).tolist() == [0, 0.5, 0, 0.5]
