"""Tokens with ready features as pairs (prefix, string), each with a value.

{"word": "Ann"} has the pair ("word:", "Ann"); a pair without a prefix is the whole name of an attribute. Tokens with
the same keys form a table, whose columns are read by functions written in C. So each distinct string is touched once
in Python. Tokens that form no table are read one by one.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from operator import add, itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.types import Ints

__all__ = ["NO_VALUES", "PairReader", "Pairs", "Part", "Values", "attributes_of", "joined_values"]

SMALLEST_TABLE = 16
"""Fewer tokens with the same keys are read without a table."""
DEEPEST = 50
"""Levels of nested features."""
PREFIX = 32
"""A pair is a 64-bit number: the number of its prefix, and in the lower 32 bits that of its string."""


class Pairs(NamedTuple):
    """The pairs of several tokens, one token after the other.

    `values` are those of the pairs: float64, or uint8 if all are small whole numbers, or empty if all are 1.
    """

    widths: Ints  # the number of pairs of each token
    pairs: Ints
    values: Values


Values = NDArray[np.float64] | NDArray[np.uint8]
NO_VALUES: Values = np.zeros(0, np.uint8)
ONE_EACH: Ints = np.ones(1, np.int64)
"""The widths of a column with one pair for each token."""

Part = tuple[Ints, Pairs]
"""Some of the tokens of a block: their numbers, and their pairs."""


class StringNumbers(dict[str, int]):
    """A number for each string, in the order of their first look-up; TypeError for what is no string."""

    def __missing__(self, string: Any) -> int:
        if not isinstance(string, str):
            raise TypeError
        self[string] = number = len(self)
        return number


class PairReader:
    """Reads tokens as pairs; numbers the strings and the prefixes."""

    def __init__(self) -> None:
        self.strings = StringNumbers()
        self.prefixes = StringNumbers({"": 0})

    def names(self, pairs: Ints) -> list[str]:
        """The names of the attributes of pairs."""
        strings, prefixes = list(self.strings), list(self.prefixes)
        before = map(prefixes.__getitem__, (pairs >> PREFIX).tolist())
        return list(map(add, before, map(strings.__getitem__, (pairs & (2**PREFIX - 1)).tolist())))

    def read(self, tokens: Sequence[Any]) -> list[Part]:
        """The pairs of tokens, in several parts."""
        types = set(map(type, tokens))
        if types == {dict}:
            return self.dicts(tokens)
        pairs = self.lists(tokens, "") if types == {list} else None
        return [(np.arange(len(tokens)), pairs or self.one_by_one(tokens))]

    def dicts(self, tokens: Sequence[dict[Any, Any]], before: str = "", depth: int = 0) -> list[Part]:
        """The pairs of tokens that are dicts; `before` stands before their keys."""
        if depth > DEEPEST:
            raise too_deep()
        parts, rest = [], []
        for members, cells in tables_of(tokens):
            pairs = self.table(list(tokens[members[0]]), cells, before, depth) if cells else None
            if pairs is None:
                rest.append(members)
            else:
                parts.append((members, pairs))
        if rest:
            members = np.concatenate(rest)
            others = chosen(tokens, members)
            parts.append((members, self.weights(others, before) or self.one_by_one(others, before, depth)))
        return parts

    def table(self, keys: list[Any], cells: list[Any], before: str, depth: int) -> Pairs | None:
        """The pairs of dicts with the same keys, or None if the values of a key are of different kinds."""
        columns = []
        for k, key in enumerate(keys):
            column = self.column(before + text(key), cells[k :: len(keys)], depth)
            if column is None:
                return None
            columns.append(column)
        return side_by_side(len(cells) // len(keys), columns)

    def column(self, name: str, cells: list[Any], depth: int) -> Pairs | None:
        """The pairs of one key of several tokens, or None if their values are of different kinds."""
        first = cells[0]
        try:
            if isinstance(first, str):
                return Pairs(ONE_EACH, self.pairs(cells, len(cells), f"{name}:"), NO_VALUES)
            if isinstance(first, Mapping):
                if set(map(type, cells)) != {dict}:
                    return None
                return in_order(len(cells), self.dicts(cells, f"{name}:", depth + 1))
            if isinstance(first, Set):
                return self.lists([sorted(cell) for cell in cells], f"{name}:")
            if isinstance(first, Collection):
                return self.lists(cells, f"{name}:")
            return Pairs(ONE_EACH, np.array([self.strings[name]]), numbers(cells))
        except (TypeError, OverflowError):
            return None

    def lists(self, tokens: Sequence[Any], prefix: str) -> Pairs | None:
        """The pairs of lists of strings, or None if they are none."""
        if not set(map(type, tokens)) <= {list, tuple}:
            return None
        widths = np.fromiter(map(len, tokens), np.int64, len(tokens))
        try:
            return Pairs(widths, self.pairs(chain.from_iterable(tokens), int(widths.sum()), prefix), NO_VALUES)
        except TypeError:
            return None

    def weights(self, tokens: Sequence[dict[Any, Any]], before: str) -> Pairs | None:
        """The pairs of dicts whose values are all numbers, or None if there are others."""
        widths = np.fromiter(map(len, tokens), np.int64, len(tokens))
        names: Iterable[Any] = chain.from_iterable(tokens)
        if before:
            names = (before + text(name) for name in names)
        try:
            values = np.frombuffer(array("d", chain.from_iterable(map(dict.values, tokens))))
            return Pairs(widths, self.pairs(names, len(values), ""), values)
        except (TypeError, OverflowError):
            return None

    def one_by_one(self, tokens: Sequence[Any], before: str = "", depth: int = 0) -> Pairs:
        """The pairs of tokens of any kind."""
        widths: list[int] = []
        names: list[str] = []
        values: list[float] = []
        for token in tokens:
            size = len(names)
            for name, value in attributes_of(token, before, depth):
                names.append(name)
                values.append(value)
            widths.append(len(names) - size)
        return Pairs(np.array(widths, np.int64), self.pairs(names, len(names), ""), np.array(values, float))

    def pairs(self, strings: Iterable[Any], count: int, prefix: str) -> Ints:
        """The pairs of strings with a prefix; TypeError if one is no string."""
        numbers = np.fromiter(map(self.strings.__getitem__, strings), np.int64, count)
        numbers += self.prefixes[prefix] << PREFIX
        return numbers


def tables_of(tokens: Sequence[dict[Any, Any]]) -> Iterator[tuple[Ints, list[Any]]]:
    """The numbers of the tokens with the same keys and their values, token by token, in the order of the first's keys.

    No values if there are few such tokens.
    """
    sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
    for size in np.unique(sizes).tolist():
        members = np.flatnonzero(sizes == size)
        try:
            yield members, cells_of(chosen(tokens, members))
        except KeyError:
            groups: dict[tuple[Any, ...], list[int]] = {}
            for t in members.tolist():
                groups.setdefault(tuple(tokens[t]), []).append(t)
            for group in map(np.array, groups.values()):
                yield group, cells_of(chosen(tokens, group))


def chosen(tokens: Sequence[Any], members: Ints) -> list[Any]:
    """The tokens with these numbers."""
    return [tokens[t] for t in members.tolist()]


def cells_of(tokens: Sequence[dict[Any, Any]]) -> list[Any]:
    """The values of tokens of the same size, in the order of the first one's keys; KeyError if other keys differ."""
    keys = list(tokens[0])
    if len(tokens) < SMALLEST_TABLE or len(keys) < 2:
        return [token[key] for token in tokens for key in keys] if len(tokens) >= SMALLEST_TABLE else []
    return list(chain.from_iterable(map(itemgetter(*keys), tokens)))


