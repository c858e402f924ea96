"""Owns column files: one token a line, columns between tabs or blanks, an empty line after each sentence."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path
from typing import NamedTuple

from swvp.errors import InputError

__all__ = ["ColumnFile", "read_bytes", "read_columns", "read_text"]

DOCUMENT_START = "-DOCSTART-"


class ColumnFile(NamedTuple):
    """The rows of each sentence, and the line of the file on which each sentence begins."""

    sentences: list[list[tuple[str, ...]]]
    lines: list[int]
    width: int


def read_columns(path: str | Path, *, encoding: str = "utf-8") -> ColumnFile:
    """Read a file (plain, .gz, or - for standard input) whose lines all have the same number of columns.

    Columns are between tabs if the first line has one, else between blanks. A byte order mark, CRLF, several empty
    lines and a missing last newline are fine. Lines that start with -DOCSTART- are skipped.
    """
    sentences: list[list[tuple[str, ...]]] = []
    lines: list[int] = []
    rows: list[tuple[str, ...]] = []
    separator: str | None = None
    width = 0
    for number, line in enumerate([*read_text(path, encoding).split("\n"), ""], 1):
        line = line.rstrip("\r")
        if not line or line.isspace():
            if rows:
                sentences.append(rows)
                rows = []
            continue
        if line.startswith(DOCUMENT_START):
            continue
        if not width:
            separator = "\t" if "\t" in line else None
            width = len(line.split(separator))
        row = tuple(line.split(separator))
        if len(row) != width:
            hint = (
                "tabs and blanks mixed?" if ("\t" in line) != (separator == "\t") else "all lines need the same number"
            )
            raise InputError(f"{path}:{number}: {len(row)} columns, {width} on the lines before ({hint})")
        if not rows:
            lines.append(number)
        rows.append(row)
    if not sentences:
        raise InputError(f"{path}: no token in it")
    return ColumnFile(sentences, lines, width)


def read_text(path: str | Path, encoding: str = "utf-8") -> str:
    """The text of a file, without a byte order mark."""
    content = read_bytes(path)
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[error.start]
        raise InputError(
            f"{path}:{line}: byte 0x{byte:02x} is not {encoding}; name the encoding (iso-8859-1?)"
        ) from None
    except LookupError:
        raise InputError(f"unknown encoding '{encoding}'") from None


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz; - is standard input."""
    try:
        if str(path) == "-":
            return sys.stdin.buffer.read()
        content = Path(path).read_bytes()
        return gzip.decompress(content) if str(path).endswith(".gz") else content
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{path}: not a gzip file, or cut off") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
