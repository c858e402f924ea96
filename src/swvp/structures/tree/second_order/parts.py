"""The parts of second-order trees: arcs, consecutive siblings and grandparents, over the candidate heads of words.

The `Candidates` of a treebank are the heads that each of its words may have. They determine the parts of a sentence:

    arc             (h, m)      for each candidate head h of m
    siblings        (h, m, s)   m and s are children of h on one side of it, with no child in between; m may be START
                                (s is the first child, nearest to h) and s may be STOP (m is the last one), or both
    grandparent     (g, h, m)   for each arc (h, m) and each candidate head g of h but m itself; none if h is the root

A chain is one side of a head: chain 2h is the left one of h, 2h + 1 the right one. Its k arcs are ordered from the
nearest to the farthest; rank 0 is START, ranks 1..k its arcs, k + 1 STOP. So any choice of one head for each
word has parts, whether it is a tree or not, and its score is the sum of their scores.

The parts of words are for Δφ of a sub-structure from its parts instead of from mixed heads. The paper's parser computes
its update from parts with a gold and a predicted value, so the share of a word in Δφ(x, y, y*) is that of its own
parts. Here each part that only one of the two trees has belongs to one word with a wrong head:

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

from swvp.compiled import borrowing, inlined, inner, kernel
from swvp.types import Floats, Int32s, Ints

__all__ = [
    "Candidates",
    "Parts",
    "WordParts",
    "add_word_parts",
    "grandparent",
    "lay_out",
    "new_parts",
    "new_word_parts",
    "score_heads",
    "siblings",
    "word_part_margins",
]


class Candidates(NamedTuple):
    """The heads of word w of a treebank, counted over all sentences: heads[first[w]:first[w + 1]], increasing."""

    first: Ints
    heads: Int32s


class Parts(NamedTuple):
    """The parts of one sentence and their scores.

    Arcs are ordered by modifier and then head: those of word m are arcs[m]:arcs[m + 1]. arc[h, m] is the number of an
    arc, or -1. The arcs of chain c are chain[chains[c]:chains[c + 1]], the nearest first, and rank[a] is the place of
    arc a in its chain, from 1. With k arcs in chain c, the siblings of ranks i < j are part
    siblings[c] + i·(k + 1) + j - 1. The grandparent part of arc a = (h, m) and arc b = (g, h) is
    grandparents[a] + b - arcs[h].
    """

    arcs: Ints
    heads: Ints
    modifiers: Ints
    arc: Int32s
    chains: Ints
    chain: Ints
    rank: Ints
    siblings: Ints
    grandparents: Ints
    arc_scores: Floats
    sibling_scores: Floats
    grandparent_scores: Floats


def new_parts(candidates: Candidates, starts: Ints) -> Parts:
    """Buffers for the parts of any of the sentences whose nodes are starts[i]:starts[i + 1]."""
    words, arcs, siblings, grandparents = (int(size) for size in measure(candidates, starts))
    return Parts(
        arcs=np.zeros(words + 2, np.int64),
        heads=np.zeros(arcs, np.int64),
        modifiers=np.zeros(arcs, np.int64),
        arc=np.full((words + 1, words + 1), -1, np.int32),
        chains=np.zeros(2 * words + 3, np.int64),
        chain=np.zeros(arcs, np.int64),
        rank=np.zeros(arcs, np.int64),
        siblings=np.zeros(2 * words + 3, np.int64),
        grandparents=np.zeros(arcs + 1, np.int64),
        arc_scores=np.zeros(arcs),
        sibling_scores=np.zeros(siblings),
        grandparent_scores=np.zeros(grandparents),
    )


@kernel
def measure(candidates, starts):
    """The largest numbers of words, arcs, siblings and grandparents of a sentence."""
    words = arcs = siblings = grandparents = 0
    for i in range(len(starts) - 1):
        n = starts[i + 1] - starts[i] - 1
        first = candidates.first[starts[i] - i :]
        children = np.zeros(2 * n + 2, np.int64)
        pairs = 0
        for m in range(1, n + 1):
            for a in range(first[m - 1], first[m]):
                h = candidates.heads[a]
                children[2 * h + (m > h)] += 1
                if h > 0:
                    pairs += first[h] - first[h - 1]
        total = 0
        for c in range(2 * n + 2):
            total += (children[c] + 1) ** 2
        words, arcs = max(words, n), max(arcs, first[n] - first[0])
        siblings, grandparents = max(siblings, total), max(grandparents, pairs)
    return words, arcs, siblings, grandparents


@borrowing
def lay_out(candidates, word, n, parts):
    """Write the parts, but not their scores, of the sentence of n words that begins with `word` of the treebank."""
    arc, chains = parts.arc, parts.chains
    for h in range(n + 1):
        for m in range(n + 1):
            arc[h, m] = -1
    for c in range(2 * n + 3):
        chains[c] = 0
    a = 0
    parts.arcs[0] = parts.arcs[1] = 0
    for m in range(1, n + 1):
        for p in range(candidates.first[word + m - 1], candidates.first[word + m]):
            h = candidates.heads[p]
            parts.heads[a], parts.modifiers[a] = h, m
            arc[h, m] = a
            chains[2 * h + (m > h) + 1] += 1
            a += 1
        parts.arcs[m + 1] = a
    for c in range(2 * n + 2):
        chains[c + 1] += chains[c]
    p = size = 0
    for h in range(n + 1):
        for right in range(2):
            c = 2 * h + right
            parts.siblings[c] = size
            size += (chains[c + 1] - chains[c] + 1) ** 2
            for length in range(1, n - h + 1 if right else h):
                a = arc[h, h + length if right else h - length]
                if a >= 0:
                    parts.chain[p] = a
                    parts.rank[a] = p - chains[c] + 1
                    p += 1
    parts.siblings[2 * n + 2] = size
    size = 0
    for a in range(parts.arcs[n + 1]):
        h = parts.heads[a]
        parts.grandparents[a] = size
        size += parts.arcs[h + 1] - parts.arcs[h]
    parts.grandparents[parts.arcs[n + 1]] = size


@inlined
def siblings(parts, c, i, j):
    """The part of ranks i < j of chain c."""
    return parts.siblings[c] + i * (parts.chains[c + 1] - parts.chains[c] + 1) + j - 1


@inlined
def grandparent(parts, a, b):
    """The part of arc a = (h, m) and arc b = (g, h)."""
    return parts.grandparents[a] + b - parts.arcs[parts.heads[a]]


@borrowing
def score_heads(parts, n, heads):
    """The score of an assignment, heads[k] for word k + 1: the sum of its parts. It need not be a tree."""
    total = 0.0
    for m in range(1, n + 1):
        h = heads[m - 1]
        a = parts.arc[h, m]
        total += parts.arc_scores[a]
        if h > 0 and heads[h - 1] != m:
            total += parts.grandparent_scores[grandparent(parts, a, parts.arc[heads[h - 1], h])]
    for c in range(2 * n + 2):
        h = c // 2
        before = 0
        for p in range(parts.chains[c], parts.chains[c + 1]):
            a = parts.chain[p]
            if heads[parts.modifiers[a] - 1] == h:
                total += parts.sibling_scores[siblings(parts, c, before, parts.rank[a])]
                before = parts.rank[a]
        total += parts.sibling_scores[siblings(parts, c, before, parts.chains[c + 1] - parts.chains[c] + 1)]
    return total


# ---------------------------------------------------------------- the parts of words


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
