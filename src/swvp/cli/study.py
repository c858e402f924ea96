"""Owns running a study for someone who watches: progress with time left, files at the end, a table."""

from __future__ import annotations

import hashlib
import json
import os
import runpy
import traceback
from pathlib import Path

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from swvp.errors import InputError
from swvp.experiments.summary import summarise
from swvp.experiments.synthetic import Settings, run_study, training_runs
from swvp.report.terminal import print_tables
from swvp.storage.files import write_whole

__all__ = ["load_python", "run_synthetic"]


def run_synthetic(settings: Settings, folder: Path, jobs: int | None) -> None:
    """Run or go on with the study in `folder`, write its files there, print its tables."""
    jobs = cores() if jobs is None else jobs
    console, messages = Console(), Console(stderr=True)
    total = len(training_runs(settings))
    messages.print(f"{total:,} trainings of {settings.epochs} epochs on {jobs} threads, into {folder}", highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    done = 0
    try:
        with Progress(
            *columns, TimeElapsedColumn(), TextColumn("left:"), TimeRemainingColumn(), console=messages, transient=True
        ) as bar:
            task = bar.add_task("compiling (once)", total=None)

            def show(finished: int, of: int) -> None:
                nonlocal done
                done = finished
                bar.update(task, completed=finished, total=of, description="training" if finished else None)

            results = run_study(settings, folder, jobs=jobs, progress=show)
            bar.update(task, description="writing the report")
            from swvp.report.html import render

            write_whole(folder / "results.json", json.dumps(results, ensure_ascii=False) + "\n")
            write_whole(folder / "report.html", render(results))
    except KeyboardInterrupt:
        messages.print(
            f"stopped: {done:,} of {total:,} trainings are kept in {folder}; the same command goes on from there",
            highlight=False,
        )
        raise typer.Exit(130) from None
    print_tables(console, summarise(results))
    console.print(
        f"\nReport: {folder / 'report.html'}\nEvery run: {folder / 'results.json'}", highlight=False, soft_wrap=True
    )


def load_python(path: Path) -> str:
    """Run a user's file, which may call swvp.register_gamma and swvp.register_substructures; return its digest."""
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
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
