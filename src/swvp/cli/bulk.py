"""Bulk prediction from the command line, --output-dir of `swvp predict` and `swvp parse`: progress and problems."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swvp.cli.options import ClusterOptions
from swvp.cli.terminal import new_console, print_message
from swvp.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from swvp.bulk.run import Status

__all__ = ["OutputDir", "predict_into"]

OutputDir = Annotated[
    Path | None,
    typer.Option(
        "--output-dir",
        metavar="DIR",
        help="Folder for the outputs of many files. Outputs that are there already, from the same inputs and models, "
        "are kept.",
    ),
]

MOST_PROBLEMS = 20
"""So many files that could not be predicted are shown."""


def predict_into(
    folder: Path,
    command: str,
    models: Sequence[Path],
    files: Sequence[str],
    options: Mapping[str, Any],
    given: ClusterOptions,
    jobs: int,
    *,
    output: str,
    named: Callable[[str], str] = lambda name: name,
) -> None:
    """Predict many files into a folder; in the end report those that could not be predicted, as InputError."""
    from swvp.bulk.plan import inputs_of
    from swvp.bulk.run import predict_files
    from swvp.bulk.work import Prediction, model_files, models_of
    from swvp.cluster.connect import Threads
    from swvp.io import files as io_files

    if output != "-":
        raise InputError("--output-dir and an output file exclude each other")
    inputs = inputs_of(files, folder, models=models, named=named)
    prediction = Prediction(
        command, model_files(models), tuple(options.items()), str(folder.absolute()), io_files.most_bytes
    )
    models_of(prediction)  # reports unusable models before anything starts
    console = new_console(stderr=True)
    connection = given.new_cluster(console.print) if given.uses_cluster else Threads(jobs)
    with connection as workers, BulkProgress(console) as progress:
        try:
            problems = predict_files(prediction, inputs, workers, watch=progress.show, note=progress.note)
        except KeyboardInterrupt:
            progress.close()
            console.print(f"stopped: finished outputs are in {folder}; the same command resumes")
            raise typer.Exit(130) from None
    progress.summarise(folder)
    for problem in problems[:MOST_PROBLEMS]:
        print_message(f"swvp: {problem.message}")
    if problems:
        more = f" ({len(problems) - MOST_PROBLEMS:,} more are not shown)" if len(problems) > MOST_PROBLEMS else ""
        raise InputError(
            f"{len(problems):,} of {len(inputs):,} files could not be predicted{more}; all others are in {folder}"
        )


class BulkProgress:
    """The progress of bulk prediction: a line that is rewritten in a terminal, else a line for each tenth."""

    def __init__(self, console: Console):
        self.console, self.begin = console, time.monotonic()
        self.live = console.status("") if console.is_terminal else None
        self.next_line = 0.1
        self.status: Status | None = None

    def __enter__(self) -> BulkProgress:
        if self.live is not None:
            self.live.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the line."""
        if self.live is not None:
            self.live.stop()

    def note(self, text: str) -> None:
        """Print a remark on a file."""
        print_message(text)

    def show(self, status: Status) -> None:
        """Show how many files are done, tokens per second, and the time left."""
        if self.status is None:
            self.begin = time.monotonic()
            if status.skipped:
                self.console.print(f"{status.skipped:,} of {status.all_files:,} files are finished already")
        self.status = status
        share = status.bytes / max(status.all_bytes, 1)
        if self.live is not None:
            self.live.update(self.text(status))
        elif self.next_line <= share < 1:
            self.console.print(self.text(status))
            self.next_line = share + 0.1

    def text(self, status: Status) -> str:
        """The status as a line."""
        seconds = time.monotonic() - self.begin
        left = ""
        if status.bytes:
            rest = int(seconds * (status.all_bytes - status.bytes) / status.bytes + 0.5)
            left = f", {status.tokens / max(seconds, 1e-9):,.0f} tokens/s, {rest // 60}:{rest % 60:02} left"
        return f"{status.files:,} of {status.all_files:,} files{left}"

    def summarise(self, folder: Path) -> None:
        """Print what was done in all."""
        if self.status is not None and self.status.bytes:
            seconds = max(time.monotonic() - self.begin, 1e-9)
            files, all_files, tokens = self.status.files, self.status.all_files, self.status.tokens
            speed = f": about {tokens:,} tokens in {seconds:.1f} s, {tokens / seconds:,.0f} tokens/s" if tokens else ""
            self.console.print(f"{files:,} of {all_files:,} files are in {folder}{speed}")
