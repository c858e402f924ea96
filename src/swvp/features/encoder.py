"""Columns of strings as attributes: each distinct string is processed once, the rest is integers.

A slot is a function of a column, `lower(word)`; its vocabulary numbers the strings that it has in training. At each
position a template combines the numbers of its slots, at their offsets, into one 64-bit key, exactly: a mixed-radix
number whose last digit is the template. A hash table in a flat array maps keys to attributes; it holds pairs (key,
number) next to each other, so that one access to memory finds both. With a hash size, a key is hashed to one of that
many attributes instead, and keys are not stored. The kernels that make, number and look up keys come first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import inlined, kernel
from swvp.errors import InputError
from swvp.features.clusters import CLUSTERS
from swvp.features.lexicons import Columns, Lexicon, clusters_of, learn_tags
from swvp.features.remembered import StringRows
from swvp.features.templates import FUNCTIONS, Slot, Template
from swvp.types import Ids, Int32s, Ints

__all__ = ["Columns", "TemplateEncoder", "build", "collect", "look_up", "number_pairs", "rekey"]

UNKNOWN = -1
FREE = -1
PART = 2**17
"""How many tokens are numbered at once: their strings have a number for each slot."""
FEW_KEYS = 2**15 - 1
"""How many keys there is room for at first; a table has a power of 2 of places, and twice as many as keys."""


@inlined
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
            digit = np.int64(numbers[slot, at])
            if digit < 0:
                return UNKNOWN
        key = key * radix[slot] + digit
    return key * (len(atom_starts) - 1) + template


@inlined
def scrambled(key):
    """A number whose bits all depend on the key."""
    bits = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return bits ^ (bits >> np.uint64(29))


@inlined
def find(key, table):
    """The place of the pair of a key in the table, or the free one where it belongs."""
    mask = np.uint64(len(table) // 2 - 1)
    place = (scrambled(key) >> np.uint64(7)) & mask
    while table[2 * place] != FREE and table[2 * place] != key:
        place = (place + np.uint64(1)) & mask
    return 2 * place


@kernel
def build(keys, count, capacity):
    """A table of the first `count` keys, at most half full with `capacity` of them."""
    size = 2
    while size < 2 * capacity + 2:
        size *= 2
    table = np.full(2 * size, FREE, np.int64)
    for number in range(count):
        place = find(keys[number], table)
        table[place] = keys[number]
        table[place + np.uint64(1)] = number
    return table


@kernel
def rekey(keys, atoms, atom_starts, old_radix, new_radix, reach):
    """The same attributes under keys of larger vocabularies."""
    templates = len(atom_starts) - 1
    renewed = np.empty(len(keys), np.int64)
    for number in range(len(keys)):
        rest, template = keys[number] // templates, keys[number] % templates
        key, unit = 0, 1
        for a in range(atom_starts[template + 1] - 1, atom_starts[template] - 1, -1):
            slot = atoms[a, 0]
            digit = rest % old_radix[slot]
            rest //= old_radix[slot]
            if digit >= old_radix[slot] - 2 * reach:  # beyond an end: these stay the last numbers
                digit += new_radix[slot] - old_radix[slot]
            key += digit * unit
            unit *= new_radix[slot]
        renewed[number] = key * templates + template
    return renewed


@kernel
def collect(numbers, offsets, atoms, atom_starts, radix, reach, minimum_count, known):
    """The known keys, then those that occur at least `minimum_count` times, in the order of their first occurrence.

    Returns (keys, attributes of every position, starts).
    """
    templates = len(atom_starts) - 1
    positions = offsets[-1]
    attributes = np.empty(positions * templates, np.uint32)
    count = len(known)
    capacity = FEW_KEYS
    while capacity <= count:
        capacity += capacity + 1
    counting = minimum_count > 1
    keys, counts = np.empty(capacity, np.int64), np.zeros(capacity if counting else 0, np.int64)
    for number in range(count):
        keys[number] = known[number]
        if counting:
            counts[number] = minimum_count
    table = build(keys, count, len(keys))
    here = np.empty(templates, np.int64)
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            for template in range(templates):
                here[template] = key_of(
                    template, t, offsets[i], offsets[i + 1], numbers, atoms, atom_starts, radix, reach
                )
            for template in range(templates):  # all keys first, as in `look_up`
                key = here[template]
                place = find(key, table)
                number = table[place + np.uint64(1)]
                if number == FREE:
                    number = count
                    if count == len(keys):
                        keys = np.concatenate((keys, np.empty(count + 1, np.int64)))
                        if counting:
                            counts = np.concatenate((counts, np.zeros(count + 1, np.int64)))
                        table = build(keys, count, len(keys))
                        place = find(key, table)
                    keys[count] = key
                    table[place] = key
                    table[place + np.uint64(1)] = count
                    count += 1
                if counting:
                    counts[number] += 1
                attributes[t * templates + template] = number
    size, starts = 0, np.empty(positions + 1, np.int64)
    if counting:
        renumbered = np.full(count, UNKNOWN, np.int64)
        for number in range(count):
            if counts[number] >= minimum_count:
                keys[size] = keys[number]
                renumbered[number] = size
                size += 1
        end = 0
        for t in range(positions):
            starts[t] = end
            for q in range(t * templates, (t + 1) * templates):
                if renumbered[attributes[q]] != UNKNOWN:
                    attributes[end] = renumbered[attributes[q]]
                    end += 1
        starts[positions] = end
        attributes = attributes[:end].copy()
    else:
        size = count
        for t in range(positions + 1):
            starts[t] = t * templates
    return keys[:size].copy(), attributes, starts


@kernel
def look_up(numbers, offsets, atoms, atom_starts, radix, reach, table, hashed):
    """The attributes of every position, those that are known; with `hashed` > 0, of a key's hash."""
    positions, templates = offsets[-1], len(atom_starts) - 1
    attributes = np.empty(positions * templates, np.uint32)
    starts = np.empty(positions + 1, np.int64)
    count = 0
    keys = np.empty(templates, np.int64)
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            starts[t] = count
            # all keys first: then the processor waits for several places of the table at once
            known = 0
            for template in range(templates):
                keys[known] = key_of(template, t, offsets[i], offsets[i + 1], numbers, atoms, atom_starts, radix, reach)
                known += keys[known] != UNKNOWN
            for k in range(known):
                if hashed > 0:
                    number = np.int64(scrambled(keys[k]) % np.uint64(hashed))
                else:
                    number = table[find(keys[k], table) + np.uint64(1)]
                attributes[count] = number
                count += number != FREE
    starts[positions] = count
    return attributes[:count].copy(), starts


