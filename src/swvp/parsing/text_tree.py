"""Dependency trees as text: a row for each word, with the tree to its left in box-drawing characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from swvp.errors import STEERING

if TYPE_CHECKING:
    from swvp.parsing.tree import DependencyTree

__all__ = ["is_right_to_left", "printable", "text_tree"]

LONGEST = 24  # terminal cells of a word or a label; the rest is cut
NARROW = 24  # a level is two cells wide unless the lines would be wider than this


def text_tree(tree: DependencyTree) -> str:
    """Return the tree for a terminal: lines, number, word, tag, label, confidence, and corrections of errors."""
    if not len(tree):
        return ""
    columns = [[printable(word) for word in tree.words]]
    columns += [[printable(text) for text in texts] for texts in (tree.tags, tree.labels) if texts is not None]
    if tree.confidence is not None:
        columns.append([f"{share:.0%}".rjust(4) for share in tree.confidence])
    if tree.gold_heads is not None:
        columns.append([note(tree, k) for k in range(len(tree))])
    digits = len(str(len(tree)))
    aligned = [[f"{k:>{digits}} " + word for k, word in enumerate(align(columns[0]), 1)], *map(align, columns[1:])]
    rows = zip(branches(tree.heads), zip(*aligned, strict=True), strict=True)
    return "\n".join(f"{lines} {'  '.join(cells)}".rstrip() for lines, cells in rows)


def branches(heads: Sequence[int]) -> list[str]:
    """Return the lines to the left of each word, all of the same width.

    The trunk of a head spans its children. ┼ ┬ ┴ mark where a word meets its own trunk. Where an arc passes another
    trunk, as only in non-projective trees, the arc is interrupted.
    """
    size = len(heads)
    reach = {k: (k, k) for k in range(1, size + 1)}
    for k, head in enumerate(heads, 1):
        if head:
            reach[head] = (min(reach[head][0], k), max(reach[head][1], k))
    trunks: dict[int, int] = {0: 0}  # the column of the trunk of each head
    occupied: list[list[tuple[int, int]]] = [[]]  # the rows of the trunks in each column
    for head in from_the_top(heads):
        first, last = reach[head]
        if first == last:
            continue
        column = trunks[heads[head - 1]] + 1
        while column < len(occupied) and any(a <= last and first <= b for a, b in occupied[column]):
            column += 1
        if column == len(occupied):
            occupied.append([])
        occupied[column].append((first, last))
        trunks[head] = column
    step = 2 if 2 * len(occupied) <= NARROW else 1
    grid = [[" "] * (step * len(occupied)) for _ in heads]
    for k, head in enumerate(heads, 1):
        start = step * trunks[head]
        grid[k - 1][start:] = "─" * (step * len(occupied) - start)
    for head, column in trunks.items():
        if head:
            first, last = reach[head]
            for k in range(first, last + 1):
                top, bottom = k == first, k == last
                ends = "┬┴┼" if k == head else "╭╰├" if heads[k - 1] == head else "│││"
                grid[k - 1][step * column] = ends[0 if top else 1 if bottom else 2]
    return ["".join(row) for row in grid]


def from_the_top(heads: Sequence[int]) -> list[int]:
    """Return the words in an order in which each comes after its head."""
    children: dict[int, list[int]] = {k: [] for k in range(len(heads) + 1)}
    for k, head in enumerate(heads, 1):
        children[head].append(k)
    order = [0]
    for k in order:
        order += children[k]
    return order[1:]


def note(tree: DependencyTree, k: int) -> str:
    """Return the gold head and label of word k + 1 if they differ from the predicted ones."""
    assert tree.gold_heads is not None
    parts = []
    head = tree.gold_heads[k]
    if head != tree.heads[k]:
        parts.append(f"head {head} {set_width(printable(tree.words[head - 1]))}".rstrip() if head else "head 0")
    if tree.gold_labels and tree.labels and tree.gold_labels[k] != tree.labels[k]:
        parts.append(printable(tree.gold_labels[k]))
    return f"✗ gold: {', '.join(parts)}" if parts else ""


def align(texts: Sequence[str]) -> list[str]:
    """Return texts of the same width in terminal cells; long ones are cut, except for notes."""
    texts = [text if text.startswith("✗ gold") else set_width(text) for text in texts]
    width = max(map(cell_width, texts))
    return [isolated(text) + " " * (width - cell_width(text)) for text in texts]


def cell_width(text: str) -> int:
    """The number of cells of a terminal that a text takes: 0 for a mark on a character, 2 for a wide character."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    marks = sum(unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf") for character in text)
    return len(text) + wide - marks


def set_width(text: str) -> str:
    """The text, cut if it is wider than LONGEST cells."""
    if cell_width(text) <= LONGEST:
        return text
    end = len(text)
    while cell_width(text[:end]) > LONGEST - 1:
        end -= 1
    return text[:end].rstrip() + "…"


def isolated(text: str) -> str:
    """Return a text; if it is written right to left, between marks that isolate it from its neighbours."""
    return f"\u2068{text}\u2069" if any(map(is_right_to_left, text)) else text


def is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


def printable(text: str) -> str:
    """Return the text with a mark for each character that would control a terminal or is invalid in XML.

    >>> printable("a\\tb")
    'a�b'
    """
    return STEERING.sub("\ufffd", text)
