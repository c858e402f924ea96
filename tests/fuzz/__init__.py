"""Fuzz campaigns: damaged files and killed training runs, seeded so that each round can be repeated.

    python -m tests.fuzz --minutes 60
    python -m tests.fuzz --only models --seed 20261116 --round 1234

A campaign is a module with `new(folder)`, which returns a function `round_of(rng)`. A round damages something, uses it,
and returns what went wrong, or None. An `InputError` is the right answer to damage; everything else is a failure.

The tests set NUMBA_DISABLE_JIT=1, so that NumPy checks every index that a kernel uses. Without it the machine code of
users runs.
"""

from __future__ import annotations

import datetime
import os

__all__ = ["todays_seed"]


def todays_seed() -> int:
    """Return the seed of today: SWVP_FUZZ_SEED, or the date."""
    return int(os.environ.get("SWVP_FUZZ_SEED") or datetime.date.today().strftime("%Y%m%d"))
