"""Random arc scores of many kinds, all trees of a sentence, and the decoders to compare with them."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

from swvp.structures.tree.decoding.chu_liu_edmonds import chu_liu_edmonds
from swvp.structures.tree.decoding.eisner import eisner
from swvp.structures.tree.reference import trees

KINDS = list(itertools.product([False, True], [False, True]))  # projective, one_root
every_kind = pytest.mark.parametrize(("projective", "one_root"), KINDS)


@functools.cache
def all_trees(n, projective, one_root):
    return np.array(list(trees(n, projective, one_root)))


def decode(scores, n, projective, one_root, dtype=np.int64):
    heads = np.full(n + 2, 77, dtype)
    (eisner if projective else chu_liu_edmonds)(scores, n, one_root, heads)
    assert list(heads[n:]) == [77, 77]
    return [int(h) for h in heads[:n]]


def matrix(random, n, way):
    """Scores with junk where no one looks, and room for more words."""
    shape = (n + 3, n + 4)
    if way == "normal":
        scores = random.normal(size=shape)
    elif way == "ties":
        scores = random.integers(0, 3, shape).astype(float)
    elif way == "magnitudes":
        scores = random.normal(size=shape) * 10.0 ** random.integers(-3, 4, shape)
    elif way == "cycles":  # all like one another better than the root
        scores = random.normal(size=shape)
        scores[0] -= 5.0
    elif way == "roots":
        scores = random.normal(size=shape)
        scores[0] += 5.0
    else:
        scores = random.integers(-3, 4, shape) * (1.0 if way == "few forbidden" else 1.5)
        scores[random.random(shape) < (0.3 if way == "few forbidden" else 0.75)] = -np.inf
    scores[:, 0] = 1e9
    np.fill_diagonal(scores, 1e9)
    return scores


WAYS = ["normal", "ties", "magnitudes", "cycles", "roots", "few forbidden", "forbidden"]
