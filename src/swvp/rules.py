"""Update rules: their names, their parts, and functions to register a γ or a JJ of your own.

An update is w += step · Σ_J γ(m^J) Δφ(x, y, m^J). A rule says which sub-structures J are used, which γ, which mixed
assignments take part, and how long the step is.
"""

from __future__ import annotations

from swvp.learning.python_rule import sets_of
from swvp.learning.rule import (
    APPROACHES,
    PAPER_RULES,
    STEPS,
    UpdateRule,
    as_rule,
    register_gamma,
    register_substructures,
)
from swvp.structures.generic import mixed_assignment, wrong_positions

__all__ = [
    "APPROACHES",
    "PAPER_RULES",
    "STEPS",
    "UpdateRule",
    "as_rule",
    "mixed_assignment",
    "register_gamma",
    "register_substructures",
    "sets_of",
    "wrong_positions",
]
