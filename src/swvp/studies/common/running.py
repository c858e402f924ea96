"""Running the trainings of a study in threads: those that the journal does not have yet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Protocol, TypeVar

from swvp.errors import InputError
from swvp.studies.common.journal import Journal

__all__ = ["Progress", "check_jobs", "finish", "no_progress"]

Training = TypeVar("Training", bound=tuple[Any, ...])
Progress = Callable[[int, int], None]
"""Called with the number of finished trainings and the number of all."""


class FinishedRun(Protocol):
    """The result of a training."""

    @property
    def training(self) -> Any: ...

    def to_json(self) -> dict[str, Any]: ...


Run = TypeVar("Run", bound=FinishedRun)


def no_progress(done: int, total: int) -> None:
    """Ignore the progress."""


def check_jobs(jobs: int) -> None:
    """Raise InputError if the number of threads is not valid."""
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")


def finish(
    trainings: Sequence[Training],
    train: Callable[[Training, threading.Event], Run | None],
    journal: Journal[Run],
    *,
    jobs: int,
    progress: Progress,
) -> list[Run]:
    """Run the trainings that the journal does not have; return the runs of all, in the order of `trainings`."""
    try:
        runs = {run.training: run for run in journal.runs}
        missing = [training for training in trainings if training not in runs]
        before = len(trainings) - len(missing)
        progress(before, len(trainings))
        for done, run in enumerate(in_threads(missing, train, journal, jobs), before + 1):
            runs[run.training] = run
            progress(done, len(trainings))
    finally:
        journal.close()
    return [runs[training] for training in trainings]


def in_threads(
    trainings: Sequence[Training],
    train: Callable[[Training, threading.Event], Run | None],
    journal: Journal[Run],
    jobs: int,
) -> Iterator[Run]:
    """Yield the runs as they finish. Kernels release the GIL, so threads use all cores with one copy of the data."""
    stopped = threading.Event()

    def work(training: Training) -> Run | None:
        if stopped.is_set():
            return None
        run = train(training, stopped)
        if run is not None:
            journal.add(run)
        return run

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in as_completed([pool.submit(work, training) for training in trainings]):
                if (run := future.result()) is not None:
                    yield run
        except BaseException:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
