"""The quantities of the paper's theorems, exact for problems whose outputs can be enumerated."""

from __future__ import annotations

from swvp.learning.theorem_3 import ErrorBound, error_bound, generalization_bound
from swvp.learning.theory import (
    SmallestBound,
    closed_under_mixing,
    distance,
    first_pass_bound,
    margin,
    r_diff,
    radius,
    separator,
    slacks,
    smallest_first_pass_bound,
    update_bound,
)

__all__ = [
    "ErrorBound",
    "SmallestBound",
    "closed_under_mixing",
    "distance",
    "error_bound",
    "first_pass_bound",
    "generalization_bound",
    "margin",
    "r_diff",
    "radius",
    "separator",
    "slacks",
    "smallest_first_pass_bound",
    "update_bound",
]
