"""Counting phrases in arrays agrees with counting them one by one."""

import itertools

import numpy as np
import pytest

from swvp.evaluation.counts import evaluate_phrases
from swvp.tagging.corpus import PhraseCounter

SCHEMES = [
    ["O", "B-X", "I-X", "B-Y", "I-Y"],
    ["O", "B-X", "I-X", "E-X", "S-X", "E-Y", "S-Y", "I-Y"],
    ["O", "I-X", "I-Y"],
    ["B", "I", "O"],
    ["NOUN", "VERB", "O"],
]


@pytest.mark.parametrize("labels", SCHEMES, ids=" ".join)
def test_the_counts_are_those_of_evaluate(labels):
    rng = np.random.default_rng(len(labels))
    counter = PhraseCounter(labels)
    for _ in range(60):
        lengths = rng.integers(0, 6, size=5)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        gold, predicted = (rng.integers(len(labels), size=offsets[-1]) for _ in range(2))
        predicted = np.where(rng.random(len(gold)) < 0.6, gold, predicted)

        def split(ids, offsets=offsets):
            return [[labels[k] for k in ids[a:b]] for a, b in itertools.pairwise(offsets)]

        assert counter.counts(gold, predicted, offsets) == evaluate_phrases(split(gold), split(predicted)).total
