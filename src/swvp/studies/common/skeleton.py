"""What the functions that run a study share: their documentation, their journal, and the form of results in JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

from swvp.cluster.connect import Workers
from swvp.studies.common.running import Ask, Journal, Progress, Run, Training, finish

__all__ = ["Header", "documented", "results_json", "run_trainings"]

Header = dict[str, Any]
"""Settings as JSON, with the name of the study and the version of the program."""

Function = TypeVar("Function", bound=Callable[..., Any])

PARAMETERS = """Every finished training is written to `folder` at once. The results depend only on the settings, not on
    `jobs` or on interruptions; only times differ.

    Parameters
    ----------
    settings : {settings}
        What to run.
    folder : str or Path
        Where the journal of finished trainings is. Trainings that it has are not run again.
    jobs : int
        Number of threads.
    fresh : bool
        Remove an earlier study from the folder and start from the beginning.
    progress : callable
        Called with the number of finished trainings and the number of all.
    workers : Cluster, optional
        An open connection to a cluster (`swvp.cluster.Cluster`), on which the trainings run instead of in threads.

    Returns
    -------
    {results}
        Every training and its scores.

    Raises
    ------
    InputError
        If data cannot be read, or the folder holds another study's results or cannot be written."""


def documented(settings: str, results: str) -> Callable[[Function], Function]:
    """Make a decorator that writes PARAMETERS into a docstring, which is the same for all studies."""

    def decorate(function: Function) -> Function:
        text = PARAMETERS.format(settings=settings, results=results)
        function.__doc__ = (function.__doc__ or "").replace("PARAMETERS", text)
        return function

    return decorate


class Settings(Protocol):
    """The settings of a study."""

    def to_json(self) -> Header: ...


def run_trainings(
    settings: Settings,
    folder: str | Path,
    trainings: Sequence[Training],
    train: Callable[[Training, Ask], Run | None],
    *,
    on_worker: Callable[[Training], Run | None],
    read: Callable[[dict[str, Any]], Run],
    jobs: int,
    fresh: bool,
    progress: Progress,
    workers: Workers | None,
) -> tuple[list[Run], Header]:
    """Run the trainings that the journal in a folder does not have; return all runs, and the header of the results."""
    header = settings.to_json()
    journal = Journal(Path(folder), header, read=read, fresh=fresh)
    runs = finish(trainings, train, journal, jobs=jobs, progress=progress, on_worker=on_worker, workers=workers)
    return runs, header


def results_json(header: Header, name: str, parts: Sequence[object], runs: Sequence[Run]) -> dict[str, Any]:
    """Return the content of results.json; `parts` are the datasets, under this name."""
    return {"settings": header, name: [vars(part) for part in parts], "runs": [run.to_json() for run in runs]}
