"""The dictionary of a tagger from those of the blocks of a corpus: exactly what one pass over all blocks would number.

Every block numbers its own strings and attributes, in the order of their first occurrence. The dictionaries are merged
in the order of the blocks, so the merged numbers are again in the order of the first occurrence. A block then needs
only the new number of each of its own numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.features.encoder import Columns, TemplateEncoder
from swvp.features.lexicons import FREQUENT, SHARE, Lexicon
from swvp.types import Int32s, Ints

__all__ = ["BlockKeys", "MergedTags", "TagCounts", "count_tags", "merge_keys", "merge_vocabularies", "rekeyed"]

DROPPED = -1


class TagCounts(NamedTuple):
    """How often the words of a block, in lower case, have each label: words[pairs[k, 0]] has labels[pairs[k, 1]]."""

    words: list[str]
    labels: list[str]
    pairs: Ints
    counts: Ints


def count_tags(columns: Columns, column: str, names: Sequence[str], labels: NDArray[Any]) -> TagCounts:
    """Count the labels of the words of a block."""
    at = columns.names.index(column)
    number: dict[str, int] = {}
    of_string = np.array([number.setdefault(string.lower(), len(number)) for string in columns.strings[at]], np.int64)
    pairs, counts = np.unique(of_string[columns.ids[at]] * len(names) + labels, return_counts=True)
    both = np.stack(np.divmod(pairs, max(len(names), 1)), axis=1)
    return TagCounts(list(number), [str(name) for name in names], both, counts)


class MergedTags:
    """The counts of all blocks that were added: as many pairs of a word and a label as there are different ones."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self.labels: dict[str, int] = {}
        self.pairs, self.counts = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.waiting: list[tuple[Ints, Ints]] = []
        self.size = 0

    def add(self, block: TagCounts) -> None:
        """Add the counts of a block."""
        word = np.array([self.words.setdefault(string, len(self.words)) for string in block.words], np.int64)
        label = np.array([self.labels.setdefault(string, len(self.labels)) for string in block.labels], np.int64)
        self.waiting.append(((word[block.pairs[:, 0]] << 32) | label[block.pairs[:, 1]], block.counts))
        self.size += len(block.counts)
        if self.size > len(self.pairs):  # so each pair is sorted a few times at the most
            self._merge()

    def _merge(self) -> None:
        pairs = np.concatenate([self.pairs, *(pairs for pairs, _ in self.waiting)])
        counts = np.concatenate([self.counts, *(counts for _, counts in self.waiting)])
        self.pairs, which = np.unique(pairs, return_inverse=True)
        self.counts = np.bincount(which.reshape(-1), counts, len(self.pairs)).astype(np.int64)
        self.waiting, self.size = [], 0

    def chosen(self) -> Lexicon:
        """The frequent labels of each frequent word; see `swvp.features.lexicons.learn_tags`."""
        self._merge()
        each, word, label = self.counts, self.pairs >> 32, self.pairs & (2**32 - 1)
        totals = np.bincount(word, each, minlength=len(self.words))
        frequent = (totals[word] >= FREQUENT) & (each >= SHARE * totals[word])
        names, strings = list(self.labels), list(self.words)
        tags_of: dict[int, list[tuple[int, str]]] = {}
        for w, t, count in zip(word[frequent].tolist(), label[frequent].tolist(), each[frequent].tolist(), strict=True):
            tags_of.setdefault(w, []).append((-count, names[t]))
        return {strings[w]: "|".join(name for _, name in sorted(found)) for w, found in tags_of.items()}


# ---------------------------------------------------------------- strings and attributes


class BlockKeys(NamedTuple):
    """What a block has numbered: the strings of each slot, the keys of its attributes, how often each occurs.

    There are no keys if attributes are hashed, and no counts unless rare attributes are dropped.
    """

    vocabularies: list[list[str]]
    keys: Ints
    counts: Ints


def merge_vocabularies(blocks: Iterable[BlockKeys]) -> tuple[list[list[str]], list[list[Int32s]], list[BlockKeys]]:
    """The strings of each slot of all blocks, and for each block and slot the new number of each of its strings.

    The blocks are returned without their strings: these would take a tenth of the memory of the corpus.
    """
    slots: list[dict[str, int]] = []
    renumbered, without_strings = [], []
    for block in blocks:
        slots = slots or [{} for _ in block.vocabularies]
        renumbered.append(
            [
                np.array([slot.setdefault(string, len(slot)) for string in strings], np.int32)
                for slot, strings in zip(slots, block.vocabularies, strict=True)
            ]
        )
        without_strings.append(block._replace(vocabularies=[]))
    return [list(slot) for slot in slots], renumbered, without_strings


def rekeyed(encoder: TemplateEncoder, block: BlockKeys, new_numbers: Sequence[Int32s], new_radix: Ints) -> Ints:
    """The keys of a block under the numbers of all strings; `encoder` has the templates."""
    templates = len(encoder.templates)
    keys = np.empty(len(block.keys), np.int64)
    sizes = np.array([len(numbers) for numbers in new_numbers], np.int64)
    old_radix = sizes + 2 * encoder.reach
    of_template = block.keys % templates
    for template in range(templates):
        chosen = np.flatnonzero(of_template == template)
        rest, key, unit = block.keys[chosen] // templates, np.zeros(len(chosen), np.int64), 1
        for slot, _ in encoder.atoms[encoder.starts[template] : encoder.starts[template + 1]][::-1].tolist():
            rest, digit = np.divmod(rest, old_radix[slot])
            # numbers from the number of strings on are distances beyond an end of the sentence: they stay the last ones
            table = np.concatenate([new_numbers[slot], np.arange(new_radix[slot] - 2 * encoder.reach, new_radix[slot])])
            key += table[digit] * unit
            unit *= int(new_radix[slot])
        keys[chosen] = key * templates + template
    return keys


def merge_keys(
    blocks: Sequence[Ints], counts: Sequence[Ints], minimum_count: int
) -> tuple[Ints, list[NDArray[np.int64]]]:
    """The keys of all blocks in the order of their first occurrence, and for each block the numbers of its keys.

    Keys that occur less often than `minimum_count` are dropped: their number is DROPPED.
    """
    known, numbers = np.zeros(0, np.int64), np.zeros(0, np.int64)  # the keys in ascending order, and their numbers
    ordered: list[Ints] = []
    of_blocks = []
    for keys in blocks:
        at = np.searchsorted(known, keys)
        found = at < len(known)
        found[found] = known[at[found]] == keys[found]
        own = np.empty(len(keys), np.int64)
        own[found] = numbers[at[found]]
        new = keys[~found]
        own[~found] = len(known) + np.arange(len(new))
        of_blocks.append(own)
        ordered.append(new)
        order = np.argsort(new)
        places = np.searchsorted(known, new[order])
        numbers = np.insert(numbers, places, len(known) + order)
        known = np.insert(known, places, new[order])
    merged = np.concatenate([np.zeros(0, np.int64), *ordered])
    if minimum_count <= 1:
        return merged, of_blocks
    total = np.zeros(len(merged), np.int64)
    for own, count in zip(of_blocks, counts, strict=True):
        total[own] += count
    frequent = total >= minimum_count
    renumbered = np.where(frequent, np.cumsum(frequent) - 1, DROPPED)
    return merged[frequent], [renumbered[own] for own in of_blocks]
