"""The synthetic data are what section 6 says, and the ceiling is one."""

import itertools

import numpy as np
import pytest

from swvp.studies.synthetic.runs import HMM, permuted_hmm, posterior_decode, sample
from swvp.studies.synthetic.settings import SETUPS


@pytest.mark.parametrize("setup", SETUPS.values(), ids=str)
def test_rows_are_permutations_of_the_paper_s_vectors(setup):
    hmm = permuted_hmm(setup.transition, setup.emission, setup.labels, setup.symbols, np.random.default_rng(0))
    for rows, given, width in (
        (hmm.transition, setup.transition, setup.labels),
        (hmm.emission, setup.emission, setup.symbols),
    ):
        assert rows.shape == (setup.labels, width)
        expected = np.sort(np.pad(given, (0, width - len(given)))) / sum(given)
        np.testing.assert_allclose(np.sort(rows, axis=1), np.tile(expected, (setup.labels, 1)))
    np.testing.assert_allclose(hmm.initial, 1 / setup.labels)


def test_setup_3_is_the_one_that_does_not_sum_to_1():
    assert [round(sum(setup.emission), 6) for setup in SETUPS.values()] == [1.0, 1.0, 0.9]


def test_samples_follow_the_probabilities():
    rng = np.random.default_rng(0)
    hmm = permuted_hmm((0.7, 0.2, 0.1), (0.6, 0.4), 3, 2, rng)
    x, y = sample(hmm, 20_000, 8, rng)
    moves = np.zeros((3, 3))
    np.add.at(moves, (y[:, :-1].ravel(), y[:, 1:].ravel()), 1)
    emits = np.zeros((3, 2))
    np.add.at(emits, (y.ravel(), x.ravel()), 1)
    np.testing.assert_allclose(moves / moves.sum(1, keepdims=True), hmm.transition, atol=0.01)
    np.testing.assert_allclose(emits / emits.sum(1, keepdims=True), hmm.emission, atol=0.01)
    np.testing.assert_allclose(np.bincount(y[:, 0]) / len(y), hmm.initial, atol=0.01)


def test_what_has_probability_0_is_never_drawn():
    hmm = HMM(np.array([0.0, 1.0, 0.0]), np.eye(3)[[1, 1, 1]], np.eye(3))
    x, y = sample(hmm, 1000, 4, np.random.default_rng(0))
    assert (x == 1).all()
    assert (y == 1).all()


def test_forward_backward_gives_the_marginals_of_the_enumerated_joint():
    rng = np.random.default_rng(1)
    hmm = permuted_hmm((0.7, 0.2, 0.1), (0.5, 0.3, 0.2), 3, 3, rng)
    x, _ = sample(hmm, 20, 4, rng)
    best, probability = posterior_decode(hmm, x)
    for i, symbols in enumerate(x):
        marginal = np.zeros((4, 3))
        for labels in itertools.product(range(3), repeat=4):
            joint = hmm.initial[labels[0]] * np.prod([hmm.transition[a, b] for a, b in itertools.pairwise(labels)])
            joint *= np.prod([hmm.emission[a, b] for a, b in zip(labels, symbols, strict=True)])
            for t, label in enumerate(labels):
                marginal[t, label] += joint
        marginal /= marginal.sum(1, keepdims=True)
        np.testing.assert_allclose(probability[i], marginal.max(1))
        np.testing.assert_array_equal(marginal[np.arange(4), best[i]], marginal.max(1))
