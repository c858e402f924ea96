"""All sub-structures where wrong positions fall into groups without common features, as in second-order trees.

A feature of a second-order tree depends on the heads of several words, but often the wrong heads of a sentence fall
into groups that share no feature (`operations.groups`). Then the margin of J is the sum of those of its parts in each
group, and γ(m^J) ∝ exp(-λ·margin(m^J)) factorises: with Z_g the sum over the non-empty sets of group g,

    Σ over all non-empty J = Π_g (1 + Z_g) - 1,    P(J ∩ g = S) ∝ exp(-λ·margin(S)) · Π_{other groups} (1 + Z).

The sets of each group are listed, at most 2^16 - 1 together; those of different groups are not combined.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import implement, kernel
from swvp.learning.subset_sums import expectations, lay_out, least_margin, log_sum, new_sums
from swvp.learning.substructures import enlarged, too_many
from swvp.structures import operations
from swvp.types import Ints

__all__ = ["AllOfGroups", "Groups"]


class AllOfGroups(NamedTuple):
    """A rule as `all_subsets.AllSubsets`, for structures with `groups`."""

    base: Any
    maxent: bool


class Groups(NamedTuple):
    """group[j] is that of the wrong position j; the sets of group g are first[g]:first[g + 1]; number[0] of groups."""

    group: Ints
    first: Ints
    number: Ints


@implement(new_sums, AllOfGroups)
@kernel
def new_groups(rule, n):
    return Groups(np.empty(n, np.int64), np.zeros(n + 1, np.int64), np.zeros(1, np.int64))


@implement(lay_out, Groups)
@kernel
def sets_in_groups(sums, problem, model, i, wrong, k, starts, positions):
    """Write all non-empty sets of each group, group by group."""
    group, first = sums.group, sums.first
    number = operations.groups(problem, model, i, wrong, k, group)
    sums.number[0] = number
    sets = total = 0.0
    for g in range(number):
        size = 0
        for j in range(k):
            size += group[j] == g
        sets += 2.0 ** min(size, 1000) - 1
        total += size * 2.0 ** min(size - 1, 1000)
    if too_many(sets, total):
        return -1, starts, positions
    starts, positions = enlarged(int(sets), int(total), starts, positions)
    members = np.empty(k, np.int64)
    starts[0] = first[0] = count = end = 0
    for g in range(number):
        size = 0
        for j in range(k):
            if group[j] == g:
                members[size] = wrong[j]
                size += 1
        for bits in range(1, 1 << size):
            for m in range(size):
                if bits >> m & 1:
                    positions[end] = members[m]
                    end += 1
            count += 1
            starts[count] = end
        first[g + 1] = count
    return count, starts, positions


@implement(least_margin, Groups)
@kernel
def least_margin_of_groups(sums, margin, k, count):
    total, least = 0.0, math.inf
    for g in range(sums.number[0]):
        here = math.inf
        for t in range(sums.first[g], sums.first[g + 1]):
            here = min(here, margin[t])
        total += min(here, 0.0)
        least = min(least, here)
    return total if least < 0 else least


@implement(expectations, Groups)
@kernel
def expectations_of_groups(sums, multiplier, margin, k, count, amount):
    first, number = sums.first, sums.number[0]
    one_more = np.empty(number)  # log(1 + Z_g)
    log_z, before = -math.inf, 0.0  # the log of the sum over non-empty J, by the last group in J; of all groups before
    for g in range(number):
        least = math.inf
        for t in range(first[g], first[g + 1]):
            least = min(least, margin[t])
        total = 0.0
        for t in range(first[g], first[g + 1]):
            total += math.exp(-multiplier * (margin[t] - least))
        log_group = math.log(total) - multiplier * least
        one_more[g] = log_sum(0.0, log_group)
        log_z = log_sum(log_z, before + log_group)
        before += one_more[g]
    mean = 0.0
    for g in range(number):
        for t in range(first[g], first[g + 1]):
            amount[t] = math.exp(-multiplier * margin[t] + (before - one_more[g]) - log_z)
            mean += amount[t] * margin[t]
    return mean
