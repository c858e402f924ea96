"""Dependency trees and their models by definition, in plain Python: the tests compare the kernels with it.

A sentence has the words 1, …, n and the root 0; heads[m - 1] is the head of word m. Heads are a tree if each word
comes from the root by following arcs. A tree is projective if no two arcs cross, those of the root among them.

To the models a sentence is a list of words, each a mapping of its columns: word, lemma, pos, tag, feats. Word k is
x[k - 1]. A feature is the text of its template and its name (`features` of each order). Trees are enumerated, so
sentences must be short. In second order any choice of one head for each word has parts, a tree or not:

    ("arc", h, m)
    ("siblings", h, right, m, s)    m and s are children of h on one side of it with none in between; m may be None
                                    (START: s is the nearest to h), s may be None (STOP: m is the farthest), or both
    ("grandparent", g, h, m)        g is the head of h and h of m; there is none if h is the root, or if g is m
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from swvp.features.parser_templates import ArcTemplate, PartTemplates, parse_arc_templates, parse_part_templates
from swvp.structures.tree.first_order.features import SentenceColumns, feature_names, feature_parts
from swvp.structures.tree.second_order.features import Named, grandparent_names, sibling_names
from swvp.types import Floats

__all__ = [
    "Feature",
    "Part",
    "PlainArcs",
    "PlainParts",
    "Sentence",
    "all_parts",
    "arc_features",
    "best_tree",
    "is_projective",
    "is_tree",
    "part_features",
    "parts_of",
    "trees",
    "word_parts",
]


# ---------------------------------------------------------------- trees


def is_tree(heads: Sequence[int], one_root: bool = False) -> bool:
    """Whether the heads are a tree, with exactly one child of the root if `one_root`: O(n)."""
    n = len(heads)
    if any(not 0 <= h <= n for h in heads) or (one_root and sum(h == 0 for h in heads) != 1):
        return False
    seen = [0] * (n + 1)  # the word from which a node was reached first
    for start in range(1, n + 1):
        node = start
        while node and not seen[node]:
            seen[node] = start
            node = heads[node - 1]
        if node and seen[node] == start:
            return False
    return True


def is_projective(heads: Sequence[int]) -> bool:
    """Whether no two arcs cross: O(n log n)."""
    ends = sorted((min(h, m), -max(h, m)) for m, h in enumerate(heads, 1))
    around: list[int] = []  # where the arcs over the present place end, the innermost last
    for left, minus_right in ends:
        while around and around[-1] <= left:
            around.pop()
        if around and -minus_right > around[-1]:
            return False
        around.append(-minus_right)
    return True


def trees(n: int, projective: bool = False, one_root: bool = True) -> Iterator[tuple[int, ...]]:
    """All trees of n words, in the order of their heads. There are (n + 1)^(n - 1) without conditions."""
    for heads in itertools.product(range(n + 1), repeat=n):
        if is_tree(heads, one_root) and (not projective or is_projective(heads)):
            yield heads


def best_tree(scores: Floats, n: int, projective: bool = False, one_root: bool = True) -> tuple[int, ...]:
    """The first tree with the fewest forbidden arcs (scores[h, m] = -inf) and, of those, with the largest score."""

    def order(heads: tuple[int, ...]) -> tuple[int, float]:
        arcs = [float(scores[h, m]) for m, h in enumerate(heads, 1)]
        allowed = [s for s in arcs if s > -float("inf")]
        return len(allowed), sum(allowed)

    return max(trees(n, projective, one_root), key=order)


# ---------------------------------------------------------------- first order

Sentence = Sequence[Mapping[str, str]]
Feature = tuple[str, ...]


def arc_features(template: ArcTemplate, x: Sentence, h: int, m: int) -> list[Feature]:
    """The features that a template gives the arc from h to m; one comes twice if the word has something twice."""
    columns = {name: [word[name] for word in x] for name in x[0]}
    return [(template.text, name) for name in feature_names(columns, [template], h, m)]


class PlainArcs:
    """The problem of parsing these sentences: φ counts the features that arcs of theirs can have.

    `pruned(x, h, m)` is True for arcs that are used only if there is no tree without one.
    """

    def __init__(
        self,
        templates: Iterable[str],
        sentences: Iterable[Sentence],
        *,
        projective: bool = False,
        one_root: bool = True,
        pruned: Callable[[Sentence, int, int], bool] = lambda x, h, m: False,
    ):
        self.templates = parse_arc_templates(templates)
        self.projective = projective
        self.one_root = one_root
        self.pruned = pruned
        self.numbers: dict[Feature, int] = {}
        self.known: dict[int, tuple[Sentence, dict[tuple[int, int], Any]]] = {}
        for x in sentences:
            self.arcs(x)

    def arcs(self, x: Sentence) -> dict[tuple[int, int], Any]:
        """The numbers of the features of all arcs of a sentence."""
        if id(x) not in self.known:
            pairs = [(h, m) for h in range(len(x) + 1) for m in range(1, len(x) + 1) if h != m]
            named = {arc: [f for template in self.templates for f in arc_features(template, x, *arc)] for arc in pairs}
            self.known[id(x)] = (
                x,
                {
                    arc: np.array([self.numbers.setdefault(f, len(self.numbers)) for f in features], int)
                    for arc, features in named.items()
                },
            )
        return self.known[id(x)][1]

    def joint_feature(self, x: Sentence, y: Sequence[int]) -> Floats:
        arcs = self.arcs(x)
        numbers = np.concatenate([arcs.get((h, m), np.zeros(0, int)) for m, h in enumerate(y, 1)])
        return np.bincount(numbers, minlength=len(self.numbers)).astype(float)

    def scores(self, x: Sentence, w: Floats) -> Floats:
        """scores[h, m] of every arc, pruned or not."""
        scores = np.zeros((len(x) + 1, len(x) + 1))
        for arc, numbers in self.arcs(x).items():
            scores[arc] = w[numbers].sum()
        return scores

    def allowed_scores(self, x: Sentence, w: Floats) -> Floats:
        scores = self.scores(x, w)
        for arc in self.arcs(x):
            if self.pruned(x, *arc):
                scores[arc] = -np.inf
        return scores

    def argmax(self, x: Sentence, w: Floats) -> tuple[int, ...]:
        return best_tree(self.allowed_scores(x, w), len(x), self.projective, self.one_root)

    def k_best(self, x: Sentence, w: Floats, k: int) -> list[tuple[int, ...]]:
        """Trees without pruned arcs, or the best one if there is none."""
        scores = self.allowed_scores(x, w)
        totals = {y: sum(scores[h, m] for m, h in enumerate(y, 1)) for y in self.outputs(x)}
        allowed = sorted((y for y in totals if totals[y] > -np.inf), key=lambda y: -totals[y])
        return allowed[:k] or [self.argmax(x, w)]

    def outputs(self, x: Sentence) -> Iterable[tuple[int, ...]]:
        return trees(len(x), self.projective, self.one_root)


# ---------------------------------------------------------------- second order

Part = tuple[Any, ...]


@functools.lru_cache(maxsize=100_000)
def parts_of(heads: tuple[int, ...]) -> list[Part]:
    """The parts of any choice of heads."""
    parts: list[Part] = []
    children: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for m, h in enumerate(heads, 1):
        parts.append(("arc", h, m))
        children[h].append(m)
        if h and heads[h - 1] != m:
            parts.append(("grandparent", heads[h - 1], h, m))
    for h, modifiers in enumerate(children):
        left, right = [m for m in reversed(modifiers) if m < h], [m for m in modifiers if m > h]
        for is_right, nearest_first in ((False, left), (True, right)):
            parts += [("siblings", h, is_right, m, s) for m, s in pairwise([None, *nearest_first, None])]
    return parts


def word_parts(heads: tuple[int, ...], other: tuple[int, ...]) -> dict[int, list[Part]]:
    """The parts that the tree `heads` has and `other` has not, by the word with a wrong head that each belongs to.

    See `swvp.structures.tree.second_order.parts`.
    """
    wrong = {m for m, (h, g) in enumerate(zip(heads, other, strict=True), 1) if h != g}
    owned: dict[int, list[Part]] = {m: [] for m in wrong}
    shared = set(parts_of(other))
    for part in parts_of(heads):
        if part in shared:
            continue
        kind, *nodes = part
        if kind == "siblings":
            h, right, m, s = nodes
            ends = [h if m is None else m, (len(heads) + 1 if right else 0) if s is None else s]
            between = [c for c in range(min(ends) + 1, max(ends)) if other[c - 1] == h]
            words = [s, m, *sorted(between, key=lambda c: abs(c - h))]
        else:
            words = nodes[:0:-1]  # from the lowest word up, without the highest head
        owned[next(word for word in words if word in wrong)].append(part)
    return owned


def sides_of(h: int, n: int) -> tuple[tuple[bool, range], tuple[bool, range]]:
    """The words on the left and on the right of h, the nearest first."""
    return (False, range(h - 1, 0, -1)), (True, range(h + 1, n + 1))


def all_parts(n: int) -> list[Part]:
    """All parts that choices of heads for n words have."""
    words = range(1, n + 1)
    parts: list[Part] = [("arc", h, m) for h in range(n + 1) for m in words if h != m]
    parts += [("grandparent", g, h, m) for g in range(n + 1) for h in words for m in words if len({g, h, m}) == 3]
    for h in range(n + 1):
        for right, side in sides_of(h, n):
            parts += [("siblings", h, right, m, s) for m, s in combinations([None, *side, None], 2)]
    return parts


def part_features(templates: PartTemplates, x: Sentence, part: Part) -> list[Named]:
    """The features of a part, in the order of the kernels if the templates are; one may come twice."""
    columns: SentenceColumns = {name: [word[name] for word in x] for name in x[0]}
    kind, *nodes = part
    if kind == "grandparent":
        return grandparent_names(columns, templates, *nodes)
    if kind == "siblings":
        h, right, m, s = nodes
        return sibling_names(columns, templates, h, m, s, right)
    features, names = feature_parts(columns, templates.arcs, *nodes), feature_names(columns, templates.arcs, *nodes)
    return [(template.text, name) for (template, _), name in zip(features, names, strict=True)]


class PlainParts:
    """The problem of parsing these sentences: φ counts the features that parts of theirs can have.

    `candidates(x, m)` are the heads that word m may have in a prediction.
    """

    def __init__(
        self,
        templates: Iterable[str],
        sentences: Iterable[Sentence],
        *,
        projective: bool = False,
        one_root: bool = True,
        candidates: Callable[[Sentence, int], Collection[int]] = lambda x, m: range(len(x) + 1),
    ):
        self.templates = parse_part_templates(templates)
        self.projective = projective
        self.one_root = one_root
        self.candidates = candidates
        self.numbers: dict[Named, int] = {}
        self.known: dict[int, tuple[Sentence, dict[Part, Any]]] = {}
        for x in sentences:
            self.parts(x)

    def parts(self, x: Sentence) -> dict[Part, Any]:
        """The numbers of the features of all parts of a sentence."""
        if id(x) not in self.known:
            numbers = {
                part: np.array(
                    [
                        self.numbers.setdefault(feature, len(self.numbers))
                        for feature in part_features(self.templates, x, part)
                    ],
                    int,
                )
                for part in all_parts(len(x))
            }
            self.known[id(x)] = (x, numbers)
        return self.known[id(x)][1]

    def joint_feature(self, x: Sentence, y: Sequence[int]) -> Floats:
        parts = self.parts(x)
        numbers = np.concatenate([parts[part] for part in parts_of(tuple(y))])
        return np.bincount(numbers, minlength=len(self.numbers)).astype(float)

    def scores(self, x: Sentence, w: Floats) -> dict[Part, float]:
        """The score of each part."""
        return {part: float(w[numbers].sum()) for part, numbers in self.parts(x).items()}

    def argmax(self, x: Sentence, w: Floats) -> tuple[int, ...]:
        """The first of the best trees."""
        scores = self.scores(x, w)
        return max(self.outputs(x), key=lambda y: sum(scores[part] for part in parts_of(y)))

    def k_best(self, x: Sentence, w: Floats, k: int) -> list[tuple[int, ...]]:
        scores = self.scores(x, w)
        return sorted(self.outputs(x), key=lambda y: -sum(scores[part] for part in parts_of(y)))[:k]

    def outputs(self, x: Sentence) -> Iterable[tuple[int, ...]]:
        """The trees of candidates."""
        allowed = [set(self.candidates(x, m)) for m in range(1, len(x) + 1)]
        all_trees = trees(len(x), self.projective, self.one_root)
        return (y for y in all_trees if all(h in heads for h, heads in zip(y, allowed, strict=True)))
