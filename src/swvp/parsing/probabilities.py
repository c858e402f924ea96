"""Owns what a parser knows beside its best trees: the next best, arcs' probabilities and their temperature.

p(y | x) ∝ exp(score(y) / temperature), over the trees without pruned arcs that the parser can predict. A perceptron
does not learn this p; see `swvp.training.temperature`. In a sentence where every tree has a pruned arc, these are the
trees with the fewest of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, unknown_name
from swvp.parsing.treebank import Treebank
from swvp.structures.tree.decoding.k_best import k_best
from swvp.structures.tree.first_order.distributions import distributions, rescued, score_all, table_of, tables_begin
from swvp.structures.tree.first_order.model import ArcModel, Arcs, new_model
from swvp.structures.tree.projective import non_projective_arcs
from swvp.structures.tree.tag_pruning import forbidden
from swvp.tables import check_count
from swvp.training.options import in_shares
from swvp.training.temperature import LEAST, lowest_loss
from swvp.types import Floats, Ints

__all__ = ["Distribution", "arc_scores", "best_temperature", "distribution", "k_best_heads", "model_of"]

MEASURES = ("arcs", "trees")


class Distribution(NamedTuple):
    """The distributions of the trees of sentences; the table of sentence i is that of `table_of`."""

    scores: Floats  # of the arcs, not divided by the temperature
    marginals: Floats
    log_z: Floats
    begins: Ints

    def of(self, problem: Arcs, heads: NDArray[np.int32]) -> Floats:
        """The probability of the arc into each word from these heads."""
        found: Floats = self.marginals[arc_places(problem, heads, self.begins)]
        return found


def arc_places(problem: Arcs, heads: NDArray[np.int32], begins: Ints) -> Ints:
    """Where the arcs into all words are in a row of tables."""
    sizes = np.diff(problem.nodes.starts)
    words = sizes - 1
    numbers = np.arange(1, words.sum() + 1) - np.repeat(np.cumsum(words) - words, words)
    found: Ints = np.repeat(begins[:-1], words) + heads * np.repeat(sizes, words) + numbers
    return found


def arc_scores(parser: Any, problem: Arcs) -> Floats:
    """The scores of the arcs of sentences, -inf if pruned."""
    begins = tables_begin(problem)
    row = np.empty(begins[-1])

    def score(first: int, end: int) -> None:
        score_all(problem, model_of(parser, problem), first, end, begins, row)

    in_shares(score, len(begins) - 1, parser.n_jobs)
    return row


def model_of(parser: Any, problem: Arcs) -> ArcModel:
    """The weights of a parser, with room for these sentences."""
    w, owners = parser._arc_weights
    return new_model(problem, len(w), w=w)._replace(owners=owners)


def distribution(parser: Any, problem: Arcs, temperature: float, scores: Floats | None = None) -> Distribution:
    """The distribution of the trees of each sentence; the scores may be those of before."""
    begins = tables_begin(problem)
    scores = arc_scores(parser, problem) if scores is None else scores
    found = Distribution(scores, np.zeros(len(scores)), np.zeros(len(begins) - 1), begins)

    def fill(first: int, end: int) -> None:
        distributions(
            scores, begins, first, end, problem.projective, problem.one_root, temperature, found.marginals, found.log_z
        )

    in_shares(fill, len(begins) - 1, parser.n_jobs)
    lost = np.flatnonzero(np.isneginf(found.log_z))
    if len(lost):  # every tree has a pruned arc
        model = model_of(parser, problem)
        for i in lost.tolist():
            table_of(scores, begins, i)[:] = rescued(problem, model, i)[0]
            fill(i, i + 1)
    return found


def k_best_heads(parser: Any, problem: Arcs, k: int) -> list[list[tuple[NDArray[np.int32], float]]]:
    """The k best trees of each sentence as (heads, score), best first; fewer if there are fewer."""
    check_count("k", k, 1)
    scores, begins = arc_scores(parser, problem), tables_begin(problem)
    found: list[list[tuple[NDArray[np.int32], float]]] = [[] for _ in range(len(begins) - 1)]

    def find(first: int, end: int) -> None:
        for i in range(first, end):
            table = table_of(scores, begins, i)
            n = len(table) - 1
            most = min(int(k), (n + 1) ** (n - 1))  # no sentence has more
            try:
                out = np.zeros((most, n), np.int64)
                count = k_best(table, n, most, problem.projective, problem.one_root, out)
            except (MemoryError, ValueError, OverflowError):
                raise InputError(f"no room for the {k} best trees of {n} words: ask for fewer") from None
            trees = out[:count].astype(np.int32)
            totals = table[trees, np.arange(1, n + 1)].sum(axis=1).tolist()
            found[i] = list(zip(trees, totals, strict=True))

    in_shares(find, len(found), parser.n_jobs)
    lost = [i for i, trees in enumerate(found) if not trees]
    if lost:
        model = model_of(parser, problem)
        for i in lost:
            table, lowered = rescued(problem, model, i)
            table_of(scores, begins, i)[:] = table
            find(i, i + 1)
            words = np.arange(1, len(table))
            less = [float(lowered[heads, words].sum()) for heads, _ in found[i]]
            found[i] = [
                (heads, total + by)
                for (heads, total), by in zip(found[i], less, strict=True)
                if by <= less[0]  # others have more pruned arcs
            ]
    return found


def best_temperature(parser: Any, problem: Arcs, gold: Treebank, of: str = "arcs") -> float:
    """The temperature under which the gold arcs, or whole gold trees, are most probable.

    Left out is what no temperature can make probable: pruned arcs, trees that the parser cannot predict, and sentences
    where every tree has a pruned arc, whose scores were lowered.
    """
    if of not in MEASURES:
        raise unknown_name("of", of, MEASURES)
    heads = gold.trees
    found = arc_scores(parser, problem)
    scores, _, _, begins = distribution(parser, problem, 1.0, found.copy())
    places = arc_places(problem, heads, begins)
    lowered = np.logical_or.reduceat((scores != found) & ~np.isnan(found), begins[:-1])
    possible = ~forbidden(problem.tables.longest, problem.nodes.kinds, problem.nodes.starts, heads)
    possible &= ~np.repeat(lowered, np.diff(gold.offsets))
    wrong = ~possible | (non_projective_arcs(heads, gold.offsets) if problem.projective else False)
    usable = ~np.logical_or.reduceat(wrong, gold.offsets[:-1])
    if problem.one_root:
        usable &= np.add.reduceat(heads == 0, gold.offsets[:-1], dtype=np.int64) == 1
    totals = np.add.reduceat(np.where(possible, scores[places], 0.0), gold.offsets[:-1])
    if not (possible if of == "arcs" else usable).any():
        raise InputError("no gold trees that the parser can predict: a temperature cannot be found")

    def loss(temperature: float) -> float:
        """-log p of the gold heads, a word or a sentence."""
        found = distribution(parser, problem, temperature, scores)
        if of == "arcs":
            return float(-np.log(np.maximum(found.marginals[places[possible]], LEAST)).mean())
        return float((found.log_z - totals / temperature)[usable].mean())

    return lowest_loss(loss, scale_of(scores, begins))


def scale_of(scores: Floats, begins: Ints) -> float:
    """How much the scores of the heads of a word differ."""
    spreads = [0.0]
    for i in range(len(begins) - 1):
        table = table_of(scores, begins, i)[:, 1:]
        there = np.isfinite(table)
        counts = np.maximum(there.sum(axis=0), 1)
        values = np.where(there, table, 0.0)
        means = values.sum(axis=0) / counts
        spreads += np.sqrt((np.where(there, values - means, 0.0) ** 2).sum(axis=0) / counts).tolist()
    return float(np.mean(spreads))
