"""The update rule: which sub-structures, γ, approach and step an update uses, and the short names of rules.

A rule may be a schedule, whose rule depends on the epoch. Theorem 1 allows it (property 3, dynamic updates): JJ and
SetGamma may differ between iterations.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from swvp.errors import InputError, is_real, is_whole, shown, unknown_name
from swvp.learning.gamma import GAMMAS, SCHEMES
from swvp.learning.substructures import SUBSTRUCTURES
from swvp.types import Floats

__all__ = ["APPROACHES", "PAPER_RULES", "STEPS", "UpdateRule", "as_rule", "register_gamma", "register_substructures"]

APPROACHES = ("aggressive", "balanced")
POWERS = {"unit": 0.0, "sqrt": 0.5, "count": 1.0}
"""The steps m^power, for m mixed assignments with γ > 0."""
STEPS = (*POWERS, "mira", "ada")
NAMED: dict[str, dict[str, Any]] = {
    "csp": {"substructures": "full", "gamma": "uniform", "approach": "aggressive", "step": "unit"},
    "mira": {"substructures": "full", "gamma": "uniform", "approach": "aggressive", "step": "mira"},
    "softmax": {"substructures": "all", "gamma": "softmin", "approach": "balanced", "step": "ada", "all_labels": True},
}
SOFTMAX_C = 0.3
"""The default learning rate of the rule `softmax`, whose steps are many and small; chosen on dev sets."""
FLAGS = ("impose", "literal", "parts")
THEN = ".."
PAPER_RULES = ("csp", "a-wm", "a-wmr", "b-wm", "b-wmr")

Gamma = Callable[[Floats, float], Sequence[float] | Floats]
Substructures = Callable[[Any, Any], Iterable[Iterable[int]]]

registered_gammas: dict[str, Gamma] = {}
registered_substructures: dict[str, Substructures] = {}


def register_gamma(name: str, function: Gamma) -> None:
    """Register a γ function of your own, so that "a-NAME" and "b-NAME" are rules everywhere.

    Parameters
    ----------
    name : str
        Its name in rules.
    function : callable
        `function(margins, beta)` takes the margins w·Δφ of the mixed assignments in use and returns their weights: one
        number ≥ 0 per margin, not all 0. They are scaled to sum to 1. If it returns None, the update backs off to CSP.
        Training starts with w = 0, where all margins are 0.

    Examples
    --------
    >>> register_gamma("squared", lambda margins, beta: margins**2 + 1e-6)
    >>> as_rule("a-squared").gamma
    'squared'
    """
    registered_gammas[new_name("gamma", name, GAMMAS, function)] = function


def register_substructures(name: str, function: Substructures) -> None:
    """Register a JJ function of your own, so that its name is a part of rules everywhere, as in "a-wm:NAME".

    Parameters
    ----------
    name : str
        Its name in rules.
    function : callable
        `function(gold, predicted)` returns sets of positions, such as [[0], [1, 2]].
    """
    registered_substructures[new_name("substructures", name, SUBSTRUCTURES, function)] = function


def new_name(kind: str, name: str, reserved: Iterable[str], function: object) -> str:
    """The name of a user's function; InputError if it is not allowed, a warning if it replaces another function."""
    if name in reserved or name in STEPS or name in FLAGS or not name or set(name) & set(":,-. "):
        raise InputError(f"cannot name {kind} '{name}': the name exists, or has one of ':', ',', '-', '.', ' '")
    if not callable(function):
        raise InputError(f"{kind} '{name}' must be a function, not a {type(function).__name__}")
    before = (registered_gammas if kind == "gamma" else registered_substructures).get(name)
    if before is not None and origin_of(before) != origin_of(function):
        warnings.warn(f"{kind} '{name}' of {origin_of(before)} is replaced by another function", stacklevel=3)
    return name


def origin_of(function: object) -> str:
    """Where a function is from: the same after its file is loaded, or its cell is run, once more."""
    return f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', type(function).__name__)}"


