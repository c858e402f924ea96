"""The best projective tree of second order against all trees."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.parts_problems import best_score, fill, lay_out_alone, long_candidates, problem
from swvp.structures.tree.decoding.eisner import best_projective, new_projective_buffers
from swvp.structures.tree.reference import is_projective, is_tree
from swvp.structures.tree.second_order.parts import Candidates, score_heads


def decode(n, parts, buffers, one_root):
    heads = np.full(n + 2, 77)
    score = best_projective(parts, n, one_root, buffers, heads)
    assert list(heads[n:]) == [77, 77]
    if score > -np.inf:
        assert is_tree(heads[:n].tolist(), one_root)
        assert is_projective(heads[:n].tolist())
        assert score == pytest.approx(score_heads(parts, n, heads), abs=1e-9)
    return score


@pytest.mark.parametrize("one_root", [False, True])
def test_no_projective_tree_is_better(one_root: bool) -> None:
    none = 0
    for seed in range(400):
        n, parts, candidates, starts = problem(seed)
        best = best_score(parts, n, True, one_root)
        score = decode(n, parts, new_projective_buffers(candidates, starts), one_root)
        assert score == pytest.approx(best, abs=1e-9)
        none += best == -np.inf
    assert 20 < none < 200


def test_room_serves_sentences_of_any_length() -> None:
    problems = [problem(seed, n) for seed, n in enumerate([6, 1, 4, 2, 5])]
    first = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(p[2].first) for p in problems]))])
    candidates = Candidates(first, np.concatenate([p[2].heads for p in problems]))
    buffers = new_projective_buffers(candidates, np.concatenate([[0], np.cumsum([p[0] + 1 for p in problems])]))
    for n, parts, _, _ in problems * 2:
        assert decode(n, parts, buffers, True) == pytest.approx(best_score(parts, n, True, True), abs=1e-9)


def test_long_sentence() -> None:
    n = 60
    rng = np.random.default_rng(0)
    candidates = long_candidates(rng, n)
    parts, starts = lay_out_alone(candidates)
    fill(rng, parts, "normal")
    buffers = new_projective_buffers(candidates, starts)
    several, one = decode(n, parts, buffers, False), decode(n, parts, buffers, True)
    assert several >= one > -np.inf
    chain = np.arange(n)
    assert one >= score_heads(parts, n, chain)
