"""Owns the runs of a study on disk: each finished run is kept at once, so that a stopped study can go on.

`runs.jsonl` in the study's folder: the settings on the first line, then one run a line.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from swvp.errors import InputError
from swvp.storage.files import cannot_write

__all__ = ["Journal"]

NAME = "runs.jsonl"


class Journal:
    """The runs kept in `folder` for a study with these settings.

    A folder that holds another study's results, or files of the same names that are not a study's, is refused.
    """

    def __init__(self, folder: Path, settings: dict[str, Any], outputs: tuple[str, ...]):
        self.path = folder / NAME
        self.lock = threading.Lock()
        self.runs: list[dict[str, Any]] = []
        try:
            folder.mkdir(parents=True, exist_ok=True)
            begun = self.path.exists() and self.path.stat().st_size > 0
            foreign = [name for name in outputs if (folder / name).exists()]
            if begun:
                self._resume(settings)
            elif foreign:
                raise InputError(
                    f"{folder / foreign[0]} exists and is not of this study: choose another --output folder"
                )
            self.file = self.path.open("a", encoding="utf-8", newline="\n")
            if not begun:
                self._write(settings)
        except OSError as error:
            raise cannot_write(folder, error) from error

    def _resume(self, settings: dict[str, Any]) -> None:
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]  # a line cut off by a crash is not a run
        try:
            header, *runs = [json.loads(line) for line in whole.splitlines()]
        except ValueError:
            raise InputError(f"{self.path} is damaged or not a study's: choose another --output folder") from None
        if header != settings:
            changed = sorted(k for k in {*header, *settings} if header.get(k) != settings.get(k))
            raise InputError(
                f"{self.path.parent} holds another study's results (it differs in: {', '.join(changed)}): "
                "choose another --output folder, or delete that one"
            )
        self.runs = runs
        if len(whole) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))

    def add(self, run: dict[str, Any]) -> None:
        """Keep a finished run; may be called from several threads."""
        with self.lock:
            try:
                self._write(run)
            except OSError as error:
                raise cannot_write(self.path, error) from error
            self.runs.append(run)

    def _write(self, line: dict[str, Any]) -> None:
        self.file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self.file.flush()

    def close(self) -> None:
        self.file.close()
