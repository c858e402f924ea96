"""Owns JJ_x, the sub-structures of one example (section 3): which sets of positions become mixed assignments.

A mixed assignment m^J depends only on the wrong positions in J, so every family below is a family of non-empty
sets of wrong positions, each set once. This keeps m^J = y out of I, and makes J that differ only in right
positions one. With k wrong positions:

    single        {j}                             k sets, the paper's choice
    full          all wrong positions             1 set: m^J = y*, the Collins perceptron
    segments      maximal runs of neighbours      first-order chains: Δφ(y, y*) is their sum, so one is a violation
    pairs         all sets of two                 of min(2, k) positions
    triples       all sets of three               of min(3, k) positions
    prefixes      the first 1, 2, …, k            Huang et al.'s prefixes
    single+full   both                            k + 1 sets (1 if k = 1)
    all           every non-empty set             2^k - 1 sets

Where labels are heads, as in trees, there are two more, in `swvp.learning.head_substructures`:

    subtrees      those inside a predicted subtree        of each word and of the root: at most 2k - 1 sets
    components    those connected by gold or predicted    arc-factored models: Δφ(y, y*) is their sum, so one is
                  arcs to each other                      a violation

The sets are stored one after the other: J_j = positions[starts[j]:starts[j + 1]], increasing.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel

OF_POSITIONS = ("single", "full", "segments", "pairs", "triples", "prefixes", "single+full", "all")
OF_HEADS = ("subtrees", "components")
SUBSTRUCTURES = (*OF_POSITIONS, *OF_HEADS)
SINGLE, FULL, SEGMENTS, PAIRS, TRIPLES, PREFIXES, SINGLE_AND_FULL, ALL, SUBTREES, COMPONENTS = range(len(SUBSTRUCTURES))

MOST_SETS = 1 << 16
MOST_POSITIONS = 1 << 22


@kernel
def room(family, k):
    """At most how many sets, and positions in all of them, `family` has for k wrong positions (as floats: 2^k)."""
    if family == PAIRS:
        sets, positions = max(1.0, k * (k - 1.0) / 2), 2.0
    elif family == TRIPLES:
        sets, positions = max(1.0, k * (k - 1.0) * (k - 2.0) / 6), 3.0
    elif family == PREFIXES:
        sets, positions = float(k), (k + 1) / 2
    elif family == ALL:
        sets, positions = 2.0 ** min(k, 1000) - 1, k / 2 + 1
    elif family == SINGLE_AND_FULL:
        sets, positions = k + 1.0, 2.0
    elif family == FULL:
        sets, positions = 1.0, float(k)
    else:
        sets, positions = float(k), 1.0
    return sets, sets * positions


@kernel
def fill(family, wrong, k, starts, positions):
    """Write the sets of `family` for the k positions of `wrong`; return how many there are."""
    starts[0] = 0
    if family in (PAIRS, TRIPLES):
        return subsets_of_size(min(2 if family == PAIRS else 3, k), wrong, k, starts, positions)
    if family == SEGMENTS:
        return segments(wrong, k, starts, positions)
    if family == PREFIXES:
        return prefixes(wrong, k, starts, positions)
    if family == ALL:
        return all_subsets(wrong, k, starts, positions)
    for j in range(k):
        positions[j] = wrong[j]
    if family == FULL:
        starts[1] = k
        return 1
    for j in range(k):
        starts[j + 1] = j + 1
    if family == SINGLE_AND_FULL and k > 1:
        for j in range(k):
            positions[k + j] = wrong[j]
        starts[k + 1] = 2 * k
        return k + 1
    return k


@kernel
def subsets_of_size(size, wrong, k, starts, positions):
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
def segments(wrong, k, starts, positions):
    count = 0
    for j in range(k):
        positions[j] = wrong[j]
        if j + 1 == k or wrong[j + 1] != wrong[j] + 1:
            count += 1
            starts[count] = j + 1
    return count


@kernel
def prefixes(wrong, k, starts, positions):
    for j in range(k):
        for a in range(j + 1):
            positions[starts[j] + a] = wrong[a]
        starts[j + 1] = starts[j] + j + 1
    return k


@kernel
def all_subsets(wrong, k, starts, positions):
    count = 0
    end = 0
    for bits in range(1, 1 << k):
        for j in range(k):
            if bits >> j & 1:
                positions[end] = wrong[j]
                end += 1
        count += 1
        starts[count] = end
    return count
