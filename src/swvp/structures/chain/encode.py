"""Owns turning columns of strings into attributes: each distinct string is touched once, the rest is integers.

A slot is a function of a column, `lower(word)`; its vocabulary numbers the strings it gave in training. At each
position a template mixes the numbers of its atoms' slots, at their offsets, into one 64-bit key, exactly: a
mixed-radix number of which the template is the last digit. A hash table in a flat array takes keys to attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import kernel
from swvp.errors import InputError
from swvp.structures.chain.templates import FUNCTIONS, Template
from swvp.structures.operations import Ints

__all__ = ["Columns", "TemplateEncoder"]

UNKNOWN = -1
FREE = -1
Keys = NDArray[np.int64]


class Columns(NamedTuple):
    """A corpus by columns: per column the distinct strings and which of them each position has."""

    names: tuple[str, ...]
    strings: list[list[str]]
    ids: NDArray[np.int32]  # (columns, positions)
    offsets: Ints


class TemplateEncoder:
    """Attributes by templates: `fit` numbers what occurs often enough in training, `encode` looks it up."""

    def __init__(self, templates: Sequence[Template]):
        self.templates = list(templates)
        self.slots = list(dict.fromkeys(atom[:1] + atom[2:] for template in templates for atom in template.atoms))
        self.reach = max((abs(atom.offset) for template in templates for atom in template.atoms), default=0)
        slot_of = {slot: k for k, slot in enumerate(self.slots)}
        atoms = [(slot_of[atom[:1] + atom[2:]], atom.offset) for template in templates for atom in template.atoms]
        self.atoms = np.array(atoms, np.int64).reshape(-1, 2)
        self.starts = np.cumsum([0, *(len(template.atoms) for template in templates)])
        self.vocabularies: list[dict[str, int]] = [{} for _ in self.slots]
        self.keys: Keys = np.zeros(0, np.int64)
        self.table: Keys = np.full(2, FREE)

    def fit(self, columns: Columns, minimum_count: int = 1) -> None:
        """Number the attributes that occur at least `minimum_count` times, in the order of their first occurrence."""
        numbers = self.numbers(columns, grow=True)
        for template, a, b in zip(self.templates, self.starts, self.starts[1:], strict=False):
            keys = np.prod([float(self.radix[slot]) for slot, _ in self.atoms[a:b]]) * len(self.templates)
            if keys >= 2.0**63:
                raise InputError(f"template '{template.text}' has too many possible values; use fewer atoms")
        self.keys, self.table = collect(
            numbers, columns.offsets, self.atoms, self.starts, self.radix, self.reach, minimum_count
        )

    def restore(self, vocabularies: Sequence[Sequence[str]], keys: Keys) -> None:
        """Take back what `fit` found: the strings of each slot and the keys of the attributes."""
        self.vocabularies = [{string: number for number, string in enumerate(strings)} for strings in vocabularies]
        self.keys = np.array(keys, np.int64)
        sizes = [len(strings) for strings in vocabularies]
        if len(sizes) != len(self.slots) or sizes != [len(vocabulary) for vocabulary in self.vocabularies]:
            raise InputError("the vocabularies do not fit the templates")
        if self.keys.ndim != 1 or (self.keys < 0).any() or len(np.unique(self.keys)) < len(self.keys):
            raise InputError("the keys of the attributes cannot be right")
        self.table = build(self.keys, len(self.keys), len(self.keys))

    @property
    def radix(self) -> Ints:
        """How many numbers each slot has: one per string, and one per distance beyond either end of a sequence."""
        return np.array([len(vocabulary) + 2 * self.reach for vocabulary in self.vocabularies], np.int64)

    def numbers(self, columns: Columns, *, grow: bool) -> NDArray[np.int32]:
        """The number of each slot's string at each position, or UNKNOWN."""
        result = np.empty((len(self.slots), columns.ids.shape[1]), np.int32)
        for row, (column, function, number), vocabulary in zip(result, self.slots, self.vocabularies, strict=True):
            at = columns.names.index(column)
            derived = [FUNCTIONS[function](string, number) for string in columns.strings[at]]
            if grow:
                of_string = [vocabulary.setdefault(string, len(vocabulary)) for string in derived]
            else:
                of_string = [vocabulary.get(string, UNKNOWN) for string in derived]
            np.take(np.array(of_string, np.int32), columns.ids[at], out=row)
        return result

    def encode(self, columns: Columns) -> tuple[NDArray[np.uint32], Ints]:
        """The known attributes of each position, as (attributes, starts)."""
        numbers = self.numbers(columns, grow=False)
        return look_up(numbers, columns.offsets, self.atoms, self.starts, self.radix, self.reach, self.keys, self.table)  # type: ignore[no-any-return]

    def name(self, attribute: int) -> str:
        """An attribute as people read it: its template with the strings filled in."""
        key, template = divmod(int(self.keys[attribute]), len(self.templates))
        strings = []
        for slot, _ in self.atoms[self.starts[template] : self.starts[template + 1]][::-1]:
            key, digit = divmod(key, int(self.radix[slot]))
            words = list(self.vocabularies[slot])
            outside = digit - len(words)
            beyond = f"<{outside - 2 * self.reach}>" if outside >= self.reach else f"<{outside + 1:+d}>"
            strings.append(words[digit] if outside < 0 else beyond)
        return f"{self.templates[template].text} = {' & '.join(strings[::-1])}" if strings else "bias"


