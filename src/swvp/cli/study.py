"""Owns running a study for someone who watches: progress with time left, files at the end, a table."""

from __future__ import annotations

import hashlib
import json
import os
import runpy
import sys
import traceback
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from swvp.errors import InputError
from swvp.experiments.journal import NAME as JOURNAL
from swvp.experiments.summary import summarise
from swvp.experiments.synthetic import Settings, run_study, training_runs
from swvp.report.terminal import print_tables
from swvp.storage.files import write_whole

__all__ = ["load_python", "run_synthetic"]


def run_synthetic(settings: Settings, folder: Path, *, jobs: int | None, fresh: bool) -> None:
    """Run or go on with the study in `folder`, write its files there, print its tables."""
    console, messages = Console(markup=False, highlight=False), Console(stderr=True, markup=False, highlight=False)
    if not console.is_terminal:
        console.width = 160  # nothing to fit into
    total = len(training_runs(settings))
    there = -1
    try:
        with Watch(messages) as watch:

            def show(done: int, of: int) -> None:
                nonlocal there
                if there < 0:
                    there = done
                    messages.print(begun(settings, folder, done, of))
                watch.show(done, of)

            results = run_study(settings, folder, jobs=cores() if jobs is None else jobs, fresh=fresh, progress=show)
            from swvp.report.html import render

            write_whole(folder / "results.json", json.dumps(results, ensure_ascii=False) + "\n")
            write_whole(folder / "report.html", render(results))
    except KeyboardInterrupt:
        kept = max((folder / JOURNAL).read_bytes().count(b"\n") - 1, 0) if (folder / JOURNAL).exists() else 0
        messages.print(
            f"stopped: {kept:,} of {total:,} trainings are kept in {folder}; the same command goes on from there"
        )
        raise typer.Exit(130) from None
    print_tables(console, summarise(results))
    console.print(f"\nReport: {folder / 'report.html'}\nEvery run: {folder / 'results.json'}", soft_wrap=True)


def begun(settings: Settings, folder: Path, done: int, total: int) -> str:
    """What is about to happen."""
    if done == total:
        return f"all {total:,} trainings are in {folder} already: nothing to run"
    size = f"{total - done:,} trainings of {settings.epochs} epochs, into {folder}"
    return f"{size}; {done:,} are there already" if done else size


class Watch:
    """Progress for someone who watches: a bar with the time left in a terminal, else a line now and then."""

    def __init__(self, console: Console):
        self.console = console
        self.next_line = 0.1
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.bar = Progress(
            *columns,
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("starting (the first time also compiles)", total=None)

    def __enter__(self) -> Watch:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def show(self, done: int, total: int) -> None:
        what = "writing the report" if done == total else "training" if done else None
        self.bar.update(self.task, completed=done, total=total, description=what)
        if not self.console.is_terminal and self.next_line <= done / total < 1:
            self.console.print(f"{done:,} of {total:,} trainings done")
            self.next_line = done / total + 0.1


def load_python(path: Path) -> str:
    """Run a user's file, which may call swvp.register_gamma and swvp.register_substructures; return its digest."""
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        sys.path.insert(0, str(path.parent.resolve()))  # as `python FILE` does: it may import its neighbours
        runpy.run_path(str(path))
        return digest
    except OSError as error:
        raise InputError(f"cannot load {path}: {error.strerror or error}") from None
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        line = next((frame.lineno for frame in reversed(frames) if frame.filename == str(path)), "?")
        if isinstance(error, SyntaxError):
            line = error.lineno
        what = error if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"cannot load {path}, line {line}: {what}") from None


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
