"""Treebanks: the words of sentences and the trees over them, read from CoNLL-U, CoNLL-X or Python, and written back.

CoNLL-X (2006, 2007) has the same columns as CoNLL-U up to DEPREL, but no comments, ranges or empty nodes: both are read
in the same way, whatever the name of the file. A file may end with DEPREL (8 columns) or, if heads are not needed, with
FEATS (6 columns).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.table import CONLLU, Column, Table, read_table
from swvp.io.tree_checks import (
    EMPTY,
    as_columns,
    as_heads,
    as_labels,
    check_ids,
    check_ranges,
    check_trees,
    heads_of,
    non_projective_arcs,
    offsets_of,
)
from swvp.types import Heads, Ints

__all__ = ["Treebank", "read_treebank", "treebank_of", "treebank_of_table", "write_trees"]

HEAD, DEPREL = CONLLU.index("head"), CONLLU.index("deprel")
WITH_HEADS, WITHOUT_HEADS = (10, 8), (10, 8, 6)


RENAMED = {"not_projective": "nonprojective_arcs", "non_projective": "nonprojective_trees"}
"""Methods of version 0.1.0 that have other names now."""


@dataclass(frozen=True, eq=False)
class Treebank:
    """Sentences, and their trees if known.

    Parameters
    ----------
    words, lemmas, upos, xpos, feats : Column
        The columns of all words, one sentence after the other.
    offsets : ndarray of int64, shape (sentences + 1,)
        Where each sentence begins in the columns, and where the last one ends.
    heads : ndarray of int32, optional
        The head of each word: the number of a word of its sentence, from 1, or 0 for the root.
    labels : Column, optional
        The labels (DEPREL) of the arcs from the heads.
    table : Table, optional
        The file that the treebank was read from.

    See Also
    --------
    read_treebank : read a file.
    treebank_of : make a treebank from Python lists.

    Examples
    --------
    >>> treebank = treebank_of([["Ann", "left"], ["Go"]], heads=[[2, 0], [0]])
    >>> treebank
    <Treebank: 2 sentences, 3 words>
    >>> treebank.heads[treebank.sentence(0)]
    array([2, 0], dtype=int32)
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
        """Read the text of a CoNLL-U or CoNLL-X file.

        Parameters
        ----------
        text : str
        heads : bool
            Read the trees too; they are checked.

        Returns
        -------
        Treebank

        Examples
        --------
        >>> lines = ["1 Ann _ PROPN _ _ 2 nsubj _ _", "2 left _ VERB _ _ 0 root _ _"]
        >>> Treebank.from_text("\\n".join(lines).replace(" ", "\\t")).heads
        array([2, 0], dtype=int32)
        """
        widths = WITH_HEADS if heads else WITHOUT_HEADS
        try:
            content = text.encode()
        except UnicodeEncodeError as error:
            raise InputError(f"text: an unpaired surrogate ({text[error.start]!a})") from None
        return treebank_of_table(Table("text", content, "utf-8", conllu=True, widths=widths), heads=heads)

    def __repr__(self) -> str:
        heads = "" if self.heads is not None else ", without heads"
        return f"<Treebank: {self.number_of_sentences:,} sentences, {self.tokens:,} words{heads}>"

    @property
    def tokens(self) -> int:
        """The number of words."""
        return int(self.offsets[-1])

    @property
    def number_of_sentences(self) -> int:
        """The number of sentences."""
        return len(self.offsets) - 1

    @property
    def name(self) -> str:
        """The path of the file that it was read from, for messages."""
        return "the treebank" if self.table is None else self.table.path

    @property
    def trees(self) -> Heads:
        """The heads; raises InputError if there are none."""
        if self.heads is None:
            raise InputError(f"{self.name}: a treebank without heads; give one with heads")
        return self.heads

    def columns(self) -> dict[str, Column]:
        """Return the columns by the names that templates use.

        Returns
        -------
        dict
            word, lemma, pos, tag and feats.
        """
        names = ("word", "lemma", "pos", "tag", "feats")
        return dict(zip(names, (self.words, self.lemmas, self.upos, self.xpos, self.feats), strict=True))

    @property
    def labelled(self) -> bool:
        """Whether it has labels other than `_`."""
        return self.labels is not None and any(label != EMPTY for label in self.labels.strings)

    def parts(self) -> Iterator[str | NDArray[Any]]:
        """Yield everything that distinguishes it from other data, for checkpoints."""
        yield self.offsets
        for strings, ids in [*self.columns().values(), *([] if self.labels is None else [self.labels])]:
            yield "\0".join(strings)
            yield ids
        if self.heads is not None:
            yield self.heads

    @property
    def several_roots(self) -> int:
        """The number of sentences with more than one root (head 0)."""
        return int(np.count_nonzero(np.add.reduceat(self.trees == 0, self.offsets[:-1], dtype=np.int64) > 1))

    def sentence(self, number: int) -> slice:
        """Return where the words of a sentence are in the columns.

        Parameters
        ----------
        number : int
            The number of the sentence, from 0.

        Returns
        -------
        slice
        """
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def place(self, token: int) -> str:
        """Return where a token is, for messages.

        Parameters
        ----------
        token : int
            The number of the token in the columns, from 0.

        Returns
        -------
        str
            File and line; without a file the sentence, from 0, and the position in it, from 1.
        """
        if self.table is not None:
            return self.table.place(token)
        sentence = int(np.searchsorted(self.offsets, token, side="right")) - 1
        return f"sentence {sentence}, token {token - int(self.offsets[sentence]) + 1}"

    def nonprojective_arcs(self) -> NDArray[np.bool_]:
        """Return which arcs are non-projective.

        Returns
        -------
        ndarray of bool
            For each word, whether the arc from its head is non-projective.
        """
        return non_projective_arcs(self.trees, self.offsets)

    def nonprojective_trees(self) -> int:
        """Return the number of trees with a non-projective arc.

        Returns
        -------
        int
        """
        return int(np.count_nonzero(np.logical_or.reduceat(self.nonprojective_arcs(), self.offsets[:-1])))

    def __getattr__(self, name: str) -> Any:
        hint = f"; it is called {RENAMED[name]} now" if name in RENAMED else ""
        raise AttributeError(f"'Treebank' object has no attribute '{name}'{hint}")

    def with_trees(self, heads: Heads, labels: Column | None) -> Treebank:
        """Return the same words with other trees, which are not checked.

        Parameters
        ----------
        heads : ndarray of int32
        labels : Column or None

        Returns
        -------
        Treebank
        """
        return replace(self, heads=heads, labels=labels)

    def select(self, sentences: Ints) -> Treebank:
        """Return some of the sentences as a treebank of their own.

        Parameters
        ----------
        sentences : ndarray of int
            The numbers of the sentences, from 0, in the order wanted.

        Returns
        -------
        Treebank

        Examples
        --------
        >>> treebank = treebank_of([["a"], ["b", "c"]], heads=[[0], [2, 0]])
        >>> treebank.select(np.array([1])).words.strings
        ['b', 'c']
        """
        lengths = np.diff(self.offsets)[sentences]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(self.offsets.dtype)
        tokens = np.repeat(self.offsets[sentences] - offsets[:-1], lengths) + np.arange(offsets[-1])

        def selected(column: Column) -> Column:
            numbers, ids = np.unique(column.ids[tokens], return_inverse=True)
            return Column([column.strings[number] for number in numbers], ids.reshape(-1).astype(np.int32))

        return Treebank(
            words=selected(self.words),
            lemmas=selected(self.lemmas),
            upos=selected(self.upos),
            xpos=selected(self.xpos),
            feats=selected(self.feats),
            offsets=offsets,
            heads=None if self.heads is None else self.heads[tokens],
            labels=None if self.labels is None else selected(self.labels),
        )


