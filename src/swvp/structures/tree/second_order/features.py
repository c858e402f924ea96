"""The features of second-order parts: their keys, their scores and their names.

The features of a part are those of its two or three sides, made as in `first_order.features`: the key of a template of
three sides is the exclusive or of the keys of its sides. The features of m and s in a part of siblings (h, m, s), and
of g and m in a grandparent part (g, h, m), do not depend on h. They are summed once for each pair of words.

The names, as people read them:

    h.pos=VERB & m.pos=NOUN & s.pos=ADV, right                      siblings to the right of h
    h.pos=VERB & m.pos=(start) & s.pos=NOUN, left                   the first child to the left
    h.pos=VERB & m.pos=NOUN & s=(stop), left                        the last child; the template has no atom of s
    g.pos=VERB & h.pos=NOUN & m.pos=ADJ, left, between h and g      m is to the left of h
    g.pos=VERB & m.pos=ADJ & distance=2, right                      of a pair: m is to the right of g

They are the definition of the features, in plain Python and from strings. The kernels have the same features, in the
same order, as hashes: those of three sides, then those of two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from swvp.compiled import inlined, inlined_source, inner
from swvp.features.parser_templates import ArcTemplate, PartTemplates, Triple
from swvp.features.presets import KINDS, PAIRS
from swvp.features.templates import Atom, Slot
from swvp.structures.tree.encoding import (
    RANKED_AS,
    Nodes,
    Sides,
    Tables,
    Template,
    hashed,
    sides_of,
    slots_of,
    tables_of,
)
from swvp.structures.tree.first_order.features import (
    ONE,
    ArcBuffers,
    SentenceColumns,
    arc_keys,
    feature_parts,
    new_arc_buffers,
    place,
    score_marked,
    scrambled,
    side_keys,
    sum_slots,
    values_of,
)
from swvp.structures.tree.second_order.parts import Candidates, Parts, grandparent, lay_out, new_parts, siblings
from swvp.types import Ids, Keys

__all__ = [
    "Named",
    "PartBuffers",
    "PartTables",
    "grandparent_names",
    "new_part_buffers",
    "part_tables",
    "score_parts",
    "sibling_names",
]

START_HASH, STOP_HASH = np.uint64(hashed("\0start")), np.uint64(hashed("\0stop"))
DIRECTIONS = np.array([hashed(f"\0direction {number}") for number in range(6)], np.uint64)


class PartTables(NamedTuple):
    """Templates of arcs, of the words m and s, of g and m, and of three sides, as tables."""

    arcs: Tables
    sibling_pairs: Tables
    grandparent_pairs: Tables
    siblings: Sides
    grandparents: Sides


class PartBuffers(NamedTuple):
    """Buffers for one sentence.

    The keys of three sides are [side, v, t] for node v; node n + 1 is START, n + 2 STOP. `features` are the keys of the
    features of one part. `slots` are those of the parts that are scored together, of each one its templates.
    """

    parts: Parts
    arcs: ArcBuffers
    sibling_pairs: ArcBuffers
    grandparent_pairs: ArcBuffers
    siblings: Keys
    grandparents: Keys
    features: Keys
    slots: Ids


def near_of(template: Triple) -> Atom | None:
    """The atom that is not scrambled (see `swvp.structures.tree.encoding`): one of few values, if possible of a side
    without words."""
    few = [atom for atom in template.atoms if atom.column in RANKED_AS and not atom.function]
    of_words = {atom.side for atom in template.atoms if atom not in few}
    return min(reversed(few), key=lambda atom: (atom.side in of_words, abs(atom.offset)), default=None)


def triple_tables(templates: Sequence[Triple], slots: Sequence[Slot]) -> Sides:
    texts, sides = [template.text for template in templates], [template.sides for template in templates]
    return sides_of(texts, sides, [near_of(template) for template in templates], slots, 3)


def part_tables(templates: PartTemplates, others: Sequence[Template] = ()) -> tuple[PartTemplates, PartTables]:
    """The templates in the order of their tables, and the tables.

    Nodes are encoded for all of these together, in that order, and for the others after them.
    """
    of_two = [tables_of(group)[0] for group in templates[:3]]
    ordered = PartTemplates(of_two[0], of_two[1], of_two[2], templates.siblings, templates.grandparents)
    slots = slots_of([*ordered.all, *others])
    arcs, sibling_pairs, grandparent_pairs = (tables_of(group, slots)[1] for group in ordered[:3])
    return ordered, PartTables(
        arcs,
        sibling_pairs,
        grandparent_pairs,
        triple_tables(ordered.siblings, slots),
        triple_tables(ordered.grandparents, slots),
    )


def new_part_buffers(tables: PartTables, nodes: Nodes, candidates: Candidates) -> PartBuffers:
    """Buffers for the sentences of `nodes`."""
    words = int(np.diff(nodes.starts).max(initial=1)) - 1
    pairs = [
        new_arc_buffers(table, nodes, words) for table in (tables.arcs, tables.sibling_pairs, tables.grandparent_pairs)
    ]
    three = [np.zeros((3, words + 3, len(table.salts)), np.uint64) for table in (tables.siblings, tables.grandparents)]
    templates = max(keys.shape[2] for keys in three)
    longest = max(len(each.features) for each in pairs) + templates
    return PartBuffers(
        parts=new_parts(candidates, nodes.starts),
        arcs=pairs[0],
        sibling_pairs=pairs[1],
        grandparent_pairs=pairs[2],
        siblings=three[0],
        grandparents=three[1],
        features=np.zeros(longest, np.uint64),
        slots=np.zeros((words + 2) * templates, np.uint32),
    )


@inner
def triple_keys(atoms, first, n, outside, table, keys):
    """Write the keys of three sides."""
    for side in range(3):
        side_keys(
            atoms, first, n, outside, table.sides, table.lengths, table.multiple, table.near, table.salts, side, keys
        )
        for t in range(len(table.salts)):
            keys[side, n + 1, t] = scrambled(table.salts[t, side] ^ START_HASH)
            keys[side, n + 2, t] = scrambled(table.salts[t, side] ^ STOP_HASH)


@inner
def mark(scores, n):
    for h in range(n + 1):
        for m in range(n + 1):
            scores[h, m] = -np.inf


@inlined_source
def score_arc_parts(nodes, tables, first, n, w, owners, buffers, parts):
    mark(buffers.scores, n)
    for a in range(parts.arcs[n + 1]):
        buffers.scores[parts.heads[a], parts.modifiers[a]] = 0.0
    score_marked(nodes, tables, first, n, w, owners, buffers)
    for a in range(parts.arcs[n + 1]):
        parts.arc_scores[a] = buffers.scores[parts.heads[a], parts.modifiers[a]]


@inlined_source
def score_sibling_pairs(nodes, tables, first, n, w, owners, buffers, parts):
    mark(buffers.scores, n)
    if len(tables.salts) > 0:
        for c in range(2 * n + 2):
            for p in range(parts.chains[c], parts.chains[c + 1]):
                for q in range(p + 1, parts.chains[c + 1]):
                    buffers.scores[parts.modifiers[parts.chain[p]], parts.modifiers[parts.chain[q]]] = 0.0
        score_marked(nodes, tables, first, n, w, owners, buffers)


@inlined_source
def score_grandparent_pairs(nodes, tables, first, n, w, owners, buffers, parts):
    mark(buffers.scores, n)
    if len(tables.salts) > 0:
        for a in range(parts.arcs[n + 1]):
            h, m = parts.heads[a], parts.modifiers[a]
            for b in range(parts.arcs[h], parts.arcs[h + 1]):
                if parts.heads[b] != m:
                    buffers.scores[parts.heads[b], m] = 0.0
        score_marked(nodes, tables, first, n, w, owners, buffers)


@inlined
def node_of(parts, c, n, rank):
    """The node of a rank of chain c, also for START and STOP."""
    if rank == 0:
        return n + 1
    if rank > parts.chains[c + 1] - parts.chains[c]:
        return n + 2
    return parts.modifiers[parts.chain[parts.chains[c] + rank - 1]]


@inlined
def turn(g, h, m):
    """The direction of a grandparent part: right or left, and where m is: beyond h, between h and g, or beyond g."""
    where = 0 if (m > h) == (h > g) else 1 if (m > g) == (h > g) else 2
    return DIRECTIONS[2 * where + (1 if m > h else 0)]


@inlined
def write_triples(owners, mask, one, two, three, direction, slots, size):
    """Write the slots of all templates of three sides behind the first `size`; return their number so far."""
    for t in range(len(one)):
        slots[size] = place(one[t] ^ two[t] ^ three[t] ^ direction, owners, mask)
        size += ONE
    return size


@inner
def score_siblings(n, w, owners, keys, pairs, slots, parts):
    mask, templates = np.uint64(len(w) - 1), np.uint64(keys.shape[2])
    for c in range(2 * n + 2):
        k = parts.chains[c + 1] - parts.chains[c]
        heads, direction = keys[0, c // 2], DIRECTIONS[c % 2]
        for i in range(k + 1):
            m = node_of(parts, c, n, i)
            size = np.uint64(0)
            for j in range(i + 1, k + 2):
                s = node_of(parts, c, n, j)
                size = write_triples(owners, mask, heads, keys[1, m], keys[2, s], direction, slots, size)
            begin = np.uint64(0)
            for j in range(i + 1, k + 2):
                s = node_of(parts, c, n, j)
                score = sum_slots(w, slots, begin, begin + templates)
                if m <= n and s <= n and pairs[m, s] != -np.inf:
                    score += pairs[m, s]
                parts.sibling_scores[siblings(parts, c, i, j)] = score
                begin += templates


@inner
def score_grandparents(n, w, owners, keys, pairs, slots, parts):
    mask, templates = np.uint64(len(w) - 1), np.uint64(keys.shape[2])
    for a in range(parts.arcs[n + 1]):
        h, m = parts.heads[a], parts.modifiers[a]
        size = np.uint64(0)
        for b in range(parts.arcs[h], parts.arcs[h + 1]):
            g = parts.heads[b]
            if g != m:
                size = write_triples(owners, mask, keys[0, g], keys[1, h], keys[2, m], turn(g, h, m), slots, size)
        begin = np.uint64(0)
        for b in range(parts.arcs[h], parts.arcs[h + 1]):
            g = parts.heads[b]
            score = 0.0
            if g != m:
                score = sum_slots(w, slots, begin, begin + templates)
                if pairs[g, m] != -np.inf:
                    score += pairs[g, m]
                begin += templates
            parts.grandparent_scores[grandparent(parts, a, b)] = score


@inlined_source
def score_parts(nodes, tables, candidates, i, w, owners, buffers):
    """Lay out the parts of sentence i and write their scores; return its length."""
    first = nodes.starts[i]
    n = nodes.starts[i + 1] - first - 1
    parts = buffers.parts
    lay_out(candidates, first - i, n, parts)
    score_arc_parts(nodes, tables.arcs, first, n, w, owners, buffers.arcs, parts)
    score_sibling_pairs(nodes, tables.sibling_pairs, first, n, w, owners, buffers.sibling_pairs, parts)
    score_grandparent_pairs(nodes, tables.grandparent_pairs, first, n, w, owners, buffers.grandparent_pairs, parts)
    outside = tables.arcs.outside
    triple_keys(nodes.atoms, first, n, outside, tables.siblings, buffers.siblings)
    triple_keys(nodes.atoms, first, n, outside, tables.grandparents, buffers.grandparents)
    score_siblings(n, w, owners, buffers.siblings, buffers.sibling_pairs.scores, buffers.slots, parts)
    score_grandparents(n, w, owners, buffers.grandparents, buffers.grandparent_pairs.scores, buffers.slots, parts)
    return n


@inlined_source
def add_pair(nodes, tables, first, h, m, buffers, out, size):
    """Write the keys of the features of a pair after the first `size`; return their number so far."""
    if len(tables.salts) == 0:
        return size
    return size + arc_keys(nodes, tables, first, h, m, buffers, out[size:])


@inlined
def add_triples(one, two, three, direction, out):
    for t in range(len(one)):
        out[t] = one[t] ^ two[t] ^ three[t] ^ direction
    return len(one)


@inlined_source
def sibling_keys(nodes, tables, first, n, c, i, j, buffers):
    """Write the keys of all features of the siblings of ranks i and j of chain c; return their number."""
    m, s = node_of(buffers.parts, c, n, i), node_of(buffers.parts, c, n, j)
    keys = buffers.siblings
    size = add_triples(keys[0, c // 2], keys[1, m], keys[2, s], DIRECTIONS[c % 2], buffers.features)
    if m > n or s > n:
        return size
    return add_pair(nodes, tables.sibling_pairs, first, m, s, buffers.sibling_pairs, buffers.features, size)


@inlined_source
def grandparent_keys(nodes, tables, first, g, h, m, buffers):
    """Write the keys of all features of a grandparent part; return their number."""
    keys = buffers.grandparents
    size = add_triples(keys[0, g], keys[1, h], keys[2, m], turn(g, h, m), buffers.features)
    return add_pair(nodes, tables.grandparent_pairs, first, g, m, buffers.grandparent_pairs, buffers.features, size)


# ---------------------------------------------------------------- names

Named = tuple[str, str]
"""The text of a template and the name of a feature of it."""

START, STOP = "(start)", "(stop)"


def sibling_names(
    sentence: SentenceColumns, templates: PartTemplates, h: int, m: int | None, s: int | None, right: bool
) -> list[Named]:
    """The features of the siblings m and s of h on one side of it; without m it is START, without s it is STOP."""
    ends = {"m": START} if m is None else {}
    ends |= {"s": STOP} if s is None else {}
    direction = "right" if right else "left"
    names = triple_names(sentence, templates.siblings, (h, m or 0, s or 0), ends, "siblings", direction)
    if m is not None and s is not None:
        names += pair_names(sentence, templates.sibling_pairs, m, s, "siblings")
    return names


def grandparent_names(sentence: SentenceColumns, templates: PartTemplates, g: int, h: int, m: int) -> list[Named]:
    """The features of m, its head h and the head g of h."""
    where = {h: "beyond h", m: "between h and g", g: "beyond g"}[sorted((g, h, m))[1]]
    direction = f"{'right' if m > h else 'left'}, {where}"
    names = triple_names(sentence, templates.grandparents, (g, h, m), {}, "grandparent", direction)
    return names + pair_names(sentence, templates.grandparent_pairs, g, m, "grandparent")


def triple_names(
    sentence: SentenceColumns,
    templates: Iterable[Triple],
    nodes: Sequence[int],
    ends: Mapping[str, str],
    kind: str,
    direction: str,
) -> list[Named]:
    """The names of features of three nodes, in the order of the sides; `ends` are the sides that are START or STOP."""
    names = []
    for template in templates:
        parts = kind_prefix(template, kind)
        for name, atoms, node in zip(KINDS[kind], template.sides, nodes, strict=True):
            if name in ends:
                parts += [f"{text}={ends[name]}" for text in [atom.text for atom in atoms] or [name]]
            else:
                parts += values_of(sentence, atoms, node)[0]
        names.append((template.text, f"{' & '.join(parts)}, {direction}"))
    return names


def pair_names(
    sentence: SentenceColumns, templates: Iterable[ArcTemplate], first: int, second: int, kind: str
) -> list[Named]:
    """The names of features of two nodes, by templates of arcs with the sides of the part."""
    direction = "right" if second > first else "left"
    return [
        (template.text, f"{' & '.join([*kind_prefix(template, kind), *parts])}, {direction}")
        for template, parts in feature_parts(
            sentence, [of_part(template, kind) for template in templates], first, second
        )
    ]


def of_part(template: ArcTemplate, kind: str) -> ArcTemplate:
    """The template of a pair with the sides of its text."""
    first, second = tuple(PAIRS[kind])
    return template._replace(
        head=tuple(atom._replace(side=first) for atom in template.head),
        modifier=tuple(atom._replace(side=second) for atom in template.modifier),
    )


def kind_prefix(template: ArcTemplate | Triple, kind: str) -> list[str]:
    """The kind of a template whose text starts with it, because it has no side of its own to show it."""
    return [kind] if template.text.split(" & ")[0] == kind else []
