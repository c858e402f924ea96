"""Owns the comparison of two predictions of labels: by token accuracy, or by the F1 of phrases.

Counted are, of a sentence's tokens, those labelled right (accuracy); or, of its gold and predicted phrases together,
those in both, counted twice (F1). The tests are those of `scoring/paired.py`.
"""

from __future__ import annotations

import numpy as np

from swvp.errors import unknown_name
from swvp.scoring.paired import Comparison, Ints, compare_counts, paired_bootstrap, paired_permutation
from swvp.tagging.evaluate import Labels, paired, phrases

__all__ = ["TAG_MEASURES", "Comparison", "compare", "paired_bootstrap", "paired_permutation", "sentence_counts"]

TAG_MEASURES = ("accuracy", "f1")


def compare(
    gold: Labels,
    first: Labels,
    second: Labels,
    *,
    measure: str = "accuracy",
    samples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare two predictions by token accuracy (`accuracy`) or phrase F1 (`f1`).

    >>> gold = [["N", "V"]] * 20
    >>> found = compare(gold, [["N", "N"]] * 10 + [["N", "V"]] * 10, gold)
    >>> found.difference, found.permutation_p < 0.01
    (0.25, True)
    """
    gold = list(gold)
    a, b = sentence_counts(gold, first, measure), sentence_counts(gold, second, measure)
    return compare_counts(measure, a, b, samples=samples, seed=seed)


def sentence_counts(gold: Labels, predicted: Labels, measure: str = "accuracy") -> Ints:
    """(right, of) of each sentence; see above.

    >>> sentence_counts([["B-X", "O"]], [["B-X", "B-X"]], "accuracy").tolist()
    [[1, 2]]
    >>> sentence_counts([["B-X", "O"]], [["B-X", "B-X"]], "f1").tolist()
    [[2, 3]]
    """
    if measure not in TAG_MEASURES:
        raise unknown_name("measure", measure, TAG_MEASURES)
    rows = []
    for a, b in paired(gold, predicted):
        if measure == "accuracy":
            rows.append((sum(x == y for x, y in zip(a, b, strict=True)), len(a)))
        else:
            in_gold, in_predicted = set(phrases(a)), set(phrases(b))
            rows.append((2 * len(in_gold & in_predicted), len(in_gold) + len(in_predicted)))
    return np.array(rows, np.int64).reshape(-1, 2)
