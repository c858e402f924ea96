"""Owns looking into a tagger: the heaviest features and transitions, and the features behind one prediction."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from swvp.errors import InputError, unknown_name
from swvp.scoring.weights import WeightTable, check_count
from swvp.structures.chain.attributes import AttributeChain

__all__ = ["explain", "top_features", "top_transitions"]

EDGE = "(edge)"


def top_features(tagger: Any, label: Any = None, n: int = 20) -> WeightTable:
    """The attributes with the largest |weight|, of one label or of all."""
    check_count("n", n)
    columns = range(len(tagger.classes_)) if label is None else [number_of(tagger, label)]
    weights = tagger.coef_ if label is None else tagger.coef_[:, columns]
    found = np.flatnonzero(weights)  # most weights are 0, and there is no room to sort them all
    values = weights.reshape(-1)[found]
    best = np.lexsort((found, -np.abs(values)))[:n]
    attributes, places = np.unravel_index(found[best], weights.shape)
    names = tagger.encoder_.names(attributes.tolist())
    rows = [
        (tagger.classes_[columns[k]], name, float(value))
        for name, k, value in zip(names, places, values[best], strict=True)
    ]
    return WeightTable("Features with the largest weights", ("label", "feature", "weight"), rows)


def top_transitions(tagger: Any, n: int = 20) -> WeightTable:
    """The transitions with the largest |weight|; (edge) is before the first and after the last token."""
    check_count("n", n)
    weights = np.where(np.isfinite(tagger.barrier_), tagger.transitions_, 0.0)
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")[:n]
    names = [*map(str, tagger.classes_), EDGE]
    pairs = zip(*np.unravel_index(order, weights.shape), strict=True)
    rows = [(names[a], names[b], float(weights[a, b])) for a, b in pairs if weights[a, b] != 0]
    return WeightTable("Transitions with the largest weights", ("from", "to", "weight"), rows)


def explain(
    tagger: Any, problem: AttributeChain, words: list[str], position: int | None = None, n: int = 5
) -> WeightTable:
    """For each token of one sentence, what spoke for its label and against the label that came second.

    The second is the label with the next highest score at this token, everything else as predicted. A row is one
    feature, with its weight for the first label minus that for the second; the n largest are shown for each token.
    """
    check_count("n", n)
    predicted = tagger._predict_ids(problem, tagger._weights()).astype(int)
    size, edge = len(predicted), len(tagger.classes_)
    if position is not None and not (isinstance(position, numbers.Integral) and 0 <= position < size):
        raise InputError(f"there is no token {position}: the sentence has {size}")
    moves = tagger.transitions_ + tagger.barrier_
    words = words or [str(t) for t in range(size)]
    rows: list[tuple[Any, ...]] = []
    for t in range(size) if position is None else [position]:
        attributes = problem.attributes[problem.starts[t] : problem.starts[t + 1]]
        values = problem.values[problem.starts[t] : problem.starts[t + 1]] if len(problem.values) else 1.0
        weights = tagger.coef_[attributes] * np.reshape(values, (-1, 1))
        before = predicted[t - 1] if t else edge
        after = predicted[t + 1] if t + 1 < size else edge
        score = weights.sum(axis=0) + moves[before, :edge] + moves[:edge, after]
        first = predicted[t]
        others = [k for k in np.argsort(-score, kind="stable") if k != first]
        second = int(others[0]) if others else int(first)
        labels = (tagger.classes_[first], tagger.classes_[second])
        parts = list(
            zip(tagger.encoder_.names(attributes.tolist()), weights[:, first] - weights[:, second], strict=True)
        )
        before_name, after_name = ([*tagger.classes_, EDGE][k] for k in (before, after))
        if np.isfinite(score[second]):
            parts.append((f"after {before_name}", moves[before, first] - moves[before, second]))
            parts.append((f"before {after_name}", moves[first, after] - moves[second, after]))
        parts = sorted((part for part in parts if part[1] != 0), key=lambda part: -abs(part[1]))[:n]
        rows += [(words[t], *labels, name, float(weight)) for name, weight in parts]
    title = "What decided the labels: weight for the label minus weight for the second best"
    return WeightTable(title, ("token", "label", "second", "feature", "difference"), rows)


def number_of(tagger: Any, label: Any) -> int:
    if label not in tagger.classes_:
        raise unknown_name("label", str(label), [str(name) for name in tagger.classes_])
    return int(tagger.classes_.index(label))
