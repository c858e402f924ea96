"""Owns reading words and labels from files, in columns or CoNLL-U, with the line of every token."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from swvp.data.columns import read_columns, read_text
from swvp.errors import InputError

__all__ = ["TARGETS", "Labelled", "is_conllu", "read_labelled"]

TARGETS = {"upos": 3, "xpos": 4, "feats": 5, "deprel": 7}
"""The columns of CoNLL-U that are labels, by name."""
FORM = 1
WIDTH = 10


class Labelled(NamedTuple):
    """The words of each sentence, the labels of each column asked for, and the line of the file of each token."""

    words: list[list[str]]
    labels: tuple[list[list[str]], ...]
    lines: list[list[int]]


def read_labelled(
    path: str | Path, *columns: int | str, encoding: str = "utf-8", conllu: bool | None = None
) -> Labelled:
    """Read the words and the given columns: 0-based numbers, negative from the end, or names of CoNLL-U (`TARGETS`).

    Words are the first column, or FORM. The file is CoNLL-U if `conllu` says so or, by default, its name does.
    """
    if is_conllu(path) if conllu is None else conllu:
        rows, lines = read_conllu(path, encoding)
        word, width = FORM, WIDTH
    else:
        file = read_columns(path, encoding=encoding)
        rows, word, width = file.sentences, 0, file.width
        lines = [list(range(first, first + len(part))) for first, part in zip(file.lines, rows, strict=True)]
    numbers = [TARGETS[column] if isinstance(column, str) else column for column in columns]
    for number in numbers:
        if not -width <= number < width:
            raise InputError(f"{path}:{lines[0][0]}: no column {number}, there are {width} (0 to {width - 1})")
    labels = tuple([[row[number] for row in part] for part in rows] for number in numbers)
    return Labelled([[row[word] for row in part] for part in rows], labels, lines)


def is_conllu(path: str | Path) -> bool:
    """Whether the name says so."""
    return str(path).endswith((".conllu", ".conllu.gz"))


def read_conllu(path: str | Path, encoding: str) -> tuple[list[list[tuple[str, ...]]], list[list[int]]]:
    """The rows of each sentence and their lines; without comments, multiword tokens (1-2) and empty nodes (1.1)."""
    rows: list[list[tuple[str, ...]]] = [[]]
    lines: list[list[int]] = [[]]
    for number, line in enumerate(read_text(path, encoding).split("\n"), 1):
        line = line.rstrip("\r")
        if not line or line.isspace():
            rows.append([])
            lines.append([])
        elif not line.startswith("#"):
            row = tuple(line.split("\t"))
            if len(row) != WIDTH:
                raise InputError(f"{path}:{number}: {len(row)} columns between tabs, CoNLL-U has {WIDTH}")
            if row[0].isdecimal():
                rows[-1].append(row)
                lines[-1].append(number)
            elif not row[0].replace("-", ".", 1).replace(".", "", 1).isdecimal():
                raise InputError(f"{path}:{number}: '{row[0]}' is no ID of CoNLL-U")
    if not any(rows):
        raise InputError(f"{path}: no token in it")
    return list(filter(None, rows)), list(filter(None, lines))