def numbers(cells: list[Any]) -> Values:
    """Numbers and bools as an array; TypeError or OverflowError if one is neither."""
    try:
        return np.frombuffer(bytes(cells), np.uint8)  # bools and small whole numbers: the fastest way
    except (TypeError, ValueError):
        return np.frombuffer(array("d", cells))


def empty_values(parts: Iterable[Pairs], size: int) -> Values:
    """An array of 1s for the values of all parts; empty if none has values."""
    types = {part.values.dtype for part in parts if len(part.values)}
    if not types:
        return NO_VALUES
    return np.ones(size, np.float64) if np.dtype(float) in types else np.ones(size, np.uint8)


def joined_values(values: Sequence[Values], sizes: Sequence[int]) -> Values:
    """The values of parts of these sizes, one after the other; empty if no part has any."""
    if not any(map(len, values)):
        return NO_VALUES
    parts = [part if len(part) else np.ones(size, np.uint8) for part, size in zip(values, sizes, strict=True)]
    return np.concatenate(parts)  # type: ignore[return-value]


def side_by_side(tokens: int, columns: Sequence[Pairs]) -> Pairs:
    """The pairs of the columns of a table, token by token."""
    if all(column.widths is ONE_EACH for column in columns):
        widths = np.full(tokens, len(columns))
        at: Any = [slice(k, None, len(columns)) for k in range(len(columns))]
    else:
        table = np.stack([np.broadcast_to(column.widths, tokens) for column in columns], axis=1)
        widths = table.sum(axis=1)
        starts = (np.cumsum(table) - table.ravel()).reshape(table.shape)
        at = [places(starts[:, k], table[:, k]) for k in range(len(columns))]
    return put_together(widths, at, columns)


