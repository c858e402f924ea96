"""Owns what a parser gives back: trees as values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swvp.data.table import Column
from swvp.parsing.checks import Heads
from swvp.parsing.tree import DependencyTree
from swvp.parsing.treebank import Treebank
from swvp.structures.operations import Floats

__all__ = ["trees_of"]


def trees_of(
    treebank: Treebank, heads: Heads, labels: Column | None, confidence: Floats | None = None
) -> NDArray[np.object_]:
    """Trees as values, one for each sentence, with the gold trees beside where the treebank has them."""
    words, tags = (np.array(column.strings, object)[column.ids] for column in (treebank.words, treebank.upos))
    tagged = treebank.upos.strings != ["_"]
    named = None if labels is None else np.array(labels.strings, object)[labels.ids]
    gold = None if treebank.labels is None else np.array(treebank.labels.strings, object)[treebank.labels.ids]
    found = np.empty(treebank.number_of_sentences, object)
    for i in range(len(found)):
        part = treebank.sentence(i)
        found[i] = DependencyTree(
            words=tuple(words[part]),
            heads=tuple(heads[part].tolist()),
            labels=None if named is None else tuple(named[part]),
            tags=tuple(tags[part]) if tagged else None,
            gold_heads=None if treebank.heads is None else tuple(treebank.heads[part].tolist()),
            gold_labels=None if gold is None or treebank.heads is None else tuple(gold[part]),
            confidence=None if confidence is None else tuple(confidence[part].tolist()),
        )
    return found
