"""The features of arcs: their keys, the slots of their weights, the scores of all arcs of a sentence, and their names.

The key of a feature is head ^ modifier ^ arc: what its template takes from the head, from the modifier and from the
arc, each hashed to 64 bits. The first two are computed once per word, so a feature of an arc costs two exclusive ors
and one access to the weights. The slot of its weight among the 2^b weights is given by the low bits of the key, and
features with the same slot share a weight. In the exact mode no features share: `owners` holds the key that each slot
belongs to, and a new feature takes the next free slot.

Scoring writes the slots of all arcs of a head first, then sums their weights: so the processor waits for many weights
at a time. Loops over slots count in unsigned numbers, because Numba tests whether signed ones are negative.

The names are what people read: h.pos=VERB & m.pos=NOUN & distance=2, right. They are the definition of the features, in
plain Python and from strings. The kernels have the same features, in the same order, as hashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from swvp.compiled import borrowing, inlined, inlined_source, inner
from swvp.features.agreement import AGREEMENT, agreement, agreement_code
from swvp.features.context import COORDINATOR, PUNCTUATION, VERB, flags_of_tag, is_punctuation
from swvp.features.parser_templates import NUMERIC_ATOMS, ArcTemplate
from swvp.features.templates import Atom
from swvp.structures.tree.encoding import (
    ARC,
    BETWEEN,
    HEAD,
    MODIFIER,
    MORPHOLOGY,
    MOST_FEATS,
    PAIR,
    Nodes,
    Tables,
    allowed,
    group_of,
    parts_of,
)
from swvp.types import Floats, Ids, Ints, Keys

__all__ = ["SentenceColumns", "feature_names", "feature_parts", "values_of"]

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
TO_THE_RIGHT = np.uint64(0x243F6A8885A308D3)
FREE = np.uint64(0)
NO_OWNERS: Keys = np.zeros(0, np.uint64)
"""The owners of slots in the hashed mode."""
DISTANCE, LENGTH, VERBS, PUNCTUATIONS, COORDINATORS = (1 << bit for bit in range(len(NUMERIC_ATOMS)))
AGREEMENT_SHIFT = len(NUMERIC_ATOMS)
MOST_LENGTH = 255
MOST_COUNT = 3
ONE = np.uint64(1)
ENOUGH = 2**12
"""So many slots are written before their weights are summed: they fit into the processor's nearest cache."""


class ArcBuffers(NamedTuple):
    """Buffers for one sentence: the keys of its nodes, and the scores of its arcs.

    keys[side, v, t] is the key of template t at node v. If the template has feats, there is one key for each of them,
    lists[side, v, t, :counts[side, v, t]]. alone[v, right, side] are the scores of the templates of one side, `tags`
    are the tags of the words in between, and `features` are the keys of the features of one arc. Of the arcs that are
    scored together, from one head, arc a goes to modifiers[a] and has the slots slots[ends[a - 1]:ends[a]].
    """

    keys: Keys
    lists: Keys
    counts: Ints
    alone: Floats
    tags: Keys
    scores: Floats
    features: Keys
    slots: Ids
    ends: Keys
    modifiers: Ints


def new_arc_buffers(tables: Tables, nodes: Nodes, words: int) -> ArcBuffers:
    """Buffers for sentences of at most `words` words."""
    templates, many, feats = len(tables.salts), int(tables.first[PAIR]), nodes.feats.shape[1]
    between = int(tables.first[ARC] - tables.first[BETWEEN])
    most = templates + many * feats * feats + between * words  # features of one arc
    return ArcBuffers(
        keys=np.zeros((2, words + 1, templates), np.uint64),
        lists=np.zeros((2, words + 1, many, feats), np.uint64),
        counts=np.zeros((2, words + 1, many), np.int64),
        alone=np.zeros((words + 1, 2, 2)),
        tags=np.zeros(words + 1, np.uint64),
        scores=np.zeros((words + 1, words + 1)),
        features=np.zeros(most, np.uint64),
        slots=np.zeros(2 * most + ENOUGH, np.uint32),
        ends=np.zeros(words + 4, np.uint64),
        modifiers=np.zeros(words + 4, np.int64),
    )


