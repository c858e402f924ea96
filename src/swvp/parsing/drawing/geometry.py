"""The layout of a drawn dependency tree: positions of words, levels of arcs, positions of labels."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Layout", "Placed", "Span", "lay_out", "text_width"]

PORT = 7.0  # between the ends of two arcs at the same word
SPACE = 16.0  # between two words
MARGIN = 9.0  # between a label and a corner or another arc
CLASSES = {  # widths of characters in the widest common font, relative to the font size
    **dict.fromkeys("ijlI'|.,:; ![]()fJrt-/\\`\"", 0.42),
    **dict.fromkeys("mwMW@%", 1.0),
}


class Span(NamedTuple):
    """An arc to be drawn: the numbers of its two words (head 0 for a root), and the width of its label."""

    head: int
    modifier: int
    width: float


class Placed(NamedTuple):
    """The position of an arc: of its two ends, its level (from 1), and the middle of its label."""

    head_x: float
    modifier_x: float
    level: int
    label_x: float


class Layout(NamedTuple):
    """The middle of each word, and the arcs above and below the words."""

    words: list[float]
    sides: list[list[Placed]]


def text_width(text: str, size: float) -> float:
    """Return an upper estimate of the width of a text; combining characters have width 0.

    >>> text_width("日本", 10), text_width("e\u0301", 10) == text_width("e", 10)
    (20.0, True)
    """
    return size * sum(map(character_width, text))


def character_width(character: str) -> float:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return CLASSES.get(character, 0.72 if character.isupper() else 0.64)


def lay_out(widths: Sequence[float], sides: Sequence[Sequence[Span]]) -> Layout:
    """Return positions of words of these widths and of the arcs above and below, such that no label overlaps anything.

    An arc is one level above all shorter arcs that it overlaps, and its label is on the arc. Words are moved apart
    until each label fits between the ends of its arc, and between the arcs that come down through it.
    """
    drawings = [Side(spans, len(widths)) for spans in sides]
    widths = [max(width, *(side.ports_width(k) for side in drawings)) for k, width in enumerate(widths, 1)]
    words = [0.0]  # the middle of each word, from 1; 0 is not used
    for k, width in enumerate(widths):
        words.append(words[-1] + SPACE + (widths[k - 1] + width) / 2 if k else width / 2)
    for side in drawings:
        side.widen(words)
    return Layout(words[1:], [side.place(words) for side in drawings])


class Side:
    """The arcs above the words, or the arcs below them."""

    def __init__(self, spans: Sequence[Span], size: int) -> None:
        self.spans = spans
        self.levels = levels_of(spans)
        ends: list[list[tuple[float, int]]] = [[] for _ in range(size + 1)]  # at each word: (sort key, arc)
        for n, (head, modifier, _) in enumerate(spans):
            for here, there in ((head, modifier), (modifier, head)):
                if here:
                    level = self.levels[n]
                    ends[here].append((0.0 if not there else -1 / level if there < here else 1 / level, n))
        self.ends = [[n for _, n in sorted(keyed)] for keyed in ends]

    def ports_width(self, word: int) -> float:
        """Return the width that the ends of arcs need at a word."""
        return PORT * max(0, len(self.ends[word]) - 1)

    def x(self, words: Sequence[float], word: int, n: int) -> float:
        """Return where arc n ends at a word. On each side shorter arcs end farther out, so that none cross."""
        ends = self.ends[word]
        return words[word] + PORT * (ends.index(n) - (len(ends) - 1) / 2)

    def pieces(self, words: Sequence[float], n: int) -> list[tuple[float, float, int, int]]:
        """Return the pieces of arc n between the arcs that come down through it: start, end, and the words at both."""
        head, modifier, _ = self.spans[n]
        first, last = min(head, modifier), max(head, modifier)
        cuts = [(self.x(words, first, n), first)]
        for word in range(first, last + 1):
            cuts += [(self.x(words, word, m), word) for m in self.ends[word] if self.levels[m] > self.levels[n]]
        start, stop = cuts[0][0], self.x(words, last, n)
        inside = sorted(cut for cut in cuts[1:] if start < cut[0] < stop)
        cuts = [cuts[0], *inside, (stop, last)]
        return [(a, b, i, j) for (a, i), (b, j) in itertools.pairwise(cuts) if i < j]

    def widen(self, words: list[float]) -> None:
        """Move words apart until each label fits; no distance shrinks, so a label that fits continues to fit."""
        for n in sorted(range(len(self.spans)), key=lambda n: self.levels[n]):
            if self.spans[n].head:
                a, b, i, j = max(self.pieces(words, n), key=lambda piece: piece[1] - piece[0])
                move_apart(words, i, j, self.spans[n].width + 2 * MARGIN - (b - a))
        roots = sorted((span.modifier, n) for n, span in enumerate(self.spans) if not span.head)
        for (i, n), (j, m) in itertools.pairwise(roots):
            between = self.x(words, j, m) - self.x(words, i, n)
            move_apart(words, i, j, (self.spans[n].width + self.spans[m].width) / 2 + MARGIN - between)

    def place(self, words: Sequence[float]) -> list[Placed]:
        """Return the position of each arc, given those of the words."""
        arcs = []
        for n, (head, modifier, width) in enumerate(self.spans):
            end = self.x(words, modifier, n)
            start = self.x(words, head, n) if head else end
            middle, half = (start + end) / 2, width / 2 + MARGIN
            fits = [(a + half, b - half) for a, b, _, _ in (self.pieces(words, n) if head else ())]
            places = [min(max(middle, a), b) for a, b in fits if b - a > -1e-6]
            label = min(places, key=lambda place: abs(place - middle), default=middle)
            arcs.append(Placed(start, end, self.levels[n], label))
        return arcs


def move_apart(words: list[float], i: int, j: int, missing: float) -> None:
    """Widen the gaps between words i to j equally, by `missing` in all."""
    if missing > 0:
        for k in range(i + 1, len(words)):
            words[k] += missing * min(1.0, (k - i) / (j - i))


def levels_of(spans: Sequence[Span]) -> list[int]:
    """Return the level of each arc, from 1: above all shorter arcs that it overlaps; arcs of roots are on top.

    >>> levels_of([Span(2, 1, 0), Span(4, 2, 0), Span(4, 3, 0), Span(0, 4, 0)])
    [1, 2, 1, 3]
    """
    levels = [0] * len(spans)
    bounds = [(min(span[:2]), max(span[:2])) for span in spans]
    order = sorted((n for n, span in enumerate(spans) if span.head), key=lambda n: bounds[n][1] - bounds[n][0])
    for k, n in enumerate(order):
        (a, b), below = bounds[n], order[:k]
        levels[n] = 1 + max((levels[m] for m in below if bounds[m][0] < b and a < bounds[m][1]), default=0)
    top = 1 + max(levels, default=0)
    return [level or top for level in levels]
