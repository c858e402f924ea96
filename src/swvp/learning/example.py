"""Owns how a rule meets one example: JJ_x and γ, by the compiled families and schemes or by a user's functions."""

from __future__ import annotations

import operator
import traceback
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import implement, kernel, operation
from swvp.errors import InputError
from swvp.learning.gamma import GAMMAS, weigh
from swvp.learning.head_substructures import components, subtrees
from swvp.learning.rule import POWERS, Gamma, Substructures, UpdateRule, name_of, own_gammas, own_substructures
from swvp.learning.substructures import (
    COMPONENTS,
    MOST_POSITIONS,
    MOST_SETS,
    OF_HEADS,
    SUBSTRUCTURES,
    SUBTREES,
    fill,
    room,
)
from swvp.structures.exact import GRID, grid_of
from swvp.structures.generic import as_heads, wrong_positions
from swvp.structures.operations import heads, labels
from swvp.types import Floats, Ints

__all__ = ["CompiledMira", "CompiledRule", "PythonRule", "define_substructures", "prepare", "set_gamma", "sets_of"]


class CompiledRule(NamedTuple):
    """A rule of numbers, for kernels."""

    family: int
    scheme: int
    beta: float
    aggressive: bool
    power: float
    impose: bool
    literal: bool
    grid: float


class CompiledMira(NamedTuple):
    """The same with the step `mira`: a class of its own, so that the others need not compile it."""

    family: int
    scheme: int
    beta: float
    aggressive: bool
    C: float
    impose: bool
    literal: bool
    grid: float


@dataclass(frozen=True)
class PythonRule:
    """The same for plain Python: the family, the scheme or both may be functions. C is None if not `mira`."""

    family: int | Substructures
    scheme: int | Gamma
    beta: float
    aggressive: bool
    power: float
    impose: bool
    literal: bool
    grid: float
    C: float | None = None


def prepare(rule: UpdateRule, *, in_python: bool = False) -> CompiledRule | CompiledMira | PythonRule:
    """The rule as kernels take it; with a function of the user's, or if asked to, as plain Python takes it."""
    family: Any = rule.substructures
    if isinstance(family, str):
        family = own_substructures.get(family) or SUBSTRUCTURES.index(family)
    scheme: Any = rule.gamma
    if isinstance(scheme, str):
        scheme = own_gammas.get(scheme) or GAMMAS.index(scheme)
    shared: dict[str, Any] = {
        "family": family,
        "scheme": scheme,
        "beta": float(rule.beta),
        "aggressive": rule.approach == "aggressive",
        "impose": rule.impose,
        "literal": rule.literal,
        "grid": grid_of(rule.C) if rule.step == "mira" else GRID,
    }
    mira = rule.step == "mira"
    if in_python or callable(family) or callable(scheme):
        return PythonRule(**shared, power=POWERS.get(rule.step, 0.0), C=float(rule.C) if mira else None)
    return CompiledMira(**shared, C=float(rule.C)) if mira else CompiledRule(**shared, power=POWERS[rule.step])


@operation
def define_substructures(
    rule: Any, problem: Any, model: Any, i: int, wrong: Ints, k: int, starts: Ints, positions: Ints
):
    """JJ_x of example i, with k wrong positions: returns (how many, starts, positions), grown where needed.

    -1 instead of a number means that there are more than the limits allow.
    """


@operation
def set_gamma(rule: Any, margin: Floats, n: int, right: int, zero: float, gamma: Floats) -> None:
    """Write the weight of each of the n margins in use, not yet scaled; `right` positions are right."""


@kernel
def define_family(family, links, wrong, k, starts, positions):
    """The sets of a family; `links` are the gold and the predicted heads, None where labels are something else."""
    if links is not None:
        if family == SUBTREES:
            return subtrees(links[1], wrong, k, starts, positions)
        if family == COMPONENTS:
            return components(links[0], links[1], wrong, k, starts, positions), starts, positions
    sets, total = room(family, k)
    if sets > MOST_SETS or total > MOST_POSITIONS:
        return -1, starts, positions
    if sets + 1 > len(starts):
        starts = np.empty(2 * int(sets) + 1, np.int64)
    if total > len(positions):
        positions = np.empty(2 * int(total), np.int64)
    return fill(family, wrong, k, starts, positions), starts, positions


@implement(define_substructures, CompiledMira)
@implement(define_substructures, CompiledRule)
@kernel
def define_substructures_compiled(rule, problem, model, i, wrong, k, starts, positions):
    return define_family(rule.family, heads(problem, model, i), wrong, k, starts, positions)


@implement(set_gamma, CompiledMira)
@implement(set_gamma, CompiledRule)
@kernel
def set_gamma_compiled(rule, margin, n, right, zero, gamma):
    weigh(rule.scheme, rule.beta, margin, n, right, zero, gamma)


