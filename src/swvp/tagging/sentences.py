"""Owns what users may give as sentences: strings, tuples of columns, or ready features."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.structures.chain.encode import Columns
from swvp.structures.operations import Floats, Ints

__all__ = ["KINDS", "FeatureEncoder", "as_columns", "check_lists", "kind_of", "lengths"]

KINDS: dict[str, tuple[type, ...]] = {"words": (str,), "columns": (tuple,), "features": (list, dict, set, frozenset)}
DEEPEST = 50
LARGEST_VALUE = 1e30
"""Weights are sums of values, scores sums of their products, and norms squares of those: all must be finite."""


def kind_of(X: Sequence[Sequence[Any]]) -> str:
    """What all tokens are: words, tuples of columns, or ready features (lists, dicts or sets)."""
    check_lists("X", X, "sentences")
    for sentence in X:
        if isinstance(sentence, str):
            raise InputError("a sentence is a list of tokens, not a string: split it first")
        check_lists("a sentence", sentence, "tokens")
    found = dict.fromkeys(kind_of_token(one) for one in dict.fromkeys(map(type, chain.from_iterable(X))))
    if len(found) > 1:
        raise InputError(f"X mixes kinds of tokens: {' and '.join(found)}")
    return next(iter(found), "words")


def kind_of_token(given: type) -> str:
    for kind, types in KINDS.items():
        if issubclass(given, types):
            return kind
    raise InputError(f"a token is a string, a tuple, a list or a dict, not a {given.__name__}")


def check_lists(what: str, given: Any, of: str) -> None:
    """Refuse what has no length or no order, such as None, a generator or a dict."""
    if not isinstance(given, Sized) or not isinstance(given, Iterable) or isinstance(given, (Mapping, Set)):
        raise InputError(f"{what} must be a list of {of}, not a {type(given).__name__}")


def lengths(X: Sequence[Sequence[Any]]) -> Ints:
    """Where each sentence begins, and where the last ends."""
    return np.concatenate([[0], np.cumsum([len(sentence) for sentence in X], dtype=np.int64)]).astype(np.int64)


def as_columns(X: Sequence[Sequence[Any]], names: Sequence[str]) -> Columns:
    """Sentences of strings (one column) or of tuples, by columns."""
    tokens = list(chain.from_iterable(X))
    if tokens and isinstance(tokens[0], str):
        tokens = [(token,) for token in tokens]
    widths = set(map(len, tokens)) or {len(names)}
    if widths != {len(names)}:
        wrong = next(iter(widths - {len(names)}))
        raise InputError(f"a token has {wrong} columns, the tagger knows {len(names)}: {', '.join(names)}")
    ids = np.empty((len(names), len(tokens)), np.int32)
    strings = []
    for row, values in zip(ids, zip(*tokens, strict=True) if tokens else [()] * len(names), strict=True):
        if not all(issubclass(one, str) for one in set(map(type, values))):
            raise InputError("the columns of a token must be strings")
        number: dict[str, int] = {}
        row[:] = [number.setdefault(value, len(number)) for value in values]
        strings.append(list(number))
    return Columns(tuple(names), strings, ids, lengths(X))


class FeatureEncoder:
    """Attributes that users made: lists of strings, or dicts as CRFsuite's wrappers take them.

    In a dict a string value makes the attribute "key:value", a number or bool the attribute "key" with that value,
    a list one attribute "key:item" for each item, a dict the same with "key:" before its keys.
    """

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def fit(self, X: Sequence[Sequence[Any]], minimum_count: int = 1) -> None:
        """Number the attributes that occur at least `minimum_count` times, in the order of their first occurrence.

        Attributes that are known already keep their numbers.
        """
        counts = dict.fromkeys(self.numbers, minimum_count)
        for token in chain.from_iterable(X):
            for name, _ in attributes_of(token):
                counts[name] = counts.get(name, 0) + 1
        kept = (name for name, count in counts.items() if count >= minimum_count)
        self.numbers = {name: number for number, name in enumerate(kept)}

    def encode(self, X: Sequence[Sequence[Any]]) -> tuple[NDArray[np.uint32], Floats, Ints]:
        """The known attributes of each position as (attributes, values, starts); no values if all are 1."""
        ids: list[int] = []
        values: list[float] = []
        starts = [0]
        for token in chain.from_iterable(X):
            for name, value in attributes_of(token):
                if (number := self.numbers.get(name)) is not None:
                    ids.append(number)
                    values.append(value)
            starts.append(len(ids))
        array = np.array(values, float)
        if not np.isfinite(array).all():
            raise InputError("a feature has the value NaN or infinity")
        if len(array) and (largest := np.abs(array).max()) > LARGEST_VALUE:
            raise InputError(f"a feature has the value {largest:g}; the largest is {LARGEST_VALUE:g}: scale the values")
        return np.array(ids, np.uint32), array if (array != 1).any() else np.zeros(0), np.array(starts, np.int64)

    def names(self, attributes: Sequence[int]) -> list[str]:
        """Attributes as users named them."""
        names = list(self.numbers)
        return [names[attribute] for attribute in attributes]


def attributes_of(token: Any, before: str = "", depth: int = 0) -> Iterable[tuple[str, float]]:
    """The attributes of a token with their values."""
    if depth > DEEPEST:
        raise InputError("the features of a token are nested too deeply, or contain themselves")
    if not isinstance(token, Mapping):
        if isinstance(token, str) or not isinstance(token, Iterable):
            raise InputError(f"ready features are lists of strings or dicts, not {token!r}")
        for item in token:
            if not isinstance(item, str):
                raise InputError(f"a feature in a list must be a string, not {item!r}")
            yield before + item, 1.0
        return
    for key, value in token.items():
        name = f"{before}{key}"
        if isinstance(value, str):
            yield f"{name}:{value}", 1.0
        elif isinstance(value, (numbers.Real, np.bool_)):
            try:
                yield name, float(value)
            except OverflowError:
                raise InputError(f"the value of the feature '{name}' is too large") from None
        else:
            yield from attributes_of(value, f"{name}:", depth + 1)
