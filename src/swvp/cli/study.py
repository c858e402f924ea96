"""Running a study from the command line: progress, interruption, results; loading a user's Python file."""

from __future__ import annotations

import hashlib
import runpy
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from swvp.cli.output import new_console
from swvp.cli.watch import Watch
from swvp.errors import InputError
from swvp.io.files import is_special

if TYPE_CHECKING:
    from swvp.studies.report import Settings

__all__ = ["load_python", "run_study"]

WIDE = 160  # columns where the output is not a terminal


def run_study(settings: Settings, folder: Path, *, jobs: int | None, fresh: bool) -> None:
    """Run or resume a study in a folder, write its report there, and print its tables."""
    from swvp.studies.common.running import finished_runs
    from swvp.studies.report import REPORT, RESULTS, study_of, write_report
    from swvp.training.options import available_cores

    study = study_of(settings)
    console, messages = new_console(width=WIDE), new_console(stderr=True)
    is_started = False
    try:
        with Watch(messages) as watch:

            def progress(done: int, total: int) -> None:
                nonlocal is_started
                if not is_started:
                    is_started = True
                    messages.print(start_message(settings.epochs, folder, done, total))
                watch.show(done, total)

            results = study.run(
                settings, folder, jobs=available_cores() if jobs is None else jobs, fresh=fresh, progress=progress
            )
            summaries = study.summarise(results)
            write_report(results, folder, summaries=summaries)
    except KeyboardInterrupt:
        total = len(study.trainings(settings))
        messages.print(
            f"stopped: {finished_runs(folder):,} of {total:,} trainings are saved in {folder}; "
            "the same command resumes from there"
        )
        raise typer.Exit(130) from None
    study.print_tables(console, summaries)
    console.print(f"\nReport: {folder / REPORT}\nEvery run: {folder / RESULTS}", soft_wrap=True)


def start_message(epochs: int, folder: Path, done: int, total: int) -> str:
    if done == total:
        return f"all {total:,} trainings are in {folder} already: nothing to run"
    message = f"{total - done:,} trainings of {epochs} epochs, into {folder}"
    return f"{message}; {done:,} are there already" if done else message


def load_python(path: Path) -> str:
    """Run a user's Python file, which may register a γ or a JJ; return its SHA-256 digest."""
    if is_special(path):
        raise InputError(f"cannot load {path}: a pipe or a device; it must be a file")
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot load {path}: {error.strerror or error}") from None
    sys.path.insert(0, str(path.parent.resolve()))  # as `python FILE` does: it may import its neighbours
    try:
        runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        raise InputError(f"cannot load {path}{failed_line(path, error)}: {described(error)}") from None
    return hashlib.sha256(source).hexdigest()


def failed_line(path: Path, error: BaseException) -> str:
    """Return the line of a user's file that raised an error, if it is known."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    return "" if line is None else f", line {line}"


def described(error: BaseException) -> str:
    """Return the message of an error of a user's code, whose own __str__ may fail."""
    try:
        return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__
