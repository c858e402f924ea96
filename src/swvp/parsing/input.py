"""Owns what a parser's users give from Python: treebanks, files, texts, or sentences and their heads."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swvp.errors import InputError
from swvp.parsing.tree import DependencyTree
from swvp.parsing.treebank import Treebank, read_treebank, treebank_of

__all__ = ["Sentences", "treebank_from"]

Sentences = Any
"""A `Treebank`, the text of a CoNLL-U file or its path, or a list of sentences: lists of tokens."""


def treebank_from(X: Sentences, y: Any = None, *, heads: bool | None) -> Treebank:
    """The treebank that a user means; with heads, without, or, if that is None, with them where there are any."""
    if isinstance(X, (Treebank, str, Path)):
        if y is not None:
            raise InputError("y is for sentences as lists of tokens: a treebank has its own heads")
        if isinstance(X, Treebank):
            if heads:
                X.trees  # noqa: B018, they must be there
            return X
        return from_text(X, heads)
    if heads and y is None:
        raise InputError("y is missing: give the heads of each sentence")
    if y is None:
        return treebank_of(X)
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} sentences and y has {len(y)}")
    trees = [tree_of(tree, i) for i, tree in enumerate(y)]
    labelled = [labels is not None for _, labels in trees]
    if any(labelled) and not all(labelled):
        raise InputError(f"sentence {labelled.index(False)} of y has no labels, others have")
    return treebank_of(X, [tree for tree, _ in trees], [labels for _, labels in trees] if any(labelled) else None)


def from_text(X: str | Path, heads: bool | None) -> Treebank:
    is_text = isinstance(X, str) and ("\t" in X or "\n" in X)

    def read(with_heads: bool) -> Treebank:
        return Treebank.from_text(str(X), heads=with_heads) if is_text else read_treebank(X, heads=with_heads)

    if heads is not None:
        return read(heads)
    try:
        return read(True)
    except InputError:
        return read(False)


def tree_of(tree: Any, number: int) -> tuple[list[Any], list[str] | None]:
    """The heads of a sentence and its labels: from numbers, from pairs, or from a tree."""
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