@dataclass(frozen=True, kw_only=True)
class UpdateRule:
    """How a wrong prediction changes the weights: w += step · Σ_J γ(m^J) Δφ(x, y, m^J).

    Parameters
    ----------
    substructures : name in `SUBSTRUCTURES`, or a function (gold, predicted) -> sets of positions
    gamma : name in `GAMMAS`, or a function (margins, beta) -> weights ≥ 0
    approach : "aggressive" uses violations only, "balanced" all mixed assignments
    beta : the exponent of wm and wmr, the inverse temperature of softmin; > 0
    step : the factor of the update d = Σγ(m^J) Δφ(x, y, m^J). "unit": 1, as in the paper; "sqrt" and "count": √m and m,
        for m mixed assignments with γ > 0; "mira": min(C, max(0, (loss - w·d) / ‖d‖²)), with the Hamming loss
        Σγ(m^J) |J|; "ada": a factor for each feature, smaller with each of its updates (AdaGrad)
    C : the longest step of "mira", the learning rate of "ada"; > 0. If C is so small that every step of "mira" is C,
        the updates are those of the step "unit", scaled by C
    k_best : the number of best outputs that an update uses, for the rule "mira", whose short name is "mira:K", and for
        γ over all mixed assignments of their labels, as in "b-maxent:all:K"
    all_labels : whether this is the rule "softmax", which compares y with all outputs, not only with mixed assignments
        of y and y*; it is not SWVP
    impose : exclude non-violating terms of a balanced update until γ condition (2) holds
    literal : follow Algorithm 1 and the formulas of γ as the paper prints them, even without a violation: CSP if the
        search missed a better y, a balanced γ if I^v is empty or has no weight. By default there is no update in the
        first case, and a back-off in the second
    parts : for second-order trees: Δφ of a sub-structure is the sum over the parts of its words, gold minus predicted,
        instead of Δφ(x, y, m^J)
    then : (N, rule): this rule for the first N epochs, then the other one

    >>> UpdateRule(gamma="wm", approach="aggressive", substructures="segments", step="sqrt").name
    'a-wm:segments:sqrt'
    """

    substructures: str | Substructures = "single"
    gamma: str | Gamma = "wm"
    approach: str = "aggressive"
    beta: float = 1.0
    step: str = "unit"
    C: float = 1.0
    k_best: int = 1
    all_labels: bool = False
    impose: bool = False
    literal: bool = False
    parts: bool = False
    then: tuple[int, UpdateRule] | None = None

    def __post_init__(self) -> None:
        if not callable(self.substructures) and self.substructures not in (*SUBSTRUCTURES, *registered_substructures):
            raise unknown_name("substructures", self.substructures, (*SUBSTRUCTURES, *registered_substructures))
        if not callable(self.gamma) and self.gamma not in (*GAMMAS, *registered_gammas):
            raise unknown_name("gamma", self.gamma, (*GAMMAS, *registered_gammas))
        if self.approach not in APPROACHES:
            raise unknown_name("approach", self.approach, APPROACHES)
        if self.step not in STEPS:
            raise unknown_name("step", self.step, STEPS)
        for field in ("beta", "C"):
            value = getattr(self, field)
            if not (is_real(value) and value > 0):
                raise InputError(f"{field} must be a number > 0, not {shown(value)}")
        if not is_whole(self.k_best):
            raise InputError(f"k_best must be a whole number of at least 1, not {shown(self.k_best)}")
        if self.k_best > 1 and not self.sums_over_all and (self.base != "mira" or any(self.flags)):
            raise InputError(
                "more than one output is for the rule mira, as in mira:5, and for b-softmin:all and b-maxent:all with "
                "the steps unit, mira and ada, as in b-maxent:all:5"
            )
        if self.all_labels and (self.base != "softmax" or any(self.flags)):
            raise InputError("the rule softmax has no other substructures, gamma, approach, step or flags")
        if self.impose and self.literal:
            raise InputError("a rule cannot both impose condition (2) and be literal, which ignores it")
        if self.then is not None:
            epochs, rule = self.then
            if not is_whole(epochs):
                raise InputError(f"a rule of a schedule needs at least 1 epoch, not {shown(epochs)}")
            if not isinstance(rule, UpdateRule):
                raise InputError(f"then must be (epochs, UpdateRule), not {self.then!r}")
            if rule.parts != self.parts:
                raise InputError("all rules of a schedule must have parts, or none")

    @property
    def stages(self) -> list[UpdateRule]:
        """The rules of a schedule in their order; without one, the rule itself."""
        return [self] if self.then is None else [dataclasses.replace(self, then=None), *self.then[1].stages]

    def at(self, epoch: int) -> UpdateRule:
        """The rule of an epoch, counted from 1."""
        if self.then is None:
            return self
        epochs, rule = self.then
        return dataclasses.replace(self, then=None) if epoch <= epochs else rule.at(epoch - epochs)

    @property
    def flags(self) -> list[str]:
        """The names of its flags."""
        return [flag for flag in FLAGS if getattr(self, flag)]

    @property
    def adapts(self) -> bool:
        """Whether the step of any of its stages is "ada"."""
        return any(rule.step == "ada" for rule in self.stages)

    @property
    def compares_all_outputs(self) -> bool:
        """Whether any of its stages is the rule "softmax"."""
        return any(rule.all_labels for rule in self.stages)

    @property
    def uses_beta(self) -> bool:
        """Whether different values of β can give different updates."""
        without_beta = [scheme.name for scheme in SCHEMES if not scheme.uses_beta]
        return any(
            rule.substructures != "full" and rule.gamma not in without_beta and not rule.all_labels
            for rule in self.stages
        )

    @property
    def sums_over_all(self) -> bool:
        """Whether sums can replace the list of all sub-structures, where features allow it (`learning.all_subsets`)."""
        return (
            self.substructures == "all"
            and self.approach == "balanced"
            and self.gamma in ("softmin", "maxent")
            and self.step in ("unit", "mira", "ada")
            and not (self.all_labels or self.impose or self.literal or self.parts)
        )

    @property
    def name(self) -> str:
        """The short name, which `as_rule` reads back (β and C are not part of it)."""
        if self.then is not None:
            return f"{self.then[0]}x{self.stages[0].name}{THEN}{self.then[1].name}"
        if self.substructures == "full" and (self.gamma, self.approach, self.step) == ("uniform", "aggressive", "ada"):
            parts = ["csp", "ada"]
        elif self.base is not None:
            parts = [self.base] if self.k_best == 1 else [self.base, str(self.k_best)]
        else:
            parts = [f"{self.approach[0]}-{name_of(self.gamma)}"]
            parts += [name_of(self.substructures)] if self.substructures != "single" else []
            parts += [str(self.k_best)] if self.k_best > 1 else []
            parts += [self.step] if self.step != "unit" else []
        return ":".join([*parts, *self.flags])

    @property
    def base(self) -> str | None:
        """The name of the rule in NAMED that this is, whatever its numbers, or None."""
        for name, fields in NAMED.items():
            if all(getattr(self, field) == value for field, value in fields.items()):
                return name
        return None

    def respects_conditions(self) -> bool:
        """Whether every update meets the γ selection conditions, whatever the data."""
        if self.then is not None:
            return all(rule.respects_conditions() for rule in self.stages)
        if (self.k_best > 1 and not self.sums_over_all) or self.literal or self.all_labels:
            return False
        always = [scheme.name for scheme in SCHEMES if scheme.meets_conditions]
        if self.gamma in always or self.substructures == "full":  # with one J, it is a violation or a back-off
            return True
        return self.approach == "aggressive" or self.impose


