"""Observers: how a training reports what happens, to a terminal, to a log file or to a program."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from swvp.io.files import cannot_write
from swvp.learning.perceptron import Epoch
from swvp.training.training import Progress, Training, Watch
from swvp.training.tune import Trial

__all__ = ["EpochCallback", "NoteCallback", "Observer", "Start", "TrainingLog", "TuningStart"]


@dataclass(frozen=True)
class Start:
    """A training that is about to run."""

    training: Training
    stage: str
    """Name of the stage, "trees" or "labels"; empty if the model has one training only."""
    epochs: int
    examples: str
    """What an example is called in reports: "sentences"."""
    resumed_from: Path | None
    """The checkpoint that the training resumes from."""
    finished: bool
    """Whether no epoch is left to run."""


@dataclass(frozen=True)
class TuningStart:
    """Trainings with several rules that are about to run."""

    stage: str
    rules: int
    epochs: int
    jobs: int
    metric: str


class Observer:
    """Receives the events of a session; a subclass overrides those it needs, the others do nothing.

    The library never prints: what users see of a training is written by observers.
    """

    def on_note(self, text: str) -> None:
        """A remark on the data or the options, in one line."""

    def on_start(self, start: Start) -> None:
        """A training starts or resumes."""

    def on_epoch(self, stage: str, progress: Progress) -> None:
        """An epoch is over. KeyboardInterrupt stops the training, after its checkpoint is saved."""

    def on_shard(self, done: int, shards: int) -> None:
        """Of the shards of a round, `done` are trained."""

    def on_stage_epoch(self, stage: str, epoch: int, epochs: int) -> None:
        """An epoch of a stage of a pipeline before the parser is over; such a stage has no checkpoints of epochs."""

    def on_checkpoint(self, path: Path) -> None:
        """A checkpoint was saved."""

    def on_interrupt(self) -> None:
        """The user asked to stop (Ctrl-C): training will stop after the current epoch."""

    def on_stop(self, epoch: int | None, resumable: bool) -> None:
        """Training stops after `epoch`, or at once (None); `resumable`: the next one resumes from the checkpoint."""

    def on_tuning(self, start: TuningStart) -> None:
        """Trainings with several rules start."""

    def on_trial(self, trial: Trial, done: int) -> None:
        """One of these trainings is over; `done` of them are by now."""

    def on_tuned(self, stage: str, trials: Sequence[Trial], metric: str) -> None:
        """All of them are over; `trials` are in the order of the rules."""

    def on_saved(self, path: Path, summary: str) -> None:
        """The model was written."""

    def close(self) -> None:
        """The session is over, or has failed."""


class EpochCallback(Observer):
    """Calls a function after each epoch of one stage."""

    def __init__(self, watch: Watch, stage: str = ""):
        self.watch, self.stage = watch, stage

    def on_epoch(self, stage: str, progress: Progress) -> None:
        if stage == self.stage:
            self.watch(progress)


class NoteCallback(Observer):
    """Calls a function with each remark."""

    def __init__(self, watch: Callable[[str], object]):
        self.watch = watch

    def on_note(self, text: str) -> None:
        self.watch(text)


class TrainingLog(Observer):
    """Writes a file of JSON lines, one for each epoch: its counts, its dev score, and whether that is the best so far.

    The file is emptied when the first training starts. A training that resumes writes its earlier epochs again, so
    that each epoch is in the log once.
    """

    def __init__(self, path: Path):
        self.path = path
        self.file: IO[str] | None = None

    def on_start(self, start: Start) -> None:
        self._open()
        self._write_history(start.training.history, start.training.scores, stage_field(start.stage))

    def on_epoch(self, stage: str, progress: Progress) -> None:
        self._write(progress, stage_field(stage))

    def on_tuning(self, start: TuningStart) -> None:
        self._open()

    def on_tuned(self, stage: str, trials: Sequence[Trial], metric: str) -> None:
        for trial in trials:
            fields = {**stage_field(stage), "rule": trial.rule.name, "beta": trial.rule.beta}
            self._write_history(trial.history, trial.scores, fields)

    def close(self) -> None:
        if self.file is not None:
            with contextlib.suppress(OSError):  # lines that could not be written have been reported
                self.file.close()

    def _open(self) -> None:
        if self.file is None:
            try:
                self.file = self.path.open("w", encoding="utf-8")
            except OSError as error:
                raise cannot_write(self.path, error) from None

    def _write_history(self, history: Sequence[Epoch], scores: Sequence[float], fields: dict[str, Any]) -> None:
        for k, epoch in enumerate(history):
            best = not scores or scores[k] > max(scores[:k], default=-1.0)
            self._write(Progress(epoch, scores[k] if scores else None, best), fields)

    def _write(self, progress: Progress, fields: dict[str, Any]) -> None:
        assert self.file is not None
        line = fields | progress.epoch.as_dict() | {"dev_score": progress.score, "best": progress.best}
        try:
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise cannot_write(self.path, error) from None


def stage_field(stage: str) -> dict[str, Any]:
    return {"stage": stage} if stage else {}
