"""Tokens as the model of multiword tokens sees them: with their neighbours, beginnings and ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from swvp.io.table import Table
from swvp.io.tree_checks import EMPTY
from swvp.text.lemma_features import shape_of
from swvp.text.treebank_text import surface_sentences

__all__ = [
    "LONGEST_PREFIX",
    "LONGEST_SUFFIX",
    "Place",
    "Words",
    "affixes",
    "contexts_of",
    "feats_in",
    "is_feats",
    "place_of",
    "places_in",
    "with_case_of",
]

LONGEST_SUFFIX, LONGEST_PREFIX = 6, 4

Words = tuple[str, ...]
"""The words of a token."""


class Place(NamedTuple):
    """A token and its neighbours, which are empty at the ends of a sentence."""

    form: str
    before: str
    after: str


def is_feats(text: str) -> bool:
    """Return whether a text can be the field FEATS of a file."""
    return bool(text) and not any(character.isspace() for character in text)


def feats_in(table: Table) -> dict[str, str]:
    """Return the most frequent FEATS of each form whose ranges in a file have any more often than none."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for _, tokens in surface_sentences(table):
        for token in tokens:
            if len(token.words) > 1:
                counts[token.form][token.feats] += 1
    most = {form: of_form.most_common(1)[0][0] for form, of_form in counts.items()}
    return {form: feats for form, feats in most.items() if feats != EMPTY}


def place_of(forms: Sequence[str], number: int, bounds: set[int]) -> Place:
    """Return a token with its neighbours in the sentence."""
    before = "" if number in bounds else forms[number - 1]
    after = "" if number + 1 in bounds or number + 1 >= len(forms) else forms[number + 1]
    return Place(forms[number], before, after)


def places_in(table: Table) -> Iterator[tuple[Place, Words]]:
    """Yield the tokens of a file in CoNLL-U, each with its neighbours and its words."""
    for _, tokens in surface_sentences(table):
        forms, bounds = [token.form for token in tokens], {0, len(tokens)}
        for number, token in enumerate(tokens):
            yield place_of(forms, number, bounds), token.words


def affixes(form: str) -> Iterator[str]:
    """Yield the beginnings and ends of a form, the longest first.

    >>> list(affixes("del"))
    ['-del', '-el', 'de-', '-l', 'd-']
    """
    lower = form.lower()
    for size in range(min(LONGEST_SUFFIX, len(lower)), 0, -1):
        yield "-" + lower[-size:]
        if size <= LONGEST_PREFIX and size < len(lower):
            yield lower[:size] + "-"


def contexts_of(place: Place) -> list[str]:
    """Return what is known about a token; the first NARROW are paired with all keys of a candidate."""
    lower = place.form.lower()
    names = ["", f"c={shape_of(place.form)}", f"n={min(len(lower), 8)}"]
    names += [f"s={lower[-size:]}" for size in range(1, min(len(lower), LONGEST_SUFFIX) + 1)]
    names += [f"p={lower[:size]}" for size in range(1, min(len(lower), LONGEST_PREFIX) + 1)]
    before, after = place.before.lower(), place.after.lower()
    names += [f"w={lower}", f"b={before}", f"a={after}", f"wb={lower} {before}", f"wa={lower} {after}"]
    names += [f"wbs={lower} {before[-2:]}", f"was={lower} {after[-2:]}"]
    return names


def with_case_of(form: str, words: Words) -> Words:
    """Return words in the case of a form that differs from a known one only in case.

    >>> with_case_of("Della", ("di", "la")), with_case_of("DELLA", ("di", "la"))
    (('Di', 'la'), ('DI', 'LA'))
    """
    if len(form) > 1 and form.isupper():
        return tuple(word.upper() for word in words)
    return (words[0][:1].upper() + words[0][1:], *words[1:]) if form[:1].isupper() else words
