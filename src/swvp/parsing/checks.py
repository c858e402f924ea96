"""Checks of a treebank: words are numbered 1, 2, 3 …, ranges cover their words, and heads form trees."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.table import CONLLU, Column, Table
from swvp.types import Ints

__all__ = ["Heads", "Ints", "check_ids", "check_ranges", "check_trees", "heads_of", "positions", "sizes"]

Heads = NDArray[np.int32]

NUMBER = re.compile(r"[0-9]{1,9}")
NOT_A_WORD = re.compile(rb"\n([0-9]*[-.][^\t\n]*)")
NOT_A_WORD_ID = re.compile(rb"([0-9]{1,9})(?:-([0-9]{1,9})|\.[0-9]+)")
SHOWN = 8  # words of a cycle


def sizes(offsets: Ints) -> Ints:
    """Return the number of words of each sentence."""
    return np.diff(offsets)


def positions(offsets: Ints) -> Ints:
    """Return the position of each token in its sentence, from 1."""
    numbers: Ints = np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], sizes(offsets))
    return numbers


def numbers(column: Column) -> Ints:
    """Return the number in a column for each token; -1 if it is not a number."""
    by_string = [int(string) if NUMBER.fullmatch(string) else -1 for string in column.strings]
    by_token: Ints = np.array(by_string, np.int64)[column.ids]
    return by_token


def first(wrong: NDArray[np.bool_]) -> int | None:
    """Return the first token that is marked as wrong, or None."""
    return int(np.argmax(wrong)) if wrong.any() else None


def check_ids(table: Table) -> None:
    """Raise InputError if the words of a sentence are not numbered 1, 2, 3 …"""
    column = table.column(CONLLU.index("id"))
    expected = positions(table.offsets)
    token = first(numbers(column) != expected)
    if token is not None:
        given = column.strings[column.ids[token]]
        hint = "is an empty line missing before it?" if given == "1" else "words are numbered 1, 2, 3 …"
        raise InputError(f"{table.place(token)}: the ID is {given[:20]}, not {expected[token]}; {hint}")


def check_ranges(table: Table) -> None:
    """Raise InputError if a range such as 3-4 is not followed by the words 3 and 4, or if two ranges overlap."""
    text = b"\n" + table.content.tobytes()
    begins = table.fields[:, 0, 0] + 1
    covered = -1  # the last token in a range
    for match in NOT_A_WORD.finditer(text):
        given = match[1]
        parsed = NOT_A_WORD_ID.fullmatch(given)
        if parsed is not None and parsed[2] is None:
            continue  # an empty node
        if parsed is None:
            what = f"the ID {given.decode()!r} is not a word (1), a range (2-3) or an empty node (4.1)"
            raise InputError(f"{place_in(table, text, match.start())}: {what}")
        low, high = int(parsed[1]), int(parsed[2])
        token = int(np.searchsorted(begins, match.start()))
        if token <= covered:
            what = f"the range {low}-{high} overlaps the range before it"
            raise InputError(f"{place_in(table, text, match.start())}: {what}")
        size = position = 0
        if token < table.tokens and not re.search(rb"\n[ \t\r]*\n", text[match.start(1) : begins[token]]):
            sentence = int(np.searchsorted(table.offsets, token, side="right")) - 1
            position = token - int(table.offsets[sentence]) + 1
            size = int(table.offsets[sentence + 1] - table.offsets[sentence])
        if not (low == position and low <= high <= size):
            what = f"the range {low}-{high} needs the words {low} to {high} on the lines after it"
            raise InputError(f"{place_in(table, text, match.start())}: {what}")
        covered = token + high - low


def place_in(table: Table, text: bytes, at: int) -> str:
    """Return file and line of what follows the newline at a place of `text`, which begins with an extra newline."""
    number = text.count(b"\n", 0, at + 1)
    return f"{table.path}:{number}"


def heads_of(column: Column, path: str, place: Callable[[int], str]) -> Heads:
    """Return the numbers in the column of heads; raise InputError if one is not a number."""
    if column.strings == ["_"]:
        raise InputError(f"{path}: a treebank without heads (_ everywhere); give one with heads")
    heads = numbers(column)
    token = first(heads < 0)
    if token is not None:
        given = column.strings[column.ids[token]]
        what = "no head (_)" if given == "_" else f"the head {given[:20]!r} is not a number"
        raise InputError(f"{place(token)}: {what}; it is the ID of another word, or 0 for the root")
    return heads.astype(np.int32)


def check_trees(heads: Heads, offsets: Ints, place: Callable[[int], str]) -> None:
    """Raise InputError if a head is not another word of the sentence or 0, or if heads form a cycle."""
    size = np.repeat(sizes(offsets), sizes(offsets))
    token = first((heads < 0) | (heads > size))
    if token is not None:
        raise InputError(f"{place(token)}: the head is {heads[token]}, but the sentence has {size[token]} words")
    position = positions(offsets)
    token = first(heads == position)
    if token is not None:
        raise InputError(f"{place(token)}: word {position[token]} is its own head")
    # the ancestor of each word 2, 4, 8 … steps up; the root is one more token and its own head
    root = len(heads)
    above = np.append(np.where(heads == 0, root, np.arange(root) - position + heads), root)
    for _ in range(int(size.max(initial=1)).bit_length()):
        above = above[above]
    token = first(above[:-1] != root)
    if token is not None:
        begin = token - int(position[token])
        cycle = cycle_above(heads[begin + 1 : begin + 1 + int(size[token])], int(position[token]))
        shown = [*cycle, cycle[0]] if len(cycle) <= SHOWN else [*cycle[:SHOWN], "…"]
        raise InputError(
            f"{place(begin + cycle[0])}: a cycle of heads, word by word: {' -> '.join(map(str, shown))}; "
            "it must lead to the root, 0"
        )


def cycle_above(heads: Heads, word: int) -> list[int]:
    """Return the cycle that the heads of a word lead to, beginning with its first word."""
    seen: dict[int, None] = {}
    while word not in seen:
        seen[word] = None
        word = int(heads[word - 1])
    path = list(seen)
    cycle = path[path.index(word) :]
    least = cycle.index(min(cycle))
    return cycle[least:] + cycle[:least]