def read_treebank(path: str | Path, *, encoding: str = "utf-8", heads: bool) -> Treebank:
    """Read a treebank from a file in CoNLL-U or CoNLL-X.

    Parameters
    ----------
    path : str or Path
        A file, plain or .gz, or - for standard input.
    encoding : str
    heads : bool
        Read the trees too; they are checked.

    Returns
    -------
    Treebank
    """
    widths = WITH_HEADS if heads else WITHOUT_HEADS
    return treebank_of_table(read_table(path, encoding=encoding, conllu=True, widths=widths), heads=heads)


def treebank_of_table(table: Table, *, heads: bool) -> Treebank:
    """Return the treebank of a table, with its trees if `heads`; raise InputError if they are not trees."""
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
    """Make a treebank from Python lists.

    Parameters
    ----------
    sentences : list of lists of tokens
        A token is a word, (word, upos), (word, lemma, upos, xpos, feats), or a dict of these, in which the word may be
        called form.
    heads : list of lists of int, optional
        The heads of the words of each sentence, 0 for the root.
    labels : list of lists of str, optional
        The labels of the arcs from these heads.

    Returns
    -------
    Treebank

    Examples
    --------
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
    r"""Write trees into the file that a table was read from.

    Parameters
    ----------
    table : Table
        The file; every byte that is not a head or a label stays as it is. If it ends before the two columns, they are
        added.
    heads : ndarray of int32
        The head of each word.
    labels : Column or None
        The labels of the arcs; if None, those of the file stay.

    Returns
    -------
    bytes
        The content of the new file.

    Examples
    --------
    >>> text = "1\tAnn\t_\tPROPN\t_\t_\n2\tleft\t_\tVERB\t_\t_\n"
    >>> treebank = Treebank.from_text(text, heads=False)
    >>> labels = Column(["nsubj", "root"], np.array([0, 1]))
    >>> print(write_trees(treebank.table, np.array([2, 0]), labels).decode().expandtabs(6))
    1     Ann   _     PROPN _     _     2     nsubj
    2     left  _     VERB  _     _     0     root
    <BLANKLINE>
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
    """Return whether a label fits into a column of a file."""
    return label != "" and not any(character in label for character in "\t\n\r")
