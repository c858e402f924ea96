"""Owns what a parser of second order can be asked of one sentence: its next best trees, and what decided its heads.

Other trees are found by taking heads away from words and solving again (Lawler's partition, see
`swvp.structures.tree.decoding.k_best`); where the search for a tree is cut short, so is the order of the k best.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np

from swvp.features.part_templates import PartTemplates, parse_part_templates
from swvp.structures.tree.decoding.dual_decomposition import LONG
from swvp.structures.tree.first_order.names import SentenceColumns
from swvp.structures.tree.reference.parts import Part, part_features, parts_of
from swvp.structures.tree.reference.trees import is_tree
from swvp.structures.tree.second_order.model import (
    SecondOrder,
    new_part_model,
    part_weights,
    predict_parts,
    score_all_parts,
)
from swvp.structures.tree.second_order.parts import Candidates, score_heads
from swvp.types import Floats, Ints

__all__ = ["NEAR", "OneSentence", "k_best_second"]

Choices = list[list[int]]
"""The heads that each word may have."""

NEAR = 50
"""In a long sentence, the distance from a word within which other words may change their heads with it."""


class OneSentence:
    """One sentence of a problem, to be solved again and again."""

    def __init__(self, parser: Any, problem: SecondOrder, i: int):
        nodes, first = problem.nodes, problem.candidates.first
        start, end = int(nodes.starts[i]), int(nodes.starts[i + 1])
        own = {name: getattr(nodes, name)[start:end] for name in nodes._fields if name != "starts"}
        self.problem = problem._replace(nodes=nodes._replace(**own, starts=np.array([0, end - start])))
        self.parser, self.n = parser, end - start - 1
        self.choices: Choices = [
            problem.candidates.heads[first[w] : first[w + 1]].tolist() for w in range(start - i, start - i + self.n)
        ]

    def model(self, choices: Choices) -> tuple[SecondOrder, Any]:
        first = np.concatenate([[0], np.cumsum([len(heads) for heads in choices], dtype=np.int64)])
        heads = np.array([head for heads in choices for head in heads], np.int32)
        problem = self.problem._replace(candidates=Candidates(first, heads))
        w, owners = self.parser.coef_, self.parser.owners_
        return problem, new_part_model(problem, len(w), w=w)._replace(owners=owners)

    def solve(self, choices: Choices) -> tuple[tuple[int, ...], float] | None:
        """The best tree of these heads and its score; None if they have none."""
        if not all(choices):
            return None
        problem, model = self.model(choices)
        out = np.zeros(self.n, np.int32)
        predict_parts(problem, model, 0, 1, out)
        heads = tuple(out.tolist())
        if not is_tree(heads, problem.one_root) or any(h not in some for h, some in zip(heads, choices, strict=True)):
            return None
        return heads, float(score_heads(model.buffers.parts, self.n, np.array(heads, np.int64)))

    def without(self, heads: Sequence[int], m: int) -> tuple[tuple[int, ...], float] | None:
        """The best tree in which word m does not have the head it has in the tree `heads`.

        In a sentence of more than `LONG` words, only words at most `NEAR` positions from m may change their heads. If
        that allows no other tree, all words may.
        """
        others = [h for h in self.choices[m - 1] if h != heads[m - 1]]
        if self.n > LONG and others:
            near = range(max(0, m - 1 - NEAR), min(self.n, m + NEAR))
            choices = [self.choices[k] if k in near else [head] for k, head in enumerate(heads)]
            choices[m - 1] = others
            if (nearby := self.solve(choices)) is not None:
                return nearby
        choices = list(self.choices)
        choices[m - 1] = others
        return self.solve(choices)

    def weights(self, parts: Sequence[Part], heads: Sequence[Sequence[int]]) -> list[Floats]:
        """The weights of the features of each part, of trees with these heads."""
        choices = [sorted(set(some)) for some in zip(*heads, strict=True)]
        problem, model = self.model(choices)
        score_all_parts(problem, model, 0, 1)
        out = np.zeros(len(model.buffers.features))
        return [out[: part_weights(problem, model, 0, coded(part, choices), out)].copy() for part in parts]

    def difference(
        self, columns: SentenceColumns, heads: tuple[int, ...], others: tuple[int, ...]
    ) -> list[tuple[str, float]]:
        """The features of one tree less those of another, with their weights: what they differ by."""
        one, two = set(parts_of(heads)), set(parts_of(others))
        parts = sorted(one ^ two, key=repr)
        found: dict[str, float] = {}
        for part, features in zip(parts, self.named(columns, parts, [heads, others]), strict=True):
            for name, weight in features:
                found[name] = found.get(name, 0.0) + (weight if part in one else -weight)
        return [(name, weight) for name, weight in found.items() if weight]

    def named(
        self, columns: SentenceColumns, parts: Sequence[Part], heads: Sequence[Sequence[int]]
    ) -> list[list[tuple[str, float]]]:
        """The features of parts of trees with these heads, and their weights."""
        templates, x = templates_from(tuple(template.text for template in self.parser.templates_)), words_of(columns)
        return [
            [(name, weight) for (_, name), weight in zip(part_features(templates, x, part), weights, strict=True)]
            for part, weights in zip(parts, (array.tolist() for array in self.weights(parts, heads)), strict=True)
        ]


@lru_cache(1)
def templates_from(texts: tuple[str, ...]) -> PartTemplates:
    return parse_part_templates(texts)


def words_of(columns: SentenceColumns) -> list[dict[str, str]]:
    return [{name: values[k] for name, values in columns.items()} for k in range(len(columns["word"]))]


def coded(part: Part, choices: Choices) -> Ints:
    """A part as `swvp.structures.tree.second_order.model` numbers it, where words may have these heads."""
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


def k_best_second(parser: Any, problem: SecondOrder, k: int) -> list[list[tuple[Any, float]]]:
    """The k best trees of each sentence as (heads, score), best first; fewer if there are fewer."""
    found = []
    for i in range(len(problem.nodes.starts) - 1):
        sentence = OneSentence(parser, problem, i)
        trees: list[tuple[Any, float]] = []
        best = sentence.solve(sentence.choices)
        numbers = count()
        queue = [] if best is None else [(-best[1], next(numbers), best[0], sentence.choices, 0)]
        while queue and len(trees) < k:
            minus, _, heads, choices, fixed = heapq.heappop(queue)
            trees.append((np.array(heads, np.int32), -minus))
            if len(trees) == k:
                break
            for m in range(fixed, sentence.n):
                rest = [[h] for h in heads[:m]]
                some = [*rest, [h for h in choices[m] if h != heads[m]], *choices[m + 1 :]]
                if (next_best := sentence.solve(some)) is not None:
                    heapq.heappush(queue, (-next_best[1], next(numbers), next_best[0], some, m))
        found.append(trees)
    return found