@kernel
def number_pairs(pairs, values, starts, widths, keys, counts, count, table, ids, kept):
    """Write the numbers of pairs to `ids`; new ones get the next numbers, in the order of their first occurrence.

    Token t has pairs[starts[t]:starts[t] + widths[t]], with `values`, or without if all are 1. Pairs of value 0 get a
    number, but are left out of `ids`, `kept` (the values) and `widths`. `counts` are the occurrences of each number.
    `keys`, `counts` and `table` have room for all pairs; `count` of them are known.

    Returns (the number of pairs that are known now, the size of `ids`).
    """
    size = 0
    for t in range(len(starts)):
        before = size
        for q in range(starts[t], starts[t] + widths[t]):
            place = find(pairs[q], table)
            number = table[place + np.uint64(1)]
            if number == FREE:
                number = count
                keys[count] = pairs[q]
                table[place] = pairs[q]
                table[place + np.uint64(1)] = count
                count += 1
            counts[number] += 1
            if len(values) == 0 or values[q] != 0:
                ids[size] = number
                if len(values):
                    kept[size] = values[q]
                size += 1
        widths[t] = size - before
    return count, size


def parts_of(columns: Columns) -> Iterator[Columns]:
    """Whole sentences, with all ids, of about PART tokens; `offsets` are those of the part."""
    offsets, begin = columns.offsets, 0
    while begin < len(offsets) - 1:
        end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + PART, side="right")) - 1)
        yield columns._replace(offsets=offsets[begin : end + 1])
        begin = end


