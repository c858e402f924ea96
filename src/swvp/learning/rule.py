"""Owns the update rule: which sub-structures, γ, approach and step an update uses, and the short names of rules."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import implement, kernel, operation
from swvp.errors import InputError, unknown_name
from swvp.learning.gamma import GAMMAS, weigh
from swvp.learning.substructures import MOST_POSITIONS, MOST_SETS, SUBSTRUCTURES, fill, room
from swvp.structures.operations import Floats, Ints, labels
from swvp.structures.python import wrong_positions

__all__ = ["APPROACHES", "PAPER_RULES", "STEPS", "UpdateRule", "as_rule", "register_gamma", "register_substructures"]

APPROACHES = ("aggressive", "balanced")
STEPS = {"unit": 0.0, "sqrt": 0.5, "count": 1.0}
PAPER_RULES = ("csp", "a-wm", "a-wmr", "b-wm", "b-wmr")

Gamma = Callable[[Floats, float], Sequence[float] | Floats]
Substructures = Callable[[Any, Any], Iterable[Iterable[int]]]

own_gammas: dict[str, Gamma] = {}
own_substructures: dict[str, Substructures] = {}


def register_gamma(name: str, function: Gamma) -> None:
    """Give a γ function of your own a name, so that "a-NAME" and "b-NAME" are rules everywhere.

    `function(margins, beta)` gets the margins w·Δφ of the mixed assignments in use and returns their weights:
    as many numbers ≥ 0, not all 0, which are scaled to sum to 1.

    >>> register_gamma("squared", lambda margins, beta: margins**2 + 1e-6)
    >>> as_rule("a-squared").gamma
    'squared'
    """
    own_gammas[_new_name("gamma", name, GAMMAS)] = function


def register_substructures(name: str, function: Substructures) -> None:
    """Give a JJ function of your own a name: `function(gold, predicted)` returns sets of positions."""
    own_substructures[_new_name("substructures", name, SUBSTRUCTURES)] = function


def _new_name(kind: str, name: str, taken: Iterable[str]) -> str:
    if name in taken or name in STEPS or name == "impose" or not name or set(name) & set(":,- "):
        raise InputError(f"cannot name {kind} '{name}': taken, or has one of ':', ',', '-', ' '")
    return name


@dataclass(frozen=True, kw_only=True)
class UpdateRule:
    """How a wrong prediction changes the weights: w += step · Σ_J γ(m^J) Δφ(x, y, m^J).

    Parameters
    ----------
    substructures : name in `SUBSTRUCTURES`, or a function (gold, predicted) -> sets of positions
    gamma : name in `GAMMAS`, or a function (margins, beta) -> weights ≥ 0
    approach : "aggressive" uses violations only, "balanced" all mixed assignments
    beta : the exponent of wm and wmr, the inverse temperature of softmin; > 0
    step : "unit" Σγ = 1 as in the paper; "sqrt" and "count" multiply that by √m and m, for m mixed
        assignments with γ > 0
    impose : exclude non-violating terms of a balanced update until γ condition (2) holds

    >>> UpdateRule(gamma="wm", approach="aggressive", substructures="segments", step="sqrt").name
    'a-wm:segments:sqrt'
    """

    substructures: str | Substructures = "single"
    gamma: str | Gamma = "wm"
    approach: str = "aggressive"
    beta: float = 1.0
    step: str = "unit"
    impose: bool = False

    def __post_init__(self) -> None:
        if not callable(self.substructures) and self.substructures not in (*SUBSTRUCTURES, *own_substructures):
            raise unknown_name("substructures", self.substructures, (*SUBSTRUCTURES, *own_substructures))
        if not callable(self.gamma) and self.gamma not in (*GAMMAS, *own_gammas):
            raise unknown_name("gamma", self.gamma, (*GAMMAS, *own_gammas))
        if self.approach not in APPROACHES:
            raise unknown_name("approach", self.approach, APPROACHES)
        if self.step not in STEPS:
            raise unknown_name("step", self.step, STEPS)
        number = isinstance(self.beta, (int, float, np.number)) and not isinstance(self.beta, bool)
        if not (number and math.isfinite(self.beta) and self.beta > 0):
            raise InputError(f"beta must be a number > 0, not {self.beta!r}")

    @property
    def uses_beta(self) -> bool:
        """Whether different values of β can give different updates."""
        return self.substructures != "full" and self.gamma not in ("uniform", "worst", "optimal")

    @property
    def name(self) -> str:
        """The short name, which `as_rule` reads back (β is not part of it)."""
        if self == dataclasses.replace(CSP, beta=self.beta):
            return "csp"
        parts = [f"{self.approach[0]}-{_name(self.gamma)}"]
        parts += [_name(self.substructures)] if self.substructures != "single" else []
        parts += [self.step] if self.step != "unit" else []
        parts += ["impose"] if self.impose else []
        return ":".join(parts)

    def respects_conditions(self) -> bool:
        """Whether every update meets the γ selection conditions, whatever the data."""
        return self.approach == "aggressive" or self.impose or self.gamma in ("worst", "optimal")

    def compiled(self, *, in_python: bool = False) -> CompiledRule | PythonRule:
        """The rule as kernels take it; with a function of the user's, or if asked to, as plain Python takes it."""
        rest = dict(
            beta=float(self.beta),
            aggressive=self.approach == "aggressive",
            power=STEPS[self.step],
            impose=self.impose,
        )
        family = own_substructures.get(self.substructures, self.substructures)  # type: ignore[arg-type]
        scheme = own_gammas.get(self.gamma, self.gamma)  # type: ignore[arg-type]
        family = family if callable(family) else SUBSTRUCTURES.index(family)
        scheme = scheme if callable(scheme) else GAMMAS.index(scheme)
        cls = PythonRule if in_python or callable(family) or callable(scheme) else CompiledRule
        return cls(family=family, scheme=scheme, **rest)  # type: ignore[arg-type, return-value]


