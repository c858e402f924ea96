"""A training session: the trainings of one model, with checkpoints, resuming, Ctrl-C and observers.

    with Session(checkpoint, observers=observers) as session:
        session.train(learner, training, data)
        learner.finish(training)
        session.save(learner, path, summary)  # or session.remove_checkpoints()

A model with several stages names each of them. The checkpoint of a finished stage stays until the model is complete, so
that an interrupted session resumes in the stage where it stopped.
"""

from __future__ import annotations

import contextlib
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from swvp.cluster.threads import Workers
from swvp.errors import InputError
from swvp.io.files import exclusive, remove_leftovers
from swvp.learning.rule import UpdateRule
from swvp.training.observer import Observer, Start, TuningStart
from swvp.training.training import (
    START_AGAIN,
    Data,
    Progress,
    Stopped,
    Training,
    remove_checkpoint,
    resume,
    save_checkpoint,
    stamp,
)
from swvp.training.tune import Recipe, Trial, tune

__all__ = ["SECONDS", "Learner", "Session", "check_resumable"]

MAY_CHANGE = ("epochs", "patience", "n_jobs")
"""Options that may differ between an interrupted training and the one that resumes it."""

SECONDS = 10.0
"""Least time between checkpoints."""


class CanBeSaved(Protocol):
    """A model that is complete."""

    def save(self, path: Path) -> None: ...


class Learner(CanBeSaved, Protocol):
    """What is trained: a tagger or a parser with its options."""

    epochs: int
    patience: int | None

    def options(self) -> dict[str, Any]: ...

    def use_rule(self, rule: UpdateRule) -> None: ...


