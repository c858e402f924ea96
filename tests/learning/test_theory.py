"""The quantities of the theorems, checked by hand on tiny problems."""

import itertools
import math

import numpy as np
import pytest

from helpers.problems import RememberingChain, random_sequences, separable_sequences
from helpers.theory_problems import TINY, Matching, Table, random_table, tiny
from swvp import theory
from swvp.errors import InputError
from swvp.learning import enumeration
from swvp.learning.substructures import OF_POSITIONS

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

    with pytest.raises(InputError, match=f"more than {enumeration.MOST_OUTPUTS} labels"):
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
    with pytest.raises(InputError, match="give the same number of both, at least one"):
        theory.radius(Table(), X, Y)
