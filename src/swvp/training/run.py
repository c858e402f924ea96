"""Training from files: which files a run reads and writes, checked before anything is read."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.files import cannot_write, is_special
from swvp.io.table import check_encoding
from swvp.training.observer import Observer, TrainingLog
from swvp.training.options import available_cores
from swvp.training.session import SECONDS, Session

__all__ = ["Run", "unseen_labels"]

LONGEST_ENDING = ".labels.checkpoint"


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
            missing.append("--tune needs --dev: a dev set to choose by")
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
        for option, path in (("TRAIN", self.train), ("--dev", self.dev), ("--log", self.log)):
            if path is not None and (Path(path) == model or (model.exists() and is_same_file(Path(path), model))):
                raise InputError(f"--model and {option} are the same file, {path}")

    def _check_other_files(self) -> None:
        """Raise InputError if files cannot be read or written, as far as that shows without opening them."""
        for path in (self.train, self.dev):
            if path is not None and path != "-" and not Path(path).exists():
                raise InputError(f"cannot read {path}: {os.strerror(errno.ENOENT)}")
        log = self.log
        if log is not None and not log.parent.is_dir():
            raise cannot_write(log, OSError(errno.ENOENT, os.strerror(errno.ENOENT)))
        if log is not None and log.is_dir():
            raise cannot_write(log, OSError(errno.EISDIR, os.strerror(errno.EISDIR)))


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


def is_same_file(a: Path, b: Path) -> bool:
    return a.exists() and a.samefile(b)


def unseen_labels(known: Sequence[Any], labels: Sequence[Any], ids: NDArray[Any]) -> str | None:
    """A note on the labels of a dev set that training does not have; its tokens have the labels labels[ids]."""
    unseen = [number for number, name in enumerate(labels) if name not in set(known)]
    if not unseen:
        return None
    tokens = sum(int((ids == number).sum()) for number in unseen)
    names = ", ".join(str(labels[number]) for number in unseen[:3]) + (" …" if len(unseen) > 3 else "")
    return f"note: {tokens} dev tokens have labels unseen in training ({names}): counted as wrong"
