"""Owns counting the confusions of labels."""

from __future__ import annotations

from collections import Counter

from swvp.scoring.confusion import Confusion
from swvp.tagging.evaluate import Labels, paired

__all__ = ["Confusion", "confusion"]


def confusion(gold: Labels, predicted: Labels) -> Confusion:
    """Count the pairs of labels.

    >>> found = confusion([["N", "V", "N"], ["V"]], [["N", "N", "N"], ["N"]])
    >>> found.labels, found.table()
    (['N', 'V'], [[2, 0], [2, 0]])
    >>> found.confusions()
    [('V', 'N', 2)]
    """
    counts: Counter[tuple[str, str]] = Counter()
    for a, b in paired(gold, predicted):
        counts.update(zip(a, b, strict=True))
    return Confusion(dict(counts))