class Session:
    """Runs the trainings of one model, one after the other.

    Parameters
    ----------
    checkpoint : path, optional
        Where checkpoints are saved. An interrupted session resumes from it to the same weights; when the model is
        complete, it is removed. A stage has its name before the suffix: model.checkpoint, model.trees.checkpoint.
        Without it nothing is saved, and Ctrl-C raises KeyboardInterrupt at once.
    locked : path, optional
        The file that no other session may write at the same time; by default the checkpoint.
    seconds : float
        Least time between two checkpoints. One is also saved when training is stopped.
    fresh : bool
        Remove checkpoints instead of resuming from them.
    user_code : str, optional
        Digest of the user's Python file that was loaded; training resumes only with the same.
    observers : sequence of Observer
        They receive the events of the session.
    """

    def __init__(
        self,
        checkpoint: str | Path | None = None,
        *,
        locked: Path | None = None,
        seconds: float = SECONDS,
        fresh: bool = False,
        user_code: str | None = None,
        observers: Sequence[Observer] = (),
    ):
        self.checkpoint = None if checkpoint is None else Path(checkpoint)
        self.locked = self.checkpoint if locked is None else locked
        self.seconds, self.fresh, self.user_code, self.observers = seconds, fresh, user_code, observers
        self._checkpoints: list[Path] = []
        self._resources = contextlib.ExitStack()
        if self.checkpoint is not None and not self.checkpoint.parent.is_dir():
            raise InputError(f"cannot write {self.checkpoint}: there is no folder {self.checkpoint.parent}")

    def __enter__(self) -> Self:
        for observer in self.observers:
            self._resources.callback(observer.close)
        if self.locked is not None:
            self._resources.enter_context(exclusive(self.locked))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._resources.close()

    def train(
        self,
        learner: Learner,
        training: Training,
        data: Sequence[Data],
        *,
        stage: str = "",
        examples: str = "sentences",
    ) -> None:
        """Run a training to its end, from its checkpoint if there is one.

        Parameters
        ----------
        learner : Learner
            Its options and those of the checkpoint must agree.
        training : Training
            A new training.
        data : sequence of Data
            What the training was made of, dev set included: they must agree with the checkpoint too.
        stage : str
            Name of this training if the model has several.
        examples : str
            What the examples are called in reports.
        """
        epochs, patience = learner.epochs, learner.patience
        path, stamped, resumed = None, {}, False
        if self.checkpoint is not None:
            path = self._path_of(stage)
            stamped = stamp(training, self._stamped_options(learner), *data) if training.resumable else {}
            resumed = self._resume(path, training, stamped, epochs)
        finished = training.finished(epochs, patience)
        for observer in self.observers:
            observer.on_start(Start(training, stage, epochs, examples, path if resumed else None, finished))
        saved = time.monotonic()

        def save() -> None:
            nonlocal saved
            if path is None or not training.resumable:
                return
            save_checkpoint(path, training, stamped)
            saved = time.monotonic()
            for observer in self.observers:
                observer.on_checkpoint(path)

        with self._interruptible() as interrupted:

            def after_epoch(progress: Progress) -> None:
                try:
                    for observer in self.observers:
                        observer.on_epoch(stage, progress)
                except Stopped:
                    raise
                except KeyboardInterrupt:
                    save()
                    raise
                finished = training.finished(epochs, patience)
                if finished and not stage:
                    return
                if finished or interrupted() or time.monotonic() - saved >= self.seconds:
                    save()
                if interrupted():
                    self._stop(progress.epoch.epoch, training.resumable)

            training.run(epochs, patience, after_epoch)

    def tune(
        self,
        learner: Learner,
        training: Training,
        rules: Sequence[UpdateRule],
        *,
        jobs: int,
        stage: str = "",
        workers: Workers | None = None,
        recipe: Recipe | None = None,
    ) -> Training:
        """Train once with each rule; return the finished training of the best one, which the learner gets.

        `training` stays new. There are no checkpoints. With `workers`, a cluster that is not open yet, the trainings
        run there; `recipe` says how workers make `training`.
        """
        assert training.dev is not None
        metric = training.dev.metric
        if self.checkpoint is not None:
            self._path_of(stage)  # one of an earlier command is removed in the end
        resources = contextlib.ExitStack()
        if workers is not None:
            resources.enter_context(workers)
            jobs = workers.slots
        for observer in self.observers:
            observer.on_tuning(TuningStart(stage, len(rules), learner.epochs, jobs, metric))

        def after_trial(trial: Trial, done: int) -> None:
            for observer in self.observers:
                observer.on_trial(trial, done)

        try:
            with resources:
                trials, best = tune(
                    training,
                    rules,
                    epochs=learner.epochs,
                    patience=learner.patience,
                    jobs=jobs,
                    watch=after_trial,
                    workers=workers,
                    recipe=recipe,
                )
        except KeyboardInterrupt:
            self._stop(None, resumable=False)
        for observer in self.observers:
            observer.on_tuned(stage, trials, metric)
        learner.use_rule(best.rule)
        return best

    def save(self, learner: CanBeSaved, path: Path, summary: str) -> None:
        """Write the model file and remove the checkpoints; `summary` says what the model consists of."""
        learner.save(path)
        remove_leftovers(path)
        self.remove_checkpoints()
        for observer in self.observers:
            observer.on_saved(path, summary)

    def remove_checkpoints(self) -> None:
        """Remove the checkpoints of all stages: the model is complete."""
        for path in self._checkpoints:
            remove_checkpoint(path)

    def on_shard(self, done: int, shards: int) -> None:
        """Report to the observers that a shard of a round is done."""
        for observer in self.observers:
            observer.on_shard(done, shards)

    def on_stage_epoch(self, stage: str, epoch: int, epochs: int) -> None:
        """Report to the observers that an epoch of a stage is over."""
        for observer in self.observers:
            observer.on_stage_epoch(stage, epoch, epochs)

    def note(self, text: str | None) -> None:
        """Report a remark to the observers, if there is one."""
        if text:
            for observer in self.observers:
                observer.on_note(text)

    def path_of(self, stage: str) -> Path | None:
        """Return where a stage may store its own checkpoint, which is removed when the model is complete.

        None without checkpoints. With `fresh` there is no such file.
        """
        if self.checkpoint is None:
            return None
        known = len(self._checkpoints)
        path = self._path_of(stage)
        if self.fresh and path not in self._checkpoints[:known] and not path.is_dir():
            remove_checkpoint(path)
        return path

    def _path_of(self, stage: str) -> Path:
        """The checkpoint of a stage: model.checkpoint, or model.STAGE.checkpoint."""
        assert self.checkpoint is not None
        path = self.checkpoint
        if stage:
            path = path.with_name(f"{path.stem}.{stage}{path.suffix}")
        self._checkpoints.append(path)
        return path

    def _stamped_options(self, learner: Learner) -> dict[str, Any]:
        """The options that decide the weights, as JSON has them."""
        options = {name: value for name, value in learner.options().items() if name not in MAY_CHANGE}
        return json.loads(json.dumps(options | {"load": self.user_code}, default=repr))  # type: ignore[no-any-return]

    def _resume(self, path: Path, training: Training, stamped: dict[str, Any], epochs: int) -> bool:
        if self.fresh and not path.is_dir():
            remove_checkpoint(path)
        if not (training.resumable and resume(path, training, stamped)):
            return False
        if len(training.history) > epochs:
            done = len(training.history)
            raise InputError(f"{path} was saved after epoch {done}, but epochs is {epochs}: {START_AGAIN}")
        return True

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[Callable[[], bool]]:
        """While it is open, the first Ctrl-C asks to stop after the current epoch, the second stops at once.

        Yields a function that returns whether the user asked. Without checkpoints, and in threads other than the main
        one, signals are left alone.
        """
        if self.checkpoint is None or threading.current_thread() is not threading.main_thread():
            yield lambda: False
            return
        asked = False

        def ask(*_: object) -> None:
            nonlocal asked
            if asked:
                self._stop(None, resumable=False)
            asked = True
            for observer in self.observers:
                observer.on_interrupt()

        before = signal.signal(signal.SIGINT, ask)
        try:
            yield lambda: asked
        finally:
            signal.signal(signal.SIGINT, before)

    def _stop(self, epoch: int | None, resumable: bool) -> NoReturn:
        for observer in self.observers:
            observer.on_stop(epoch, resumable)
        raise Stopped


def check_resumable(training: Training, checkpoint: str | Path | None) -> None:
    """Raise InputError if a user asks for checkpoints of a training that cannot have any."""
    if checkpoint is not None and not training.resumable:
        raise InputError("rule 'crf', vote and hashed=None cannot resume from a checkpoint: leave out checkpoint")
