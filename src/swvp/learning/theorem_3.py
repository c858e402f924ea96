"""Theorem 3: a bound for the probability that the voted perceptron errs, 2/(n + 1) E[the smallest bound of Theorem 2].

The expectation is over samples of n + 1 examples. `generalization_bound` takes the bounds of such samples.
`error_bound` computes them from data.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from swvp.errors import InputError
from swvp.learning.enumeration import Labels
from swvp.learning.rule import UpdateRule, as_rule
from swvp.learning.theory import families_of, smallest_first_pass_bound
from swvp.structures.generic import EnumerableProblem

__all__ = ["ErrorBound", "error_bound", "generalization_bound"]


def generalization_bound(mistake_bounds: Sequence[float], n: int) -> float:
    """Theorem 3: 2/(n + 1) · E[mistake bound on n + 1 examples], a bound for the probability of a wrong prediction.

    `error_bound` computes it from data.

    Parameters
    ----------
    mistake_bounds : one bound of Theorem 2 per sample of n + 1 examples; their mean is the expectation
    n : number of training examples

    Returns
    -------
    float
    """
    if isinstance(n, bool) or not isinstance(n, numbers.Integral) or n < 1:
        raise InputError(f"n, the number of training examples, must be a whole number of at least 1, not {n!r}")
    bounds = np.asarray(mistake_bounds, float)
    if bounds.ndim != 1 or not len(bounds):
        raise InputError("mistake_bounds must be one number or more, one for each sample of n + 1 examples")
    if not (bounds >= 0).all():
        raise InputError("mistake_bounds must be numbers ≥ 0")
    return 2 / (int(n) + 1) * float(bounds.mean())


class ErrorBound(NamedTuple):
    """Theorem 3 from data: an estimate of the bound, for `n` training examples, from the mean over `samples`.

    Parameters
    ----------
    bound : float
        The bound. One of 1 or more is vacuous.
    mixed : float
        The same with the tighter bound of `SmallestBound`.
    n : int
        The number of training examples.
    samples : int
        The number of samples of the training set.
    standard_error : float or None
        The standard error of `bound`; None for one sample.
    """

    bound: float
    mixed: float
    n: int
    samples: int
    standard_error: float | None


def error_bound(
    problem: EnumerableProblem,
    X: Sequence[Any],
    Y: Labels,
    *,
    rule: str | UpdateRule = "csp",
    n: int | None = None,
    back_off: bool = True,
    random_state: int | None = None,
) -> ErrorBound:
    """Theorem 3 from data: a bound for the probability that the voted perceptron of n examples errs on a new one.

    The theorem has an expectation over samples of n + 1 examples, which is unknown. Here it is the mean over the
    samples in the data: they are divided, in random order, into as many separate samples of n + 1 as there are.
    So this is an unbiased estimate of a bound, not a bound; `standard_error` says how precise it is. By default
    n + 1 is the number of examples: one sample.

    It is for `StructuredPerceptron(vote=True, epochs=1)`, with examples that are independent draws, and a rule that
    respects the γ conditions with the step `unit`. A rule that may back off also uses J = [L_x], so it has the bound of
    CSP.

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    rule : a rule that respects the γ conditions, with the step `unit`
    n : number of training examples; by default one less than there are, which makes one sample
    back_off : whether the rule may back off to CSP; False is for runs that never did
    random_state : seed of the random order

    Returns
    -------
    ErrorBound
    """
    rule = as_rule(rule)
    if rule.step != "unit":
        raise InputError(f"Theorem 3 does not apply to rule '{rule.name}': its proof needs the step unit")
    jj = families_of(rule, back_off, "Theorem 3")
    if len(X) < 2 or len(X) != len(Y):
        raise InputError(f"X has {len(X)} examples and Y has {len(Y)}: give the same number of both, at least two")
    n = len(X) - 1 if n is None else n
    if isinstance(n, bool) or not isinstance(n, numbers.Integral) or not 1 <= n < len(X):
        raise InputError(f"n must be a whole number from 1 to {len(X) - 1}, one less than the examples, not {n!r}")
    samples = len(X) // (n + 1)
    order = np.random.default_rng(random_state).permutation(len(X))[: samples * (n + 1)].reshape(samples, n + 1)
    smallest_bounds = [
        smallest_first_pass_bound(problem, [X[i] for i in part], [Y[i] for i in part], substructures=jj)
        for part in order
    ]
    bounds = [smallest.bound for smallest in smallest_bounds]
    error = 2 / (n + 1) * float(np.std(bounds, ddof=1)) / math.sqrt(samples) if samples > 1 else None
    mixed = generalization_bound([smallest.mixed for smallest in smallest_bounds], n)
    return ErrorBound(generalization_bound(bounds, n), mixed, n, samples, error)
