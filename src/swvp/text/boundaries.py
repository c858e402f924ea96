r"""Where tokens may end, which blanks they may have inside, and pieces that are one token in any language.

A tagger has no firm rules: at the end of a text it may take the last letter for a full stop. So what a treebank never
divides is not divided. Characters are compared by their kinds: letters of a script, digits, or the character itself.

The pieces are addresses, @names, times, dates, numbers, dots, emoji. A treebank may have too few of them to learn from.
But treebanks differ: some divide 3,5. So each kind is used only if the training text does not contradict it, and the
tagger still decides what else belongs to the token.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from swvp.io.model_files import require, strings
from swvp.types import Ints

__all__ = ["KINDS", "Boundaries", "boundaries_of", "find_pieces", "join_pieces", "kind_of", "kinds_of"]

DIGIT = "digit"
WITHOUT_BLANKS = frozenset(
    [
        "BALINESE",
        "BOPOMOFO",
        "CJK",
        "HALFWIDTH",
        "HIRAGANA",
        "IDEOGRAPHIC",
        "JAVANESE",
        "KATAKANA",
        "KATAKANA-HIRAGANA",
        "KHMER",
        "LAO",
        "MYANMAR",
        "NEW",
        "TAI",
        "THAI",
        "TIBETAN",
        "YI",
    ]
)
"""Scripts that are written without blanks between words: their letters may always be divided."""

LEAST_SHARE = 1e-4
"""Two kinds may be divided if training divides at least this share of their neighbours; fewer are slips."""

Pair = tuple[str, str]


class Boundaries(NamedTuple):
    """What is known of the places between two characters.

    Parameters
    ----------
    divided : frozenset of (str, str)
        Kinds of letters and digits between which a token may end without a blank.
    spaced : frozenset of (str, str)
        Kinds of characters that may be in one token with a blank between them.
    """

    divided: frozenset[Pair] = frozenset()
    spaced: frozenset[Pair] = frozenset()

    def may_divide(self, before: str, after: str) -> bool:
        """Return whether a token may end between two characters."""
        return may_divide(self.divided, before, after)

    def may_join(self, before: str, blank: str, after: str) -> bool:
        """Return whether two characters with a blank between them may be in one token."""
        return (
            bool(self.spaced)
            and unicodedata.category(blank) == "Zs"
            and (kind_of(before), kind_of(after)) in self.spaced
        )

    def correct(self, text: str, places: Ints, labels: Ints, *, inside: int, token: int) -> Ints:
        """Return the labels of characters, without forbidden ends of tokens and with those that cannot be missing.

        Parameters
        ----------
        text : str
        places : ndarray of int
            Those of all characters that are not blank.
        labels : ndarray of int
        inside, token : int
            The labels of a character inside a token, and of the last one.
        """
        gaps = np.diff(places) - 1
        ends = labels[:-1] != inside
        labels = labels.copy()
        divided = self.divided
        glued = np.flatnonzero(ends & (gaps == 0))
        for k, at in zip(glued.tolist(), places[glued].tolist(), strict=True):
            if not may_divide(divided, text[at], text[at + 1]):
                labels[k] = inside
        for k in np.flatnonzero(~ends & (gaps > 0)).tolist():
            at = int(places[k])
            if gaps[k] > 1 or not self.may_join(text[at], text[at + 1], text[at + 2]):
                labels[k] = token
        return labels

    def to_json(self) -> dict[str, Any]:
        """Return it for a model file."""
        return {name: sorted(map(list, pairs)) for name, pairs in self._asdict().items()}

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Return it from a model file; raise InputError if it is damaged."""
        require(isinstance(value, dict) and set(value) == set(cls._fields), "boundaries of tokens")
        require(all(isinstance(pairs, list) for pairs in value.values()), "boundaries of tokens")
        return cls(*(frozenset(map(pair_of, value[name])) for name in cls._fields))


def pair_of(value: Any) -> Pair:
    """Return a pair of kinds from a model file."""
    pair = strings(value)
    require(len(pair) == 2, "boundaries of tokens")
    return pair[0], pair[1]


def boundaries_of(texts: Iterable[tuple[str, Sequence[Sequence[tuple[int, int]]]]]) -> Boundaries:
    """Return what texts show, given the (begin, end) of the tokens of their sentences."""
    neighbours: dict[Pair, int] = {}
    divided: dict[Pair, int] = {}
    spaced: set[Pair] = set()
    for text, sentences in texts:
        spans = [span for spans in sentences for span in spans]
        ends = np.zeros(len(text), bool)
        ends[[end - 1 for _, end in spans]] = True
        for pair, number in pairs_of(text, np.ones(len(text), bool)).items():
            neighbours[pair] = neighbours.get(pair, 0) + number
        for pair, number in pairs_of(text, ends).items():
            divided[pair] = divided.get(pair, 0) + number
        for begin, end in spans:
            piece = text[begin:end]
            if len(piece.split()) > 1:
                blanks = [k for k, character in enumerate(piece) if character.isspace()]
                spaced |= {(kind_of(piece[k - 1]), kind_of(piece[k + 1])) for k in blanks}
    often = {pair for pair, number in divided.items() if number >= LEAST_SHARE * neighbours[pair]}
    return Boundaries(frozenset(often), frozenset(spaced))


def pairs_of(text: str, chosen: NDArray[np.bool_]) -> dict[Pair, int]:
    """Return how often letters and digits of each pair of kinds are neighbours, the first at a chosen place."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.int64)
    both = (codes[:-1] << 32 | codes[1:])[chosen[:-1]]
    counts: dict[Pair, int] = {}
    for code, number in zip(*(each.tolist() for each in np.unique(both, return_counts=True)), strict=True):
        before, after = chr(code >> 32), chr(code & 0xFFFFFFFF)
        if script_of(before) and script_of(after):
            pair = kind_of(before), kind_of(after)
            counts[pair] = counts.get(pair, 0) + number
    return counts


@functools.lru_cache(2**16)
def may_divide(divided: frozenset[Pair], before: str, after: str) -> bool:
    """Return whether a token may end between two characters, given the pairs of kinds that are divided."""
    scripts = script_of(before), script_of(after)
    return "" in scripts or scripts in divided or not WITHOUT_BLANKS.isdisjoint(scripts)


@functools.lru_cache(2**16)
def script_of(character: str) -> str:
    """Return the script of a letter or mark, as the first word of its name; `digit`; or nothing for others."""
    category = unicodedata.category(character)
    if category[0] in "LM":
        return unicodedata.name(character, "LETTER").partition(" ")[0]
    return DIGIT if category == "Nd" else ""


def kind_of(character: str) -> str:
    """Return the script of a letter, `digit`, or the character itself.

    >>> [kind_of(character) for character in "aΑ5."]
    ['LATIN', 'GREEK', 'digit', '.']
    """
    return script_of(character) or character


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

LEAST_WHOLE = 0.5
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
    return tuple(kind for kind in KINDS if whole[kind] >= LEAST_WHOLE * total[kind])


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