def name_of(part: Any) -> str:
    """The name of a part of a rule: the part itself, or the name of a user's function."""
    return part if isinstance(part, str) else getattr(part, "__name__", type(part).__name__)


def as_rule(rule: str | UpdateRule, **changes: Any) -> UpdateRule:
    """Return the rule with a short name, with other fields changed as given.

    Parameters
    ----------
    rule : str or UpdateRule
        A rule, or its short name: csp[:ada], mira[:K], softmax, or
        (a|b)-GAMMA[:SUBSTRUCTURES][:STEP], each with [:impose] [:literal] [:parts]; or a schedule
        NxRULE..RULE, the first rule for N epochs, then the other.
    **changes
        Fields of `UpdateRule` and their values.

    Returns
    -------
    UpdateRule

    Examples
    --------
    >>> as_rule("b-wmr", beta=2).approach
    'balanced'
    >>> as_rule("a-softmin:pairs:count").substructures
    'pairs'
    >>> schedule = as_rule("2xcsp..a-wm", beta=3)
    >>> [schedule.at(epoch).name for epoch in (1, 2, 3)]
    ['csp', 'csp', 'a-wm']
    """
    if isinstance(rule, UpdateRule):
        return changed(rule, changes)
    first, dots, rest = str(rule).partition(THEN)
    if dots:
        epochs, x, name = first.partition("x")
        if not (x and is_count(epochs) and int(epochs) > 0 and rest):
            raise InputError(f"rule '{rule}': write a schedule as 2xcsp..a-wm, csp for 2 epochs and then a-wm")
        return dataclasses.replace(as_rule(name, **changes), then=(int(epochs), as_rule(rest, **changes)))
    head, *parts = str(rule).split(":")
    fields: dict[str, Any] = dict(NAMED[head]) if head in NAMED else approach_and_gamma(str(rule), head)
    if head == "mira" and parts and parts[0] not in FLAGS:
        if not is_count(parts[0]):
            raise InputError(f"rule '{rule}': give mira a number of outputs, as in mira:5")
        if int(parts[0]) < 1:
            raise InputError(f"rule '{rule}': K in mira:K must be at least 1")
        fields["k_best"] = int(parts.pop(0))
    for part in parts:
        field, value = part_of(str(rule), part)
        if field in fields and (head, value) != ("csp", "ada"):
            raise InputError(f"rule '{rule}' has more than one part for its {field}")
        fields[field] = value
    if head == "softmax":
        fields["C"] = SOFTMAX_C
    return UpdateRule(**(fields | changes))