def _name(part: Any) -> str:
    return part if isinstance(part, str) else getattr(part, "__name__", type(part).__name__)


CSP = UpdateRule(substructures="full", gamma="uniform")


def as_rule(rule: str | UpdateRule, **changes: Any) -> UpdateRule:
    """The rule of a short name: csp, or (a|b)-GAMMA[:SUBSTRUCTURES][:STEP][:impose].

    >>> as_rule("b-wmr", beta=2).approach
    'balanced'
    >>> as_rule("a-softmin:pairs:count").substructures
    'pairs'
    """
    if isinstance(rule, UpdateRule):
        return dataclasses.replace(rule, **changes)
    if rule == "csp":
        return dataclasses.replace(CSP, **changes)
    head, *parts = str(rule).split(":")
    letter, dash, gamma = head.partition("-")
    approach = {"a": "aggressive", "b": "balanced"}.get(letter)
    if approach is None or not dash:
        every = ("csp", *(f"{letter}-{name}" for letter in "ab" for name in (*GAMMAS, *own_gammas)))
        raise unknown_name("rule", rule, every)
    fields: dict[str, Any] = {"approach": approach, "gamma": gamma}
    for part in parts:
        if part in STEPS:
            fields["step"] = part
        elif part == "impose":
            fields["impose"] = True
        elif part in SUBSTRUCTURES or part in own_substructures:
            fields["substructures"] = part
        else:
            raise unknown_name(
                f"part of rule '{rule}':", part, (*SUBSTRUCTURES, *own_substructures, *STEPS, "impose")
            )
    return UpdateRule(**(fields | changes))


class CompiledRule(NamedTuple):
    family: int
    scheme: int
    beta: float
    aggressive: bool
    power: float
    impose: bool


@dataclass(frozen=True)
class PythonRule:
    family: int | Substructures
    scheme: int | Gamma
    beta: float
    aggressive: bool
    power: float
    impose: bool


@operation
def define_substructures(rule: Any, problem: Any, model: Any, i: int, wrong: Ints, k: int, starts: Ints, positions: Ints):  # type: ignore[no-untyped-def]
    """JJ_x of example i, with k wrong positions: returns (how many, starts, positions), grown where needed.

    -1 instead of a number means that there are more than the limits allow.
    """
    raise TypeError(type(rule))


@operation
def set_gamma(rule: Any, margin: Floats, n: int, gamma: Floats) -> None:
    """Write the weight of each of the n margins in use, not yet scaled."""
    raise TypeError(type(rule))


