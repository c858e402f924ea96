"""Tokens, heads and labels given as Python lists, checked and turned into columns."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, unknown_name
from swvp.io.table import Column

__all__ = ["EMPTY", "FIELDS", "as_columns", "as_heads", "as_labels", "check_lists", "offsets_of"]

FIELDS = ("word", "lemma", "upos", "xpos", "feats")
EMPTY = "_"
OTHER_KEYS = ("form", "id", "head", "deprel", "deps", "misc")  # form is the word, the others are ignored


def check_lists(what: str, given: Any, of: str) -> None:
    """Raise InputError if something is not a list: a string, None, a generator or a dict."""
    is_list = isinstance(given, Sized) and isinstance(given, Iterable)
    if not is_list or isinstance(given, (str, bytes, Mapping, Set)):
        raise InputError(f"{what} must be a list of {of}, not a {type(given).__name__}")


def offsets_of(sentences: Sequence[Sequence[Any]]) -> NDArray[np.int64]:
    """Return where each sentence begins in the row of all words, and where the last one ends."""
    return np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])]).astype(np.int64)


def column_of(strings: Iterable[str]) -> Column:
    """Return strings as a column: the distinct ones, and the number of each."""
    number: dict[str, int] = {}
    ids = np.array([number.setdefault(string, len(number)) for string in strings], np.int32)
    return Column(list(number), ids)


def as_columns(sentences: Any) -> tuple[Column, Column, Column, Column, Column]:
    """Return the five columns of all words; a field that a token does not have is _."""
    check_lists("the sentences", sentences, "sentences")
    rows = []
    for s, sentence in enumerate(sentences):
        check_lists(f"sentence {s}", sentence, "words")
        if not len(sentence):
            raise InputError(f"sentence {s} has no word")
        rows += [fields_of(token, f"sentence {s}, token {t}") for t, token in enumerate(sentence, 1)]
    word, lemma, upos, xpos, feats = (column_of(row[k] for row in rows) for k in range(len(FIELDS)))
    return word, lemma, upos, xpos, feats


def fields_of(token: Any, place: str) -> tuple[str, ...]:
    """Return word, lemma, upos, xpos and feats of a token."""
    if isinstance(token, str):
        fields: tuple[Any, ...] = (token, *[EMPTY] * 4)
    elif isinstance(token, tuple):
        if len(token) not in (2, len(FIELDS)):
            raise InputError(f"{place}: a tuple is (word, upos) or ({', '.join(FIELDS)}), not {len(token)} values")
        fields = (token[0], EMPTY, token[1], EMPTY, EMPTY) if len(token) == 2 else token
    elif isinstance(token, Mapping):
        for key in token:
            if key not in FIELDS and key not in OTHER_KEYS:
                raise InputError(f"{place}: {unknown_name('key', key, (*FIELDS, 'form'))}")
        if "word" not in token and "form" not in token:
            raise InputError(f"{place}: a dict needs the key 'word' (or 'form')")
        fields = (token.get("word", token.get("form")), *(token.get(name) for name in FIELDS[1:]))
    else:
        raise InputError(f"{place}: a token is a string, a tuple or a dict, not a {type(token).__name__}")
    fields = (fields[0], *(EMPTY if field is None else field for field in fields[1:]))
    for name, field in zip(FIELDS, fields, strict=True):
        if not isinstance(field, str):
            raise InputError(f"{place}: {name} must be a string, not a {type(field).__name__}")
    return fields


def as_heads(heads: Any, offsets: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the heads of all words from a list for each sentence."""
    flat = flattened("heads", heads, offsets)
    for token, head in enumerate(flat):
        if not isinstance(head, numbers.Integral) or isinstance(head, bool) or not 0 <= int(head) < 2**31:
            sentence = int(np.searchsorted(offsets, token, side="right")) - 1
            raise InputError(
                f"sentence {sentence}, token {token - int(offsets[sentence]) + 1}: a head is a number, "
                f"0 for the root, not {head!r}"
            )
    return np.array(flat, np.int32)


def as_labels(labels: Any, offsets: NDArray[np.int64]) -> Column:
    """Return the labels of all words from a list for each sentence."""
    flat = flattened("labels", labels, offsets)
    for label in flat:
        if not isinstance(label, str):
            raise InputError(f"a label of an arc must be a string, not {label!r}")
    return column_of(flat)


def flattened(what: str, lists: Any, offsets: NDArray[np.int64]) -> list[Any]:
    """Return the values of all words from a list for each sentence; raise InputError if their numbers differ."""
    check_lists(what, lists, f"{what}, one list a sentence")
    if len(lists) != len(offsets) - 1:
        raise InputError(f"{len(offsets) - 1} sentences but {what} of {len(lists)}: give as many")
    for s, (given, size) in enumerate(zip(lists, np.diff(offsets), strict=True)):
        check_lists(f"the {what} of sentence {s}", given, what)
        if len(given) != size:
            raise InputError(f"sentence {s} has {size} words and {len(given)} {what}")
    return [value for given in lists for value in given]
