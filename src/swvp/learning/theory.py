"""Owns the quantities of the paper's theorems, exact for problems whose outputs can be enumerated.

All range over the wrong labels z ≠ y of Y(x) and the mixed assignments m^J(z, y) ≠ y with J in JJ_x. With
`substructures="full"`, m^J(z, y) = z and every quantity is the one without JJ in its name:

    R, R^JJ      radius(…)           max ‖Δφ(x, y, m^J)‖                     Definitions 5 and 7
    δ, δ^JJ      margin(…, u)        min u·Δφ(x, y, m^J)                     Definitions 4 and 6
    t            update_bound(…)     (R^JJ / δ^JJ)^2                         Theorem 1
    r^i, r^iJJ   slacks(…, u)        min u·Δφ(x^i, y^i, m^J), per example    appendix
    D_{u,δ}      distance(…, u, δ)   √Σ max(0, δ - r^i)²                     appendix
    r^diff       r_diff(…, u)        min_i (r^iJJ - r^i)                     appendix
    mistakes     first_pass_bound(…) (R^JJ + D)² / (δ + r^diff)²             Theorem 2

A tuple of families is their union: ("single", "full") is `single` with the back-off to CSP. Observations 1 and 2
assume that mixing stays inside Y(x), which `closed_under_mixing` tells: it does for sequences, not for trees or
matchings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar, nnls

from swvp.errors import InputError
from swvp.learning.example import sets_of
from swvp.learning.rule import POWERS, Substructures, UpdateRule, as_rule
from swvp.structures.operations import Floats
from swvp.structures.python import EnumerableProblem, Label, mixed_assignment, wrong_positions

__all__ = [
    "closed_under_mixing",
    "distance",
    "first_pass_bound",
    "generalization_bound",
    "margin",
    "r_diff",
    "radius",
    "separator",
    "slacks",
    "update_bound",
]

MOST_OUTPUTS = 100_000

Family = str | Substructures
JJ = Family | tuple[Family, ...]
Labels = Sequence[Label]


def radius(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, *, substructures: JJ = "full") -> float:
    """R^JJ: the largest ‖Δφ(x, y, m^J(z, y))‖."""
    return max(float(np.linalg.norm(d, axis=1).max(initial=0)) for d in differences(problem, X, Y, substructures))


def margin(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, u: Floats, *, substructures: JJ = "full") -> float:
    """δ^JJ: the margin with which u, scaled to length 1, separates the data; ≤ 0 if it does not."""
    return float(slacks(problem, X, Y, u, substructures=substructures).min())


def slacks(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, u: Floats, *, substructures: JJ = "full") -> Floats:
    """r^i (or r^iJJ) of each example: u·φ(x^i, y^i) - max u·φ(x^i, m^J(z, y^i)); inf without a wrong label."""
    u = unit(u)
    if len(u) != len(problem.joint_feature(X[0], Y[0])):
        raise InputError(
            f"u has {len(u)} weights, joint_feature returns {len(problem.joint_feature(X[0], Y[0]))} values"
        )
    return np.array([(d @ u).min(initial=np.inf) for d in differences(problem, X, Y, substructures)])


def distance(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, u: Floats, delta: float) -> float:
    """D_{u,δ}: how far the data are from being separated by u with margin δ."""
    return missing(slacks(problem, X, Y, u), delta)


def missing(r: Floats, delta: float) -> float:
    """√Σ ε_i² with ε_i = max(0, δ - r^i)."""
    return float(np.linalg.norm(np.maximum(0, delta - r)))


def r_diff(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, u: Floats, *, substructures: JJ) -> float:
    """min over the examples of r^iJJ - r^i; ≥ 0 by Observation 2."""
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
    """Theorem 1: at most so many updates until convergence, for a rule that respects the γ conditions.

    A rule that may back off to CSP also uses J = [L_x], so JJ is taken with it unless `back_off` is False (for a
    run that never did); where mixing stays inside Y(x) that is the bound of CSP. A step of up to c multiplies it by c:
    (Σ c_t δ)² ≤ ‖w‖² ≤ Σ c_t² R² ≤ c Σ c_t R².
    """
    rule = as_rule(rule)
    if rule.step == "mira":
        raise InputError(f"Theorem 1 says nothing of rule '{rule.name}', whose step may be shorter than 1")
    if not rule.respects_conditions():
        raise InputError(f"Theorem 1 says nothing of rule '{rule.name}', which may break γ condition (2); impose it")
    jj: JJ = (rule.substructures, "full") if back_off else rule.substructures
    delta = margin(problem, X, Y, u, substructures=jj)
    if not delta > 0:
        raise InputError(f"u does not separate the data: its margin is {delta:.4g}, Theorem 1 needs one > 0")
    longest_step = 1.0
    if POWERS[rule.step]:
        labels = ((y, z) for x, y in zip(X, Y, strict=True) for z in wrong(problem, x, y))
        most = max((len(sets_of(rule.substructures, y, z)) for y, z in labels), default=1)
        longest_step = most ** POWERS[rule.step]
    return longest_step * (radius(problem, X, Y, substructures=jj) / delta) ** 2


def first_pass_bound(
    problem: EnumerableProblem,
    X: Sequence[Any],
    Y: Labels,
    u: Floats,
    *,
    delta: float | None = None,
    substructures: JJ = "full",
) -> float:
    """Theorem 2: at most so many mistakes in the first pass, separable or not, for any u and δ > 0.

    It holds for rules that respect the γ conditions, with the step `unit`; if they back off, take "full" into JJ.

    Without `delta`, the smallest bound over δ that a search finds. "full" gives the bound of CSP. Where mixing leaves
    Y(x), r^diff may be negative: then only δ > -r^diff bounds anything, and a smaller one gives inf.
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
    found = minimize_scalar(lambda s: bound(least + math.exp(s)), bounds=(-12, 12), method="bounded")
    return float(min(found.fun, bound(1e6)))


