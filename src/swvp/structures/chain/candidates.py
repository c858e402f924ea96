"""Chains with many labels: each position chooses among few candidates, and labels share weights by their keys.

A label y has keys k, such as its part of speech and each of its morphological features. A position with attributes a
scores Σ w[place(a, k)] over all pairs of its attributes and the keys of y, hashed to one table. Labels are grouped in
several ways, such as by part of speech or by case, and two neighbours (y', y) have a weight for each pair of groups.
So w is one vector:

    the table, 2^b places | (group of y', group of y), both with BOUNDARY, for each way of grouping

Gold labels must win by `margin` per position. Of labels with the same score, the first candidate wins.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import borrowing, implement, inner, kernel
from swvp.structures import operations
from swvp.structures.chain import lattice
from swvp.structures.chain.attributes import squares
from swvp.structures.chain.lattice import difference_from_expectation, viterbi
from swvp.structures.exact import averaged
from swvp.types import Floats, Ids, Int32s, Ints

__all__ = [
    "BLOCK",
    "GAP",
    "CandidateChain",
    "CandidateModel",
    "grouping_places",
    "new_candidate_model",
    "number_of_weights",
    "predict_candidates",
]

ZERO, ONE = np.uint64(0), np.uint64(1)
FACTOR_A, FACTOR_K, SHIFT = 1640531527, 2147483629, 20
BITS = 3
BLOCK = 1 << BITS
"""So many keys with neighbouring numbers lie side by side in the table, in one line of the processor's cache."""

GAP = 15.0
"""In prediction, candidates that are worse than the best one of their position by more are left out of the search."""


class CandidateChain(NamedTuple):
    """Sequences of positions offsets[i]:offsets[i + 1].

    Position t has the attributes attributes[starts[t]:starts[t + 1]] and the candidates, which are labels,
    candidates[candidate_starts[t]:candidate_starts[t + 1]]. `gold` has, for each position, which of its candidates is
    the gold one, or is empty. Label y has the keys keys[key_starts[y]:key_starts[y + 1]] and, in
    grouping g, the group groups[g, y]; the last column of `groups` is BOUNDARY. The weights of grouping g begin at
    group_places[g], those of its first group in rows of group_sizes[g]. The table has `places` weights, a power of 2.
    """

    attributes: Ids
    starts: Ints
    offsets: Ints
    candidates: Int32s
    candidate_starts: Ints
    gold: Int32s
    keys: Int32s
    key_starts: Ints
    groups: Int32s
    group_sizes: Ints
    group_places: Ints
    places: int
    margin: float


class CandidateModel(NamedTuple):
    """The weights and their averaging sums, and buffers for one sequence."""

    w: Floats
    delayed: Floats
    node: Floats  # (position, candidate): scores, with the margin
    of_key: Floats  # (key): what it scores at one position
    own_keys: Int32s  # the keys of one position
    sums: Floats  # what they score
    slots: Ids  # the places of their weights, attribute by attribute
    value: Floats
    back: Int32s
    predicted: Int32s  # which candidate of each position


def grouping_places(groups: Int32s, places: int) -> tuple[Ints, Ints]:
    """The number of groups of each grouping, and where its weights begin behind a table with so many places."""
    sizes = groups.max(axis=1).astype(np.int64) + 1
    return sizes, places + np.cumsum(sizes**2) - sizes**2


def number_of_weights(groups: Int32s, places: int) -> int:
    """The length of w."""
    sizes, begins = grouping_places(groups, places)
    return int(begins[-1] + sizes[-1] ** 2)


def new_candidate_model(problem: CandidateChain, w: Floats | None = None) -> CandidateModel:
    """A model with these weights, or all 0, and buffers for the longest sequence of a problem."""
    size = number_of_weights(problem.groups, problem.places)
    positions = int(np.diff(problem.offsets).max(initial=1))
    most = int(np.diff(problem.candidate_starts).max(initial=1))
    keys = min(most * int(np.diff(problem.key_starts).max(initial=0)), int(problem.keys.max(initial=0)) + 1)
    return CandidateModel(
        w=np.zeros(size) if w is None else w,
        delayed=np.zeros(size if w is None else 0),
        node=np.zeros((positions, most)),
        of_key=np.full(int(problem.keys.max(initial=0)) + 1, np.nan),
        own_keys=np.zeros(len(problem.keys), np.int32),
        sums=np.zeros(len(problem.keys)),
        slots=np.zeros(keys * int(np.diff(problem.starts).max(initial=0)), np.uint32),
        value=np.zeros((positions, most)),
        back=np.zeros((positions, most), np.int32),
        predicted=np.zeros(positions, np.int32),
    )


