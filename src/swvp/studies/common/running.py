"""Running a study: the checks of its settings, its trainings in threads or on a cluster, the journal of finished runs.

The journal, `runs.jsonl` in the study's folder, has the settings on its first line, then one run per line. Runs are
written one by one, so that an interrupted study can resume: only the trainings that the journal lacks are run.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Generic, Protocol, TypeVar

from swvp._version import __version__
from swvp.cluster.connect import Workers
from swvp.compiled import fingerprint
from swvp.errors import InputError
from swvp.io.files import cannot_write

__all__ = [
    "CONTROL",
    "CSP",
    "NAME",
    "OUTPUTS",
    "Ask",
    "Header",
    "Journal",
    "Once",
    "Progress",
    "check_jobs",
    "check_settings",
    "csp_first",
    "documented",
    "finish",
    "finished_runs",
    "no_progress",
    "results_json",
    "run_trainings",
    "settings_header",
    "settings_in",
]

try:
    import fcntl
except ImportError:  # not on Windows: there, two processes in one folder do the same work twice
    fcntl = None  # type: ignore[assignment]


CSP = "csp"
CONTROL = "csp-orders"
"""CSP with as many trainings as a tuned rule, each on another random order of the examples."""

Training = TypeVar("Training", bound=tuple[Any, ...])
Key = TypeVar("Key")
Value = TypeVar("Value")
Progress = Callable[[int, int], None]
"""Called with the number of finished trainings and the number of all."""


class Ask(Protocol):
    """Tells a training whether it should stop: `threading.Event`, or on a cluster `swvp.cluster.task.Stop`."""

    def is_set(self) -> bool: ...


class FinishedRun(Protocol):
    """The result of a training."""

    @property
    def training(self) -> Any: ...

    @property
    def scores(self) -> dict[str, float | None]: ...

    def to_json(self) -> dict[str, Any]: ...


Run = TypeVar("Run", bound=FinishedRun)


def no_progress(done: int, total: int) -> None:
    """Ignore the progress."""


def check_settings(settings: Any, *lists: str, counts: Sequence[str] = ()) -> None:
    """Raise InputError if one of these lists is empty or has a value twice, or if a count or the seed is not valid."""
    for name in lists:
        values = getattr(settings, name)
        if not values or len(set(values)) < len(values):
            raise InputError(f"{name} must be one or more, each once, not '{','.join(map(str, values))}'")
    for name in counts:
        value = getattr(settings, name)
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, not {value}")
    if not 0 <= settings.seed < 2**63:
        raise InputError(f"seed must be a whole number from 0 to 2^63 - 1, not {settings.seed}")


def csp_first(names: Sequence[str], given: Sequence[str]) -> tuple[str, ...]:
    """Return the names of rules with CSP as the first; raise InputError if two of the given rules are the same."""
    if len(set(names)) < len(names):
        raise InputError(f"rules must be different, not '{','.join(given)}'")
    return CSP, *(rule for rule in names if rule != CSP)


def settings_header(study: str, settings: Any, *folders: str) -> dict[str, Any]:
    """Return settings as JSON, with the version of the program and a digest of its kernels and these folders."""
    fields = {field.name: getattr(settings, field.name) for field in dataclasses.fields(settings)}
    lists = {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}
    return {"study": study, "version": __version__, "code": fingerprint(*folders)[:16], **lists}


def settings_in(header: Mapping[str, Any], cls: type) -> dict[str, Any]:
    """Return the arguments of a class of settings from its header."""
    known = {field.name for field in dataclasses.fields(cls)}
    return {k: tuple(v) if isinstance(v, list) else v for k, v in header.items() if k in known}


class Once(Generic[Key, Value]):
    """Values that are computed when they are first needed, once for all threads."""

    def __init__(self) -> None:
        self.lock, self.values = threading.Lock(), dict[Key, Value]()

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return the value of a key; other threads wait while it is computed."""
        with self.lock:
            if key not in self.values:
                self.values[key] = compute()
            return self.values[key]


def check_jobs(jobs: int) -> None:
    """Raise InputError if the number of threads is not valid."""
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")


def finish(
    trainings: Sequence[Training],
    train: Callable[[Training, Ask], Run | None],
    journal: Journal[Run],
    *,
    jobs: int,
    progress: Progress,
    on_worker: Callable[[Training], Run | None] | None = None,
    workers: Workers | None = None,
) -> list[Run]:
    """Run the trainings that the journal does not have; return the runs of all, in the order of `trainings`.

    With `workers` each training is a task, `on_worker(training)`.
    """
    try:
        runs = {run.training: run for run in journal.runs}
        missing = [training for training in trainings if training not in runs]
        before = len(trainings) - len(missing)
        progress(before, len(trainings))
        if workers is None or on_worker is None:
            finished = in_threads(missing, train, journal, jobs)
        else:
            finished = on_cluster(missing, on_worker, journal, workers)
        for done, run in enumerate(finished, before + 1):
            runs[run.training] = run
            progress(done, len(trainings))
    finally:
        journal.close()
    return [runs[training] for training in trainings]


