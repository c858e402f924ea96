"""The tokenizer: where tokens and sentences end in a text, learnt by a tagger of characters.

Each character that is not blank has one of three labels: inside a token, end of a token, end of a sentence. An empty
line ends a sentence. A text is read paragraph by paragraph, and a paragraph in windows: a window begins where the last
complete sentence of the one before ended. So memory does not grow with the text, and the result does not depend on
the parts in which a text comes.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from swvp.features.encoder import TemplateEncoder
from swvp.io.compact import rounded
from swvp.io.container import Contents
from swvp.io.model_files import Memory, require, strings
from swvp.io.table import Table
from swvp.tagging import persistence as taggers
from swvp.tagging.tagger import Tagger
from swvp.text.boundaries import KINDS, Boundaries, boundaries_of, join_pieces, kinds_of
from swvp.text.characters import (
    INSIDE,
    LABELS,
    NOTHING,
    SENTENCE,
    TOKEN,
    CharacterReader,
    columns_for,
    not_blank,
    templates_for,
    training_corpus,
)
from swvp.text.known_words import count_words
from swvp.text.sentence import Segmentation
from swvp.text.stages import Watch, ignore
from swvp.text.treebank_text import paragraphs_of
from swvp.types import Ints

__all__ = ["Scores", "Tokenizer", "paragraphs"]

WINDOW = 2000
"""A paragraph is segmented in windows of so many characters, which is also the longest sentence."""
LONGEST_PARAGRAPH = 2**20
"""Longer paragraphs are divided, so that memory is bounded."""
BATCH = 2**17
"""About so many characters are segmented together."""
EPOCHS = 8
MINIMUM_COUNT = 3
"""Features that occur less often are left out: that makes model files smaller, and on dev sets it loses nothing."""

NO_BOUNDARIES = Boundaries()
PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")


class Scores(NamedTuple):
    """F1 of tokens and of sentences."""

    tokens: float
    sentences: float


class Tokenizer:
    """Divides text into sentences and tokens.

    Parameters
    ----------
    epochs : int
        The number of passes over the training text.
    random_state : int
        The seed for the order of training examples.
    words : set of str, optional
        The known words of a script without blanks.

    Examples
    --------
    >>> from swvp.io import table_of
    >>> lines = ["1 Go _ _ _ _ _ _ _ SpaceAfter=No", "2 ! _ _ _ _ _ _ _ _", ""]
    >>> table = table_of("a.conllu", "\\n".join(lines * 20).replace(" ", "\\t").encode())
    >>> Tokenizer.train(table).tokens("Go! Go!")
    [['Go', '!'], ['Go', '!']]
    """

    def __init__(self, *, epochs: int = EPOCHS, random_state: int = 0, words: AbstractSet[str] = NOTHING):
        self.epochs, self.random_state, self.words = epochs, random_state, words
        self.tagger = Tagger(
            features=templates_for(words),
            columns=columns_for(words),
            constraint=None,
            epochs=epochs,
            minimum_count=MINIMUM_COUNT,
            random_state=random_state,
        )
        self.whole: tuple[str, ...] = KINDS
        self.boundaries = Boundaries()
        self._reader = CharacterReader(words)

    # ---------------------------------------------------------------- learning

    @classmethod
    def train(
        cls,
        table: Table,
        *,
        dev: Table | None = None,
        random_state: int = 0,
        epochs: int = EPOCHS,
        watch: Watch = ignore,
    ) -> Self:
        """Learn from a file in CoNLL-U.

        Parameters
        ----------
        table : Table
            From `swvp.io.read_table`.
        dev : Table, optional
            Not used: the number of epochs is fixed.
        random_state : int
        epochs : int
        watch : callable, optional
            Called after each epoch with its number and the number of epochs.

        Returns
        -------
        Tokenizer
        """
        words = count_words(paragraphs_of(table))
        tokenizer = cls(epochs=epochs, random_state=random_state, words=frozenset(words))
        training = tokenizer.tagger.start(training_corpus(paragraphs_of(table), words))
        tokenizer.whole = kinds_of(paragraphs_of(table))
        tokenizer.boundaries = boundaries_of(paragraphs_of(table))
        training.run(epochs, watch=lambda progress: watch(progress.epoch.epoch, epochs))
        tokenizer.tagger.finish(training)
        keep_used_attributes(tokenizer.tagger)
        return tokenizer

    # ---------------------------------------------------------------- segmenting

    def segment(self, text: str) -> Segmentation:
        """Return the tokens and sentences of a text.

        Parameters
        ----------
        text : str

        Returns
        -------
        Segmentation
        """
        begin, parts = 0, []
        for paragraph, (starts, ends, sentences) in self.segment_stream([text]):
            closes = np.zeros(len(starts), np.bool_)
            closes[sentences[1:] - 1] = True
            parts.append((starts + begin, ends + begin, closes))
            begin += len(paragraph)
        return joined(parts)

    def segment_stream(self, texts: Iterable[str]) -> Iterator[tuple[str, Segmentation]]:
        """Yield the paragraphs of a text that comes in parts, each with its tokens and sentences.

        Parameters
        ----------
        texts : iterable of str
            The parts of one text, cut anywhere.

        Yields
        ------
        (str, Segmentation)
            A paragraph with the blanks after it. All paragraphs together are the text.
        """
        waiting, size = list[str](), 0
        for paragraph in paragraphs(texts):
            waiting.append(paragraph)
            size += len(paragraph)
            if size >= BATCH:
                yield from zip(waiting, self._segment_paragraphs(waiting), strict=True)
                waiting, size = [], 0
        yield from zip(waiting, self._segment_paragraphs(waiting), strict=True)

    def tokens(self, text: str) -> list[list[str]]:
        """Return the tokens of each sentence of a text; multiword tokens stay as they are.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of list of str
        """
        starts, ends, sentences = self.segment(text)
        forms = [text[begin:end] for begin, end in zip(starts.tolist(), ends.tolist(), strict=True)]
        bounds = sentences.tolist()
        return [forms[a:b] for a, b in itertools.pairwise(bounds)]

    def _segment_paragraphs(self, texts: Sequence[str]) -> list[Segmentation]:
        """Segment paragraphs, window by window: the first window of all of them, then the second, …"""
        results: list[list[tuple[Ints, Ints, Ints]]] = [[] for _ in texts]
        active = [(k, 0) for k, text in enumerate(texts) if text and not text.isspace()]
        while active:
            windows = [window_of(texts[k], begin) for k, begin in active]
            corpus = self._reader.corpus(windows)
            labels = self.tagger.predict_labels(corpus)
            number = {name: LABELS.index(name) for name in LABELS}
            of_label = np.array([number.get(name, 1) for name in labels.names])
            kinds = of_label[labels.ids]
            following = []
            for (k, begin), window, a, b in zip(active, windows, corpus.offsets, corpus.offsets[1:], strict=False):
                whole = begin + len(window) == len(texts[k])
                starts, stops, closes = spans_of(window, kinds[a:b], self.whole, self.boundaries)
                used = len(starts)
                if not whole:
                    used = complete(stops, closes)
                    closes = closes.copy()
                    closes[used - 1] = True
                else:
                    closes[-1] = True
                results[k].append((starts[:used] + begin, stops[:used] + begin, closes[:used]))
                at = begin + int(stops[used - 1])
                if not whole and texts[k][at:].strip():
                    following.append((k, at))
            active = following
        return [joined(parts) for parts in results]

    def evaluate(self, table: Table) -> Scores:
        """Return F1 of tokens and sentences on the text of a file in CoNLL-U.

        Parameters
        ----------
        table : Table

        Returns
        -------
        Scores
        """
        gold = list(paragraphs_of(table))
        predicted = self._segment_paragraphs([paragraph.text for paragraph in gold])
        tokens, sentences = np.zeros(3), np.zeros(3)
        for paragraph, one in zip(gold, predicted, strict=True):
            starts, ends, offsets = one
            firsts, lasts = starts[offsets[:-1]], ends[offsets[1:] - 1]
            gold_tokens = {span for spans in paragraph.sentences for span in spans}
            gold_sentences = {(spans[0][0], spans[-1][1]) for spans in paragraph.sentences}
            tokens += counts(gold_tokens, set(zip(starts.tolist(), ends.tolist(), strict=True)))
            sentences += counts(gold_sentences, set(zip(firsts.tolist(), lasts.tolist(), strict=True)))
        return Scores(f1(*tokens), f1(*sentences))

    # ---------------------------------------------------------------- files

    def contents(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the description and the arrays, for a model file."""
        _, meta, arrays = taggers.contents_of(self.tagger)
        own = {"whole": list(self.whole), "boundaries": self.boundaries.to_json()}
        if self.words:
            own["words"] = sorted(self.words)
        return {**meta, **own}, arrays

    @staticmethod
    def array_names(meta: dict[str, Any]) -> set[str]:
        """Return the names of the arrays of a tokenizer."""
        return set(taggers.ARRAYS)

    @classmethod
    def from_contents(cls, meta: dict[str, Any], arrays: Mapping[str, NDArray[Any]], memory: Memory) -> Self:
        """Return the tokenizer of a model file; raise InputError if its parts do not fit together."""
        whole = strings(meta.get("whole", []))
        require(set(whole) <= set(KINDS), "kinds of tokens")
        boundaries = Boundaries.from_json(meta.get("boundaries"))
        words = frozenset(strings(meta.get("words", [])))
        described = {name: value for name, value in meta.items() if name not in ("whole", "boundaries", "words")}
        tagger = taggers.rebuild(Contents(taggers.KIND, described, dict(arrays)), memory, Tagger)
        require(tagger.kind_ == "columns" and tuple(tagger.columns_) == columns_for(words), "columns")
        require(set(tagger.classes_) <= set(LABELS), "labels")
        tokenizer = cls(epochs=tagger.epochs, random_state=tagger.random_state, words=words)
        tokenizer.tagger, tokenizer.whole, tokenizer.boundaries = tagger, tuple(whole), boundaries
        return tokenizer


