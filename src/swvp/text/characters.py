"""The characters of a text as a tagger reads them: columns for each character that is not blank, labels in training.

A *chunk* is what lies between two blanks. A character has five columns:

    char     the character, with a blank after it if one follows
    class    its class, such as Lu, Ll or Nd, or the character itself if it is punctuation; with a blank likewise
    before   the chunk up to and including this character, the last LONGEST characters of it
    after    the rest of the chunk, the first LONGEST characters of it
    next     the beginning of the next chunk: the class of its first character, and the chunk in lower case if short

Where known words of a script without blanks are given, it has those of `swvp.text.known_words` too, before the last.
All columns of a chunk but the last depend only on the chunk, so they are computed once for each distinct one.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
from numpy.typing import NDArray

from swvp.features.encoder import Columns
from swvp.features.presets import neighbours, window
from swvp.tagging.corpus import Corpus, Labels
from swvp.text.known_words import WORD_COLUMNS, WORD_TEMPLATES, lengths_of_words
from swvp.text.treebank_text import Paragraph
from swvp.types import Ints

__all__ = [
    "COLUMNS",
    "INSIDE",
    "LABELS",
    "SENTENCE",
    "TEMPLATES",
    "TOKEN",
    "CharacterReader",
    "chunk_spans",
    "columns_for",
    "not_blank",
    "templates_for",
    "training_corpus",
]

COLUMNS = ("char", "class", "before", "after", "next")
LONGEST = 8
LONGEST_CHUNK = 200
"""Longer chunks are divided, so that a text without blanks takes no more memory than another."""
CHUNK = re.compile(rf"\S{{1,{LONGEST_CHUNK}}}")

TEMPLATES = [
    "bias",
    *window("char", -4, 4),
    *neighbours("char", -3, 3, 2),
    *neighbours("char", -2, 3, 3),
    *neighbours("char", -2, 2, 4),
    *window("class", -3, 3),
    *neighbours("class", -3, 3, 3),
    *neighbours("class", -2, 3, 5),
    "before[0]",
    "after[0]",
    "before[0] & after[0]",
    "lower(before[0]) & next[0]",
    "shape(before[0])",
    "shape(before[0]) & shape(after[0])",
    "shape(before[0]) & next[0]",
    "char[0] & next[0]",
    "char[-1] & char[0] & next[0]",
]
"""The features of a character, chosen on dev sets of five languages."""


def columns_for(words: AbstractSet[str]) -> tuple[str, ...]:
    """Return the columns of a character, given the known words."""
    return (*COLUMNS[:-1], *WORD_COLUMNS, COLUMNS[-1]) if words else COLUMNS


def templates_for(words: AbstractSet[str]) -> list[str]:
    """Return the features of a character, given the known words."""
    return [*TEMPLATES, *WORD_TEMPLATES] if words else TEMPLATES


Ids = NDArray[np.int32]

NOTHING: AbstractSet[str] = frozenset()
NO_WORDS: Mapping[str, int] = {}


def chunk_spans(text: str) -> list[tuple[int, int]]:
    """Return where the chunks of a text begin and end."""
    return [match.span() for match in CHUNK.finditer(text)]


def not_blank(text: str) -> Ints:
    """Return the places of the characters that are not blank."""
    spans = np.array(chunk_spans(text), np.int64).reshape(-1, 2)
    lengths = spans[:, 1] - spans[:, 0]
    before = np.cumsum(lengths) - lengths
    places: Ints = np.arange(int(lengths.sum())) + np.repeat(spans[:, 0] - before, lengths)
    return places


class CharacterReader:
    """Turns texts into columns; remembers the columns of chunks, up to MOST_REMEMBERED.

    The numbers of strings grow with the texts, so a reader makes one corpus at a time. `words` are the known words of a
    script without blanks.
    """

    MOST_REMEMBERED = 200_000

    def __init__(self, words: AbstractSet[str] = NOTHING) -> None:
        self.words, self.columns = words, columns_for(words)
        self._forget()

    def _forget(self) -> None:
        self.numbers: list[dict[str, int]] = [{} for _ in self.columns]
        self.chunks: dict[tuple[str, bool], Ids] = {}

    def corpus(
        self, texts: Sequence[str], labels: Labels | None = None, hidden: Sequence[AbstractSet[str]] = ()
    ) -> Corpus:
        """Return the corpus whose sentences are these texts and whose tokens are their characters without blanks.

        In training, each text may have words that are `hidden`: they count as unknown.
        """
        if len(self.chunks) > self.MOST_REMEMBERED:
            self._forget()
        arrays, offsets = [np.empty((len(self.columns), 0), np.int32)], [0]
        for number, text in enumerate(texts):
            unknown = hidden[number] if hidden else NOTHING
            spans = chunk_spans(text)
            parts = [text[begin:end] for begin, end in spans]
            blank = [end < len(text) and text[end].isspace() for _, end in spans]
            following = self._following(parts)
            lengths = np.array([len(part) for part in parts], np.int64)
            arrays += [self._columns(part, gap, unknown) for part, gap in zip(parts, blank, strict=True)]
            if parts:
                arrays[-len(parts) :] = [np.concatenate(arrays[-len(parts) :], axis=1)]
                arrays[-1][-1] = np.repeat(following, lengths)
            offsets.append(offsets[-1] + int(lengths.sum()))
        ids = np.concatenate(arrays, axis=1)
        strings = [compact(list(numbers), row) for numbers, row in zip(self.numbers, ids, strict=True)]
        columns = Columns(self.columns, strings, ids, np.array(offsets, np.int64))
        return Corpus("columns", columns, [], columns.offsets, labels)

    def _columns(self, chunk: str, blank_after: bool, hidden: AbstractSet[str]) -> Ids:
        """Return the columns of a chunk; the last one is filled in by the caller."""
        known = self.chunks.get((chunk, blank_after))
        if known is not None and not hidden:
            return known
        last = len(chunk) - 1
        gaps = ["" if k < last or not blank_after else " " for k in range(len(chunk))]
        strings = [
            [character + gap for character, gap in zip(chunk, gaps, strict=True)],
            [character_class(character) + gap for character, gap in zip(chunk, gaps, strict=True)],
            [chunk[max(0, k + 1 - LONGEST) : k + 1] for k in range(len(chunk))],
            [chunk[k + 1 : k + 1 + LONGEST] for k in range(len(chunk))],
        ]
        if self.words:
            lengths = lengths_of_words(chunk, self.words, hidden)
            strings += [[str(length or "") for length in column] for column in lengths]
        ids = np.zeros((len(self.columns), len(chunk)), np.int32)
        for row, values, numbers in zip(ids, strings, self.numbers, strict=False):
            row[:] = [numbers.setdefault(value, len(numbers)) for value in values]
        if not hidden:
            self.chunks[chunk, blank_after] = ids
        return ids

    def _following(self, chunks: Sequence[str]) -> Ids:
        """Return, for each chunk, the number of the column `next`."""
        numbers = self.numbers[-1]
        values = [beginning(chunk) for chunk in chunks[1:]] + [""]
        return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int32)


def compact(strings: list[str], ids: Ids) -> list[str]:
    """Return the strings that occur, and change the ids into numbers of these."""
    occurs = np.bincount(ids, minlength=len(strings)) > 0
    ids[:] = (np.cumsum(occurs) - 1)[ids]
    return [strings[k] for k in np.flatnonzero(occurs).tolist()]


def character_class(character: str) -> str:
    """Return the Unicode category of a character; punctuation and symbols stand for themselves.

    >>> [character_class(character) for character in "aΑ5."]
    ['Ll', 'Lu', 'Nd', '.']
    """
    category = unicodedata.category(character)
    return character if category[0] in "PS" else category


def beginning(chunk: str) -> str:
    """Return what the column `next` says of a chunk: the class of its first character and, if it is short, the chunk.

    >>> beginning("The"), beginning("Encyclopaedia")
    ('Lu the', 'Lu')
    """
    first = character_class(chunk[0])
    return f"{first} {chunk.lower()}" if len(chunk) <= 4 else first


INSIDE, TOKEN, SENTENCE = "inside", "token", "sentence"
LABELS = [INSIDE, TOKEN, SENTENCE]

LEAST_PIECE = 150
"""Pieces have at least so many characters: whole paragraphs would be too few examples."""

Spans = Sequence[tuple[int, int]]


def training_corpus(texts: Iterable[Paragraph], words: Mapping[str, int] = NO_WORDS) -> Corpus:
    """Return the characters of paragraphs with their labels, in pieces of some sentences.

    A piece has at least two sentences and LEAST_PIECE characters, and begins with the last sentence of the one before:
    so the end of each sentence is also seen with what follows it. `words` are how often each known word occurs.
    """
    pieces, labels, hidden = [], [], []
    for text, sentences in texts:
        codes = np.zeros(len(text), np.int32)
        for spans in sentences:
            codes[[end - 1 for _, end in spans]] = LABELS.index(TOKEN)
            codes[spans[-1][1] - 1] = LABELS.index(SENTENCE)
        for begin, end in pieces_of(sentences):
            pieces.append(text[begin:end])
            labels.append(codes[begin:end][not_blank(text[begin:end])])
            if words:
                hidden.append(only_here(text, codes, begin, end, words))
    return CharacterReader(words.keys()).corpus(pieces, Labels(LABELS, np.concatenate(labels)), hidden)


def only_here(text: str, codes: Ids, begin: int, end: int, words: Mapping[str, int]) -> set[str]:
    """Return the known words that occur nowhere but in one piece of a text, given the labels of its characters."""
    stops = [begin, *(np.flatnonzero(codes[begin:end]) + begin + 1).tolist()]
    own = Counter(text[a:b].strip() for a, b in itertools.pairwise(stops))
    return {word for word, count in own.items() if count >= words.get(word, count + 1)}


def pieces_of(sentences: Sequence[Spans]) -> Iterator[tuple[int, int]]:
    """Yield where pieces of a paragraph begin and end, given the tokens of its sentences."""
    first = 0
    while True:
        begin, last = sentences[first][0][0], first
        while last + 1 < len(sentences) and (last == first or sentences[last][-1][1] - begin < LEAST_PIECE):
            last += 1
        yield begin, sentences[last][-1][1]
        if last + 1 == len(sentences):
            return
        first = last
