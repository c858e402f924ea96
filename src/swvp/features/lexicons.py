"""What a tagger knows about the words of its training set: the labels that each word had, and its cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.features.clusters import cluster_ids
from swvp.types import Int32s, Ints

__all__ = ["Columns", "Lexicon", "clusters_of", "learn_tags"]

FREQUENT, SHARE = 5, 0.05
"""How often a word must occur, and what share of its occurrences a label must have, to be remembered."""


class Columns(NamedTuple):
    """A corpus by columns: per column the distinct strings and which of them each position has."""

    names: tuple[str, ...]
    strings: list[list[str]]
    ids: Int32s  # (columns, positions)
    offsets: Ints


Lexicon = dict[str, str]


def learn_tags(columns: Columns, column: str, names: Sequence[str], labels: NDArray[np.integer]) -> Lexicon:
    """The labels of each word in lower case, the most frequent first, as one string.

    Only words that occur FREQUENT times, and labels of at least SHARE of their occurrences: the label of a rare word
    would predict itself in training and be useless later.
    """
    at = columns.names.index(column)
    number: dict[str, int] = {}
    of_string = np.array([number.setdefault(string.lower(), len(number)) for string in columns.strings[at]], np.int64)
    pairs, counts = np.unique(of_string[columns.ids[at]] * len(names) + labels, return_counts=True)
    words, tags = np.divmod(pairs, max(len(names), 1))
    totals = np.bincount(words, counts, minlength=len(number))
    frequent = (totals[words] >= FREQUENT) & (counts >= SHARE * totals[words])
    tags_of: dict[int, list[tuple[int, str]]] = {}
    for word, tag, count in zip(
        words[frequent].tolist(), tags[frequent].tolist(), counts[frequent].tolist(), strict=True
    ):
        tags_of.setdefault(word, []).append((-count, str(names[tag])))
    strings = list(number)
    return {strings[word]: "|".join(name for _, name in sorted(pairs)) for word, pairs in tags_of.items()}


def clusters_of(columns: Columns, column: str, given: int | Mapping[str, str]) -> Lexicon:
    """The cluster of each word of a column: the given paths, or that many clusters learnt from the column."""
    if isinstance(given, Mapping):
        return dict(given)
    at = columns.names.index(column)
    return cluster_ids(columns.strings[at], columns.ids[at], columns.offsets, given)
