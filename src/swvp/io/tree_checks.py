"""Checks of a treebank: numbers and ranges of words in files, tokens given as Python lists, and heads that form trees.

In a file, words are numbered 1, 2, 3 …, and ranges cover their words. Tokens, heads and labels given as Python lists
become columns.
"""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set, Sized
from typing import Any, NamedTuple

import numpy as np

from swvp.compiled import kernel
from swvp.errors import InputError, counted, unknown_name
from swvp.io.table import CONLLU, Column, Table
from swvp.types import Bools, Heads, Ints

__all__ = [
    "as_columns",
    "as_heads",
    "as_labels",
    "check_ids",
    "check_lists",
    "check_ranges",
    "check_trees",
    "heads_of",
    "non_projective_arcs",
    "offsets_of",
    "positions",
    "ranges_of",
    "sizes",
]

NUMBER = re.compile(r"[0-9]{1,9}")
NOT_A_WORD = re.compile(rb"\n([0-9]*[-.][^\t\n]*)")
NOT_A_WORD_ID = re.compile(rb"([0-9]{1,9})(?:-([0-9]{1,9})|\.[0-9]+)")
SECOND_FIELD = re.compile(rb"\t([^\t\r\n]*)")
SHOWN = 8  # words of a cycle


def sizes(offsets: Ints) -> Ints:
    """Return the number of words of each sentence."""
    return np.diff(offsets)


def positions(offsets: Ints) -> Ints:
    """Return the position of each token in its sentence, from 1."""
    numbers: Ints = np.arange(1, offsets[-1] + 1) - np.repeat(offsets[:-1], sizes(offsets))
    return numbers


def numbers_in(column: Column) -> Ints:
    """Return the number in a column for each token; -1 if it is not a number."""
    by_string = [int(string) if NUMBER.fullmatch(string) else -1 for string in column.strings]
    by_token: Ints = np.array(by_string, np.int64)[column.ids]
    return by_token


def first(wrong: Bools) -> int | None:
    """Return the first token that is marked as wrong, or None."""
    return int(np.argmax(wrong)) if wrong.any() else None


def check_ids(table: Table) -> None:
    """Raise InputError if the words of a sentence are not numbered 1, 2, 3 …"""
    column = table.column(CONLLU.index("id"))
    expected = positions(table.offsets)
    token = first(numbers_in(column) != expected)
    if token is not None:
        given = column.strings[column.ids[token]]
        hint = "is an empty line missing before it?" if given == "1" else "words are numbered 1, 2, 3 …"
        raise InputError(f"{table.place(token)}: the ID is {given[:20]}, not {expected[token]}; {hint}")


class WordRange(NamedTuple):
    """A range such as 3-4: a multiword token, the number of its first word in the table, and how many it has."""

    token: int
    size: int
    form: str


def check_ranges(table: Table) -> None:
    """Raise InputError if a range such as 3-4 is not followed by the words 3 and 4, or if two ranges overlap."""
    for _ in ranges_of(table):
        pass


def ranges_of(table: Table) -> Iterator[WordRange]:
    """Yield the ranges of a table in their order; raise InputError at a wrong one, as `check_ranges` does."""
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
        form = SECOND_FIELD.match(text, match.end())
        yield WordRange(token, high - low + 1, form[1].decode() if form else "")


def place_in(table: Table, text: bytes, at: int) -> str:
    """Return file and line of what follows the newline at a place of `text`, which begins with an extra newline."""
    number = text.count(b"\n", 0, at + 1)
    return f"{table.path}:{table.line + number}"


def heads_of(column: Column, path: str, place: Callable[[int], str]) -> Heads:
    """Return the numbers in the column of heads; raise InputError if one is not a number."""
    if column.strings == ["_"]:
        raise InputError(f"{path}: a treebank without heads (_ everywhere); give one with heads")
    heads = numbers_in(column)
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


# ---------------------------------------------------------------- Python lists

FIELDS = ("word", "lemma", "upos", "xpos", "feats")
EMPTY = "_"
OTHER_KEYS = ("form", "id", "head", "deprel", "deps", "misc")  # form is the word, the others are ignored


def check_lists(what: str, given: Any, of: str) -> None:
    """Raise InputError if something is not a list: a string, None, a generator or a dict."""
    is_list = isinstance(given, Sized) and isinstance(given, Iterable)
    if not is_list or isinstance(given, (str, bytes, Mapping, Set)):
        raise InputError(f"{what} must be a list of {of}, not a {type(given).__name__}")


def offsets_of(sentences: Sequence[Sequence[Any]]) -> Ints:
    """Return where each sentence begins in the row of all words, and where the last one ends."""
    return np.concatenate([[0], np.cumsum([len(sentence) for sentence in sentences])]).astype(np.int64)


