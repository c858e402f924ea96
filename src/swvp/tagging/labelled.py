"""Files for evaluation: words and labels with their lines, and the check that two files have the same tokens."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from swvp.errors import InputError
from swvp.io.table import CONLLU, read_table
from swvp.tagging.prose import check_not_prose

__all__ = ["Labelled", "check_same_tokens", "read_labelled"]


class Labelled(NamedTuple):
    """The words of each sentence, the labels of each column that was read, and the line of each token."""

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

    Words are the first column, or FORM. Whether the file is CoNLL-U is `conllu` or, by default, seen from its name.
    With `check_prose`, raise InputError for a file that looks like prose.
    """
    table = read_table(path, encoding=encoding, conllu=conllu)
    if check_prose:
        check_not_prose(table)
    labels = tuple(table.sentences(table.number_of(column)) for column in columns)
    words = table.sentences(CONLLU.index("word") if table.conllu else 0)
    lines = table.lines.tolist()
    return Labelled(words, labels, [lines[a:b] for a, b in pairwise(table.offsets.tolist())])


def check_same_tokens(a_path: str | Path, a: Labelled, b_path: str | Path, b: Labelled) -> None:
    """Raise InputError with the first place where the words, lengths or numbers of sentences of two files differ."""
    for a_words, a_lines, b_words, b_lines in zip(a.words, a.lines, b.words, b.lines, strict=False):
        if a_words == b_words:
            continue
        for a_word, a_line, b_word, b_line in zip(a_words, a_lines, b_words, b_lines, strict=False):
            if a_word != b_word:
                raise InputError(f"{b_path}:{b_line}: the word is '{b_word}', at {a_path}:{a_line} '{a_word}'")
        raise InputError(
            f"{b_path}:{b_lines[0]}: a sentence of {counted(len(b_words), 'token')}, "
            f"at {a_path}:{a_lines[0]} of {counted(len(a_words), 'token')}"
        )
    if len(a.words) == len(b.words):
        return
    if len(a.words) > len(b.words):
        a_path, a, b_path, b = b_path, b, a_path, a
    raise InputError(
        f"{b_path}:{b.lines[len(a.words)][0]}: sentence {len(a.words) + 1} of {len(b.words)}, "
        f"but {a_path}:{a.lines[-1][-1]} is the end of its {counted(len(a.words), 'sentence')}"
    )


def counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
