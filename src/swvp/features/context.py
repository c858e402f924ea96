"""Columns made from the context of a word, for templates of parsers.

marker    the nearest adposition, conjunction or particle before the word, in lower case. In UD it depends on the word,
          so an arc into the word does not see it. If a verb or punctuation is nearer: its tag.
verbs     the numbers of verbs before and after the word in the sentence: 0/2 (at most 3 each).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.compiled import kernel
from swvp.types import Flags, Ints

__all__ = ["COORDINATOR", "PUNCTUATION", "VERB", "Columns", "flags_of", "is_punctuation", "with_context"]

Columns = Mapping[str, tuple[Sequence[str], NDArray[Any]]]
"""The distinct strings of each column, and which of them each word has."""

VERB, PUNCTUATION, COORDINATOR, MARKER, MAIN_VERB = (1 << bit for bit in range(5))
MOST_VERBS = 3
FARTHEST = 8
"""The largest distance of a marker."""

MARKERS = ("ADP", "SCONJ", "CCONJ", "PART", "CONJ", "IN", "TO", "CC", "KON", "APPR", "KOUS", "Prep", "Conj", "s", "c")


def with_context(columns: Columns, offsets: Ints) -> Columns:
    """The columns word, lemma, pos, tag and feats, and those made from them."""
    words, tags = columns["word"], columns["pos"]
    flags = flags_of(columns)
    nearest = markers(flags, offsets)
    # numbers of words in lower case, then of tags, then of nothing
    strings = [*(string.lower() for string in words[0]), *(f"|{tag}" for tag in tags[0]), ""]
    by_tag = (flags[nearest] & MARKER) == 0
    ids = np.where(by_tag, len(words[0]) + tags[1][nearest], words[1][nearest])
    ids[nearest < 0] = len(strings) - 1
    places = [f"{before}/{after}" for before in range(MOST_VERBS + 1) for after in range(MOST_VERBS + 1)]
    return {**columns, "marker": (strings, ids), "verbs": (places, verbs_around(flags, offsets))}


@kernel
def markers(flags, offsets):
    """For each word the number of the nearest one before it that is a marker, a verb or punctuation, or -1."""
    nearest = np.full(len(flags), -1)
    for i in range(len(offsets) - 1):
        for k in range(offsets[i], offsets[i + 1]):
            for before in range(k - 1, max(offsets[i], k - FARTHEST) - 1, -1):
                if flags[before] & (MARKER | VERB | PUNCTUATION):
                    nearest[k] = before
                    break
    return nearest


@kernel
def verbs_around(flags, offsets):
    """For each word the place of its column: verbs before · 4 + verbs after, at most 3 each."""
    numbers = np.zeros(len(flags), np.int64)
    for i in range(len(offsets) - 1):
        total = 0
        for k in range(offsets[i], offsets[i + 1]):
            total += (flags[k] & MAIN_VERB) > 0
        before = 0
        for k in range(offsets[i], offsets[i + 1]):
            here = (flags[k] & MAIN_VERB) > 0
            after = total - before - here
            numbers[k] = min(before, MOST_VERBS) * (MOST_VERBS + 1) + min(after, MOST_VERBS)
            before += here
    return numbers


def flags_of(columns: Columns) -> Flags:
    """The flags of each word, by its tags and, for punctuation, by its form."""
    flags = np.zeros(len(columns["word"][1]), np.uint8)
    for name in ("pos", "tag"):
        strings, ids = columns[name]
        flags |= np.array([flags_of_tag(tag) for tag in strings], np.uint8)[ids]
    strings, ids = columns["word"]
    return flags | np.array([PUNCTUATION * is_punctuation(string) for string in strings], np.uint8)[ids]


@lru_cache(maxsize=2**16)
def is_punctuation(form: str) -> bool:
    """Whether a form is made of Unicode punctuation only, as in the scorers of CoNLL-X and CoNLL 2007.

    >>> [is_punctuation(form) for form in (".", "«", "--", "$", "U.S.")]
    [True, True, True, False, False]
    """
    return form != "" and all(unicodedata.category(character).startswith("P") for character in form)


def flags_of_tag(tag: str) -> int:
    """The flags of a tag of UD or of an older tag set."""
    main_verb = tag[:1] in ("V", "v")
    verb = main_verb or tag == "AUX"
    punctuation = tag[:4].upper() == "PUNC"
    coordinator = tag in ("CCONJ", "CONJ", "Conj", "CC", "cc", "KON")
    flags = VERB * verb | PUNCTUATION * punctuation | COORDINATOR * coordinator
    return flags | MARKER * (tag in MARKERS) | MAIN_VERB * main_verb
