r"""A text with its analysis: sentences of tokens and words, and other forms of it.

A token is a piece of the text. Most tokens are one word; a multiword token, such as the French "du", has several, which
need not be pieces of it. Tags, lemmas and trees are those of words.

In CoNLL-U, spaces that are not one blank are in MISC, in UDPipe's notation: SpaceAfter=No, SpacesAfter=\n,
SpacesBefore=\s\s for those before the first token of a text, SpacesInToken for a token whose form is not what the text
has. Control characters, for which UDPipe has no notation, are written as in Python: \x00.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from swvp.errors import InputError
from swvp.io.table import Column
from swvp.io.tree_checks import EMPTY, column_of
from swvp.io.treebank import Treebank
from swvp.text.sentence import Segmentation, Sentence, Token, Word, form_of, strings_of
from swvp.types import Floats, Ints

__all__ = ["Document", "words_of"]

DRAWN = 50
"""The largest number of trees that a notebook shows of one document."""


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
    confidence : ndarray of float64, shape (words,), optional
        The probability of the arc into each word.
    token_feats : dict of int to str, optional
        The FEATS of multiword tokens that have any, by the numbers of the tokens.

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
    confidence: Floats | None = field(default=None, kw_only=True)
    token_feats: Mapping[int, str] = field(default_factory=dict, kw_only=True)

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
        check_tokens(sentences)
        tokens = list(itertools.chain.from_iterable(sentences))
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
        confidence = [None] * treebank.tokens if self.confidence is None else self.confidence.tolist()
        return list(zip(*map(strings_of, columns), heads, labels, confidence, strict=True))

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
        from swvp.text.spacy_component import to_spacy

        return to_spacy(self, vocab)

    def _repr_html_(self) -> str:
        return "".join(sentence._repr_html_() for sentence in self.sentences[:DRAWN])


RECORD = ("token_id", "token", "lemma", "upos", "xpos", "feats", "head_token_id", "dep_rel", "deps", "misc")
"""The columns of a row in CoNLL-U by the names of R's udpipe."""


def words_of(
    text: str,
    segmentation: Segmentation,
    expander: Any = None,
    *,
    begin: int = 0,
    number: int = 1,
    continued: bool = False,
) -> Document:
    """Return the document of a text that is divided into tokens; `expander` is an `Expander`."""
    starts, ends, sentence_offsets = segmentation
    forms = [form_of(text[a:b]) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
    counts = np.ones(len(forms), np.int64)
    token_feats: dict[int, str] = {}
    if expander is not None:
        expansions = expander.expand_all(forms, sentence_offsets.tolist())
        if expander.feats:
            several = [k for k, expansion in enumerate(expansions) if expansion is not None]
            token_feats = {k: expander.feats[forms[k]] for k in several if forms[k] in expander.feats}
        words = [(form,) if expansion is None else expansion for form, expansion in zip(forms, expansions, strict=True)]
        counts = np.array([len(each) for each in words], np.int64)
        forms = list(itertools.chain.from_iterable(words))
    first_words = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    nothing = Column([EMPTY] if forms else [], np.zeros(len(forms), np.int32))
    treebank = Treebank(column_of(forms), nothing, nothing, nothing, nothing, first_words[sentence_offsets])
    return Document(
        text,
        segmentation,
        first_words,
        treebank,
        begin=begin,
        number=number,
        continued=continued,
        token_feats=token_feats,
    )


def check_tokens(sentences: Sequence[Sequence[str]]) -> None:
    """Raise InputError unless sentences are lists of tokens, none of them empty."""
    for sentence in sentences:
        if isinstance(sentence, str):
            raise InputError("sentences must be lists of tokens, not texts: call the pipeline with a text instead")
        if isinstance(sentence, bytes) or not isinstance(sentence, Sized) or not isinstance(sentence, Iterable):
            raise InputError(f"a sentence must be a list of tokens, not {sentence!r}")
    for token in itertools.chain.from_iterable(sentences):
        if not isinstance(token, str) or not token.strip():
            raise InputError(f"a token must be a text that is not empty, not {token!r}")
    if not all(len(sentence) for sentence in sentences):
        raise InputError("a sentence without tokens: leave it out")


ESCAPES = {"\\": "\\\\", "|": "\\p", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n"}
CONTROL = [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029]
NOTATION = str.maketrans({chr(code): ascii(chr(code))[1:-1] for code in CONTROL} | ESCAPES)

Row = tuple[str, str, str, str, str, str, str, str, str, str]


def to_conllu(document: Document) -> str:
    """Return a document in CoNLL-U."""
    lines: list[str] = []
    for sentence in document.sentences:
        if sentence.id == 1 and not document.continued:
            lines.append("# newdoc")
        if sentence.starts_paragraph:
            lines.append("# newpar")
        lines += [f"# sent_id = {sentence.id}", f"# text = {sentence.text}"]
        lines += map("\t".join, rows_of(sentence))
        lines.append("")
    return "".join(f"{line}\n" for line in lines)


def rows_of(sentence: Sentence) -> Iterator[Row]:
    """Yield the ten fields of each word of a sentence, and of each multiword token before its words."""
    document, words = sentence.document, sentence.words
    for number, token in zip(sentence.token_numbers, sentence.tokens, strict=True):
        misc = spaces_of(document, number, token.text)
        if token.first_word < token.last_word:
            name = f"{token.first_word}-{token.last_word}"
            yield name, form_of(token.text), EMPTY, EMPTY, EMPTY, token.feats, EMPTY, EMPTY, EMPTY, misc
            misc = EMPTY
        for word in words[token.first_word - 1 : token.last_word]:
            head = EMPTY if word.head is None else str(word.head)
            yield str(word.id), *word[1:6], head, word.deprel or EMPTY, EMPTY, with_confidence(misc, word.confidence)


def with_confidence(misc: str, confidence: float | None) -> str:
    """Return the field MISC with the probability of the arc, if there is one."""
    if confidence is None:
        return misc
    return "|".join([f"Confidence={confidence:.4f}", *([misc] if misc != EMPTY else [])])


def spaces_of(document: Document, number: int, piece: str) -> str:
    """Return the field MISC of a token: the spaces around it, if they are not one blank after it."""
    after = document.spaces(number)
    if after == " " and number and piece.isprintable():
        return EMPTY
    notes = []
    if not number and (before := document.text[: int(document.segmentation.token_starts[0])]):
        notes.append(f"SpacesBefore={noted(before)}")
    if form_of(piece) != piece:
        notes.append(f"SpacesInToken={noted(piece)}")
    if after != " ":
        notes.append(f"SpacesAfter={noted(after)}" if after else "SpaceAfter=No")
    return "|".join(notes) or EMPTY


def noted(spaces: str) -> str:
    """Return spaces in UDPipe's notation."""
    return spaces.translate(NOTATION)