@inner
def place(attribute, key, places):
    """The place of a pair in the table, whose length is a multiple of BLOCK; the factors keep the sum below 2^63."""
    block = (np.int64(attribute) * FACTOR_A + (np.int64(key) >> BITS) * FACTOR_K) >> SHIFT
    return ((block << BITS) & (places - 1)) + ((np.int64(attribute) + key) & (BLOCK - 1))


@implement(lattice.candidates_at, CandidateChain)
@inner
def candidates_at(problem, model, first, k):
    return problem.candidate_starts[first + k + 1] - problem.candidate_starts[first + k]


@implement(lattice.candidate, CandidateChain)
@inner
def candidate(problem, model, first, k, r):
    return label_of(problem, first + k, r)


@implement(lattice.gold_candidate, CandidateChain)
@inner
def gold_candidate(problem, model, first, k):
    return np.int64(problem.gold[first + k])


@inner
def label_of(problem, t, r):
    """Candidate r of position t."""
    return np.int64(problem.candidates[problem.candidate_starts[t] + r])


@inner
def pair_place(problem, g, before, label):
    """The place of the weight of two neighbours in grouping g; -1 stands for BOUNDARY, the last column of groups."""
    row = np.int64(problem.groups[g, before]) * problem.group_sizes[g]
    return problem.group_places[g] + row + problem.groups[g, label]


@implement(lattice.pair_score, CandidateChain)
@inner
def pair_score(problem, model, before, label):
    score = 0.0
    for g in range(len(problem.groups)):
        score += model.w[pair_place(problem, g, before, label)]
    return score


@implement(lattice.pair_size, CandidateChain)
@inner
def pair_size(problem):
    return len(problem.groups)


@implement(lattice.write_pair, CandidateChain)
@inner
def write_pair(problem, model, before, label, amount, size, features, values):
    for g in range(len(problem.groups)):
        features[size], values[size] = pair_place(problem, g, before, label), amount
        size += 1
    return size


@kernel
def score_positions(problem, model, first, n):
    """Write the score of each candidate of the positions first:first + n; each key is scored once for a position.

    The places of all weights of a position are written first: so the processor waits for many weights at a time. They
    are counted in unsigned numbers, because Numba tests whether signed ones are negative.
    """
    w, of_key, own_keys, sums, slots = model.w, model.of_key, model.own_keys, model.sums, model.slots
    for k in range(n):
        t = first + k
        own = 0
        for r in range(problem.candidate_starts[t + 1] - problem.candidate_starts[t]):
            y = label_of(problem, t, r)
            for q in range(problem.key_starts[y], problem.key_starts[y + 1]):
                if math.isnan(of_key[problem.keys[q]]):
                    of_key[problem.keys[q]], own_keys[own], sums[own] = 0.0, problem.keys[q], 0.0
                    own += 1
        size = ZERO
        for p in range(problem.starts[t], problem.starts[t + 1]):
            attribute = problem.attributes[p]
            for o in range(np.uint64(own)):
                slots[size] = place(attribute, own_keys[o], problem.places)
                size += ONE
        size = ZERO
        for _ in range(problem.starts[t], problem.starts[t + 1]):
            for o in range(np.uint64(own)):
                sums[o] += w[slots[size]]
                size += ONE
        for o in range(own):
            of_key[own_keys[o]] = sums[o]
        for r in range(problem.candidate_starts[t + 1] - problem.candidate_starts[t]):
            y = label_of(problem, t, r)
            score = 0.0
            for q in range(problem.key_starts[y], problem.key_starts[y + 1]):
                score += of_key[problem.keys[q]]
            model.node[k, r] = score
        for o in range(own):
            of_key[own_keys[o]] = np.nan


@implement(operations.longest, CandidateChain)
@kernel
def longest(problem):
    most = 0
    for i in range(len(problem.offsets) - 1):
        most = max(most, problem.offsets[i + 1] - problem.offsets[i])
    return most


@implement(operations.length, CandidateChain)
@borrowing
def length(problem, model, i):
    return problem.offsets[i + 1] - problem.offsets[i]


@implement(operations.counts_features, CandidateChain)
@borrowing
def counts_features(problem):
    return True


@implement(operations.find_mistakes, CandidateChain)
@kernel
def find_mistakes(problem, model, i, wrong):
    first = problem.offsets[i]
    n = problem.offsets[i + 1] - first
    score_positions(problem, model, first, n)
    for k in range(n):
        t = first + k
        for r in range(problem.candidate_starts[t + 1] - problem.candidate_starts[t]):
            if r != problem.gold[t]:
                model.node[k, r] += problem.margin
    viterbi(problem, model, first, n, np.inf, model.node)
    count = 0
    for k in range(n):
        wrong[count] = k
        count += model.predicted[k] != problem.gold[first + k]
    return count