@inlined
def scrambled(bits):
    """A number whose bits all depend on all bits of the given one."""
    bits = (bits ^ (bits >> np.uint64(32))) * MULTIPLIER
    return bits ^ (bits >> np.uint64(29))


@inlined
def place(key, owners, mask):
    """The slot of the weight of a feature, or the free one where it belongs."""
    at = key & mask
    if len(owners) > 0:
        while owners[at] != FREE and owners[at] != key:
            at = (at + np.uint64(1)) & mask
    return at


@inlined_source
def node_keys(nodes, tables, first, n, buffers):
    """Write the keys of the nodes 0..n of the sentence whose root is node `first`."""
    for side in range(2):
        side_keys(
            nodes.atoms,
            first,
            n,
            tables.outside,
            tables.sides,
            tables.lengths,
            tables.multiple,
            tables.near,
            tables.salts,
            side,
            buffers.keys,
        )
        feats_keys(nodes.feats, nodes.counts, first, n, tables.multiple, tables.near, side, buffers)


@inner
def side_keys(atoms, first, n, outside, sides, lengths, multiple, near, salts, side, keys):
    for v in range(n + 1):
        for t in range(len(salts)):
            bits = salts[t, side]
            size = lengths[t, side]
            last = size - 1 if near[t, side] and not multiple[t, side] else size  # feats come after all others
            for a in range(size):
                at = v + sides[t, side, a, 1]
                if at != v and (at < 1 or v == 0):  # the root has no neighbours
                    atom = outside[0]
                elif at > n:
                    atom = outside[1]
                else:
                    atom = atoms[first + at, sides[t, side, a, 0]]
                bits ^= atom
                if a != last:
                    bits = scrambled(bits)
            keys[side, v, t] = bits


@inner
def feats_keys(feats, counts, first, n, multiple, near, side, buffers):
    for v in range(n + 1):
        for t in range(buffers.lists.shape[2]):
            key = buffers.keys[side, v, t]
            if multiple[t, side]:
                size = counts[first + v]
                for f in range(size):
                    bits = key ^ feats[first + v, f]
                    buffers.lists[side, v, t, f] = bits if near[t, side] else scrambled(bits)
                buffers.counts[side, v, t] = size
            else:
                buffers.lists[side, v, t, 0] = key
                buffers.counts[side, v, t] = 1


