"""An update rule as kernels take it: its compiled family of sub-structures, its compiled γ, and its step.

`define_substructures`, `set_gamma` and `update` are operations, so that the algorithm is the same for a rule with
functions of a user's (`swvp.learning.python_rule`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from swvp.compiled import implement, kernel, operation
from swvp.learning.gamma import weigh
from swvp.learning.substructures import define_family
from swvp.structures.operations import heads
from swvp.types import Floats, Ints, Singles

__all__ = ["CompiledRule", "define_substructures", "set_gamma"]


class CompiledRule(NamedTuple):
    """A rule whose parts are all known to kernels."""

    family: int
    scheme: int
    beta: float
    aggressive: bool
    step: int  # index into `rule.STEPS`
    C: float
    impose: bool
    literal: bool
    grid: float
    squares: Singles  # for the step `ada`: Σg² of each feature so far, which updates change


@operation
def define_substructures(
    rule: Any, problem: Any, model: Any, i: int, wrong: Ints, k: int, starts: Ints, positions: Ints
):
    """JJ_x of example i, with k wrong positions, as (number of sets, starts, positions).

    The arrays are replaced by larger ones where needed. The number is -1 if there are more sets than the limits allow.
    """


@operation
def set_gamma(rule: Any, margin: Floats, n: int, right: int, zero: float, gamma: Floats) -> None:
    """Write the weight of each of the n margins in use, not yet scaled; `right` positions are right."""


@implement(define_substructures, CompiledRule)
@kernel
def define_substructures_compiled(rule, problem, model, i, wrong, k, starts, positions):
    return define_family(rule.family, heads(problem, model, i), wrong, k, starts, positions)


@implement(set_gamma, CompiledRule)
@kernel
def set_gamma_compiled(rule, margin, n, right, zero, gamma):
    weigh(rule.scheme, rule.beta, margin, n, right, zero, gamma)
