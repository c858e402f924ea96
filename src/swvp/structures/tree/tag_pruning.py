"""Pruning of arcs by tags and lengths: only those seen in training are allowed.

longest[a, b, right] is the length of the longest arc from a head of part of speech a to a modifier of b that goes to
the right or to the left, 0 if there is none. Arcs of the root have no length. A tag not seen in training is allowed
everything.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import inlined, kernel
from swvp.types import Bools, Int32s

__all__ = ["Pruned", "all_allowed", "allowed", "forbidden", "longest_arcs", "pruned", "widened"]

ANY_LENGTH = 2**31 - 1


class Pruned(NamedTuple):
    """The share of gold arcs that are allowed, the mean number of heads per word, and the share of all arcs."""

    recall: float
    heads: float
    share: float


def all_allowed() -> Int32s:
    """The table that prunes nothing."""
    return np.full((1, 1, 2), ANY_LENGTH, np.int32)


@inlined
def allowed(longest, kinds, first, h, m):
    """Whether the arc from h to m of the sentence whose root is node `first` is allowed."""
    a, b = kinds[first + h], kinds[first + m]
    if len(longest) == 1:
        return True
    return abs(h - m) <= longest[a, b, 1 if m > h else 0]


def forbidden(longest: Int32s, kinds: Int32s, starts: Any, heads: Any) -> Bools:
    """For each word whether the arc from its head is pruned."""
    words = np.diff(starts) - 1
    first = np.repeat(starts[:-1], words)
    node = np.arange(len(heads)) + np.repeat(np.arange(1, len(words) + 1), words)
    head = first + heads
    if len(longest) == 1:
        return np.zeros(len(heads), np.bool_)
    is_pruned: Bools = np.abs(node - head) > longest[kinds[head], kinds[node], (node > head).astype(np.int64)]
    return is_pruned


def longest_arcs(kinds: Int32s, starts: Any, heads: Int32s, tags: int) -> Int32s:
    """The table of a treebank with `tags` different parts of speech."""
    longest = np.zeros((tags + 2, tags + 2, 2), np.int32)
    longest[tags + 1] = longest[:, tags + 1] = ANY_LENGTH
    fill(longest, kinds, starts, heads)
    return longest


def widened(longest: Int32s, seen: Int32s) -> Int32s:
    """The table that allows what either one allows."""
    return longest if len(longest) == 1 else np.maximum(longest, seen)


@kernel
def fill(longest, kinds, starts, heads):
    for i in range(len(starts) - 1):
        first = starts[i]
        for m in range(1, starts[i + 1] - first):
            h = heads[first - i + m - 1]
            a, b, right = kinds[first + h], kinds[first + m], 1 if m > h else 0
            longest[a, b, right] = ANY_LENGTH if h == 0 else max(longest[a, b, right], abs(h - m))


@kernel
def count(longest, kinds, starts, heads):
    arcs = allowed_arcs = gold = 0
    for i in range(len(starts) - 1):
        first = starts[i]
        n = starts[i + 1] - first - 1
        arcs += n * n
        for m in range(1, n + 1):
            for h in range(n + 1):
                allowed_arcs += h != m and allowed(longest, kinds, first, h, m)
            gold += allowed(longest, kinds, first, heads[first - i + m - 1], m)
    return arcs, allowed_arcs, gold


def pruned(longest: Int32s, kinds: Int32s, starts: Any, heads: Int32s) -> Pruned:
    """The effect of pruning on a treebank."""
    arcs, allowed_arcs, gold = count(longest, kinds, starts, heads)
    words = max(len(heads), 1)
    return Pruned(gold / words, allowed_arcs / words, allowed_arcs / max(arcs, 1))
