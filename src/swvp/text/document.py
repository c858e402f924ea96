"""A text with its analysis: tokens with their places in the text, sentences, words, trees, and other forms of them.

A token is a piece of the text. Most tokens are one word; a multiword token, such as the French "du", has several, which
need not be pieces of it. Tags, lemmas and trees are those of words.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from swvp.errors import InputError
from swvp.io.table import Column
from swvp.io.tree_checks import EMPTY, column_of
from swvp.io.treebank import Treebank
from swvp.text.segmentation import Segmentation
from swvp.types import Ints

if TYPE_CHECKING:
    from swvp.parsing.tree import DependencyTree

__all__ = ["Document", "Sentence", "Token", "Word", "form_of", "words_of"]

PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
"""What separates two paragraphs: an empty line."""

NOT_IN_FORMS = re.compile(r"[\t\n\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]+")
"""What ends a field or a line of a file."""

DRAWN = 50
"""The largest number of trees that a notebook shows of one document."""


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
    """

    id: int
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: int | None
    deprel: str | None


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
    """

    text: str
    start: int
    end: int
    first_word: int
    last_word: int


@dataclass(frozen=True, eq=False)
class Document:
    """A text with its tokens, sentences, words and trees; `swvp.Pipeline` makes it.

    Parameters
    ----------
    text : str
    segmentation : Segmentation
        Where tokens begin and end in the text, and which tokens are a sentence.
    first_words : ndarray of int64, shape (tokens + 1,)
        The number of the first word of each token, and the number of words.
    treebank : Treebank
        The columns of the words, and their trees if they were predicted.
    begin : int
        The number of characters before the text, if it is a part of a longer one.
    number : int
        The number of its first sentence.
    continued : bool
        Whether it begins in the middle of a paragraph, as a part of a longer text may.

    Examples
    --------
    >>> document = Document.from_tokens([["Ann", "left", "."]])
    >>> document
    <Document: 1 sentence, 3 tokens>
    >>> document.text
    'Ann left .'
    >>> [(token.text, token.start, token.end) for token in document.sentences[0].tokens]
    [('Ann', 0, 3), ('left', 4, 8), ('.', 9, 10)]
    """

    text: str
    segmentation: Segmentation
    first_words: Ints
    treebank: Treebank
    begin: int = field(default=0, kw_only=True)
    number: int = field(default=1, kw_only=True)
    continued: bool = field(default=False, kw_only=True)

    @classmethod
    def from_tokens(cls, sentences: Sequence[Sequence[str]]) -> Document:
        """Return a document of tokens, each of them one word; its text is the tokens with blanks between them.

        Parameters
        ----------
        sentences : list of lists of str

        Returns
        -------
        Document
        """
        tokens = list(itertools.chain.from_iterable(sentences))
        check_tokens(sentences, tokens)
        lengths = np.array([len(token) for token in tokens], np.int64)
        starts = np.concatenate([[0], np.cumsum(lengths + 1)]).astype(np.int64)[: len(tokens)]
        sizes = [len(sentence) for sentence in sentences]
        offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        segmentation = Segmentation(starts, starts + lengths, offsets)
        return words_of(" ".join(tokens), segmentation)

    def __repr__(self) -> str:
        sentences, tokens = len(self.segmentation.sentence_offsets) - 1, len(self.segmentation.token_starts)
        return (
            f"<Document: {sentences:,} sentence{'' if sentences == 1 else 's'}, "
            f"{tokens:,} token{'' if tokens == 1 else 's'}>"
        )

    def __len__(self) -> int:
        return len(self.segmentation.token_starts)

    @cached_property
    def sentences(self) -> list[Sentence]:
        """The sentences of the text."""
        return [Sentence(self, number) for number in range(len(self.segmentation.sentence_offsets) - 1)]

    @property
    def tokens(self) -> list[Token]:
        """The tokens of all sentences."""
        return [token for sentence in self.sentences for token in sentence.tokens]

    @property
    def words(self) -> list[Word]:
        """The words of all sentences."""
        return [word for sentence in self.sentences for word in sentence.words]

    @cached_property
    def fields(self) -> list[tuple[Any, ...]]:
        """The fields of `Word` of all words, without their numbers."""
        treebank = self.treebank
        columns = [treebank.words, treebank.lemmas, treebank.upos, treebank.xpos, treebank.feats]
        heads = [None] * treebank.tokens if treebank.heads is None else treebank.heads.tolist()
        labels = [None] * treebank.tokens if treebank.labels is None else strings_of(treebank.labels)
        return list(zip(*map(strings_of, columns), heads, labels, strict=True))

    def spaces(self, token: int) -> str:
        """Return the text between a token and the next one, or the end.

        Parameters
        ----------
        token : int
            Its number in the document, from 0.

        Returns
        -------
        str
        """
        starts, ends = self.segmentation.token_starts, self.segmentation.token_ends
        return self.text[ends[token] : starts[token + 1] if token + 1 < len(starts) else len(self.text)]

    # ------------------------------------------------------------ other forms

    def to_conllu(self) -> str:
        """Return the document in CoNLL-U.

        MISC says which spaces follow a token, if it is not one blank: SpaceAfter=No, or SpacesAfter in UDPipe's
        notation. So the file holds every character of the text.

        Returns
        -------
        str
        """
        from swvp.text.conllu import to_conllu

        return to_conllu(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the document as dicts and lists.

        Returns
        -------
        dict
            text, and sentences; each with its id, text, start, end, tokens and words.
        """
        return {"text": self.text, "sentences": [sentence.to_dict() for sentence in self.sentences]}

    def to_json(self) -> str:
        """Return `to_dict` as JSON.

        Returns
        -------
        str
        """
        return json.dumps(self.to_dict(), ensure_ascii=False)

    def to_records(self, doc_id: str = "doc1") -> list[dict[str, Any]]:
        """Return a row for each word and each multiword token, with the columns of R's udpipe.

        Parameters
        ----------
        doc_id : str
            The name of the document, in the first column.

        Returns
        -------
        list of dict
            None is for what is missing.
        """
        from swvp.text.conllu import rows_of

        paragraph, records = 0, []
        for sentence in self.sentences:
            paragraph += sentence.starts_paragraph or not paragraph
            begin = {
                "doc_id": doc_id,
                "paragraph_id": paragraph,
                "sentence_id": sentence.id,
                "sentence": sentence.text,
            }
            for row in rows_of(sentence):
                values = [None if value == EMPTY else value for value in row[2:]]
                records.append(begin | dict(zip(RECORD, [*row[:2], *values], strict=True)))
        return records

    def to_dataframe(self, doc_id: str = "doc1") -> Any:
        """Return `to_records` as a pandas data frame; pandas must be installed.

        Parameters
        ----------
        doc_id : str

        Returns
        -------
        pandas.DataFrame
        """
        try:
            import pandas
        except ImportError:
            raise InputError("to_dataframe needs pandas: pip install pandas; to_records works without it") from None
        columns = ["doc_id", "paragraph_id", "sentence_id", "sentence", *RECORD]
        return pandas.DataFrame.from_records(self.to_records(doc_id), columns=columns)

    def to_displacy(self) -> list[dict[str, Any]]:
        """Return the trees for spaCy's `displacy.render(…, style="dep", manual=True)`.

        Returns
        -------
        list of dict
            One for each sentence.
        """
        return [sentence.to_displacy() for sentence in self.sentences]

    def to_spacy(self, vocab: Any = None) -> Any:
        """Return the words as a `Doc` of spaCy, which must be installed.

        spaCy has no multiword tokens: the words of one that are not pieces of it are separated by blanks.

        Parameters
        ----------
        vocab : spacy.vocab.Vocab, optional
            A new one by default.

        Returns
        -------
        spacy.tokens.Doc
        """
        from swvp.text.spacy_doc import to_spacy

        return to_spacy(self, vocab)

    def _repr_html_(self) -> str:
        return "".join(sentence._repr_html_() for sentence in self.sentences[:DRAWN])


