"""Owns the comparison of two predictions on several test sets: of each, of their mean, and p-values of many tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swvp.errors import InputError
from swvp.scoring.paired import Floats, Ints, check, difference, interval_of, resampled, share_as_large, swapped

__all__ = ["Tested", "compare_sets", "holm"]


@dataclass(frozen=True)
class Tested:
    """second - first as a share, its 95 % interval, its p-value, and the p-value corrected for the number of sets."""

    difference: float
    interval: tuple[float, float]
    p: float
    corrected: float


def compare_sets(
    pairs: Sequence[tuple[Ints, Ints]], *, samples: int = 10_000, seed: int = 0
) -> tuple[list[Tested], Tested]:
    """Compare two predictions on several test sets by the (right, of) of each sentence: on each, and on the mean.

    p is that of approximate randomisation, the interval that of the percentile bootstrap, as in `swvp.scoring.paired`;
    those of sets are corrected by Holm's method. For the mean, in which each set counts the same whatever its size,
    sentences are swapped and drawn within their own set. So it speaks of other sentences of these sets, not of others.
    """
    if not pairs:
        raise InputError("no test set to compare on")
    observed, shuffled, drawn = [], [], []
    for k, (first, second) in enumerate(pairs):
        check(first, second, samples, seed)
        first, second = lean(first, second)
        observed.append(difference(first, second))
        drawn.append(resampled(first, second, samples, np.random.default_rng([seed, 2, k])))
        shuffled.append(swapped(first, second, samples, np.random.default_rng([seed, 3, k])))
    found = [tested(*each) for each in zip(observed, shuffled, drawn, strict=True)]
    corrected = holm([each.p for each in found])
    sets = [Tested(each.difference, each.interval, each.p, p) for each, p in zip(found, corrected, strict=True)]
    return sets, tested(np.mean(observed, axis=0), np.mean(shuffled, axis=0), np.mean(drawn, axis=0))


def tested(observed: Floats, shuffled: Floats, drawn: Floats) -> Tested:
    p = share_as_large(shuffled, observed)
    return Tested(float(observed), interval_of(drawn), p, p)


def lean(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """Counts with the same differences, and fewer different ones where both are out of as many."""
    if (first[:, 1] != second[:, 1]).any():
        return first, second
    return np.stack([0 * first[:, 0], first[:, 1]], 1), np.stack([second[:, 0] - first[:, 0], first[:, 1]], 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values of a family of tests, each raised so that a false alarm among all of them is as rare as told.

    >>> [round(p, 2) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    result, least = [0.0] * len(p_values), 0.0
    for rank, k in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[k]))
        result[k] = least
    return result
