"""The quantities of the paper's theorems, exact for problems whose outputs can be enumerated.

All range over the wrong labels z ≠ y of Y(x) and the mixed assignments m^J(z, y) ≠ y with J in JJ_x. With
`substructures="full"`, m^J(z, y) = z and every quantity is the one without JJ in its name:

    R, R^JJ      radius(…)           max ‖Δφ(x, y, m^J)‖                     Definitions 5 and 7
    δ, δ^JJ      margin(…, u)        min u·Δφ(x, y, m^J)                     Definitions 4 and 6
    t            update_bound(…)     (R^JJ / δ^JJ)^2                         Theorem 1
    r^i, r^iJJ   slacks(…, u)        min u·Δφ(x^i, y^i, m^J), per example    appendix
    D_{u,δ}      distance(…, u, δ)   √Σ max(0, δ - r^i)²                     appendix
    r^diff       r_diff(…, u)        min_i (r^iJJ - r^i)                     appendix
    mistakes     first_pass_bound(…) (R^JJ + D)² / (δ + r^diff)²             Theorem 2
                 smallest_first_pass_bound(…), over u and δ                  Theorem 2

Theorem 3 uses the last of these (`swvp.learning.theorem_3`).

A tuple of families is their union: ("single", "full") is `single` with the back-off to CSP. Observations 1 and 2
assume that mixing stays inside Y(x), which `closed_under_mixing` checks: it does for sequences, not for trees or
matchings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from swvp.errors import InputError
from swvp.learning.enumeration import JJ, Labels, differences, enumerate_outputs, mixed_assignments, unit, wrong_labels
from swvp.learning.python_rule import sets_of
from swvp.learning.rule import POWERS, UpdateRule, as_rule
from swvp.learning.theorem_2 import Slacks, convex_minimum, local_minimum, nearest_point, slacks_of
from swvp.structures.generic import EnumerableProblem
from swvp.types import Floats

__all__ = [
    "SmallestBound",
    "closed_under_mixing",
    "distance",
    "first_pass_bound",
    "margin",
    "r_diff",
    "radius",
    "separator",
    "slacks",
    "smallest_first_pass_bound",
    "update_bound",
]


def radius(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, *, substructures: JJ = "full") -> float:
    """R^JJ: the largest ‖Δφ(x, y, m^J(z, y))‖ (Definitions 5 and 7).

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    substructures : name of a family, function, or a tuple of them for their union

    Returns
    -------
    float
    """
    return max(float(np.linalg.norm(d, axis=1).max(initial=0)) for d in differences(problem, X, Y, substructures))


def margin(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, u: Floats, *, substructures: JJ = "full") -> float:
    """δ^JJ: the margin with which u, scaled to length 1, separates the data (Definitions 4 and 6).

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    u : weights; only their direction matters
    substructures : name of a family, function, or a tuple of them for their union

    Returns
    -------
    float, ≤ 0 if u does not separate the data
    """
    return float(slacks(problem, X, Y, u, substructures=substructures).min())


def slacks(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, u: Floats, *, substructures: JJ = "full") -> Floats:
    """r^i (or r^iJJ) of each example: u·φ(x^i, y^i) - max u·φ(x^i, m^J(z, y^i)).

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    u : weights; only their direction matters
    substructures : name of a family, function, or a tuple of them for their union

    Returns
    -------
    array, one number per example; inf for an example without a wrong label
    """
    u = unit(u)
    if len(u) != len(problem.joint_feature(X[0], Y[0])):
        raise InputError(
            f"u has {len(u)} weights, joint_feature returns {len(problem.joint_feature(X[0], Y[0]))} values"
        )
    return np.array([(d @ u).min(initial=np.inf) for d in differences(problem, X, Y, substructures)])


def distance(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, u: Floats, delta: float) -> float:
    """D_{u,δ}: how far the data are from being separated by u with margin δ.

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    u : weights; only their direction matters
    delta : the margin δ

    Returns
    -------
    float, 0 if u separates the data with this margin
    """
    return missing(slacks(problem, X, Y, u), delta)


def missing(r: Floats, delta: float) -> float:
    """√Σ ε_i² with ε_i = max(0, δ - r^i)."""
    return float(np.linalg.norm(np.maximum(0, delta - r)))


def r_diff(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, u: Floats, *, substructures: JJ) -> float:
    """r^diff: the smallest r^iJJ - r^i of the examples.

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    u : weights; only their direction matters
    substructures : name of a family, function, or a tuple of them for their union

    Returns
    -------
    float, ≥ 0 if mixing stays inside Y(x) (Observation 2)
    """
    full, mixed = slacks(problem, X, Y, u), slacks(problem, X, Y, u, substructures=substructures)
    has_wrong_label = np.isfinite(full)
    return float((mixed[has_wrong_label] - full[has_wrong_label]).min()) if has_wrong_label.any() else 0.0


def update_bound(
    problem: EnumerableProblem,
    X: Sequence[Any],
    Y: Labels,
    u: Floats,
    *,
    rule: str | UpdateRule = "csp",
    back_off: bool = True,
) -> float:
    """Theorem 1: an upper bound for the number of updates until convergence.

    A rule that may back off to CSP also uses J = [L_x], so this set is added to JJ. If mixing stays inside Y(x), the
    bound is then that of CSP. Steps of at most c multiply the bound by c: (Σ c_t δ)² ≤ ‖w‖² ≤ Σ c_t² R² ≤ c Σ c_t R².

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    u : weights that separate the data; only their direction matters
    rule : a rule that respects the γ conditions
    back_off : whether the rule may back off to CSP; False is for a run that never did

    Returns
    -------
    float
    """
    rule = as_rule(rule)
    if any(stage.step in ("mira", "ada") for stage in rule.stages):
        raise InputError(f"Theorem 1 does not apply to rule '{rule.name}', whose step may be shorter than 1")
    jj = families_of(rule, back_off, "Theorem 1")
    delta = margin(problem, X, Y, u, substructures=jj)
    if not delta > 0:
        raise InputError(f"u does not separate the data: its margin is {delta:.4g}, Theorem 1 needs one > 0")
    longest_step = 1.0
    if POWERS[rule.step]:
        labels = ((y, z) for x, y in zip(X, Y, strict=True) for z in wrong_labels(problem, x, y))
        most = max((len(sets_of(rule.substructures, y, z)) for y, z in labels), default=1)
        longest_step = most ** POWERS[rule.step]
    return longest_step * (radius(problem, X, Y, substructures=jj) / delta) ** 2


def families_of(rule: UpdateRule, back_off: bool, theorem: str) -> JJ:
    """The sub-structures that updates of a rule may use, if it respects the γ conditions."""
    if rule.then is not None:
        raise InputError(f"{theorem} is about one rule; the bound of a schedule ('{rule.name}') is another one")
    if not rule.respects_conditions():
        raise InputError(f"{theorem} does not apply to rule '{rule.name}', which may break γ condition (2); impose it")
    return (rule.substructures, "full") if back_off else rule.substructures


def first_pass_bound(
    problem: EnumerableProblem,
    X: Sequence[Any],
    Y: Labels,
    u: Floats,
    *,
    delta: float | None = None,
    substructures: JJ = "full",
) -> float:
    """Theorem 2: an upper bound for the mistakes in the first epoch, for any u and δ > 0, separable or not.

    It holds for rules that respect the γ conditions, with the step `unit`. If they may back off, add "full" to JJ. With
    "full" alone it is the bound of CSP. If mixing leaves Y(x), r^diff may be negative; then it is inf for δ ≤ -r^diff.

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    u : weights; only their direction matters
    delta : the margin δ > 0; by default the one with the smallest bound that a search finds
    substructures : name of a family, function, or a tuple of them for their union

    Returns
    -------
    float
    """
    if delta is not None and not delta > 0:
        raise InputError(f"delta must be > 0, not {delta}")
    R = radius(problem, X, Y, substructures=substructures)
    r = slacks(problem, X, Y, u)
    extra = r_diff(problem, X, Y, u, substructures=substructures)

    def bound(delta: float) -> float:
        return ((R + missing(r, delta)) / (delta + extra)) ** 2 if delta + extra > 0 else math.inf

    if delta is not None:
        return bound(delta)
    least = max(0.0, -extra)
    minimum = minimize_scalar(lambda s: bound(least + math.exp(s)), bounds=(-12, 12), method="bounded")
    return float(min(minimum.fun, bound(1e6)))


class SmallestBound(NamedTuple):
    """Theorem 2's bound at its smallest: (R^JJ + D_{u,δ})² / (δ + r^diff)² at the unit vector u and δ.

    Parameters
    ----------
    bound : float
        The bound.
    u : ndarray
        The unit vector.
    delta : float
        δ.
    mixed : float
        The same with the slacks of mixed assignments, min (R^JJ + D^JJ)² / δ². The proof of Theorem 2 holds for it too.
        It is never larger, so the smallest bound is between the two.
    """

    bound: float
    u: Floats
    delta: float
    mixed: float


def smallest_first_pass_bound(
    problem: EnumerableProblem, X: Sequence[Any], Y: Labels, *, substructures: JJ = "full"
) -> SmallestBound:
    """Theorem 2 with its minimum over u and δ, for small data.

    With "full" (CSP) this is a convex programme, and the bound is the smallest one up to the tolerance of the search.
    With other JJ the paper's expression is not convex. Then the bound is the best that a local search finds, and
    `mixed`, again a convex programme, is a lower limit for it.

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    substructures : name of a family, function, or a tuple of them for their union

    Returns
    -------
    SmallestBound; its δ is inf if no u gives a better bound than one mistake per example
    """
    full, mixed = distinct_slacks(problem, X, Y, substructures)
    if full is None or mixed is None:
        return SmallestBound(0.0, unit(np.ones(len(problem.joint_feature(X[0], Y[0])))), math.inf, 0.0)
    R = float(np.linalg.norm(mixed.rows, axis=1).max())
    lowest, v_mixed = convex_minimum(mixed, R)
    value, v, s = lowest, v_mixed, 1.0
    if substructures != "full":
        starts = [v_mixed, convex_minimum(full, R)[1], np.zeros(len(v))]
        value, v, s = local_minimum(full, mixed, R, starts, lowest)
    length, examples = float(np.linalg.norm(v)), float(full.counts.sum())
    u, delta = (v / length, s / length) if length > 0 else (unit(np.ones(len(v))), math.inf)
    bound = float(value) ** 2 if length > 0 else examples
    return SmallestBound(bound, u, delta, min(bound, float(lowest) ** 2 if v_mixed.any() else examples))


def distinct_slacks(
    problem: EnumerableProblem, X: Sequence[Any], Y: Labels, substructures: JJ
) -> tuple[Slacks | None, Slacks | None]:
    """Δφ of wrong labels and of mixed assignments, equal examples once; None if no example has a wrong label."""
    pairs = zip(differences(problem, X, Y, "full"), differences(problem, X, Y, substructures), strict=True)
    nonempty = [(full, mixed) for full, mixed in pairs if len(full)]
    if any(not len(mixed) for _, mixed in nonempty):
        raise InputError("an example has wrong labels but no mixed assignment; add 'full' to the substructures")
    if not nonempty:
        return None, None
    keys = [full.tobytes() + mixed.tobytes() for full, mixed in nonempty]
    counts, first = Counter(keys), dict(zip(reversed(keys), reversed(nonempty), strict=True))
    times = [counts[key] for key in first]
    fulls, mixeds = zip(*first.values(), strict=True)
    return slacks_of(fulls, times), slacks_of(mixeds, times)


def separator(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, *, substructures: JJ = "full") -> Floats:
    """The unit vector that separates the data (with respect to JJ) with the largest margin.

    That margin is the distance of the origin from the convex hull of all Δφ, computed by non-negative least squares.

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    substructures : name of a family, function, or a tuple of them for their union

    Returns
    -------
    array of weights
    """
    points = np.concatenate(differences(problem, X, Y, substructures))
    if not points.any():
        raise InputError("no wrong label differs from its gold label in any feature: nothing to separate")
    points = points / np.abs(points).max()
    nearest = nearest_point(points)
    if np.linalg.norm(nearest) < 1e-9 or (points @ nearest).min() <= 0:
        raise InputError("the data are not linearly separable with these features (or with a margin below 1e-9)")
    return unit(nearest)


def closed_under_mixing(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, *, substructures: JJ) -> bool:
    """Whether every mixed assignment is itself a label of Y(x).

    Parameters
    ----------
    problem : object with `joint_feature`, `argmax` and `outputs(x)`, which lists Y(x)
    X, Y : inputs and their gold labels
    substructures : name of a family, function, or a tuple of them for their union

    Returns
    -------
    bool
    """
    for x, y in zip(X, Y, strict=True):
        inside = {tuple(z) for z in enumerate_outputs(problem, x)}
        if not {tuple(m) for m in mixed_assignments(problem, x, y, substructures)} <= inside:
            return False
    return True