def has_repeated(numbers: Ints) -> bool:
    """Whether a number occurs twice; `np.unique`, which also makes a hash table, takes ten times as long."""
    ascending = np.sort(numbers)
    return bool((ascending[1:] == ascending[:-1]).any())


class TemplateEncoder:
    """Attributes by templates: `fit` numbers what occurs often enough in training, `encode` looks it up.

    With `hashed`, a hash size, there are that many attributes, and different keys may share one. `clusters` are the
    paths of words, or the number of clusters to learn from the words of the first `fit`.
    """

    def __init__(
        self,
        templates: Sequence[Template],
        hashed: int | None = None,
        clusters: int | Mapping[str, str] = CLUSTERS,
    ):
        self.templates = list(templates)
        self.hashed = hashed
        self.given_clusters = clusters
        self.slots = list(dict.fromkeys(atom.slot for template in templates for atom in template.atoms))
        self.reach = max((abs(atom.offset) for template in templates for atom in template.atoms), default=0)
        slot_of = {slot: k for k, slot in enumerate(self.slots)}
        atoms = [(slot_of[atom.slot], atom.offset) for template in templates for atom in template.atoms]
        self.atoms = np.array(atoms, np.int64).reshape(-1, 2)
        self.starts = np.cumsum([0, *(len(template.atoms) for template in templates)])
        self.vocabularies: list[dict[str, int]] = [{} for _ in self.slots]
        self.lexicons: dict[str, Lexicon] = {}
        self.clusters: dict[str, Lexicon] = {}
        self.keys: Ints = np.zeros(0, np.int64)
        self._table: Ints | None = None
        self._remembered: dict[str, StringRows] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Everything but what is only remembered for speed."""
        return vars(self) | {"_remembered": {}}

    @property
    def table(self) -> Ints:
        """The hash table of the keys, built when it is first needed: training without a dev set does not need it."""
        if self._table is None:
            self._table = build(self.keys, len(self.keys), len(self.keys))
        return self._table

    @property
    def size(self) -> int:
        """The number of attributes."""
        return len(self.keys) if self.hashed is None else self.hashed

    @property
    def learns_tags(self) -> list[str]:
        """The columns whose words have their labels of the training set as a value."""
        return list(dict.fromkeys(slot.column for slot in self.slots if FUNCTIONS[slot.function].learns_labels))

    @property
    def learns_clusters(self) -> list[str]:
        """The columns whose words have a cluster as a value."""
        return list(dict.fromkeys(slot.column for slot in self.slots if FUNCTIONS[slot.function].learns_clusters))

    def fit(
        self,
        columns: Columns,
        minimum_count: int = 1,
        names: Sequence[str] = (),
        labels: NDArray[np.integer] | None = None,
    ) -> tuple[Ids, Ints]:
        """Number the attributes that occur at least `minimum_count` times, in the order of their first occurrence.

        Attributes that are known already keep their numbers; the labels and clusters of words stay those of the first
        `fit`. Returns the attributes of each position, as `encode`.
        """
        for column in self.learns_clusters:
            if column not in self.clusters:
                self.clusters[column] = clusters_of(columns, column, self.given_clusters)
        for column in self.learns_tags:
            if column not in self.lexicons:
                if labels is None:
                    raise InputError("the function tags needs the labels of training")
                self.lexicons[column] = learn_tags(columns, column, names, labels)
        old_radix = self.radix
        self._remembered = {}
        of_strings = self._grow(columns)
        self._check_keys()
        if self.hashed is not None:
            return self._look_up(self._numbers_of(of_strings, columns), columns)
        self.keys = rekey(self.keys, self.atoms, self.starts, old_radix, self.radix, self.reach)
        self._table = None
        if minimum_count > 1:  # occurrences are counted in all sentences
            return self._collect(of_strings, columns, minimum_count)
        templates = len(self.templates)
        attributes = np.empty(columns.ids.shape[1] * templates, np.uint32)
        for part in parts_of(columns):
            first, end = part.offsets[[0, -1]]
            part = part._replace(ids=part.ids[:, first:end], offsets=part.offsets - first)
            attributes[first * templates : end * templates], _ = self._collect(of_strings, part, 1)
        return attributes, np.arange(columns.ids.shape[1] + 1) * templates

    def _collect(self, of_strings: Sequence[Int32s], columns: Columns, minimum_count: int) -> tuple[Ids, Ints]:
        """Add the attributes of sentences to the known ones; return those of each position."""
        numbers = self._numbers_of(of_strings, columns)
        self.keys, attributes, starts = collect(
            numbers, columns.offsets, self.atoms, self.starts, self.radix, self.reach, minimum_count, self.keys
        )
        return attributes, starts

    def restore(
        self,
        vocabularies: Sequence[Sequence[str]],
        keys: Ints,
        lexicons: dict[str, Lexicon] | None = None,
        clusters: dict[str, Lexicon] | None = None,
    ) -> None:
        """Restore the result of `fit`: the strings of each slot, the keys, the labels and clusters of words."""
        self.lexicons, self.clusters = lexicons or {}, clusters or {}
        if set(self.lexicons) != set(self.learns_tags):
            raise InputError("the labels of words do not fit the templates")
        if set(self.clusters) != set(self.learns_clusters):
            raise InputError("the clusters of words do not fit the templates")
        self.vocabularies = [{string: number for number, string in enumerate(strings)} for strings in vocabularies]
        self.keys = np.array(keys, np.int64)
        sizes = [len(strings) for strings in vocabularies]
        if len(sizes) != len(self.slots) or sizes != [len(vocabulary) for vocabulary in self.vocabularies]:
            raise InputError("the vocabularies do not fit the templates")
        if self.keys.ndim != 1 or (self.keys < 0).any() or has_repeated(self.keys):
            raise InputError("the keys of the attributes are not valid")
        if (self.radix < 1).any():
            raise InputError("a vocabulary is empty")
        self._check_keys()
        self._table, self._remembered = None, {}

    def keep(self, used: NDArray[np.bool_]) -> None:
        """Keep some of the attributes, which get new numbers in the same order."""
        self.keys, self._table = self.keys[used], None

    def _check_keys(self) -> None:
        """Raise InputError if a template may have keys of more than 63 bits."""
        radix = self.radix
        for template, a, b in zip(self.templates, self.starts, self.starts[1:], strict=False):
            keys = np.prod([float(radix[slot]) for slot, _ in self.atoms[a:b]]) * len(self.templates)
            if keys >= 2.0**63:
                raise InputError(f"template '{template.text}' has too many possible values; use fewer atoms")

    @property
    def radix(self) -> Ints:
        """The number of values of each slot: one per string, and one per distance beyond either end of a sequence."""
        return np.array([len(vocabulary) + 2 * self.reach for vocabulary in self.vocabularies], np.int64)

    def numbers(self, columns: Columns, *, grow: bool) -> Int32s:
        """The number of each slot's string at each position, or UNKNOWN."""
        if grow:
            return self._numbers_of(self._grow(columns), columns)
        result = np.empty((len(self.slots), columns.ids.shape[1]), np.int32)
        for column in dict.fromkeys(slot.column for slot in self.slots):
            at = columns.names.index(column)
            if column not in self._remembered:
                self._remembered[column] = StringRows(partial(self._known_numbers, column))
            of_strings = self._remembered[column](columns.strings[at])
            for of_string, number in zip(of_strings.T, self._slots_of(column), strict=True):
                np.take(of_string, columns.ids[at], out=result[number])
        return result

    def _grow(self, columns: Columns) -> list[Int32s]:
        """Add the strings of each slot to its vocabulary; return their numbers, slot by slot."""
        of_strings = []
        for slot, vocabulary in zip(self.slots, self.vocabularies, strict=True):
            derived = self._values(slot, columns.strings[columns.names.index(slot.column)])
            of_strings.append(np.array([vocabulary.setdefault(s, len(vocabulary)) for s in derived], np.int32))
        return of_strings

    def _numbers_of(self, of_strings: Sequence[Int32s], columns: Columns) -> Int32s:
        """The number of each slot's string at each position, given those of the strings."""
        result = np.empty((len(self.slots), columns.ids.shape[1]), np.int32)
        for row, slot, of_string in zip(result, self.slots, of_strings, strict=True):
            np.take(of_string, columns.ids[columns.names.index(slot.column)], out=row)
        return result

    def _slots_of(self, column: str) -> list[int]:
        """The numbers of the slots of a column."""
        return [number for number, slot in enumerate(self.slots) if slot.column == column]

    def _known_numbers(self, column: str, strings: Sequence[str]) -> Int32s:
        """The number of the value of each slot of a column for each of these strings, or UNKNOWN."""
        slots = self._slots_of(column)
        numbers = np.empty((len(strings), len(slots)), np.int32)
        for k, slot in enumerate(slots):
            vocabulary = self.vocabularies[slot]
            numbers[:, k] = [vocabulary.get(value, UNKNOWN) for value in self._values(self.slots[slot], strings)]
        return numbers

    def _values(self, slot: Slot, strings: Sequence[str]) -> Sequence[str]:
        """The values of a slot for these strings of its column."""
        if not slot.function:
            return strings
        derived, function = [slot.value(string) for string in strings], FUNCTIONS[slot.function]
        if function.learns_labels:
            labels = self.lexicons[slot.column]
            return [labels.get(string, "") for string in derived]
        if function.learns_clusters:
            paths, bits = self.clusters[slot.column], slot.number or None
            return [paths.get(string, "")[:bits] for string in derived]
        return derived

    def encode(self, columns: Columns) -> tuple[Ids, Ints]:
        """The known attributes of each position, as (attributes, starts)."""
        return self._look_up(self.numbers(columns, grow=False), columns)

    def _look_up(self, numbers: Int32s, columns: Columns) -> tuple[Ids, Ints]:
        return look_up(  # type: ignore[no-any-return]
            numbers, columns.offsets, self.atoms, self.starts, self.radix, self.reach, self.table, self.hashed or 0
        )

    def name(self, attribute: int) -> str:
        """An attribute as people read it: its template with the strings filled in."""
        return self.names([attribute])[0]

    def names(self, attributes: Sequence[int]) -> list[str]:
        """Attributes as people read them; hashed ones only have numbers."""
        if self.hashed is not None:
            return [f"hashed {attribute}" for attribute in attributes]
        words = [list(vocabulary) for vocabulary in self.vocabularies]
        radix = self.radix.tolist()
        return [self._name(int(self.keys[attribute]), words, radix) for attribute in attributes]

    def _name(self, key: int, words: Sequence[Sequence[str]], radix: Sequence[int]) -> str:
        key, template = divmod(key, len(self.templates))
        strings = []
        for slot, _ in self.atoms[self.starts[template] : self.starts[template + 1]][::-1]:
            key, digit = divmod(key, radix[slot])
            outside = digit - len(words[slot])
            beyond = f"<{outside - 2 * self.reach}>" if outside >= self.reach else f"<{outside + 1:+d}>"
            strings.append(words[slot][digit] if outside < 0 else beyond)
        return f"{self.templates[template].text} = {' & '.join(strings[::-1])}" if strings else "bias"
