"""Owns running the trainings of a study in threads: those that a journal does not hold yet, each kept at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, TypeVar

from swvp.errors import InputError
from swvp.studies.common.journal import Journal

__all__ = ["check_jobs", "finish"]

Run = TypeVar("Run", bound=tuple[Any, ...])
Train = Callable[[Run, threading.Event], dict[str, Any] | None]
"""One training as a dict with the fields of its run, or None if the event stopped it."""


def check_jobs(jobs: int) -> None:
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")


def finish(
    runs: Sequence[Run], train: Train[Run], journal: Journal, *, jobs: int, progress: Callable[[int, int], None]
) -> list[dict[str, Any]]:
    """Train what is missing; all runs, in the order of `runs`, which are NamedTuples."""
    try:
        kept = {key(runs[0], found): found for found in journal.runs} if runs else {}
        todo = [run for run in runs if run not in kept]
        progress(len(runs) - len(todo), len(runs))
        for done, found in enumerate(in_threads(todo, train, journal, jobs), len(runs) - len(todo) + 1):
            kept[key(runs[0], found)] = found
            progress(done, len(runs))
    finally:
        journal.close()
    return [kept[run] for run in runs]


def key(like: Any, found: dict[str, Any]) -> Any:
    return type(like)(*(found[field] for field in like._fields))


def in_threads(todo: Sequence[Run], train: Train[Run], journal: Journal, jobs: int) -> Iterator[dict[str, Any]]:
    """The runs of `todo` as they finish. Kernels release the GIL, so threads use all cores on one copy of the data."""
    stopped = threading.Event()

    def work(run: Run) -> dict[str, Any] | None:
        if stopped.is_set():
            return None
        found = train(run, stopped)
        if found is not None:
            journal.add(found)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in as_completed([pool.submit(work, run) for run in todo]):
                if (found := future.result()) is not None:
                    yield found
        except BaseException:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
