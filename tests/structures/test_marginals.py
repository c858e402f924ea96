"""Sums over all label sequences against writing them all out."""

import itertools

import numpy as np
import pytest
from scipy.special import logsumexp

from swvp.structures.chain import marginals
from swvp.structures.chain.marginals import (
    BY_LOGARITHMS,
    CHECKED,
    FREE,
    chain_marginals,
    forward,
    new_chain_buffers,
    transitions,
)

SPREADS = {"small": 1.0, "hundreds": 300.0}


def written_out(node, moves, temperature):
    n, labels = node.shape
    paths = np.array([[labels, *y, labels] for y in itertools.product(range(labels), repeat=n)])
    scores = node[np.arange(n), paths[:, 1:-1]].sum(1) + moves[paths[:, :-1], paths[:, 1:]].sum(1)
    log_z = logsumexp(scores / temperature)
    pairs = np.zeros((n + 1, labels + 1, labels + 1))
    for path, p in zip(paths, np.exp(scores / temperature - log_z), strict=True):
        pairs[np.arange(n + 1), path[:-1], path[1:]] += p
    return log_z, pairs[:-1].sum(1)[:, :labels], pairs


def chain_exists(n, allowed):
    reached = allowed[-1, :-1]
    for _ in range(n - 1):
        reached = reached @ allowed[:-1, :-1]
    return bool((reached & allowed[:-1, -1]).any())


def random_chain(rng, spread, *, barred):
    while True:
        n, labels = int(rng.integers(1, 6)), int(rng.integers(1, 6))
        node, moves = rng.normal(size=(n, labels)) * spread, rng.normal(size=(labels + 1, labels + 1)) * spread
        if barred:
            moves[rng.random(moves.shape) < 0.3] = -np.inf
        if chain_exists(n, np.isfinite(moves)):
            return node, moves


def assert_agreement(node, moves, temperature):
    found = chain_marginals(node, moves, temperature)
    log_z, single, pairs = written_out(node, moves, temperature)
    assert found.log_z == pytest.approx(log_z, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(found.single, single, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.pairs, pairs, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("barred", [False, True], ids=["free", "barred"])
@pytest.mark.parametrize("moving", SPREADS.values(), ids=[f"moves {name}" for name in SPREADS])
@pytest.mark.parametrize("standing", SPREADS.values(), ids=[f"nodes {name}" for name in SPREADS])
def test_sums_are_those_over_all_sequences(standing, moving, barred):
    rng = np.random.default_rng([int(standing), int(moving), barred])
    for _ in range(60):
        node, moves = random_chain(rng, 1.0, barred=barred)
        for temperature in (1.0, 2.5):
            assert_agreement(node * standing, moves * moving, temperature)


def test_each_way_to_add_up_is_taken_where_it_is_safe():
    rng = np.random.default_rng(1)
    node, moves = rng.normal(size=(4, 3)), rng.normal(size=(4, 4))
    barred = moves.copy()
    barred[0, 1] = -np.inf
    for these, nodes, way in [
        (moves, node, FREE),
        (moves, node * 1e4, FREE),
        (barred, node, CHECKED),
        (barred, node * 1e4, BY_LOGARITHMS),
        (moves * 1e3, node, BY_LOGARITHMS),
    ]:
        assert forward(4, nodes, transitions(these), new_chain_buffers(3, 4))[1] == way
        assert_agreement(nodes, these, 1.0)


def test_what_hardly_counts_at_first_may_count_in_the_end():
    """The labels of which one must be the last are worse by 500 and 800 at first, and better by 1000 later."""
    moves = np.full((4, 4), -np.inf)
    moves[[3, 0, 3, 1, 3, 2], [0, 0, 1, 1, 2, 2]] = 0.0
    moves[[1, 2], 3] = 0.0  # 0 may not be the last
    for later in (1000.0, 0.0):
        node = np.array([[0.0, -500.0, -800.0], [0.0, 0.0, later], [later, 0.0, 0.0]])
        assert_agreement(node, moves, 1.0)
    node[0] = [0.0, -np.inf, -np.inf]
    assert chain_marginals(node, moves).log_z == -np.inf


def test_what_gets_small_in_small_steps_is_not_lost():
    moves = np.zeros((3, 3))
    moves[0, 2] = moves[0, 1] = -np.inf  # 1 must be the last, and so all of them
    moves[1, 1] = -150.0
    assert_agreement(np.array([[0.0, -600.0], [0.0, 0.0]]), moves, 1.0)


def test_labels_that_cannot_be_reached_do_no_harm_however_good_they_are():
    moves = np.zeros((3, 3))
    moves[[2, 1], 0] = -np.inf  # neither first nor after 1
    node = np.tile([0.0, -450.0], (5, 1))
    assert forward(5, node, transitions(moves), new_chain_buffers(2, 5))[1] == CHECKED
    assert_agreement(node, moves, 1.0)


@pytest.mark.parametrize("barred", [False, True], ids=["free", "barred"])
def test_long_chains_with_large_scores(barred):
    rng = np.random.default_rng(2)
    n, labels = 20_000, 4
    node, moves = rng.normal(size=(n, labels)) * 100, rng.normal(size=(labels + 1, labels + 1)) * 20
    if barred:
        moves[0, 1] = moves[2, 2] = -np.inf
    found = chain_marginals(node, moves)
    sums = moves[labels, :labels] + node[0]
    for t in range(1, n):
        sums = np.logaddexp.reduce(sums[:, None] + moves[:labels, :labels], axis=0) + node[t]
    assert found.log_z == pytest.approx(np.logaddexp.reduce(sums + moves[:labels, labels]), rel=1e-12)
    np.testing.assert_allclose(found.single.sum(1), 1, rtol=1e-9)
    np.testing.assert_allclose(found.pairs[1:-1].sum(2)[:, :labels], found.single[:-1], atol=1e-9)
    np.testing.assert_allclose(found.pairs[1:-1].sum(1)[:, :labels], found.single[1:], atol=1e-9)
    if barred:
        assert not found.pairs[:, 0, 1].any()
        assert not found.pairs[:, 2, 2].any()


def test_both_ways_give_the_same_numbers(monkeypatch):
    rng = np.random.default_rng(3)
    for _ in range(20):
        node, moves = random_chain(rng, 3.0, barred=True)
        scaled = chain_marginals(node, moves)
        monkeypatch.setattr(marginals, "SPREAD", -1.0)
        for a, b in zip(scaled, chain_marginals(node, moves), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-15)
        monkeypatch.undo()


def test_chains_without_positions_and_without_allowed_sequences():
    empty = chain_marginals(np.zeros((0, 2)), np.zeros((3, 3)))
    assert empty.log_z == 0.0
    assert empty.single.shape == (0, 2)
    closed = np.zeros((3, 3))
    closed[:2, 2] = -np.inf
    nothing = chain_marginals(np.zeros((3, 2)), closed)
    assert nothing.log_z == -np.inf
    assert not nothing.single.any()
    assert not nothing.pairs.any()
