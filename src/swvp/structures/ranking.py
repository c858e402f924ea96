"""Ranking: one label per example, chosen from candidates of its own.

An example has contexts c (what is known about x), and each candidate y' has keys k (what is known about y'). φ(x, y')
counts pairs (c, k), hashed to the places of one table of weights:

    w·φ(x, y') = Σ w[place(c, k)]    over the pairs (c, k) of x and y'

The first `wide` keys of a candidate are paired with every context, the others with the first `narrow` contexts only: so
a few contexts can be combined with many keys without all pairs of both. The gold candidate must win by `margin`.
Of candidates with the same score, the first wins.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from swvp.compiled import implement, kernel
from swvp.structures import operations
from swvp.structures.exact import averaged
from swvp.types import Floats, Int32s, Ints

__all__ = ["MOST_KEY", "Ranking", "RankingModel", "new_ranking_model", "place", "rank_all"]

MOST_KEY = 2**31 - 1
"""The largest key of a context or a candidate; the smallest is 0."""
CONTEXT_FACTOR, KEY_FACTOR, SHIFT = 1640531527, 2147483629, 24


class Ranking(NamedTuple):
    """Examples with candidates.

    Example i has the contexts context_starts[i]:context_starts[i + 1] and the candidates offsets[i]:offsets[i + 1];
    candidate j has the keys key_starts[j]:key_starts[j + 1]. `gold` is the number of the gold candidate among those of
    its example, or empty.
    """

    contexts: Int32s
    context_starts: Ints
    keys: Int32s
    key_starts: Ints
    offsets: Ints
    gold: Ints
    wide: int
    narrow: int
    margin: float


class RankingModel(NamedTuple):
    """The weights, their averaging sums, and buffers for one example."""

    w: Floats
    delayed: Floats
    scores: Floats  # of the candidates of the last example, with the margin
    predicted: Ints


def new_ranking_model(places: int, candidates: int) -> RankingModel:
    """A model with all weights 0, for at most so many candidates; the number of places is a power of 2."""
    return RankingModel(np.zeros(places), np.zeros(places), np.zeros(candidates), np.zeros(1, np.int64))


@kernel
def place(context, key, places):
    """The place of a pair in a table of 2^b weights; factors below 2^31 keep the sum below 2^63."""
    return ((np.int64(context) * CONTEXT_FACTOR + np.int64(key) * KEY_FACTOR) >> SHIFT) & (places - 1)


@kernel
def score_candidate(problem, i, j, w):
    """w·φ(x, y') of candidate j of example i."""
    first, last = problem.context_starts[i], problem.context_starts[i + 1]
    score = 0.0
    for q in range(problem.key_starts[j], problem.key_starts[j + 1]):
        end = last if q - problem.key_starts[j] < problem.wide else min(last, first + problem.narrow)
        for p in range(first, end):
            score += w[place(problem.contexts[p], problem.keys[q], len(w))]
    return score


@implement(operations.longest, Ranking)
@kernel
def longest(problem):
    return 1


@implement(operations.counts_features, Ranking)
@kernel
def counts_features(problem):
    return True


@implement(operations.find_mistakes, Ranking)
@kernel
def find_mistakes(problem, model, i, wrong):
    start = problem.offsets[i]
    best = 0
    for r in range(problem.offsets[i + 1] - start):
        model.scores[r] = score_candidate(problem, i, start + r, model.w)
        if r != problem.gold[i]:
            model.scores[r] += problem.margin
        if model.scores[r] > model.scores[best]:
            best = r
    model.predicted[0] = best
    wrong[0] = 0
    return 0 if best == problem.gold[i] else 1


@implement(operations.margins, Ranking)
@kernel
def margins(problem, model, i, starts, positions, count, out):
    difference = model.scores[problem.gold[i]] - model.scores[model.predicted[0]]
    for j in range(count):
        out[j] = difference if starts[j + 1] > starts[j] else 0.0


@kernel
def write_pairs(problem, i, r, amount, places, size, features, values):
    """Append amount · φ(x, y') of candidate r of example i to sparse pairs; return their number."""
    j = problem.offsets[i] + r
    first, last = problem.context_starts[i], problem.context_starts[i + 1]
    for q in range(problem.key_starts[j], problem.key_starts[j + 1]):
        end = last if q - problem.key_starts[j] < problem.wide else min(last, first + problem.narrow)
        for p in range(first, end):
            features[size] = place(problem.contexts[p], problem.keys[q], places)
            values[size] = amount
            size += 1
    return size


@kernel
def most_pairs(problem, i):
    """An upper bound of the number of pairs (context, key) of example i."""
    keys = problem.key_starts[problem.offsets[i + 1]] - problem.key_starts[problem.offsets[i]]
    return keys * (problem.context_starts[i + 1] - problem.context_starts[i])


@implement(operations.direction, Ranking)
@kernel
def direction(problem, model, i, starts, positions, sets, count, amounts):
    amount = 0.0
    for c in range(count):
        if starts[sets[c] + 1] > starts[sets[c]]:
            amount += amounts[c]
    most = most_pairs(problem, i)
    features, values = np.empty(most, np.int64), np.empty(most)
    size = write_pairs(problem, i, problem.gold[i], amount, len(model.w), 0, features, values)
    size = write_pairs(problem, i, model.predicted[0], -amount, len(model.w), size, features, values)
    return size, features, values


@implement(operations.add, Ranking)
@kernel
def add(problem, model, i, starts, positions, sets, count, amounts, clock):
    size, features, values = direction(problem, model, i, starts, positions, sets, count, amounts)
    for p in range(size):
        model.w[features[p]] += values[p]
        model.delayed[features[p]] += values[p] * clock


@implement(operations.change, RankingModel)
@kernel
def change(model, feature, amount, clock):
    model.w[feature] += amount
    model.delayed[feature] += amount * clock


@implement(operations.expected_difference, Ranking)
@kernel
def expected_difference(problem, model, i):
    n = problem.offsets[i + 1] - problem.offsets[i]
    largest, total = model.scores[model.predicted[0]], 0.0
    for r in range(n):
        total += math.exp(model.scores[r] - largest)
    most = most_pairs(problem, i)
    features, values = np.empty(most, np.int64), np.empty(most)
    size = 0
    for r in range(n):
        amount = (1.0 if r == problem.gold[i] else 0.0) - math.exp(model.scores[r] - largest) / total
        size = write_pairs(problem, i, r, amount, len(model.w), size, features, values)
    return size, features, values


@implement(operations.weights, RankingModel)
def weights(model: RankingModel) -> Floats:
    return model.w.copy()


@implement(operations.norm, RankingModel)
def norm(model: RankingModel) -> float:
    return math.sqrt(float(np.einsum("i,i->", model.w, model.w)))


@implement(operations.averaged_weights, RankingModel)
def averaged_weights(model: RankingModel, clock: float) -> Floats:
    return averaged(model.w, model.delayed, clock)


@kernel
def rank_all(problem: Ranking, w: Floats, scores: Floats) -> None:
    """Write the score of every candidate of all examples."""
    for i in range(len(problem.offsets) - 1):
        for j in range(problem.offsets[i], problem.offsets[i + 1]):
            scores[j] = score_candidate(problem, i, j, w)
