"""Dual decomposition against all trees."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from helpers.parts_problems import (
    SCORES,
    SHARES,
    best_score,
    fill,
    lay_out_alone,
    long_candidates,
    problem,
    random_candidates,
)
from swvp.structures.tree.decoding import dual_decomposition as dual
from swvp.structures.tree.decoding.chu_liu_edmonds import best_tree_of_arcs, chu_liu_edmonds
from swvp.structures.tree.decoding.dual_decomposition import (
    LATE,
    LONG,
    best_nonprojective,
    new_automata,
    new_dual_buffers,
    rounds_for,
    solve_automata,
)
from swvp.structures.tree.decoding.eisner import best_projective, new_projective_buffers
from swvp.structures.tree.decoding.hill_climbing import hill_climb
from swvp.structures.tree.reference import is_tree
from swvp.structures.tree.second_order.parts import Candidates, score_heads

every_root = pytest.mark.parametrize("one_root", [False, True])


def decode(n, parts, buffers, one_root, most=1000):
    heads = np.full(n + 2, 77)
    certain, iterations, score = best_nonprojective(parts, n, one_root, most, buffers, heads)
    assert list(heads[n:]) == [77, 77]
    if score > -np.inf:
        assert is_tree(heads[:n].tolist(), one_root)
        assert score == pytest.approx(score_heads(parts, n, heads), abs=1e-9)
        assert iterations <= most
        assert score >= first_order(n, parts, one_root) - 1e-9
    else:
        assert not certain
    return certain, iterations, score


def first_order(n, parts, one_root):
    """The score of the best tree of the arcs alone."""
    scores = np.full((n + 1, n + 1), -np.inf)
    arcs = parts.arcs[n + 1]
    scores[parts.heads[:arcs], parts.modifiers[:arcs]] = parts.arc_scores[:arcs]
    heads = np.zeros(n, np.int64)
    chu_liu_edmonds(scores, n, one_root, heads)
    return score_heads(parts, n, heads)


@every_root
def test_a_tree_that_is_certain_is_the_best(one_root: bool) -> None:
    """With few iterations it often is not certain, and with many it is."""
    sure = {0: 0, 3: 0, 25: 0, 5000: 0}
    trees = 0
    for seed in range(360):
        n, parts, candidates, starts = problem(seed)
        buffers = new_dual_buffers(candidates, starts)
        best = best_score(parts, n, False, one_root)
        trees += best > -np.inf
        for most in sure:
            certain, _, score = decode(n, parts, buffers, one_root, most)
            sure[most] += certain
            assert score <= best + 1e-9
            if certain or best == -np.inf:
                assert score == pytest.approx(best, rel=1e-7, abs=1e-7)
    assert trees > 180
    assert sure[0] == 0
    assert sure[3] < sure[25] <= sure[5000] == trees
    assert sure[25] > 0.6 * trees


def test_the_last_arcs_are_tried_as_a_tree() -> None:
    """Bounds leave each word one arc before these were ever a tree of the search, and they are the best one."""
    seed = 31739
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 8))
    candidates = random_candidates(rng, n, [0.4, 0.6, 0.8, 1][seed % 4])
    parts, starts = lay_out_alone(candidates)
    parts.arc_scores[:] = rng.normal(size=len(parts.arc_scores)) * rng.choice([0.1, 0.3, 1])
    parts.sibling_scores[:] = rng.normal(size=len(parts.sibling_scores)) * rng.choice([0.1, 1, 2, 4])
    parts.grandparent_scores[:] = rng.normal(size=len(parts.grandparent_scores)) * rng.choice([1, 2, 4])
    certain, _, score = decode(n, parts, new_dual_buffers(candidates, starts), False, 200)
    assert certain
    assert score == pytest.approx(best_score(parts, n, False, False), abs=1e-7)


@every_root
def test_strong_arcs_make_it_certain_soon(one_root: bool) -> None:
    trees = sure = 0
    for seed in range(400):
        if SCORES[seed // len(SHARES) % len(SCORES)] == "arcs":
            n, parts, candidates, starts = problem(seed, 6)
            certain, _, score = decode(n, parts, new_dual_buffers(candidates, starts), one_root, 60)
            trees += score > -np.inf
            sure += certain
    assert trees > 30
    assert sure > 0.95 * trees


def test_room_serves_sentences_of_any_length() -> None:
    problems = [problem(seed, n) for seed, n in [(2, 6), (1, 1), (5, 4), (8, 2), (14, 5)]]
    first = np.concatenate([[0], np.cumsum(np.concatenate([np.diff(p[2].first) for p in problems]))])
    candidates = Candidates(first, np.concatenate([p[2].heads for p in problems]))
    buffers = new_dual_buffers(candidates, np.concatenate([[0], np.cumsum([p[0] + 1 for p in problems])]))
    for n, parts, _, _ in problems * 2:
        certain, _, score = decode(n, parts, buffers, True)
        assert certain
        assert score == pytest.approx(best_score(parts, n, False, True), abs=1e-7)


@every_root
def test_long_sentence(one_root: bool) -> None:
    n = 60
    rng = np.random.default_rng(0)
    candidates = long_candidates(rng, n)
    parts, starts = lay_out_alone(candidates)
    fill(rng, parts, "arcs")
    projective = np.zeros(n, np.int64)
    bound = best_projective(parts, n, one_root, new_projective_buffers(candidates, starts), projective)
    buffers = new_dual_buffers(candidates, starts)
    certain, _, score = decode(n, parts, buffers, one_root)
    assert certain
    assert score >= bound
    assert score > decode(n, parts, buffers, one_root, 0)[2]


def test_only_long_sentences_get_fewer_iterations_by_the_work_of_one() -> None:
    rng = np.random.default_rng(0)
    for n in (LONG, LONG + 1):
        parts, _ = lay_out_alone(long_candidates(rng, n))
        sizes, into = np.diff(parts.chains).reshape(-1, 2), np.maximum(np.diff(parts.arcs), 1)
        work = 1 + int(sum((k * k).sum() * heads for k, heads in zip(sizes, into, strict=True)))
        most = dual.MOST_WORK // work
        assert most > 10
        assert rounds_for(parts, n, 10) == 10
        assert rounds_for(parts, n, 2 * most) == (2 * most if n == LONG else most)


def test_no_worse_than_the_best_projective_tree_after_some_iterations() -> None:
    n, late = 40, 0
    for seed in range(40):
        one_root = seed % 2 == 1
        rng = np.random.default_rng(seed // 2)
        candidates = long_candidates(rng, n)
        parts, starts = lay_out_alone(candidates)
        fill(rng, parts, "both")
        bound = best_projective(parts, n, one_root, new_projective_buffers(candidates, starts), np.zeros(n, np.int64))
        buffers = new_dual_buffers(candidates, starts)
        late += decode(n, parts, buffers, one_root, LATE - 1)[2] < bound - 1e-9
        assert decode(n, parts, buffers, one_root, LATE)[2] >= bound - 1e-9
    assert late > 0


@numba.njit
def best_choice(parts, h, b, alone, alive, child):
    """The best children of h if it comes by arc b, -1 for the root, by trying all sets."""
    first, size = parts.chains[2 * h], parts.chains[2 * h + 2] - parts.chains[2 * h]
    best = -np.inf
    for chosen in range(1 << size):
        total, count, allowed = 0.0, 0, True
        for c in range(2 * h, 2 * h + 2):
            before, k = 0, parts.chains[c + 1] - parts.chains[c]
            for j in range(1, k + 2):
                a = parts.chain[parts.chains[c] + j - 1] if j <= k else -1
                if a >= 0 and not chosen >> (parts.chains[c] + j - 1 - first) & 1:
                    continue
                total += parts.sibling_scores[parts.siblings[c] + before * (k + 1) + j - 1]
                before = j
                if a >= 0:
                    count += 1
                    total += child[a]
                    allowed &= alive[a]
                    if b >= 0:
                        allowed &= parts.modifiers[a] != parts.heads[b]
                        total += parts.grandparent_scores[parts.grandparents[a] + b - parts.arcs[h]]
        if b < 0 and (count == 0 or (alone and count > 1)):
            allowed = False
        if allowed:
            best = max(best, total)
    return best


def test_automata_find_the_best_choice() -> None:
    for seed in range(60):
        n, parts, _, _ = problem(seed, 5)
        rng = np.random.default_rng(seed)
        arcs, one_root = int(parts.arcs[n + 1]), seed % 2 == 0
        automata = new_automata(n, arcs)
        automata.stale[:] = True
        automata.alive[:] = rng.random(arcs) < 0.8
        automata.child[:], automata.into[:] = rng.normal(size=(2, arcs))
        total = solve_automata(parts, n, one_root, automata)
        assert total == pytest.approx(automata.value.sum())
        assert not automata.stale.any()
        root = best_choice(parts, 0, -1, one_root, automata.alive, automata.child)
        assert automata.value[0] == pytest.approx(root)
        for h in range(1, n + 1):
            own = [b for b in range(parts.arcs[h], parts.arcs[h + 1]) if automata.alive[b]]
            for b in own:
                expected = automata.into[b] + best_choice(parts, h, b, False, automata.alive, automata.child)
                assert automata.enter[b] == pytest.approx(expected)
            if own:
                assert automata.value[h] == max(automata.enter[own]) == automata.enter[automata.head_arc[h]]
                out = parts.chain[parts.chains[2 * h] : parts.chains[2 * h + 2]]
                only = np.zeros(arcs, bool)
                only[out[automata.chosen[out]]] = True
                b = automata.head_arc[h]
                fixed = np.where(only, automata.child + 1000.0, -1000.0)
                expected = best_choice(parts, h, b, False, automata.alive, fixed) - 1000.0 * only.sum()
                assert automata.value[h] == pytest.approx(automata.into[b] + expected)


@every_root
def test_climbing_ends_where_no_single_change_helps(one_root: bool) -> None:
    moved = 0
    for seed in range(60):
        n, parts, _, _ = problem(3 * seed + 2, 6)  # all heads are candidates
        heads = np.arange(n)
        before = score_heads(parts, n, heads)
        gain = hill_climb(parts, n, one_root, heads)
        moved += gain > 0
        assert is_tree(heads.tolist(), one_root)
        score = score_heads(parts, n, heads)
        assert score == pytest.approx(before + gain)
        for k in range(n):
            for h in range(n + 1):
                other = heads.copy()
                other[k] = h
                if is_tree(other.tolist(), one_root):
                    assert score_heads(parts, n, other) <= score + 1e-6
    assert moved > 30


@every_root
def test_best_tree_of_arcs_is_that_of_the_matrix(one_root: bool) -> None:
    """Of larger sentences too, with cycles in cycles; arcs that are dead do not count."""
    rng = np.random.default_rng(1)
    for n in [1, 2, 3, 5, 8, 20, 40] * 20:
        candidates = long_candidates(rng, n) if n > 8 else random_candidates(rng, n, 0.6)
        parts, _ = lay_out_alone(candidates)
        arcs = int(parts.arcs[n + 1])
        weights = rng.normal(size=arcs) - 2.0 * (parts.heads == 0)
        alive = rng.random(arcs) < 0.9
        scores = np.full((n + 1, n + 1), -np.inf)
        scores[parts.heads[alive], parts.modifiers[alive]] = weights[alive]
        expected, heads = np.zeros((2, n), np.int64)
        chu_liu_edmonds(scores, n, one_root, expected)
        total, greedy = best_tree_of_arcs(parts, n, one_root, alive, weights, heads)
        assert total == pytest.approx(scores[expected, np.arange(1, n + 1)].sum())
        assert greedy == pytest.approx(scores[:, 1:].max(axis=0).sum())
        if total > -np.inf:
            assert is_tree(heads.tolist(), one_root)
            assert total == pytest.approx(scores[heads, np.arange(1, n + 1)].sum())
