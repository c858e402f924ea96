"""The progress of a study or of tuning: a bar in a terminal, else a line now and then."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

__all__ = ["Watch"]


class Watch:
    """The progress of many trainings: a bar with the time left in a terminal, else a line for each tenth."""

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
        self.task = self.bar.add_task("starting (the first run also compiles)", total=None)

    def __enter__(self) -> Watch:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def show(self, done: int, total: int) -> None:
        """Show how many trainings are finished."""
        task = "writing the report" if done == total else "training" if done else None
        self.bar.update(self.task, completed=done, total=total, description=task)
        if not self.console.is_terminal and self.next_line <= done / total < 1:
            self.console.print(f"{done:,} of {total:,} trainings done")
            self.next_line = done / total + 0.1
