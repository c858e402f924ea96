"""The arc-factored model by definition, in plain Python: features are pairs of strings, trees are enumerated.

A sentence is a list of words, each a mapping of its columns: word, lemma, pos, tag, feats. Word k is x[k - 1], the root
is 0. A feature is the text of its template and its name (`swvp.structures.tree.first_order.names`). The tests compare
`swvp.structures.tree.first_order.model` with it, for short sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from swvp.features.parser_templates import ArcTemplate, parse_arc_templates
from swvp.structures.tree.first_order.names import feature_names
from swvp.structures.tree.reference.trees import best_tree, trees
from swvp.types import Floats

__all__ = ["Feature", "PlainArcs", "Sentence", "arc_features"]

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
