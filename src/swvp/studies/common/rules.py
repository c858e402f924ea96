"""Rules as studies write them, RULE[@β][/MARGIN][+OPTION=VALUE…], and what they have besides sub-structures.

Without @β, a study tries all its values of β. Options are those of a tagger, as in mira:5+C=0.01.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from swvp.errors import InputError
from swvp.learning.rule import POWERS, UpdateRule, as_rule
from swvp.studies.common.running import CONTROL, CSP

__all__ = ["REST", "Chosen", "Notation", "Option", "choose_rules", "is_swvp", "notation", "option", "step_of"]

REST = "csp-rest"
"""CSP without a sampled dev set, where CSP itself is trained on it."""

Option = str | int | float | bool | None
"""The value of an option of a tagger."""


class Notation(NamedTuple):
    """A rule as users write it. `margin` is None if none is given."""

    name: str
    beta: float | None = None
    margin: float | None = None
    options: tuple[tuple[str, Option], ...] = ()

    @property
    def text(self) -> str:
        """The rule in its shortest form."""
        return self.with_beta(self.beta)

    def with_beta(self, beta: float | None) -> str:
        """Return the text with this β: b-wm@0.5, a-wm@0.5/30."""
        shown = "" if beta is None else f"@{beta:g}"
        margin = "" if self.margin is None else f"/{self.margin:g}"
        return f"{self.name}{shown}{margin}" + "".join(f"+{name}={value}" for name, value in self.options)

    @property
    def tuned(self) -> bool:
        """Whether β is chosen on the dev set."""
        rule = update_rule(self.name)
        return self.beta is None and rule is not None and rule.uses_beta

    def rule(self, beta: float | None) -> UpdateRule:
        """Return the update rule with this β, unless the notation has one."""
        given = self.beta if self.beta is not None else beta
        return as_rule(self.name) if given is None else as_rule(self.name, beta=given)


def notation(text: str, *, is_other: Callable[[str], bool] = lambda name: False) -> Notation:
    """Parse a rule; `is_other` says whether a name that is not an update rule is known all the same, as crf is.

    >>> notation("a-wm@0.25/30")
    Notation(name='a-wm', beta=0.25, margin=30.0, options=())
    >>> notation("mira:5+C=0.01").options
    (('C', 0.01),)
    """
    rest, *options = text.split("+") if "=" in text else [text]
    while options and "=" not in options[0]:  # single+full is a family of sub-structures
        rest = f"{rest}+{options.pop(0)}"
    rest, slash, margin = rest.partition("/")
    name, at, beta = rest.partition("@")
    rule = None if is_other(name) else as_rule(name)
    if at and (rule is None or not rule.uses_beta):
        raise InputError(f"rule '{text}': {name if rule is None else rule.name} has no β")
    result = Notation(
        name if rule is None else rule.name,
        number(text, "@", beta) if at else None,
        number(text, "/", margin, least=0.0) if slash else None,
        tuple(sorted(option(part, f"rule '{text}': ") for part in options)),
    )
    if rule is not None:
        result.rule(None)
    return result


def number(rule: str, sign: str, text: str, least: float = -math.inf) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= least):
        at_least = f" of at least {least:g}" if math.isfinite(least) else ""
        raise InputError(f"rule '{rule}': what is after {sign} must be a number{at_least}")
    return value


def option(text: str, where: str = "") -> tuple[str, Option]:
    """Return the name and the value of NAME=VALUE: a number, true, false, none or a word. Errors begin with `where`.

    >>> option("average=false"), option("order=2")
    (('average', False), ('order', 2))
    """
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise InputError(f"{where}'{text}' must be OPTION=VALUE")
    if value.lower() in (words := {"true": True, "false": False, "none": None}):
        return name, words[value.lower()]
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


# ---------------------------------------------------------------- rules with and without sub-structures


@cache
def update_rule(name: str) -> UpdateRule | None:
    """Return the update rule with this name; None for other ways of training, as crf."""
    try:
        return as_rule(name)
    except InputError:
        return None


def rule_in(text: str) -> UpdateRule | None:
    """Return the update rule of a rule of a study; a control is CSP.

    crf and softmax have none here: they compare all outputs, so there are no sub-structures to choose.
    """
    name = notation(CSP if text in (CONTROL, REST) else text, is_other=lambda name: update_rule(name) is None).name
    rule = update_rule(name)
    return None if rule is None or rule.compares_all_outputs else rule


def is_swvp(text: str) -> bool:
    """Return whether a rule uses sub-structures: CSP and MIRA, with any margin, and the controls do not."""
    rule = rule_in(text)
    return rule is not None and any(stage.substructures != "full" for stage in rule.stages)


def step_of(text: str) -> str | None:
    """Return the step that a rule has if its only sub-structure is the whole output; None for other ways of training.

    The steps sqrt and count are then unit: they count sub-structures.

    >>> [step_of(rule) for rule in ("a-wm:segments:sqrt", "mira:10", "csp:ada", "csp-orders", "crf", "softmax")]
    ['unit', 'mira', 'ada', 'unit', None, None]
    """
    rule = rule_in(text)
    if rule is None:
        return None
    step = rule.stages[-1].step
    return "unit" if step in POWERS else step


class Chosen(NamedTuple):
    """The best rule with sub-structures, the best one without that has the same step, and the best one of any step."""

    best: str
    rival: str
    plain: str


def choose_rules(dev: Mapping[str, float]) -> Chosen | None:
    """Choose the rules that show what sub-structures add to a step, by the dev scores of rules.

    The first is the best rule with sub-structures whose step a rule without also has. None if there is none.

    >>> choose_rules({"csp": 0.9, "a-wm": 0.91, "mira": 0.93, "csp-orders": 0.905})
    Chosen(best='a-wm', rival='csp-orders', plain='mira')
    """
    rivals: dict[str | None, list[str]] = {}
    for rule in dev:
        if not is_swvp(rule) and step_of(rule) is not None:
            rivals.setdefault(step_of(rule), []).append(rule)
    best = max((rule for rule in dev if is_swvp(rule) and step_of(rule) in rivals), key=dev.__getitem__, default=None)
    if best is None:
        return None
    plain = max((rule for rules in rivals.values() for rule in rules), key=dev.__getitem__)
    return Chosen(best, max(rivals[step_of(best)], key=dev.__getitem__), plain)
