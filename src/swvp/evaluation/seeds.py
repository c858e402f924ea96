"""Paired tests of two ways of training, each with several seeds: the test draws seeds and sentences.

A test on the predictions of one training is about other sentences. The next seed may give other weights and another
difference, so a claim about a way of training needs both: each sample of the bootstrap draws sentences and, separately,
seeds. A sample has one seed less than there are: with n draws of n seeds, the variance of their mean would be only
(n - 1) / n of the right one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from swvp.errors import InputError
from swvp.evaluation.paired import Difference, Floats, Ints, check, compare_sets, differences, holm, portions, tested

__all__ = ["compare_seeds"]


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
