"""Probabilities of arcs and trees, and the temperature under which they fit gold trees.

p(y | x) ∝ exp(score(y) / temperature), over the trees without pruned arcs that the parser can predict. A perceptron
does not learn this p; see `swvp.training.options`. In a sentence where every tree has a pruned arc, the sum is over
the trees with the fewest of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, unknown_name
from swvp.parsing.tree_model import FeatureWeights
from swvp.parsing.treebank import Treebank
from swvp.structures.tree.first_order.distributions import distributions, rescued, score_all, table_of, tables_begin
from swvp.structures.tree.first_order.model import ArcModel, Arcs, new_model
from swvp.structures.tree.projective import non_projective_arcs
from swvp.structures.tree.tag_pruning import forbidden
from swvp.training.options import LEAST, in_shares, lowest_loss
from swvp.types import Floats, Ints

__all__ = ["Distribution", "arc_scores", "best_temperature", "distribution", "kernel_model"]

MEASURES = ("arcs", "trees")


class Distribution(NamedTuple):
    """The distributions over the trees of sentences; `table_of` gives the table of one sentence."""

    scores: Floats  # of the arcs, not divided by the temperature
    marginals: Floats
    log_z: Floats
    begins: Ints

    def of(self, problem: Arcs, heads: NDArray[np.int32]) -> Floats:
        """Return the probability of the arc into each word from these heads."""
        probabilities: Floats = self.marginals[arc_places(problem, heads, self.begins)]
        return probabilities

    def tables(self) -> list[Floats]:
        """Return a table for each sentence: [h, m] is the probability of the arc from h to m."""
        return [table_of(self.marginals, self.begins, i) for i in range(len(self.log_z))]


def arc_places(problem: Arcs, heads: NDArray[np.int32], begins: Ints) -> Ints:
    """Return where the arcs into all words are in the row of all tables."""
    sizes = np.diff(problem.nodes.starts)
    words = sizes - 1
    numbers = np.arange(1, words.sum() + 1) - np.repeat(np.cumsum(words) - words, words)
    places: Ints = np.repeat(begins[:-1], words) + heads * np.repeat(sizes, words) + numbers
    return places


def kernel_model(problem: Arcs, weights: FeatureWeights) -> ArcModel:
    """Return weights as the kernels take them, with buffers for the sentences of a problem."""
    return new_model(problem, len(weights.w), w=weights.w)._replace(owners=weights.owners)


def arc_scores(problem: Arcs, weights: FeatureWeights, n_jobs: int = 1) -> Floats:
    """Return the scores of the arcs of all sentences, -inf if pruned."""
    begins = tables_begin(problem)
    scores = np.empty(begins[-1])

    def score(first: int, end: int) -> None:
        score_all(problem, kernel_model(problem, weights), first, end, begins, scores)

    in_shares(score, len(begins) - 1, n_jobs)
    return scores


def distribution(
    problem: Arcs, weights: FeatureWeights, temperature: float, *, scores: Floats | None = None, n_jobs: int = 1
) -> Distribution:
    """Return the distribution over the trees of each sentence; `scores` are the arc scores, if already computed."""
    begins = tables_begin(problem)
    scores = arc_scores(problem, weights, n_jobs) if scores is None else scores
    result = Distribution(scores, np.zeros(len(scores)), np.zeros(len(begins) - 1), begins)
    kind = problem.projective, problem.one_root

    def fill(first: int, end: int) -> None:
        distributions(scores, begins, first, end, *kind, temperature, result.marginals, result.log_z)

    in_shares(fill, len(begins) - 1, n_jobs)
    without_tree = np.flatnonzero(np.isneginf(result.log_z))
    if len(without_tree):  # every tree has a pruned arc
        model = kernel_model(problem, weights)
        for i in without_tree.tolist():
            table_of(scores, begins, i)[:] = rescued(problem, model, i)[0]
            fill(i, i + 1)
    return result


def best_temperature(
    problem: Arcs, weights: FeatureWeights, gold: Treebank, of: str = "arcs", *, n_jobs: int = 1
) -> float:
    """Return the temperature under which the gold arcs, or whole gold trees, are most probable.

    Left out is what no temperature can make probable: pruned arcs, trees that the parser cannot predict, and sentences
    where every tree has a pruned arc, whose scores were lowered.
    """
    if of not in MEASURES:
        raise unknown_name("of", of, MEASURES)
    before = arc_scores(problem, weights, n_jobs)
    scores, _, _, begins = distribution(problem, weights, 1.0, scores=before.copy(), n_jobs=n_jobs)
    places = arc_places(problem, gold.trees, begins)
    lowered = np.logical_or.reduceat((scores != before) & ~np.isnan(before), begins[:-1])
    usable_arcs, usable_trees = predictable(problem, gold, lowered)
    totals = np.add.reduceat(np.where(usable_arcs, scores[places], 0.0), gold.offsets[:-1])
    if not (usable_arcs if of == "arcs" else usable_trees).any():
        raise InputError("no gold trees that the parser can predict: a temperature cannot be found")

    def loss(temperature: float) -> float:
        """Return -log p of the gold heads, averaged over words or sentences."""
        trees = distribution(problem, weights, temperature, scores=scores, n_jobs=n_jobs)
        if of == "arcs":
            return float(-np.log(np.maximum(trees.marginals[places[usable_arcs]], LEAST)).mean())
        return float((trees.log_z - totals / temperature)[usable_trees].mean())

    return lowest_loss(loss, scale_of(scores, begins))


def predictable(
    problem: Arcs, gold: Treebank, lowered: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each gold arc, and for each gold tree, whether the parser can predict it.

    `lowered` marks the sentences whose scores were lowered because every tree has a pruned arc.
    """
    heads, sentences = gold.trees, gold.offsets[:-1]
    arcs = ~forbidden(problem.tables.longest, problem.nodes.kinds, problem.nodes.starts, heads)
    arcs &= ~np.repeat(lowered, np.diff(gold.offsets))
    wrong = ~arcs | (non_projective_arcs(heads, gold.offsets) if problem.projective else False)
    trees = ~np.logical_or.reduceat(wrong, sentences)
    if problem.one_root:
        trees &= np.add.reduceat(heads == 0, sentences, dtype=np.int64) == 1
    return arcs, trees


def scale_of(scores: Floats, begins: Ints) -> float:
    """Return how much the scores of the heads of a word differ: their standard deviation, averaged over words."""
    spreads = [0.0]
    for i in range(len(begins) - 1):
        table = table_of(scores, begins, i)[:, 1:]
        finite = np.isfinite(table)
        counts = np.maximum(finite.sum(axis=0), 1)
        values = np.where(finite, table, 0.0)
        means = values.sum(axis=0) / counts
        spreads += np.sqrt((np.where(finite, values - means, 0.0) ** 2).sum(axis=0) / counts).tolist()
    return float(np.mean(spreads))
