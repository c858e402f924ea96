"""The files of taggers: which columns features use, which one holds the labels, what is prose or raw text."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swvp.errors import InputError, counted, unknown_name
from swvp.evaluation.counts import is_phrase_label
from swvp.features.clusters import learn_clusters
from swvp.io.files import read_bytes
from swvp.io.table import CONLLU, Column, Table, check_encoding, is_conllu, read_table, table_of
from swvp.tagging.corpus import Corpus, Labels, column_names, corpus_of_table

__all__ = [
    "NO_TARGET",
    "TARGETS",
    "Labelled",
    "Layout",
    "check_column_options",
    "check_not_prose",
    "check_same_tokens",
    "clusters_with_text",
    "conllu_layout",
    "layout_for_predicting",
    "layout_of",
    "read_corpus",
    "read_labelled",
    "read_sentences",
    "write_labels",
]

TARGETS = ("upos", "xpos", "feats", "deprel")
NO_TARGET = f"which column is the label? Use --target {'|'.join(TARGETS)}"
OTHER_NAMES = {"form": "word", "pos": "upos", "tag": "upos"}


class Layout(NamedTuple):
    """The columns of a file: `names` and numbers (`inputs`) of those that features use, and the label column.

    `width` is the number of all columns.
    """

    conllu: bool
    names: tuple[str, ...]
    inputs: tuple[int, ...]
    label: int
    width: int

    def as_dict(self) -> dict[str, Any]:
        return {key: list(value) if isinstance(value, tuple) else value for key, value in self._asdict().items()}

    @property
    def label_name(self) -> str:
        return CONLLU[self.label] if self.conllu else f"column {self.label}"


def layout_of(table: Table, label: str | int | None, names: Sequence[str] | None) -> Layout:
    """The layout of a training file; `label` is a number, or a name in CoNLL-U."""
    if table.conllu:
        return conllu_layout(table.path, label, names)
    check_column_options(table.path, label, names)
    target = table.number_of(-1 if label is None else label)
    others = [number for number in range(table.width) if number != target]
    if not others:
        raise InputError(f"{table.path}: only one column; a tagger needs a word and a label on each line")
    names = tuple(names or column_names(len(others)))
    if len(names) > len(others):
        raise InputError(
            f"--columns names {counted(len(names), 'column')}, but {table.path} has only {len(others)} besides the "
            "label"
        )
    return Layout(False, names, tuple(others[: len(names)]), target, table.width)


def conllu_layout(path: str, label: str | int | None, names: Sequence[str] | None) -> Layout:
    """The layout of a CoNLL-U file, which need not be read for it."""
    if label is None:
        raise InputError(f"{path}: {NO_TARGET}")
    name = OTHER_NAMES.get(str(label), str(label))
    if name not in CONLLU and not re.fullmatch(r"[+-]?\d{1,3}", name):
        raise unknown_name("column", name, CONLLU)
    target = CONLLU.index(name) if name in CONLLU else int(name)
    if not -len(CONLLU) <= target < len(CONLLU) or CONLLU[target] not in TARGETS:
        raise unknown_name("target", str(label), TARGETS)
    target %= len(CONLLU)
    names = tuple(names or (("word", "pos") if CONLLU[target] == "deprel" else ("word",)))
    check_names(names)
    inputs = []
    for name in names:
        known = OTHER_NAMES.get(name, name)
        if known not in CONLLU:
            raise unknown_name("column", name, (*CONLLU, *OTHER_NAMES))
        inputs.append(CONLLU.index(known))
    if target in inputs:
        raise InputError(f"the label '{CONLLU[target]}' cannot be one of the columns that features use")
    return Layout(True, names, tuple(inputs), target, len(CONLLU))


def check_column_options(path: str, label: str | int | None, names: Sequence[str] | None) -> None:
    """Raise InputError if options are wrong for every column file."""
    if isinstance(label, str):
        raise InputError(
            f"{path}: --target {label} is for CoNLL-U: a file whose name ends in .conllu, or any file with --conllu; "
            "in a column file the label is --column NUMBER"
        )
    check_names(names or ())


def check_names(names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"the column '{name}' is named twice")


def layout_for_predicting(tagger: Any) -> Layout:
    """The layout of a tagger's training file; if it was trained from Python, its columns in their order."""
    if getattr(tagger, "layout_", None) is not None:
        return tagger.layout_  # type: ignore[no-any-return]
    if tagger.kind_ == "features":
        raise InputError("this tagger was trained on ready features: it can label sentences from Python only")
    width = len(tagger.columns_)
    return Layout(False, tuple(tagger.columns_), tuple(range(width)), width, width + 1)


