"""Chains in which each position chooses among few candidates: Viterbi and sums over outputs.

A structure of this kind implements the operations below. Candidates are numbers r = 0, 1, … at each position, and
labels by `candidate`; the label -1 is BOUNDARY. Scores of candidates without their neighbours are in `node`, at (k, r)
for position k of a sequence. A model has the buffers `value` and `back`, of the same shape, and `predicted`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from swvp.compiled import kernel, operation
from swvp.types import Floats, Ints

__all__ = [
    "LEAST",
    "candidate",
    "candidates_at",
    "difference_from_expectation",
    "gold_candidate",
    "node_size",
    "pair_score",
    "pair_size",
    "viterbi",
    "write_node",
    "write_pair",
]

LEAST = 0.01
"""Probabilities that differ by less from those of the gold labels are left out."""


@operation
def candidates_at(problem: Any, model: Any, first: int, k: int) -> int:
    """The number of candidates of position k of the sequence that begins at `first`."""


@operation
def candidate(problem: Any, model: Any, first: int, k: int, r: int) -> int:
    """The label that is candidate r of this position."""


@operation
def gold_candidate(problem: Any, model: Any, first: int, k: int) -> int:
    """Which candidate of this position is the gold label."""


@operation
def pair_score(problem: Any, model: Any, before: int, label: int) -> float:
    """The weights of two labels that are neighbours."""


@operation
def pair_size(problem: Any) -> int:
    """The largest number of features of two neighbours."""


@operation
def write_pair(
    problem: Any, model: Any, before: int, label: int, amount: float, size: int, features: Ints, values: Floats
) -> int:
    """Append amount times the features of two neighbours to sparse pairs; return their number."""


@operation
def node_size(problem: Any, t: int, label: int) -> int:
    """The largest number of features of a label at position t of the problem."""


@operation
def write_node(
    problem: Any, model: Any, t: int, label: int, amount: float, size: int, features: Ints, values: Floats
) -> int:
    """Append amount times the features of a label at position t, without those of neighbours; return their number."""


@kernel
def viterbi(problem, model, first, n, gap, node):
    """Write which candidates are best, of the positions first:first + n, to model.predicted; return their score.

    Candidates that alone are worse than the best one of their position by more than `gap` are left out.
    """
    value, back = model.value, model.back
    for k in range(n):
        least = -np.inf
        for r in range(candidates_at(problem, model, first, k)):
            least = max(least, node[k, r] - gap)
        for r in range(candidates_at(problem, model, first, k)):
            if node[k, r] < least:
                value[k, r], back[k, r] = -np.inf, 0
                continue
            y = candidate(problem, model, first, k, r)
            best, at = -np.inf, 0
            if k == 0:
                best = pair_score(problem, model, -1, y)
            else:
                for s in range(candidates_at(problem, model, first, k - 1)):
                    if value[k - 1, s] == -np.inf:
                        continue
                    score = value[k - 1, s] + pair_score(problem, model, candidate(problem, model, first, k - 1, s), y)
                    if score > best:
                        best, at = score, s
            value[k, r], back[k, r] = best + node[k, r], at
    if n == 0:
        return 0.0
    best, at = -np.inf, 0
    for r in range(candidates_at(problem, model, first, n - 1)):
        score = value[n - 1, r] + pair_score(problem, model, candidate(problem, model, first, n - 1, r), -1)
        if score > best:
            best, at = score, r
    for k in range(n - 1, -1, -1):
        model.predicted[k] = at
        at = back[k, at]
    return best


@kernel
def log_of_sum(terms, count):
    """log Σ exp(term) of the first `count` terms, -inf if all of them are."""
    largest, total = -np.inf, 0.0
    for s in range(count):
        largest = max(largest, terms[s])
    if largest == -np.inf:
        return largest
    for s in range(count):
        total += math.exp(terms[s] - largest)
    return largest + math.log(total)


@kernel
def difference_from_expectation(problem, model, i, node):
    """φ(x, y) - E[φ(x, y')] of sequence i over the sequences of candidates, as sparse pairs.

    p(y') ∝ exp(score of y'), with the scores of candidates in `node`.
    """
    first = problem.offsets[i]
    n = problem.offsets[i + 1] - first
    most = node.shape[1]
    alpha, beta, terms = np.empty((n, most)), np.empty((n, most)), np.empty(most)
    for k in range(n):  # logarithms of sums over the labels before, and after
        for r in range(candidates_at(problem, model, first, k)):
            y = candidate(problem, model, first, k, r)
            if k == 0:
                alpha[k, r] = node[k, r] + pair_score(problem, model, -1, y)
                continue
            before = candidates_at(problem, model, first, k - 1)
            for s in range(before):
                y_before = candidate(problem, model, first, k - 1, s)
                terms[s] = alpha[k - 1, s] + pair_score(problem, model, y_before, y)
            alpha[k, r] = node[k, r] + log_of_sum(terms, before)
    for k in range(n - 1, -1, -1):
        for r in range(candidates_at(problem, model, first, k)):
            y = candidate(problem, model, first, k, r)
            if k == n - 1:
                beta[k, r] = pair_score(problem, model, y, -1)
                continue
            after = candidates_at(problem, model, first, k + 1)
            for s in range(after):
                score = pair_score(problem, model, y, candidate(problem, model, first, k + 1, s))
                score += node[k + 1, s] + beta[k + 1, s]
                terms[s] = score
            beta[k, r] = log_of_sum(terms, after)
    count = candidates_at(problem, model, first, n - 1)
    for r in range(count):
        terms[r] = alpha[n - 1, r] + beta[n - 1, r]
    log_z = log_of_sum(terms, count)

    size = 0
    for k in range(n):
        here = candidates_at(problem, model, first, k)
        before = candidates_at(problem, model, first, k - 1) if k else 1
        size += pair_size(problem) * here * (before + 1)
        for r in range(here):
            size += node_size(problem, first + k, candidate(problem, model, first, k, r))
    features, values = np.empty(size, np.int64), np.empty(size)
    size = 0
    for k in range(n):
        t = first + k
        for r in range(candidates_at(problem, model, first, k)):
            y = candidate(problem, model, first, k, r)
            is_gold = r == gold_candidate(problem, model, first, k)
            difference = (1.0 if is_gold else 0.0) - math.exp(alpha[k, r] + beta[k, r] - log_z)
            if abs(difference) >= LEAST:
                size = write_node(problem, model, t, y, difference, size, features, values)
            before = candidates_at(problem, model, first, k - 1) if k else 1
            for s in range(before):
                y_before = candidate(problem, model, first, k - 1, s) if k else -1
                both = is_gold and (k == 0 or s == gold_candidate(problem, model, first, k - 1))
                score = (alpha[k - 1, s] if k else 0.0) + pair_score(problem, model, y_before, y)
                score += node[k, r] + beta[k, r] - log_z
                difference = (1.0 if both else 0.0) - math.exp(score)
                if abs(difference) >= LEAST:
                    size = write_pair(problem, model, y_before, y, difference, size, features, values)
            if k == n - 1:
                difference = (1.0 if is_gold else 0.0) - math.exp(alpha[k, r] + beta[k, r] - log_z)
                if abs(difference) >= LEAST:
                    size = write_pair(problem, model, y, -1, difference, size, features, values)
    return size, features, values
