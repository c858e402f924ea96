"""Owns sums over sparse vectors, given as pairs (feature, value) in which a feature may come more than once.

A table of open addressing holds the sum of each feature: a power of two of places, at most half of them taken.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel

FREE = -1


@kernel
def table(first, last, features, values):
    """The table of the pairs first:last: the features, FREE at places not taken, and their sums."""
    places = 8
    while places < 2 * (last - first):
        places *= 2
    keys, sums = np.full(places, FREE), np.zeros(places)
    for p in range(first, last):
        at = place(keys, features[p])
        keys[at] = features[p]
        sums[at] += values[p]
    return keys, sums


@kernel
def place(keys, feature):
    """Where a feature is, or would be put."""
    at = (feature * 2654435761 >> 15) & (len(keys) - 1)
    while keys[at] != feature and keys[at] != FREE:
        at = (at + 1) & (len(keys) - 1)
    return at


@kernel
def squared_norm(size, features, values):
    """‖v‖²: values of the same feature are added before they are squared."""
    _, sums = table(0, size, features, values)
    total = 0.0
    for at in range(len(sums)):
        total += sums[at] * sums[at]
    return total


@kernel
def dot(keys, sums, first, last, features, values):
    """The inner product of a table's vector with the pairs first:last of another one."""
    total = 0.0
    for p in range(first, last):
        total += sums[place(keys, features[p])] * values[p]
    return total
