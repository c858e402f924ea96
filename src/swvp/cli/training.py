"""Owns training for someone who watches: checks, a line for each pass, a log, checkpoints, Ctrl-C, the model file.

What is trained is a `Learner`; a command for one reads its data and makes the trainings:

    check_run(options, …)  # before anything is read
    run = Run(options, messages)
    training = run.tune(learner, training, tried) if options.tune else run.train(learner, training, data)
    learner.finish(training)
    run.save(learner, "what it is made of")

A model of several trainings gives each of them the name of a stage. A stage that is done stays on disk until the model
is written, so that the same command goes on with the next one.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import typer
from rich.console import Console

from swvp.cache import is_on_disk
from swvp.cli.options import floats, names
from swvp.cli.study import cores, load_python
from swvp.errors import InputError
from swvp.io.files import cannot_write, is_special, remove_leftovers
from swvp.io.table import check_encoding
from swvp.learning.perceptron import Epoch, sweep
from swvp.learning.rule import UpdateRule
from swvp.training.checkpoint import Data, remove_checkpoint, resume, save_checkpoint, stamp
from swvp.training.training import Progress, Training

__all__ = [
    "Learner",
    "Run",
    "RunOptions",
    "check_run",
    "kept_pass",
    "run_options",
    "tell_unseen",
]

NO_MATTER = ("epochs", "patience", "n_jobs")  # options that a training may go on with changed


class Learner(Protocol):
    """What is trained: its options, how long, and its file. Tuning sets its rule and β."""

    rule: Any
    beta: Any
    epochs: int
    patience: int | None

    def options(self) -> dict[str, Any]: ...

    def save(self, path: Path) -> None: ...


class Passes(Protocol):
    """What keeps the passes it was trained in."""

    history_: list[Epoch]
    best_epoch_: int


@dataclass(frozen=True)
class RunOptions:
    """What the command line says about files and the run, whatever is trained."""

    train: str
    dev: str | None
    model: Path
    encoding: str
    log: Path | None
    checkpoint: float
    fresh: bool
    tune: bool
    rules: Sequence[str] | None
    betas: Sequence[float] | None
    jobs: int | None
    loaded: str | None


def run_options(rules: str | None, betas: str | None, load: Path | None, **given: Any) -> RunOptions:
    """The options as the command line has them: lists as text, a Python file to run first."""
    return RunOptions(
        rules=names(rules),
        betas=floats("betas", betas),
        loaded=None if load is None else load_python(load),
        **given,
    )


def check_run(options: RunOptions, *, patience: int | None, needed: Sequence[str] = ()) -> None:
    """Refuse what cannot work or would have no effect, before anything is read; `needed` tells what else is missing."""
    model = options.model
    if not model.parent.is_dir():
        raise InputError(f"cannot write {model}: there is no folder {model.parent}")
    if model.is_dir():
        raise InputError(f"cannot write {model}: it is a folder")
    if is_special(model) or str(model) == "-":
        raise InputError(f"cannot write {model}: a model needs a file of its own")
    if not os.access(model.parent, os.W_OK):
        raise InputError(f"cannot write {model}: no permission to write into {model.parent}")
    for option, path in (("TRAIN", options.train), ("--dev", options.dev), ("--log", options.log)):
        if path is not None and (Path(path) == model or (model.exists() and same_file(Path(path), model))):
            raise InputError(f"--model and {option} are the same file, {path}")
    missing = list(needed)
    if options.tune and options.dev is None:
        missing.append("--tune needs --dev: held-out sentences to choose by")
    if patience is not None and options.dev is None:
        missing.append("--patience needs --dev: held-out sentences to score each pass on")
    if missing:
        raise InputError("; ".join(missing))
    if not options.tune and (options.rules is not None or options.betas is not None):
        raise InputError("--rules and --betas are for --tune; without it, use --rule and --beta")
    if options.jobs is not None and options.jobs < 1:
        raise InputError(f"jobs must be at least 1, not {options.jobs}")
    if not options.checkpoint >= 0:
        raise InputError(f"--checkpoint must be a number of seconds of at least 0, not {options.checkpoint}")
    if options.train == options.dev == "-":
        raise InputError("standard input can be only one of the files")
    check_encoding(options.encoding)
    check_files(options)


def check_files(options: RunOptions) -> None:
    """Refuse files that cannot be read or written, as far as that can be told without opening them."""
    for path in (options.train, options.dev):
        if path is not None and path != "-" and not Path(path).exists():
            raise InputError(f"cannot read {path}: {os.strerror(errno.ENOENT)}")
    log = options.log
    if log is not None and not log.parent.is_dir():
        raise cannot_write(log, OSError(errno.ENOENT, os.strerror(errno.ENOENT)))
    if log is not None and log.is_dir():
        raise cannot_write(log, OSError(errno.EISDIR, os.strerror(errno.EISDIR)))


def same_file(a: Path, b: Path) -> bool:
    return a.exists() and a.samefile(b)


class Run:
    """The trainings of one command: what people see of them, their log and their checkpoints."""

    def __init__(self, options: RunOptions, messages: Console):
        self.options, self.messages = options, messages
        self.checkpoints: list[Path] = []
        self.logged = False

    def train(
        self,
        learner: Learner,
        training: Training,
        data: Sequence[Data],
        *,
        stage: str = "",
        heading: str = "",
        examples: str = "sentences",
        kernel: Any = sweep,
    ) -> Training:
        """Run a training with lines for people, a log for programs and checkpoints for accidents.

        `data` are those it was made of. `stage` names it if there are several for one model, in the names of files and
        in the log; `heading` is shown before its lines, which count its `examples`. `kernel` is on disk if there is
        nothing to compile.
        """
        path = self._checkpoint(stage)
        messages, epochs, patience = self.messages, learner.epochs, learner.patience
        if heading:
            messages.print(heading)
        if self.options.fresh and not path.is_dir():
            remove_checkpoint(path)
        kept = {name: value for name, value in learner.options().items() if name not in NO_MATTER}
        kept |= {"load": self.options.loaded}
        stamped = stamp(training, json.loads(json.dumps(kept, default=repr)), *data)
        if training.resumable and resume(path, training, stamped):
            if len(training.history) > epochs:
                raise InputError(f"{path} is after pass {len(training.history)}, --epochs is {epochs}: use --fresh")
            messages.print(f"going on after pass {len(training.history)}, from {path}")
        if not is_on_disk(kernel):
            messages.print("the first training also compiles, for some 20 to 90 seconds; later ones do not")
        lines = EpochLines(messages, training, epochs, examples)
        if not training.finished(epochs, patience):
            lines.head()
        saved = time.monotonic()
        named = {"stage": stage} if stage else {}
        with self._log() as log, interruptible(messages) as stop:
            write_lines(log, training.history, training.scores, **named)

            def after_pass(progress: Progress) -> None:
                nonlocal saved
                lines.show(progress)
                write_line(log, progress, **named)
                done = training.finished(epochs, patience)
                if done and not stage:
                    return
                if training.resumable and (done or stop or time.monotonic() - saved >= self.options.checkpoint):
                    save_checkpoint(path, training, stamped)
                    saved = time.monotonic()
                if stop:
                    on = "; the same command goes on from there" if training.resumable else ""
                    messages.print(f"stopped after pass {progress.epoch.epoch}{on}")
                    raise typer.Exit(130)

            training.run(epochs, patience, after_pass)
        return training

    def tune(
        self,
        learner: Learner,
        training: Training,
        tried: Sequence[UpdateRule],
        *,
        stage: str = "",
        heading: str = "",
    ) -> Training:
        """Try rules on the training, which stays new; the finished one of the best rule, which the learner gets."""
        from swvp.cli.tuning import tune_rules

        self._checkpoint(stage)
        if heading:
            self.messages.print(heading)
        named = {"stage": stage} if stage else {}
        with self._log() as log:
            try:
                trials, best = tune_rules(learner, training, tried, self.options.jobs or cores(), self.messages)
            except KeyboardInterrupt:
                self.messages.print("stopped; nothing is kept of a tuning")
                raise typer.Exit(130) from None
            for trial in trials:
                rule = {"rule": trial.rule.name, "beta": trial.rule.beta}
                write_lines(log, trial.history, trial.scores, **named, **rule)
        return best

    def save(self, learner: Learner, what: str) -> None:
        """Write the model and tell what it is made of; the checkpoints are not needed any more."""
        path = self.options.model
        learner.save(path)
        remove_leftovers(path)
        for checkpoint in self.checkpoints:
            remove_checkpoint(checkpoint)
        self.messages.print(f"{path}: {path.stat().st_size / 1e6:.1f} MB, {what}", soft_wrap=True)

    def _checkpoint(self, stage: str) -> Path:
        model = self.options.model
        path = model.with_name(f"{model.name}.{stage}.checkpoint" if stage else f"{model.name}.checkpoint")
        self.checkpoints.append(path)
        return path

    @contextmanager
    def _log(self) -> Iterator[IO[str] | None]:
        """The log, emptied when it is opened first."""
        path, mode = self.options.log, "a" if self.logged else "w"
        if path is None:
            yield None
            return
        try:
            with path.open(mode, encoding="utf-8") as file:
                self.logged = True
                yield file
        except BrokenPipeError:
            raise
        except OSError as error:
            raise cannot_write(path, error) from None


def kept_pass(learner: Passes) -> str:
    return f"pass {learner.best_epoch_} of {len(learner.history_)}"


class EpochLines:
    """A line for each pass: mistakes, score, seconds, time left.

    The first pass may also compile, so it says nothing about the others.
    """

    def __init__(self, console: Console, training: Training, epochs: int, examples: str):
        self.console, self.training, self.epochs, self.examples = console, training, epochs, examples
        self.last = time.monotonic()
        self.first = len(training.history) + 1
        self.wide = 0  # how much wider than usual the name of the score is

    def head(self) -> None:
        dev = self.training.dev
        metric = "" if dev is None else f"  {'dev ' + dev.metric:>11}"
        self.wide = max(len(metric) - 13, 0)
        wrong = f"{'wrong ' + self.examples:>17}{'wrong tokens':>14}"
        self.console.print(f"{'pass':>4}{wrong}{metric}{'seconds':>9}{'left':>7}")

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        epoch = progress.epoch
        if epoch.epoch == self.first:
            self.began, left = now, ""
        else:
            left = clock((now - self.began) / (epoch.epoch - self.first) * (self.epochs - epoch.epoch))
        score = (
            ""
            if progress.score is None
            else f"{'':{self.wide}}{100 * progress.score:11.2f}{' *' if progress.best else '  '}"
        )
        counts = f"{epoch.epoch:4}{epoch.mistakes:17,}{epoch.wrong_positions:14,}"
        self.console.print(f"{counts}{score}{now - self.last:9.1f}{left:>7}")
        self.last = now


def clock(seconds: float) -> str:
    return f"{int(seconds + 0.5) // 60}:{int(seconds + 0.5) % 60:02}"


def write_line(log: IO[str] | None, progress: Progress, **more: Any) -> None:
    if log is not None:
        line = more | progress.epoch.as_dict() | {"dev_score": progress.score, "best": progress.best}
        log.write(json.dumps(line) + "\n")
        log.flush()


def write_lines(log: IO[str] | None, history: Sequence[Epoch], scores: Sequence[float], **more: Any) -> None:
    """The lines of passes that are over; those of a killed training are written again, each once."""
    for k, epoch in enumerate(history):
        best = not scores or scores[k] > max(scores[:k], default=-1.0)
        write_line(log, Progress(epoch, scores[k] if scores else None, best), **more)


@contextmanager
def interruptible(messages: Console) -> Iterator[list[bool]]:
    """The first Ctrl-C asks to stop after the pass that runs (then the list is not empty), the second stops at once."""
    asked: list[bool] = []

    def ask(*_: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(True)
        messages.print("stopping after this pass (Ctrl-C again: at once)")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    except KeyboardInterrupt:
        messages.print("stopped")
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGINT, before)


def tell_unseen(messages: Console, known: Sequence[Any], labels: Sequence[Any], ids: Any) -> None:
    """Say which labels of development data, numbered by `ids`, training has never seen."""
    unseen = [number for number, name in enumerate(labels) if name not in set(known)]
    if unseen:
        tokens = sum(int((ids == number).sum()) for number in unseen)
        some = ", ".join(str(labels[number]) for number in unseen[:3]) + (" …" if len(unseen) > 3 else "")
        messages.print(f"note: {tokens} development tokens have labels unseen in training ({some}): counted as wrong")