@implement(define_substructures, PythonRule)
def define_substructures_python(
    rule: PythonRule, problem: Any, model: Any, i: int, wrong: Ints, k: int, starts: Ints, positions: Ints
) -> tuple[int, Ints, Ints]:
    if not callable(rule.family):
        name = SUBSTRUCTURES[rule.family]
        links = heads(problem, model, i) if name in OF_HEADS else None
        return define_family(rule.family, links, wrong, k, starts, positions)  # type: ignore[no-any-return]
    gold, predicted = labels(problem, model, i)
    sets = own_sets(rule.family, gold, predicted, wrong[:k].tolist())
    lengths = [len(J) for J in sets]
    flat = np.array([j for J in sets for j in J], np.int64)
    return len(sets), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64), flat


def own_sets(function: Substructures, gold: Any, predicted: Any, wrong: list[int]) -> list[tuple[int, ...]]:
    """The sets a user's function gives, cut down to wrong positions, empty ones and repetitions left out."""
    size, wrong_set = max(len(gold), max(wrong, default=0) + 1), set(wrong)
    sets: dict[tuple[int, ...], None] = {}
    for J in returned_sets(function, gold, predicted):
        positions = set(J)
        if positions and not (min(positions) >= 0 and max(positions) < size):
            raise InputError(
                f"substructures function {name_of(function)} returned {sorted(positions)} "
                f"for a label of {size} positions: positions go from 0 to {size - 1}"
            )
        if cut := tuple(sorted(positions & wrong_set)):
            sets[cut] = None
    return list(sets)


def returned_sets(function: Substructures, gold: Any, predicted: Any) -> list[list[int]]:
    try:
        returned = function(copy(gold), copy(predicted))
    except Exception as error:
        raise raised("substructures", function, error) from error
    try:
        return [[operator.index(j) for j in J] for J in returned]
    except TypeError:
        raise InputError(
            f"substructures function {name_of(function)} must return sets of positions, such as [[0], [1, 2]]"
        ) from None


def raised(kind: str, function: Any, error: Exception) -> InputError:
    """One line for an exception in a user's function, with its place."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return InputError(f"{kind} function {name_of(function)} raised {what} ({frame.filename}, line {frame.lineno})")


def sets_of(substructures: str | Substructures, gold: Any, predicted: Any) -> list[tuple[int, ...]]:
    """JJ_x for one gold label and one prediction, by name or by a user's function, as tuples of wrong positions.

    >>> sets_of("segments", [0, 0, 0, 0], [1, 1, 0, 1])
    [(0, 1), (3,)]
    >>> sets_of("components", [2, 0, 2, 3], [0, 1, 2, 1])  # 1 and 2 are joined, also 1 and 4
    [(0, 1, 3)]
    """
    substructures = UpdateRule(substructures=substructures).substructures  # a name is checked
    wrong = wrong_positions(gold, predicted)
    if not wrong:
        return []
    family = own_substructures.get(substructures, substructures) if isinstance(substructures, str) else substructures
    if callable(family):
        return own_sets(family, gold, predicted, wrong)
    room = np.empty(len(wrong) + 1, np.int64)
    code, array = SUBSTRUCTURES.index(family), np.array(wrong, np.int64)
    links = (as_heads(gold, "gold"), as_heads(predicted, "predicted")) if family in OF_HEADS else None
    count, starts, positions = define_family(code, links, array, len(wrong), room, room.copy())
    if count < 0:
        raise InputError(f"substructures '{substructures}' of {len(wrong)} wrong positions are too many")
    return [tuple(positions[starts[j] : starts[j + 1]].tolist()) for j in range(count)]


@implement(set_gamma, PythonRule)
def set_gamma_python(rule: PythonRule, margin: Floats, n: int, right: int, zero: float, gamma: Floats) -> None:
    if not callable(rule.scheme):
        weigh(rule.scheme, rule.beta, margin, n, right, zero, gamma)
        return
    try:
        returned = rule.scheme(margin[:n].copy(), rule.beta)
    except Exception as error:
        raise raised("gamma", rule.scheme, error) from error
    if returned is None:  # the user's way to back off
        gamma[:n] = 0.0
        return
    try:
        own = np.asarray(returned, dtype=float)
    except (TypeError, ValueError):
        own = np.full(n, np.nan)
    if own.shape != (n,):
        problem = f"an array of shape {own.shape} for {n} margins"
    elif not np.isfinite(own).all():
        problem = "NaN or infinite weights, or no numbers"
    elif (own < 0).any():
        problem = "negative weights"
    elif not own.any():
        problem = "only zeros"
    else:
        gamma[:n] = own / own.max()
        return
    shown = np.array2string(margin[: min(n, 5)], precision=4) + (" …" if n > 5 else "")
    raise InputError(
        f"gamma function {name_of(rule.scheme)} returned {problem} (margins {shown}): "
        "return one finite number ≥ 0 per margin, not all 0"
    )
