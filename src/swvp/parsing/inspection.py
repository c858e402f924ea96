"""Owns looking into a parser: the features behind the arcs of a sentence, and the heaviest ones of some sentences."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from swvp.errors import InputError
from swvp.features.context import Columns
from swvp.parsing.features import columns_of
from swvp.parsing.k_best import NEAR, OneSentence
from swvp.parsing.probabilities import arc_scores, model_of
from swvp.parsing.treebank import Treebank
from swvp.structures.tree.decoding.dual_decomposition import LONG
from swvp.structures.tree.decoding.k_best import best_allowed
from swvp.structures.tree.first_order.distributions import arc_weights, rescued, table_of, tables_begin, weights_from
from swvp.structures.tree.first_order.features import node_keys
from swvp.structures.tree.first_order.model import ArcModel, Arcs
from swvp.structures.tree.first_order.names import SentenceColumns, feature_names
from swvp.structures.tree.reference.parts import parts_of
from swvp.structures.tree.second_order.model import SecondOrder
from swvp.tables import WeightTable, check_count
from swvp.types import Floats

__all__ = ["contributions", "explain", "sentence_columns", "top_features"]

ROOT, NO_HEAD = "0 (root)", "(none)"
MOST_STEPS = 20_000_000
"""So sentences of up to 271 words are explained whole."""


def sentence_columns(treebank: Treebank, i: int, columns: Columns | None = None) -> SentenceColumns:
    """The columns of one sentence by the names of templates; `columns` are those of the treebank, if at hand."""
    part = treebank.sentence(i)
    columns = columns_of(treebank) if columns is None else columns
    return {name: [strings[k] for k in ids[part].tolist()] for name, (strings, ids) in columns.items()}


def contributions(
    parser: Any, problem: Arcs, model: ArcModel, sentence: SentenceColumns, i: int, h: int, m: int
) -> list[tuple[str, float]]:
    """The features of an arc and their weights, whose sum is its score."""
    weights = np.zeros(len(model.buffers.features))
    count = arc_weights(problem, model, i, h, m, weights)
    return list(zip(feature_names(sentence, parser.templates_, h, m), weights[:count].tolist(), strict=True))


def explain(parser: Any, treebank: Treebank, word: int | None = None, n: int = 5) -> WeightTable:
    """For each word of the first sentence, what spoke for its head and against the best other one.

    The other head is the one in the best tree that is without the arc; other arcs of that tree may differ as well, so
    the arc from it may have the higher score. A row is one feature, with its weight on the first arc minus that on the
    second; the n largest are shown for each word.
    """
    check_count("n", n)
    problem = parser._encoded(treebank)
    size = treebank.sentence(0).stop
    if word is not None and not (isinstance(word, numbers.Integral) and 1 <= word <= size):
        raise InputError(f"there is no word {word!r}: the sentence has words 1 to {size}")
    words = range(1, words_explained(size) + 1) if word is None else [int(word)]
    some = f" (the first {len(words)} of {size} words)" if word is None and len(words) < size else ""
    if isinstance(problem, SecondOrder):
        return explain_parts(parser, problem, treebank, words, n, some)
    heads = parser._predict_heads(problem, parser.coef_, parser.owners_)[:size].tolist()
    model, sentence = model_of(parser, problem), sentence_columns(treebank, 0)
    scores = table_of(arc_scores(parser, problem), tables_begin(problem), 0)
    if np.isneginf(scores[heads, np.arange(1, size + 1)]).any():  # every tree has a pruned arc
        scores, _ = rescued(problem, model, 0)
    shown = [ROOT, *(f"{k} {text}" for k, text in enumerate(sentence["word"], 1))]
    rows: list[tuple[Any, ...]] = []
    for m in words:
        head = heads[m - 1]
        other = other_head(scores, head, m, problem)
        first = contributions(parser, problem, model, sentence, 0, head, m)
        second = contributions(parser, problem, model, sentence, 0, other, m) if other is not None else []
        difference: dict[str, float] = {}
        for sign, parts in ((1.0, first), (-1.0, second)):
            for name, weight in parts:
                difference[name] = difference.get(name, 0.0) + sign * weight
        largest = sorted((part for part in difference.items() if part[1] != 0), key=lambda part: -abs(part[1]))[:n]
        arc = (shown[m], shown[head], total(first))
        against = (NO_HEAD, "") if other is None else (shown[other], total(second))
        rows += [(*arc, *against, *part) for part in largest]
    title = "What decided the heads: weight on the arc from the head minus weight on that from the second best"
    return WeightTable(title + some, ("word", "head", "score", "second", "its score", "feature", "difference"), rows)


def words_explained(size: int) -> int:
    """How many words of a sentence are explained at once: another tree is searched for each, in about size² steps."""
    return min(size, max(1, MOST_STEPS // size**2))


def explain_parts(
    parser: Any, problem: SecondOrder, treebank: Treebank, words: Iterable[int], n: int, some: str
) -> WeightTable:
    """The same for second order: a row is a feature with its weight in the tree minus that in the best other one."""
    sentence, columns = OneSentence(parser, problem, 0), sentence_columns(treebank, 0)
    shown = [ROOT, *(f"{k} {text}" for k, text in enumerate(columns["word"], 1))]
    best = sentence.solve(sentence.choices)
    rows: list[tuple[Any, ...]] = []
    for m in words if best is not None else []:
        heads, score = best  # type: ignore[misc]
        other = sentence.without(heads, m)
        if other is None:
            rows.append((shown[m], shown[heads[m - 1]], NO_HEAD, 0.0, "no other head is left by pruning", 0.0))
            continue
        largest = sorted(sentence.difference(columns, heads, other[0]), key=lambda part: -abs(part[1]))[:n]
        arc = (shown[m], shown[heads[m - 1]], shown[other[0][m - 1]], score - other[1])
        rows += [(*arc, *part) for part in largest]
    title = "What decided the heads: weight in the tree minus weight in the best tree without the arc"
    if sentence.n > LONG:
        title += f", which differs within {NEAR} words"
    return WeightTable(title + some, ("word", "head", "second", "wins by", "feature", "difference"), rows)


def top_parts(parser: Any, problem: SecondOrder, treebank: Treebank, n: int) -> WeightTable:
    """The features with the largest |weight| on the parts of the trees of the sentences."""
    best: dict[str, float] = {}
    columns = columns_of(treebank)
    for i in range(treebank.number_of_sentences if n else 0):
        sentence = OneSentence(parser, problem, i)
        found = sentence.solve(sentence.choices)
        if found is not None:
            parts = parts_of(found[0])
            for features in sentence.named(sentence_columns(treebank, i, columns), parts, [found[0]]):
                best |= dict(features)
            best = dict(sorted(best.items(), key=lambda item: (-abs(item[1]), item[0]))[:n])
    title = "Features with the largest weights on the trees of these sentences"
    return WeightTable(title, ("feature", "weight"), [row for row in best.items() if row[1]])


def other_head(scores: Floats, head: int, m: int, problem: Arcs) -> int | None:
    """The head of m in the best tree without the arc from `head`, if there is such a tree."""
    allowed, heads = scores.copy(), np.zeros(len(scores) - 1, np.int64)
    allowed[head, m] = -np.inf
    found = best_allowed(allowed, len(heads), problem.projective, problem.one_root, heads)
    return int(heads[m - 1]) if found else None


def total(parts: Sequence[tuple[str, float]]) -> float:
    return sum((weight for _, weight in parts), 0.0)


def top_features(parser: Any, treebank: Treebank, n: int = 20) -> WeightTable:
    """The features with the largest |weight| on the arcs of the sentences that are not pruned."""
    check_count("n", n)
    problem = parser._encoded(treebank)
    if isinstance(problem, SecondOrder):
        return top_parts(parser, problem, treebank, n)
    model = model_of(parser, problem)
    longest = int(np.diff(problem.nodes.starts).max(initial=1))
    keys = np.zeros(longest * len(model.buffers.features), np.uint64)
    weights, arcs = np.zeros(len(keys)), np.zeros((len(keys), 2), np.int64)
    best: dict[int, tuple[float, int, int, int, int]] = {}  # key: (weight, sentence, head, modifier, number)
    for i in range(treebank.number_of_sentences if n else 0):
        first = int(problem.nodes.starts[i])
        size = int(problem.nodes.starts[i + 1]) - first
        node_keys(problem.nodes, problem.tables, first, size - 1, model.buffers)
        for h in range(size):
            count = weights_from(problem, model, i, h, keys, weights, arcs)
            for place in heaviest(weights[:count], n, min((abs(w) for w, *_ in best.values()), default=0.0), len(best)):
                m, number = arcs[place].tolist()
                best.setdefault(int(keys[place]), (float(weights[place]), i, h, m, number))
            if len(best) > n:
                best = dict(sorted(best.items(), key=lambda item: -abs(item[1][0]))[:n])
    rows = []
    for weight, i, h, m, number in best.values():
        rows.append((feature_names(sentence_columns(treebank, i), parser.templates_, h, m)[number], weight))
    rows.sort(key=lambda row: (-abs(row[1]), row[0]))
    return WeightTable("Features with the largest weights on these sentences", ("feature", "weight"), rows)


def heaviest(weights: Floats, n: int, least: float, there: int) -> list[int]:
    """The places of weights that may be among the n heaviest, if `there` are so many already, of at least `least`."""
    size = np.abs(weights)
    found = np.flatnonzero(size > (least if there >= n else 0.0))
    return found[np.argsort(-size[found], kind="stable")].tolist()  # type: ignore[no-any-return]
