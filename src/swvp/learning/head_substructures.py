"""Owns sub-structures of labels that are heads: position k of a label is the head of word k + 1, 0 is the root.

    subtrees      for each word v, the wrong words among v and those that get to v by following predicted heads, in
                  the order of v; then all wrong words, which is what the root has
    components    wrong words are joined if one is the gold or the predicted head of the other; the sets are the
                  connected ones, in the order of their first words

Each set comes once. Predicted heads need not be a tree.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel
from swvp.learning.substructures import MOST_POSITIONS

__all__ = ["components", "subtrees"]


@kernel
def subtrees(predicted, wrong, k, starts, positions):
    """Returns (how many, starts, positions), grown where needed, -1 instead of a number if there are too many."""
    n = len(predicted)
    sizes, seen = np.zeros(n + 1, np.int64), np.full(n + 1, -1)
    for j in range(k):
        v = wrong[j] + 1
        while v > 0 and seen[v] != j:
            sizes[v] += 1
            seen[v] = j
            v = predicted[v - 1]
    sizes[0] = k

    # two words have the same set if one is above the other and their sizes are equal: the upper one is taken
    number = np.full(n + 1, -1)
    count = total = 0
    for v in range(1, n + 1):
        if 0 < sizes[v] < k and (sizes[predicted[v - 1]] != sizes[v] or first_of_cycle(predicted, v)):
            number[v] = count
            count += 1
            total += sizes[v]
    if total + k > MOST_POSITIONS:
        return -1, starts, positions
    if count + 2 > len(starts):
        starts = np.empty(2 * count + 4, np.int64)
    if total + k > len(positions):
        positions = np.empty(2 * (total + k), np.int64)

    starts[0] = end = 0
    ends = np.empty(count + 1, np.int64)
    for v in range(1, n + 1):
        if number[v] >= 0:
            ends[number[v]] = end
            end += sizes[v]
            starts[number[v] + 1] = end
    seen[:] = -1
    for j in range(k):
        v = wrong[j] + 1
        while v > 0 and seen[v] != j:
            c = number[v]
            if c >= 0:
                positions[ends[c]] = wrong[j]
                ends[c] += 1
            seen[v] = j
            v = predicted[v - 1]
        positions[end + j] = wrong[j]
    starts[count + 1] = end + k
    return count + 1, starts, positions


@kernel
def first_of_cycle(predicted, v):
    """Whether word v is on a cycle of heads, and the first word of it."""
    u = predicted[v - 1]
    steps = 1
    while u > v and steps < len(predicted):
        u = predicted[u - 1]
        steps += 1
    return u == v


@kernel
def components(gold, predicted, wrong, k, starts, positions):
    """Write the sets into `starts` and `positions`, which have room for k; return how many there are."""
    first = np.full(len(predicted) + 1, -1)  # a wrong word earlier in the same set, or itself
    for j in range(k):
        first[wrong[j] + 1] = wrong[j] + 1
    for j in range(k):
        join(first, wrong[j] + 1, np.int64(gold[wrong[j]]))
        join(first, wrong[j] + 1, predicted[wrong[j]])
    ends = np.zeros(len(first), np.int64)
    for j in range(k):
        ends[find(first, wrong[j] + 1)] += 1
    count = 0
    starts[0] = 0
    for j in range(k):
        v = wrong[j] + 1
        if first[v] == v:
            starts[count + 1] = starts[count] + ends[v]
            ends[v] = starts[count]
            count += 1
    for j in range(k):
        v = find(first, wrong[j] + 1)
        positions[ends[v]] = wrong[j]
        ends[v] += 1
    return count


@kernel
def find(first, v):
    """The first word of the set that v is in."""
    while first[v] != v:
        first[v] = first[first[v]]
        v = first[v]
    return v


@kernel
def join(first, v, head):
    """Make one set of those of two words, if the head is a wrong word too."""
    if head > 0 and first[head] > 0:
        u, v = find(first, v), find(first, head)
        first[max(u, v)] = min(u, v)