def in_threads(
    trainings: Sequence[Training],
    train: Callable[[Training, Ask], Run | None],
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

    finished: SimpleQueue[Future[Run | None]] = SimpleQueue()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for training in trainings:
                pool.submit(work, training).add_done_callback(finished.put)
            for _ in trainings:  # Ctrl-C while waiting here breaks no lock; in `as_completed` it can, of a thread
                if (run := finished.get().result()) is not None:
                    yield run
        except BaseException:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def on_cluster(
    trainings: Sequence[Training], train: Callable[[Training], Run | None], journal: Journal[Run], workers: Workers
) -> Iterator[Run]:
    """Yield the runs as they finish on the workers; the journal stays here."""
    with contextlib.closing(workers.map(train, trainings, in_order=False, name=training_name)) as results:
        for _, run in results:
            if run is not None:
                journal.add(run)
                yield run


def training_name(training: tuple[Any, ...]) -> str:
    """A training as messages name it."""
    return f"training {', '.join(str(part) for part in training if part is not None)}"


# ---------------------------------------------------------------- the journal


NAME = "runs.jsonl"
OUTPUTS = ("results.json", "report.html", "report.txt", "scores.csv")
OTHER_FOLDER = "choose another --output folder"


class Journal(Generic[Run]):
    """The finished runs in `folder` of a study with these settings.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    settings : dict
        The settings as JSON, with the name of the study.
    read : callable
        Makes a run from a line of the journal.
    fresh : bool
        Remove the files of an earlier study first. Other files are never removed.

    Raises
    ------
    InputError
        If the folder holds the results of a study with other settings, or files that are not a study's, or if another
        process runs a study there.
    """

    def __init__(
        self, folder: Path, settings: dict[str, Any], *, read: Callable[[dict[str, Any]], Run], fresh: bool = False
    ):
        self.path = folder / NAME
        self.read = read
        self.lock = threading.Lock()
        self.runs: list[Run] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            outputs = [folder / name for name in OUTPUTS if (folder / name).exists()]
            begun = self.path.exists() and self.path.stat().st_size > 0
            if outputs and not begun:
                raise InputError(f"{outputs[0]} exists, but no {NAME} of a study: {OTHER_FOLDER}")
            self.file = open_alone(self.path)
            if begun:
                self._resume(settings, fresh, outputs)
            if self.file.tell() == 0:
                self._write(settings)
        except OSError as error:
            raise cannot_write(folder, error) from error

    def _resume(self, settings: dict[str, Any], fresh: bool, outputs: Collection[Path]) -> None:
        self.file.seek(0)
        content = self.file.read()
        whole = content[: content.rfind(b"\n") + 1]  # a crash may have cut off the last line
        try:
            header, *lines = [json.loads(line) for line in whole.splitlines()]
            if "study" not in header:
                raise ValueError
            runs = [self.read(line) for line in lines]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{self.path} is damaged or not a study's: {OTHER_FOLDER}") from None
        if fresh:
            for path in outputs:
                path.unlink()
            self.file.truncate(0)
        elif header != settings:
            changed = sorted(k for k in {*header, *settings} if header.get(k) != settings.get(k))
            differing = ", ".join("the code of swvp" if name == "code" else name for name in changed)
            raise InputError(
                f"{self.path.parent} holds another study's results (it differs in: {differing}): "
                f"{OTHER_FOLDER}, or --fresh to replace it"
            )
        else:
            self.runs = runs
            self.file.truncate(len(whole))
        self.file.seek(0, 2)

    def add(self, run: Run) -> None:
        """Write a finished run; may be called from several threads."""
        with self.lock:
            try:
                self._write(run.to_json())
            except OSError as error:
                raise cannot_write(self.path, error) from error
            self.runs.append(run)

    def _write(self, line: dict[str, Any]) -> None:
        self.file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        """Close the file, so that other processes can use the folder."""
        self.file.close()


def open_alone(path: Path) -> IO[bytes]:
    """Open a file for reading and appending, unbuffered; raise InputError if another process has it open."""
    file = path.open("a+b", buffering=0)
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise InputError(f"another process is running a study in {path.parent}: wait for it to end") from None
    return file


def finished_runs(folder: Path) -> int:
    """Return the number of runs in the journal of a folder."""
    path = folder / NAME
    return max(path.read_bytes().count(b"\n") - 1, 0) if path.exists() else 0


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