@kernel
def write_features(problem, model, i, chosen, amount, size, features, values):
    """Append amount · φ(x, y') of the candidates `chosen` of sequence i to sparse pairs; return their number."""
    first = problem.offsets[i]
    n = problem.offsets[i + 1] - first
    before = -1
    for k in range(n + 1):
        t = first + k
        label = label_of(problem, t, chosen[k]) if k < n else -1
        size = write_pair(problem, model, before, label, amount, size, features, values)
        before = label
        if k < n:
            size = write_node(problem, model, t, label, amount, size, features, values)
    return size


@implement(lattice.node_size, CandidateChain)
@inner
def node_size(problem, t, label):
    keys = problem.key_starts[label + 1] - problem.key_starts[label]
    return keys * (problem.starts[t + 1] - problem.starts[t])


@implement(lattice.write_node, CandidateChain)
@inner
def write_node(problem, model, t, label, amount, size, features, values):
    for q in range(problem.key_starts[label], problem.key_starts[label + 1]):
        for p in range(problem.starts[t], problem.starts[t + 1]):
            features[size] = place(problem.attributes[p], problem.keys[q], problem.places)
            values[size] = amount
            size += 1
    return size


@kernel
def most_features(problem, i):
    """An upper bound of the number of features of one output of sequence i."""
    most = 0
    for y in range(len(problem.key_starts) - 1):
        most = max(most, problem.key_starts[y + 1] - problem.key_starts[y])
    first, last = problem.offsets[i], problem.offsets[i + 1]
    return most * (problem.starts[last] - problem.starts[first]) + len(problem.groups) * (last - first + 1)


@implement(operations.direction, CandidateChain)
@kernel
def direction(problem, model, i, starts, positions, sets, count, amounts):
    first = problem.offsets[i]
    n = problem.offsets[i + 1] - first
    most = most_features(problem, i)
    features, values = np.empty((count + 1) * most, np.int64), np.empty((count + 1) * most)
    chosen = np.empty(n, np.int32)
    size, total = 0, 0.0
    for c in range(count):
        for k in range(n):
            chosen[k] = problem.gold[first + k]
        for p in range(starts[sets[c]], starts[sets[c] + 1]):
            chosen[positions[p]] = model.predicted[positions[p]]
        size = write_features(problem, model, i, chosen, -amounts[c], size, features, values)
        total += amounts[c]
    for k in range(n):
        chosen[k] = problem.gold[first + k]
    size = write_features(problem, model, i, chosen, total, size, features, values)
    return size, features, values


@implement(operations.margins, CandidateChain)
@kernel
def margins(problem, model, i, starts, positions, count, out):
    sets, one = np.zeros(1, np.int64), np.ones(1)
    for j in range(count):
        sets[0] = j
        size, features, values = direction(problem, model, i, starts, positions, sets, 1, one)
        out[j] = 0.0
        for p in range(size):
            out[j] += values[p] * model.w[features[p]]


@implement(operations.add, CandidateChain)
@kernel
def add(problem, model, i, starts, positions, sets, count, amounts, clock):
    size, features, values = direction(problem, model, i, starts, positions, sets, count, amounts)
    for p in range(size):
        model.w[features[p]] += values[p]
        model.delayed[features[p]] += values[p] * clock


@implement(operations.change, CandidateModel)
@borrowing
def change(model, feature, amount, clock):
    model.w[feature] += amount
    model.delayed[feature] += amount * clock


@implement(operations.expected_difference, CandidateChain)
@kernel
def expected_difference(problem, model, i):
    return difference_from_expectation(problem, model, i, model.node)


@implement(operations.weights, CandidateModel)
def weights(model: CandidateModel) -> Floats:
    return model.w.copy()


@implement(operations.norm, CandidateModel)
def norm(model: CandidateModel) -> float:
    return math.sqrt(squares(model.w))


@implement(operations.averaged_weights, CandidateModel)
def averaged_weights(model: CandidateModel, clock: float) -> Floats:
    return averaged(model.w, model.delayed, clock)


@kernel
def predict_candidates(problem: Any, model: Any, gap: float, out: Any) -> None:
    """Write, for each position of all sequences, which of its candidates is predicted."""
    for i in range(len(problem.offsets) - 1):
        first = problem.offsets[i]
        n = problem.offsets[i + 1] - first
        score_positions(problem, model, first, n)
        viterbi(problem, model, first, n, gap, model.node)
        for k in range(n):
            out[first + k] = model.predicted[k]
