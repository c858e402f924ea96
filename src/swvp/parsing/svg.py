"""Dependency trees as SVG: predicted arcs above the words, missed gold arcs below them.

The layout comes first: positions of words, levels of arcs, positions of labels.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from swvp.parsing.text_tree import is_right_to_left, printable

if TYPE_CHECKING:
    from swvp.parsing.tree import DependencyTree

__all__ = ["Layout", "Placed", "Span", "draw_html", "draw_svg", "lay_out", "text_width"]

WORD, SMALL = 15.0, 11.0  # font sizes
LEVEL, FOOT, CORNER, ARROW = 19.0, 8.0, 8.0, 7.0
BORDER = 8.0
LEAST = 350.0  # the minimum width of a legend
LEGEND_ROW, SAMPLE = 18.0, 26.0


class Look(NamedTuple):
    """The style of a kind of arcs; colours are readable on white and on black, and dashes distinguish them too."""

    name: str
    colour: str
    width: float
    dashes: str


RIGHT = Look("right", "#2f7fc1", 1.4, "")
WRONG = Look("wrong", "#d55e00", 2.2, "8 3")
MISSED = Look("missed", "#009170", 1.9, "2.5 2.5")

# A file has a background of its own, so that its text is readable on any page.
FILE_STYLE = (
    "<style>.swvp-file{color:#222;background:#fff}"
    "@media(prefers-color-scheme:dark){.swvp-file{color:#ddd;background:#181818}}</style>\n"
)


class Label(NamedTuple):
    """The label of an arc; a wrong label of a right arc is struck out, followed by the gold label."""

    text: str
    gold: str | None = None

    @property
    def width(self) -> float:
        return text_width(self.text if self.gold is None else f"{self.text} {self.gold}", SMALL)


class Arrow(NamedTuple):
    """One arc: its two words, its style and its label."""

    head: int
    modifier: int
    look: Look
    label: Label


def draw_svg(tree: DependencyTree) -> str:
    """Return the tree as an SVG file; the same tree always gives the same text."""
    return svg(tree, "swvp-tree swvp-file", FILE_STYLE)


def draw_html(tree: DependencyTree) -> str:
    """Return the tree as part of an HTML page, in the colours of the page; it scrolls if it is too wide."""
    direction = "rtl" if right_to_left(tree) else "ltr"
    return f'<div dir="{direction}" style="overflow-x:auto">{svg(tree, "swvp-tree", "")}</div>'


def svg(tree: DependencyTree, css: str, style: str) -> str:
    """Return the drawing as an SVG element with a CSS class and a style sheet."""
    above, below = arrows(tree)
    sides = [[Span(arrow.head, arrow.modifier, arrow.label.width) for arrow in side] for side in (above, below)]
    rows = [(tree.words, WORD, 19.0), *((texts, SMALL, 15.0) for texts in small_rows(tree))]
    widths = [max(text_width(printable(texts[k]), size) for texts, size, _ in rows) for k in range(len(tree))]
    layout = lay_out(widths, sides)
    boxes = [(x - width / 2, x + width / 2) for x, width in zip(layout.words, widths, strict=True)]
    for arcs, placed in zip((above, below), layout.sides, strict=True):
        boxes += [
            (p.label_x - a.label.width / 2, p.label_x + a.label.width / 2) for a, p in zip(arcs, placed, strict=True)
        ]
        boxes += [(min(p[:2]) - ARROW / 2, max(p[:2]) + ARROW / 2) for p in placed]
    left = min((a for a, _ in boxes), default=0.0) - BORDER
    width = max((b for _, b in boxes), default=0.0) + BORDER - left
    heights = [height_of(placed) for placed in layout.sides]
    foot = sum(step for _, _, step in rows) + 2
    keys, key_width, key_height = legend(tree, above, below, max(width, LEAST))
    mirrored = right_to_left(tree)
    full = max(width, key_width + 2 * BORDER)
    shift = full - width if mirrored else 0.0

    def across(x: float) -> float:
        return (width - (x - left) if mirrored else x - left) + shift

    parts: list[str] = []
    top = heights[0]
    for arcs, placed, start, up in ((above, layout.sides[0], top, -1), (below, layout.sides[1], top + foot, 1)):
        for arrow, place in zip(arcs, placed, strict=True):
            moved = Placed(across(place.head_x), across(place.modifier_x), place.level, across(place.label_x))
            parts.append(arc(tree, arrow, moved, start, up))
    y = top
    for texts, size, step in rows:
        y += step
        for text, x in zip(texts, layout.words, strict=True):
            parts.append(words_row(text, across(x), y - 4, size))
    key_top = top + foot + heights[1]
    key_left = full - key_width - BORDER if mirrored else BORDER
    parts += (
        [f'<g class="swvp-legend" transform="translate({key_left:.1f} {key_top:.1f})">{keys}</g>\n'] if keys else []
    )
    height = key_top + key_height + BORDER / 2
    title = f"Dependency tree of {len(tree)} word{'' if len(tree) == 1 else 's'}"
    spoken = f"{title}: {' '.join(map(printable, tree.words))}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{css}" role="img" aria-label="{escape(spoken)}" '
        f'width="{full:.1f}" height="{height:.1f}" viewBox="0 0 {full:.1f} {height:.1f}" style="max-width:none" '
        f'font-family="system-ui, sans-serif" fill="currentColor">\n{style}'
        f"<title>{title}</title>\n<desc>{escape('; '.join(sentences(tree, [*above, *below])))}</desc>\n"
        f"{''.join(parts)}</svg>\n"
    )


def arrows(tree: DependencyTree) -> tuple[list[Arrow], list[Arrow]]:
    """Return the predicted arcs, one for each word, and the missed gold arcs."""
    above, below = [], []
    for k, (_, head, label, _) in enumerate(tree):
        gold_head = tree.gold_heads[k] if tree.gold_heads is not None else head
        gold_label = tree.gold_labels[k] if tree.gold_labels is not None else None
        text, gold_text = printable(label or ""), printable(gold_label or "")
        if gold_head != head:
            above.append(Arrow(head, k + 1, WRONG, Label(text)))
            below.append(Arrow(gold_head, k + 1, MISSED, Label(gold_text)))
        else:
            differs = label is not None and gold_label is not None and label != gold_label
            above.append(Arrow(head, k + 1, RIGHT, Label(text, gold_text if differs else None)))
    return above, below


def small_rows(tree: DependencyTree) -> Iterator[Sequence[str]]:
    """Yield the rows below the words: tags and confidence, if the tree has them."""
    if tree.tags is not None:
        yield tree.tags
    if tree.confidence is not None:
        yield [f"{share:.0%}" for share in tree.confidence]


def right_to_left(tree: DependencyTree) -> bool:
    """Return whether most words are written from right to left; then the sentence is too."""
    directions = [any(map(is_right_to_left, word)) for word in tree.words if any(map(str.isalpha, word))]
    return 2 * sum(directions) > len(directions)


def height_of(placed: Sequence[Placed]) -> float:
    """Return the height of the arcs of one side with their labels."""
    return FOOT + LEVEL * max((place.level for place in placed), default=0) + (LEVEL if placed else 0)


def arc(tree: DependencyTree, arrow: Arrow, place: Placed, start: float, up: int) -> str:
    """Return an arc above `start`, or below it if `up` is 1: a line with an arrow at the modifier, and its label."""
    a, b, level, label_x = place
    foot, line = start + 3 * up, start + up * (FOOT + LEVEL * level)
    tip = foot + up * ARROW
    if arrow.head:
        side = 1 if b > a else -1
        r = min(CORNER, abs(b - a) / 2)
        path = (
            f"M{a:.1f} {foot:.1f}V{line - up * r:.1f}Q{a:.1f} {line:.1f} {a + side * r:.1f} {line:.1f}"
            f"H{b - side * r:.1f}Q{b:.1f} {line:.1f} {b:.1f} {line - up * r:.1f}V{tip - up:.1f}"
        )
    else:
        path = f"M{b:.1f} {line:.1f}V{tip - up:.1f}"
    head = f"M{b:.1f} {foot:.1f}L{b - ARROW / 2:.1f} {tip:.1f}H{b + ARROW / 2:.1f}Z"
    y = line - 4 if up < 0 else line + SMALL
    return (
        f'<g class="swvp-arc swvp-{arrow.look.name}"><title>{escape(sentence(tree, arrow))}</title>'
        f'<path {stroke(arrow.look)} d="{path}"/><path fill="{arrow.look.colour}" d="{head}"/>'
        f"{label_text(arrow, label_x, y)}</g>\n"
    )


def stroke(look: Look) -> str:
    dashes = f' stroke-dasharray="{look.dashes}"' if look.dashes else ""
    return f'fill="none" stroke="{look.colour}" stroke-width="{look.width}"{dashes}'


def label_text(arrow: Arrow, x: float, y: float) -> Markup:
    if not arrow.label.width:
        return Markup("")
    colour = "currentColor" if arrow.look is RIGHT else arrow.look.colour
    if arrow.label.gold is None:
        return anchored(x, y, SMALL, escape(arrow.label.text), colour)
    return anchored(x, y, SMALL, corrected(*arrow.label), colour)


def corrected(text: str, gold: str | None) -> Markup:
    """Return a wrong label struck out, followed by the gold one."""
    pattern = '<tspan fill="{}" text-decoration="line-through">{}</tspan> <tspan fill="{}">{}</tspan>'
    return Markup(pattern).format(WRONG.colour, text, MISSED.colour, gold)


def words_row(text: str, x: float, y: float, size: float) -> Markup:
    return anchored(x, y, size, escape(printable(text)), "currentColor", 1.0 if size == WORD else 0.75)


def anchored(x: float, y: float, size: float, inner: Markup, colour: str, opacity: float = 1.0) -> Markup:
    """Return text centred at x, in its own writing direction."""
    faint = Markup(' opacity="{}"').format(opacity) if opacity < 1 else ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="middle"'
    pattern = "<text " + place + ' unicode-bidi="plaintext" fill="{}"{}>{}</text>\n'
    return Markup(pattern).format(colour, faint, inner)


def legend(
    tree: DependencyTree, above: Sequence[Arrow], below: Sequence[Arrow], width: float
) -> tuple[Markup, float, float]:
    """Return a legend of the kinds of arcs that occur and the scores, its width and its height; empty without gold."""
    items: list[tuple[Look | None, str, Markup]] = []
    if tree.gold_heads is not None and len(tree):
        kinds = {arrow.look for arrow in (*above, *below)}
        names = ((RIGHT, "right head"), (WRONG, "wrong head"), (MISSED, "gold, missed"))
        items = [(look, text, escape(text)) for look, text in names if look in kinds]
        if any(arrow.label.gold is not None for arrow in above):
            items.append((None, "label gold", corrected("label", "gold")))
        scores = (("UAS", tree.uas), ("LAS", tree.las))
        text = ", ".join(f"{name} {100 * share:.1f} %" for name, share in scores if share is not None)
        items.append((None, text, escape(text)))
    if tree.confidence is not None and len(tree):
        text = "%: probability of the arc into the word"
        items.append((None, text, escape(text)))
    parts, x, y, widest = Markup(""), 0.0, 4.0, 0.0
    for look, text, inner in items:
        needed = (SAMPLE + 5 if look else 0.0) + text_width(text, SMALL)
        if x and x + needed > width:
            x, y = 0.0, y + LEGEND_ROW
        if look:
            line = Markup(f'<path {stroke(look)} d="M{x:.1f} {y + 9:.1f}h{SAMPLE}"/>')
            parts += line
        at = x + (SAMPLE + 5 if look else 0.0)
        pattern = '<text x="{:.1f}" y="{:.1f}" font-size="{:g}" direction="ltr">{}</text>'
        parts += Markup(pattern).format(at, y + 13, SMALL, inner)
        widest, x = max(widest, x + needed), x + needed + 16
    return parts, widest, y + LEGEND_ROW if items else 0.0


def sentences(tree: DependencyTree, drawn: Sequence[Arrow]) -> Iterator[str]:
    return (sentence(tree, arrow) for arrow in drawn)


def sentence(tree: DependencyTree, arrow: Arrow) -> str:
    """Return an arc in words, for tooltips and screen readers."""
    word = printable(tree.words[arrow.modifier - 1])
    text = f"{word} ← {printable(tree.words[arrow.head - 1])}" if arrow.head else f"{word} is a root"
    text += f", {arrow.label.text}" if arrow.label.text else ""
    text += f", gold label {arrow.label.gold}" if arrow.label.gold is not None else ""
    if tree.confidence is not None and arrow.look is not MISSED:
        text += f", {tree.confidence[arrow.modifier - 1]:.0%}"
    if tree.gold_heads is not None:
        text += f" ({arrow.look.name})"
    return text


# ---------------------------------------------------------------- layout

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