def generalization_bound(mistake_bounds: Sequence[float], n: int) -> float:
    """Theorem 3: 2/(n + 1) · E[mistake bound on n + 1 examples] bounds the probability of a wrong prediction.

    The expectation is the mean over `mistake_bounds`, one `first_pass_bound` per sample of n + 1 examples.
    """
    return 2 / (n + 1) * float(np.mean(mistake_bounds))


def separator(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, *, substructures: JJ = "full") -> Floats:
    """The unit vector that separates the data (with respect to JJ) with the largest margin.

    That margin is the distance of the origin from the convex hull of all Δφ, found by non-negative least squares.
    """
    points = np.concatenate(differences(problem, X, Y, substructures))
    if not points.any():
        raise InputError("no wrong label differs from its gold label in any feature: nothing to separate")
    points, scale = points / np.abs(points).max(), 100.0
    try:
        alpha, _ = nnls(np.vstack([points.T, np.full(len(points), scale)]), np.append(np.zeros(points.shape[1]), scale))
    except RuntimeError:
        raise InputError("the search for a separator did not end; use fewer or shorter examples") from None
    nearest = alpha @ points
    if np.linalg.norm(nearest) < 1e-9 or (points @ nearest).min() <= 0:
        raise InputError("the data are not linearly separable with these features (or with a margin below 1e-9)")
    return unit(nearest)


def closed_under_mixing(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, *, substructures: JJ) -> bool:
    """Whether every mixed assignment is itself a label of Y(x)."""
    for x, y in zip(X, Y, strict=True):
        inside = {tuple(z) for z in enumerate_outputs(problem, x)}
        if not {tuple(m) for m in mixed_assignments(problem, x, y, substructures)} <= inside:
            return False
    return True


def differences(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, substructures: JJ) -> list[Floats]:
    """For each example, the Δφ(x, y, m^J(z, y)) as rows."""
    if len(X) == 0 or len(X) != len(Y):
        raise InputError(f"X has {len(X)} examples and Y has {len(Y)}: give as many, at least one")
    result = []
    for x, y in zip(X, Y, strict=True):
        gold = np.asarray(problem.joint_feature(x, y), float)
        rows = [gold - problem.joint_feature(x, m) for m in mixed_assignments(problem, x, y, substructures)]
        result.append(np.array(rows).reshape(-1, len(gold)))
    return result


def mixed_assignments(problem: EnumerableProblem, x: Any, y: Label, substructures: JJ) -> list[Label]:
    """Every m^J(z, y), each once."""
    families = substructures if isinstance(substructures, tuple) else (substructures,)
    found = {}
    for z in wrong(problem, x, y):
        for family in families:
            for J in sets_of(family, y, z):
                mixed = mixed_assignment(y, z, J)
                found[tuple(mixed)] = mixed
    return list(found.values())


def wrong(problem: EnumerableProblem, x: Any, y: Label) -> list[Label]:
    return [z for z in enumerate_outputs(problem, x) if wrong_positions(y, z)]


def enumerate_outputs(problem: EnumerableProblem, x: Any) -> list[Label]:
    outputs = getattr(problem, "outputs", None)
    if not callable(outputs):
        name = type(problem).__name__
        raise InputError(f"problem {name} has no method outputs(x): the theory is exact only where Y(x) can be listed")
    listed = []
    for z in outputs(x):
        listed.append(z)
        if len(listed) > MOST_OUTPUTS:
            raise InputError(f"Y(x) has more than {MOST_OUTPUTS} labels: too many to enumerate; use shorter inputs")
    return listed


def unit(u: Floats) -> Floats:
    length = np.linalg.norm(u)
    if not (np.isfinite(length) and length > 0):
        raise InputError("u must be a vector of finite numbers, not all 0")
    return np.asarray(u / length, float)
