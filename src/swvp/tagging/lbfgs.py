"""Owns going down a smooth convex function of very many weights: L-BFGS, one iteration at a time.

SciPy's calls back instead of giving its steps one by one, and for millions of weights it takes more time than their
gradient. Here all vectors are made once and changed in place. The line search halves and doubles until the step
meets the weak Wolfe conditions, which a convex function always allows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import daxpy, dscal

from swvp.structures.operations import Floats

__all__ = ["Reached", "descend"]

ENOUGH_DECREASE = 1e-4
ENOUGH_SLOPE = 0.9
MOST_TRIALS = 30


class Reached(NamedTuple):
    """Where an iteration ended: the arrays are used again by the next one."""

    value: float
    x: Floats
    gradient: Floats


class Pair(NamedTuple):
    step: Floats
    change: Floats  # of the gradient
    product: float  # step · change


def descend(
    evaluate: Callable[[Floats, Floats], float], start: Floats, *, memory: int = 6, tolerance: float = 1e-6
) -> Iterator[Reached]:
    """Minimise `evaluate`, which gives the value at its first argument and writes the gradient into its second.

    Yields where each iteration ended. Stops when one lowered the value by less than `tolerance` of it, or when no
    step lowers it any more.
    """
    x, gradient = start.copy(), np.empty_like(start)
    trial, trial_gradient, direction = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    pairs: deque[Pair] = deque()
    value = evaluate(x, gradient)
    while True:
        write_direction(gradient, pairs, direction)
        slope = float(gradient @ direction)
        if not slope < 0:
            return
        first = 1.0 if pairs else 1.0 / np.sqrt(-slope)  # a step of length 1
        found = search(evaluate, x, value, direction, slope, first, trial, trial_gradient)
        if found is None:
            return
        lowered, value = value - found, found
        pairs.append(new_pair(x, trial, gradient, trial_gradient, pairs.popleft() if len(pairs) == memory else None))
        if not pairs[-1].product > 0:
            pairs.pop()
        x, trial, gradient, trial_gradient = trial, x, trial_gradient, gradient
        yield Reached(value, x, gradient)
        if lowered <= tolerance * abs(value):
            return


def write_direction(gradient: Floats, pairs: deque[Pair], direction: Floats) -> None:
    """Write -H·gradient, where H is the inverse of the Hessian as far as the pairs tell."""
    np.negative(gradient, out=direction)
    shares = []
    for pair in reversed(pairs):
        shares.append(float(pair.step @ direction) / pair.product)
        daxpy(pair.change, direction, a=-shares[-1])
    if pairs:
        dscal(pairs[-1].product / float(pairs[-1].change @ pairs[-1].change), direction)
    for pair in pairs:
        daxpy(pair.step, direction, a=shares.pop() - float(pair.change @ direction) / pair.product)


def search(
    evaluate: Callable[[Floats, Floats], float],
    x: Floats,
    value: float,
    direction: Floats,
    slope: float,
    step: float,
    trial: Floats,
    gradient: Floats,
) -> float | None:
    """Find a step along `direction` that is neither too long nor too short; the value there, or None."""
    shortest, longest = 0.0, np.inf
    for _ in range(MOST_TRIALS):
        np.multiply(direction, step, out=trial)
        np.add(trial, x, out=trial)
        found = evaluate(trial, gradient)
        if not found <= value + ENOUGH_DECREASE * step * slope:
            longest = step
        elif float(gradient @ direction) < ENOUGH_SLOPE * slope:
            shortest = step
        else:
            return found
        step = (shortest + longest) / 2 if longest < np.inf else 2 * step
    return None


def new_pair(x: Floats, trial: Floats, gradient: Floats, trial_gradient: Floats, old: Pair | None) -> Pair:
    """The step and the change of the gradient, in the arrays of a pair that is no longer needed."""
    step = np.subtract(trial, x, out=None if old is None else old.step)
    change = np.subtract(trial_gradient, gradient, out=None if old is None else old.change)
    return Pair(step, change, float(step @ change))
