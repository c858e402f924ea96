"""Tests over seeds and sentences: what they equal with one seed, and that their intervals have the right width."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.evaluation import compare_seeds, compare_sets
from swvp.evaluation.paired import crossed, lean_counts


def counts(rng, seeds, sentences, shares):
    """(right, total) of sentences of 10 tokens, each seed with its own share of correct ones."""
    right = rng.binomial(10, np.array(shares)[:, None], size=(seeds, sentences))
    return np.stack([right, np.full_like(right, 10)], axis=2)


def plain(first, second, samples, rng):
    """The differences of samples of seeds and sentences, drawn one by one."""
    seeds, sentences = first.shape[:2]
    drawn = []
    for _ in range(samples):
        chosen, lines = rng.integers(seeds, size=seeds - 1), rng.integers(sentences, size=sentences)
        scores = []
        for given in (first, second):
            sums = [given[seed][lines].sum(axis=0) for seed in chosen]
            scores.append(np.mean([right / total for right, total in sums]))
        drawn.append(scores[1] - scores[0])
    return np.array(drawn)


def test_one_seed_is_the_test_over_sentences():
    rng = np.random.default_rng(0)
    first, second = counts(rng, 1, 50, [0.5]), counts(rng, 1, 50, [0.6])
    assert compare_seeds([(first, second)] * 2, samples=500) == compare_sets([(first[0], second[0])] * 2, samples=500)


def test_samples_are_those_of_a_plain_loop():
    rng = np.random.default_rng(1)
    first, second = counts(rng, 3, 40, [0.5, 0.6, 0.55]), counts(rng, 3, 40, [0.62, 0.6, 0.7])
    second[..., 1] += rng.integers(3, size=second.shape[:2])  # totals differ, as those of phrases
    fast, slow = crossed(lean_counts(first, second), 20_000, rng), plain(first, second, 4_000, rng)
    assert fast.mean() == pytest.approx(slow.mean(), abs=0.002)
    assert fast.std() == pytest.approx(slow.std(), rel=0.05)


def test_equal_totals_change_nothing_but_the_time():
    rng = np.random.default_rng(2)
    first, second = counts(rng, 2, 30, [0.5, 0.6]), counts(rng, 2, 30, [0.6, 0.6])
    other = np.concatenate([first, second], axis=2)
    lean = crossed(lean_counts(first, second), 20_000, rng)
    assert lean.mean() == pytest.approx(crossed(other, 20_000, rng).mean(), abs=0.002)
    assert lean.std() == pytest.approx(crossed(other, 20_000, rng).std(), rel=0.05)


def test_a_difference_that_only_one_seed_has_is_not_significant():
    first = np.array([[[5, 10]] * 200] * 3)
    second = first.copy()
    second[0, :, 0] = 8
    (found,), mean = compare_seeds([(first, second)], samples=2_000)
    assert found.difference == mean.difference == pytest.approx(0.1)
    assert found.p > 0.3
    assert compare_sets([(first.mean(axis=0).astype(int), second.mean(axis=0).astype(int))])[1].p < 0.001


def test_the_spread_over_seeds_is_that_of_their_mean():
    rng = np.random.default_rng(3)
    shares = np.array([0.5, 0.56, 0.44, 0.53])
    first, second = np.full((4, 1, 2), 1000), np.stack([1000 * shares, [1000] * 4], axis=1)[:, None].astype(np.int64)
    drawn = crossed(lean_counts(first, second), 50_000, rng)
    assert drawn.std() == pytest.approx(np.std(shares, ddof=1) / 2, rel=0.02)


def test_sets_are_corrected_and_their_mean_has_equal_weights():
    rng = np.random.default_rng(4)
    pairs = [(counts(rng, 2, n, [0.5, 0.5]), counts(rng, 2, n, [0.56, 0.58])) for n in (50, 200)]
    sets, mean = compare_seeds(pairs, samples=500)
    assert mean.difference == pytest.approx(np.mean([one.difference for one in sets]))
    assert all(one.corrected >= one.p for one in sets)


def test_different_numbers_of_seeds_are_refused():
    one, two = np.ones((1, 5, 2), np.int64), np.ones((2, 5, 2), np.int64)
    with pytest.raises(InputError, match="1 seeds in the first way of training, 2 in the second"):
        compare_seeds([(one, two)])
