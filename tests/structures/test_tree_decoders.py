"""Chu–Liu–Edmonds and Eisner against all trees."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.tree_decoders import WAYS, all_trees, decode, every_kind, matrix
from swvp.structures.tree.decoding.chu_liu_edmonds import chu_liu_edmonds, contract
from swvp.structures.tree.reference import best_tree, is_projective, is_tree, trees


def values(scores, n, projective, one_root):
    """(allowed arcs, score of them) of all trees."""
    arcs = scores[all_trees(n, projective, one_root), np.arange(1, n + 1)]
    return (arcs > -np.inf).sum(axis=1), np.where(arcs > -np.inf, arcs, 0.0).sum(axis=1)


def check(scores, n, projective, one_root):
    """The heads are a tree of the kind, with as few forbidden arcs and as good as any."""
    heads = decode(scores, n, projective, one_root)
    assert is_tree(heads, one_root)
    assert is_projective(heads) or not projective
    allowed, total = values(scores, n, projective, one_root)
    arcs = scores[heads, np.arange(1, n + 1)]
    assert (arcs > -np.inf).sum() == allowed.max()
    best = total[allowed == allowed.max()].max()
    size = np.abs(scores[np.isfinite(scores)]).max(initial=0.0)
    assert arcs[arcs > -np.inf].sum() == pytest.approx(best, rel=1e-9, abs=1e-12 * size)
    return heads


@every_kind
@pytest.mark.parametrize("way", WAYS)
def test_best_of_all_trees(projective, one_root, way):
    random = np.random.default_rng(7)
    for n, rounds in [(1, 5), (2, 40), (3, 300), (4, 300), (5, 150), (6, 8)]:
        for _ in range(rounds):
            check(matrix(random, n, way), n, projective, one_root)


@every_kind
@pytest.mark.parametrize("size", [1e-200, 1e-12, 1e12, 1e200])
def test_size_and_offset_of_scores(projective, one_root, size):
    random = np.random.default_rng(1)
    for _ in range(40):
        scores = matrix(random, 5, "normal")
        heads = check(scores * size, 5, projective, one_root)
        assert heads == decode(scores, 5, projective, one_root)
        check((scores + 1e4) * size, 5, projective, one_root)


@every_kind
def test_all_forbidden(projective, one_root):
    for n in range(1, 6):
        check(np.full((n + 1, n + 1), -np.inf), n, projective, one_root)


def test_contraction_alone_finds_what_greedy_does():
    random = np.random.default_rng(2)
    for one_root in (False, True):
        for _ in range(200):
            scores = matrix(random, 6, "roots" if not one_root else "normal")
            heads, contracted = np.zeros(6, np.int64), np.zeros(6, np.int64)
            chu_liu_edmonds(scores, 6, one_root, heads)
            contract(scores, 6, one_root, contracted)
            assert (heads == contracted).all()


def test_ties():
    """The smallest head, and the smallest modifier into a cycle; the smallest split point."""
    zeros = np.zeros((5, 5))
    assert decode(zeros, 4, False, False) == [0, 0, 0, 0]
    assert decode(zeros, 4, False, True) == [0, 1, 1, 1]
    assert decode(zeros, 4, True, False) == [0, 1, 2, 3]
    assert decode(zeros, 4, True, True) == [0, 1, 2, 3]
    cycle = np.array([[0, 1, 1.0], [0, 0, 5], [0, 5, 0]])
    assert decode(cycle, 2, False, False) == [0, 1]


@every_kind
def test_ties_are_fixed(projective, one_root):
    """The same heads whatever is around the scores, and whatever the heads are written to."""
    random = np.random.default_rng(3)
    for n in (3, 6, 12):
        for _ in range(30):
            scores = matrix(random, n, "ties")
            heads = decode(scores, n, projective, one_root)
            again = np.full((n + 1, n + 1), -5.0)
            again[:, 1:] = scores[: n + 1, 1 : n + 1]
            np.fill_diagonal(again, 2.0)
            assert decode(again, n, projective, one_root, np.uint32) == heads
            assert decode(np.asfortranarray(again), n, projective, one_root) == heads


@every_kind
def test_no_words(projective, one_root):
    assert decode(np.zeros((1, 1)), 0, projective, one_root) == []


@every_kind
def test_long_sentence(projective, one_root):
    """500 words with one tree far better than all others, and a path of contractions of every word."""
    random = np.random.default_rng(4)
    n = 500
    heads = [0] + [int(random.integers(1, m)) for m in range(2, n + 1)] if not projective else list(range(n))
    scores = random.normal(size=(n + 1, n + 1))
    scores[heads, np.arange(1, n + 1)] += 100.0
    assert decode(scores, n, projective, one_root) == heads
    chain = np.full((n + 1, n + 1), -1e3)
    for m in range(1, n):
        chain[m + 1, m] = chain[m, m + 1] = n - m
    chain[0, 1] = -2e3
    found = decode(chain, n, projective, one_root)
    assert is_tree(found, one_root)
    assert chain[found, np.arange(1, n + 1)].sum() == chain[np.arange(1, n), np.arange(2, n + 1)].sum() - 1e3


def test_one_root_at_scale_against_every_root():
    """The best tree with one root is the best over the roots of the best tree with that root's arc only."""
    random = np.random.default_rng(5)
    for n in (8, 20, 40):
        for way in ("normal", "roots", "cycles", "few forbidden"):
            scores = matrix(random, n, way)
            found = scores[decode(scores, n, False, True), np.arange(1, n + 1)].sum()
            best = -np.inf
            for root in range(1, n + 1):
                only = scores.copy()
                only[0] = -np.inf
                only[0, root] = scores[0, root]
                best = max(best, scores[decode(only, n, False, False), np.arange(1, n + 1)].sum())
            assert found == pytest.approx(best, rel=1e-12)


def test_plain_definitions():
    assert [len(list(trees(n, False, False))) for n in range(1, 6)] == [1, 3, 16, 125, 1296]
    assert [len(list(trees(n))) for n in range(1, 6)] == [1, 2, 9, 64, 625]
    assert [len(list(trees(n, True, False))) for n in range(1, 6)] == [1, 3, 12, 55, 273]
    assert [len(list(trees(n, True))) for n in range(1, 6)] == [1, 2, 7, 30, 143]
    for right in ([], [0], [2, 0], [0, 0]):
        assert is_tree(right)
    for wrong in ([1], [2, 1], [0, 3, 2], [0, 3], [-1, 0], [0, 2]):
        assert not is_tree(wrong)
    assert not is_tree([0, 0], one_root=True)
    for right in ([2, 0, 2], [0, 0], [3, 3, 0, 3]):
        assert is_projective(right)
    assert not is_projective([2, 0, 1])  # 1 → 3 crosses 0 → 2
    assert best_tree(np.array([[0, 0, 3.0], [0, 0, 1], [0, 1, 0]]), 2) == (2, 0)


def test_projective_is_every_subtree_without_gap():
    for heads in trees(5, one_root=False):
        below = [{m} for m in range(6)]
        for m in range(1, 6):
            node = heads[m - 1]
            while node:
                below[node].add(m)
                node = heads[node - 1]
        gaps = any(max(words) - min(words) + 1 > len(words) for words in below)
        assert is_projective(heads) == (not gaps)
