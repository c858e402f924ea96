"""Owns reading words and labels from files, in columns or CoNLL-U, with the line of every token."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from swvp.data.table import CONLLU, read_table
from swvp.tagging.prose import refuse_prose

__all__ = ["Labelled", "read_labelled"]


class Labelled(NamedTuple):
    """The words of each sentence, the labels of each column asked for, and the line of the file of each token."""

    words: list[list[str]]
    labels: tuple[list[list[str]], ...]
    lines: list[list[int]]


def read_labelled(
    path: str | Path,
    *columns: int | str,
    encoding: str = "utf-8",
    conllu: bool | None = None,
    check_prose: bool = False,
) -> Labelled:
    """Read the words and the given columns: 0-based numbers, negative from the end, or names of CoNLL-U.

    Words are the first column, or FORM. The file is CoNLL-U if `conllu` says so or, by default, its name does.
    `check_prose` refuses a file that looks like prose.
    """
    table = read_table(path, encoding=encoding, conllu=conllu)
    if check_prose:
        refuse_prose(table)
    labels = tuple(table.sentences(table.number_of(column)) for column in columns)
    words = table.sentences(CONLLU.index("word") if table.conllu else 0)
    lines = table.lines.tolist()
    return Labelled(words, labels, [lines[a:b] for a, b in pairwise(table.offsets.tolist())])
