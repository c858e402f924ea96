"""The first-order model: a tree is scored by its arcs, one by one, and the best tree is found exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.features.parser_templates import parse_arc_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.io.treebank import Treebank
from swvp.parsing.tree_model import (
    FeatureWeights,
    Pruner,
    RankedTree,
    Ranks,
    TreeKind,
    columns_of,
    node_names,
    seen_arcs,
    sentence_columns,
)
from swvp.structures.tree.decoding.k_best import best_allowed, k_best
from swvp.structures.tree.encoding import Nodes, Pruned, all_allowed, encode, forbidden, pruned, slots_of, tables_of
from swvp.structures.tree.first_order.features import SentenceColumns, feature_names, node_keys
from swvp.structures.tree.first_order.model import ArcModel, Arcs, decode, new_model, predict_all
from swvp.structures.tree.first_order.probabilities import (
    arc_weights,
    rescued,
    score_all,
    table_of,
    tables_begin,
    weights_from,
)
from swvp.tables import WeightTable
from swvp.training.options import in_shares
from swvp.types import Floats, Heads

__all__ = ["FirstOrderModel", "contributions"]

NO_HEAD = "(none)"
EXPLANATION = "What decided the heads: weight on the arc from the head minus weight on that from the second best"
EXPLANATION_COLUMNS = ("word", "head", "score", "second", "its score", "feature", "difference")


class FirstOrderModel:
    """Templates of arcs, and which arcs pruning leaves; `swvp.parsing.tree_model.TreeModel` documents its methods."""

    order: ClassVar[int] = 1
    description: ClassVar[str] = "first order (arcs)"
    structure: ClassVar[type] = Arcs
    default_rule: ClassVar[str] = "a-uniform:mira"
    default_features: ClassVar[str] = "first-order"
    presets: ClassVar[Mapping[str, Sequence[str]]] = PRESETS
    uses_pruner: ClassVar[bool] = False
    searches_exactly: ClassVar[bool] = True

    def __init__(self, templates: Sequence[str], ranks: Ranks, pruner: Pruner | None = None):
        self.templates, self.tables = tables_of(parse_arc_templates(templates))
        self.slots = slots_of(self.templates)
        self.ranks = ranks
        self.longest = all_allowed()
        self.pruner: Pruner | None = None

    @classmethod
    def check_templates(cls, templates: Sequence[str], where: str) -> None:
        parse_arc_templates(templates, where=where)

    def encode(self, treebank: Treebank) -> Nodes:
        return encode(columns_of(treebank), treebank.offsets, self.templates, self.ranks, self.slots)

    def learn_pruning(self, nodes: Nodes, heads: Heads, *, prune: bool, warm_start: bool, random_state: Any) -> Self:
        before = self.longest if warm_start else None
        return self.prune_by(seen_arcs(nodes, heads, self.ranks, prune=prune, before=before))

    def prune_by(self, longest: NDArray[np.int32]) -> Self:
        self.longest = longest
        self.tables = self.tables._replace(longest=longest)
        return self

    def problem(self, nodes: Nodes, heads: Heads, kind: TreeKind, *, margin: float = 0.0, n_jobs: int = 1) -> Arcs:
        return Arcs(nodes, self.tables, heads, *kind, margin)

    def new_weights(self, problem: Arcs, size: int, *, exact: bool, parts: bool) -> ArcModel:
        return new_model(problem, size, exact=exact)

    def predict(self, problem: Arcs, weights: FeatureWeights, n_jobs: int) -> Heads:
        """Return the heads of the best trees; where every tree has a pruned arc, of the best with the fewest."""
        starts = problem.nodes.starts
        heads = np.zeros(len(problem.nodes.flags) - len(starts) + 1, np.int32)

        def predict(first: int, end: int) -> None:
            predict_all(problem, kernel_model(problem, weights), first, end, heads)

        in_shares(predict, len(starts) - 1, n_jobs)
        is_pruned = forbidden(problem.tables.longest, problem.nodes.kinds, starts, heads)
        first_words = starts - np.arange(len(starts))
        if is_pruned.any():
            for i in np.flatnonzero(np.logical_or.reduceat(is_pruned, first_words[:-1])).tolist():
                scores, _ = rescued(problem, kernel_model(problem, weights), i)
                tree = heads[first_words[i] : first_words[i + 1]]
                decode(scores, len(tree), problem.projective, problem.one_root, tree)
        return heads

    def certified_share(self, problem: Arcs, weights: FeatureWeights, n_jobs: int) -> float:
        return 1.0

    def pruned(self, problem: Arcs, heads: Heads) -> Pruned:
        return pruned(self.longest, problem.nodes.kinds, problem.nodes.starts, heads)

    def k_best(self, problem: Arcs, weights: FeatureWeights, k: int, n_jobs: int) -> list[list[RankedTree]]:
        scores, begins = arc_scores(problem, weights, n_jobs), tables_begin(problem)
        ranked: list[list[RankedTree]] = [[] for _ in range(len(begins) - 1)]

        def rank(first: int, end: int) -> None:
            for i in range(first, end):
                ranked[i] = k_best_trees(table_of(scores, begins, i), k, problem)

        in_shares(rank, len(ranked), n_jobs)
        without_tree = [i for i, trees in enumerate(ranked) if not trees]
        if without_tree:
            model = kernel_model(problem, weights)
            for i in without_tree:
                ranked[i] = fewest_pruned(*rescued(problem, model, i), k, problem)
        return ranked

    def arc_model(self, problem: Arcs, weights: FeatureWeights) -> tuple[Arcs, FeatureWeights]:
        return problem, weights

    def explain(
        self, treebank: Treebank, problem: Arcs, weights: FeatureWeights, words: Iterable[int], n: int
    ) -> WeightTable:
        """Return, for each word, the n features that speak most for its head or against the second-best one.

        The second-best head is the one in the best tree without the arc; other arcs of that tree may differ too, so the
        arc from it may have the higher score. A row is one feature: its weight on the first arc minus that on the
        second.
        """
        heads = self.predict(problem, weights, 1).tolist()
        model, sentence = kernel_model(problem, weights), sentence_columns(treebank, 0)
        scores = table_of(arc_scores(problem, weights), tables_begin(problem), 0)
        if np.isneginf(scores[heads, np.arange(1, len(heads) + 1)]).any():  # every tree has a pruned arc
            scores, _ = rescued(problem, model, 0)
        names = node_names(sentence)

        def features(head: int, word: int) -> list[tuple[str, float]]:
            return contributions(self.templates, problem, model, sentence, 0, head, word)

        rows: list[tuple[Any, ...]] = []
        for word in words:
            head = heads[word - 1]
            second = second_best_head(scores, head, word, problem)
            for_head = features(head, word)
            for_second = [] if second is None else features(second, word)
            arc = (names[word], names[head], total(for_head))
            against = (NO_HEAD, "") if second is None else (names[second], total(for_second))
            rows += [(*arc, *against, *feature) for feature in largest_differences(for_head, for_second, n)]
        return WeightTable(EXPLANATION, EXPLANATION_COLUMNS, rows)

    def top_features(self, treebank: Treebank, problem: Arcs, weights: FeatureWeights, n: int) -> WeightTable:
        """Return the n features with the largest |weight| on the arcs of the sentences that are not pruned."""
        model = kernel_model(problem, weights)
        longest = int(np.diff(problem.nodes.starts).max(initial=1))
        keys = np.zeros(longest * len(model.buffers.features), np.uint64)
        values, arcs = np.zeros(len(keys)), np.zeros((len(keys), 2), np.int64)
        heaviest: dict[int, tuple[float, int, int, int, int]] = {}  # key: (weight, sentence, head, word, number)
        for i in range(treebank.number_of_sentences if n else 0):
            first = int(problem.nodes.starts[i])
            size = int(problem.nodes.starts[i + 1]) - first
            node_keys(problem.nodes, problem.tables, first, size - 1, model.buffers)
            for head in range(size):
                count = weights_from(problem, model, i, head, keys, values, arcs)
                least = min((abs(weight) for weight, *_ in heaviest.values()), default=0.0)
                for place in places_above(values[:count], least if len(heaviest) >= n else 0.0):
                    word, number = arcs[place].tolist()
                    heaviest.setdefault(int(keys[place]), (float(values[place]), i, head, word, number))
                if len(heaviest) > n:
                    heaviest = dict(sorted(heaviest.items(), key=lambda item: -abs(item[1][0]))[:n])
        rows = [
            (feature_names(sentence_columns(treebank, i), self.templates, head, word)[number], weight)
            for weight, i, head, word, number in heaviest.values()
        ]
        rows.sort(key=lambda row: (-abs(row[1]), row[0]))
        return WeightTable("Features with the largest weights on these sentences", ("feature", "weight"), rows)


def k_best_trees(scores: Floats, k: int, kind: Arcs | TreeKind) -> list[RankedTree]:
    """Return the k best trees of a sentence, best first; none if every tree has a pruned arc."""
    n = len(scores) - 1
    most = min(int(k), (n + 1) ** (n - 1))  # no sentence has more trees
    try:
        out = np.zeros((most, n), np.int64)
        count = k_best(scores, n, most, kind.projective, kind.one_root, out)
    except (MemoryError, ValueError, OverflowError):
        raise InputError(f"the {k} best trees of {n} words do not fit into memory: ask for fewer") from None
    trees = out[:count].astype(np.int32)
    totals = scores[trees, np.arange(1, n + 1)].sum(axis=1).tolist()
    return list(zip(trees, totals, strict=True))


def fewest_pruned(scores: Floats, lowered: Floats, k: int, problem: Arcs) -> list[RankedTree]:
    """Return the k best of the trees with the fewest pruned arcs, where every tree has one.

    `scores` are those of `rescued`, and `lowered` what they are lower by for pruned arcs.
    """
    words = np.arange(1, len(scores))
    ranked = k_best_trees(scores, k, problem)
    amounts = [float(lowered[heads, words].sum()) for heads, _ in ranked]
    return [
        (heads, score + amount)
        for (heads, score), amount in zip(ranked, amounts, strict=True)
        if amount <= amounts[0]  # trees with more pruned arcs are left out
    ]


def contributions(
    templates: Sequence[Any], problem: Arcs, model: ArcModel, sentence: SentenceColumns, i: int, head: int, word: int
) -> list[tuple[str, float]]:
    """Return the features of an arc of sentence i with their weights, whose sum is the score of the arc."""
    weights = np.zeros(len(model.buffers.features))
    count = arc_weights(problem, model, i, head, word, weights)
    return list(zip(feature_names(sentence, templates, head, word), weights[:count].tolist(), strict=True))


def second_best_head(scores: Floats, head: int, word: int, problem: Arcs) -> int | None:
    """Return the head of a word in the best tree without the arc from `head`, or None if there is no such tree."""
    allowed, heads = scores.copy(), np.zeros(len(scores) - 1, np.int64)
    allowed[head, word] = -np.inf
    has_tree = best_allowed(allowed, len(heads), problem.projective, problem.one_root, heads)
    return int(heads[word - 1]) if has_tree else None


def total(features: Sequence[tuple[str, float]]) -> float:
    return sum((weight for _, weight in features), 0.0)


def largest_differences(
    first: Sequence[tuple[str, float]], second: Sequence[tuple[str, float]], n: int
) -> list[tuple[str, float]]:
    """Return the n features whose weights differ most between two arcs, with the difference."""
    difference: dict[str, float] = {}
    for sign, features in ((1.0, first), (-1.0, second)):
        for name, weight in features:
            difference[name] = difference.get(name, 0.0) + sign * weight
    return sorted((item for item in difference.items() if item[1] != 0), key=lambda item: -abs(item[1]))[:n]


def places_above(weights: Floats, least: float) -> list[int]:
    """Return the places of the weights whose absolute value is above `least`, the largest first."""
    size = np.abs(weights)
    places = np.flatnonzero(size > least)
    return places[np.argsort(-size[places], kind="stable")].tolist()  # type: ignore[no-any-return]


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