def read_corpus(table: Table, layout: Layout, *, labelled: bool, what: str = "the training file") -> Corpus:
    """The corpus of a file of this layout; if it is not `labelled`, the label column may be missing."""
    if table.conllu != layout.conllu:
        kinds = ("a column file", "CoNLL-U")
        raise InputError(
            f"{table.path} is {kinds[table.conllu]}, but {what} was {kinds[layout.conllu]} (a file is read as CoNLL-U "
            "if its name ends in .conllu, or with --conllu)"
        )
    inputs = layout.inputs
    if labelled and table.width != layout.width:
        raise InputError(f"{table.path}: {counted(table.width, 'column')}, {what} has {layout.width}")
    if table.width == layout.width - 1 and not layout.conllu:
        inputs = tuple(number - (number > layout.label) for number in inputs)
    if table.width <= max(inputs):
        names = ", ".join(layout.names)
        raise InputError(f"{table.path}: {counted(table.width, 'column')}; the tagger needs {max(inputs) + 1}: {names}")
    return corpus_of_table(table, inputs, layout.names, layout.label if labelled else None)


def write_labels(table: Table, layout: Layout, labels: Labels) -> bytes:
    """The bytes of a file with these labels: in their column of CoNLL-U, or as a new last column of a column file."""
    names = [str(name) for name in labels.names]
    for name in names:
        if not name or any(character in name for character in ("\t\n\r" if table.tabs else " \t\n\r")):
            raise InputError(f"the label {name!r} cannot be written into a column: it is empty or has blanks in it")
    column = Column(names, labels.ids)
    return table.replace(layout.label, column) if table.conllu else table.append(column)


# ---------------------------------------------------------------- prose

ENOUGH = 3
SOME_LINES, MANY_LINES = 3, 10
MANY_COLUMNS = 4
OFTEN, HALF, NEARLY_ALL = 0.1, 0.5, 0.8
ENDS = (".", "!", "?", "…", '."', ".”", ".)", "。", "！", "？", "।", "؟", "۔")


def check_not_prose(table: Table, tagger: Any = None, layout: Layout | None = None) -> None:
    """Raise InputError for a table that looks like prose; the tagger that will label it, if given, adds signs."""
    if table.conllu or table.tabs or table.width < 2:
        return
    first, last = table.column(0), table.column(table.width - 1)
    if are_labels(last):
        return
    count = signs(first, last, columns=table.width, sentences=len(table.offsets) - 1)
    if tagger is not None and layout is not None:
        count += signs_for(table, tagger, layout)
    if count >= ENOUGH:
        raise InputError(
            f"{table.path}: looks like prose with {table.width} words on each line: put each word on a line of its "
            "own and an empty line after each sentence, or use --not-prose if these are columns"
        )


def are_labels(column: Column) -> bool:
    """Whether all strings are in capitals or labels of phrases."""
    letters = [string for string in column.strings if any(map(str.isalpha, string))]
    return bool(letters) and all(string.isupper() or is_phrase_label(string) for string in letters)


