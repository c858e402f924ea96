r"""Pieces of a text that are one token in any language: addresses, @names, times, dates, numbers, dots, emoji.

A treebank may have too few of them to learn from. But treebanks differ: some divide 3,5. So each kind is used only if
the training text does not contradict it, and a tagger still decides what else belongs to the token.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from swvp.types import Ints

__all__ = ["KINDS", "find_pieces", "join_pieces", "kinds_of"]

ADDRESS = r"[-A-Za-z0-9._~:/?#@!$&'()*+,;=%\[\]|]"
LAST = r"[-A-Za-z0-9/#=&_~$%+]"
"""The characters of addresses, and those that one may end with: a full stop after it is not part of it."""

PATTERNS = {
    "url": re.compile(rf"(?:(?:https?|ftp)://|www\.){ADDRESS}*{LAST}", re.IGNORECASE),
    "e-mail": re.compile(r"(?<![\w.+-])[A-Za-z0-9][\w.+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+", re.ASCII),
    "name": re.compile(r"(?<![\w@#])[@#]\w+", re.ASCII),
    "time": re.compile(r"(?<![\w:.])\d{1,2}(?::\d\d){1,2}(?![\w:])"),
    "date": re.compile(r"(?<![\w/.-])\d{1,4}([/.-])\d{1,2}\1\d{1,4}(?![\w/-])"),
    "number": re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)+(?![\w,]|\.\w)"),
    "dots": re.compile(r"(?<!\.)\.{2,}"),
}

KINDS = (*PATTERNS, "marks")
"""`marks` are a character with the combining marks, joiners and skin tones after it."""

LEAST_SHARE = 0.5
"""A kind is used if the training text has at least this share of its pieces as one token, or has none."""

JOINER = "\u200d"
NOT_FIRST = frozenset(["\ufe0e", "\ufe0f", JOINER, *map(chr, range(0x1F3FB, 0x1F400))])
"""Variation selectors, the joiner of emoji, and skin tones."""


def find_pieces(text: str, kind: str) -> Iterator[tuple[int, int]]:
    """Yield where the pieces of a kind begin and end.

    >>> list(find_pieces("See www.a.org/b. It costs 1.234,50 ...", "url"))
    [(4, 15)]
    """
    if kind == "marks":
        yield from clusters(text)
        return
    for match in PATTERNS[kind].finditer(text):
        yield match.span()


def clusters(text: str) -> Iterator[tuple[int, int]]:
    """Yield where there is a character with marks after it."""
    if text.isascii():
        return
    marks = {mark for mark in set(text) if mark in NOT_FIRST or unicodedata.category(mark)[0] == "M"}
    if not marks:
        return
    begin = 0
    for at, character in enumerate(text):
        joined = character in marks or (at and text[at - 1] == JOINER and not character.isspace())
        if joined and at and not text[begin].isspace():
            continue
        if at - begin > 1:
            yield begin, at
        begin = at
    if len(text) - begin > 1:
        yield begin, len(text)


def kinds_of(texts: Iterable[tuple[str, Sequence[Sequence[tuple[int, int]]]]]) -> tuple[str, ...]:
    """Return the kinds whose pieces are one token, or part of one, in texts with the tokens of their sentences."""
    whole, total = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    for text, sentences in texts:
        ends = np.zeros(len(text) + 1, np.int64)
        ends[[end for spans in sentences for _, end in spans]] = 1
        before = np.cumsum(ends)
        for kind in KINDS:
            for begin, end in find_pieces(text, kind):
                total[kind] += 1
                whole[kind] += bool(before[end - 1] == before[begin])
    return tuple(kind for kind in KINDS if whole[kind] >= LEAST_SHARE * total[kind])


def join_pieces(text: str, inside: int, labels: Ints, places: Ints, kinds: Sequence[str]) -> Ints:
    """Return labels of the characters at some places of a text, with `inside` for all of a piece but its last one."""
    spans = [span for kind in kinds for span in find_pieces(text, kind)]
    if not spans:
        return labels
    labels = labels.copy()
    for begin, end in spans:
        first, last = np.searchsorted(places, [begin, end - 1]).tolist()
        labels[first:last] = inside
    return labels
