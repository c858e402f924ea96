"""The manifest of an output folder: which outputs were made from which inputs with which models.

`.swvp-manifest.jsonl` has a line for each finished output or piece of one, appended when it is finished. An output is
skipped by a later command only if its line has the same models, options, program and state of the input, and if it has
not been changed since.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from swvp.bulk.plan import Piece
from swvp.errors import InputError
from swvp.io.files import cannot_write

__all__ = ["NAME", "Manifest"]

NAME = ".swvp-manifest.jsonl"


class Manifest:
    """The manifest in a folder, for one prediction with this stamp; `close` it in the end."""

    def __init__(self, folder: Path, stamp: str):
        self.folder, self.stamp = folder, stamp
        self.path = folder / NAME
        self.lines: dict[str, dict[str, Any]] = {}
        try:
            self.file = self.path.open("a+b", buffering=0)
            self.file.seek(0)
            content = self.file.read()
            whole = content[: content.rfind(b"\n") + 1]  # a crash may have cut off the last line
            self.file.truncate(len(whole))
        except OSError as error:
            raise cannot_write(self.path, error) from None
        try:
            for line in map(json.loads, whole.splitlines()):
                self.lines[line["output"]] = line
        except (ValueError, KeyError, TypeError):
            self.file.close()
            raise InputError(f"{self.path} is damaged: remove it, and all outputs are made again") from None

    def has(self, piece: Piece) -> bool:
        """Whether the output of a piece is there, made from the same input in the same way, and unchanged."""
        line = self.lines.get(piece.output)
        return line is not None and line == self._line(piece, line.get("tokens", 0))

    def tokens(self, piece: Piece) -> int:
        """The number of tokens of a finished piece."""
        return int(self.lines[piece.output]["tokens"])

    def add(self, piece: Piece, tokens: int) -> None:
        """Write that a piece is finished."""
        line = self._line(piece, tokens)
        try:
            self.file.write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise cannot_write(self.path, error) from None
        self.lines[piece.output] = line

    def _line(self, piece: Piece, tokens: int) -> dict[str, Any]:
        try:
            status = os.stat(self.folder / piece.output)
            made = [status.st_size, status.st_mtime_ns]
        except OSError:
            made = []
        section = None if piece.section is None else list(piece.section)
        return {
            "output": piece.output,
            "input": piece.input.path,
            "state": piece.input.state,
            "section": section,
            "made": made,
            "tokens": tokens,
            "stamp": self.stamp,
        }

    def close(self) -> None:
        """Close the file."""
        self.file.close()