def signs(first: Column, last: Column, *, columns: int, sentences: int) -> int:
    """The number of signs of prose in the first and the last column."""
    lines = len(first.ids)
    begin, end = (np.array(column.strings, object)[column.ids] for column in (first, last))
    mark = np.array([not any(map(str.isalnum, string)) for string in first.strings])[first.ids]
    capital = np.array([string[:1].isupper() for string in first.strings])[first.ids]
    alone = np.array([string in ENDS for string in last.strings])[last.ids]
    attached = {string for string in last.strings if string.endswith(ENDS) and string not in ENDS}  # tags come again
    words = {string for string in first.strings if any(map(str.isalpha, string))}
    again = np.array([string in words for string in last.strings])[last.ids] & (begin != end)
    return (
        2 * bool(np.count_nonzero(alone & ~mark) + len(attached) >= HALF * lines)
        + bool(np.mean(capital) >= NEARLY_ALL)
        + bool(lines >= SOME_LINES and sentences == 1)
        + bool(lines >= MANY_LINES and len(last.strings) > HALF * len(first.strings))
        + bool(lines >= MANY_LINES and np.mean(again) > OFTEN)
        + 2 * bool(lines >= (SOME_LINES if columns >= MANY_COLUMNS else MANY_LINES) and are_all_different(first, last))
    )


def are_all_different(first: Column, last: Column) -> bool:
    """Whether nearly all strings of the last column differ, without being lemmas of the first."""
    initials = [np.array([string[:1].lower() for string in column.strings])[column.ids] for column in (first, last)]
    return len(last.strings) >= NEARLY_ALL * len(last.ids) and bool(np.mean(initials[0] == initials[1]) < HALF)


def signs_for(table: Table, tagger: Any, layout: Layout) -> int:
    """The number of signs that a file is not for this tagger: columns without a known string, a wrong width."""
    known: dict[int, set[str]] = {}
    for slot, vocabulary in zip(tagger.encoder_.slots, tagger.encoder_.vocabularies, strict=True):
        if not slot.function and slot.column in layout.names[1:]:
            number = layout.inputs[layout.names.index(slot.column)]
            shifted = table.width == layout.width - 1 and number > layout.label
            known[number - shifted] = set(vocabulary)
    if table.width >= layout.width:
        known[layout.label] = set(tagger.classes_)
    strange = [number for number, strings in known.items() if not strings & set(table.column(number).strings)]
    return len(strange) + (table.width not in (layout.width, layout.width - 1))


# ---------------------------------------------------------------- files for evaluation


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
                raise InputError(f"{b_path}:{b_line}: the word is '{b_word}', but '{a_word}' at {a_path}:{a_line}")
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


def read_sentences(path: str | Path, *, encoding: str = "utf-8") -> list[list[str]]:
    """Read the words of each sentence of a text, of CoNLL-U or of a column file.

    CoNLL-U is known by its name, .conllu. A column file has the same number of columns on all lines and an empty line
    between sentences; its words are the first column. All other files are text: words between blanks, a sentence on
    each line.
    """
    whole = read_bytes(path)
    if is_conllu(path):
        return table_of(path, whole, encoding=encoding).sentences(CONLLU.index("word"))
    with contextlib.suppress(InputError):  # text, or not in this encoding, which is found out below
        table = table_of(path, whole, encoding=encoding)
        check_not_prose(table)
        if len(table.offsets) > 2:
            return table.sentences(0)
    check_encoding(encoding)
    try:
        text = whole.decode(encoding)
    except UnicodeError:
        raise InputError(f"{path}: cannot be read as {encoding}; name its encoding with --encoding") from None
    return [line.split() for line in text.removeprefix("\ufeff").splitlines()]


def clusters_with_text(corpus: Corpus, path: str, number: int, *, encoding: str = "utf-8") -> dict[str, str]:
    """Learn clusters from the first column of a corpus and from a file of text, in the same encoding."""
    words, bounds = corpus.words(), corpus.offsets.tolist()
    training = [words[a:b] for a, b in pairwise(bounds)]
    return learn_clusters([*training, *read_sentences(path, encoding=encoding)], number)