def is_count(text: str) -> bool:
    """Whether a text is a whole number of at most 18 digits."""
    return text.isascii() and text.isdigit() and len(text) <= 18


def changed(rule: UpdateRule, changes: dict[str, Any]) -> UpdateRule:
    """The rule with some of its fields changed, in each of its stages."""
    then = rule.then and (rule.then[0], changed(rule.then[1], changes))
    return dataclasses.replace(rule, **({"then": then} | changes))


def approach_and_gamma(rule: str, head: str) -> dict[str, Any]:
    """The fields that the beginning of a short name, such as a-wm, stands for."""
    letter, dash, gamma = head.partition("-")
    if dash and letter == "p":
        raise InputError(
            f"rule '{rule}' is passive: it would use non-violations only. All their margins are > 0, so condition (2), "
            "Σγ·margin ≤ 0, asks for γ = 0, but condition (1) for Σγ = 1: no γ meets both (section 5 of the paper); "
            f"use 'a-{gamma}' or 'b-{gamma}'"
        )
    approach = {"a": "aggressive", "b": "balanced"}.get(letter)
    if approach is None or not dash:
        gammas = (*GAMMAS, *registered_gammas)
        known = (
            "csp",
            "csp:ada",
            "mira",
            "mira:K",
            "softmax",
            *(f"{letter}-{name}" for letter in "ab" for name in gammas),
        )
        raise unknown_name("rule", rule, known)
    return {"approach": approach, "gamma": gamma}


def part_of(rule: str, part: str) -> tuple[str, Any]:
    """The field that a part of a short name stands for, and its value."""
    if is_count(part):
        return "k_best", int(part)
    if part in STEPS:
        return "step", part
    if part in FLAGS:
        return part, True
    if part in SUBSTRUCTURES or part in registered_substructures:
        return "substructures", part
    raise unknown_name(f"part of rule '{rule}':", part, (*SUBSTRUCTURES, *registered_substructures, *STEPS, *FLAGS))
