"""Columns made from the context of a word, for templates of parsers.

marker    the nearest adposition, conjunction or particle before the word, in lower case. In UD it depends on the word,
          so an arc into the word does not see it. If a verb or punctuation is nearer: its tag.
follower  the same of the words after the word, for languages with postpositions.
verbs     the numbers of verbs before and after the word in the sentence: 0/2 (at most 3 each).
fine      the fine tag: XPOS or, where it is missing or the same as UPOS, UPOS with some of the morphological features,
          as NOUN|Case=Nom|Number=Sing. Many treebanks have no tags but UPOS, and `fine` is the same for all of them.
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

FINE = ("Case", "Definite", "Degree", "Mood", "Number", "Person", "PronType", "VerbForm")
"""The morphological features that are part of a fine tag."""

MARKERS = ("ADP", "SCONJ", "CCONJ", "PART", "CONJ", "IN", "TO", "CC", "KON", "APPR", "KOUS", "Prep", "Conj", "s", "c")


def with_context(columns: Columns, offsets: Ints) -> Columns:
    """The columns word, lemma, pos, tag and feats, and those made from them."""
    flags = flags_of(columns)
    places = [f"{before}/{after}" for before in range(MOST_VERBS + 1) for after in range(MOST_VERBS + 1)]
    # numbers of words in lower case, then of tags, then of nothing
    strings = [*(string.lower() for string in columns["word"][0]), *(f"|{tag}" for tag in columns["pos"][0]), ""]
    return {
        **columns,
        "marker": (strings, marker_ids(columns, flags, markers(flags, offsets, -1))),
        "follower": (strings, marker_ids(columns, flags, markers(flags, offsets, 1))),
        "verbs": (places, verbs_around(flags, offsets)),
        "fine": fine_tags(columns),
    }


def marker_ids(columns: Columns, flags: Flags, nearest: Ints) -> Ints:
    """The number of the string of each word's marker: a word, a tag or nothing."""
    words, tags = columns["word"], columns["pos"]
    by_tag = (flags[nearest] & MARKER) == 0
    ids = np.where(by_tag, len(words[0]) + tags[1][nearest], words[1][nearest])
    ids[nearest < 0] = len(words[0]) + len(tags[0])
    return ids


def fine_tags(columns: Columns) -> tuple[Sequence[str], NDArray[Any]]:
    """The fine tags: their strings, and which of them each word has."""
    (coarse, coarse_ids), (tags, tag_ids), (feats, feats_ids) = (columns[name] for name in ("pos", "tag", "feats"))
    pairs = coarse_ids.astype(np.int64) * len(tags) + tag_ids
    kinds, of_words = np.unique(pairs, return_inverse=True)
    says_more = np.array([tags[pair % len(tags)] not in ("_", coarse[pair // len(tags)]) for pair in kinds.tolist()])
    without_feats = says_more[of_words] if len(kinds) else np.zeros(0, bool)
    triples = pairs * (len(feats) + 1) + np.where(without_feats, len(feats), feats_ids)
    distinct, ids = np.unique(triples, return_inverse=True)
    strings = []
    for triple in distinct.tolist():
        pair, number = divmod(triple, len(feats) + 1)
        if number == len(feats):
            strings.append(tags[pair % len(tags)])
        else:
            strings.append(fine_tag(coarse[pair // len(tags)], feats[number]))
    return strings, ids


def fine_tag(tag: str, feats: str) -> str:
    """A part of speech with those morphological features that make it a finer one.

    >>> fine_tag("NOUN", "Animacy=Anim|Case=Nom|Number=Sing")
    'NOUN|Case=Nom|Number=Sing'
    """
    return "|".join([tag, *(part for part in feats.split("|") if part.partition("=")[0] in FINE)])


@kernel
def markers(flags, offsets, step):
    """For each word the number of the nearest marker, verb or punctuation before (step -1) or after it (1), or -1."""
    nearest = np.full(len(flags), -1)
    for i in range(len(offsets) - 1):
        for k in range(offsets[i], offsets[i + 1]):
            for distance in range(1, FARTHEST + 1):
                at = k + step * distance
                if at < offsets[i] or at >= offsets[i + 1]:
                    break
                if flags[at] & (MARKER | VERB | PUNCTUATION):
                    nearest[k] = at
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
