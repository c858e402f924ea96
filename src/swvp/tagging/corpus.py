"""Owns a corpus: sentences as the encoders take them and their labels, from Python's lists or from a file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.data.table import Table
from swvp.errors import InputError
from swvp.structures.chain.encode import Columns
from swvp.structures.operations import Ints
from swvp.tagging.sentences import as_columns, check_lists, kind_of, lengths

__all__ = ["Corpus", "Labels", "Sentences", "column_names", "corpus_of", "corpus_of_table", "numbered"]

Sentences = Sequence[Sequence[Any]]


class Labels(NamedTuple):
    """The distinct labels in the order of their first occurrence, and which of them each token has."""

    names: list[Any]
    ids: NDArray[np.int32]


class Corpus(NamedTuple):
    """Tokens of one kind: words or columns, by columns, or ready features as users gave them."""

    kind: str
    columns: Columns | None
    features: Sentences
    offsets: Ints
    labels: Labels | None
    table: Table | None = None

    @property
    def tokens(self) -> int:
        return int(self.offsets[-1])

    def place(self, token: int) -> str:
        """Where a token is, for messages: its file and line, or its sentence."""
        if self.table is not None:
            return self.table.place(token)
        sentence = int(np.searchsorted(self.offsets, token, side="right")) - 1
        return f"sentence {sentence}, token {token - int(self.offsets[sentence])}"

    def parts(self) -> Iterator[str | NDArray[Any]]:
        """All that tells it from other data; ready features are told by the numbers that training gives them."""
        yield self.offsets
        columns = [] if self.columns is None else zip(self.columns.strings, self.columns.ids, strict=True)
        for strings, ids in [*columns, *([] if self.labels is None else [self.labels])]:
            yield "\0".join(map(str, strings))
            yield ids

    def words(self) -> list[str]:
        """The first column, token by token."""
        if self.columns is None:
            return []
        return np.array(self.columns.strings[0], object)[self.columns.ids[0]].tolist()  # type: ignore[no-any-return]


def column_names(width: int) -> list[str]:
    """Names of columns nobody named: word, pos, column2, …"""
    return ["word", "pos", *(f"column{k}" for k in range(2, width))][:width]


def corpus_of(
    X: Sentences, y: Sequence[Sequence[Any]] | None, names: Sequence[str] | None, trained_on: str | None = None
) -> Corpus:
    """Sentences and labels as users of Python give them; `names` are those of the columns, if known."""
    kind = kind_of(X)
    if trained_on is not None and kind != trained_on:
        if any(len(sentence) for sentence in X):
            raise InputError(f"the tagger was trained on {trained_on}, these are {kind}")
        kind = trained_on
    labels = None
    if y is not None:
        check_pairs(X, y)
        labels = labels_of(y)
    if kind == "features":
        return Corpus(kind, None, X, lengths(X), labels)
    if names is None:
        width = 1 if kind == "words" else next(len(token) for sentence in X for token in sentence)
        names = column_names(width)
    check_columns(names)
    columns = as_columns(X, names)
    return Corpus(kind, columns, [], columns.offsets, labels)


def corpus_of_table(table: Table, inputs: Sequence[int], names: Sequence[str], label: int | None) -> Corpus:
    """The tokens of a file: `inputs` are the columns that features see, `label` the column of the labels, if any."""
    columns = [table.column(number) for number in inputs]
    ids = np.stack([column.ids for column in columns])
    kind = "words" if len(inputs) == 1 else "columns"
    labels = None if label is None else Labels(*table.column(label))
    corpus = Columns(tuple(names), [column.strings for column in columns], ids, table.offsets)
    return Corpus(kind, corpus, [], table.offsets, labels, table)


def check_columns(names: Any) -> None:
    """The names of columns: strings, none twice."""
    listed = isinstance(names, Collection) and not isinstance(names, str)
    if not (listed and len(names) and all(isinstance(name, str) for name in names)):
        raise InputError(f"columns must be a list of names, not {names!r}")
    if len(set(names)) < len(names):
        raise InputError(f"columns has a name twice: {', '.join(names)}")


def labels_of(y: Sequence[Sequence[Any]]) -> Labels:
    """The labels of all tokens, in one row."""
    try:
        found = numbered([label for sentence in y for label in sentence])
    except TypeError:
        raise InputError("a label must be hashable, such as a string") from None
    if None in found.names:
        raise InputError("a label is None: every token needs one")
    return found


def numbered(values: Sequence[Any]) -> Labels:
    number: dict[Any, int] = {}
    ids = np.array([number.setdefault(value, len(number)) for value in values], np.int32)
    return Labels(list(number), ids)


def check_pairs(X: Sentences, y: Sequence[Sequence[Any]]) -> None:
    """X and y must have the same lengths, sentence by sentence."""
    check_lists("X", X, "sentences")
    check_lists("y", y, "the labels of each sentence")
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} sentences and y has {len(y)}: give as many")
    for i, (sentence, labels) in enumerate(zip(X, y, strict=True)):
        check_lists(f"sentence {i} of X", sentence, "tokens")
        check_lists(f"sentence {i} of y", labels, "labels")
        if len(sentence) != len(labels):
            raise InputError(f"sentence {i} has {len(sentence)} tokens and {len(labels)} labels")
