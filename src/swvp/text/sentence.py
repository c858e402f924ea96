"""Sentences of a document: tokens with their places in the text, words, trees, and other forms of them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from swvp.errors import InputError
from swvp.io.table import Column
from swvp.io.tree_checks import EMPTY

if TYPE_CHECKING:
    from swvp.parsing.tree import DependencyTree
    from swvp.text.document import Document
from swvp.types import Ints

__all__ = ["PARAGRAPH", "Segmentation", "Sentence", "Token", "Word", "form_of", "strings_of"]

PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
"""What separates two paragraphs: an empty line."""

NOT_IN_FORMS = re.compile(r"[\t\n\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]+")
"""What ends a field or a line of a file."""

CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")
"""Control characters that are no blanks: they steer terminals, and many programs refuse them."""

INSTEAD = "\ufffd"


class Word(NamedTuple):
    """A word of a sentence.

    Parameters
    ----------
    id : int
        Its number in the sentence, from 1.
    form, lemma, upos, xpos, feats : str
        `_` where the pipeline has no such stage.
    head : int or None
        The number of its head, 0 for the root.
    deprel : str or None
        The label of the arc from its head.
    confidence : float or None
        The probability of the arc from its head, if it was asked for.
    """

    id: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int | None
    deprel: str | None
    confidence: float | None = None


class Token(NamedTuple):
    """A token of a sentence.

    Parameters
    ----------
    text : str
        The piece of the text.
    start, end : int
        Where it begins and ends in the text, in characters.
    first_word, last_word : int
        The numbers of its words in the sentence; they differ in a multiword token.
    feats : str
        The FEATS of a multiword token that has any, such as Typo=Yes; else `_`.
    """

    text: str
    start: int
    end: int
    first_word: int
    last_word: int
    feats: str = EMPTY


class Sentence:
    """A sentence of a document.

    Parameters
    ----------
    document : Document
    index : int
        Its number in the document, from 0.
    """

    def __init__(self, document: Document, index: int):
        self.document, self.index = document, index

    def __repr__(self) -> str:
        return f"<Sentence {self.id}: {self.text!r}>"

    @property
    def id(self) -> int:
        """Its number, from 1, in the whole text."""
        return self.document.number + self.index

    @property
    def token_numbers(self) -> range:
        """The numbers of its tokens in the document, from 0."""
        offsets = self.document.segmentation.sentence_offsets
        return range(int(offsets[self.index]), int(offsets[self.index + 1]))

    @property
    def start(self) -> int:
        """Where its first token begins in the text."""
        return self.document.begin + int(self.document.segmentation.token_starts[self.token_numbers[0]])

    @property
    def end(self) -> int:
        """Where its last token ends in the text."""
        return self.document.begin + int(self.document.segmentation.token_ends[self.token_numbers[-1]])

    @property
    def text(self) -> str:
        """Its tokens, with one blank for all spaces between two of them."""
        last = self.token_numbers[-1]
        return "".join(
            form + (" " if number < last and self.document.spaces(number) else "")
            for number, form in zip(self.token_numbers, self._forms(), strict=True)
        )

    def _forms(self) -> list[str]:
        """The forms of its tokens."""
        document, numbers = self.document, self.token_numbers
        starts = document.segmentation.token_starts[numbers.start : numbers.stop].tolist()
        ends = document.segmentation.token_ends[numbers.start : numbers.stop].tolist()
        return [form_of(document.text[a:b]) for a, b in zip(starts, ends, strict=True)]

    @property
    def starts_paragraph(self) -> bool:
        """Whether it is the first sentence of a paragraph."""
        first = self.token_numbers[0]
        if first == 0:
            return not self.document.continued
        return PARAGRAPH.search(self.document.spaces(first - 1)) is not None

    @property
    def tokens(self) -> list[Token]:
        """Its tokens."""
        document, numbers = self.document, self.token_numbers
        text, begin = document.text, document.begin
        words = document.first_words[numbers.start : numbers.stop + 1]
        bounds = (words - words[0]).tolist()
        starts, ends = document.segmentation[:2]
        return [
            Token(text[a:b], begin + a, begin + b, first + 1, after, document.token_feats.get(number, EMPTY))
            for number, a, b, first, after in zip(
                numbers,
                starts[numbers.start : numbers.stop].tolist(),
                ends[numbers.start : numbers.stop].tolist(),
                bounds[:-1],
                bounds[1:],
                strict=True,
            )
        ]

    @property
    def words(self) -> list[Word]:
        """Its words."""
        part = self.document.treebank.sentence(self.index)
        return [Word(k, *values) for k, values in enumerate(self.document.fields[part], 1)]

    @property
    def tree(self) -> DependencyTree:
        """Its tree; raises InputError if trees were not predicted."""
        from swvp.parsing.tree import trees_of

        treebank = self.document.treebank
        if treebank.heads is None:
            raise InputError("no trees: the pipeline has no stage for them")
        heads, labels = treebank.heads, treebank.labels
        part = treebank.sentence(self.index)
        one = replace(treebank.select(np.array([self.index])), heads=None, labels=None)
        own_labels = None if labels is None else Column(labels.strings, labels.ids[part])
        confidence = None if self.document.confidence is None else self.document.confidence[part]
        tree: DependencyTree = trees_of(one, heads[part], own_labels, confidence)[0]
        return tree

    def to_dict(self) -> dict[str, Any]:
        """Return the sentence as dicts and lists.

        Returns
        -------
        dict
        """
        return {
            "id": self.id,
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "tokens": [without(token._asdict(), "feats", EMPTY) for token in self.tokens],
            "words": [without(word._asdict(), "confidence", None) for word in self.words],
        }

    def to_displacy(self) -> dict[str, Any]:
        """Return the tree for spaCy's displaCy.

        Returns
        -------
        dict
        """
        words = self.words
        arcs = [
            {
                "start": min(word.id, word.head) - 1,
                "end": max(word.id, word.head) - 1,
                "label": word.deprel or "",
                "dir": "left" if word.id < word.head else "right",
            }
            for word in words
            if word.head
        ]
        return {"words": [{"text": word.form, "tag": word.upos} for word in words], "arcs": arcs}

    def _repr_svg_(self) -> str | None:
        return None if self.document.treebank.heads is None else self.tree._repr_svg_()

    def _repr_html_(self) -> str:
        from markupsafe import escape

        return f"<p>{escape(self.text)}</p>" if self.document.treebank.heads is None else self.tree._repr_html_()


def strings_of(column: Column) -> list[str]:
    """Return the string of each word."""
    return [column.strings[k] for k in column.ids.tolist()]


def form_of(piece: str) -> str:
    r"""Return a token of the text as a form: a blank for ends of fields and lines, U+FFFD for control characters.

    >>> form_of("a\tb\x00") == "a b\ufffd"
    True
    """
    return piece if piece.isprintable() else CONTROL.sub(INSTEAD, NOT_IN_FORMS.sub(" ", piece))


def without(fields: dict[str, Any], name: str, nothing: str | None) -> dict[str, Any]:
    """Return fields without one of them if its value says nothing."""
    return {key: value for key, value in fields.items() if key != name or value != nothing}


class Segmentation(NamedTuple):
    """Where the tokens of a text begin and end, and which of them are a sentence.

    Parameters
    ----------
    token_starts, token_ends : ndarray of int64, shape (tokens,)
        In characters of the text.
    sentence_offsets : ndarray of int64, shape (sentences + 1,)
        The number of the first token of each sentence, and the number of tokens.
    """

    token_starts: Ints
    token_ends: Ints
    sentence_offsets: Ints
