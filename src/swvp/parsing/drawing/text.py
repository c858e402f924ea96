"""Owns dependency trees as text: a row for each word in its order, the tree at its left in box characters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from swvp.escaping import STEERING

if TYPE_CHECKING:
    from swvp.parsing.tree import DependencyTree

__all__ = ["is_right_to_left", "printable", "text_tree"]

LONGEST = 24  # cells of a word or a label; more are cut
NARROW = 24  # cells of the lines beyond which a level takes one cell, not two


def text_tree(tree: DependencyTree) -> str:
    """The tree for a terminal: lines, number, word, tag, label, confidence, and what is right where it is not."""
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
    """The lines at the left of each word, all of one width.

    A head's trunk reaches over its children. ┼ ┬ ┴ stand where a word meets its own trunk; where an arc passes a
    trunk that is not its own, which only non-projective trees have, the arc is interrupted.
    """
    size = len(heads)
    reach = {k: (k, k) for k in range(1, size + 1)}
    for k, head in enumerate(heads, 1):
        if head:
            reach[head] = (min(reach[head][0], k), max(reach[head][1], k))
    trunks: dict[int, int] = {0: 0}  # the column of the trunk of each head
    taken: list[list[tuple[int, int]]] = [[]]
    for head in from_the_top(heads):
        first, last = reach[head]
        if first == last:
            continue
        column = trunks[heads[head - 1]] + 1
        while column < len(taken) and any(a <= last and first <= b for a, b in taken[column]):
            column += 1
        if column == len(taken):
            taken.append([])
        taken[column].append((first, last))
        trunks[head] = column
    step = 2 if 2 * len(taken) <= NARROW else 1
    grid = [[" "] * (step * len(taken)) for _ in heads]
    for k, head in enumerate(heads, 1):
        start = step * trunks[head]
        grid[k - 1][start:] = "─" * (step * len(taken) - start)
    for head, column in trunks.items():
        if head:
            first, last = reach[head]
            for k in range(first, last + 1):
                top, bottom = k == first, k == last
                ends = "┬┴┼" if k == head else "╭╰├" if heads[k - 1] == head else "│││"
                grid[k - 1][step * column] = ends[0 if top else 1 if bottom else 2]
    return ["".join(row) for row in grid]


def from_the_top(heads: Sequence[int]) -> list[int]:
    """The words, each after its head."""
    children: dict[int, list[int]] = {k: [] for k in range(len(heads) + 1)}
    for k, head in enumerate(heads, 1):
        children[head].append(k)
    order = [0]
    for k in order:
        order += children[k]
    return order[1:]


def note(tree: DependencyTree, k: int) -> str:
    """What gold says of a word where the tree says something else."""
    assert tree.gold_heads is not None
    parts = []
    head = tree.gold_heads[k]
    if head != tree.heads[k]:
        parts.append(f"head {head} {set_width(printable(tree.words[head - 1]))}".rstrip() if head else "head 0")
    if tree.gold_labels and tree.labels and tree.gold_labels[k] != tree.labels[k]:
        parts.append(printable(tree.gold_labels[k]))
    return f"✗ gold: {', '.join(parts)}" if parts else ""


def align(texts: Sequence[str]) -> list[str]:
    """The texts, cut where too long except for notes, filled with blanks to one width in cells."""
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
    """Right-to-left text between marks that keep it from moving what stands beside it."""
    return f"\u2068{text}\u2069" if any(map(is_right_to_left, text)) else text


def is_right_to_left(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("R", "AL")


def printable(text: str) -> str:
    """The text with a mark for every character that would steer a terminal or that XML cannot hold.

    >>> printable("a\\tb")
    'a�b'
    """
    return STEERING.sub("\ufffd", text)
