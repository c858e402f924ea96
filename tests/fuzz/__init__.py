"""Campaigns of damaged files and killed runs, seeded so that each round can be repeated.

    python -m tests.fuzz --minutes 60
    python -m tests.fuzz --only models --seed 20261116 --round 1234

A campaign is a module with `new(folder)`, which makes a function `round_of(rng)`: it does one thing that must not hurt,
and returns what went wrong, or None. What users may be told is an `InputError`; all else is a failure.

With NUMBA_DISABLE_JIT=1, as the tests run it, NumPy checks every index that a kernel uses. Without it machine code
runs, as users run it.
"""

from __future__ import annotations

import datetime
import os

__all__ = ["todays_seed"]


def todays_seed() -> int:
    """The seed of today: its date, or what SWVP_FUZZ_SEED says."""
    return int(os.environ.get("SWVP_FUZZ_SEED") or datetime.date.today().strftime("%Y%m%d"))