@kernel
def key_of(template, t, start, stop, numbers, atoms, atom_starts, radix, reach):
    """The key of a template at position t of the sequence start:stop, or UNKNOWN."""
    key = 0
    for a in range(atom_starts[template], atom_starts[template + 1]):
        slot = atoms[a, 0]
        at = t + atoms[a, 1]
        if at < start:
            digit = radix[slot] - (start - at)  # the last `reach` numbers: before the sequence
        elif at >= stop:
            digit = radix[slot] - 2 * reach + (at - stop)
        else:
            digit = numbers[slot, at]
            if digit < 0:
                return UNKNOWN
        key = key * radix[slot] + digit
    return key * (len(atom_starts) - 1) + template


@kernel
def find(key, keys, table):
    """The place of a key in the table: that of its number, or a free one."""
    mask = len(table) - 1
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    place = np.int64((mixed >> np.uint64(20)) & np.uint64(mask))
    while table[place] != FREE and keys[table[place]] != key:
        place = (place + 1) & mask
    return place


@kernel
def build(keys, count, room):
    """A table of the first `count` keys, at most half full with `room` of them."""
    size = 2
    while size < 2 * room + 2:
        size *= 2
    table = np.full(size, FREE, np.int64)
    for number in range(count):
        table[find(keys[number], keys, table)] = number
    return table


@kernel
def collect(numbers, offsets, atoms, atom_starts, radix, reach, minimum_count):
    """The keys that occur at least `minimum_count` times, in the order of their first occurrence, and their table."""
    keys, counts = np.empty(1024, np.int64), np.empty(1024, np.int64)
    table = build(keys, 0, 0)
    count = 0
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            for template in range(len(atom_starts) - 1):
                key = key_of(template, t, offsets[i], offsets[i + 1], numbers, atoms, atom_starts, radix, reach)
                place = find(key, keys, table)
                if table[place] != FREE:
                    counts[table[place]] += 1
                    continue
                if count == len(keys):
                    keys = np.concatenate((keys, np.empty(count, np.int64)))
                    counts = np.concatenate((counts, np.empty(count, np.int64)))
                keys[count], counts[count] = key, 1
                table[place] = count
                count += 1
                if 2 * count + 2 > len(table):
                    table = build(keys, count, 2 * count)
    kept = 0
    for number in range(count):
        if counts[number] >= minimum_count:
            keys[kept] = keys[number]
            kept += 1
    keys = keys[:kept].copy()
    return keys, build(keys, kept, kept)


@kernel
def look_up(numbers, offsets, atoms, atom_starts, radix, reach, keys, table):
    """The attributes of every position, those that are known."""
    positions = numbers.shape[1] if len(numbers) else offsets[-1]
    attributes = np.empty(positions * (len(atom_starts) - 1), np.uint32)
    starts = np.empty(positions + 1, np.int64)
    count = 0
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            starts[t] = count
            for template in range(len(atom_starts) - 1):
                key = key_of(template, t, offsets[i], offsets[i + 1], numbers, atoms, atom_starts, radix, reach)
                if key != UNKNOWN:
                    number = table[find(key, keys, table)]
                    if number != FREE:
                        attributes[count] = number
                        count += 1
    starts[positions] = count
    return attributes[:count].copy(), starts
