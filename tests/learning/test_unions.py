"""Uniform γ over all unions of components is the update of the whole tree, times a constant, in first order.

So γ of maximum entropy over these unions, with the step `mira`, is the rule `mira` (docs: what pays in parsers).
"""

import itertools

import numpy as np
import pytest

from helpers.treebanks import random_sentence
from swvp.compiled import in_python
from swvp.learning.substructures import components
from swvp.structures.tree.reference import PlainArcs, trees


@pytest.mark.parametrize("seed", range(8))
def test_uniform_gamma_over_unions_of_components_is_a_multiple_of_the_whole_tree(seed):
    rng = np.random.default_rng(seed)
    x = random_sentence(rng, 5)
    problem = PlainArcs(["h.pos & m.pos", "h.word & distance", "m.word"], [x])
    every = list(trees(5))
    gold, predicted = (np.array(every[rng.integers(len(every))]) for _ in range(2))
    wrong = np.flatnonzero(gold != predicted)
    starts, positions = np.empty(8, np.int64), np.empty(12, np.int64)
    c, starts, positions = in_python(components)(gold, predicted, wrong, len(wrong), starts, positions)
    parts = [positions[starts[j] : starts[j + 1]].tolist() for j in range(c)]
    chosen = [J for size in range(1, c + 1) for J in itertools.combinations(parts, size)]
    unions = [list(itertools.chain.from_iterable(J)) for J in chosen]

    def difference(J):
        mixed = gold.copy()
        mixed[J] = predicted[J]
        return problem.joint_feature(x, gold.tolist()) - problem.joint_feature(x, mixed.tolist())

    share = 2 ** (c - 1) / (2**c - 1)
    assert len(unions) == 2**c - 1
    np.testing.assert_allclose(np.mean([difference(J) for J in unions], axis=0), share * difference(wrong), atol=1e-12)
    np.testing.assert_allclose(np.mean([len(J) for J in unions]), share * len(wrong))
