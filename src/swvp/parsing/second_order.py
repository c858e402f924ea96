"""The second-order model: a tree is scored by its arcs, pairs of adjacent siblings, and grandparents.

There are too many such parts to score them all. So a `Pruner`, a log-linear model of arcs, is trained first and leaves
each word a few heads. The search among these is bounded for non-projective trees and can miss the best tree.

k-best trees, and what decided a head, need the search again and again for one sentence: other trees are found by taking
heads away from words (Lawler's partition, see `swvp.structures.tree.decoding.k_best`). If the search for a tree hits
its limit, the order of the k best is not exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.features.parser_templates import PartTemplates, parse_part_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.features.presets import PART_PRESETS
from swvp.io.treebank import Treebank
from swvp.learning.perceptron import generator
from swvp.parsing.tree_model import (
    PRUNER_EPOCHS,
    FeatureWeights,
    Pruner,
    RankedTree,
    Ranks,
    TreeKind,
    columns_of,
    node_names,
    pruned_candidates,
    seen_arcs,
    sentence_columns,
)
from swvp.structures.tree.decoding.dual_decomposition import LONG
from swvp.structures.tree.encoding import Nodes, Pruned, all_allowed, encode, slots_of
from swvp.structures.tree.first_order.features import NO_OWNERS, SentenceColumns
from swvp.structures.tree.first_order.model import Arcs
from swvp.structures.tree.reference import Part, is_tree, part_features, parts_of
from swvp.structures.tree.second_order.features import part_tables
from swvp.structures.tree.second_order.model import (
    PartModel,
    SecondOrder,
    new_part_model,
    part_weights,
    predict_parts,
    score_all_parts,
)
from swvp.structures.tree.second_order.parts import Candidates, score_heads
from swvp.tables import WeightTable
from swvp.training.options import in_shares
from swvp.types import Floats, Heads, Ints

__all__ = ["NEAR", "SecondOrderModel", "SentenceSolver", "k_best_trees"]

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
            epochs, orders = 1 if warm_start else PRUNER_EPOCHS, generator(random_state)
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
            raise InputError("a second-order parser without pruning has no probabilities: fit it with prune=True")
        arcs = Arcs(problem.nodes, self.pruner.tables, problem.heads, problem.projective, problem.one_root, 0.0)
        return arcs, FeatureWeights(self.pruner.w, NO_OWNERS)

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


# ---------------------------------------------------------------- one sentence, again and again

Choices = list[list[int]]
"""The heads that each word may have."""

Solution = tuple[tuple[int, ...], float]
"""The heads of a tree and its score."""

NEAR = 50
"""In a long sentence, the distance from a word within which other words may change their heads with it."""


class SentenceSolver:
    """One sentence of a problem, with the weights to score its trees."""

    def __init__(self, problem: SecondOrder, weights: FeatureWeights, i: int):
        nodes, first = problem.nodes, problem.candidates.first
        start, end = int(nodes.starts[i]), int(nodes.starts[i + 1])
        arrays = {name: getattr(nodes, name)[start:end] for name in nodes._fields if name != "starts"}
        self.problem = problem._replace(nodes=nodes._replace(**arrays, starts=np.array([0, end - start])))
        self.weights, self.n = weights, end - start - 1
        self.choices: Choices = [
            problem.candidates.heads[first[w] : first[w + 1]].tolist() for w in range(start - i, start - i + self.n)
        ]

    def solve(self, choices: Choices) -> Solution | None:
        """Return the best tree with these choices and its score, or None if there is no such tree."""
        if not all(choices):
            return None
        problem, model = self._restricted(choices)
        out = np.zeros(self.n, np.int32)
        predict_parts(problem, model, 0, 1, out)
        heads = tuple(out.tolist())
        if not is_tree(heads, problem.one_root):
            return None
        if any(head not in allowed for head, allowed in zip(heads, choices, strict=True)):
            return None
        return heads, float(score_heads(model.buffers.parts, self.n, np.array(heads, np.int64)))

    def best_without(self, heads: Sequence[int], word: int) -> Solution | None:
        """Return the best tree in which a word does not have the head it has in the tree `heads`.

        In a sentence of more than `LONG` words, only words at most `NEAR` positions away may change their heads. If
        that allows no other tree, all words may.
        """
        others = [head for head in self.choices[word - 1] if head != heads[word - 1]]
        if self.n > LONG and others:
            near = range(max(0, word - 1 - NEAR), min(self.n, word + NEAR))
            choices = [self.choices[k] if k in near else [head] for k, head in enumerate(heads)]
            choices[word - 1] = others
            if (nearby := self.solve(choices)) is not None:
                return nearby
        choices = list(self.choices)
        choices[word - 1] = others
        return self.solve(choices)

    def differences(
        self, templates: Sequence[Any], columns: SentenceColumns, heads: tuple[int, ...], others: tuple[int, ...]
    ) -> list[tuple[str, float]]:
        """Return the features in which two trees differ, with the weight in the first minus that in the second."""
        first, second = set(parts_of(heads)), set(parts_of(others))
        parts = sorted(first ^ second, key=repr)
        named = self.named_features(templates, columns, parts, [heads, others])
        totals: dict[str, float] = {}
        for part, features in zip(parts, named, strict=True):
            for name, weight in features:
                totals[name] = totals.get(name, 0.0) + (weight if part in first else -weight)
        return [(name, weight) for name, weight in totals.items() if weight]

    def named_features(
        self,
        templates: Sequence[Any],
        columns: SentenceColumns,
        parts: Sequence[Part],
        trees: Sequence[Sequence[int]],
    ) -> list[list[tuple[str, float]]]:
        """Return the features, with their weights, of each of these parts of trees."""
        parsed, words = templates_from(tuple(template.text for template in templates)), words_of(columns)
        return [
            [(name, weight) for (_, name), weight in zip(part_features(parsed, words, part), weights, strict=True)]
            for part, weights in zip(parts, (array.tolist() for array in self._part_weights(parts, trees)), strict=True)
        ]

    def _part_weights(self, parts: Sequence[Part], trees: Sequence[Sequence[int]]) -> list[Floats]:
        """Return the weights of the features of each part of these trees."""
        choices = [sorted(set(heads)) for heads in zip(*trees, strict=True)]
        problem, model = self._restricted(choices)
        score_all_parts(problem, model, 0, 1)
        out = np.zeros(len(model.buffers.features))
        return [out[: part_weights(problem, model, 0, coded(part, choices), out)].copy() for part in parts]

    def _restricted(self, choices: Choices) -> tuple[SecondOrder, PartModel]:
        """Return the problem in which words have only these choices, and the weights with buffers for it."""
        first = np.concatenate([[0], np.cumsum([len(heads) for heads in choices], dtype=np.int64)])
        heads = np.array([head for heads in choices for head in heads], np.int32)
        problem = self.problem._replace(candidates=Candidates(first, heads))
        w, owners = self.weights
        return problem, new_part_model(problem, len(w), w=w)._replace(owners=owners)


def k_best_trees(solver: SentenceSolver, k: int) -> list[RankedTree]:
    """Return the k best trees of a sentence, best first; fewer if there are fewer."""
    trees: list[RankedTree] = []
    best = solver.solve(solver.choices)
    numbers = count()
    queue = [] if best is None else [(-best[1], next(numbers), best[0], solver.choices, 0)]
    while queue and len(trees) < k:
        negative_score, _, heads, choices, fixed = heapq.heappop(queue)
        trees.append((np.array(heads, np.int32), -negative_score))
        if len(trees) == k:
            break
        for m in range(fixed, solver.n):
            same_before = [[head] for head in heads[:m]]
            other_heads = [head for head in choices[m] if head != heads[m]]
            subset = [*same_before, other_heads, *choices[m + 1 :]]
            if (solution := solver.solve(subset)) is not None:
                heapq.heappush(queue, (-solution[1], next(numbers), solution[0], subset, m))
    return trees


@lru_cache(1)
def templates_from(texts: tuple[str, ...]) -> PartTemplates:
    return parse_part_templates(texts)


def words_of(columns: SentenceColumns) -> list[dict[str, str]]:
    return [{name: values[k] for name, values in columns.items()} for k in range(len(columns["word"]))]


def coded(part: Part, choices: Choices) -> Ints:
    """Return a part as `swvp.structures.tree.second_order.model` numbers it, where words have these choices."""
    kind, *nodes = part
    if kind == "arc":
        return np.array([0, *nodes, 0])
    if kind == "grandparent":
        return np.array([2, *nodes])
    h, right, m, s = nodes
    side = range(h + 1, len(choices) + 1) if right else range(h - 1, 0, -1)
    chain = [word for word in side if h in choices[word - 1]]
    ranks = [0 if m is None else chain.index(m) + 1, len(chain) + 1 if s is None else chain.index(s) + 1]
    return np.array([1, 2 * h + right, *ranks])
