"""A training from files: which it reads and writes, its course, and checks before anything is read or computed.

No file that a command writes may be one of its inputs, and it must be possible to write it.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from swvp.errors import InputError
from swvp.io.files import cannot_write, is_special
from swvp.io.table import check_encoding
from swvp.training.observer import Observer, TrainingLog
from swvp.training.options import available_cores
from swvp.training.session import SECONDS, Session

__all__ = ["Run", "check_log", "check_separate", "check_writable"]

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


# ---------------------------------------------------------------- files that a command writes


def check_separate(
    outputs: Mapping[str, str | Path | None], inputs: Mapping[str, str | Path | Sequence[str | Path] | None]
) -> None:
    """Raise InputError if a file that will be written is one of those that are read, or is written twice.

    Both map names of options or arguments to paths; None and - (a standard stream) are no files.
    """
    read = [(name, path) for name, paths in inputs.items() for path in several(paths) if is_file_name(path)]
    written = [(name, path) for name, path in outputs.items() if path is not None and is_file_name(path)]
    for number, (option, path) in enumerate(written):
        for other, other_path in [*read, *written[:number]]:
            if is_same_file(Path(path), Path(other_path)):
                raise InputError(f"{option} and {other} are the same file, {other_path}")


def check_writable(path: Path) -> None:
    """Raise InputError if no temporary file can be made beside a file, as `write_whole` will do; it is removed."""
    path = path.resolve() if path.is_symlink() else path
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.swvp-new-")
        os.close(handle)
        os.unlink(name)
    except OSError as error:
        raise cannot_write(path, error) from None


def several(paths: str | Path | Sequence[str | Path] | None) -> Sequence[str | Path]:
    """Return no path, one or several as a sequence."""
    if paths is None:
        return ()
    return (paths,) if isinstance(paths, str | Path) else paths


def is_file_name(path: str | Path) -> bool:
    """Return whether a path is not a standard stream, a device or a pipe, which hold nothing that could be lost."""
    return str(path) != "-" and not is_special(Path(path))


def is_same_file(a: Path, b: Path) -> bool:
    """Return whether two paths name the same file, which need not exist yet."""
    try:
        return a.samefile(b)
    except OSError:
        return os.path.realpath(a) == os.path.realpath(b)


def check_log(log: Path) -> None:
    """Raise InputError if a log cannot be opened; a file that is there stays as it is."""
    new = not log.exists()
    try:
        log.open("ab").close()
        if new:
            log.unlink()
    except OSError as error:
        raise cannot_write(log, error) from None
