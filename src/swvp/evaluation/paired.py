"""Paired significance tests of two predictions or of two ways of training, on one test set or on several.

A score is Σ right / Σ total over the sentences; the caller decides what is counted. The tests resample whole sentences,
because the tokens of a sentence are not independent. Sentences with the same counts form one group, and a sample draws
only how often each group occurs: this gives the same distribution in less time.

A test on the predictions of one training is about other sentences. The next seed may give other weights and another
difference, so a claim about a way of training needs both: each sample of the bootstrap draws sentences and, separately,
seeds. A sample has one seed less than there are: with n draws of n seeds, the variance of their mean would be only
(n - 1) / n of the right one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, shown
from swvp.tables import html_table

__all__ = [
    "MEASURES",
    "Comparison",
    "Difference",
    "compare_counts",
    "compare_seeds",
    "compare_sets",
    "holm",
    "paired_bootstrap",
    "paired_permutation",
]

MEASURES = {"accuracy": "token accuracy", "f1": "phrase F1", "uas": "UAS", "las": "LAS"}
LEVEL = 0.95
CELLS = 1 << 20  # random numbers drawn at once, which bounds the memory
ROUNDING = 1e-12
MAX_SAMPLES = 10_000_000

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Two predictions compared on one test set; scores are shares, not percent.

    Attributes
    ----------
    measure : {"accuracy", "f1", "uas", "las"}
        What is compared.
    first, second, difference : float
        The two scores, and second - first.
    interval : (float, float)
        The 95 % percentile interval of the difference, from the bootstrap.
    bootstrap_p, permutation_p : float
        The two-sided p-values of `paired_bootstrap` and `paired_permutation`.
    sentences, samples, seed : int
        The number of sentences, the number of samples of each test, and the seed.

    Examples
    --------
    >>> from swvp.evaluation import compare_tags
    >>> gold = [["N", "V"]] * 20
    >>> comparison = compare_tags(gold, [["N", "N"]] * 10 + gold[10:], gold)
    >>> comparison.name, comparison.first, comparison.second
    ('token accuracy', 0.75, 1.0)
    """

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
        """The measure in words."""
        return MEASURES[self.measure]

    def as_dict(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        return {**asdict(self), "interval": list(self.interval)}

    def rows(self) -> list[tuple[str, str]]:
        """Return the rows of a table, (name, value in percent)."""
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
    """Compare two predictions by the (right, total) of each sentence.

    Parameters
    ----------
    measure : {"accuracy", "f1", "uas", "las"}
        What is counted; only for display.
    first, second : array of int, shape (sentences, 2)
        The counts of the two predictions.
    samples, seed : int
        The number of samples of each test, and the seed of the random draws.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> first, second = np.array([[1, 2]] * 20), np.array([[2, 2]] * 20)
    >>> compare_counts("accuracy", first, second).difference
    0.5
    """
    bootstrap_p, interval = paired_bootstrap(first, second, samples=samples, seed=seed)
    permutation_p = paired_permutation(first, second, samples=samples, seed=seed)
    score_a, score_b = (float(score(counts.sum(axis=0))) for counts in (first, second))
    return Comparison(
        measure, score_a, score_b, score_b - score_a, interval, bootstrap_p, permutation_p, len(first), samples, seed
    )


def paired_bootstrap(
    first: Ints, second: Ints, *, samples: int = 10_000, seed: int = 0
) -> tuple[float, tuple[float, float]]:
    """Return the two-sided p-value and the 95 % interval of the difference d = score(second) - score(first).

    Each sample draws as many sentences as there are, with replacement, the same for both predictions, and has a
    difference d*. The interval reaches from the 2.5 % to the 97.5 % quantile of d* (percentile interval). The p-value
    centres d* at 0: p = (1 + the number of samples with |d* - d| >= |d|) / (1 + samples).

    Parameters
    ----------
    first, second : array of int, shape (sentences, 2)
        (right, total) of each sentence, for the two predictions.
    samples, seed : int
        The number of samples, and the seed of the random draws.

    Returns
    -------
    p : float
    interval : (float, float)

    Examples
    --------
    >>> first, second = np.array([[1, 2]] * 30 + [[2, 2]] * 10), np.array([[2, 2]] * 30 + [[1, 2]] * 10)
    >>> p, (low, high) = paired_bootstrap(first, second)
    >>> p < 0.01, 0 < low < 0.25 < high
    (True, True)
    """
    check(first, second, samples, seed)
    drawn = resampled(first, second, samples, np.random.default_rng([seed, 0]))
    observed = difference(first, second)
    return share_as_large(drawn - observed, observed), interval_of(drawn)


def resampled(first: Ints, second: Ints, samples: int, rng: np.random.Generator) -> Floats:
    """Return the difference of each bootstrap sample."""
    groups, sizes = np.unique(np.hstack([first, second]), axis=0, return_counts=True)
    return np.concatenate(
        [
            differences(rng.multinomial(len(first), sizes / len(first), size=size) @ groups)
            for size in portions(samples, len(groups))
        ]
    )


def paired_permutation(first: Ints, second: Ints, *, samples: int = 10_000, seed: int = 0) -> float:
    """Return the two-sided p-value of a paired permutation test (approximate randomisation).

    Each sample swaps the two predictions of each sentence with probability 1/2, independently, and has a difference
    d* = score(second) - score(first). Without swaps the difference is d: p = (1 + the number of samples with
    |d*| >= |d|) / (1 + samples).

    Parameters
    ----------
    first, second : array of int, shape (sentences, 2)
        (right, total) of each sentence, for the two predictions.
    samples, seed : int
        The number of samples, and the seed of the random draws.

    Examples
    --------
    >>> first, second = np.array([[1, 2]] * 30 + [[2, 2]] * 10), np.array([[2, 2]] * 30 + [[1, 2]] * 10)
    >>> paired_permutation(first, second) < 0.01
    True
    """
    check(first, second, samples, seed)
    drawn = swapped(first, second, samples, np.random.default_rng([seed, 1]))
    return share_as_large(drawn, difference(first, second))


def swapped(first: Ints, second: Ints, samples: int, rng: np.random.Generator) -> Floats:
    """Return the difference of each permutation sample."""
    groups, sizes = np.unique(second - first, axis=0, return_counts=True)
    total = np.concatenate([first.sum(axis=0), second.sum(axis=0)])
    drawn = []
    for size in portions(samples, len(groups)):
        moved = rng.binomial(sizes, 0.5, size=(size, len(groups))) @ groups
        drawn.append(differences(total + np.hstack([moved, -moved])))
    return np.concatenate(drawn)


def difference(first: Ints, second: Ints) -> Floats:
    """Return score(second) - score(first) of all sentences."""
    return differences(np.concatenate([first.sum(axis=0), second.sum(axis=0)]))


def interval_of(drawn: Floats) -> tuple[float, float]:
    """Return the percentile interval of the sampled differences."""
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def differences(sums: Ints) -> Floats:
    """Return score(second) - score(first), given (right, total, right, total) of first and second in the last axis."""
    return score(sums[..., 2:]) - score(sums[..., :2])


def score(sums: Ints) -> Floats:
    """Return right / total; 0 where the total is 0, as conlleval does."""
    right, total = sums[..., 0], sums[..., 1]
    result: Floats = right / np.maximum(total, 1)
    return result


def share_as_large(drawn: Floats, observed: Floats) -> float:
    """Return the p-value; the observed difference counts as one more sample, so that it is never 0."""
    large = np.count_nonzero(np.abs(drawn) >= np.abs(observed) - ROUNDING)
    return (1 + int(large)) / (1 + len(drawn))


def portions(samples: int, width: int) -> Iterator[int]:
    """Yield numbers of samples that sum to `samples`, each small enough for the memory."""
    most = max(CELLS // width, 1)
    for begin in range(0, samples, most):
        yield min(most, samples - begin)


def check(first: Ints, second: Ints, samples: int, seed: int) -> None:
    """Raise InputError if the arguments of a test cannot be used."""
    if len(first) != len(second):
        raise InputError(f"{len(first)} sentences in the first prediction, {len(second)} in the second")
    if not len(first):
        raise InputError("no sentence to compare")
    if isinstance(samples, bool) or samples < 1:
        raise InputError(f"samples must be at least 1, not {shown(samples)}")
    if samples > MAX_SAMPLES:
        raise InputError(f"samples must be at most {MAX_SAMPLES:,}, not {shown(samples)}")
    if seed < 0:
        raise InputError(f"seed must be at least 0, not {seed}")


@dataclass(frozen=True)
class Difference:
    """The difference of two scores on one of several test sets, or of their means; scores are shares.

    Attributes
    ----------
    difference : float
        second - first.
    interval : (float, float)
        Its 95 % percentile interval.
    p : float
        The two-sided p-value of the permutation test.
    corrected : float
        The p-value corrected for the number of test sets by Holm's method; p itself for the mean.

    Examples
    --------
    >>> Difference(0.02, (0.01, 0.03), p=0.01, corrected=0.03).corrected
    0.03
    """

    difference: float
    interval: tuple[float, float]
    p: float
    corrected: float


def compare_sets(
    pairs: Sequence[tuple[Ints, Ints]], *, samples: int = 10_000, seed: int = 0
) -> tuple[list[Difference], Difference]:
    """Compare two predictions on several test sets: on each, and by the mean of their scores.

    The p-value is that of the permutation test, the interval that of the bootstrap. The p-values of the sets are
    corrected by Holm's method. In the mean each set has the same weight, whatever its size, and sentences are swapped
    and drawn within their set: the result is about other sentences of these sets, not about other sets.

    Parameters
    ----------
    pairs : sequence of (array, array)
        For each test set (right, total) of each sentence, for the two predictions; see `sentence_counts`.
    samples, seed : int
        The number of samples of each test, and the seed of the random draws.

    Returns
    -------
    sets : list of Difference
    mean : Difference

    Examples
    --------
    >>> first, second = np.array([[1, 2]] * 20), np.array([[2, 2]] * 20)
    >>> sets, mean = compare_sets([(first, second), (first, first)])
    >>> [each.difference for each in sets], mean.difference
    ([0.5, 0.0], 0.25)
    """
    if not pairs:
        raise InputError("no test set to compare on; give at least one pair of counts")
    observed, shuffled, drawn = [], [], []
    for k, (first, second) in enumerate(pairs):
        check(first, second, samples, seed)
        first, second = lean(first, second)
        observed.append(difference(first, second))
        drawn.append(resampled(first, second, samples, np.random.default_rng([seed, 2, k])))
        shuffled.append(swapped(first, second, samples, np.random.default_rng([seed, 3, k])))
    sets = [tested(*each) for each in zip(observed, shuffled, drawn, strict=True)]
    corrected = holm([each.p for each in sets])
    sets = [replace(each, corrected=p) for each, p in zip(sets, corrected, strict=True)]
    return sets, tested(np.mean(observed, axis=0), np.mean(shuffled, axis=0), np.mean(drawn, axis=0))


def tested(observed: Floats, shuffled: Floats, drawn: Floats) -> Difference:
    """Return the observed difference with its p-value from permutation samples and its interval from bootstrap ones."""
    p = share_as_large(shuffled, observed)
    return Difference(float(observed), interval_of(drawn), p, p)


def lean(first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """Return counts with the same differences; where totals agree, fewer distinct ones, which makes tests faster."""
    if (first[:, 1] != second[:, 1]).any():
        return first, second
    return np.stack([0 * first[:, 0], first[:, 1]], 1), np.stack([second[:, 0] - first[:, 0], first[:, 1]], 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of several tests, corrected by Holm's method.

    The probability of at least one false positive among all tests is then at most the level of each.

    Parameters
    ----------
    p_values : sequence of float

    Examples
    --------
    >>> [round(p, 2) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected, least = [0.0] * len(p_values), 0.0
    for rank, k in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        least = max(least, min(1.0, (len(p_values) - rank) * p_values[k]))
        corrected[k] = least
    return corrected


def compare_seeds(
    pairs: Sequence[tuple[Ints, Ints]], *, samples: int = 10_000, seed: int = 0
) -> tuple[list[Difference], Difference]:
    """Compare two ways of training on several test sets, each trained with the same seeds.

    A score is the mean over the seeds. With a single seed this is `compare_sets`, a test over sentences alone. With
    several, the interval and the p-value are those of a bootstrap that draws sentences, the same for all seeds, and
    seeds, the same for both ways of training. For a difference d and differences d* of the samples,
    p = (1 + the number of samples with abs(d* - d) >= abs(d)) / (1 + samples). The p-values of the sets are corrected
    by Holm's method. In the mean each set has the same weight.

    Parameters
    ----------
    pairs : sequence of (array, array)
        For each test set (right, total) of each seed and sentence, shape (seeds, sentences, 2), for the two ways.
    samples, seed : int
        The number of samples, and the seed of the random draws.

    Returns
    -------
    sets : list of Difference
    mean : Difference

    Examples
    --------
    >>> first, second = np.array([[[1, 2]] * 20] * 3), np.array([[[2, 2]] * 20] * 3)
    >>> (found,), mean = compare_seeds([(first, second)])
    >>> found.difference, found.interval, mean.p < 0.001
    (0.5, (0.5, 0.5), True)
    """
    for first, second in pairs:
        if first.shape[0] != second.shape[0] or not len(first):
            raise InputError(f"{len(first)} seeds in the first way of training, {len(second)} in the second")
    if all(len(first) == 1 for first, _ in pairs):
        return compare_sets([(first[0], second[0]) for first, second in pairs], samples=samples, seed=seed)
    observed, drawn = [], []
    for k, (first, second) in enumerate(pairs):
        check(first[0], second[0], samples, seed)
        counts = lean_counts(first, second)
        observed.append(differences(counts.sum(axis=1)).mean(axis=0))
        drawn.append(crossed(counts, samples, np.random.default_rng([seed, 4, k])))
    sets = [tested(d, sampled - d, sampled) for d, sampled in zip(observed, drawn, strict=True)]
    corrected = holm([each.p for each in sets])
    sets = [replace(each, corrected=p) for each, p in zip(sets, corrected, strict=True)]
    mean, sampled = np.mean(observed, axis=0), np.mean(drawn, axis=0)
    return sets, tested(mean, sampled - mean, sampled)


def lean_counts(first: Ints, second: Ints) -> Ints:
    """Return (right, total, right, total) of each seed and sentence; equal totals need only the difference of right."""
    counts = np.concatenate([first, second], axis=2)
    if (counts[..., 1] == counts[..., 3]).all():
        counts[..., 2] -= counts[..., 0]
        counts[..., 0] = 0
    return counts


def crossed(counts: Ints, samples: int, rng: np.random.Generator) -> Floats:
    """Return the difference of each sample of seeds and sentences, from counts as `lean_counts` returns them."""
    seeds, sentences, _ = counts.shape
    groups, sizes = np.unique(counts.transpose(1, 0, 2).reshape(sentences, -1), axis=0, return_counts=True)
    draws = max(seeds - 1, 1)
    drawn = []
    for size in portions(samples, len(groups)):
        sums = rng.multinomial(sentences, sizes / sentences, size=size) @ groups
        of_seeds = differences(sums.reshape(size, seeds, 4))
        times = rng.multinomial(draws, np.full(seeds, 1 / seeds), size=size)
        drawn.append((of_seeds * times).sum(axis=1) / draws)
    return np.concatenate(drawn)
