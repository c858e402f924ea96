"""log Z and the probabilities of arcs against all trees, and against determinants."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from helpers.tree_decoders import WAYS, all_trees, every_kind, matrix
from swvp.structures.tree import matrix_tree as elimination
from swvp.structures.tree.first_order.probabilities import arc_marginals
from swvp.structures.tree.inside_outside import projective_logarithms, projective_products


def by_hand(scores, n, projective, one_root):
    trees = all_trees(n, projective, one_root)
    totals = scores[trees, np.arange(1, n + 1)].sum(axis=1)
    marginals = np.zeros((n + 1, n + 1))
    log_z = logsumexp(totals)
    if log_z > -np.inf:
        for m in range(1, n + 1):
            np.add.at(marginals[:, m], trees[:, m - 1], np.exp(totals - log_z))
    return log_z, marginals


def check(scores, n, projective, one_root, tolerance=1e-11):
    log_z, marginals = arc_marginals(scores, n, projective, one_root)
    expected_z, expected = by_hand(scores, n, projective, one_root)
    assert log_z == pytest.approx(expected_z, rel=1e-12, abs=tolerance)
    assert marginals.shape == (n + 1, n + 1)
    np.testing.assert_allclose(marginals, expected, rtol=0, atol=tolerance)
    if log_z > -np.inf:
        np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0, rtol=0, atol=tolerance)
        assert not one_root or marginals[0].sum() == pytest.approx(1.0, abs=tolerance)


@every_kind
@pytest.mark.parametrize("way", WAYS)
def test_all_trees(projective, one_root, way):
    random = np.random.default_rng(21)
    for n, rounds in [(1, 3), (2, 20), (3, 60), (4, 60), (5, 20)]:
        for _ in range(rounds):
            check(matrix(random, n, way), n, projective, one_root, 1e-10 if way == "magnitudes" else 1e-11)


@every_kind
@pytest.mark.parametrize("size", [1e-9, 30.0, 300.0, 3e3, 1e6])
def test_size_of_scores(projective, one_root, size):
    """Also where weights are too small for floats: logarithms then."""
    random = np.random.default_rng(22)
    for way in ("normal", "cycles", "roots", "few forbidden", "forbidden"):
        for _ in range(15):
            check(matrix(random, 4, way) * size, 4, projective, one_root, max(1e-11, 1e-14 * size))


def only(arcs, n):
    scores = np.full((n + 1, n + 1), -np.inf)
    for (h, m), score in arcs.items():
        scores[h, m] = score
    return scores


@every_kind
def test_weights_that_fall_out_of_range_on_the_way(projective, one_root):
    """The arcs alone are in range. The only way into 2, …, 5 is 1 → 5 → 4 → 3 → 2, or loops hold the root's weight."""
    way_in = {(0, 1): 0.0, (1, 5): -300.0, (2, 5): 0.0, (5, 4): -300.0, (2, 4): 0.0, (4, 3): -300.0, (2, 3): 0.0}
    check(only(way_in | {(3, 2): 0.0}, 5), 5, projective, one_root)
    loops = {(4, 5): 0.0, (5, 4): 0.0, (3, 4): -300.0, (4, 3): 0.0, (2, 3): -300.0, (3, 2): 0.0, (1, 2): -300.0}
    check(only(loops | {(2, 1): 0.0} | {(0, m): 0.0 for m in range(1, 6)}, 5), 5, projective, one_root)


@pytest.mark.parametrize("one_root", [False, True])
def test_both_ways_agree(one_root):
    random = np.random.default_rng(23)
    for way in ("normal", "cycles", "few forbidden"):
        for n in (1, 2, 12, 30):
            scores = np.ascontiguousarray(matrix(random, n, way)[: n + 1, : n + 1])
            scaled, _ = elimination.scale(scores, n, one_root)
            sums, log_sums = np.zeros(n + 1), np.zeros(n + 1)
            weight, logs = np.exp(scaled), scaled.copy()
            order, log_order = np.arange(n + 1), np.arange(n + 1)
            log_z, safe = elimination.eliminate(scaled, weight, n, one_root, sums, order)
            assert safe
            assert log_z == pytest.approx(elimination.eliminate_logarithms(logs, n, one_root, log_sums, log_order))
            assert (order == log_order).all()
            if log_z > -np.inf:
                slope = elimination.slopes(weight, n, one_root, sums)
                log_slope = elimination.slopes_logarithms(logs, n, one_root, log_sums)
                np.testing.assert_allclose(slope * np.exp(scaled), np.exp(log_slope + scaled), rtol=0, atol=1e-12)


