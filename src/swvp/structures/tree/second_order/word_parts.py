"""The parts of words: Δφ of a sub-structure in second order from its parts instead of from mixed heads.

The paper's parser computes its update from parts with a gold and a predicted value, so the share of a word in
Δφ(x, y, y*) is that of its own parts. Here each part that only one of the two trees has belongs to one word with a
wrong head:

    arc (h, m)              m
    grandparent (g, h, m)   m if its head is wrong, else h
    siblings (h, m, s)      s if its head is wrong, else m if its head is wrong; else the other tree has a child of h
                            between them, whose head is wrong: the one nearest to h

and Δφ of a sub-structure J is the sum over the words of J of φ(their gold parts) - φ(their predicted parts). All wrong
words together have Δφ(x, y, y*). So the margins of single words add up to that of the whole prediction, which is at
most 0, and one of them is a violation, as in first order. Mixed heads would add parts that neither tree has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import inlined, inner
from swvp.structures.tree.second_order.parts import grandparent, siblings
from swvp.types import Floats, Ints

__all__ = ["WordParts", "add_word_parts", "new_word_parts", "word_part_margins"]


class WordParts(NamedTuple):
    """Buffers for one sentence: parts that one tree has and the other has not, and numbers for its words.

    Part p belongs to word[p] (from 0) and has the number part[p]: arcs, then siblings, then grandparents.
    """

    word: Ints
    part: Ints
    of_word: Floats


def new_word_parts(words: int) -> WordParts:
    """Buffers for sentences of at most `words` words."""
    most = 5 * words + 2  # arcs, grandparents, and siblings: one for each child and one for each side
    return WordParts(np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(words))


@inner
def differing_parts(parts, n, heads, other, buffers):
    """Write the parts that the tree `heads` has and `other` has not, with their words; return their number."""
    sibling, grand = len(parts.arc_scores), len(parts.arc_scores) + len(parts.sibling_scores)
    size = 0
    for m in range(1, n + 1):
        h = heads[m - 1]
        a = parts.arc[h, m]
        wrong = other[m - 1] != h
        if wrong:
            buffers.word[size], buffers.part[size] = m - 1, a
            size += 1
        if h > 0 and heads[h - 1] != m and (wrong or other[h - 1] != heads[h - 1]):
            buffers.word[size] = m - 1 if wrong else h - 1
            buffers.part[size] = grand + grandparent(parts, a, parts.arc[heads[h - 1], h])
            size += 1
    for c in range(2 * n + 2):
        h = c // 2
        before, inner_child, between = 0, 0, 0  # a rank, and words
        stop = parts.chains[c + 1] - parts.chains[c] + 1
        for rank in range(1, stop + 1):
            m = parts.modifiers[parts.chain[parts.chains[c] + rank - 1]] if rank < stop else 0
            if m > 0 and heads[m - 1] != h:
                if between == 0 and other[m - 1] == h:
                    between = m
                continue
            word = between
            if inner_child > 0 and other[inner_child - 1] != h:
                word = inner_child
            if m > 0 and other[m - 1] != h:
                word = m
            if word > 0:
                buffers.word[size], buffers.part[size] = word - 1, sibling + siblings(parts, c, before, rank)
                size += 1
            before, inner_child, between = rank, m, 0
    return size


@inlined
def score_of_part(parts, number):
    sibling = len(parts.arc_scores)
    grand = sibling + len(parts.sibling_scores)
    if number < sibling:
        return parts.arc_scores[number]
    return parts.sibling_scores[number - sibling] if number < grand else parts.grandparent_scores[number - grand]


@inner
def word_part_margins(parts, n, gold, predicted, starts, positions, count, buffers, out):
    """Write w·Δφ of each of the `count` sub-structures."""
    for k in range(n):
        buffers.of_word[k] = 0.0
    for turn in range(2):
        heads, other = (predicted, gold) if turn else (gold, predicted)
        for p in range(differing_parts(parts, n, heads, other, buffers)):
            score = score_of_part(parts, buffers.part[p])
            buffers.of_word[buffers.word[p]] += -score if turn else score
    for j in range(count):
        out[j] = 0.0
        for p in range(starts[j], starts[j + 1]):
            out[j] += buffers.of_word[positions[p]]


@inner
def add_word_parts(parts, n, gold, predicted, starts, positions, sets, count, amounts, buffers, of_parts):
    """Add amounts[c] · Δφ of the sub-structure sets[c], for c < count, to the amounts of all parts."""
    for k in range(n):
        buffers.of_word[k] = 0.0
    for c in range(count):
        for p in range(starts[sets[c]], starts[sets[c] + 1]):
            buffers.of_word[positions[p]] += amounts[c]
    for turn in range(2):
        heads, other = (predicted, gold) if turn else (gold, predicted)
        for p in range(differing_parts(parts, n, heads, other, buffers)):
            amount = buffers.of_word[buffers.word[p]]
            of_parts[buffers.part[p]] += -amount if turn else amount
