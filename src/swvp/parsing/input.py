"""The X and y of a parser as a treebank: treebanks, files, texts, or sentences and their trees."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from swvp.errors import InputError
from swvp.io.table import Column
from swvp.parsing.checks import check_trees
from swvp.parsing.tokens import check_lists
from swvp.parsing.tree import DependencyTree
from swvp.parsing.treebank import DEPREL, Treebank, read_treebank, treebank_of, treebank_of_table

__all__ = ["Sentences", "dev_set_from", "treebank_from"]

Sentences = Any
"""A `Treebank`, the text of a CoNLL-U file or its path, or a list of sentences: lists of tokens."""


def treebank_from(X: Sentences, y: Any = None, *, heads: bool | None) -> Treebank:
    """Return X and y as a treebank: with heads, without, or, if `heads` is None, with heads if X has them."""
    if isinstance(X, (Treebank, str, Path)):
        if y is not None:
            raise InputError("y is for sentences as lists of tokens: a treebank has its own heads")
        if isinstance(X, Treebank):
            return with_checked_trees(X) if heads else X
        return from_text(X, heads)
    if heads and y is None:
        raise InputError("y is missing: give the heads of each sentence")
    check_lists("the sentences", X, "sentences")
    if y is None:
        return treebank_of(X) if len(X) else empty_treebank()
    check_lists("y", y, "trees, one for each sentence")
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} sentences and y has {len(y)}")
    trees = [tree_of(tree, i) for i, tree in enumerate(y)]
    labelled = [labels is not None for _, labels in trees]
    if any(labelled) and not all(labelled):
        raise InputError(f"sentence {labelled.index(False)} of y has no labels, others have")
    return treebank_of(X, [tree for tree, _ in trees], [labels for _, labels in trees] if any(labelled) else None)


def dev_set_from(dev: Any) -> Treebank | None:
    """Return the `dev` of `fit`, a treebank or a pair (X, y), as a treebank with heads."""
    return None if dev is None else treebank_from(*(dev if isinstance(dev, tuple) else (dev,)), heads=True)


def with_checked_trees(treebank: Treebank) -> Treebank:
    """Return a treebank made by a user; raise InputError if its heads are not trees."""
    heads = np.asarray(treebank.trees)
    if heads.shape != (treebank.tokens,) or heads.dtype.kind not in "iu":
        raise InputError(f"{treebank.name}: heads must be whole numbers, one for each of its {treebank.tokens} words")
    check_trees(heads, treebank.offsets, treebank.place)
    return treebank.with_trees(heads.astype(np.int32, copy=False), treebank.labels)


def from_text(X: str | Path, heads: bool | None) -> Treebank:
    """Return the treebank of a text or a file. If `heads` is None, heads that are not trees are ignored."""
    is_text = isinstance(X, str) and ("\t" in X or "\n" in X)
    if heads is not None:
        return Treebank.from_text(str(X), heads=heads) if is_text else read_treebank(X, heads=heads)
    without = Treebank.from_text(str(X), heads=False) if is_text else read_treebank(X, heads=False)
    assert without.table is not None
    try:
        return treebank_of_table(without.table, heads=True) if without.table.width > DEPREL else without
    except InputError:
        return without


def empty_treebank() -> Treebank:
    """Return a treebank without sentences, which only prediction accepts."""
    empty = Column([], np.zeros(0, np.int32))
    return Treebank(empty, empty, empty, empty, empty, np.zeros(1, np.int64))


def tree_of(tree: Any, number: int) -> tuple[list[Any], list[str] | None]:
    """Return the heads and the labels of one item of y: heads, pairs (head, label), or a `DependencyTree`."""
    if isinstance(tree, DependencyTree):
        return list(tree.heads), None if tree.labels is None else list(tree.labels)
    if isinstance(tree, (str, bytes)) or (not isinstance(tree, Sequence) and not hasattr(tree, "__iter__")):
        raise InputError(f"sentence {number} of y must be a list of heads, not {tree!r}")
    tokens = list(tree)
    if all(isinstance(token, (tuple, list)) and len(token) == 2 for token in tokens) and tokens:
        return [head for head, _ in tokens], [label for _, label in tokens]
    if not all(isinstance(token, numbers.Integral) for token in tokens):
        raise InputError(f"sentence {number} of y must be a list of heads, or of pairs (head, label)")
    return tokens, None
