"""The labels, mixed assignments and Δφ of problems whose outputs can be enumerated, as the theory needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from swvp.errors import InputError
from swvp.learning.python_rule import sets_of
from swvp.learning.rule import Substructures
from swvp.structures.generic import EnumerableProblem, Label, mixed_assignment, wrong_positions
from swvp.types import Floats

__all__ = ["JJ", "Labels", "differences", "enumerate_outputs", "mixed_assignments", "unit", "wrong_labels"]

MOST_OUTPUTS = 100_000

Family = str | Substructures
JJ = Family | tuple[Family, ...]
Labels = Sequence[Label]


def differences(problem: EnumerableProblem, X: Sequence[Any], Y: Labels, substructures: JJ) -> list[Floats]:
    """For each example, the Δφ(x, y, m^J(z, y)) as rows."""
    if len(X) == 0 or len(X) != len(Y):
        raise InputError(f"X has {len(X)} examples and Y has {len(Y)}: give the same number of both, at least one")
    result = []
    for x, y in zip(X, Y, strict=True):
        gold = np.asarray(problem.joint_feature(x, y), float)
        rows = [gold - problem.joint_feature(x, m) for m in mixed_assignments(problem, x, y, substructures)]
        result.append(np.array(rows).reshape(-1, len(gold)))
    return result


def mixed_assignments(problem: EnumerableProblem, x: Any, y: Label, substructures: JJ) -> list[Label]:
    """Every m^J(z, y), each once."""
    families = substructures if isinstance(substructures, tuple) else (substructures,)
    distinct = {}
    for z in wrong_labels(problem, x, y):
        for family in families:
            for J in sets_of(family, y, z):
                mixed = mixed_assignment(y, z, J)
                distinct[tuple(mixed)] = mixed
    return list(distinct.values())


def wrong_labels(problem: EnumerableProblem, x: Any, y: Label) -> list[Label]:
    """The labels z ≠ y of Y(x)."""
    return [z for z in enumerate_outputs(problem, x) if wrong_positions(y, z)]


def enumerate_outputs(problem: EnumerableProblem, x: Any) -> list[Label]:
    """Y(x); InputError if the problem cannot list it or it is too large."""
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
    """u scaled to length 1."""
    length = np.linalg.norm(u)
    if not (np.isfinite(length) and length > 0):
        raise InputError("u must be a vector of finite numbers, not all 0")
    return np.asarray(u / length, float)
