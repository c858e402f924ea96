"""Owns what is seen of a study while it runs: progress with time left, what is kept when it is stopped, its files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from swvp.cli.output import new_console
from swvp.io.files import write_whole
from swvp.studies.common.journal import NAME as JOURNAL

__all__ = ["Watch", "run_watched"]

WIDE = 160  # where there is nothing to fit into


def run_watched(
    study: Any,
    settings: Any,
    folder: Path,
    *,
    jobs: int,
    fresh: bool,
    render: Callable[[dict[str, Any]], str],
    show: Callable[[Console, dict[str, Any]], None],
) -> None:
    """Run or go on with a study in `folder`, write its files there, show its tables.

    `study` is a module of `swvp.experiments`: it has `training_runs` and `run_study`.
    """
    console, messages = new_console(width=WIDE), new_console(stderr=True)
    told = False
    try:
        with Watch(messages) as watch:

            def progress(done: int, of: int) -> None:
                nonlocal told
                if not told:
                    told = True
                    messages.print(begun(settings.epochs, folder, done, of))
                watch.show(done, of)

            results = study.run_study(settings, folder, jobs=jobs, fresh=fresh, progress=progress)
            write_whole(folder / "results.json", json.dumps(results, ensure_ascii=False) + "\n")
            write_whole(folder / "report.html", render(results))
    except KeyboardInterrupt:
        kept = max((folder / JOURNAL).read_bytes().count(b"\n") - 1, 0) if (folder / JOURNAL).exists() else 0
        total = len(study.training_runs(settings))
        messages.print(
            f"stopped: {kept:,} of {total:,} trainings are kept in {folder}; the same command goes on from there"
        )
        raise typer.Exit(130) from None
    show(console, results)
    console.print(f"\nReport: {folder / 'report.html'}\nEvery run: {folder / 'results.json'}", soft_wrap=True)


def begun(epochs: int, folder: Path, done: int, total: int) -> str:
    """What is about to happen."""
    if done == total:
        return f"all {total:,} trainings are in {folder} already: nothing to run"
    size = f"{total - done:,} trainings of {epochs} epochs, into {folder}"
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