@pytest.mark.parametrize("one_root", [False, True])
def test_projective_products_and_logarithms_agree(one_root):
    random = np.random.default_rng(26)
    said = 0
    for way in ("normal", "cycles", "few forbidden", "forbidden"):
        for n, size in ((1, 1.0), (2, 1.0), (12, 1.0), (30, 1.0), (12, 15.0), (40, 6.0), (60, 40.0)):
            scores = np.ascontiguousarray(matrix(random, n, way)[: n + 1, : n + 1]) * size
            products, logarithms = np.zeros((2, n + 1, n + 1))
            log_z, right = projective_products(scores, n, one_root, products)
            expected = projective_logarithms(scores, n, one_root, logarithms)
            if right:
                assert log_z == pytest.approx(expected, rel=1e-12, abs=1e-11)
                np.testing.assert_allclose(products, logarithms, rtol=0, atol=1e-11)
            else:
                assert not products.any()
            said += right
    assert 10 < said < 28  # where Z is too small, logarithms


@pytest.mark.parametrize("one_root", [False, True])
def test_determinants(one_root):
    """The matrix-tree theorem; with one root as Koo et al. (2007) write it."""
    random = np.random.default_rng(24)
    for n in (2, 10, 40, 100):
        scores = random.normal(size=(n + 1, n + 1)) * 2.0
        w = np.exp(scores)
        np.fill_diagonal(w, 0.0)
        inner, root = w[1:, 1:], w[0, 1:]
        laplacian = np.diag(inner.sum(axis=0) + (0.0 if one_root else root)) - inner
        if one_root:
            laplacian[0] = root
        sign, log_det = np.linalg.slogdet(laplacian)
        inverse = np.linalg.inv(laplacian)
        expected = np.zeros((n + 1, n + 1))
        for m in range(n):
            expected[0, m + 1] = root[m] * inverse[m, 0 if one_root else m]
            for h in range(n):
                into = 0.0 if one_root and m == 0 else inverse[m, m]
                out = 0.0 if one_root and h == 0 else inverse[m, h]
                expected[h + 1, m + 1] = inner[h, m] * (into - out)
        log_z, marginals = arc_marginals(scores, n, False, one_root)
        assert sign == 1.0
        assert log_z == pytest.approx(log_det, rel=1e-12)
        np.testing.assert_allclose(marginals, expected, rtol=0, atol=1e-10)


@every_kind
def test_marginals_are_the_derivatives_of_log_z(projective, one_root):
    random = np.random.default_rng(25)
    n, step = 9, 1e-4
    scores = matrix(random, n, "normal")
    _, marginals = arc_marginals(scores, n, projective, one_root)
    for h in range(n + 1):
        for m in range(1, n + 1):
            up, down = scores.copy(), scores.copy()
            up[h, m] += step
            down[h, m] -= step
            change = arc_marginals(up, n, projective, one_root)[0] - arc_marginals(down, n, projective, one_root)[0]
            assert change / (2 * step) == pytest.approx(0.0 if h == m else marginals[h, m], abs=1e-7)


@every_kind
def test_counts(projective, one_root):
    """With scores of 0, Z is the number of trees: (n + 1)^(n - 1) of any kind, n^(n - 1) with one root."""
    n = 7
    log_z, marginals = arc_marginals(np.zeros((n + 1, n + 1)), n, projective, one_root)
    if projective:
        assert np.exp(log_z) == pytest.approx(3876 if one_root else 7752)
    else:
        assert np.exp(log_z) == pytest.approx(n ** (n - 1) if one_root else (n + 1) ** (n - 1))
        np.testing.assert_allclose(marginals[0, 1:], 1 / n if one_root else 2 / (n + 1))


@every_kind
def test_no_words_and_no_trees(projective, one_root):
    log_z, marginals = arc_marginals(np.zeros((1, 1)), 0, projective, one_root)
    assert (log_z, marginals.tolist()) == (0.0, [[0.0]])
    log_z, marginals = arc_marginals(np.full((4, 4), -np.inf), 3, projective, one_root)
    assert log_z == -np.inf
    assert not marginals.any()


@pytest.mark.parametrize("size", [1.0, 20.0, 500.0])
@every_kind
def test_long_sentences(projective, one_root, size):
    n = 500 if size == 20.0 else 60
    scores = np.random.default_rng(26).normal(size=(n + 1, n + 1)) * size
    log_z, marginals = arc_marginals(scores, n, projective, one_root)
    assert np.isfinite(log_z)
    assert marginals.min() >= 0.0
    assert marginals.max() <= 1.0
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-9)
    assert not one_root or marginals[0].sum() == pytest.approx(1.0, abs=1e-9)
