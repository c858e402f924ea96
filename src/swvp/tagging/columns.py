"""The columns of files: which ones the features of a tagger use, and which one holds the labels.

In a column file the label is one of the columns, by default the last. Features use the others: word, pos, column2, …,
or the names given. In CoNLL-U columns have fixed names; features use the word, or the columns that the user names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from swvp.errors import InputError, unknown_name
from swvp.io.table import CONLLU, Column, Table
from swvp.tagging.corpus import Corpus, Labels, column_names, corpus_of_table

__all__ = [
    "NO_TARGET",
    "TARGETS",
    "Layout",
    "check_column_options",
    "conllu_layout",
    "layout_for_predicting",
    "layout_of",
    "read_corpus",
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
        raise InputError(f"{table.path}: {len(names)} columns are named, besides the label it has {len(others)}")
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
            f"{path}: --target {label} is for CoNLL-U, known by its name (.conllu) or --conllu; "
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
            f"{table.path} is {kinds[table.conllu]}, {what} was {kinds[layout.conllu]} (CoNLL-U is known by its name, "
            ".conllu, or --conllu)"
        )
    inputs = layout.inputs
    if labelled and table.width != layout.width:
        raise InputError(f"{table.path}: {table.width} columns, {what} has {layout.width}")
    if table.width == layout.width - 1 and not layout.conllu:
        inputs = tuple(number - (number > layout.label) for number in inputs)
    if table.width <= max(inputs):
        names = ", ".join(layout.names)
        raise InputError(f"{table.path}: {table.width} columns; the tagger needs {max(inputs) + 1}: {names}")
    return corpus_of_table(table, inputs, layout.names, layout.label if labelled else None)


def write_labels(table: Table, layout: Layout, labels: Labels) -> bytes:
    """The bytes of a file with these labels: in their column of CoNLL-U, or as a new last column of a column file."""
    names = [str(name) for name in labels.names]
    for name in names:
        if not name or any(character in name for character in ("\t\n\r" if table.tabs else " \t\n\r")):
            raise InputError(f"the label {name!r} cannot be written into a column: it is empty or has blanks in it")
    column = Column(names, labels.ids)
    return table.replace(layout.label, column) if table.conllu else table.append(column)
