"""Owns column files as Python sees them: sentences as lists of tuples."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from swvp.data.table import read_table

__all__ = ["ColumnFile", "read_columns"]


class ColumnFile(NamedTuple):
    """The rows of each sentence, and the line of the file on which each sentence begins."""

    sentences: list[list[tuple[str, ...]]]
    lines: list[int]
    width: int


def read_columns(path: str | Path, *, encoding: str = "utf-8") -> ColumnFile:
    """Read a column file, or CoNLL-U if its name says so; see `swvp.data.table.read_table`."""
    table = read_table(path, encoding=encoding)
    columns = (table.sentences(number) for number in range(table.width))
    sentences = [list(zip(*rows, strict=True)) for rows in zip(*columns, strict=True)]
    return ColumnFile(sentences, table.lines[table.offsets[:-1]].tolist(), table.width)