RECORD = ("token_id", "token", "lemma", "upos", "xpos", "feats", "head_token_id", "dep_rel", "deps", "misc")
"""The columns of a row in CoNLL-U by the names of R's udpipe."""


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
            Token(text[a:b], begin + a, begin + b, first + 1, after)
            for a, b, first, after in zip(
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
        tree: DependencyTree = trees_of(one, heads[part], own_labels)[0]
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
            "tokens": [token._asdict() for token in self.tokens],
            "words": [word._asdict() for word in self.words],
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
    """Return a token of the text as a form: without the characters that end a field or a line of a file."""
    return NOT_IN_FORMS.sub(" ", piece) if not piece.isprintable() else piece


def words_of(
    text: str,
    segmentation: Segmentation,
    expand: Any = None,
    *,
    begin: int = 0,
    number: int = 1,
    continued: bool = False,
) -> Document:
    """Return the document of a text that is divided into tokens; `expand` is as `Expander.expand_all`."""
    starts, ends, sentence_offsets = segmentation
    forms = [form_of(text[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    counts = np.ones(len(forms), np.int64)
    if expand is not None:
        expansions = expand(forms, sentence_offsets.tolist())
        words = [(form,) if expansion is None else expansion for form, expansion in zip(forms, expansions, strict=True)]
        counts = np.array([len(each) for each in words], np.int64)
        forms = list(itertools.chain.from_iterable(words))
    first_words = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    nothing = Column([EMPTY] if forms else [], np.zeros(len(forms), np.int32))
    treebank = Treebank(column_of(forms), nothing, nothing, nothing, nothing, first_words[sentence_offsets])
    return Document(text, segmentation, first_words, treebank, begin=begin, number=number, continued=continued)


def check_tokens(sentences: Sequence[Sequence[str]], tokens: Sequence[Any]) -> None:
    """Raise InputError unless sentences are lists of tokens, none of them empty."""
    if any(isinstance(sentence, str) for sentence in sentences):
        raise InputError("sentences must be lists of tokens, not texts: call the pipeline with a text instead")
    for token in tokens:
        if not isinstance(token, str) or not token.strip():
            raise InputError(f"a token must be a text that is not empty, not {token!r}")
    if not all(len(sentence) for sentence in sentences):
        raise InputError("a sentence without tokens: leave it out")
