"""Corpora: sentences of words, of tuples of columns or of ready features, with labels, and their tokens as attributes.

A corpus comes from Python or from a file. Its tokens become numbered attributes by templates
(`swvp.features.encoder`), or are ready features (`swvp.tagging.ready`). A dev set is a corpus on which each epoch is
scored. Its phrases are counted as `swvp.evaluation.phrases` does it, but in arrays: whether a phrase begins or ends
between two labels depends on these two labels alone, so it is a table over pairs of labels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set, Sized
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, counted
from swvp.evaluation.counts import Counts, look_like_phrases, phrases
from swvp.features.encoder import Columns, TemplateEncoder
from swvp.io.table import Table
from swvp.structures.chain.attributes import AttributeChain
from swvp.tagging.ready import FeatureEncoder
from swvp.training.training import Weights
from swvp.types import Ints

__all__ = [
    "KINDS",
    "Corpus",
    "Development",
    "Encoder",
    "Labels",
    "PhraseCounter",
    "Sentences",
    "as_columns",
    "before_and_after",
    "chain_of",
    "check_lists",
    "column_names",
    "corpus_of",
    "corpus_of_table",
    "extended_labels",
    "fit_chain",
    "gold_numbers",
    "kind_of",
    "lengths",
    "numbered",
]

KINDS: dict[str, tuple[type, ...]] = {"words": (str,), "columns": (tuple,), "features": (list, dict, set, frozenset)}


def kind_of(X: Sequence[Sequence[Any]]) -> str:
    """The kind of all tokens: "words", "columns" (tuples) or "features" (lists, dicts or sets)."""
    check_lists("X", X, "sentences")
    for sentence in X:
        if isinstance(sentence, str):
            raise InputError("a sentence is a list of tokens, not a string: split it first")
        check_lists("a sentence", sentence, "tokens")
    kinds = dict.fromkeys(kind_of_token(type_) for type_ in dict.fromkeys(map(type, chain.from_iterable(X))))
    if len(kinds) > 1:
        raise InputError(f"X mixes kinds of tokens: {' and '.join(kinds)}")
    return next(iter(kinds), "words")


def kind_of_token(type_: type) -> str:
    """The kind of a token of this type."""
    for kind, types in KINDS.items():
        if issubclass(type_, types):
            return kind
    raise InputError(f"a token is a string, a tuple, a list or a dict, not a {type_.__name__}")


def check_lists(what: str, given: Any, of: str) -> None:
    """Raise InputError if something has no length or no order, such as None, a generator or a dict."""
    if not isinstance(given, Sized) or not isinstance(given, Iterable) or isinstance(given, (Mapping, Set)):
        raise InputError(f"{what} must be a list of {of}, not a {type(given).__name__}")


def lengths(X: Sequence[Sequence[Any]]) -> Ints:
    """The index of the first token of each sentence, and at last the number of tokens."""
    return np.concatenate([[0], np.cumsum([len(sentence) for sentence in X], dtype=np.int64)]).astype(np.int64)


def as_columns(X: Sequence[Sequence[Any]], names: Sequence[str]) -> Columns:
    """The columns of sentences of strings (one column) or of tuples."""
    tokens = list(chain.from_iterable(X))
    if tokens and isinstance(tokens[0], str):
        tokens = [(token,) for token in tokens]
    widths = set(map(len, tokens)) or {len(names)}
    if widths != {len(names)}:
        wrong = next(iter(widths - {len(names)}))
        raise InputError(f"a token has {counted(wrong, 'column')}, the tagger knows {len(names)}: {', '.join(names)}")
    ids = np.empty((len(names), len(tokens)), np.int32)
    strings = []
    for row, values in zip(ids, zip(*tokens, strict=True) if tokens else [()] * len(names), strict=True):
        if not all(issubclass(type_, str) for type_ in set(map(type, values))):
            raise InputError("the columns of a token must be strings")
        number: dict[str, int] = {}
        row[:] = [number.setdefault(value, len(number)) for value in values]
        strings.append(list(number))
    return Columns(tuple(names), strings, ids, lengths(X))


Sentences = Sequence[Sequence[Any]]


class Labels(NamedTuple):
    """The distinct labels in the order of their first occurrence, and which of them each token has."""

    names: list[Any]
    ids: NDArray[np.int32]


class Corpus(NamedTuple):
    """Sentences whose tokens are of one kind, and their labels.

    Words and tuples are in `columns`, ready features, as users gave them, in `features`.
    """

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
        """The place of a token for messages: its file and line, or its sentence."""
        if self.table is not None:
            return self.table.place(token)
        sentence = int(np.searchsorted(self.offsets, token, side="right")) - 1
        return f"sentence {sentence}, token {token - int(self.offsets[sentence])}"

    def parts(self) -> Iterator[str | NDArray[Any]]:
        """What distinguishes it from other data, for checkpoints; ready features are in the arrays of the training."""
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
    """The default names of columns: word, pos, column2, …"""
    return ["word", "pos", *(f"column{k}" for k in range(2, width))][:width]


def corpus_of(
    X: Sentences, y: Sequence[Sequence[Any]] | None, names: Sequence[str] | None, trained_on: str | None = None
) -> Corpus:
    """The corpus of sentences and labels from Python; `names` are those of the columns, if known."""
    kind = kind_of(X)
    if trained_on is not None and kind != trained_on:
        if any(len(sentence) for sentence in X):
            raise InputError(f"the tagger was trained on {trained_on}, but the input has {kind}")
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
    """The corpus of a file: `inputs` are the columns that features use, `label` the column of the labels, if any."""
    columns = [table.column(number) for number in inputs]
    ids = np.stack([column.ids for column in columns])
    kind = "words" if len(inputs) == 1 else "columns"
    labels = None if label is None else Labels(*table.column(label))
    corpus = Columns(tuple(names), [column.strings for column in columns], ids, table.offsets)
    return Corpus(kind, corpus, [], table.offsets, labels, table)


def check_columns(names: Any) -> None:
    """Raise InputError if the names of columns are no strings, or one is there twice."""
    listed = isinstance(names, Collection) and not isinstance(names, str)
    if not (listed and len(names) and all(isinstance(name, str) for name in names)):
        raise InputError(f"columns must be a list of names, not {names!r}")
    if len(set(names)) < len(names):
        raise InputError(f"columns has a name twice: {', '.join(names)}")


def labels_of(y: Sequence[Sequence[Any]]) -> Labels:
    """The labels of all tokens."""
    try:
        labels = numbered([label for sentence in y for label in sentence])
    except TypeError:
        raise InputError("a label must be hashable, such as a string") from None
    if None in labels.names:
        raise InputError("a label is None: every token needs one")
    return labels


def numbered(values: Sequence[Any]) -> Labels:
    """Labels as numbers, in the order of their first occurrence."""
    number: dict[Any, int] = {}
    ids = np.array([number.setdefault(value, len(number)) for value in values], np.int32)
    return Labels(list(number), ids)


def extended_labels(known: Sequence[Any], labels: Sequence[Any]) -> list[Any]:
    """The known labels, then the new ones, sorted.

    >>> extended_labels(["N", "V"], ["V", "D", "A"])
    ['N', 'V', 'A', 'D']
    """
    try:
        return [*known, *sorted(set(labels) - set(known))]
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels})
        raise InputError(
            f"labels must be of one kind that can be sorted, such as strings, not {', '.join(kinds)}"
        ) from None


def gold_numbers(corpus: Corpus, names: list[Any]) -> NDArray[np.int64]:
    """The labels of a corpus as numbers into `names`, to which missing labels are appended."""
    number = {label: k for k, label in enumerate(names)}
    assert corpus.labels is not None
    of_label = [number.setdefault(label, len(number)) for label in corpus.labels.names]
    names[:] = list(number)
    return np.array(of_label, np.int64)[corpus.labels.ids]


def check_pairs(X: Sentences, y: Sequence[Sequence[Any]]) -> None:
    """Raise InputError unless X and y have the same lengths, sentence by sentence."""
    check_lists("X", X, "sentences")
    check_lists("y", y, "the labels of each sentence")
    if len(X) != len(y):
        raise InputError(f"X has {counted(len(X), 'sentence')} and y has {len(y)}: give the same number of both")
    for i, (sentence, labels) in enumerate(zip(X, y, strict=True)):
        check_lists(f"sentence {i} of X", sentence, "tokens")
        check_lists(f"sentence {i} of y", labels, "labels")
        if len(sentence) != len(labels):
            raise InputError(f"sentence {i} has {counted(len(sentence), 'token')} and {counted(len(labels), 'label')}")


# ---------------------------------------------------------------- attributes

Encoder = TemplateEncoder | FeatureEncoder


def chain_of(encoder: Encoder, corpus: Corpus) -> AttributeChain:
    """The attributes of all tokens, without labels; attributes that the encoder does not know are left out."""
    if isinstance(encoder, FeatureEncoder):
        attributes, values, starts = encoder.encode(corpus.features)
    else:
        assert corpus.columns is not None
        (attributes, starts), values = encoder.encode(corpus.columns), np.zeros(0)
    return AttributeChain(attributes, values, starts, np.zeros(0, np.uint32), corpus.offsets)


def fit_chain(encoder: Encoder, corpus: Corpus, minimum_count: int) -> AttributeChain:
    """Add the attributes of a corpus with labels to those the encoder knows; return the corpus encoded."""
    if isinstance(encoder, FeatureEncoder):
        attributes, values, starts = encoder.fit(corpus.features, minimum_count)
    else:
        assert corpus.columns is not None
        assert corpus.labels is not None
        (attributes, starts), values = encoder.fit(corpus.columns, minimum_count, *corpus.labels), np.zeros(0)
    return AttributeChain(attributes, values, starts, np.zeros(0, np.uint32), corpus.offsets)


def before_and_after(ids: NDArray[Any], offsets: Ints, edge: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The label before and the label after each token; `edge` stands for the boundary of the sentence."""
    first, last = offsets[:-1][np.diff(offsets) > 0], offsets[1:][np.diff(offsets) > 0] - 1
    before, after = np.roll(ids, 1), np.roll(ids, -1)
    before[first], after[last] = edge, edge
    return before, after


