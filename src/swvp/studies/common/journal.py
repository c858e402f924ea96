"""Owns the runs of a study on disk: each finished run is kept at once, so that a stopped study can go on.

`runs.jsonl` in the study's folder: the settings on the first line, then one run a line.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

from swvp.errors import InputError
from swvp.io.files import cannot_write

try:
    import fcntl
except ImportError:  # not on Windows: two processes on one folder then do the same work twice
    fcntl = None  # type: ignore[assignment]

__all__ = ["Journal"]

NAME = "runs.jsonl"
OTHERWISE = "choose another --output folder, or --fresh to replace it"


class Journal:
    """The runs kept in `folder` for a study with these settings.

    A folder that holds another study's results, or files of the same names that are not a study's, is refused;
    with `fresh` a study's files are removed first, never another's.
    """

    def __init__(
        self,
        folder: Path,
        settings: dict[str, Any],
        *,
        outputs: Collection[str],
        fields: Collection[str],
        fresh: bool = False,
    ):
        self.path = folder / NAME
        self.fields = set(fields)
        self.lock = threading.Lock()
        self.runs: list[dict[str, Any]] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            foreign = [name for name in outputs if (folder / name).exists()]
            begun = self.path.exists() and self.path.stat().st_size > 0
            if foreign and not begun:
                raise InputError(
                    f"{folder / foreign[0]} is there without the {NAME} of a study: {OTHERWISE.split(',')[0]}"
                )
            self.file = open_alone(self.path)
            if begun:
                self._resume(settings, fresh, [folder / name for name in foreign])
            if self.file.tell() == 0:
                self._write(settings)
        except OSError as error:
            raise cannot_write(folder, error) from error

    def _resume(self, settings: dict[str, Any], fresh: bool, outputs: list[Path]) -> None:
        self.file.seek(0)
        content = self.file.read()
        whole = content[: content.rfind(b"\n") + 1]  # a line cut off by a crash is not a run
        damaged = InputError(f"{self.path} is damaged or not a study's: choose another --output folder")
        try:
            header, *runs = [json.loads(line) for line in whole.splitlines()]
        except ValueError:
            raise damaged from None
        if not isinstance(header, dict) or "study" not in header:
            raise damaged
        if not all(isinstance(run, dict) and self.fields <= set(run) for run in runs):
            raise damaged
        if fresh:
            for path in outputs:
                path.unlink()
            self.file.truncate(0)
        elif header != settings:
            changed = sorted(k for k in {*header, *settings} if header.get(k) != settings.get(k))
            what = f"it differs in: {', '.join(changed)}"
            raise InputError(f"{self.path.parent} holds another study's results ({what}): {OTHERWISE}")
        else:
            self.runs = runs
            self.file.truncate(len(whole))
        self.file.seek(0, 2)

    def add(self, run: dict[str, Any]) -> None:
        """Keep a finished run; may be called from several threads."""
        with self.lock:
            try:
                self._write(run)
            except OSError as error:
                raise cannot_write(self.path, error) from error
            self.runs.append(run)

    def _write(self, line: dict[str, Any]) -> None:
        self.file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def close(self) -> None:
        self.file.close()


def open_alone(path: Path) -> IO[bytes]:
    """Open for reading and appending, unbuffered, and refuse if another process has."""
    file = path.open("a+b", buffering=0)
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise InputError(f"another process is running a study in {path.parent}: wait for it to end") from None
    return file