def keep_used_attributes(tagger: Tagger) -> None:
    """Forget the attributes of a new tagger that have no weights, which most have not; round the weights of others."""
    encoder = tagger.encoder_
    used = (tagger.coef_ != 0).any(axis=1)
    if isinstance(encoder, TemplateEncoder) and used.any():
        strings = [list(vocabulary) for vocabulary in encoder.vocabularies]
        encoder.restore(strings, encoder.keys[used], encoder.lexicons, encoder.clusters)
        tagger.coef_, tagger.n_attributes_ = rounded(tagger.coef_[used]), encoder.size


# ---------------------------------------------------------------- paragraphs and windows


def paragraphs(texts: Iterable[str]) -> Iterator[str]:
    r"""Yield the paragraphs of a text that comes in parts, each with the blanks after it.

    Parameters
    ----------
    texts : iterable of str
        The parts of one text, cut anywhere.

    Examples
    --------
    >>> list(paragraphs(["One.\n", "\nTwo."]))
    ['One.\n\n', 'Two.']
    """
    waiting = ""
    for text in texts:
        waiting += text
        searched = 0
        while True:
            end = paragraph_end(waiting, searched)
            if end is None:
                break
            yield waiting[searched:end]
            searched = end
        waiting = waiting[searched:]
    if waiting:
        yield waiting