class Development:
    """A dev set: `predict` returns the labels of its sentences under given weights, as numbers."""

    def __init__(
        self, predict: Callable[[Weights], NDArray[np.uint32]], gold: NDArray[Any], offsets: Ints, labels: Any
    ):
        self.predict, self.gold, self.offsets = predict, gold, offsets
        all_strings = all(isinstance(label, str) for label in labels)
        self.counter = PhraseCounter(labels) if all_strings and look_like_phrases([labels]) else None

    @property
    def metric(self) -> str:
        return "accuracy" if self.counter is None else "F1"

    def score(self, weights: Weights, model: Any) -> float:
        """F1 if the labels are those of phrases, else accuracy."""
        predicted = self.predict(weights)
        if self.counter is None:
            return float(np.mean(predicted == self.gold)) if len(self.gold) else 1.0
        counts: Counts = self.counter.counts(self.gold, predicted, self.offsets)
        return counts.f1


Numbers = NDArray[np.integer]


class PhraseCounter:
    """Counts phrases; labels are numbers into `labels`."""

    def __init__(self, labels: Sequence[str]):
        ends = [*labels, "O"]  # the last one is the boundary of a sentence
        self.outside = len(labels)
        shape = (len(ends), len(ends))
        self.begins, self.closes = np.zeros(shape, bool), np.zeros(shape, bool)
        for i, before in enumerate(ends):
            for j, label in enumerate(ends):
                spans = phrases([before, label])
                self.begins[i, j] = any(first == 1 for _, first, _ in spans)
                self.closes[i, j] = any(last == 1 for _, _, last in spans)
        kinds = {kind: number for number, kind in enumerate(dict.fromkeys(label.partition("-")[2] for label in ends))}
        self.kind = np.array([kinds[label.partition("-")[2]] for label in ends], np.int64)

    def phrases(self, ids: Numbers, offsets: Ints) -> tuple[Ints, Ints, Ints]:
        """The phrases of all sentences, as (first token, token after the last, type)."""
        before, after = before_and_after(ids, offsets, self.outside)
        begin = np.flatnonzero(self.begins[before, ids])
        end = np.flatnonzero(self.closes[ids, after])
        return begin, end + 1, self.kind[ids[begin]]

    def keys(self, ids: Numbers, offsets: Ints) -> Ints:
        """A number for each phrase, the same for the same phrase."""
        begin, end, kind = self.phrases(ids, offsets)
        return (begin * (len(ids) + 1) + end) * (int(self.kind.max()) + 1) + kind

    def counts(self, gold: Numbers, predicted: Numbers, offsets: Ints) -> Counts:
        """Phrases in the gold labels, in the prediction, and in both."""
        a, b = self.keys(gold, offsets), self.keys(predicted, offsets)
        return Counts(len(a), len(b), len(np.intersect1d(a, b, assume_unique=True)))
