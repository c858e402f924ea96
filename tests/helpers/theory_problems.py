"""Problems whose outputs can be listed, for the tests of theory."""

import itertools

import numpy as np
from scipy.optimize import linear_sum_assignment


class Table:
    """x is a table {label: φ}; ties go to the label that comes first."""

    def joint_feature(self, x, y):
        return np.array(x[tuple(y)], float)

    def outputs(self, x):
        return list(x)

    def argmax(self, x, w):
        return max(x, key=lambda y: float(w @ self.joint_feature(x, y)))


TINY = {(0, 0): (0, 0), (0, 1): (-3, 0), (1, 0): (0, -1), (1, 1): (-3, -4)}
"""Δφ from the gold label (0, 0) is (3, 0), (0, 1) and (3, 4); the last one is not that of a single position."""


def tiny(function, *rest, **options):
    return function(Table(), [TINY], [(0, 0)], *rest, **options)


def random_table(rng, *, labels, length, features):
    return {y: rng.normal(size=features) for y in itertools.product(range(labels), repeat=length)}


class Matching:
    """y_k is the column matched to row k; x[k, c] holds the features of a pair."""

    def joint_feature(self, x, y):
        return x[np.arange(len(x)), list(y)].sum(0)

    def outputs(self, x):
        return itertools.permutations(range(len(x)))

    def argmax(self, x, w):
        return tuple(linear_sum_assignment(x @ w, maximize=True)[1].tolist())


def separable_matchings(rng):
    problem, w = Matching(), rng.normal(size=6)
    X = [rng.normal(size=(3, 3, 6)) for _ in range(3)]
    return problem, X, [problem.argmax(x, w) for x in X]


def orthogonal_examples(n):
    """Two labels each, the wrong one first; Δφ of example i is the unit vector e_i."""
    return Table(), [{(1,): np.zeros(n), (0,): np.eye(n)[i]} for i in range(n)], [(0,)] * n
