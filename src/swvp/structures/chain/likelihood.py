"""The likelihood of gold labels and its gradient, over the weights of `AttributeModel`.

The gradient of -log p(y | x) is the expectation of each feature less its value for the gold labels. It is computed in
two steps: `expect` goes through sentences and writes P(y_t | x) less the gold label for each position; `gather` goes
through attributes and adds up the positions that have them. Each number is written by one thread only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import implement, kernel, operation
from swvp.structures.chain.attributes import AttributeChain, score_positions
from swvp.structures.chain.marginals import ChainBuffers, Transitions, backward, forward
from swvp.types import Floats, Ids, Ints

__all__ = ["Occurrences", "distributions", "expect", "gather", "occurrences", "path_score", "position_scores"]


class Occurrences(NamedTuple):
    """The positions at which each attribute occurs: positions[starts[a]:starts[a + 1]], in order, with values."""

    starts: Ints
    positions: Ids
    values: Floats


def occurrences(attributes: Ids, values: Floats, starts: Ints, count: int) -> Occurrences:
    """Turn attributes by position into positions by attribute, for `count` attributes."""
    ends = np.zeros(count + 1, np.int64)
    ends[1:] = np.cumsum(np.bincount(attributes, minlength=count))
    positions, sorted_values = np.zeros(len(attributes), np.uint32), np.zeros(len(values))
    transpose(attributes, values, starts, ends[:-1].copy(), positions, sorted_values)
    return Occurrences(ends, positions, sorted_values)


@kernel
def transpose(attributes, values, starts, next_place, positions, sorted_values):
    for t in range(len(starts) - 1):
        for p in range(starts[t], starts[t + 1]):
            place = next_place[attributes[p]]
            positions[place] = t
            if len(values):
                sorted_values[place] = values[p]
            next_place[attributes[p]] = place + 1


@operation
def position_scores(problem: Any, first: int, n: int, w: Floats, node: Floats) -> None:
    """Write Σ_a value·w(a, y) of all labels of the positions first:first + n."""


@implement(position_scores, AttributeChain)
@kernel
def dense_position_scores(problem, first, n, w, node):
    score_positions(problem.attributes, problem.values, problem.starts, first, n, w, node)


@kernel
def path_score(y, start, n, node, moves):
    """The score, divided by the temperature, of the n labels y[start:start + n]; -inf if they are forbidden."""
    labels = node.shape[1]
    score, previous = 0.0, labels
    for t in range(n):
        label = np.int64(y[start + t])
        score += node[t, label] * moves.scale + moves.scaled[previous, label]
        previous = label
    return score + moves.scaled[previous, labels] if n else 0.0


@kernel
def distributions(
    problem: AttributeChain,
    w: Floats,
    moves: Transitions,
    node: Floats,
    buffers: ChainBuffers,
    out: Floats,
    scores: Floats,
    log_z: Floats,
) -> None:
    """Write log Z of each sentence and the score of its labels in problem.y; if `out` has rows, P(y_t | x) there."""
    unused = np.zeros_like(moves.factor)
    for i in range(len(problem.offsets) - 1):
        start = problem.offsets[i]
        n = problem.offsets[i + 1] - start
        position_scores(problem, start, n, w, node)
        log_z[i], way = forward(n, node, moves, buffers)
        if len(problem.y):
            scores[i] = path_score(problem.y, start, n, node, moves)
        if len(out) and log_z[i] > -np.inf:
            backward(n, node, moves, way, buffers, out, start, unused, unused)


@kernel
def expect(
    problem: AttributeChain,
    first: int,
    last: int,
    w: Floats,
    moves: Transitions,
    node: Floats,
    buffers: ChainBuffers,
    out: Floats,
    pairs: Floats,
    exact: Floats,
    wrong: Ints,
) -> float:
    """The log-likelihood of the sentences first:last; write P(y_t | x) less the gold label into `out`.

    The same for pairs is added to `pairs` and `exact`, as `backward` does. `wrong` counts the sentences and the
    positions in which the gold label is not the most probable one.
    """
    labels = w.shape[1]
    y = problem.y
    total = 0.0
    for i in range(first, last):
        start = problem.offsets[i]
        n = problem.offsets[i + 1] - start
        if n == 0:
            continue
        score_positions(problem.attributes, problem.values, problem.starts, start, n, w, node)
        log_z, way = forward(n, node, moves, buffers)
        score = path_score(y, start, n, node, moves)
        if score == -np.inf:
            return -np.inf
        total += score - log_z
        backward(n, node, moves, way, buffers, out, start, pairs, exact)
        before, previous = wrong[1], labels
        for t in range(start, start + n):
            label = np.int64(y[t])
            for z in range(labels):
                if out[t, z] > out[t, label]:
                    wrong[1] += 1
                    break
            out[t, label] -= 1.0
            exact[previous, label] -= 1.0
            previous = label
        exact[previous, labels] -= 1.0
        wrong[0] += wrong[1] > before
    return total


@kernel
def gather(places: Occurrences, first: int, last: int, out: Floats, w: Floats, l2: float, gradient: Floats) -> float:
    """Write the gradient of the attributes first:last, l2·w included, and return Σ w²."""
    labels = w.shape[1]
    squares = 0.0
    for a in range(first, last):
        for y in range(labels):
            gradient[a, y] = l2 * w[a, y]
            squares += w[a, y] * w[a, y]
        p, end = places.starts[a], places.starts[a + 1]
        if len(places.values) == 0:
            while p + 4 <= end:
                i, j, k, m = (
                    places.positions[p],
                    places.positions[p + 1],
                    places.positions[p + 2],
                    places.positions[p + 3],
                )
                for y in range(labels):
                    gradient[a, y] += (out[i, y] + out[j, y]) + (out[k, y] + out[m, y])
                p += 4
        while p < end:
            i = places.positions[p]
            times = places.values[p] if len(places.values) else 1.0
            for y in range(labels):
                gradient[a, y] += times * out[i, y]
            p += 1
    return squares
