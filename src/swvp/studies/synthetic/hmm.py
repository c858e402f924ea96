"""The synthetic data of section 6: hidden Markov models, samples from them, and the best possible accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["HMM", "permuted_hmm", "posterior_decode", "sample"]


@dataclass(frozen=True)
class HMM:
    """P(y_1), P(y' | y) and P(x | y) as rows of probabilities."""

    initial: NDArray[np.float64]
    transition: NDArray[np.float64]
    emission: NDArray[np.float64]


def permuted_hmm(
    transition: Sequence[float], emission: Sequence[float], labels: int, symbols: int, rng: np.random.Generator
) -> HMM:
    """Return an HMM whose rows are independent random permutations of two vectors, padded with 0 and scaled to sum 1.

    The first label is uniform (section 6).
    """

    def rows(values: Sequence[float], width: int) -> NDArray[np.float64]:
        padded = np.zeros(width)
        padded[: len(values)] = values
        padded /= padded.sum()
        return np.stack([rng.permutation(padded) for _ in range(labels)])

    return HMM(np.full(labels, 1 / labels), rows(transition, labels), rows(emission, symbols))


def sample(hmm: HMM, items: int, length: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sample sequences: observed symbols x and hidden labels y, both of shape (items, length)."""
    y = np.empty((items, length), np.int64)
    y[:, 0] = draw(hmm.initial[None].repeat(items, 0), rng)
    for t in range(1, length):
        y[:, t] = draw(hmm.transition[y[:, t - 1]], rng)
    x = draw(hmm.emission[y.ravel()], rng).reshape(items, length)
    return x, y


def draw(probabilities: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw an index for each row, with the probabilities of that row."""
    cumulative = probabilities.cumsum(1)
    cumulative[:, -1] = np.inf  # rounding must not leave a gap at the end
    index: NDArray[np.int64] = (rng.random((len(probabilities), 1)) >= cumulative).sum(1)
    return index


def posterior_decode(hmm: HMM, x: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return argmax_y P(y_t | x) and its probability at every position, by forward–backward on the true HMM.

    No predictor has a higher expected accuracy per position: this is the Bayes ceiling of the study.
    """
    items, length = x.shape
    emit = hmm.emission[:, x].transpose(1, 2, 0)  # (items, length, labels)
    forward = np.empty((items, length, len(hmm.initial)))
    backward = np.ones_like(forward)
    forward[:, 0] = hmm.initial * emit[:, 0]
    for t in range(1, length):
        forward[:, t] = forward[:, t - 1] @ hmm.transition * emit[:, t]
        forward[:, t] /= forward[:, t].sum(1, keepdims=True)
    for t in range(length - 2, -1, -1):
        backward[:, t] = (backward[:, t + 1] * emit[:, t + 1]) @ hmm.transition.T
        backward[:, t] /= backward[:, t].sum(1, keepdims=True)
    posterior = forward * backward
    posterior /= posterior.sum(2, keepdims=True)
    return posterior.argmax(2), posterior.max(2)
