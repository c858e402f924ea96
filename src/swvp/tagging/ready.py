"""Ready features: tokens as lists or dicts, as python-crfsuite takes them, and their attributes as numbers.

Tokens are read as pairs (`swvp.tagging.pairs`), in blocks. Pairs are numbers, which a kernel renumbers in the order of
their first occurrence. The names of attributes are made from the distinct pairs only.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from swvp.errors import InputError
from swvp.features.encoder import build, number_pairs
from swvp.tagging.pairs import NO_VALUES, PairReader, Part, Values, attributes_of, joined_values
from swvp.types import Floats, Ids, Ints

__all__ = ["FeatureEncoder"]

BLOCK = 8192
"""Tokens that are read at a time, to bound the memory."""
FEW = 200
"""So many tokens are encoded one by one, which is faster: a sentence, for example."""
LARGEST_VALUE = 1e30
"""Weights are sums of values, scores sums of their products, and norms squares of those: all must be finite."""
UNKNOWN = 2**32 - 1


class Block(NamedTuple):
    """The numbered pairs of the tokens of a block; without those of value 0, which change nothing."""

    widths: Ints
    ids: Ids
    values: Values  # as in Pairs


class PairNumbers:
    """Numbers pairs in the order of their first occurrence, and counts them."""

    def __init__(self) -> None:
        self.size = 0
        self.pairs: Ints = np.empty(0, np.int64)
        self.counts: Ints = np.empty(0, np.int64)
        self.table: Ints = np.empty(0, np.int64)

    def number(self, tokens: int, parts: Sequence[Part]) -> Block:
        """Number the pairs of a block of tokens, token by token."""
        widths, starts, end = np.empty(tokens, np.int64), np.empty(tokens, np.int64), 0
        for members, part in parts:
            widths[members] = part.widths
            starts[members] = np.cumsum(part.widths) - part.widths + end
            end += len(part.pairs)
        pairs = np.concatenate([part.pairs for _, part in parts])
        values = joined_values([part.values for _, part in parts], [len(part.pairs) for _, part in parts])
        self._reserve(self.size + end)
        ids, kept = np.empty(end, np.uint32), np.empty_like(values)
        self.size, size = number_pairs(
            pairs, values, starts, widths, self.pairs, self.counts, self.size, self.table, ids, kept
        )
        kept = check_values(kept[:size]) if len(values) else NO_VALUES
        return Block(widths, ids[:size].copy() if size < end else ids, kept)

    def _reserve(self, most: int) -> None:
        if most > len(self.pairs):
            room = np.zeros(most + most // 4 - self.size, np.int64)
            self.pairs = np.concatenate([self.pairs[: self.size], room])
            self.counts = np.concatenate([self.counts[: self.size], room])
            self.table = build(self.pairs, self.size, len(self.pairs))


def check_values(values: Values) -> Values:
    """The values, or none if all are 1; InputError if one is not finite or too large."""
    if (values == 1).all():
        return NO_VALUES
    if not np.isfinite(values).all():
        raise InputError("a feature has the value NaN or infinity")
    if (largest := np.abs(values).max()) > LARGEST_VALUE:
        raise InputError(f"a feature has the value {largest:g}; the largest is {LARGEST_VALUE:g}: scale the values")
    return values.copy()


class Blocks(NamedTuple):
    """Tokens as blocks of numbered pairs, the names of the pairs, and how often each occurs."""

    blocks: list[Block]
    names: list[str]
    counts: Ints


def read_blocks(X: Sequence[Sequence[Any]]) -> Blocks:
    """Read all tokens."""
    reader, known, blocks = PairReader(), PairNumbers(), []
    tokens = chain.from_iterable(X)
    while block := list(itertools.islice(tokens, BLOCK)):
        blocks.append(known.number(len(block), reader.read(block)))
    return Blocks(blocks, reader.names(known.pairs[: known.size]), known.counts[: known.size])


def only_known(block: Block) -> Block:
    """The block without attributes that are unknown."""
    known = block.ids != UNKNOWN
    until = np.concatenate([[0], np.cumsum(known)])
    ends = np.cumsum(block.widths)
    widths = until[ends] - until[ends - block.widths]
    return Block(widths, block.ids[known], block.values[known] if len(block.values) else NO_VALUES)


class FeatureEncoder:
    """Encodes ready features: lists of strings, or dicts as CRFsuite's wrappers take them.

    In a dict a string value makes the attribute "key:value", a number or bool the attribute "key" with that value,
    a list or set one attribute "key:item" for each item, a dict the same with "key:" before its keys.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.numbers: dict[str, int] = {name: number for number, name in enumerate(names)}

    @property
    def size(self) -> int:
        """The number of attributes."""
        return len(self.numbers)

    def fit(self, X: Sequence[Sequence[Any]], minimum_count: int = 1) -> tuple[Ids, Floats, Ints]:
        """Number the attributes that occur at least `minimum_count` times, in the order of their first occurrence.

        Attributes that are known already keep their numbers. Returns the attributes of each position, as `encode`.
        """
        blocks, names, counts = read_blocks(X)
        if minimum_count > 1:
            total: dict[str, int] = dict.fromkeys(self.numbers, minimum_count)
            for name, count in zip(names, counts.tolist(), strict=True):  # several pairs may have the same name
                total[name] = total.get(name, 0) + count
            frequent = [name for name in names if total[name] >= minimum_count]
        else:
            frequent = names
        if self.numbers:
            frequent = [*self.numbers, *frequent]
        self.numbers = dict(zip(frequent, itertools.count(), strict=False))
        if len(self.numbers) < len(frequent):  # a name was there twice
            self.numbers = {name: number for number, name in enumerate(dict.fromkeys(frequent))}
        return self._encoded(blocks, names)

    def encode(self, X: Sequence[Sequence[Any]]) -> tuple[Ids, Floats, Ints]:
        """The known attributes of each position as (attributes, values, starts); no values if all are 1."""
        if sum(map(len, X)) <= FEW:
            return self._encode_one_by_one(X)
        blocks, names, _ = read_blocks(X)
        return self._encoded(blocks, names)

    def _encode_one_by_one(self, X: Sequence[Sequence[Any]]) -> tuple[Ids, Floats, Ints]:
        ids: list[int] = []
        values: list[float] = []
        starts = [0]
        for token in chain.from_iterable(X):
            for name, value in attributes_of(token):
                if value and (number := self.numbers.get(name)) is not None:
                    ids.append(number)
                    values.append(value)
            starts.append(len(ids))
        checked = check_values(np.array(values, float))
        return np.array(ids, np.uint32), checked.astype(float), np.array(starts, np.int64)

    def _encoded(self, blocks: list[Block], names: list[str]) -> tuple[Ids, Floats, Ints]:
        of_pair = np.fromiter(map(self.numbers.get, names, itertools.repeat(UNKNOWN)), np.uint32, len(names))
        if (of_pair != np.arange(len(names))).any():
            blocks = [block._replace(ids=of_pair[block.ids]) for block in blocks]
        if UNKNOWN in of_pair:
            blocks = [only_known(block) for block in blocks]
        starts = np.cumsum(np.concatenate([[0], *(block.widths for block in blocks)]), dtype=np.int64)
        values = joined_values([block.values for block in blocks], [len(block.ids) for block in blocks]).astype(float)
        attributes = np.empty(starts[-1], np.uint32)
        end = len(attributes)
        while blocks:  # each block is freed when it is copied: both together would need twice the memory
            ids = blocks.pop().ids
            attributes[end - len(ids) : end] = ids
            end -= len(ids)
        return attributes, values, starts

    def names(self, attributes: Sequence[int]) -> list[str]:
        """Attributes as users named them."""
        names = list(self.numbers)
        return [names[attribute] for attribute in attributes]
