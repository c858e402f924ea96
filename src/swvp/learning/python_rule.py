"""A rule with functions of a user's: its sub-structures, its γ, or both, in plain Python and checked."""

from __future__ import annotations

import operator
import traceback
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from swvp.compiled import implement
from swvp.errors import InputError
from swvp.learning.gamma import weigh
from swvp.learning.rule import Gamma, Substructures, UpdateRule, name_of, registered_substructures
from swvp.learning.rule_kernels import define_substructures, set_gamma
from swvp.learning.substructures import OF_HEADS, SUBSTRUCTURES, define_family
from swvp.structures.generic import as_heads, wrong_positions
from swvp.structures.operations import heads, labels
from swvp.types import Floats, Ints, Singles

__all__ = ["PythonRule", "sets_of"]


@dataclass(frozen=True)
class PythonRule:
    """A rule for plain Python: the family, the scheme or both may be functions. `squares` are for the step `ada`."""

    family: int | Substructures
    scheme: int | Gamma
    beta: float
    aggressive: bool
    step: int
    C: float
    impose: bool
    literal: bool
    grid: float
    squares: Singles


@implement(define_substructures, PythonRule)
def define_substructures_python(
    rule: PythonRule, problem: Any, model: Any, i: int, wrong: Ints, k: int, starts: Ints, positions: Ints
) -> tuple[int, Ints, Ints]:
    if not callable(rule.family):
        name = SUBSTRUCTURES[rule.family]
        gold_and_predicted = heads(problem, model, i) if name in OF_HEADS else None
        return define_family(rule.family, gold_and_predicted, wrong, k, starts, positions)  # type: ignore[no-any-return]
    gold, predicted = labels(problem, model, i)
    sets = checked_sets(rule.family, gold, predicted, wrong[:k].tolist())
    lengths = [len(J) for J in sets]
    flat = np.array([j for J in sets for j in J], np.int64)
    return len(sets), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64), flat


def checked_sets(function: Substructures, gold: Any, predicted: Any, wrong: list[int]) -> list[tuple[int, ...]]:
    """The sets that a user's function returns, reduced to wrong positions, without empty and repeated ones."""
    size, wrong_set = max(len(gold), max(wrong, default=0) + 1), set(wrong)
    sets: dict[tuple[int, ...], None] = {}
    for J in returned_sets(function, gold, predicted):
        positions = set(J)
        if positions and not (min(positions) >= 0 and max(positions) < size):
            raise InputError(
                f"substructures function {name_of(function)} returned {sorted(positions)} "
                f"for a label of {size} positions: positions go from 0 to {size - 1}"
            )
        if wrong_in_J := tuple(sorted(positions & wrong_set)):
            sets[wrong_in_J] = None
    return list(sets)


def returned_sets(function: Substructures, gold: Any, predicted: Any) -> list[list[int]]:
    try:
        returned = function(copy(gold), copy(predicted))
    except Exception as error:
        raise function_error("substructures", function, error) from error
    try:
        return [[operator.index(j) for j in J] for J in returned]
    except TypeError:
        raise InputError(
            f"substructures function {name_of(function)} must return sets of positions, such as [[0], [1, 2]]"
        ) from None


def function_error(kind: str, function: Any, error: Exception) -> InputError:
    """An exception in a user's function as one line, with its file and line."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return InputError(f"{kind} function {name_of(function)} raised {message} ({frame.filename}, line {frame.lineno})")


def sets_of(substructures: str | Substructures, gold: Any, predicted: Any) -> list[tuple[int, ...]]:
    """Return JJ_x for one gold label and one prediction, as tuples of wrong positions.

    Parameters
    ----------
    substructures : name of a family, or a function (gold, predicted) -> sets of positions
    gold, predicted : labels, as sequences

    Examples
    --------
    >>> sets_of("segments", [0, 0, 0, 0], [1, 1, 0, 1])
    [(0, 1), (3,)]
    >>> sets_of("components", [2, 0, 2, 3], [0, 1, 2, 1])  # 1 and 2 are joined, also 1 and 4
    [(0, 1, 3)]
    """
    substructures = UpdateRule(substructures=substructures).substructures  # a name is checked
    wrong = wrong_positions(gold, predicted)
    if not wrong:
        return []
    family = (
        registered_substructures.get(substructures, substructures) if isinstance(substructures, str) else substructures
    )
    if callable(family):
        return checked_sets(family, gold, predicted, wrong)
    buffer = np.empty(len(wrong) + 1, np.int64)
    number, positions = SUBSTRUCTURES.index(family), np.array(wrong, np.int64)
    both = (as_heads(gold, "gold"), as_heads(predicted, "predicted")) if family in OF_HEADS else None
    count, starts, positions = define_family(number, both, positions, len(wrong), buffer, buffer.copy())
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
        raise function_error("gamma", rule.scheme, error) from error
    if returned is None:  # the user's way to back off
        gamma[:n] = 0.0
        return
    try:
        weights = np.asarray(returned, dtype=float)
    except (TypeError, ValueError):
        weights = np.full(n, np.nan)
    if weights.shape != (n,):
        problem = f"an array of shape {weights.shape} for {n} margins"
    elif not np.isfinite(weights).all():
        problem = "NaN or infinite weights, or no numbers"
    elif (weights < 0).any():
        problem = "negative weights"
    elif not weights.any():
        problem = "only zeros"
    else:
        gamma[:n] = weights / weights.max()
        return
    shown = np.array2string(margin[: min(n, 5)], precision=4) + (" …" if n > 5 else "")
    raise InputError(
        f"gamma function {name_of(rule.scheme)} returned {problem} (margins {shown}): "
        "return one finite number ≥ 0 per margin, not all 0"
    )
