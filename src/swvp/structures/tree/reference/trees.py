"""The definitions of dependency trees in plain Python: which heads are a tree, all trees, the best one.

A sentence has the words 1, …, n and the root 0; heads[m - 1] is the head of word m. Heads are a tree if each word
comes from the root by following arcs. A tree is projective if no two arcs cross, those of the root among them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from swvp.types import Floats

__all__ = ["best_tree", "is_projective", "is_tree", "trees"]


def is_tree(heads: Sequence[int], one_root: bool = False) -> bool:
    """Whether the heads are a tree, with exactly one child of the root if `one_root`: O(n)."""
    n = len(heads)
    if any(not 0 <= h <= n for h in heads) or (one_root and sum(h == 0 for h in heads) != 1):
        return False
    seen = [0] * (n + 1)  # the word from which a node was reached first
    for start in range(1, n + 1):
        node = start
        while node and not seen[node]:
            seen[node] = start
            node = heads[node - 1]
        if node and seen[node] == start:
            return False
    return True


def is_projective(heads: Sequence[int]) -> bool:
    """Whether no two arcs cross: O(n log n)."""
    ends = sorted((min(h, m), -max(h, m)) for m, h in enumerate(heads, 1))
    around: list[int] = []  # where the arcs over the present place end, the innermost last
    for left, minus_right in ends:
        while around and around[-1] <= left:
            around.pop()
        if around and -minus_right > around[-1]:
            return False
        around.append(-minus_right)
    return True


def trees(n: int, projective: bool = False, one_root: bool = True) -> Iterator[tuple[int, ...]]:
    """All trees of n words, in the order of their heads. There are (n + 1)^(n - 1) without conditions."""
    for heads in itertools.product(range(n + 1), repeat=n):
        if is_tree(heads, one_root) and (not projective or is_projective(heads)):
            yield heads


def best_tree(scores: Floats, n: int, projective: bool = False, one_root: bool = True) -> tuple[int, ...]:
    """The first tree with the fewest forbidden arcs (scores[h, m] = -inf) and, of those, with the largest score."""

    def order(heads: tuple[int, ...]) -> tuple[int, float]:
        arcs = [float(scores[h, m]) for m, h in enumerate(heads, 1)]
        allowed = [s for s in arcs if s > -float("inf")]
        return len(allowed), sum(allowed)

    return max(trees(n, projective, one_root), key=order)
