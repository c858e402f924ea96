"""Owns which rules are tried for a parser, unless its user names others."""

from __future__ import annotations

from collections.abc import Sequence

from swvp.learning.rule import UpdateRule
from swvp.training import tune

__all__ = ["BETAS", "DEFAULT_RULES", "RULES", "candidates"]

DEFAULT_RULES = {1: "a-uniform:mira", 2: "a-uniform:components:mira"}
"""By order: where parts have several arcs, wrong heads that hang together are changed together."""

RULES = (
    "csp",
    "a-wm",
    "b-wm",
    "a-wm:sqrt",
    "a-wmr:sqrt",
    "a-uniform:sqrt",
    "a-uniform:mira",
    "a-wm:mira",
    "a-uniform:components:mira",
    "mira",
)
BETAS = (0.25, 0.5, 1.0)


def candidates(rules: Sequence[str] | None, betas: Sequence[float] | None, C: float | None = None) -> list[UpdateRule]:
    """Every rule with every β, of these or those for parsers; see `swvp.training.tune.candidates`."""
    return tune.candidates(rules or RULES, betas or BETAS, C)
