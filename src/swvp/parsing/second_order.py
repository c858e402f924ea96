"""The second-order model: a tree is scored by its arcs, pairs of adjacent siblings, and grandparents.

There are too many such parts to score them all. So a `Pruner`, a log-linear model of arcs, is trained first and leaves
each word a few heads. The search among these is bounded for non-projective trees and can miss the best tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.features.parser_templates import parse_part_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.features.presets import PART_PRESETS
from swvp.learning.perceptron import generator
from swvp.parsing.pruner import EPOCHS, Pruner, pruned_candidates
from swvp.parsing.solver import NEAR, SentenceSolver, k_best_trees
from swvp.parsing.tree_model import (
    FeatureWeights,
    RankedTree,
    Ranks,
    TreeKind,
    columns_of,
    node_names,
    seen_arcs,
    sentence_columns,
)
from swvp.parsing.treebank import Treebank
from swvp.structures.tree.decoding.dual_decomposition import LONG
from swvp.structures.tree.encoding import Nodes, encode, slots_of
from swvp.structures.tree.first_order.model import Arcs, Heads
from swvp.structures.tree.reference.parts import parts_of
from swvp.structures.tree.second_order.features import part_tables
from swvp.structures.tree.second_order.model import PartModel, SecondOrder, new_part_model, predict_parts
from swvp.structures.tree.second_order.parts import Candidates
from swvp.structures.tree.tag_pruning import Pruned, all_allowed
from swvp.tables import WeightTable
from swvp.training.options import in_shares
from swvp.types import Ints

__all__ = ["SecondOrderModel"]

NO_HEAD, ONLY_HEAD = "(none)", "no other head is left by pruning"
EXPLANATION = "What decided the heads: weight in the tree minus weight in the best tree without the arc"
EXPLANATION_COLUMNS = ("word", "head", "second", "wins by", "feature", "difference")


class SecondOrderModel:
    """Templates of parts, and a pruner of heads; `swvp.parsing.tree_model.TreeModel` documents its methods."""

    order: ClassVar[int] = 2
    description: ClassVar[str] = "second order (arcs, siblings, grandparents)"
    structure: ClassVar[type] = SecondOrder
    default_rule: ClassVar[str] = "a-uniform:components:mira"
    """Parts have several arcs, so wrong heads that are connected are changed together."""
    default_features: ClassVar[str] = "second-order"
    presets: ClassVar[Mapping[str, Sequence[str]]] = PRESETS | PART_PRESETS
    prediction_kernel: ClassVar[Any] = staticmethod(predict_parts)
    uses_pruner: ClassVar[bool] = True
    searches_exactly: ClassVar[bool] = False

    def __init__(self, templates: Sequence[str], ranks: Ranks, pruner: Pruner | None = None):
        pruner_templates = [] if pruner is None else pruner.templates
        ordered, self.tables = part_tables(parse_part_templates(templates), pruner_templates)
        self.templates = ordered.all
        self.slots = slots_of([*self.templates, *pruner_templates])
        self.ranks = ranks
        self.pruner = pruner
        self.longest = all_allowed()

    @classmethod
    def check_templates(cls, templates: Sequence[str], where: str) -> None:
        parse_part_templates(templates, where=where)

    def encode(self, treebank: Treebank) -> Nodes:
        return encode(columns_of(treebank), treebank.offsets, self.templates, self.ranks, self.slots)

    def learn_pruning(self, nodes: Nodes, heads: Heads, *, prune: bool, warm_start: bool, random_state: Any) -> Self:
        before = self.longest if warm_start else None
        self.prune_by(seen_arcs(nodes, heads, self.ranks, prune=prune, before=before))
        if self.pruner is not None:
            epochs, orders = 1 if warm_start else EPOCHS, generator(random_state)
            self.pruner.fit(nodes, heads, orders=orders, epochs=epochs, warm_start=warm_start)
        return self

    def prune_by(self, longest: NDArray[np.int32]) -> Self:
        self.longest = longest
        if self.pruner is not None:
            self.pruner.use_slots(self.slots, longest)
        return self

    def problem(
        self, nodes: Nodes, heads: Heads, kind: TreeKind, *, margin: float = 0.0, n_jobs: int = 1
    ) -> SecondOrder:
        if self.pruner is None:
            candidates = all_candidates(nodes)
        else:
            gold = heads if len(heads) else None
            candidates = self.pruner.for_trees(*kind).candidates(nodes, gold, n_jobs)
        return SecondOrder(nodes, self.tables, candidates, heads, *kind, margin)

    def new_weights(self, problem: SecondOrder, size: int, *, exact: bool, parts: bool) -> PartModel:
        return new_part_model(problem, size, exact=exact, word_parts=parts)

    def predict(self, problem: SecondOrder, weights: FeatureWeights, n_jobs: int) -> Heads:
        return predict_and_count(problem, weights, n_jobs)[0]

    def certified_share(self, problem: SecondOrder, weights: FeatureWeights, n_jobs: int) -> float:
        _, (sentences, certified) = predict_and_count(problem, weights, n_jobs)
        return float(certified / max(sentences, 1))

    def pruned(self, problem: SecondOrder, heads: Heads) -> Pruned:
        return pruned_candidates(problem.candidates, problem.nodes.starts, heads)

    def k_best(self, problem: SecondOrder, weights: FeatureWeights, k: int, n_jobs: int) -> list[list[RankedTree]]:
        return [k_best_trees(SentenceSolver(problem, weights, i), k) for i in range(len(problem.nodes.starts) - 1)]

    def arc_model(self, problem: SecondOrder, weights: FeatureWeights) -> tuple[Arcs, FeatureWeights]:
        """Return the arcs and weights of the pruner: sums over second-order trees are too expensive."""
        if self.pruner is None:
            raise InputError("a parser of second order that prunes nothing has no probabilities: fit with prune=True")
        arcs = Arcs(problem.nodes, self.pruner.tables, problem.heads, problem.projective, problem.one_root, 0.0)
        return arcs, FeatureWeights(self.pruner.w, None)

    def explain(
        self, treebank: Treebank, problem: SecondOrder, weights: FeatureWeights, words: Iterable[int], n: int
    ) -> WeightTable:
        """Return, for each word, the n features that speak most for the tree or against the best one without the arc.

        A row is one feature: its weight in the predicted tree minus that in the other one.
        """
        solver, columns = SentenceSolver(problem, weights, 0), sentence_columns(treebank, 0)
        title = EXPLANATION + (f", which differs within {NEAR} words" if solver.n > LONG else "")
        best = solver.solve(solver.choices)
        if best is None:
            return WeightTable(title, EXPLANATION_COLUMNS, [])
        heads, score = best
        names = node_names(columns)
        rows: list[tuple[Any, ...]] = []
        for word in words:
            other = solver.best_without(heads, word)
            head = names[heads[word - 1]]
            if other is None:
                rows.append((names[word], head, NO_HEAD, 0.0, ONLY_HEAD, 0.0))
                continue
            other_heads, other_score = other
            differences = solver.differences(self.templates, columns, heads, other_heads)
            arc = (names[word], head, names[other_heads[word - 1]], score - other_score)
            rows += [(*arc, *feature) for feature in sorted(differences, key=lambda item: -abs(item[1]))[:n]]
        return WeightTable(title, EXPLANATION_COLUMNS, rows)

    def top_features(self, treebank: Treebank, problem: SecondOrder, weights: FeatureWeights, n: int) -> WeightTable:
        """Return the n features with the largest |weight| on the parts of the predicted trees."""
        heaviest: dict[str, float] = {}
        columns = columns_of(treebank)
        for i in range(treebank.number_of_sentences if n else 0):
            solver = SentenceSolver(problem, weights, i)
            best = solver.solve(solver.choices)
            if best is not None:
                heads, _ = best
                strings = sentence_columns(treebank, i, columns)
                for features in solver.named_features(self.templates, strings, parts_of(heads), [heads]):
                    heaviest |= dict(features)
                heaviest = dict(sorted(heaviest.items(), key=lambda item: (-abs(item[1]), item[0]))[:n])
        title = "Features with the largest weights on the trees of these sentences"
        return WeightTable(title, ("feature", "weight"), [row for row in heaviest.items() if row[1]])


def all_candidates(nodes: Nodes) -> Candidates:
    """Return candidates that allow every word every other word, or the root, as its head."""
    first, heads = [0], []
    for n in (np.diff(nodes.starts) - 1).tolist():
        table = np.tile(np.arange(n + 1, dtype=np.int32), (n, 1))
        heads.append(table[table != np.arange(1, n + 1)[:, None]])
        first += [first[-1] + n * k for k in range(1, n + 1)]
    return Candidates(np.array(first, np.int64), np.concatenate([np.zeros(0, np.int32), *heads]))


def predict_and_count(problem: SecondOrder, weights: FeatureWeights, n_jobs: int) -> tuple[Heads, Ints]:
    """Return the predicted heads, and two counts: sentences, and those whose tree is proved to be the best one."""
    heads = np.zeros(len(problem.candidates.first) - 1, np.int32)
    counts: list[Ints] = []

    def predict(first: int, end: int) -> None:
        model = new_part_model(problem, len(weights.w), w=weights.w)._replace(owners=weights.owners)
        predict_parts(problem, model, first, end, heads)
        counts.append(model.solved[:2])

    in_shares(predict, len(problem.nodes.starts) - 1, n_jobs)
    return heads, np.sum([np.zeros(2, np.int64), *counts], axis=0)
