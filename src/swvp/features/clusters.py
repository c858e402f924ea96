"""Word clusters learnt from text: words that stand between the same words, each with a path in a binary tree.

Words belong to classes c. In the class bigram model p(w | v) = p(w | c_w) p(c_w | c_v), the log-likelihood of a text
is, up to a constant,

    F = Σ_{c,d} N(c, d) log N(c, d) − 2 Σ_c N(c) log N(c)

with the counts N of pairs of classes and of classes; F divided by the number of tokens is the average mutual
information of neighbouring classes, up to a constant too. `exchange` moves each word in turn to the class where F is
largest (Martin, Liermann and Ney 1998), `merge_order` then merges the two classes that lower F least, until one is left
(Brown et al. 1992). The merges are a binary tree. The path of a class is its way from the root, a string of 0 and 1, so
prefixes of paths are coarser classes.

Words are in lower case. The boundary of sentences is a word that never moves, and so are, with a minimum count, all
rare words together: both are contexts of other words. Nothing is random: frequent words come first, and ties go to the
lower class. Counts are whole numbers, so N(c, d) is always exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import inlined, kernel
from swvp.errors import InputError, is_whole, shown
from swvp.types import Floats, Ints

__all__ = ["CLUSTERS", "MOST_CLUSTERS", "check_clusters", "cluster_ids", "learn_clusters"]

CLUSTERS = 256
"""The default number of clusters."""
MOST_CLUSTERS = 5_000
"""The tree of K clusters takes time in proportion to K³ and memory to K²."""
SWEEPS = 15
"""The largest number of times that each word is moved; most gains come in the first three."""
LEAST_GAIN = 1e-7
"""A smaller gain of F is rounding."""
FIXED = 2
"""The last two words, and classes: rare words, and the boundary of sentences."""


@inlined
def n_log_n(n, table):
    """The value n log n, from the table if n is small."""
    return table[n] if n < len(table) else n * np.log(n)


@inlined
def gain(n, more, table):
    """The change of n log n when n grows by `more`."""
    return n_log_n(n + more, table) - n_log_n(n, table)


@inlined
def joint(m, n, table):
    """The change of m log m + n log n when both counts become one."""
    if m == 0 or n == 0:
        return 0.0
    return n_log_n(m + n, table) - n_log_n(m, table) - n_log_n(n, table)


@kernel
def exchange(classes, counts, starts, others, amounts, after, before, totals, table):
    """Move each word in turn to the class where F is largest; return (the number of moves, the gain of F).

    starts[0], others[0] and amounts[0] are the words after each word and how often, those of 1 the words before.
    `after[c, d]` is N(c, d), `before` its transpose.
    """
    words, movable = len(classes) - FIXED, len(totals) - FIXED
    gains = np.empty(movable)
    amount = np.zeros((2, len(totals)), np.int64)  # of each class after the word, and before it
    found, sizes = np.empty((2, len(totals)), np.int64), np.zeros(2, np.int64)
    moves, increase = 0, 0.0
    for w in range(words):
        old, own = classes[w], 0  # own: how often the word comes after itself
        for side in range(2):
            sizes[side] = 0
            for p in range(starts[side, w], starts[side, w + 1]):
                if others[side, p] == w:
                    own = amounts[side, p]
                    continue
                c = classes[others[side, p]]
                if amount[side, c] == 0:
                    found[side, sizes[side]] = c
                    sizes[side] += 1
                amount[side, c] += amounts[side, p]
        add(old, -1, own, counts[w], amount, found, sizes, after, before, totals)
        for c in range(movable):
            gains[c] = -2 * gain(totals[c], counts[w], table)
        for p in range(sizes[0]):
            d = found[0, p]
            for c in range(movable):
                gains[c] += gain(before[d, c], amount[0, d], table)
        for p in range(sizes[1]):
            d = found[1, p]
            for c in range(movable):
                gains[c] += gain(after[d, c], amount[1, d], table)
        for c in range(movable):  # pairs of the class with itself change by both sides at once
            here = after[c, c]
            gains[c] -= gain(here, amount[0, c], table) + gain(here, amount[1, c], table)
            gains[c] += gain(here, amount[0, c] + amount[1, c] + own, table)
        new = old
        for c in range(movable):
            if gains[c] > gains[new] + LEAST_GAIN:
                new = c
        add(new, 1, own, counts[w], amount, found, sizes, after, before, totals)
        if new != old:
            classes[w] = new
            moves += 1
            increase += gains[new] - gains[old]
        for side in range(2):
            for p in range(sizes[side]):
                amount[side, found[side, p]] = 0
    return moves, increase


@inlined
def add(c, sign, own, count, amount, found, sizes, after, before, totals):
    """Add a word with these neighbours to the class c, or remove it if `sign` is -1."""
    for p in range(sizes[0]):
        d = found[0, p]
        after[c, d] += sign * amount[0, d]
        before[d, c] += sign * amount[0, d]
    for p in range(sizes[1]):
        d = found[1, p]
        after[d, c] += sign * amount[1, d]
        before[c, d] += sign * amount[1, d]
    after[c, c] += sign * own
    before[c, c] += sign * own
    totals[c] += sign * count


@inlined
def gain_of_merge(i, j, after, before, totals, table):
    """The change of F, at most 0, when the classes i and j become one."""
    result = -2 * joint(totals[i], totals[j], table)
    for k in range(len(totals)):
        if k not in (i, j):
            result += joint(after[i, k], after[j, k], table) + joint(before[i, k], before[j, k], table)
    result += n_log_n(after[i, i] + after[i, j] + after[j, i] + after[j, j], table)
    result -= n_log_n(after[i, i], table) + n_log_n(after[i, j], table)
    return result - n_log_n(after[j, i], table) - n_log_n(after[j, j], table)


@inlined
def add_context(sign, k, gains, present, after, before, table):
    """Add to the gain of each merge i, j what it gains at their neighbour k; -1 as `sign` takes it away."""
    for i in range(len(present)):
        if present[i] and i != k and (before[k, i] > 0 or after[k, i] > 0):
            for j in range(i):
                if present[j] and j != k:
                    amount = joint(before[k, i], before[k, j], table) + joint(after[k, i], after[k, j], table)
                    gains[i, j] += sign * amount


@kernel
def merge_order(after, before, totals, table):
    """The pairs of classes (a, b) to merge, in this order; a then stands for both. The counts are overwritten."""
    movable = len(totals) - FIXED
    gains = np.full((movable, movable), -np.inf)
    for i in range(movable):
        for j in range(i):
            gains[i, j] = gain_of_merge(i, j, after, before, totals, table)
    present = np.ones(movable, np.bool_)
    merges = np.empty((max(movable - 1, 0), 2), np.int64)
    for m in range(len(merges)):
        a = b = -1
        for i in range(movable):
            if present[i]:
                for j in range(i):
                    if present[j] and (a < 0 or gains[i, j] > gains[b, a]):
                        a, b = j, i
        merges[m] = a, b
        present[b] = False
        add_context(-1, a, gains, present, after, before, table)
        add_context(-1, b, gains, present, after, before, table)
        totals[a] += totals[b]
        totals[b] = 0
        for counts in (after, before):
            for k in range(len(totals)):
                counts[a, k] += counts[b, k]
                counts[b, k] = 0
            for k in range(len(totals)):
                counts[k, a] += counts[k, b]
                counts[k, b] = 0
        add_context(1, a, gains, present, after, before, table)
        for k in range(movable):
            if present[k] and k != a:
                gains[max(k, a), min(k, a)] = gain_of_merge(max(k, a), min(k, a), after, before, totals, table)
    return merges


class Neighbours(NamedTuple):
    """The bigrams of a text, by the first word and by the second: starts[0] those after a word, starts[1] before it."""

    counts: Ints
    starts: Ints
    others: Ints
    amounts: Ints


class ClassPairs(NamedTuple):
    """N(c, d), its transpose, and N(c)."""

    after: Ints
    before: Ints
    totals: Ints


def neighbours_of(text: Ints, size: int) -> Neighbours:
    """The bigrams of a text of word numbers below `size`; after the last token comes the first."""
    sides = [by_first(one, other, size) for one, other in ((text, np.roll(text, -1)), (np.roll(text, -1), text))]
    starts, others, amounts = (np.stack(parts) for parts in zip(*sides, strict=True))
    return Neighbours(np.bincount(text, minlength=size), starts, others, amounts)


def by_first(first: Ints, second: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """The distinct pairs as (starts of each first number, second numbers, counts)."""
    pairs, amounts = np.unique(first * size + second, return_counts=True)
    firsts, seconds = np.divmod(pairs, size)
    return np.concatenate([[0], np.cumsum(np.bincount(firsts, minlength=size))]), seconds, amounts


def pairs_of(classes: Ints, text: Ints) -> ClassPairs:
    """The counts of classes and their pairs in a text."""
    size, tokens = int(classes.max()) + 1, classes[text]
    after = np.bincount(tokens * size + np.roll(tokens, -1), minlength=size * size).reshape(size, size)
    return ClassPairs(after, after.T.copy(), np.bincount(tokens, minlength=size))


def n_log_n_table(tokens: int) -> Floats:
    """The values n log n of small n: most counts are small."""
    numbers = np.arange(min(tokens + 1, 1 << 16), dtype=np.float64)
    return numbers * np.log(np.maximum(numbers, 1))


def classes_of(text: Ints, words: int, number: int, sweeps: int = SWEEPS) -> tuple[Ints, list[str]]:
    """The class of each word and the path of each class.

    Words are numbered by frequency from 0; `words` stands for rare words and words + 1 for boundaries.
    """
    number = min(number, words)
    classes = np.concatenate([np.arange(words) % max(number, 1), number + np.arange(FIXED)])
    neighbours, pairs, table = neighbours_of(text, words + FIXED), pairs_of(classes, text), n_log_n_table(len(text))
    for _ in range(sweeps):
        moves, _ = exchange(classes, *neighbours, *pairs, table)
        if moves == 0:
            break
    return classes, paths_of(merge_order(*pairs, table), number)


def paths_of(merges: NDArray[np.integer], number: int) -> list[str]:
    """The path of each class, from the root of the tree of merges."""
    paths = [""] * number
    for a, b in merges[::-1].tolist():  # the last merge is the root
        paths[a], paths[b] = paths[a] + "0", paths[a] + "1"
    return paths


def cluster_ids(
    strings: Sequence[str], ids: NDArray[np.integer], offsets: Ints, number: int, minimum_count: int = 1
) -> dict[str, str]:
    """The cluster paths of the words of sentences offsets[i]:offsets[i + 1], given as numbers of distinct strings."""
    folded: dict[str, int] = {}
    of_string = np.array([folded.setdefault(string.lower(), len(folded)) for string in strings], np.int64)
    tokens = of_string[ids] if len(strings) else np.zeros(0, np.int64)
    counts = np.bincount(tokens, minlength=len(folded))
    order = np.argsort(-counts, kind="stable")
    words = int(np.count_nonzero(counts >= minimum_count))
    if not words:
        return {}
    rank = np.empty(len(folded), np.int64)
    rank[order] = np.minimum(np.arange(len(folded)), words)
    text = np.insert(rank[tokens], offsets[:-1], words + 1)
    classes, paths = classes_of(text, words, number)
    names = list(folded)
    return {names[word]: paths[c] for word, c in zip(order[:words].tolist(), classes[:words].tolist(), strict=True)}


def learn_clusters(
    sentences: Iterable[Iterable[str]], number: int = CLUSTERS, *, minimum_count: int = 1
) -> dict[str, str]:
    """Learn word clusters from sentences, for the template function `cluster` of taggers.

    Parameters
    ----------
    sentences : iterable
        Each is an iterable of words. They need no labels.
    number : int, default 256
        The number of clusters, at most 5,000.
    minimum_count : int, default 1
        Words that occur less often have no cluster. With a large text, this makes models smaller.

    Returns
    -------
    dict
        The path of each word in lower case: a string of 0 and 1. Words with the same path are in one cluster; prefixes
        of paths are coarser clusters. The same text gives the same paths.

    Examples
    --------
    >>> text = ["the cat sleeps", "a dog sleeps", "the dog eats", "a cat eats"] * 3
    >>> paths = learn_clusters((sentence.split() for sentence in text), 3)
    >>> paths["cat"] == paths["dog"], paths["the"] == paths["a"], paths["cat"] == paths["a"]
    (True, True, False)
    """
    check_number(number)
    if not is_whole(minimum_count):
        raise InputError(f"minimum_count must be a whole number of at least 1, not {shown(minimum_count)}")
    numbers: dict[str, int] = {}
    ids: list[int] = []
    offsets = [0]
    for sentence in sentences:
        if isinstance(sentence, str):
            raise InputError("a sentence is a list of words, not a string: split it first")
        ids += [numbers.setdefault(word, len(numbers)) for word in sentence]
        offsets.append(len(ids))
    return cluster_ids(list(numbers), np.array(ids, np.int64), np.array(offsets, np.int64), number, minimum_count)


def check_clusters(clusters: object) -> None:
    """Raise InputError unless it is None, a number of clusters, or the paths of words."""
    if not isinstance(clusters, Mapping):
        if clusters is not None:
            check_number(clusters)
    elif not all(isinstance(text, str) for pair in clusters.items() for text in pair):
        raise InputError("clusters must be a number, or a dict with the path of each word, a string of 0 and 1")


def check_number(number: object) -> None:
    """Raise InputError unless it is a number of clusters."""
    if not is_whole(number) or number > MOST_CLUSTERS:  # type: ignore[operator]
        raise InputError(
            f"the number of clusters must be a whole number from 1 to {MOST_CLUSTERS}, not {shown(number)}"
        )