def in_order(tokens: int, parts: Sequence[Part]) -> Pairs:
    """The pairs of tokens that were read in several parts."""
    widths = np.zeros(tokens, np.int64)
    for members, part in parts:
        widths[members] = part.widths
    starts = np.cumsum(widths) - widths
    at = [places(starts[members], part.widths) for members, part in parts]
    return put_together(widths, at, [part for _, part in parts])


def put_together(widths: Ints, at: Sequence[Any], parts: Sequence[Pairs]) -> Pairs:
    """The pairs of all parts; those of part k belong at the indices at[k]."""
    pairs = np.empty(widths.sum(), np.int64)
    values = empty_values(parts, len(pairs))
    for indices, part in zip(at, parts, strict=True):
        pairs[indices] = part.pairs
        if len(part.values):
            values[indices] = part.values
    return Pairs(widths, pairs, values)


def places(starts: Ints, widths: Ints) -> Ints:
    """The indices starts[t], …, starts[t] + widths[t] - 1 for each t.

    >>> places(np.array([0, 5]), np.array([2, 3])).tolist()
    [0, 1, 5, 6, 7]
    """
    before = np.cumsum(widths) - widths
    result: Ints = np.repeat(starts - before, widths)
    result += np.arange(len(result))
    return result


# ---------------------------------------------------------------- one token


def attributes_of(token: Any, before: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """The names and values of the attributes of a token."""
    if depth > DEEPEST:
        raise too_deep()
    if not isinstance(token, Mapping):
        if isinstance(token, (str, bytes)) or not isinstance(token, Iterable):
            raise InputError(f"ready features are lists of strings or dicts, not {token!r}")
        for item in items_of(token):
            yield before + item, 1.0
        return
    for key, value in token.items():
        name = before + (key if isinstance(key, str) else text(key))
        if isinstance(value, str):
            yield f"{name}:{value}", 1.0
        elif isinstance(value, (float, bool)):  # the frequent ones first: this is the slow way
            yield name, float(value)
        elif isinstance(value, bytes):
            yield f"{name}:{text(value)}", 1.0
        elif isinstance(value, Collection):
            yield from attributes_of(value, f"{name}:", depth + 1)
        else:
            try:
                yield name, float(value)
            except OverflowError:
                raise InputError(f"the value of the feature '{name}' is too large") from None
            except (TypeError, ValueError):
                raise InputError(
                    f"the value of a feature is a string, a number, a list or a dict, not {value!r}"
                ) from None


def items_of(features: Iterable[Any]) -> list[str]:
    """The strings of a list or set; sets are sorted, because their order changes from one process to the next."""
    items = []
    for item in features:
        if not isinstance(item, (str, bytes)):
            raise InputError(f"a feature in a list must be a string, not {item!r}")
        items.append(text(item))
    return sorted(items) if isinstance(features, Set) else items


def text(name: Any) -> str:
    """A key or a string as a string; CRFsuite's wrapper also takes bytes."""
    return name.decode() if isinstance(name, bytes) else str(name)


def too_deep() -> InputError:
    return InputError("the features of a token are nested too deeply, or contain themselves")
