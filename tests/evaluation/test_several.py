"""Two predictions compared on several test sets: what is known by counting, and Holm's correction."""

import itertools

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.evaluation.paired import compare_sets, holm, lean


def counts(right, of):
    return np.stack([right, of], axis=1).astype(np.int64)


def exact_p(pairs):
    """By all ways to swap the predictions of every sentence."""
    gains = [(second[:, 0] - first[:, 0]) / first[:, 1].sum() / len(pairs) for first, second in pairs]
    gains = np.concatenate(gains)
    sums = [abs(np.dot(signs, gains)) for signs in itertools.product((-1, 1), repeat=len(gains))]
    return np.mean(np.array(sums) >= abs(gains.sum()) - 1e-12)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(0)
    found = []
    for size in (5, 6):
        of = rng.integers(3, 9, size)
        found.append((counts(rng.integers(0, 3, size), of), counts(rng.integers(1, 4, size), of)))
    return found


def test_holm_on_a_known_case():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_is_at_most_1_and_keeps_the_order():
    assert holm([0.9, 0.6]) == [1.0, 1.0]
    assert holm([0.2]) == [0.2]
    assert holm([]) == []


def test_the_p_value_of_the_mean_is_that_of_all_swaps(pairs):
    _, mean = compare_sets(pairs, samples=20_000)
    assert mean.p == pytest.approx(exact_p(pairs), abs=0.01)


def test_the_p_values_of_the_sets_are_those_of_all_swaps(pairs):
    sets, _ = compare_sets(pairs, samples=20_000)
    assert [each.p for each in sets] == pytest.approx([exact_p([pair]) for pair in pairs], abs=0.015)
    assert [each.corrected for each in sets] == holm([each.p for each in sets])


def test_the_mean_gives_each_set_the_same_weight():
    small, large = np.full(2, 10), np.full(200, 10)
    sets = [(counts(0 * small, small), counts(small, small)), (counts(large, large), counts(large, large))]
    each, mean = compare_sets(sets, samples=100)
    assert [one.difference for one in each] == [1.0, 0.0]
    assert mean.difference == 0.5
    assert mean.interval == (0.5, 0.5)


def test_a_difference_in_the_same_direction_everywhere_is_more_certain_than_on_one_set():
    of = np.full(8, 10)
    pair = counts(np.full(8, 5), of), counts(np.array([6, 6, 6, 6, 6, 6, 4, 6]), of)
    each, mean = compare_sets([pair] * 4, samples=5_000)
    assert mean.p < 0.01 < min(one.p for one in each)


def test_no_difference_has_p_1():
    same = counts(np.array([1, 2, 3]), np.array([3, 3, 3]))
    each, mean = compare_sets([(same, same)], samples=50)
    assert (each[0].p, each[0].corrected, mean.p, mean.interval) == (1.0, 1.0, 1.0, (0.0, 0.0))


def test_lean_counts_have_the_same_differences(pairs):
    for first, second in pairs:
        a, b = lean(first, second)
        assert ((b - a) == (second - first)).all()
        assert (a[:, 1] == first[:, 1]).all()
    longer = counts(pairs[0][1][:, 0], pairs[0][1][:, 1] + 1)
    assert lean(pairs[0][0], longer)[1] is longer


def test_no_set_is_refused():
    with pytest.raises(InputError, match="no test set"):
        compare_sets([])
