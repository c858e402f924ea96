"""JJ_x, the sub-structures of one example (section 3): the sets of positions that become mixed assignments.

A mixed assignment m^J depends only on the wrong positions in J. So every family below is a family of non-empty sets
of wrong positions, each set once. This keeps m^J = y out of I, and makes J that differ only in right positions one.
With k wrong positions:

    single        {j}                             k sets, the paper's choice
    full          all wrong positions             1 set: m^J = y*, the Collins perceptron
    segments      maximal runs of neighbours      first-order chains: Δφ(y, y*) is their sum, so one is a violation
    pairs         all sets of two                 of min(2, k) positions
    triples       all sets of three               of min(3, k) positions
    prefixes      the first 1, 2, …, k            Huang et al.'s prefixes
    single+full   both                            k + 1 sets (1 if k = 1)
    all           every non-empty set             2^k - 1 sets

Two more are for labels that are heads, as in trees: position k is the head of word k + 1, and 0 is the root. The
predicted heads need not be a tree.

    subtrees      those inside a predicted subtree        of each word and of the root: at most 2k - 1 sets
    components    those connected by gold or predicted    arc-factored models: Δφ(y, y*) is their sum, so one is
                  arcs to each other                      a violation

The sets are stored one after the other: J_j = positions[starts[j]:starts[j + 1]], increasing. Each family is a kernel
that takes the k wrong positions and the two arrays, and returns (number of sets, starts, positions). It replaces the
arrays by larger ones if they are too small. The number is -1 if there are more sets than the limits below allow.

To add a family, write one such kernel and add one row to `FAMILIES` or `HEAD_FAMILIES`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import kernel, one_of

MOST_SETS = 1 << 16
MOST_POSITIONS = 1 << 22


@kernel
def too_many(sets, total):
    """Whether this number of sets, or of positions in all of them, exceeds the limits (floats, since 2^k overflows)."""
    return sets > MOST_SETS or total > MOST_POSITIONS


@kernel
def enlarged(sets, total, starts, positions):
    """The two arrays, or larger ones if they cannot hold `sets` sets with `total` positions in all."""
    if sets + 1 > len(starts):
        starts = np.empty(2 * sets + 1, np.int64)
    if total > len(positions):
        positions = np.empty(2 * total, np.int64)
    return starts, positions


@kernel
def single(wrong, k, starts, positions):
    if too_many(k, k):
        return -1, starts, positions
    starts, positions = enlarged(k, k, starts, positions)
    starts[0] = 0
    for j in range(k):
        positions[j] = wrong[j]
        starts[j + 1] = j + 1
    return k, starts, positions


@kernel
def full(wrong, k, starts, positions):
    if too_many(1, k):
        return -1, starts, positions
    starts, positions = enlarged(1, k, starts, positions)
    for j in range(k):
        positions[j] = wrong[j]
    starts[0], starts[1] = 0, k
    return 1, starts, positions


@kernel
def segments(wrong, k, starts, positions):
    if too_many(k, k):
        return -1, starts, positions
    starts, positions = enlarged(k, k, starts, positions)
    starts[0] = count = 0
    for j in range(k):
        positions[j] = wrong[j]
        if j + 1 == k or wrong[j + 1] != wrong[j] + 1:
            count += 1
            starts[count] = j + 1
    return count, starts, positions


@kernel
def pairs(wrong, k, starts, positions):
    sets = max(1.0, k * (k - 1.0) / 2)
    if too_many(sets, 2 * sets):
        return -1, starts, positions
    starts, positions = enlarged(int(sets), 2 * int(sets), starts, positions)
    return subsets_of_size(min(2, k), wrong, k, starts, positions), starts, positions


@kernel
def triples(wrong, k, starts, positions):
    sets = max(1.0, k * (k - 1.0) * (k - 2.0) / 6)
    if too_many(sets, 3 * sets):
        return -1, starts, positions
    starts, positions = enlarged(int(sets), 3 * int(sets), starts, positions)
    return subsets_of_size(min(3, k), wrong, k, starts, positions), starts, positions


@kernel
def subsets_of_size(size, wrong, k, starts, positions):
    """Write all sets of this size into arrays that are large enough; return their number."""
    starts[0] = 0
    chosen = np.arange(size)
    count = 0
    while True:
        for a in range(size):
            positions[count * size + a] = wrong[chosen[a]]
        count += 1
        starts[count] = count * size
        a = size - 1
        while a >= 0 and chosen[a] == k - size + a:
            a -= 1
        if a < 0:
            return count
        chosen[a] += 1
        for b in range(a + 1, size):
            chosen[b] = chosen[b - 1] + 1


@kernel
def prefixes(wrong, k, starts, positions):
    total = k * (k + 1) // 2
    if too_many(k, total):
        return -1, starts, positions
    starts, positions = enlarged(k, total, starts, positions)
    starts[0] = 0
    for j in range(k):
        for a in range(j + 1):
            positions[starts[j] + a] = wrong[a]
        starts[j + 1] = starts[j] + j + 1
    return k, starts, positions


@kernel
def single_and_full(wrong, k, starts, positions):
    if too_many(k + 1, 2 * (k + 1)):
        return -1, starts, positions
    starts, positions = enlarged(k + 1, 2 * k, starts, positions)
    count, starts, positions = single(wrong, k, starts, positions)
    if k > 1:
        for j in range(k):
            positions[k + j] = wrong[j]
        count += 1
        starts[count] = 2 * k
    return count, starts, positions


@kernel
def all_subsets(wrong, k, starts, positions):
    sets = 2.0 ** min(k, 1000) - 1
    if too_many(sets, sets * (k / 2 + 1)):
        return -1, starts, positions
    starts, positions = enlarged(int(sets), int(sets) * (k // 2 + 2), starts, positions)
    starts[0] = count = end = 0
    for bits in range(1, 1 << k):
        for j in range(k):
            if bits >> j & 1:
                positions[end] = wrong[j]
                end += 1
        count += 1
        starts[count] = end
    return count, starts, positions


@kernel
def subtrees(gold, predicted, wrong, k, starts, positions):
    """The wrong words in the predicted subtree of each word v, in the order of v, then all wrong words (the root's)."""
    n = len(predicted)
    sizes, seen = np.zeros(n + 1, np.int64), np.full(n + 1, -1)
    for j in range(k):
        v = wrong[j] + 1
        while v > 0 and seen[v] != j:
            sizes[v] += 1
            seen[v] = j
            v = predicted[v - 1]
    sizes[0] = k

    # two words have the same set if one is above the other and their sizes are equal: the upper one stands for both
    number = np.full(n + 1, -1)
    count = total = 0
    for v in range(1, n + 1):
        if 0 < sizes[v] < k and (sizes[predicted[v - 1]] != sizes[v] or first_of_cycle(predicted, v)):
            number[v] = count
            count += 1
            total += sizes[v]
    if total + k > MOST_POSITIONS:
        return -1, starts, positions
    starts, positions = enlarged(count + 1, total + k, starts, positions)

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
    """The connected sets of wrong words, in the order of their first words.

    Two wrong words are joined if one is the gold or the predicted head of the other.
    """
    starts, positions = enlarged(k, k, starts, positions)
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
    return count, starts, positions


@kernel
def find(first, v):
    """The first word of the set of v."""
    while first[v] != v:
        first[v] = first[first[v]]
        v = first[v]
    return v


@kernel
def join(first, v, head):
    """Join the sets of word v and of its head, if the head is a wrong word too."""
    if head > 0 and first[head] > 0:
        u, v = find(first, v), find(first, head)
        first[max(u, v)] = min(u, v)


class Family(NamedTuple):
    """A compiled family of sub-structures: the name it has in rules, and its kernel."""

    name: str
    function: Any


FAMILIES = (
    Family("single", single),
    Family("full", full),
    Family("segments", segments),
    Family("pairs", pairs),
    Family("triples", triples),
    Family("prefixes", prefixes),
    Family("single+full", single_and_full),
    Family("all", all_subsets),
)
"""Families of positions: function(wrong, k, starts, positions)."""

HEAD_FAMILIES = (
    Family("subtrees", subtrees),
    Family("components", components),
)
"""Families of labels that are heads: function(gold, predicted, wrong, k, starts, positions)."""

OF_POSITIONS = tuple(family.name for family in FAMILIES)
OF_HEADS = tuple(family.name for family in HEAD_FAMILIES)
SUBSTRUCTURES = (*OF_POSITIONS, *OF_HEADS)

apply_family = one_of([family.function for family in FAMILIES])
apply_head_family = one_of([family.function for family in HEAD_FAMILIES])


@kernel
def define_family(family, heads, wrong, k, starts, positions):
    """The sets of SUBSTRUCTURES[family] for k wrong positions, as (number of sets, starts, positions).

    `heads` are the gold and the predicted heads, or None if labels are not heads.
    """
    if heads is not None:  # noqa: SIM102, for the compiler
        if family >= len(FAMILIES):
            return apply_head_family(family - len(FAMILIES), heads[0], heads[1], wrong, k, starts, positions)
    return apply_family(family, wrong, k, starts, positions)
