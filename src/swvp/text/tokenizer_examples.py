"""What a tokenizer learns from: pieces of a treebank's text, with a label for each character that is not blank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from swvp.tagging.corpus import Corpus, Labels
from swvp.text.characters import CharacterReader, not_blank
from swvp.text.treebank_text import Paragraph

__all__ = ["INSIDE", "LABELS", "SENTENCE", "TOKEN", "training_corpus"]

INSIDE, TOKEN, SENTENCE = "inside", "token", "sentence"
LABELS = [INSIDE, TOKEN, SENTENCE]

LEAST_PIECE = 150
"""Pieces have at least so many characters: whole paragraphs would be too few examples."""

Spans = Sequence[tuple[int, int]]


def training_corpus(texts: Iterable[Paragraph]) -> Corpus:
    """Return the characters of paragraphs with their labels, in pieces of some sentences.

    A piece has at least two sentences and LEAST_PIECE characters, and begins with the last sentence of the one before:
    so the end of each sentence is also seen with what follows it.
    """
    pieces, labels = [], []
    for text, sentences in texts:
        codes = np.zeros(len(text), np.int32)
        for spans in sentences:
            codes[[end - 1 for _, end in spans]] = LABELS.index(TOKEN)
            codes[spans[-1][1] - 1] = LABELS.index(SENTENCE)
        for begin, end in pieces_of(sentences):
            pieces.append(text[begin:end])
            labels.append(codes[begin:end][not_blank(text[begin:end])])
    return CharacterReader().corpus(pieces, Labels(LABELS, np.concatenate(labels)))


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
