"""Ranking: compiled training and scores equal their definitions written out."""

import numpy as np
import pytest

from swvp.compiled import in_python
from swvp.learning.perceptron import generator, run_epochs
from swvp.learning.rule import as_rule
from swvp.structures.ranking import Ranking, new_ranking_model, place, rank_all

PLACES = 64


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    sizes, contexts = rng.integers(1, 5, 20), rng.integers(0, 6, 20)
    keys = rng.integers(1, 5, sizes.sum())
    starts = [np.concatenate([[0], np.cumsum(counts)]) for counts in (contexts, keys, sizes)]
    numbers = [rng.integers(0, 2**31 - 1, counts.sum()).astype(np.int32) for counts in (contexts, keys)]
    return Ranking(numbers[0], starts[0], numbers[1], starts[1], starts[2], rng.integers(0, sizes), 2, 3, 1.0)


def plain_features(problem, i, r):
    """φ(x, y') by its definition."""
    j = problem.offsets[i] + r
    contexts = problem.contexts[problem.context_starts[i] : problem.context_starts[i + 1]]
    phi = np.zeros(PLACES)
    for number, key in enumerate(problem.keys[problem.key_starts[j] : problem.key_starts[j + 1]]):
        for context in contexts if number < problem.wide else contexts[: problem.narrow]:
            phi[place(context, key, PLACES)] += 1
    return phi


def test_training_equals_softmax_margin_with_adaptive_steps_written_out(problem):
    rule = as_rule("softmax")
    model = new_ranking_model(PLACES, 5)
    list(run_epochs(problem, model, rule, examples=20, epochs=3, random_state=generator(0)))
    w, squares, rng = np.zeros(PLACES), np.zeros(PLACES), generator(0)
    for _ in range(3):
        for i in rng.permutation(20):
            phi = np.array([plain_features(problem, i, r) for r in range(np.diff(problem.offsets)[i])])
            scores = phi @ w + problem.margin * (np.arange(len(phi)) != problem.gold[i])
            if scores.argmax() == problem.gold[i]:
                continue
            p = np.exp(scores - scores.max())
            g = phi[problem.gold[i]] - (p / p.sum()) @ phi
            squares += g * g
            w += rule.C * g / np.sqrt(1 + squares)
    assert np.abs(w).max() > 0
    np.testing.assert_allclose(model.w, w, atol=1e-5)


def test_scores_are_sums_over_pairs_of_contexts_and_keys(problem):
    w, scores = np.random.default_rng(2).normal(size=PLACES), np.empty(problem.offsets[-1])
    rank_all(problem, w, scores)
    plain = [plain_features(problem, i, r) @ w for i in range(20) for r in range(np.diff(problem.offsets)[i])]
    np.testing.assert_allclose(scores, plain)
    again = np.empty_like(scores)
    in_python(rank_all)(problem, w, again)
    assert np.array_equal(scores, again)
