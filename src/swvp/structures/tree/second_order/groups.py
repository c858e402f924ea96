"""Wrong heads that share a part, for γ over all sub-structures of second-order trees (`learning.groups`).

Which parts a word has depends on whether it has its gold or its predicted head. Two wrong words are in one group if

- one is the gold or the predicted head of the other: then a grandparent part depends on both;
- both may be children of one head on the same side, with no child between them that it has in both trees: then a
  sibling part depends on both;

or if a chain of such pairs joins them.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import inner

__all__ = ["group_heads"]


@inner
def merge(group, k, a, b):
    """Put the wrong positions a and b, and all in their groups, into one group."""
    old, new = max(group[a], group[b]), min(group[a], group[b])
    for j in range(k):
        if group[j] == old:
            group[j] = new


@inner
def group_heads(n, heads, start, predicted, wrong, k, number, group):
    """Write the groups of the k wrong words and return their number; the gold heads are heads[start:start + n].

    `number` is a buffer: the place of each wrong word among them, -1 for the others.
    """
    for m in range(n):
        number[m] = -1
    for j in range(k):
        number[wrong[j]] = group[j] = j
    for j in range(k):
        for turn in range(2):
            head = predicted[wrong[j]] if turn else np.int64(heads[start + wrong[j]])
            if head > 0 and number[head - 1] >= 0:
                merge(group, k, j, number[head - 1])
    for h in range(n + 1):
        for right in range(2):
            last = -1
            for distance in range(1, n - h + 1 if right else h):
                m = h + distance if right else h - distance
                is_gold, is_predicted = heads[start + m - 1] == h, predicted[m - 1] == h
                if is_gold and is_predicted:
                    last = -1
                elif is_gold or is_predicted:
                    if last >= 0:
                        merge(group, k, last, number[m - 1])
                    last = number[m - 1]
    # consecutive numbers, by the first position of each group: it is the number of the group so far
    count = 0
    for j in range(k):
        if group[j] == j:
            for other in range(j, k):
                if group[other] == j:
                    group[other] = -1 - count
            count += 1
    for j in range(k):
        group[j] = -1 - group[j]
    return count
