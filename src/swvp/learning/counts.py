"""Owns what is counted in a pass: places in the array that every sweep fills."""

from __future__ import annotations

__all__ = ["COUNTS"]

COUNTS = (
    "mistakes",
    "updates",
    "back_offs",
    "violating",
    "non_violating",
    "condition_2_failures",
    "excluded",
    "wrong_positions",
    "without_violation",
)
(
    MISTAKES,
    UPDATES,
    BACK_OFFS,
    VIOLATING,
    NON_VIOLATING,
    CONDITION_2_FAILURES,
    EXCLUDED,
    WRONG_POSITIONS,
    WITHOUT_VIOLATION,
) = range(len(COUNTS))
