"""The probabilities of a chain: p(y | x) = exp(score(y) / temperature) / Z, by forward and backward sums.

A position's sums are scaled to add up to 1 and the exponentials of the transitions are taken once, so a step is
multiplications only. That is exact unless a label with a tiny sum so far matters later. If every transition is allowed
this cannot happen: the label gains at most as much as the transitions differ (SPREAD bounds both). With forbidden
transitions it can. Then a chain in which a label falls below SMALLEST is computed again with logarithms, and so is
every chain if the transitions differ by more than SPREAD.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import kernel
from swvp.types import Floats

__all__ = [
    "ChainBuffers",
    "Marginals",
    "Transitions",
    "backward",
    "chain_marginals",
    "forward",
    "new_chain_buffers",
    "transitions",
]

SPREAD = 180.0
SMALLEST = 1e-200
TINY = 1e-280
FREE, CHECKED, BY_LOGARITHMS = range(3)


class Transitions(NamedTuple):
    """Transitions [previous, label] as the sums need them; -inf is forbidden."""

    scaled: Floats  # moves / temperature
    factor: Floats  # exp(scaled - largest)
    turned: Floats  # factor [label, previous]
    largest: float
    scale: float  # 1 / temperature
    way: int


class ChainBuffers(NamedTuple):
    """Buffers for one chain, written by `forward` and read by `backward`.

    In the computation with logarithms alpha is a logarithm, and `factor` holds the backward sums.
    """

    alpha: Floats  # P(y_t | x_1, …, x_t)
    factor: Floats  # exp of the position's scaled scores, less their largest
    norm: Floats  # what alpha was divided by; the last is for the step from the last position to the boundary
    ahead: Floats  # factor · backward sum / norm of one position


def transitions(moves: Floats, temperature: float = 1.0) -> Transitions:
    """Prepare transitions for `forward`: once for all chains."""
    scaled = np.asarray(moves, float) / temperature
    used = scaled.copy()
    used[-1, -1] = used[0, 0]  # no chain with positions goes from boundary to boundary
    allowed = used[np.isfinite(used)]
    largest = float(allowed.max(initial=-np.inf))
    largest = largest if np.isfinite(largest) else 0.0
    if len(allowed) and largest - allowed.min() > SPREAD:
        way = BY_LOGARITHMS
    else:
        way = FREE if len(allowed) == used.size else CHECKED
    factor = np.exp(np.minimum(scaled - largest, 0.0))
    return Transitions(scaled, factor, np.ascontiguousarray(factor.T), largest, 1.0 / temperature, way)


def new_chain_buffers(labels: int, positions: int) -> ChainBuffers:
    """Buffers for chains of at most `positions` positions."""
    return ChainBuffers(
        alpha=np.zeros((positions, labels)),
        factor=np.zeros((positions, labels)),
        norm=np.zeros(positions + 1),
        ahead=np.zeros(labels),
    )


@kernel
def forward(n, node, moves, buffers):
    """log Z of the n positions scored in `node`, -inf if no sequence is allowed; and the way it was computed."""
    if n == 0:
        return 0.0, moves.way
    if moves.way != BY_LOGARITHMS:
        z, safe = forward_scaled(n, node, moves, buffers)
        if safe:
            return z, moves.way
    return forward_logarithms(n, node, moves, buffers), BY_LOGARITHMS


@kernel
def forward_scaled(n, node, moves, buffers):
    """`forward` by multiplications; the second value is whether no sum that may matter was lost."""
    labels = node.shape[1]
    alpha, factor, by, scale = buffers.alpha, buffers.factor, moves.factor, moves.scale
    log_z = (n + 1) * moves.largest
    for t in range(n):
        most = node[t, 0]
        for y in range(1, labels):
            most = max(most, node[t, y])
        for y in range(labels):
            factor[t, y] = np.exp((node[t, y] - most) * scale)
        if t == 0:
            for y in range(labels):
                alpha[0, y] = by[labels, y]
        else:
            for y in range(labels):
                alpha[t, y] = 0.0
            p = 0
            while p + 4 <= labels:  # four rows at a time, as in viterbi
                a, b, c, d = alpha[t - 1, p], alpha[t - 1, p + 1], alpha[t - 1, p + 2], alpha[t - 1, p + 3]
                for y in range(labels):
                    alpha[t, y] += (a * by[p, y] + b * by[p + 1, y]) + (c * by[p + 2, y] + d * by[p + 3, y])
                p += 4
            while p < labels:
                a = alpha[t - 1, p]
                for y in range(labels):
                    alpha[t, y] += a * by[p, y]
                p += 1
        total, least = 0.0, 1.0
        for y in range(labels):
            reached = alpha[t, y] > 0.0
            alpha[t, y] *= factor[t, y]
            total += alpha[t, y]
            least = min(least, alpha[t, y]) if reached else least
        if moves.way == CHECKED and (least < SMALLEST * total or least < TINY):
            return 0.0, False
        if total == 0.0:
            return -np.inf, True
        buffers.norm[t] = total
        total = 1.0 / total
        for y in range(labels):
            alpha[t, y] *= total
        log_z += np.log(buffers.norm[t]) + most * scale
    end = 0.0
    for y in range(labels):
        end += alpha[n - 1, y] * by[y, labels]
    buffers.norm[n] = end
    return log_z + np.log(end) if end > 0.0 else -np.inf, True


@kernel
def backward(n, node, moves, way, buffers, out, at, pairs, exact):
    """Write P(y_t | x) into out[at + t] after `forward`; add the pairs' P(y_{t-1}, y_t | x) of the chain.

    The sum of the pairs is pairs · moves.factor + exact: what the scaled sums add goes to `pairs`, which is
    multiplied once for all chains, the rest to `exact`.
    """
    if n == 0:
        return
    if way == BY_LOGARITHMS:
        backward_logarithms(n, node, moves, buffers, out, at, exact)
        return
    labels = node.shape[1]
    alpha, turned, ahead = buffers.alpha, moves.turned, buffers.ahead
    for y in range(labels):
        out[at + n - 1, y] = moves.factor[y, labels] / buffers.norm[n]
        pairs[y, labels] += alpha[n - 1, y] / buffers.norm[n]
    for t in range(n - 1, -1, -1):
        # out[at + t] holds the backward sums of t; a label that cannot be reached counts 0
        inverse = 1.0 / buffers.norm[t]
        for y in range(labels):
            ahead[y] = out[at + t, y] * (buffers.factor[t, y] * inverse) if alpha[t, y] > 0.0 else 0.0
            out[at + t, y] = out[at + t, y] * alpha[t, y] if alpha[t, y] > 0.0 else 0.0
        if t == 0:
            for y in range(labels):
                pairs[labels, y] += ahead[y]
            return
        for y in range(labels):
            out[at + t - 1, y] = 0.0
        z = 0
        while z + 4 <= labels:
            a, b, c, d = ahead[z], ahead[z + 1], ahead[z + 2], ahead[z + 3]
            for y in range(labels):
                out[at + t - 1, y] += (a * turned[z, y] + b * turned[z + 1, y]) + (
                    c * turned[z + 2, y] + d * turned[z + 3, y]
                )
            z += 4
        while z < labels:
            a = ahead[z]
            for y in range(labels):
                out[at + t - 1, y] += a * turned[z, y]
            z += 1
        for y in range(labels):
            a = alpha[t - 1, y]
            for z in range(labels):
                pairs[y, z] += a * ahead[z]


@kernel
def forward_logarithms(n, node, moves, buffers):
    """`forward` with logarithms: slow, and right for every input."""
    labels = node.shape[1]
    alpha = buffers.alpha
    log_z = 0.0
    for t in range(n):
        for y in range(labels):
            if t == 0:
                alpha[0, y] = moves.scaled[labels, y]
            else:
                most = -np.inf
                for p in range(labels):
                    most = max(most, alpha[t - 1, p] + moves.scaled[p, y])
                total = 0.0
                for p in range(labels):
                    total += np.exp(alpha[t - 1, p] + moves.scaled[p, y] - most) if most > -np.inf else 0.0
                alpha[t, y] = most + np.log(total) if total > 0.0 else -np.inf
            alpha[t, y] += node[t, y] * moves.scale
        most = -np.inf
        for y in range(labels):
            most = max(most, alpha[t, y])
        if most == -np.inf:
            return -np.inf
        total = 0.0
        for y in range(labels):
            total += np.exp(alpha[t, y] - most)
        buffers.norm[t] = most + np.log(total)
        log_z += buffers.norm[t]
        for y in range(labels):
            alpha[t, y] -= buffers.norm[t]
    most, total = -np.inf, 0.0
    for y in range(labels):
        most = max(most, alpha[n - 1, y] + moves.scaled[y, labels])
    for y in range(labels):
        total += np.exp(alpha[n - 1, y] + moves.scaled[y, labels] - most) if most > -np.inf else 0.0
    buffers.norm[n] = most + np.log(total) if total > 0.0 else -np.inf
    return log_z + buffers.norm[n]


@kernel
def backward_logarithms(n, node, moves, buffers, out, at, exact):
    """`backward` with logarithms."""
    labels = node.shape[1]
    alpha, beta, ahead = buffers.alpha, buffers.factor, buffers.ahead
    for y in range(labels):
        beta[n - 1, y] = moves.scaled[y, labels] - buffers.norm[n]
        exact[y, labels] += np.exp(alpha[n - 1, y] + beta[n - 1, y])
    for t in range(n - 1, -1, -1):
        for y in range(labels):
            out[at + t, y] = np.exp(alpha[t, y] + beta[t, y])
            ahead[y] = node[t, y] * moves.scale + beta[t, y] - buffers.norm[t]
        for p in range(labels if t > 0 else 0):
            most, total = -np.inf, 0.0
            for y in range(labels):
                most = max(most, moves.scaled[p, y] + ahead[y])
            for y in range(labels):
                step = moves.scaled[p, y] + ahead[y]
                total += np.exp(step - most) if most > -np.inf else 0.0
                exact[p, y] += np.exp(alpha[t - 1, p] + step)
            beta[t - 1, p] = most + np.log(total) if total > 0.0 else -np.inf
    for y in range(labels):
        exact[labels, y] += out[at, y]


class Marginals(NamedTuple):
    """The result of `chain_marginals`. The last index of `pairs` [t, previous, label] is BOUNDARY."""

    log_z: float
    single: Floats  # P(y_t = y | x), (n, labels)
    pairs: Floats  # P(y_{t-1} = y', y_t = y | x), (n + 1, labels + 1, labels + 1)


def chain_marginals(node: Floats, moves: Floats, temperature: float = 1.0) -> Marginals:
    """log Z and all marginals of one chain with the scores `node` [t, y] and `moves` [previous, label].

    If no sequence is allowed, log Z is -inf and all probabilities are 0.
    """
    n, labels = node.shape
    prepared = transitions(moves, temperature)
    buffers = new_chain_buffers(labels, n)
    single, pairs = np.zeros((n, labels)), np.zeros((n + 1, labels + 1, labels + 1))
    log_z, way = forward(n, node, prepared, buffers)
    if n and log_z > -np.inf:
        backward(n, node, prepared, way, buffers, single, 0, np.zeros_like(moves), np.zeros_like(moves))
        pair_marginals(n, node, prepared, way, buffers, single, pairs)
    return Marginals(float(log_z), single, pairs)


@kernel
def pair_marginals(n, node, moves, way, buffers, single, pairs):
    """Write P(y_{t-1}, y_t | x) of each pair, after `backward`: P(y_{t-1} | x_1, …) P(step) P(y_t | x) / P(y_t | …)."""
    labels = node.shape[1]
    for y in range(labels):
        pairs[0, labels, y] = single[0, y]
        pairs[n, y, labels] = single[n - 1, y]
    for t in range(1, n):
        for p in range(labels):
            for y in range(labels):
                if way == BY_LOGARITHMS:
                    step = moves.scaled[p, y] + node[t, y] * moves.scale + buffers.factor[t, y] - buffers.norm[t]
                    pairs[t, p, y] = np.exp(buffers.alpha[t - 1, p] + step)
                elif single[t, y] > 0.0:
                    share = buffers.factor[t, y] / buffers.norm[t] / buffers.alpha[t, y] * moves.factor[p, y]
                    pairs[t, p, y] = buffers.alpha[t - 1, p] * share * single[t, y]
