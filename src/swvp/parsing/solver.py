"""Solving one sentence of a second-order problem again and again: k-best trees, and what decided a head.

Other trees are found by taking heads away from words and solving again (Lawler's partition, see
`swvp.structures.tree.decoding.k_best`). If the search for a tree hits its limit, the order of the k best is not exact.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from swvp.features.parser_templates import PartTemplates, parse_part_templates
from swvp.parsing.tree_model import FeatureWeights, RankedTree
from swvp.structures.tree.decoding.dual_decomposition import LONG
from swvp.structures.tree.first_order.names import SentenceColumns
from swvp.structures.tree.reference.parts import Part, part_features, parts_of
from swvp.structures.tree.reference.trees import is_tree
from swvp.structures.tree.second_order.model import (
    PartModel,
    SecondOrder,
    new_part_model,
    part_weights,
    predict_parts,
    score_all_parts,
)
from swvp.structures.tree.second_order.parts import Candidates, score_heads
from swvp.types import Floats, Ints

__all__ = ["NEAR", "SentenceSolver", "k_best_trees"]

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
