"""The k best label sequences against all label sequences."""

import itertools

import numpy as np
import pytest

from swvp.structures.chain.attributes import viterbi
from swvp.structures.chain.k_best import k_best, new_k_best_buffers


def every_sequence(n, node, moves):
    """All allowed (labels, score), best first; equal scores by the labels from the last position backwards."""
    labels = node.shape[1]
    found = []
    for y in itertools.product(range(labels), repeat=n):
        path = [labels, *y, labels]
        score = sum(node[t, label] for t, label in enumerate(y)) + sum(moves[a, b] for a, b in itertools.pairwise(path))
        if score > -np.inf:
            found.append((y, score))
    return sorted(found, key=lambda pair: (-pair[1], pair[0][::-1]))


def found_by_kernel(n, node, moves, k):
    work = new_k_best_buffers(k, node.shape[1], len(node))
    count = k_best(n, node, moves, k, *work)
    return [(tuple(work.paths[j, :n].tolist()), float(work.scores[j])) for j in range(count)]


def random_chain(rng, *, tied, barred):
    n, labels = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    draw = (
        (lambda shape: rng.integers(-1, 2, size=shape).astype(float))
        if tied
        else (lambda shape: rng.normal(size=shape))
    )
    node, moves = draw((n + 2, labels)), draw((labels + 1, labels + 1))
    if barred:
        moves[rng.random(moves.shape) < 0.4] = -np.inf
    return n, node, moves


@pytest.mark.parametrize("barred", [False, True], ids=["free", "barred"])
@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
def test_the_k_best_are_the_first_of_all_sequences(tied, barred):
    rng = np.random.default_rng([tied, barred])
    fewer = 0
    for _ in range(150):
        n, node, moves = random_chain(rng, tied=tied, barred=barred)
        expected = every_sequence(n, node, moves)
        for k in (1, 2, 7, 40):
            found = found_by_kernel(n, node, moves, k)
            fewer += len(found) < k
            assert [labels for labels, _ in found] == [labels for labels, _ in expected[:k]]
            np.testing.assert_allclose([s for _, s in found], [s for _, s in expected[:k]], atol=1e-12)
    assert fewer > 0


def test_the_first_is_what_viterbi_finds():
    rng = np.random.default_rng(5)
    for tied in (False, True):
        for _ in range(100):
            n, node, moves = random_chain(rng, tied=tied, barred=False)
            predicted = np.zeros(n, np.uint32)
            viterbi(n, node, moves, np.zeros_like(node), predicted, 0)
            assert found_by_kernel(n, node, moves, 3)[0][0] == tuple(predicted.tolist())


def test_a_chain_without_positions_has_one_sequence_and_one_without_allowed_ones_none():
    moves = np.zeros((3, 3))
    assert found_by_kernel(0, np.zeros((1, 2)), moves, 4) == [((), 0.0)]
    assert found_by_kernel(1, np.zeros((1, 2)), moves, 0) == []
    moves[:2, 2] = -np.inf  # no label may be the last
    assert found_by_kernel(1, np.zeros((1, 2)), moves, 4) == []


def test_long_chains_give_distinct_sequences_in_order_with_their_scores():
    rng = np.random.default_rng(6)
    n, labels, k = 2000, 6, 50
    node, moves = rng.normal(size=(n, labels)) * 50, rng.normal(size=(labels + 1, labels + 1)) * 50
    found = found_by_kernel(n, node, moves, k)
    scores = [score for _, score in found]
    assert len({y for y, _ in found}) == k
    assert scores == sorted(scores, reverse=True)
    for y, score in found:
        path = [labels, *y, labels]
        assert score == pytest.approx(node[np.arange(n), list(y)].sum() + moves[path[:-1], path[1:]].sum())
