"""The journal of a study: finished runs on disk, written one by one so that an interrupted study can resume.

`runs.jsonl` in the study's folder has the settings on its first line, then one run per line.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO, Any, Generic, Protocol, TypeVar

from swvp.errors import InputError
from swvp.io.files import cannot_write

try:
    import fcntl
except ImportError:  # not on Windows: there, two processes in one folder do the same work twice
    fcntl = None  # type: ignore[assignment]

__all__ = ["NAME", "OUTPUTS", "Journal", "finished_runs"]

NAME = "runs.jsonl"
OUTPUTS = ("results.json", "report.html")
OTHER_FOLDER = "choose another --output folder"


class Writable(Protocol):
    """Something that can be written as JSON."""

    def to_json(self) -> dict[str, Any]: ...


Run = TypeVar("Run", bound=Writable)


class Journal(Generic[Run]):
    """The finished runs in `folder` of a study with these settings.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    settings : dict
        The settings as JSON, with the name of the study.
    read : callable
        Makes a run from a line of the journal.
    fresh : bool
        Remove the files of an earlier study first. Other files are never removed.

    Raises
    ------
    InputError
        If the folder holds the results of a study with other settings, or files that are not a study's, or if another
        process runs a study there.
    """

    def __init__(
        self, folder: Path, settings: dict[str, Any], *, read: Callable[[dict[str, Any]], Run], fresh: bool = False
    ):
        self.path = folder / NAME
        self.read = read
        self.lock = threading.Lock()
        self.runs: list[Run] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            outputs = [folder / name for name in OUTPUTS if (folder / name).exists()]
            begun = self.path.exists() and self.path.stat().st_size > 0
            if outputs and not begun:
                raise InputError(f"{outputs[0]} exists, but no {NAME} of a study: {OTHER_FOLDER}")
            self.file = open_alone(self.path)
            if begun:
                self._resume(settings, fresh, outputs)
            if self.file.tell() == 0:
                self._write(settings)
        except OSError as error:
            raise cannot_write(folder, error) from error

    def _resume(self, settings: dict[str, Any], fresh: bool, outputs: Collection[Path]) -> None:
        self.file.seek(0)
        content = self.file.read()
        whole = content[: content.rfind(b"\n") + 1]  # a crash may have cut off the last line
        try:
            header, *lines = [json.loads(line) for line in whole.splitlines()]
            if "study" not in header:
                raise ValueError
            runs = [self.read(line) for line in lines]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{self.path} is damaged or not a study's: {OTHER_FOLDER}") from None
        if fresh:
            for path in outputs:
                path.unlink()
            self.file.truncate(0)
        elif header != settings:
            changed = sorted(k for k in {*header, *settings} if header.get(k) != settings.get(k))
            raise InputError(
                f"{self.path.parent} holds another study's results (it differs in: {', '.join(changed)}): "
                f"{OTHER_FOLDER}, or --fresh to replace it"
            )
        else:
            self.runs = runs
            self.file.truncate(len(whole))
        self.file.seek(0, 2)

    def add(self, run: Run) -> None:
        """Write a finished run; may be called from several threads."""
        with self.lock:
            try:
                self._write(run.to_json())
            except OSError as error:
                raise cannot_write(self.path, error) from error
            self.runs.append(run)

    def _write(self, line: dict[str, Any]) -> None:
        self.file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        """Close the file, so that other processes can use the folder."""
        self.file.close()


def open_alone(path: Path) -> IO[bytes]:
    """Open a file for reading and appending, unbuffered; raise InputError if another process has it open."""
    file = path.open("a+b", buffering=0)
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise InputError(f"another process is running a study in {path.parent}: wait for it to end") from None
    return file


def finished_runs(folder: Path) -> int:
    """Return the number of runs in the journal of a folder."""
    path = folder / NAME
    return max(path.read_bytes().count(b"\n") - 1, 0) if path.exists() else 0
