"""Run fuzz campaigns for some minutes."""

from __future__ import annotations

import argparse
import contextlib
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from . import checkpoints, corpora, killing, models, pipelines, todays_seed

CAMPAIGNS = {
    "models": models,
    "pipelines": pipelines,
    "checkpoints": checkpoints,
    "corpora": corpora,
    "killing": killing,
}
SLOW = 60
"""Seconds after which a round counts as hanging; ten times as many for killed training runs."""
MUCH = 2**31
"""Bytes of memory that no round may exceed: all files are small."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=2.0, help="how long, for all campaigns together")
    parser.add_argument("--seed", type=int, default=todays_seed(), help="today's date unless given")
    parser.add_argument("--only", choices=CAMPAIGNS, action="append", help="this campaign; give it again for more")
    parser.add_argument("--round", type=int, help="only the round of this number")
    given = parser.parse_args()
    names = given.only or list(CAMPAIGNS)
    again = f"python -m tests.fuzz --seed {given.seed}"
    print(f"seed {given.seed}, again: {again}", flush=True)
    failures = 0
    for name in names:
        rounds, failed = run(name, given.seed, 60 * given.minutes / len(names), given.round)
        print(f"{name}: {rounds} rounds, {len(failed)} failures", flush=True)
        for number, what in failed:
            print(f"\n{again} --only {name} --round {number}\n{what}", flush=True)
        failures += len(failed)
    return 1 if failures else 0


def run(name: str, seed: int, seconds: float, only: int | None = None) -> tuple[int, list[tuple[int, str]]]:
    """Run a campaign; return its number of rounds, and (number, what happened) of those that failed."""
    failures: list[tuple[int, str]] = []
    until, number = time.monotonic() + seconds, 0 if only is None else only
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        round_of = CAMPAIGNS[name].new(Path(folder))
        while only is None or number == only:
            what = checked(round_of, np.random.default_rng([seed, number]), name)
            if what is not None:
                failures.append((number, what))
            number += 1
            if time.monotonic() > until or len(failures) >= 10:
                break
    return number if only is None else 1, failures


def checked(round_of: Callable[[np.random.Generator], str | None], rng: np.random.Generator, name: str) -> str | None:
    """Run a round; return what went wrong, or None."""
    before = peak()
    try:
        with limited(10 * SLOW if name == "killing" else SLOW):
            what = round_of(rng)
    except (Exception, OutOfTime):
        return traceback.format_exc()
    return what if what or peak() <= max(before, MUCH) else f"it took {peak() / 2**30:.1f} GB of memory"


def peak() -> int:
    """Return the largest memory that this process has used, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class OutOfTime(BaseException):
    """Raised in a round that hangs. It is no Exception, so that nothing in swvp catches it as bad input."""


@contextlib.contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise OutOfTime after this many seconds."""

    def stop(*_: object) -> None:
        raise OutOfTime(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    sys.exit(main())
