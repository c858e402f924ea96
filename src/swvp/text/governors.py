"""Columns for languages with cases: the nearest verb or adposition before a word, and the nearest verb after it.

The case of a noun depends on them, and they may be farther away than the neighbours that other features see: a neuter
noun of Greek before its verb is mostly nominative, after it mostly accusative. Which forms are verbs or adpositions is
guessed from their most likely analysis, before words are tagged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from swvp.features.encoder import Columns
from swvp.io.table import Column
from swvp.text.analyses import Analysis
from swvp.types import Int32s, Ints

__all__ = ["GOVERNOR_COLUMNS", "GOVERNOR_TEMPLATES", "governor_columns", "has_cases"]

GOVERNOR_COLUMNS = ("governor", "verb")
GOVERNOR_TEMPLATES = [
    template
    for column in GOVERNOR_COLUMNS
    for template in (
        f"suffix({column}[0], 3)",
        f"suffix(word[0], 2) & suffix({column}[0], 2)",
        f"suffix(word[0], 2) & {column}[0]",
    )
]
"""The features of these columns, chosen on the dev set of Greek."""

BEFORE, AFTER = ("VERB", "AUX", "ADP"), ("VERB", "AUX")
"""The parts of speech of the word before and of the one after."""
FARTHEST = 8
"""Words that are farther away are not looked at."""
LEAST_SHARE = 0.5


def has_cases(analyses: Iterable[Analysis]) -> bool:
    """Return whether most nouns have a case, given the analyses of the words of a treebank.

    Parameters
    ----------
    analyses : iterable of (UPOS, XPOS, FEATS)

    Returns
    -------
    bool
    """
    nouns = ["Case=" in feats for upos, _, feats in analyses if upos == "NOUN"]
    return bool(nouns) and sum(nouns) >= LEAST_SHARE * len(nouns)


def governor_columns(words: Column, offsets: Ints, upos: Sequence[str]) -> Columns:
    """Return the columns `word`, `governor` and `verb`; the last two have the empty string if there is no such word.

    Parameters
    ----------
    words : Column
    offsets : ndarray of int64
        Where each sentence begins, and where the last one ends.
    upos : list of str
        The most likely part of speech of each string of `words`.

    Returns
    -------
    Columns
    """
    firsts = np.repeat(offsets[:-1], np.diff(offsets))
    lasts = np.repeat(offsets[1:], np.diff(offsets)) - 1
    before, after = (np.array([each in kinds for each in upos], np.bool_) for kinds in (BEFORE, AFTER))
    at = np.arange(len(words.ids))
    governors = last_before(before[words.ids])
    verbs = len(at) - 1 - last_before(after[words.ids][::-1])[::-1]
    none_before = (governors < firsts) | (at - governors > FARTHEST)
    none_after = (verbs > lasts) | (verbs - at > FARTHEST)
    columns = [chosen(words, before, governors, none_before), chosen(words, after, verbs, none_after)]
    strings = [words.strings, *(column.strings for column in columns)]
    return Columns(
        ("word", *GOVERNOR_COLUMNS), strings, np.array([words.ids, *(column.ids for column in columns)]), offsets
    )


def last_before(here: NDArray[np.bool_]) -> Ints:
    """Return, for each position, the last one before it that is chosen, or -1."""
    last = np.maximum.accumulate(np.where(here, np.arange(len(here)), -1))
    return np.concatenate([[-1], last])[: len(here)]


def chosen(words: Column, kind: NDArray[np.bool_], places: Ints, nothing: NDArray[np.bool_]) -> Column:
    """Return the words at some places, all of one kind, or the empty string."""
    numbers = np.cumsum(kind)  # 0 is the empty string
    strings = ["", *(string for string, is_kind in zip(words.strings, kind.tolist(), strict=True) if is_kind)]
    ids: Int32s = np.where(nothing, 0, numbers[words.ids[np.where(nothing, 0, places)]]).astype(np.int32)
    return Column(strings, ids)
