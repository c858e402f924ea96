"""Small sentences with second-order scores, and the scores of all of their trees."""

from __future__ import annotations

import functools

import numba
import numpy as np

from swvp.structures.tree.reference import trees
from swvp.structures.tree.second_order.parts import Candidates, lay_out, new_parts, score_heads

SCORES = ("normal", "ties", "arcs", "siblings", "grandparents", "both")
SHARES = (0.3, 0.6, 1.0)  # of all heads that are candidates


def random_candidates(rng, n, share):
    """Some heads of each word, at least one."""
    first, heads = [0], []
    for m in range(1, n + 1):
        others = np.array([h for h in range(n + 1) if h != m])
        chosen = others[rng.random(n) < share]
        heads += chosen.tolist() or [int(rng.choice(others))]
        first.append(len(heads))
    return Candidates(np.array(first), np.array(heads, np.int32))


def long_candidates(rng, n):
    """A few heads of each word, the neighbours and the root among them."""
    heads = [sorted({0, m - 1, *rng.integers(0, m, 2), *range(m + 1, min(m + 3, n + 1))}) for m in range(1, n + 1)]
    first = np.concatenate([[0], np.cumsum([len(own) for own in heads])])
    return Candidates(first, np.concatenate(heads).astype(np.int32))


def lay_out_alone(candidates):
    """The parts of a treebank of one sentence, and its starts."""
    n = len(candidates.first) - 1
    starts = np.array([0, n + 1])
    parts = new_parts(candidates, starts)
    lay_out(candidates, 0, n, parts)
    return parts, starts


def fill(rng, parts, way):
    sizes = {"arcs": (3.0, 0.3, 0.3), "siblings": (0.3, 2.0, 0.1), "grandparents": (0.3, 0.1, 2.0), "both": (0.1, 2, 2)}
    groups = (parts.arc_scores, parts.sibling_scores, parts.grandparent_scores)
    for scores, size in zip(groups, sizes.get(way, (1.0, 1.0, 1.0)), strict=True):
        scores[:] = rng.integers(-1, 2, len(scores)) if way == "ties" else size * rng.normal(size=len(scores))


def problem(seed, n=None):
    """Parts with scores of some kind, their candidates and starts; the kind follows from the seed."""
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(1, 7))
    candidates = random_candidates(rng, n, SHARES[seed % len(SHARES)])
    parts, starts = lay_out_alone(candidates)
    fill(rng, parts, SCORES[seed // len(SHARES) % len(SCORES)])
    return n, parts, candidates, starts


@functools.cache
def all_trees(n, projective, one_root):
    return np.array(list(trees(n, projective, one_root)))


@numba.njit
def score_all(parts, n, every):
    """The scores of trees, -inf of those with other heads than the candidates."""
    scores = np.empty(len(every))
    for i in range(len(every)):
        scores[i] = 0.0
        for m in range(1, n + 1):
            if parts.arc[every[i, m - 1], m] < 0:
                scores[i] = -np.inf
        if scores[i] == 0.0:
            scores[i] = score_heads(parts, n, every[i])
    return scores


def best_score(parts, n, projective, one_root):
    """Of all trees; -inf if the candidates allow none."""
    return score_all(parts, n, all_trees(n, projective, one_root)).max()
