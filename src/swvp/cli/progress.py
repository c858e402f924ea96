"""The progress of trainings: a line for each epoch, notes, a bar for studies and tuning, a table for --tune."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as ProgressBar
from rich.status import Status
from rich.table import Table

from swvp.cli.compiling import show_in
from swvp.cli.terminal import new_console, size_text
from swvp.training.observer import Observer, Start, TuningStart
from swvp.training.training import Progress, Training
from swvp.training.tune import Trial

__all__ = ["EpochLines", "TrainingOutput", "Watch"]

SILENCE = 5.0
"""Epochs of the stages of a pipeline are printed if nothing was for so many seconds."""


class Watch:
    """The progress of many trainings: a bar with the time left in a terminal, else a line for each tenth."""

    def __init__(self, console: Console, last: str = "writing the report"):
        self.console, self.last = console, last  # what is done after the last training
        self.next_line = 0.1
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.bar = ProgressBar(
            *columns,
            TextColumn("left:"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("starting", total=None)
        self.description = "starting"

    def __enter__(self) -> Watch:
        self.bar.start()
        if self.console.is_terminal:
            show_in(self.show_compiling)
        return self

    def __exit__(self, *_: object) -> None:
        show_in(None)
        self.bar.stop()

    def show_compiling(self, text: str) -> None:
        """Show what is compiled instead of the name of the task, or the name again."""
        self.bar.update(self.task, description=text or self.description)

    def show(self, done: int, total: int) -> None:
        """Show how many trainings are finished."""
        self.description = self.last if done == total else "training" if done else "starting"
        self.bar.update(self.task, completed=done, total=total, description=self.description)
        if not self.console.is_terminal and self.next_line <= done / total < 1:
            self.console.print(f"{done:,} of {total:,} trainings done")
            self.next_line = done / total + 0.1


class TrainingOutput(Observer):
    """Prints the events of a training on standard error."""

    def __init__(self, console: Console | None = None):
        self.console = new_console(stderr=True) if console is None else console
        self.bar: Watch | None = None  # while rules are tuned
        self.rules = 0
        self.status: Status | None = None  # while a round over shards runs
        self.stages: dict[str, tuple[int, float]] = {}  # the first epoch of each stage, and when it was over
        self.printed = time.monotonic()

    def on_note(self, text: str) -> None:
        self.console.print(text)
        self.printed = time.monotonic()

    def on_stage_epoch(self, stage: str, epoch: int, epochs: int) -> None:
        now = time.monotonic()
        first, begin = self.stages.setdefault(stage, (epoch, now))
        if epoch < epochs and now - self.printed >= SILENCE:
            left = f", {clock((now - begin) / (epoch - first) * (epochs - epoch))} left" if epoch > first else ""
            self.on_note(f"{stage}: epoch {epoch} of {epochs}{left}")

    def on_start(self, start: Start) -> None:
        if start.stage:
            self.console.print(start.stage)
        if start.resumed_from is not None:
            self.console.print(f"resuming after epoch {len(start.training.history)}, from {start.resumed_from}")
        self.lines = EpochLines(self.console, start.training, start.epochs)
        if not start.finished:
            self.lines.print_headings(start.examples)

    def on_shard(self, done: int, shards: int) -> None:
        if not self.console.is_terminal or shards == 1:
            return
        if self.status is None:
            self.status = self.console.status("")
            self.status.start()
        self.status.update(f"{done} of {shards} shards")

    def on_epoch(self, stage: str, progress: Progress) -> None:
        self.hide_status()
        self.lines.print(progress)

    def hide_status(self) -> None:
        """Remove the line about the shards of the round, if there is one."""
        if self.status is not None:
            self.status.stop()
            self.status = None

    def on_interrupt(self) -> None:
        self.console.print("stopping after this epoch (Ctrl-C again: at once)")

    def on_stop(self, epoch: int | None, resumable: bool) -> None:
        if self.bar is not None:
            self.close()
            self.console.print("stopped; a tuning has no checkpoints, so nothing is saved")
        elif epoch is None:
            self.console.print("stopped")
        else:
            advice = "; run the same command again to resume" if resumable else ""
            self.console.print(f"stopped after epoch {epoch}{advice}")

    def on_tuning(self, start: TuningStart) -> None:
        if start.stage:
            self.console.print(start.stage)
        self.console.print(f"tuning: {start.rules} trainings of {start.epochs} epochs, {start.jobs} at a time")
        self.rules = start.rules
        self.bar = Watch(self.console, "saving the best model").__enter__()
        self.bar.show(0, self.rules)

    def on_trial(self, trial: Trial, done: int) -> None:
        if self.bar is not None:
            self.bar.show(done, self.rules)

    def on_tuned(self, stage: str, trials: Sequence[Trial], metric: str) -> None:
        self.close()
        self.console.print(tuning_table(trials, metric))

    def on_saved(self, path: Path, summary: str) -> None:
        self.console.print(f"{path}: {size_text(path)}, {summary}", soft_wrap=True)

    def close(self) -> None:
        self.hide_status()
        if self.bar is not None:
            self.bar.__exit__()
            self.bar = None


class EpochLines:
    """A line for each epoch: mistakes, dev score, seconds, time left.

    The time left is that of the later epochs: the first one may also compile.
    """

    def __init__(self, console: Console, training: Training, epochs: int):
        self.console, self.training, self.epochs = console, training, epochs
        self.last = time.monotonic()
        self.first = len(training.history) + 1
        self.tokens: int = getattr(training, "tokens", 0)  # of training on shards, whose epochs are rounds
        self.indent = 0  # by how much the name of the score is wider than its column

    def print_headings(self, examples: str) -> None:
        dev = self.training.dev
        metric = "" if dev is None else f"  {'dev ' + dev.metric:>11}"
        self.indent = max(len(metric) - 13, 0)
        number = f"{'round' if self.tokens else 'epoch':>5}"
        wrong = f"{'wrong ' + examples:>17}", f"{'wrong tokens':>14}"
        speed = f"{'tokens/s':>12}" if self.tokens else ""
        self.print_cells(number, *wrong, metric, f"{'seconds':>9}", speed, f"{'left':>7}")

    def print(self, progress: Progress) -> None:
        now = time.monotonic()
        epoch = progress.epoch
        if epoch.epoch == self.first:
            self.after_first, left = now, ""
        else:
            left = clock((now - self.after_first) / (epoch.epoch - self.first) * (self.epochs - epoch.epoch))
        score = ""
        if progress.score is not None:
            score = f"{'':{self.indent}}{100 * progress.score:11.2f}{' *' if progress.best else '  '}"
        wrong = f"{epoch.mistakes:17,}", f"{epoch.wrong_positions:14,}"
        speed = f"{self.tokens / epoch.seconds:12,.0f}" if self.tokens else ""
        self.print_cells(f"{epoch.epoch:5}", *wrong, score, f"{now - self.last:9.1f}", speed, f"{left:>7}")
        self.last = now

    def print_cells(
        self, number: str, examples: str, tokens: str, score: str, seconds: str, speed: str, left: str
    ) -> None:
        """Print a line; a narrow terminal has no place for the speed, and a narrower one not for the counts."""
        cells = {"number": number, "examples": examples, "tokens": tokens, "score": score, "seconds": seconds}
        cells |= {"speed": speed, "left": left}
        for name in ("speed", "tokens", "examples"):
            if sum(map(len, cells.values())) > self.console.width:
                del cells[name]
        self.console.print("".join(cells.values()))


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds.

    >>> clock(125.4)
    '2:05'
    """
    return f"{int(seconds + 0.5) // 60}:{int(seconds + 0.5) % 60:02}"


def tuning_table(trials: Sequence[Trial], metric: str) -> Table:
    """The trials, the best first."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in ("rule", "β", f"dev {metric}", "epoch", "back-offs", "cond. 2", "seconds"):
        table.add_column(heading, justify="left" if heading == "rule" else "right", no_wrap=True)
    for trial in sorted(trials, key=lambda trial: -trial.score):
        table.add_row(
            trial.rule.name,
            f"{trial.rule.beta:g}" if trial.rule.uses_beta else "",
            f"{100 * trial.score:.2f}",
            str(trial.epoch),
            f"{100 * trial.rate('back_offs'):.1f} %",
            f"{100 * trial.rate('condition_2_failures'):.1f} %",
            f"{trial.seconds:.1f}",
            style="bold" if trial is max(trials, key=lambda trial: trial.score) else None,
        )
    return table
