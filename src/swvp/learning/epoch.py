"""What is counted in one epoch: the array that a sweep fills, and the `Epoch` that users see."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

__all__ = ["COUNTS", "Epoch"]

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


@dataclass(frozen=True)
class Epoch:
    """The counts of one epoch, which is one pass over the training set.

    `violating` and `non_violating` count mixed assignments (with k-best MIRA, wrong outputs; with
    sums over all sub-structures, those of single positions and of neighbours). `excluded` counts those
    that were excluded to impose condition (2). An update of length 0 is not counted. `without_violation` counts
    mistakes without an update, because not even the whole prediction is a violation: the search is not exact, or it
    cannot reach y.
    """

    epoch: int
    examples: int
    mistakes: int
    wrong_positions: int
    updates: int
    back_offs: int
    violating: int
    non_violating: int
    condition_2_failures: int
    excluded: int
    norm: float
    seconds: float
    without_violation: int = 0

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)
