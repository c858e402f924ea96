"""The keys of attributes: the kernels that make them, number them and look them up.

The hash table holds pairs (key, number) next to each other, so that one access to memory finds both.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import inlined, kernel

__all__ = ["build", "collect", "look_up", "rekey"]

UNKNOWN = -1
FREE = -1


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
    capacity = count + max(1024, positions * templates // 8)  # about what texts need
    keys, counts = np.empty(capacity, np.int64), np.zeros(capacity, np.int64)
    for number in range(count):
        keys[number], counts[number] = known[number], minimum_count
    table = build(keys, count, len(keys))
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            for template in range(templates):
                key = key_of(template, t, offsets[i], offsets[i + 1], numbers, atoms, atom_starts, radix, reach)
                place = find(key, table)
                number = table[place + np.uint64(1)]
                if number == FREE:
                    number = count
                    if count == len(keys):
                        keys = np.concatenate((keys, np.empty(count, np.int64)))
                        counts = np.concatenate((counts, np.zeros(count, np.int64)))
                        table = build(keys, count, 2 * count)
                        place = find(key, table)
                    keys[count] = key
                    table[place] = key
                    table[place + np.uint64(1)] = count
                    count += 1
                counts[number] += 1
                attributes[t * templates + template] = number
    size, starts = 0, np.empty(positions + 1, np.int64)
    if minimum_count > 1:
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
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            starts[t] = count
            for template in range(templates):
                key = key_of(template, t, offsets[i], offsets[i + 1], numbers, atoms, atom_starts, radix, reach)
                if key == UNKNOWN:
                    continue
                if hashed > 0:
                    number = np.int64(scrambled(key) % np.uint64(hashed))
                else:
                    number = table[find(key, table) + np.uint64(1)]
                if number != FREE:
                    attributes[count] = number
                    count += 1
    starts[positions] = count
    return attributes[:count].copy(), starts
