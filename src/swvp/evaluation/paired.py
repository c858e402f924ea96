"""Owns the comparison of two predictions of the same sentences: the difference, its interval, two paired tests.

A score is Σ right / Σ of over the sentences; what is counted of a sentence is decided by those who compare. Whole
sentences are drawn, never tokens: the tokens of a sentence are not independent. Sentences with the same counts are one
group, and only how often a group is drawn is drawn; this changes no distribution, only the time.

Owns the comparison of two predictions on several test sets: of each, of their mean, and p-values of many tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.checks import shown
from swvp.errors import InputError
from swvp.tables import html_table

__all__ = [
    "MEASURES",
    "Comparison",
    "Tested",
    "compare_counts",
    "compare_sets",
    "holm",
    "paired_bootstrap",
    "paired_permutation",
]

MEASURES = {"accuracy": "token accuracy", "f1": "phrase F1", "uas": "UAS", "las": "LAS"}
LEVEL = 0.95
CELLS = 1 << 20  # drawn at once, to bound the memory
ROUNDING = 1e-12
MOST_SAMPLES = 10_000_000

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Scores as shares, `difference` = `second` - `first`; the tests are those of the functions of their names."""

    measure: str
    first: float
    second: float
    difference: float
    interval: tuple[float, float]
    bootstrap_p: float
    permutation_p: float
    sentences: int
    samples: int
    seed: int

    @property
    def name(self) -> str:
        """What is compared, in words."""
        return MEASURES[self.measure]

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {**asdict(self), "interval": list(self.interval)}

    def rows(self) -> list[tuple[str, str]]:
        """What a table shows, in percent."""
        low, high = self.interval
        return [
            ("first", f"{100 * self.first:.2f}"),
            ("second", f"{100 * self.second:.2f}"),
            ("second - first", f"{100 * self.difference:+.2f}"),
            (f"{LEVEL:.0%} interval", f"{100 * low:+.2f} to {100 * high:+.2f}"),
            ("p, paired bootstrap", f"{self.bootstrap_p:.4f}"),
            ("p, paired permutation", f"{self.permutation_p:.4f}"),
        ]

    def _repr_html_(self) -> str:
        return html_table(f"Compared by {self.name}", ["", ""], self.rows())


def compare_counts(measure: str, first: Ints, second: Ints, *, samples: int = 10_000, seed: int = 0) -> Comparison:
    """Compare two predictions by the (right, of) of each sentence."""
    bootstrap_p, interval = paired_bootstrap(first, second, samples=samples, seed=seed)
    permutation_p = paired_permutation(first, second, samples=samples, seed=seed)
    score_a, score_b = (float(score(counts.sum(axis=0))) for counts in (first, second))
    return Comparison(
        measure, score_a, score_b, score_b - score_a, interval, bootstrap_p, permutation_p, len(first), samples, seed
    )


def paired_bootstrap(
    first: Ints, second: Ints, *, samples: int = 10_000, seed: int = 0
) -> tuple[float, tuple[float, float]]:
    """The two-sided p-value and the 95 % interval of the difference d = score(second) - score(first).

    Each sample draws as many sentences as there are, with replacement, the same for both, and has its difference d*.
    The interval is from the 2.5 % to the 97.5 % quantile of the d* (percentile interval). For the p-value, the d* are
    moved to have no difference on the whole: p = (1 + the number of samples with |d* - d| >= |d|) / (1 + samples).
    """
    check(first, second, samples, seed)
    drawn = resampled(first, second, samples, np.random.default_rng([seed, 0]))
    observed = difference(first, second)
    return share_as_large(drawn - observed, observed), interval_of(drawn)


def resampled(first: Ints, second: Ints, samples: int, rng: np.random.Generator) -> Floats:
    """The differences of samples of the sentences, drawn with replacement."""
    groups, sizes = np.unique(np.hstack([first, second]), axis=0, return_counts=True)
    return np.concatenate(
        [
            differences(rng.multinomial(len(first), sizes / len(first), size=size) @ groups)
            for size in portions(samples, len(groups))
        ]
    )


def paired_permutation(first: Ints, second: Ints, *, samples: int = 10_000, seed: int = 0) -> float:
    """The two-sided p-value of approximate randomisation.

    Each sample swaps the two predictions of each sentence with probability 1/2, independently, and has the difference
    d* = score(second) - score(first) of what comes out: p = (1 + the number of samples with |d*| >= |d|) /
    (1 + samples), where d is the difference without swaps.
    """
    check(first, second, samples, seed)
    drawn = swapped(first, second, samples, np.random.default_rng([seed, 1]))
    return share_as_large(drawn, difference(first, second))


def swapped(first: Ints, second: Ints, samples: int, rng: np.random.Generator) -> Floats:
    """The differences after the predictions of each sentence were swapped with probability 1/2."""
    groups, sizes = np.unique(second - first, axis=0, return_counts=True)
    total = np.concatenate([first.sum(axis=0), second.sum(axis=0)])
    drawn = []
    for size in portions(samples, len(groups)):
        moved = rng.binomial(sizes, 0.5, size=(size, len(groups))) @ groups
        drawn.append(differences(total + np.hstack([moved, -moved])))
    return np.concatenate(drawn)


def difference(first: Ints, second: Ints) -> Floats:
    """score(second) - score(first) of all sentences."""
    return differences(np.concatenate([first.sum(axis=0), second.sum(axis=0)]))


def interval_of(drawn: Floats) -> tuple[float, float]:
    """The percentile interval of what was drawn."""
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def differences(sums: Ints) -> Floats:
    """score(second) - score(first) of sums (right, of, right, of): first, second; also of a row of each sample."""
    return score(sums[..., 2:]) - score(sums[..., :2])


def score(sums: Ints) -> Floats:
    """right / of; 0 where there is nothing, as conlleval has it."""
    right, of = sums[..., 0], sums[..., 1]
    result: Floats = right / np.maximum(of, 1)
    return result


def share_as_large(drawn: Floats, observed: Floats) -> float:
    """The p-value; the observed difference counts as one more sample, so that it is never 0."""
    large = np.count_nonzero(np.abs(drawn) >= np.abs(observed) - ROUNDING)
    return (1 + int(large)) / (1 + len(drawn))


def portions(samples: int, width: int) -> Iterator[int]:
    """Numbers of samples that sum to all of them, each small enough for the memory."""
    most = max(CELLS // width, 1)
    for begin in range(0, samples, most):
        yield min(most, samples - begin)


def check(first: Ints, second: Ints, samples: int, seed: int) -> None:
    if len(first) != len(second):
        raise InputError(f"{len(first)} sentences in the first prediction, {len(second)} in the second")
    if not len(first):
        raise InputError("no sentence to compare")
    if isinstance(samples, bool) or samples < 1:
        raise InputError(f"samples must be at least 1, not {shown(samples)}")
    if samples > MOST_SAMPLES:
        raise InputError(f"samples must be at most {MOST_SAMPLES:,}, not {shown(samples)}")
    if seed < 0:
        raise InputError(f"seed must be at least 0, not {seed}")


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

    p is that of approximate randomisation, the interval that of the percentile bootstrap, as above;
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