def column_of(strings: Iterable[str]) -> Column:
    """Return strings as a column: the distinct ones, and the number of each."""
    number: dict[str, int] = {}
    ids = np.array([number.setdefault(string, len(number)) for string in strings], np.int32)
    return Column(list(number), ids)


def as_columns(sentences: Any) -> tuple[Column, Column, Column, Column, Column]:
    """Return the five columns of all words; a field that a token does not have is _."""
    check_lists("the sentences", sentences, "sentences")
    rows = []
    for s, sentence in enumerate(sentences):
        check_lists(f"sentence {s}", sentence, "words")
        if not len(sentence):
            raise InputError(f"sentence {s} has no word")
        rows += [fields_of(token, f"sentence {s}, token {t}") for t, token in enumerate(sentence, 1)]
    word, lemma, upos, xpos, feats = (column_of(row[k] for row in rows) for k in range(len(FIELDS)))
    return word, lemma, upos, xpos, feats


def fields_of(token: Any, place: str) -> tuple[str, ...]:
    """Return word, lemma, upos, xpos and feats of a token."""
    if isinstance(token, str):
        fields: tuple[Any, ...] = (token, *[EMPTY] * 4)
    elif isinstance(token, tuple):
        if len(token) not in (2, len(FIELDS)):
            raise InputError(f"{place}: a tuple is (word, upos) or ({', '.join(FIELDS)}), not {len(token)} values")
        fields = (token[0], EMPTY, token[1], EMPTY, EMPTY) if len(token) == 2 else token
    elif isinstance(token, Mapping):
        for key in token:
            if key not in FIELDS and key not in OTHER_KEYS:
                raise InputError(f"{place}: {unknown_name('key', key, (*FIELDS, 'form'))}")
        if "word" not in token and "form" not in token:
            raise InputError(f"{place}: a dict needs the key 'word' (or 'form')")
        fields = (token.get("word", token.get("form")), *(token.get(name) for name in FIELDS[1:]))
    else:
        raise InputError(f"{place}: a token is a string, a tuple or a dict, not a {type(token).__name__}")
    fields = (fields[0], *(EMPTY if field is None else field for field in fields[1:]))
    for name, field in zip(FIELDS, fields, strict=True):
        if not isinstance(field, str):
            raise InputError(f"{place}: {name} must be a string, not a {type(field).__name__}")
    return fields


def as_heads(heads: Any, offsets: Ints) -> Heads:
    """Return the heads of all words from a list for each sentence."""
    flat = flattened("heads", heads, offsets)
    for token, head in enumerate(flat):
        if not isinstance(head, numbers.Integral) or isinstance(head, bool) or not 0 <= int(head) < 2**31:
            sentence = int(np.searchsorted(offsets, token, side="right")) - 1
            raise InputError(
                f"sentence {sentence}, token {token - int(offsets[sentence]) + 1}: a head is a number, "
                f"0 for the root, not {head!r}"
            )
    return np.array(flat, np.int32)


def as_labels(labels: Any, offsets: Ints) -> Column:
    """Return the labels of all words from a list for each sentence."""
    flat = flattened("labels", labels, offsets)
    for label in flat:
        if not isinstance(label, str):
            raise InputError(f"a label of an arc must be a string, not {label!r}")
    return column_of(flat)


def flattened(what: str, lists: Any, offsets: Ints) -> list[Any]:
    """Return the values of all words from a list for each sentence; raise InputError if their numbers differ."""
    check_lists(what, lists, f"{what}, one list a sentence")
    if len(lists) != len(offsets) - 1:
        raise InputError(f"{len(offsets) - 1} sentences but {what} of {len(lists)}: give the same number of both")
    for s, (given, size) in enumerate(zip(lists, np.diff(offsets), strict=True)):
        check_lists(f"the {what} of sentence {s}", given, what)
        if len(given) != size:
            raise InputError(f"sentence {s} has {counted(int(size), 'word')} and {len(given)} {what}")
    return [value for given in lists for value in given]


# ---------------------------------------------------------------- crossing arcs


@kernel
def non_projective_arcs(heads: Heads, offsets: Ints) -> Bools:
    """For each token, whether the arc from its head is non-projective.

    An arc is projective if every token between its two ends descends from the head (Nivre and Nilsson 2005); an arc
    from the root always is. Heads must be trees.
    """
    crossing = np.zeros(len(heads), np.bool_)
    for s in range(len(offsets) - 1):
        begin, size = offsets[s], offsets[s + 1] - offsets[s]
        for token in range(1, size + 1):
            head = heads[begin + token - 1]
            if head == 0:
                continue
            low, high = min(head, token), max(head, token)
            for between in range(low + 1, high):
                above = heads[begin + between - 1]
                if low <= above <= high:
                    continue  # following heads leads to an end of the arc, and from there to the head
                while above != 0 and above != head:
                    above = heads[begin + above - 1]
                if above == 0:
                    crossing[begin + token - 1] = True
                    break
    return crossing
