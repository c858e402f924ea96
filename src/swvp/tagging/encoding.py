"""Encoding: the tokens of a corpus as numbered attributes, from templates or from ready features."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.features.encoder import TemplateEncoder
from swvp.structures.chain.attributes import AttributeChain
from swvp.tagging.corpus import Corpus
from swvp.types import Floats, Ints

__all__ = ["Encoder", "FeatureEncoder", "chain_of", "fit_chain"]

DEEPEST = 50
"""Levels of nested features."""
LARGEST_VALUE = 1e30
"""Weights are sums of values, scores sums of their products, and norms squares of those: all must be finite."""


class FeatureEncoder:
    """Encodes ready features: lists of strings, or dicts as CRFsuite's wrappers take them.

    In a dict a string value makes the attribute "key:value", a number or bool the attribute "key" with that value,
    a list one attribute "key:item" for each item, a dict the same with "key:" before its keys.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.numbers: dict[str, int] = {name: number for number, name in enumerate(names)}

    @property
    def size(self) -> int:
        """The number of attributes."""
        return len(self.numbers)

    def fit(self, X: Sequence[Sequence[Any]], minimum_count: int = 1) -> None:
        """Number the attributes that occur at least `minimum_count` times, in the order of their first occurrence.

        Attributes that are known already keep their numbers.
        """
        counts = dict.fromkeys(self.numbers, minimum_count)
        for token in chain.from_iterable(X):
            for name, _ in attributes_of(token):
                counts[name] = counts.get(name, 0) + 1
        frequent = (name for name, count in counts.items() if count >= minimum_count)
        self.numbers = {name: number for number, name in enumerate(frequent)}

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
        encoder.fit(corpus.features, minimum_count)
        return chain_of(encoder, corpus)
    assert corpus.columns is not None
    assert corpus.labels is not None
    attributes, starts = encoder.fit(corpus.columns, minimum_count, *corpus.labels)
    return AttributeChain(attributes, np.zeros(0), starts, np.zeros(0, np.uint32), corpus.offsets)
