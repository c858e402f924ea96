"""The surface of a treebank: its characters without blanks, and the tokens, words and sentences as spans of them.

A span is (begin, end) in the characters of all tokens, one after the other, without anything that Unicode calls a
space. So two analyses of the same text have the same characters, however they divide it. A range such as 3-4 is one
token; its words all have the span of the range, because they need not be pieces of it.
"""

from __future__ import annotations

import itertools
import unicodedata
from typing import NamedTuple

import numpy as np

from swvp.errors import InputError
from swvp.io.tree_checks import ranges_of
from swvp.io.treebank import Treebank

__all__ = ["Span", "Surface", "surface_of"]

Span = tuple[int, int]


class Surface(NamedTuple):
    """The characters of a treebank and the spans of its units.

    Parameters
    ----------
    characters : str
        All characters except spaces.
    tokens, words, sentences : list of (int, int)
        Where each begins and ends in the characters.
    in_range : list of bool
        For each word, whether it belongs to a range: a multiword token.
    first_words : list of int
        The number of the first word of each token.
    """

    characters: str
    tokens: list[Span]
    words: list[Span]
    sentences: list[Span]
    in_range: list[bool]
    first_words: list[int]


def surface_of(treebank: Treebank) -> Surface:
    """Return the surface of a treebank; raise InputError if a token has only spaces.

    Parameters
    ----------
    treebank : Treebank
        From a file, or without ranges.
    """
    ranges = {} if treebank.table is None else {one.token: one for one in ranges_of(treebank.table)}
    forms = [without_spaces(string) for string in treebank.words.strings]
    ids = treebank.words.ids.tolist()
    pieces: list[str] = []
    tokens: list[Span] = []
    words: list[Span] = []
    in_range: list[bool] = []
    first_words: list[int] = []
    begin = 0
    while len(words) < len(ids):
        word = len(words)
        multiword = ranges.get(word)
        form = forms[ids[word]] if multiword is None else without_spaces(multiword.form)
        if not form:
            raise InputError(f"{treebank.place(word)}: a token of spaces only")
        size = 1 if multiword is None else multiword.size
        span = begin, begin + len(form)
        pieces.append(form)
        tokens.append(span)
        first_words.append(word)
        words += [span] * size
        in_range += [multiword is not None] * size
        begin = span[1]
    bounds = treebank.offsets.tolist()
    sentences = [(words[a][0], words[b - 1][1]) for a, b in itertools.pairwise(bounds)]
    return Surface("".join(pieces), tokens, words, sentences, in_range, first_words)


def without_spaces(form: str) -> str:
    """Return a form without the characters that Unicode calls spaces (category Zs)."""
    return "".join(character for character in form if unicodedata.category(character) != "Zs")


def first_difference(a: str, b: str) -> int:
    """Return where two texts begin to differ, or the length of the shorter one."""
    n = min(len(a), len(b))
    one, other = (np.frombuffer(text[:n].encode("utf-32-le", "surrogatepass"), np.uint32) for text in (a, b))
    different = np.flatnonzero(one != other)
    return int(different[0]) if len(different) else n
