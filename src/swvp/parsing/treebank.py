"""Owns treebanks: words of sentences and the trees over them, from CoNLL-U, CoNLL-X or Python, and trees written back.

CoNLL-X (2006, 2007) has the same columns as CoNLL-U up to DEPREL, and neither comments nor ranges nor empty nodes: both
are read alike, whatever the file's name. A file may end with DEPREL (8 columns) and, if no heads are needed, with FEATS
(6 columns).

Owns parts of a treebank: some of its sentences as a treebank of their own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.table import CONLLU, Column, Table, read_table
from swvp.parsing.checks import Heads, Ints, check_ids, check_ranges, check_trees, heads_of
from swvp.parsing.tokens import EMPTY, as_columns, as_heads, as_labels, offsets_of
from swvp.structures.tree.projective import non_projective_arcs

__all__ = ["Treebank", "read_treebank", "some", "treebank_of", "treebank_of_table", "write_trees"]

HEAD, DEPREL = CONLLU.index("head"), CONLLU.index("deprel")
WITH_HEADS, WITHOUT_HEADS = (10, 8), (10, 8, 6)


@dataclass(frozen=True, eq=False)
class Treebank:
    """Sentences, the words of all in one row; `offsets` says where each begins, and where the last ends.

    `heads` are the numbers of words in their sentences, from 1, or 0 for the root; None if they were not asked for.
    `labels` are those of the arcs from the heads, if there are any.
    """

    words: Column
    lemmas: Column
    upos: Column
    xpos: Column
    feats: Column
    offsets: Ints
    heads: Heads | None = None
    labels: Column | None = None
    table: Table | None = None

    @classmethod
    def from_text(cls, text: str, *, heads: bool = True) -> Treebank:
        """A treebank from the text of CoNLL-U or CoNLL-X.

        >>> lines = ["1 Ann _ PROPN _ _ 2 nsubj _ _", "2 left _ VERB _ _ 0 root _ _"]
        >>> Treebank.from_text("\\n".join(lines).replace(" ", "\\t")).heads
        array([2, 0], dtype=int32)
        """
        widths = WITH_HEADS if heads else WITHOUT_HEADS
        try:
            content = text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"text: half a character ({text[error.start]!a})") from None
        return treebank_of_table(Table("text", content, "utf-8", conllu=True, widths=widths), heads=heads)

    def __repr__(self) -> str:
        heads = "" if self.heads is not None else ", without heads"
        return f"<Treebank: {self.number_of_sentences:,} sentences, {self.tokens:,} words{heads}>"

    @property
    def tokens(self) -> int:
        return int(self.offsets[-1])

    @property
    def number_of_sentences(self) -> int:
        return len(self.offsets) - 1

    @property
    def name(self) -> str:
        """The file it came from, for messages."""
        return "the treebank" if self.table is None else self.table.path

    @property
    def trees(self) -> Heads:
        """The heads, which must be there."""
        if self.heads is None:
            raise InputError(f"{self.name}: a treebank without heads; give one with heads")
        return self.heads

    def columns(self) -> dict[str, Column]:
        """The columns by the names that templates have for them."""
        names = ("word", "lemma", "pos", "tag", "feats")
        return dict(zip(names, (self.words, self.lemmas, self.upos, self.xpos, self.feats), strict=True))

    @property
    def labelled(self) -> bool:
        """Whether it has labels, other than _ everywhere."""
        return self.labels is not None and any(label != EMPTY for label in self.labels.strings)

    def parts(self) -> Iterator[str | NDArray[Any]]:
        """All that tells it from other data."""
        yield self.offsets
        for strings, ids in [*self.columns().values(), *([] if self.labels is None else [self.labels])]:
            yield "\0".join(strings)
            yield ids
        if self.heads is not None:
            yield self.heads

    @property
    def several_roots(self) -> int:
        """How many sentences have more than one word with head 0."""
        return int(np.count_nonzero(np.add.reduceat(self.trees == 0, self.offsets[:-1], dtype=np.int64) > 1))

    def sentence(self, number: int) -> slice:
        """The tokens of a sentence, from 0."""
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def place(self, token: int) -> str:
        """Where a token is, for messages: file and line, or its sentence (from 0) and its number in it (from 1)."""
        if self.table is not None:
            return self.table.place(token)
        sentence = int(np.searchsorted(self.offsets, token, side="right")) - 1
        return f"sentence {sentence}, token {token - int(self.offsets[sentence]) + 1}"

    def not_projective(self) -> NDArray[np.bool_]:
        """For each token whether its arc is not projective."""
        return non_projective_arcs(self.trees, self.offsets)  # type: ignore[no-any-return]

    def non_projective(self) -> int:
        """How many trees are not projective."""
        return int(np.count_nonzero(np.logical_or.reduceat(self.not_projective(), self.offsets[:-1])))

    def with_trees(self, heads: Heads, labels: Column | None) -> Treebank:
        """The same words with other trees, not checked."""
        return replace(self, heads=heads, labels=labels)


def read_treebank(path: str | Path, *, encoding: str = "utf-8", heads: bool) -> Treebank:
    """Read a file (plain, .gz, or - for standard input) in CoNLL-U or CoNLL-X; with `heads`, trees must be there."""
    widths = WITH_HEADS if heads else WITHOUT_HEADS
    return treebank_of_table(read_table(path, encoding=encoding, conllu=True, widths=widths), heads=heads)


def treebank_of_table(table: Table, *, heads: bool) -> Treebank:
    """The words of a table, and its trees if `heads`; everything is checked that trees need."""
    check_ids(table)
    check_ranges(table)
    word, lemma, upos, xpos, feats = (table.column(number) for number in range(1, HEAD))
    columns = word, lemma, upos, xpos, feats
    if not heads:
        return Treebank(*columns, table.offsets, table=table)
    trees = heads_of(table.column(HEAD), table.path, table.place)
    check_trees(trees, table.offsets, table.place)
    labels = table.column(DEPREL)
    for number, label in enumerate(labels.strings):
        if not is_label(label):
            place = table.place(int(np.argmax(labels.ids == number)))
            raise InputError(f"{place}: the label (DEPREL) {label!r} is empty or has an end of line in it")
    return Treebank(*columns, table.offsets, trees, labels, table)


def treebank_of(sentences: Sequence[Sequence[Any]], heads: Any = None, labels: Any = None) -> Treebank:
    """A treebank from Python: lists of tokens, and, if known, a list of heads and one of labels for each sentence.

    A token is a word, (word, upos), (word, lemma, upos, xpos, feats), or a dict of these; word may be called form.

    >>> treebank = treebank_of([["Ann", "left"]], heads=[[2, 0]], labels=[["nsubj", "root"]])
    >>> treebank.words.strings, treebank.heads.tolist()
    (['Ann', 'left'], [2, 0])
    """
    columns = as_columns(sentences)
    offsets = offsets_of(sentences)
    if not len(sentences):
        raise InputError("no sentence in it")
    if heads is None and labels is not None:
        raise InputError("labels without heads: a label is that of the arc from a head")
    treebank = Treebank(*columns, offsets)
    if heads is None:
        return treebank
    trees = as_heads(heads, offsets)
    check_trees(trees, offsets, treebank.place)
    return treebank.with_trees(trees, None if labels is None else as_labels(labels, offsets))


def write_trees(table: Table, heads: Heads, labels: Column | None) -> bytes:
    """The file with these heads, and labels if given; every other byte stays as it is.

    In a file that ends before the two columns they are added.
    """
    if len(heads) != table.tokens or (labels is not None and len(labels.ids) != table.tokens):
        raise InputError(f"{table.path} has {table.tokens} words: heads and labels must be as many")
    if labels is None and table.width <= DEPREL:
        labels = Column([EMPTY], np.zeros(table.tokens, np.int32))
    most = int(np.max(heads, initial=0))
    columns = {HEAD: Column([str(number) for number in range(most + 1)], np.asarray(heads, np.int32))}
    if labels is not None:
        for label in labels.strings:
            if not is_label(label):
                raise InputError(
                    f"the label {label!r} cannot be written: it is empty or has tabs or ends of lines in it"
                )
        columns[DEPREL] = labels
    return table.replace_columns(columns)


def is_label(label: str) -> bool:
    """Whether a label fits into a column."""
    return label != "" and not any(character in label for character in "\t\n\r")


COLUMNS = ("words", "lemmas", "upos", "xpos", "feats", "labels")


def some(treebank: Treebank, sentences: Ints) -> Treebank:
    """These sentences of a treebank, in this order, as if there had never been others.

    >>> from swvp.parsing.treebank import treebank_of
    >>> whole = treebank_of([["a"], ["b", "c"]], heads=[[0], [2, 0]])
    >>> some(whole, np.array([1])).words.strings
    ['b', 'c']
    """
    lengths = np.diff(treebank.offsets)[sentences]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(treebank.offsets.dtype)
    tokens = np.repeat(treebank.offsets[sentences] - offsets[:-1], lengths) + np.arange(offsets[-1])

    def part(column: Column | None) -> Column | None:
        if column is None:
            return None
        kept, ids = np.unique(column.ids[tokens], return_inverse=True)
        return Column([column.strings[number] for number in kept], ids.reshape(-1).astype(np.int32))

    columns = {name: part(getattr(treebank, name)) for name in COLUMNS}
    heads = None if treebank.heads is None else treebank.heads[tokens]
    return dataclasses.replace(treebank, **columns, offsets=offsets, heads=heads, table=None)  # type: ignore[arg-type]
