"""The arcs of given trees as chains of labels: the children of a head are a sequence, from left to right.

A chain is a head that has children, the root too. Its positions are these children, and the attributes of a position
are the features of the arc from the head by the templates of labels (`swvp.features.parser_templates`), each hashed to
one of 2^b rows of weights. Features with the same row share its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import inlined, kernel
from swvp.features.context import COORDINATOR, PUNCTUATION, VERB, Columns, flags_of
from swvp.features.parser_templates import MANY, NODES, NUMBERS, LabelTemplate
from swvp.features.templates import Slot
from swvp.structures.tree.encoding import (
    BEGIN,
    END,
    MOST_FEATS,
    NONE,
    ROOT,
    fill_atoms,
    hashed,
    of_nodes,
    parts_of,
)
from swvp.structures.tree.first_order.features import bin_of, scrambled
from swvp.types import Flags, Ids, Int32s, Ints, Keys

__all__ = ["LabelTables", "Words", "attributes_of", "children_of", "encode_words", "label_tables"]

H, M, G, PREVIOUS, NEXT, FIRST, LAST = range(len(NODES))
NUMBER = len(NODES) + len(MANY)
ONE, CHILD, SIBLING, BETWEEN, H_FEATS, M_FEATS, SHARED = range(7)
KINDS = ("", *MANY, "h.feats", "m.feats", "shared")
MISSING = -1
MOST_CHILDREN, MOST_COUNT = 5, 3


class Words(NamedTuple):
    """The nodes of all sentences, of each its root and then its words: sentence i has starts[i]:starts[i + 1].

    atoms[v, s] is the hash of the value of slot s at node v, feats[v, :counts[v]] those of its morphological features.
    `flags` mark verbs, punctuation and coordinators.
    """

    atoms: Keys
    feats: Keys
    counts: Int32s
    flags: Flags
    starts: Ints


class LabelTables(NamedTuple):
    """The templates for the kernels.

    The atoms of template t are atoms[t, :lengths[t]] = (side, slot, offset); sides are NODES, MANY and NUMBERS. Those
    from singles[t] on are of the side with many values, of kind kinds[t]. salts[t] differ between templates. `outside`
    are the hashes of what is before and after a sentence, and of a missing node.
    """

    atoms: Int32s
    lengths: Int32s
    singles: Int32s
    kinds: Int32s
    salts: Keys
    outside: Keys


def slots_of(templates: Sequence[LabelTemplate]) -> list[Slot]:
    """The distinct slots of templates."""
    atoms = (atom for template in templates for atom in template.atoms)
    slots = (atom.slot for atom in atoms if atom.column and (atom.column != "feats" or atom.name))
    return list(dict.fromkeys(slots)) or [Slot("pos")]


def label_tables(templates: Sequence[LabelTemplate]) -> LabelTables:
    """The tables of templates."""
    slots, size = slots_of(templates), len(templates)
    sides = (*NODES, *MANY, *NUMBERS)
    table = np.zeros((size, max([len(template.atoms) for template in templates] + [1]), 3), np.int32)
    lengths, singles, kinds = np.zeros((3, size), np.int32)
    for t, template in enumerate(templates):
        kinds[t] = KINDS.index(template.many)
        atoms = [atom for atom in template.atoms if atom.side != "shared" and (atom.column != "feats" or atom.name)]
        lengths[t], singles[t] = len(atoms), sum(atom.side not in MANY for atom in atoms)
        for a, atom in enumerate(atoms):
            slot = slots.index(atom.slot) if atom.column else 0
            table[t, a] = sides.index(atom.side), slot, atom.offset
    return LabelTables(
        atoms=table,
        lengths=lengths,
        singles=singles,
        kinds=kinds,
        salts=np.array([hashed(template.text) for template in templates], np.uint64),
        outside=np.array([hashed(BEGIN), hashed(END), hashed(NONE)], np.uint64),
    )


def encode_words(columns: Columns, offsets: Ints, templates: Sequence[LabelTemplate]) -> Words:
    """The nodes of the sentences offsets[i]:offsets[i + 1], each distinct string hashed once."""
    starts = offsets + np.arange(len(offsets))
    words = np.ones(starts[-1], bool)
    words[starts[:-1]] = False
    slots = slots_of(templates)
    atoms = np.full((starts[-1], len(slots)), hashed(ROOT), np.uint64)
    fill_atoms(atoms, words, list(enumerate(slots)), columns)
    strings, ids = columns["feats"]
    split = [parts_of(string)[:MOST_FEATS] for string in strings]
    table = np.zeros((len(strings), max([len(parts) for parts in split] + [1])), np.uint64)
    for row, parts in zip(table, split, strict=True):
        row[: len(parts)] = [hashed(part) for part in parts]
    return Words(
        atoms=atoms,
        feats=of_nodes(words, table, ids),
        counts=of_nodes(words, np.array([len(parts) for parts in split], np.int32), ids),
        flags=of_nodes(words, flags_of(columns), np.arange(len(columns["word"][1]))),
        starts=starts,
    )


@kernel
def children_of(heads, offsets):
    """(order, begins): the words of all sentences by their heads; order[begins[v]:begins[v + 1]] are those of node v.

    Words are numbered from 0, nodes as in `Words`; children come from left to right.
    """
    sentences = len(offsets) - 1
    order = np.empty(offsets[-1], np.int64)
    begins = np.zeros(offsets[-1] + sentences + 1, np.int64)
    for i in range(sentences):
        root = offsets[i] + i
        for word in range(offsets[i], offsets[i + 1]):
            begins[root + heads[word] + 1] += 1
    for v in range(1, len(begins)):
        begins[v] += begins[v - 1]
    ends = begins[:-1].copy()
    for i in range(sentences):
        root = offsets[i] + i
        for word in range(offsets[i], offsets[i + 1]):
            v = root + heads[word]
            order[ends[v]] = word
            ends[v] += 1
    return order, begins


@inlined
def atom_at(words, outside, first, n, at, slot, offset):
    """The value of a slot at a node of the sentence with root `first`, or at a neighbour; the root has none."""
    if at == MISSING:
        return outside[2]
    here = at + offset
    if here != at and (here < 1 or at == 0):
        return outside[0]
    if here > n:
        return outside[1]
    return words.atoms[first + here, slot]


@inlined
def has_feature(words, v, feature):
    for f in range(words.counts[v]):
        if words.feats[v, f] == feature:
            return True
    return False


@inlined
def describe(words, first, h, m, order, begins, base, p, nodes, numbers):
    """Write the nodes and the numbers for the templates, of the arc from h to its child m = order[p]."""
    child, end = begins[first + m], begins[first + m + 1]
    begin_siblings, end_siblings = begins[first + h], begins[first + h + 1]
    nodes[H], nodes[M] = h, m
    nodes[PREVIOUS] = order[p - 1] - base if p > begin_siblings else MISSING
    nodes[NEXT] = order[p + 1] - base if p + 1 < end_siblings else MISSING
    nodes[FIRST] = order[child] - base if child < end else MISSING
    nodes[LAST] = order[end - 1] - base if child < end else MISSING
    verbs = punctuations = coordinators = 0
    for k in range(min(h, m) + 1, max(h, m)):
        verbs += (words.flags[first + k] & VERB) > 0
        punctuations += (words.flags[first + k] & PUNCTUATION) > 0
        coordinators += (words.flags[first + k] & COORDINATOR) > 0
    place = 0
    for q in range(begin_siblings, end_siblings):
        place += min(h, m) < order[q] - base < max(h, m)
    numbers[0] = m > h
    numbers[1] = bin_of(abs(h - m))
    numbers[2] = min(verbs, MOST_COUNT)
    numbers[3] = min(punctuations, MOST_COUNT)
    numbers[4] = min(coordinators, MOST_COUNT)
    numbers[5] = min(end - child, MOST_CHILDREN)
    numbers[6] = min(end_siblings - begin_siblings, MOST_CHILDREN)
    numbers[7] = min(place, MOST_COUNT)


@kernel
def most_attributes(words, tables, heads, offsets, begins, first_sentence, end_sentence):
    """The largest possible number of attributes of the sentences."""
    kinds = np.zeros(len(KINDS), np.int64)
    for kind in tables.kinds:
        kinds[kind] += 1
    most = 0
    for i in range(first_sentence, end_sentence):
        first = words.starts[i]
        for word in range(offsets[i], offsets[i + 1]):
            m, h = word - offsets[i] + 1, heads[word]
            most += kinds[ONE] + kinds[H_FEATS] * words.counts[first + h] + kinds[M_FEATS] * words.counts[first + m]
            most += kinds[CHILD] * (begins[first + m + 1] - begins[first + m])
            most += kinds[SIBLING] * (begins[first + h + 1] - begins[first + h] - 1)
            most += kinds[SHARED] * words.counts[first + m]
            most += kinds[BETWEEN] * max(abs(h - m) - 1, 0)
    return most


@kernel
def write_attributes(words, tables, heads, offsets, order, begins, first_sentence, end_sentence, mask, starts, out):
    """Write the attributes of the arcs of the sentences, in `order`, and where those of each start.

    One function, since passing tuples for each template would take as long as the rest.
    """
    outside = tables.outside
    nodes, numbers = np.zeros(len(NODES), np.int64), np.zeros(len(NUMBERS), np.int64)
    at = size = 0
    for i in range(first_sentence, end_sentence):
        first, base = words.starts[i], offsets[i] - 1
        n = offsets[i + 1] - offsets[i]
        for h in range(n + 1):
            nodes[G] = heads[base + h] if h else MISSING
            for p in range(begins[first + h], begins[first + h + 1]):
                m = order[p] - base
                describe(words, first, h, m, order, begins, base, p, nodes, numbers)
                starts[at] = size
                at += 1
                for t in range(len(tables.salts)):
                    key, kind = tables.salts[t], tables.kinds[t]
                    for a in range(tables.singles[t]):
                        side, slot, offset = tables.atoms[t, a, 0], tables.atoms[t, a, 1], tables.atoms[t, a, 2]
                        if side >= NUMBER:
                            atom = np.uint64(numbers[side - NUMBER])
                        else:
                            atom = atom_at(words, outside, first, n, nodes[side], slot, offset)
                        key = scrambled(key ^ atom)
                    key = scrambled(key)
                    if kind == ONE:
                        out[size] = key & mask
                        size += 1
                    elif kind >= H_FEATS:
                        v = first + (h if kind == H_FEATS else m)
                        for f in range(words.counts[v]):
                            if kind != SHARED or has_feature(words, first + h, words.feats[v, f]):
                                out[size] = scrambled(key ^ words.feats[v, f]) & mask
                                size += 1
                    else:
                        q, end = min(h, m) + 1, max(h, m)
                        if kind != BETWEEN:
                            v = first + (m if kind == CHILD else h)
                            q, end = begins[v], begins[v + 1]
                        while q < end:
                            v = q if kind == BETWEEN else order[q] - base
                            q += 1
                            if v == m:
                                continue
                            each = key
                            for a in range(tables.singles[t], tables.lengths[t]):
                                slot, offset = tables.atoms[t, a, 1], tables.atoms[t, a, 2]
                                each = scrambled(each ^ atom_at(words, outside, first, n, v, slot, offset))
                            out[size] = each & mask
                            size += 1
    starts[at] = size
    return size


def attributes_of(
    words: Words,
    tables: LabelTables,
    heads: NDArray[Any],
    offsets: Ints,
    order: Ints,
    begins: Ints,
    rows: int,
    first: int,
    end: int,
) -> tuple[Ids, Ints]:
    """The attributes of the arcs of the sentences first:end, and where those of each position start."""
    where = words, tables, heads, offsets
    out = np.empty(most_attributes(*where, begins, first, end), np.uint32)
    starts = np.empty(offsets[end] - offsets[first] + 1, np.int64)
    size = write_attributes(*where, order, begins, first, end, np.uint64(rows - 1), starts, out)
    return out[:size], starts
