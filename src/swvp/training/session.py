"""A training session: the trainings of one model, with checkpoints, resuming, Ctrl-C and observers.

    with Session(checkpoint, observers=observers) as session:
        session.train(learner, training, data)
        learner.finish(training)
        session.save(learner, path, summary)  # or session.remove_checkpoints()

A model with several stages names each of them. The checkpoint of a finished stage stays until the model is complete, so
that an interrupted session resumes in the stage where it stopped.

A `Run` is a session from files: which it reads and writes, checked before anything is read.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from swvp.cluster.threads import Workers
from swvp.errors import InputError
from swvp.io.files import cannot_write, exclusive, is_special, remove_leftovers
from swvp.io.table import check_encoding
from swvp.learning.rule import UpdateRule
from swvp.training.observer import Observer, Start, TrainingLog, TuningStart
from swvp.training.options import available_cores
from swvp.training.outputs import check_log, check_separate, check_writable
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

__all__ = ["SECONDS", "Learner", "Run", "Session", "check_resumable"]

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


# ---------------------------------------------------------------- a session from files

LONGEST_ENDING = ".labels-100.checkpoint"


@dataclass(frozen=True)
class Run:
    """The files and the course of a training, whatever is trained.

    Parameters
    ----------
    train, dev : str
        Files of labelled sentences, - for standard input; the dev set may be missing.
    model : path
        The model file to write. Checkpoints lie beside it.
    encoding : str
        Encoding of the files.
    log : path, optional
        File for the training log, in JSON lines.
    checkpoint : float
        Least number of seconds between checkpoints.
    fresh : bool
        Do not resume from a checkpoint.
    tune : bool
        Train with several rules and choose the best on the dev set.
    rules, betas : sequences, optional
        What is tried; by default what suits the model.
    jobs : int, optional
        Threads for tuning; by default all cores.
    user_code : str, optional
        Digest of the user's Python file that was loaded.
    other_inputs : mapping
        Paths of further files that are read, by option; the model and the log must be other files.
    """

    train: str
    model: Path
    dev: str | None = None
    encoding: str = "utf-8"
    log: Path | None = None
    checkpoint: float = SECONDS
    fresh: bool = False
    tune: bool = False
    rules: Sequence[str] | None = None
    betas: Sequence[float] | None = None
    jobs: int | None = None
    user_code: str | None = None
    other_inputs: Mapping[str, str | Path | Sequence[str | Path] | None] = field(default_factory=dict)

    def for_workers(self) -> Run:
        """The run with whole paths of its files, for workers in other folders."""
        files = [path for path in (self.train, self.dev) if path is not None]
        if "-" in files:
            raise InputError("on a cluster, TRAIN and --dev must be files that all workers see, not standard input")
        train, dev = str(Path(self.train).absolute()), None if self.dev is None else str(Path(self.dev).absolute())
        return replace(self, train=train, dev=dev)

    @property
    def threads(self) -> int:
        return available_cores() if self.jobs is None else self.jobs

    def session(self, observers: Sequence[Observer]) -> Session:
        """The session of this run, with its log among the observers."""
        logs = [] if self.log is None else [TrainingLog(self.log)]
        return Session(
            self.model.with_name(f"{self.model.name}.checkpoint"),
            locked=self.model,
            seconds=self.checkpoint,
            fresh=self.fresh,
            user_code=self.user_code,
            observers=[*observers, *logs],
        )

    def check(self, *, patience: int | None, missing: Sequence[str] = ()) -> None:
        """Raise InputError if options cannot work or would have no effect.

        `missing` are further options that the user has to give: all of them are named at once.
        """
        self._check_model()
        missing = [*missing]
        if self.tune and self.dev is None:
            missing.append("--tune needs --dev, to choose the best rule")
        if patience is not None and self.dev is None:
            missing.append("--patience needs --dev: a dev set to score each epoch on")
        if missing:
            raise InputError("; ".join(missing))
        if not self.tune and (self.rules is not None or self.betas is not None):
            raise InputError("--rules and --betas are for --tune; without it, use --rule and --beta")
        if self.jobs is not None and self.jobs < 1:
            raise InputError(f"jobs must be at least 1, not {self.jobs}")
        if not self.checkpoint >= 0:
            raise InputError(f"--checkpoint must be a number of seconds of at least 0, not {self.checkpoint}")
        if self.train == self.dev == "-":
            raise InputError("standard input can be only one of the files")
        check_encoding(self.encoding)
        self._check_other_files()

    def _check_model(self) -> None:
        """Raise InputError if the model file cannot be written."""
        model = self.model
        check_name(model)
        if not model.parent.is_dir():
            raise InputError(f"cannot write {model}: there is no folder {model.parent}")
        if model.is_dir():
            raise InputError(f"cannot write {model}: it is a folder")
        if is_special(model) or str(model) == "-":
            raise InputError(f"cannot write {model}: a model needs a file of its own")
        if not os.access(model.parent, os.W_OK):
            raise InputError(f"cannot write {model}: no permission to write into {model.parent}")
        check_writable(model)
        inputs = {"TRAIN": self.train, "--dev": self.dev, **self.other_inputs}
        check_separate({"--log": self.log, "--model": model}, inputs)

    def _check_other_files(self) -> None:
        """Raise InputError if files cannot be read or written, as far as that shows without opening them."""
        for path in (self.train, self.dev):
            if path is not None and path != "-" and not Path(path).exists():
                raise InputError(f"cannot read {path}: {os.strerror(errno.ENOENT)}")
        log = self.log
        if log is not None and not is_special(log):
            check_log(log)


def check_name(model: Path) -> None:
    """Raise InputError if there cannot be a file of this name, or none for its checkpoints."""
    try:
        model.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise cannot_write(model, error) from None
    most = 255
    if hasattr(os, "pathconf") and model.parent.is_dir():
        most = os.pathconf(model.parent, "PC_NAME_MAX")
    most -= len(LONGEST_ENDING)
    length = len(os.fsencode(model.name))
    if length > most:
        raise InputError(
            f"cannot write {model}: its name has {length} bytes; names of checkpoints are longer, so at most {most} "
            "are possible"
        )
