"""Treebanks as numbers: a hash of each distinct string, the templates as tables for the kernels, the arcs allowed.

Features whose templates differ in one tag only are next to each other in the array of weights, so that the few tags of
a sentence share cache lines. To that end one atom of a template, `near`, is not scrambled into its key but combined
with the low bits, and the values of columns of few values are numbered by frequency in their low bits.

Arcs are pruned by tags and lengths: only those seen in training are allowed. longest[a, b, right] is the length of the
longest arc from a head of part of speech a to a modifier of b that goes to the right or to the left, 0 if there is
none. Arcs of the root have no length. A tag not seen in training is allowed everything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import inlined, kernel
from swvp.errors import InputError
from swvp.features.agreement import AGREEMENT, CODE_BITS, agreement_bits
from swvp.features.context import Columns, flags_of
from swvp.features.parser_templates import NUMERIC_ATOMS, ArcTemplate
from swvp.features.remembered import StringRows
from swvp.features.templates import FUNCTIONS, Atom, Slot, TemplateFunction
from swvp.types import Bools, Flags, Int32s, Ints, Keys

__all__ = [
    "Nodes",
    "Pruned",
    "Ranks",
    "Tables",
    "all_allowed",
    "allowed",
    "encode",
    "forbidden",
    "longest_arcs",
    "pruned",
    "ranks_of",
    "slots_of",
    "tables_of",
    "widened",
]

Ranks = Mapping[str, Mapping[str, int]]
"""The values of the columns of few values in the training set, numbered from the most frequent one."""

HEAD, MODIFIER, MORPHOLOGY, PAIR, BETWEEN, ARC = range(6)
"""The groups of templates: of one side, of feats, of both sides, of the words in between, of the arc."""

FEW_VALUES = ("pos", "tag", "feats")
RANKED_AS = {"pos": "pos", "tag": "tag", "feats": "feats", "fine": "tag"}
"""The columns of few values, and those whose ranks their values have: a fine tag often is an XPOS tag."""

ROOT, BEGIN, END, NONE = "\0root", "\0begin", "\0end", "_"
ATOM_BITS = {atom: 1 << bit for bit, atom in enumerate(NUMERIC_ATOMS)} | {
    f"agreement.{name}": ((1 << CODE_BITS) - 1) << (len(NUMERIC_ATOMS) + CODE_BITS * a)
    for a, name in enumerate(AGREEMENT)
}
"""The arc atoms as bits: one for each number, and for agreement those of its code."""

MOST_FEATS = 24
"""The most morphological features of one word that are used."""


class Nodes(NamedTuple):
    """The nodes of all sentences, of each its root and then its words: sentence i has starts[i]:starts[i + 1].

    atoms[v, s] is the hash of the value of slot s at node v, feats[v, :counts[v]] those of its morphological features.
    `flags` mark verbs, punctuation and coordinators; `kinds` are numbers of parts of speech, for pruning; `agreement`
    holds the values of features that may agree, as bits.
    """

    atoms: Keys
    feats: Keys
    counts: Int32s
    flags: Flags
    kinds: Int32s
    agreement: Keys
    starts: Ints


class Tables(NamedTuple):
    """The templates for the kernels, in the order of their groups: templates first[g]:first[g + 1] are group g.

    Side 0 is the head, side 1 the modifier. The atoms of a side are sides[t, side, :lengths[t, side]] = (slot, offset);
    with multiple[t, side] feats come last. If near[t, side], its last atom is `near`. salts[t, side] differ between
    templates. There is a group ARC + c for each combination c of arc atoms, given as bits. `between` is the slot of the
    words in between, `outside` the hashes of what is before and after a sentence.

    `longest` is what pruning allows.
    """

    sides: Int32s
    lengths: Int32s
    multiple: Flags
    near: Flags
    salts: Keys
    first: Ints
    combinations: Ints
    between: int
    outside: Keys
    longest: Int32s


@lru_cache(maxsize=2**14)  # feats and tags come again and again
def hashed(string: str) -> int:
    return int.from_bytes(blake2b(string.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def ranked_hash(string: str, ranks: Mapping[str, int]) -> int:
    """The hash of a value of a column of few values: 32 neighbours in rank differ in their lowest 5 bits only."""
    rank = ranks.get(string)
    return hashed(string) if rank is None else (hashed(f"\0rank {rank >> 5}") & ~31) | (rank & 31)


def hashes_of(slots: Sequence[Slot], strings: Sequence[str]) -> Keys:
    """The hash of the value of each slot, of one column, for each of these strings of it: [string, slot]."""
    functions = tuple(FUNCTIONS[slot.function] for slot in slots)  # a user's function may be replaced
    try:
        remembered = remembered_hashes(tuple(slots), functions)
    except TypeError:  # a callable without a hash
        return compute_hashes(slots, strings)
    return remembered(strings)


@lru_cache(maxsize=32)
def remembered_hashes(slots: tuple[Slot, ...], functions: tuple[TemplateFunction, ...]) -> StringRows:
    """The hashes of the values of slots, as a function that remembers them."""
    return StringRows(partial(compute_hashes, slots))


def compute_hashes(slots: Sequence[Slot], strings: Sequence[str]) -> Keys:
    """What `hashes_of` returns, computed."""
    hashes = np.empty((len(strings), len(slots)), np.uint64)
    for s, slot in enumerate(slots):
        hashes[:, s] = np.array([hashed.__wrapped__(slot.value(string)) for string in strings], np.uint64)
    return hashes


def fill_atoms(atoms: Keys, words: Bools, slots: Sequence[tuple[int, Slot]], columns: Columns) -> None:
    """Write the hashes of the values of numbered slots at all words into atoms[:, number of the slot]."""
    for column in dict.fromkeys(slot.column for _, slot in slots):
        strings, ids = columns[column]
        chosen = [(number, slot) for number, slot in slots if slot.column == column]
        hashes = hashes_of([slot for _, slot in chosen], strings)
        for (number, _), values in zip(chosen, hashes.T, strict=True):
            atoms[words, number] = values[ids]


class Template(Protocol):
    """The atoms of a template of any kind of part."""

    @property
    def text(self) -> str: ...
    @property
    def atoms(self) -> tuple[Atom, ...]: ...
    @property
    def between(self) -> str: ...


def slots_of(templates: Sequence[Template]) -> list[Slot]:
    """The distinct slots of templates."""
    atoms = (atom for template in templates for atom in template.atoms)
    slots = [atom.slot for atom in atoms if atom.column != "feats"]
    slots += [Slot(template.between) for template in templates if template.between]
    return list(dict.fromkeys(slots)) or [Slot("pos")]


def group_of(template: ArcTemplate) -> tuple[int, int]:
    """The group of a template, and its arc atoms as bits."""
    bits = sum(ATOM_BITS[atom] for atom in template.arc)
    if bits:
        return ARC, bits
    if template.between:
        return BETWEEN, 0
    if template.head and template.modifier:
        multiple = any(atom.column == "feats" for atom in (*template.head, *template.modifier))
        return MORPHOLOGY if multiple else PAIR, 0
    return MODIFIER if template.modifier else HEAD, 0


def near_atom(template: ArcTemplate) -> Atom | None:
    """The atom that is not scrambled: one of few values, if possible of a side without words."""
    if template.between or template.arc:
        return None
    atoms = (*template.modifier, *template.head)
    few = [atom for atom in atoms if atom.column in RANKED_AS and not atom.function]
    of_words = {atom.side for atom in atoms if atom not in few}
    few.sort(key=lambda atom: (atom.side in of_words, atom.column != "feats", abs(atom.offset)))
    multiple = {atom.side for atom in atoms if atom.column == "feats"}
    return next((atom for atom in few if atom.column == "feats" or atom.side not in multiple), None)


class Sides(NamedTuple):
    """The atoms of the sides of templates, as in `Tables`."""

    sides: Int32s
    lengths: Int32s
    multiple: Flags
    near: Flags
    salts: Keys


def sides_of(
    texts: Sequence[str],
    sides: Sequence[Sequence[tuple[Atom, ...]]],
    last: Sequence[Atom | None],
    slots: Sequence[Slot],
    number: int = 2,
) -> Sides:
    """The sides of templates as tables; `last` are their atoms that are not scrambled."""
    size, longest = len(texts), max((len(atoms) for template in sides for atoms in template), default=1)
    tables = Sides(
        sides=np.zeros((size, number, max(longest, 1), 2), np.int32),
        lengths=np.zeros((size, number), np.int32),
        multiple=np.zeros((size, number), np.uint8),
        near=np.zeros((size, number), np.uint8),
        salts=np.zeros((size, number), np.uint64),
    )
    for t in range(size):
        for side, atoms in enumerate(sides[t]):
            single = sorted((atom for atom in atoms if atom.column != "feats"), key=lambda atom: atom == last[t])
            tables.multiple[t, side], tables.near[t, side] = len(single) < len(atoms), last[t] in atoms
            tables.lengths[t, side], tables.salts[t, side] = len(single), hashed(f"{texts[t]} {side}")
            for a, atom in enumerate(single):
                tables.sides[t, side, a] = slots.index(atom.slot), atom.offset
    return tables


def tables_of(
    templates: Sequence[ArcTemplate], slots: Sequence[Slot] | None = None
) -> tuple[list[ArcTemplate], Tables]:
    """The templates in the order of their groups, and their tables; nothing is pruned.

    `slots` are those of the nodes, if several lists of templates share them; by default those of the ordered templates,
    as in `encode`.
    """
    groups = sorted({group_of(template) for template in templates} | {(group, 0) for group in range(ARC)})
    ordered = sorted(templates, key=lambda template: groups.index(group_of(template)))
    slots = slots_of(ordered) if slots is None else list(slots)
    columns = {template.between for template in ordered if template.between}
    if len(columns) > 1:
        raise InputError(f"features: between.{' and between.'.join(sorted(columns))} exclude each other; use one")
    sides = sides_of(
        [template.text for template in ordered],
        [(template.head, template.modifier) for template in ordered],
        [near_atom(template) for template in ordered],
        slots,
    )
    counts = [sum(group_of(template) == group for template in ordered) for group in groups]
    return ordered, Tables(
        *sides,
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        combinations=np.array([bits for group, bits in groups if group == ARC], np.int64),
        between=slots.index(Slot(columns.pop())) if columns else 0,
        outside=np.array([hashed(BEGIN), hashed(END)], np.uint64),
        longest=all_allowed(),
    )


def ranks_of(columns: Columns) -> dict[str, dict[str, int]]:
    """The ranks of a training treebank; equally frequent values in the order of their strings."""
    ranks = {}
    for name in FEW_VALUES:
        strings, ids = columns[name]
        counts: dict[str, int] = {}
        for string, count in zip(strings, np.bincount(ids, minlength=len(strings)).tolist(), strict=True):
            for part in parts_of(string) if name == "feats" else [string]:
                counts[part] = counts.get(part, 0) + count
        ordered = sorted(counts, key=lambda part: (-counts[part], part))
        ranks[name] = {part: rank for rank, part in enumerate(ordered)}
    return ranks


def parts_of(feats: str) -> list[str]:
    """The morphological features of a word, Case=Nom|Number=Sing."""
    return [part for part in feats.split("|") if part and part != NONE]


def encode(
    columns: Columns,
    offsets: Ints,
    templates: Sequence[Template],
    ranks: Ranks,
    slots: Sequence[Slot] | None = None,
) -> Nodes:
    """The nodes of the sentences offsets[i]:offsets[i + 1], for ordered templates, or for these slots if given."""
    starts = offsets + np.arange(len(offsets))
    words = np.ones(starts[-1], bool)
    words[starts[:-1]] = False
    slots = slots_of(templates) if slots is None else slots
    atoms = np.full((starts[-1], len(slots)), hashed(ROOT), np.uint64)
    is_ranked = [slot.column in RANKED_AS and not slot.function for slot in slots]
    fill_atoms(atoms, words, [(s, slot) for s, slot in enumerate(slots) if not is_ranked[s]], columns)
    for s, slot in enumerate(slots):
        if is_ranked[s]:
            strings, ids = columns[slot.column]
            of_column = ranks[RANKED_AS[slot.column]]
            values = [ranked_hash(string, of_column) for string in strings]
            atoms[words, s] = np.array(values, np.uint64)[ids]
    strings, ids = columns["feats"]
    split = [parts_of(string)[:MOST_FEATS] for string in strings]
    table = np.zeros((len(strings), max([len(parts) for parts in split] + [1])), np.uint64)
    for row, parts in zip(table, split, strict=True):
        row[: len(parts)] = [ranked_hash(part, ranks["feats"]) for part in parts]
    return Nodes(
        atoms=atoms,
        feats=of_nodes(words, table, ids),
        counts=of_nodes(words, np.array([len(parts) for parts in split], np.int32), ids),
        flags=of_nodes(words, flags_of(columns), np.arange(len(columns["word"][1]))),
        kinds=of_nodes(words, kinds_of(columns["pos"][0], ranks["pos"]), columns["pos"][1]),
        agreement=of_nodes(words, agreement_bits(strings), ids),
        starts=starts,
    )


def of_nodes(words: Bools, values: NDArray[Any], ids: NDArray[Any]) -> NDArray[Any]:
    """The values of all nodes: values[ids] for words, 0 for roots."""
    of_all = np.zeros((len(words), *values.shape[1:]), values.dtype)
    of_all[words] = values[ids]
    return of_all


def kinds_of(tags: Sequence[str], ranks: Mapping[str, int]) -> Int32s:
    """1 + the rank of a tag; the last number is for tags not seen in training, 0 for the root."""
    return np.array([1 + ranks.get(tag, len(ranks)) for tag in tags], np.int32)


# ---------------------------------------------------------------- pruning by tags and lengths

ANY_LENGTH = 2**31 - 1


class Pruned(NamedTuple):
    """The share of gold arcs that are allowed, the mean number of heads per word, and the share of all arcs."""

    recall: float
    heads: float
    share: float


def all_allowed() -> Int32s:
    """The table that prunes nothing."""
    return np.full((1, 1, 2), ANY_LENGTH, np.int32)


@inlined
def allowed(longest, kinds, first, h, m):
    """Whether the arc from h to m of the sentence whose root is node `first` is allowed."""
    a, b = kinds[first + h], kinds[first + m]
    if len(longest) == 1:
        return True
    return abs(h - m) <= longest[a, b, 1 if m > h else 0]


def forbidden(longest: Int32s, kinds: Int32s, starts: Any, heads: Any) -> Bools:
    """For each word whether the arc from its head is pruned."""
    words = np.diff(starts) - 1
    first = np.repeat(starts[:-1], words)
    node = np.arange(len(heads)) + np.repeat(np.arange(1, len(words) + 1), words)
    head = first + heads
    if len(longest) == 1:
        return np.zeros(len(heads), np.bool_)
    is_pruned: Bools = np.abs(node - head) > longest[kinds[head], kinds[node], (node > head).astype(np.int64)]
    return is_pruned


def longest_arcs(kinds: Int32s, starts: Any, heads: Int32s, tags: int) -> Int32s:
    """The table of a treebank with `tags` different parts of speech."""
    longest = np.zeros((tags + 2, tags + 2, 2), np.int32)
    longest[tags + 1] = longest[:, tags + 1] = ANY_LENGTH
    fill_longest(longest, kinds, starts, heads)
    return longest


def widened(longest: Int32s, seen: Int32s) -> Int32s:
    """The table that allows what either one allows."""
    return longest if len(longest) == 1 else np.maximum(longest, seen)


@kernel
def fill_longest(longest, kinds, starts, heads):
    for i in range(len(starts) - 1):
        first = starts[i]
        for m in range(1, starts[i + 1] - first):
            h = heads[first - i + m - 1]
            a, b, right = kinds[first + h], kinds[first + m], 1 if m > h else 0
            longest[a, b, right] = ANY_LENGTH if h == 0 else max(longest[a, b, right], abs(h - m))


@kernel
def count_arcs(longest, kinds, starts, heads):
    arcs = allowed_arcs = gold = 0
    for i in range(len(starts) - 1):
        first = starts[i]
        n = starts[i + 1] - first - 1
        arcs += n * n
        for m in range(1, n + 1):
            for h in range(n + 1):
                allowed_arcs += h != m and allowed(longest, kinds, first, h, m)
            gold += allowed(longest, kinds, first, heads[first - i + m - 1], m)
    return arcs, allowed_arcs, gold


def pruned(longest: Int32s, kinds: Int32s, starts: Any, heads: Int32s) -> Pruned:
    """The effect of pruning on a treebank."""
    arcs, allowed_arcs, gold = count_arcs(longest, kinds, starts, heads)
    words = max(len(heads), 1)
    return Pruned(gold / words, allowed_arcs / words, allowed_arcs / max(arcs, 1))
