"""Several parsers in one model: they differ in the seed of their training, and vote.

Each parser has one vote for the head of each word. The tree of the ensemble is the one with the most votes for its
arcs, a maximum spanning tree over them (Sagae and Lavie 2006), so it is a tree of the kind that each parser predicts:
projective or not, with one root or several. Of trees with the same number of votes it is the one with more arcs of the
first parser. Then each parser labels the arcs of this tree, and the label with the most votes is chosen; of labels with
as many votes, that of the earliest parser.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from swvp.errors import InputError, is_whole, shown
from swvp.io.table import Column
from swvp.learning.perceptron import generator
from swvp.parsing.tree_model import TreeKind
from swvp.structures.tree.first_order.model import decode
from swvp.types import Floats, Heads, Ints

__all__ = ["MOST_PARSERS", "check_ensemble", "seeds_of", "vote_tables", "voted_heads", "voted_labels"]

MOST_PARSERS = 100


def check_ensemble(size: Any) -> None:
    """Raise InputError if this cannot be the number of parsers."""
    if not is_whole(size) or size > MOST_PARSERS:
        raise InputError(f"ensemble must be a whole number from 1 to {MOST_PARSERS}, not {shown(size)}")


def seeds_of(random_state: Any, size: int) -> list[int]:
    """Return the seeds of the parsers of an ensemble after the first one, whose seed is `random_state` itself."""
    return [int(seed) for seed in generator(random_state).integers(2**32, size=size - 1)]


def vote_tables(votes: Sequence[Heads], offsets: Ints) -> list[Floats]:
    """Return a table for each sentence: [h, m] is the number of parsers for which h is the head of m.

    Arcs of the first parser count a little more, together less than one vote.
    """
    tables = []
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        words = np.arange(1, end - start + 1)
        table = np.zeros((len(words) + 1, len(words) + 1))
        table[votes[0][start:end], words] = 2.0 ** -(len(words).bit_length() + 1)
        for heads in votes:
            table[heads[start:end], words] += 1.0
        tables.append(table)
    return tables


def voted_heads(votes: Sequence[Heads], offsets: Ints, kind: TreeKind) -> Heads:
    """Return the heads of the trees with the most votes; `votes` are the heads of all words by each parser."""
    result = np.zeros(len(votes[0]), np.int32)
    for table, start in zip(vote_tables(votes, offsets), offsets.tolist(), strict=False):
        heads = np.zeros(len(table) - 1, np.int64)
        decode(table, len(heads), kind.projective, kind.one_root, heads)
        result[start : start + len(heads)] = heads
    return result


def voted_labels(votes: Sequence[Column]) -> Column:
    """Return the labels with the most votes; all parsers number the labels in the same way."""
    ids = np.array([column.ids for column in votes])
    counts = (ids[:, None, :] == ids[None, :, :]).sum(axis=0)  # [k, w]: the votes for the label of parser k
    return Column(votes[0].strings, ids[counts.argmax(axis=0), np.arange(ids.shape[1])])
