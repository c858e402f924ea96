"""Non-projective arcs of trees."""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel

__all__ = ["non_projective_arcs"]


@kernel
def non_projective_arcs(heads, offsets):
    """For each token, whether the arc from its head is non-projective.

    An arc is projective if every token between its two ends descends from the head (Nivre and Nilsson 2005); an arc
    from the root always is. Heads must be trees.
    """
    crossing = np.zeros(len(heads), np.bool_)
    for s in range(len(offsets) - 1):
        begin, size = offsets[s], offsets[s + 1] - offsets[s]
        for token in range(1, size + 1):
            head = heads[begin + token - 1]
            if head == 0:
                continue
            low, high = min(head, token), max(head, token)
            for between in range(low + 1, high):
                above = heads[begin + between - 1]
                if low <= above <= high:
                    continue  # following heads leads to an end of the arc, and from there to the head
                while above != 0 and above != head:
                    above = heads[begin + above - 1]
                if above == 0:
                    crossing[begin + token - 1] = True
                    break
    return crossing
