"""Owns parts of a treebank: some of its sentences as a treebank of their own."""

from __future__ import annotations

import dataclasses

import numpy as np

from swvp.data.table import Column
from swvp.parsing.checks import Ints
from swvp.parsing.treebank import Treebank

__all__ = ["some"]

COLUMNS = ("words", "lemmas", "upos", "xpos", "feats", "labels")


def some(treebank: Treebank, sentences: Ints) -> Treebank:
    """These sentences of a treebank, in this order, as if there had never been others.

    >>> from swvp.parsing.treebank import treebank_of
    >>> whole = treebank_of([["a"], ["b", "c"]], heads=[[0], [2, 0]])
    >>> some(whole, np.array([1])).words.strings
    ['b', 'c']
    """
    lengths = np.diff(treebank.offsets)[sentences]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(treebank.offsets.dtype)
    tokens = np.repeat(treebank.offsets[sentences] - offsets[:-1], lengths) + np.arange(offsets[-1])

    def part(column: Column | None) -> Column | None:
        if column is None:
            return None
        kept, ids = np.unique(column.ids[tokens], return_inverse=True)
        return Column([column.strings[number] for number in kept], ids.reshape(-1).astype(np.int32))

    columns = {name: part(getattr(treebank, name)) for name in COLUMNS}
    heads = None if treebank.heads is None else treebank.heads[tokens]
    return dataclasses.replace(treebank, **columns, offsets=offsets, heads=heads, table=None)  # type: ignore[arg-type]
