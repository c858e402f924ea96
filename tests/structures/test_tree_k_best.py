"""The k best trees against all trees, sorted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from helpers.tree_decoders import WAYS, all_trees, decode, every_kind, matrix
from swvp.structures.tree.decoding.k_best import k_best, tree_score
from swvp.structures.tree.reference import is_projective, is_tree


def found(scores, n, k, projective, one_root, dtype=np.int64):
    out = np.full((k, n + 2), 77, dtype)
    count = k_best(scores, n, k, projective, one_root, out)
    assert (out[count:, n:] == 77).all()
    return [tuple(int(h) for h in heads) for heads in out[:count, :n]]


def score(scores, heads):
    return sum(scores[h, m] for m, h in enumerate(heads, 1))


@every_kind
@pytest.mark.parametrize("way", WAYS)
def test_sorted_trees(projective, one_root, way):
    random = np.random.default_rng(11)
    for (n, rounds), k in itertools.product([(1, 2), (2, 10), (3, 20), (4, 10)], [1, 4, 200]):
        for _ in range(rounds):
            scores = matrix(random, n, way)
            best = found(scores, n, k, projective, one_root)
            trees = all_trees(n, projective, one_root)
            totals = scores[trees, np.arange(1, n + 1)].sum(axis=1)
            totals = np.sort(totals[totals > -np.inf])[::-1][:k]
            assert len(best) == len(totals) == len(set(best))
            assert all(is_tree(heads, one_root) for heads in best)
            assert all(is_projective(heads) for heads in best) or not projective
            np.testing.assert_allclose([score(scores, heads) for heads in best], totals, rtol=1e-9, atol=1e-12)


@every_kind
def test_all_trees_of_five_words(projective, one_root):
    scores = matrix(np.random.default_rng(12), 5, "normal")
    trees = all_trees(5, projective, one_root)
    best = found(scores, 5, len(trees) + 7, projective, one_root)
    order = np.argsort(-scores[trees, np.arange(1, 6)].sum(axis=1), kind="stable")
    assert best == [tuple(int(h) for h in trees[j]) for j in order]


@every_kind
def test_first_is_the_decoders_and_fewer_are_the_first_of_more(projective, one_root):
    random = np.random.default_rng(13)
    for way in ("normal", "ties"):
        for n in (6, 15):
            scores = matrix(random, n, way)
            best = found(scores, n, 12, projective, one_root)
            assert list(best[0]) == decode(scores, n, projective, one_root)
            assert best == found(scores, n, 12, projective, one_root, np.uint32)
            assert best[:5] == found(scores, n, 5, projective, one_root)
            assert len(set(best)) == 12
            totals = [score(scores, heads) for heads in best]
            assert totals == sorted(totals, reverse=True)


def test_no_trees_and_no_words():
    forbidden = np.full((4, 4), -np.inf)
    for projective in (False, True):
        assert found(forbidden, 3, 4, projective, True) == []
        assert found(np.zeros((4, 4)), 3, 0, projective, True) == []
        assert found(np.zeros((1, 1)), 0, 4, projective, True) == [()]


def test_order_of_ties():
    assert found(np.zeros((3, 3)), 2, 9, False, False) == [(0, 0), (2, 0), (0, 1)]


def test_tree_score():
    scores = np.arange(9.0).reshape(3, 3)
    assert tree_score(scores, 2, np.array([2, 0])) == 7.0 + 2.0
