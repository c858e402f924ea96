"""Owns the comparison of two predictions on several test sets: the mean difference, and p-values of many tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swvp.errors import InputError
from swvp.scoring.paired import Ints, check, difference, interval_of, resampled, share_as_large, swapped

__all__ = ["MeanComparison", "compare_means", "holm"]


@dataclass(frozen=True)
class MeanComparison:
    """The mean over the test sets of second - first, as a share; each test set counts the same, whatever its size."""

    difference: float
    interval: tuple[float, float]
    p: float
    sets: int


def compare_means(pairs: Sequence[tuple[Ints, Ints]], *, samples: int = 10_000, seed: int = 0) -> MeanComparison:
    """Compare two predictions of several test sets by the (right, of) of each sentence.

    Stratified: sentences are swapped (for p, approximate randomisation) or drawn (for the 95 % interval, percentile
    bootstrap) within their own test set, and each sample has its mean over the sets. So it speaks of other sentences of
    these test sets, not of other languages.
    """
    if not pairs:
        raise InputError("no test set to compare on")
    for first, second in pairs:
        check(first, second, samples, seed)
    observed = np.mean([difference(*pair) for pair in pairs], axis=0)
    shuffled, drawn = (
        np.mean([draw(*pair, samples, np.random.default_rng([seed, kind, k])) for k, pair in enumerate(pairs)], axis=0)
        for kind, draw in ((3, swapped), (2, resampled))
    )
    return MeanComparison(float(observed), interval_of(drawn), share_as_large(shuffled, observed), len(pairs))


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