@kernel
def define_family(family, wrong, k, starts, positions):
    sets, total = room(family, k)
    if sets > MOST_SETS or total > MOST_POSITIONS:
        return -1, starts, positions
    if sets + 1 > len(starts):
        starts = np.empty(2 * int(sets) + 1, np.int64)
    if total > len(positions):
        positions = np.empty(2 * int(total), np.int64)
    return fill(family, wrong, k, starts, positions), starts, positions


@implement(define_substructures, CompiledRule)
@kernel
def define_substructures_compiled(rule, problem, model, i, wrong, k, starts, positions):
    return define_family(rule.family, wrong, k, starts, positions)


@implement(set_gamma, CompiledRule)
@kernel
def set_gamma_compiled(rule, margin, n, gamma):
    weigh(rule.scheme, rule.beta, margin, n, gamma)


@implement(define_substructures, PythonRule)
def define_substructures_python(
    rule: PythonRule, problem: Any, model: Any, i: int, wrong: Ints, k: int, starts: Ints, positions: Ints
) -> tuple[int, Ints, Ints]:
    if not callable(rule.family):
        return define_family(rule.family, wrong, k, starts, positions)  # type: ignore[no-any-return]
    gold, predicted = labels(problem, model, i)
    sets = own_sets(rule.family, gold, predicted, wrong[:k].tolist())
    lengths = [len(J) for J in sets]
    flat = np.array([j for J in sets for j in J], np.int64)
    return len(sets), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64), flat


def own_sets(function: Substructures, gold: Any, predicted: Any, wrong: list[int]) -> list[tuple[int, ...]]:
    """The sets a user's function gives, cut down to wrong positions, empty ones and repetitions left out."""
    size, wrong_set = len(gold), set(wrong)
    sets = {}
    for J in function(gold, predicted):
        positions = {int(j) for j in J}
        if positions and not (min(positions) >= 0 and max(positions) < size):
            raise InputError(
                f"substructures function {_name(function)} returned {sorted(positions)} "
                f"for a label of {size} positions: positions go from 0 to {size - 1}"
            )
        if cut := tuple(sorted(positions & wrong_set)):
            sets[cut] = None
    return list(sets)


def sets_of(substructures: str | Substructures, gold: Any, predicted: Any) -> list[tuple[int, ...]]:
    """JJ_x for one gold label and one prediction, by name or by a user's function, as tuples of wrong positions.

    >>> sets_of("segments", [0, 0, 0, 0], [1, 1, 0, 1])
    [(0, 1), (3,)]
    """
    wrong = wrong_positions(gold, predicted)
    family = own_substructures.get(substructures, substructures)  # type: ignore[arg-type]
    if callable(family):
        return own_sets(family, gold, predicted, wrong)
    room = np.empty(len(wrong) + 1, np.int64)
    code, array = SUBSTRUCTURES.index(family), np.array(wrong, np.int64)
    count, starts, positions = define_family(code, array, len(wrong), room, room.copy())
    if count < 0:
        raise InputError(f"substructures '{substructures}' of {len(wrong)} wrong positions are too many")
    return [tuple(positions[starts[j] : starts[j + 1]].tolist()) for j in range(count)]


@implement(set_gamma, PythonRule)
def set_gamma_python(rule: PythonRule, margin: Floats, n: int, gamma: Floats) -> None:
    if not callable(rule.scheme):
        weigh(rule.scheme, rule.beta, margin, n, gamma)
        return
    own = np.asarray(rule.scheme(margin[:n].copy(), rule.beta), dtype=float)
    if own.shape != (n,):
        problem = f"{own.size} weights for {n} margins"
    elif not np.isfinite(own).all():
        problem = "NaN or infinite weights"
    elif (own < 0).any():
        problem = "negative weights"
    elif not own.any():
        problem = "only zeros"
    else:
        gamma[:n] = own
        return
    shown = np.array2string(margin[: min(n, 5)], precision=4) + (" …" if n > 5 else "")
    raise InputError(
        f"gamma function {_name(rule.scheme)} returned {problem} (margins {shown}): "
        "return one finite number ≥ 0 per margin, not all 0"
    )