@inlined
def bin_of(length):
    """1, 2, 3, 4, 5, 6-10, 11-20, 21-30, 31-40, more."""
    if length <= 5:
        return length
    if length <= 10:
        return 6
    return min((length - 1) // 10 + 6, 10)


@inlined
def arc_key(bits, length, verbs, punctuations, coordinators, agreement):
    """The key of the atoms of an arc given as bits; the last one is not scrambled (see `encoding`)."""
    key = np.uint64(0)
    if bits & DISTANCE:
        key = np.uint64(bin_of(length))
    if bits & LENGTH:
        key = scrambled(key) ^ np.uint64(min(length, MOST_LENGTH))
    if bits & VERBS:
        key = scrambled(key) ^ np.uint64(min(verbs, MOST_COUNT))
    if bits & PUNCTUATIONS:
        key = scrambled(key) ^ np.uint64(min(punctuations, MOST_COUNT))
    if bits & COORDINATORS:
        key = scrambled(key) ^ np.uint64(min(coordinators, MOST_COUNT))
    if bits >> AGREEMENT_SHIFT:
        key = scrambled(key) ^ np.uint64(agreement & (bits >> AGREEMENT_SHIFT))
    return key


@inlined
def uses_agreement(combinations):
    """Whether a combination of arc atoms has one of agreement."""
    for c in range(len(combinations)):
        if combinations[c] >> AGREEMENT_SHIFT:
            return True
    return False


@inlined
def is_new(tag, tags, size):
    for k in range(size):
        if tags[k] == tag:
            return False
    return True


@inlined
def write_pairs(owners, mask, heads, modifiers, t0, t1, key, slots, size):
    """Write the slots of templates with one key on each side behind the first `size`; return their number so far."""
    for t in range(np.uint64(t0), np.uint64(t1)):
        slots[size] = place(heads[t] ^ modifiers[t] ^ key, owners, mask)
        size += ONE
    return size


@inlined
def write_lists(owners, mask, heads, head_counts, modifiers, modifier_counts, t0, t1, key, slots, size):
    """Write the slots of templates with several keys on a side behind the first `size`; return their number so far."""
    for t in range(np.uint64(t0), np.uint64(t1)):
        for a in range(head_counts[t]):
            half = heads[t, a] ^ key
            for b in range(modifier_counts[t]):
                slots[size] = place(half ^ modifiers[t, b], owners, mask)
                size += ONE
    return size


@inlined
def sum_slots(w, slots, begin, end):
    total = 0.0
    for k in range(begin, end):
        total += w[slots[k]]
    return total


@borrowing
def score_sentence(nodes, tables, i, w, owners, buffers):
    """Write the keys of the nodes of sentence i and the scores of its arcs, -inf for pruned ones; return its length."""
    first = nodes.starts[i]
    n = nodes.starts[i + 1] - first - 1
    for h in range(n + 1):
        for m in range(1, n + 1):
            buffers.scores[h, m] = 0.0 if allowed(tables.longest, nodes.kinds, first, h, m) else -np.inf
    score_marked(nodes, tables, first, n, w, owners, buffers)
    return n


@inner
def score_marked(nodes, tables, first, n, w, owners, buffers):
    """Write the keys of the nodes of a sentence and the scores of those arcs whose scores are not -inf."""
    node_keys(nodes, tables, first, n, buffers)
    score_sides(w, owners, n, tables.first, buffers)
    score_arcs(w, owners, first, n, nodes, tables, buffers)


@inner
def score_sides(w, owners, n, group, buffers):
    """Write the scores of the templates of one side, for each node as head and as modifier, in both directions."""
    mask = np.uint64(len(w) - 1)
    lists, counts, slots, ends = buffers.lists, buffers.counts, buffers.slots, buffers.ends
    for v in range(n + 1):
        size = np.uint64(0)
        for right in range(2):
            key = TO_THE_RIGHT if right else np.uint64(0)
            for side in range(2):
                h, m = (0, v) if side else (v, 0)
                first = group[MODIFIER] if side else group[HEAD]
                last = group[MORPHOLOGY] if side else group[MODIFIER]
                size = write_lists(
                    owners, mask, lists[0, h], counts[0, h], lists[1, m], counts[1, m], first, last, key, slots, size
                )
                ends[2 * right + side] = size
        begin = np.uint64(0)
        for right in range(2):
            for side in range(2):
                end = ends[2 * right + side]
                buffers.alone[v, right, side] = sum_slots(w, slots, begin, end)
                begin = end


@inner
def sum_arcs(w, h, arcs, buffers):
    """Write the scores of the arcs from h whose slots are in the buffers."""
    scores, alone, ends = buffers.scores, buffers.alone, buffers.ends
    begin = np.uint64(0)
    for a in range(arcs):
        m, end = buffers.modifiers[a], ends[a]
        right = 1 if m > h else 0
        scores[h, m] = alone[h, right, 0] + alone[m, right, 1] + sum_slots(w, buffers.slots, begin, end)
        begin = end


@inlined_source
def score_arcs(w, owners, first, n, nodes, tables, buffers):
    mask = np.uint64(len(w) - 1)
    group, combinations = tables.first, tables.combinations
    flags, tags, scores, slots = nodes.flags, buffers.tags, buffers.scores, buffers.slots
    room = np.uint64(len(slots) - len(buffers.features))
    agree = uses_agreement(combinations)
    for h in range(n + 1):
        heads, head_lists, head_counts = buffers.keys[0, h], buffers.lists[0, h], buffers.counts[0, h]
        arcs, size = 0, np.uint64(0)
        for right in range(2):
            direction = TO_THE_RIGHT if right else np.uint64(0)
            verbs = punctuations = coordinators = different = 0
            for length in range(1, n - h + 1 if right else h):
                m = h + length if right else h - length
                if scores[h, m] != -np.inf:
                    if size > room:
                        sum_arcs(w, h, arcs, buffers)
                        arcs, size = 0, np.uint64(0)
                    modifiers = buffers.keys[1, m]
                    size = write_pairs(
                        owners, mask, heads, modifiers, group[PAIR], group[BETWEEN], direction, slots, size
                    )
                    size = write_lists(
                        owners, mask, head_lists, head_counts, buffers.lists[1, m], buffers.counts[1, m],
                        group[MORPHOLOGY], group[PAIR], direction, slots, size,
                    )  # fmt: skip
                    for k in range(different):
                        key = direction ^ tags[k]
                        size = write_pairs(owners, mask, heads, modifiers, group[BETWEEN], group[ARC], key, slots, size)
                    code = agreement_code(nodes.agreement, first + h, first + m) if agree else 0
                    for c in range(len(combinations)):
                        key = direction ^ arc_key(combinations[c], length, verbs, punctuations, coordinators, code)
                        size = write_pairs(
                            owners, mask, heads, modifiers, group[ARC + c], group[ARC + c + 1], key, slots, size
                        )
                    buffers.modifiers[arcs], buffers.ends[arcs] = m, size
                    arcs += 1
                verbs += (flags[first + m] & VERB) > 0
                punctuations += (flags[first + m] & PUNCTUATION) > 0
                coordinators += (flags[first + m] & COORDINATOR) > 0
                tag = nodes.atoms[first + m, tables.between]
                if is_new(tag, tags, different):
                    tags[different] = tag
                    different += 1
        sum_arcs(w, h, arcs, buffers)


@borrowing
def arc_keys(nodes, tables, first, h, m, buffers, out):
    """Write the keys of all features of one arc of the sentence in `buffers`; return their number."""
    group, combinations, lists, counts = tables.first, tables.combinations, buffers.lists, buffers.counts
    heads, modifiers = buffers.keys[0, h], buffers.keys[1, m]
    direction = TO_THE_RIGHT if m > h else np.uint64(0)
    size = 0
    for t in range(group[PAIR]):
        u = 0 if group[MODIFIER] <= t < group[MORPHOLOGY] else h
        v = 0 if t < group[MODIFIER] else m
        for a in range(counts[0, u, t]):
            for b in range(counts[1, v, t]):
                out[size] = lists[0, u, t, a] ^ lists[1, v, t, b] ^ direction
                size += 1
    for t in range(group[PAIR], group[BETWEEN]):
        out[size] = heads[t] ^ modifiers[t] ^ direction
        size += 1
    verbs = punctuations = coordinators = different = 0
    for k in range(min(h, m) + 1, max(h, m)):
        verbs += (nodes.flags[first + k] & VERB) > 0
        punctuations += (nodes.flags[first + k] & PUNCTUATION) > 0
        coordinators += (nodes.flags[first + k] & COORDINATOR) > 0
        tag = nodes.atoms[first + k, tables.between]
        if is_new(tag, buffers.tags, different):
            buffers.tags[different] = tag
            different += 1
            for t in range(group[BETWEEN], group[ARC]):
                out[size] = heads[t] ^ modifiers[t] ^ direction ^ tag
                size += 1
    code = agreement_code(nodes.agreement, first + h, first + m) if uses_agreement(combinations) else 0
    for c in range(len(combinations)):
        key = direction ^ arc_key(combinations[c], abs(h - m), verbs, punctuations, coordinators, code)
        for t in range(group[ARC + c], group[ARC + c + 1]):
            out[size] = heads[t] ^ modifiers[t] ^ key
            size += 1
    return size


# ---------------------------------------------------------------- names

SentenceColumns = Mapping[str, Sequence[str]]
"""The columns that templates name, of the words of one sentence."""

ROOT, BEGIN, END = "(root)", "(begin)", "(end)"
BINS = ((5, None), (10, "6-10"), (20, "11-20"), (30, "21-30"), (40, "31-40"))


def feature_names(sentence: SentenceColumns, templates: Sequence[ArcTemplate], h: int, m: int) -> list[str]:
    """The names of all features of the arc from h to m, for templates in the order of their groups.

    A feature that comes twice on an arc is there twice.
    """
    direction = "right" if m > h else "left"
    return [f"{' & '.join(parts) or 'bias'}, {direction}" for _, parts in feature_parts(sentence, templates, h, m)]


def feature_parts(
    sentence: SentenceColumns, templates: Sequence[ArcTemplate], h: int, m: int
) -> list[tuple[ArcTemplate, list[str]]]:
    """All features of the arc from h to m, as (template, its atoms with their values), without the direction."""
    between = range(min(h, m) + 1, max(h, m))
    of_arc = arc_values(sentence, h, m, between)
    of_sides = [template for template in templates if group_of(template)[0] < BETWEEN]
    of_words = [template for template in templates if group_of(template)[0] == BETWEEN]
    of_arcs = [template for template in templates if group_of(template)[0] == ARC]
    features = [(template, parts) for template in of_sides for parts in side_parts(sentence, template, h, m)]
    column = of_words[0].between if of_words else "pos"
    for value in dict.fromkeys(sentence[column][k - 1] for k in between):
        for template in of_words:
            between_value = [f"between.{column}={value}"]
            features += [(template, [*parts, *between_value]) for parts in side_parts(sentence, template, h, m)]
    for template in of_arcs:
        arc_atoms = [f"{atom}={of_arc[atom]}" for atom in template.arc]
        features += [(template, [*parts, *arc_atoms]) for parts in side_parts(sentence, template, h, m)]
    return features


def side_parts(sentence: SentenceColumns, template: ArcTemplate, h: int, m: int) -> list[list[str]]:
    """The values of the atoms of the two sides: once, or for each pair of their morphological features."""
    heads, modifiers = values_of(sentence, template.head, h), values_of(sentence, template.modifier, m)
    return [[*a, *b] for a, b in product(heads, modifiers)]


def values_of(sentence: SentenceColumns, atoms: Sequence[Atom], node: int) -> list[list[str]]:
    values = [
        [f"{atom.text}={value}" for value in feats_of(sentence, node)]
        if atom.column == "feats"
        else [f"{atom.text}={value_of(sentence, atom, node)}"]
        for atom in atoms
    ]
    return [list(parts) for parts in product(*values)]


def feats_of(sentence: SentenceColumns, node: int) -> list[str]:
    return parts_of(sentence["feats"][node - 1])[:MOST_FEATS] if node else []


def value_of(sentence: SentenceColumns, atom: Atom, node: int) -> str:
    """The value of an atom at a node; the root has no neighbours."""
    at = node + atom.offset
    if atom.offset and (at < 1 or node == 0):
        return BEGIN
    if at > len(sentence["word"]):
        return END
    return atom.slot.value(sentence[atom.column][at - 1]) if at else ROOT


def arc_values(sentence: SentenceColumns, h: int, m: int, between: Sequence[int]) -> dict[str, str]:
    """The values of the atoms of an arc."""
    length, flags = abs(h - m), [flags_of_word(sentence, k) for k in between]
    agreements = agreement(*(sentence["feats"][node - 1] if node else "" for node in (h, m)))

    def count(flag: int) -> str:
        return at_most(sum(bool(flags_of & flag) for flags_of in flags), MOST_COUNT)

    bins = next((name or str(length) for most, name in BINS if length <= most), "more than 40")
    return {
        "distance": bins,
        "length": at_most(length, MOST_LENGTH),
        "verbs": count(VERB),
        "punctuation": count(PUNCTUATION),
        "coordinators": count(COORDINATOR),
        **{f"agreement.{name}": value for name, value in zip(AGREEMENT, agreements, strict=True)},
    }


def at_most(number: int, most: int) -> str:
    return str(number) if number < most else f"{most}+"


def flags_of_word(sentence: SentenceColumns, k: int) -> int:
    mark = PUNCTUATION * is_punctuation(sentence["word"][k - 1])
    return flags_of_tag(sentence["pos"][k - 1]) | flags_of_tag(sentence["tag"][k - 1]) | mark