def paragraph_end(text: str, begin: int) -> int | None:
    """Return where the paragraph that begins here ends; None if that shows only in what comes later."""
    first = begin
    while first < len(text) and text[first].isspace():  # blanks at the beginning of the text
        first += 1
    match = PARAGRAPH_END.search(text, first, first + LONGEST_PARAGRAPH)
    if match is not None and match.end() < min(len(text), first + LONGEST_PARAGRAPH):
        return match.end()
    if len(text) - first <= LONGEST_PARAGRAPH:
        return None
    return after_last_blank(text, first, first + LONGEST_PARAGRAPH)


def after_last_blank(text: str, begin: int, end: int) -> int:
    """Return the place after the last blank of text[begin:end]; its end if there is none in its second half."""
    for at in range(end, (begin + end) // 2, -1):
        if text[at - 1].isspace():
            return at
    return end


def window_of(text: str, begin: int) -> str:
    """Return the window of a paragraph that begins at a place."""
    end = begin + WINDOW
    return text[begin:] if end >= len(text) else text[begin : after_last_blank(text, begin, end)]


def spans_of(
    text: str, kinds: Ints, whole: Sequence[str] = (), boundaries: Boundaries = NO_BOUNDARIES
) -> tuple[Ints, Ints, Any]:
    """Return where tokens begin and end in a text and which of them end a sentence, given labels of its characters.

    `whole` are the kinds of pieces that are not divided.
    """
    places = not_blank(text)
    inside, token, sentence = map(LABELS.index, (INSIDE, TOKEN, SENTENCE))
    kinds = boundaries.correct(
        text, places, join_pieces(text, inside, kinds, places, whole), inside=inside, token=token
    )
    ending = kinds != inside
    ending[-1] = True
    last = np.flatnonzero(ending)
    first = np.concatenate([[0], last[:-1] + 1])
    return places[first], places[last] + 1, kinds[last] == sentence


def complete(stops: Ints, closes: Any) -> int:
    """Return how many tokens of a window that is cut off are final: up to the last complete sentence.

    If there is none, up to three quarters of the window; that ends a sentence.
    """
    ended = np.flatnonzero(closes[:-1])
    if len(ended):
        return int(ended[-1]) + 1
    return max(1, int(np.searchsorted(stops, 0.75 * stops[-1])))


def joined(parts: Sequence[tuple[Ints, Ints, Any]]) -> Segmentation:
    """Return the segmentation of a paragraph whose windows have these tokens."""
    none = np.zeros(0, np.int64)
    starts, ends, closes = (np.concatenate(field) for field in zip((none, none, none), *parts, strict=True))
    return Segmentation(starts, ends, np.concatenate([[0], np.flatnonzero(closes) + 1]).astype(np.int64))


# ---------------------------------------------------------------- scores


def counts(gold: set[tuple[int, int]], predicted: set[tuple[int, int]]) -> tuple[int, int, int]:
    """Return the numbers of gold, predicted and common spans."""
    return len(gold), len(predicted), len(gold & predicted)


def f1(gold: float, predicted: float, common: float) -> float:
    """Return F1, 0 if there is nothing to find and nothing found."""
    return float(2 * common / (gold + predicted)) if gold + predicted else 0.0
