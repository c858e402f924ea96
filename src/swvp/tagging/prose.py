"""Detects prose that looks like a column file because all its lines have the same number of words.

No single sign is certain, and small column files have some of them. So signs are counted, and three make prose:

    ends          half of the lines or more end as sentences do, in . ! or ?, their first word being no punctuation mark
                  (this sign counts two)
    capitals      nearly all lines begin with a capital letter
    no breaks     no empty line, in three lines or more
    no tags       the last column has more than half as many different strings as the first, in ten lines or more
    same words    words of the first column are often on other lines of the last one, in ten lines or more
    all different nearly all strings of the last column differ and few begin as the first word does (lemmas would), in
                  ten lines or more, or in three if there are four columns or more (this sign counts two)

If a tagger reads the file, there are two more signs: a column in which it knows no string, and a number of columns that
is neither that of its training file nor one less. A file with tabs is never prose, nor is one whose last column has
tags in capitals or labels of phrases.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from swvp.errors import InputError
from swvp.evaluation.counts import is_phrase_label
from swvp.io.table import Column, Table
from swvp.tagging.columns import Layout

__all__ = ["check_not_prose"]

ENOUGH = 3
SOME_LINES, MANY_LINES = 3, 10
MANY_COLUMNS = 4
OFTEN, HALF, NEARLY_ALL = 0.1, 0.5, 0.8
ENDS = (".", "!", "?", "…", '."', ".”", ".)", "。", "！", "？", "।", "؟", "۔")


def check_not_prose(table: Table, tagger: Any = None, layout: Layout | None = None) -> None:
    """Raise InputError for a table that looks like prose; the tagger that will label it, if given, adds signs."""
    if table.conllu or table.tabs or table.width < 2:
        return
    first, last = table.column(0), table.column(table.width - 1)
    if are_labels(last):
        return
    count = signs(first, last, columns=table.width, sentences=len(table.offsets) - 1)
    if tagger is not None and layout is not None:
        count += signs_for(table, tagger, layout)
    if count >= ENOUGH:
        raise InputError(
            f"{table.path}: looks like prose with {table.width} words on each line: put each word on a line of its "
            "own and an empty line after each sentence, or use --not-prose if these are columns"
        )


def are_labels(column: Column) -> bool:
    """Whether all strings are in capitals or labels of phrases."""
    letters = [string for string in column.strings if any(map(str.isalpha, string))]
    return bool(letters) and all(string.isupper() or is_phrase_label(string) for string in letters)


def signs(first: Column, last: Column, *, columns: int, sentences: int) -> int:
    """The number of signs of prose in the first and the last column."""
    lines = len(first.ids)
    begin, end = (np.array(column.strings, object)[column.ids] for column in (first, last))
    mark = np.array([not any(map(str.isalnum, string)) for string in first.strings])[first.ids]
    capital = np.array([string[:1].isupper() for string in first.strings])[first.ids]
    alone = np.array([string in ENDS for string in last.strings])[last.ids]
    attached = {string for string in last.strings if string.endswith(ENDS) and string not in ENDS}  # tags come again
    words = {string for string in first.strings if any(map(str.isalpha, string))}
    again = np.array([string in words for string in last.strings])[last.ids] & (begin != end)
    return (
        2 * bool(np.count_nonzero(alone & ~mark) + len(attached) >= HALF * lines)
        + bool(np.mean(capital) >= NEARLY_ALL)
        + bool(lines >= SOME_LINES and sentences == 1)
        + bool(lines >= MANY_LINES and len(last.strings) > HALF * len(first.strings))
        + bool(lines >= MANY_LINES and np.mean(again) > OFTEN)
        + 2 * bool(lines >= (SOME_LINES if columns >= MANY_COLUMNS else MANY_LINES) and are_all_different(first, last))
    )


def are_all_different(first: Column, last: Column) -> bool:
    """Whether nearly all strings of the last column differ, without being lemmas of the first."""
    initials = [np.array([string[:1].lower() for string in column.strings])[column.ids] for column in (first, last)]
    return len(last.strings) >= NEARLY_ALL * len(last.ids) and bool(np.mean(initials[0] == initials[1]) < HALF)


def signs_for(table: Table, tagger: Any, layout: Layout) -> int:
    """The number of signs that a file is not for this tagger: columns without a known string, a wrong width."""
    known: dict[int, set[str]] = {}
    for slot, vocabulary in zip(tagger.encoder_.slots, tagger.encoder_.vocabularies, strict=True):
        if not slot.function and slot.column in layout.names[1:]:
            number = layout.inputs[layout.names.index(slot.column)]
            shifted = table.width == layout.width - 1 and number > layout.label
            known[number - shifted] = set(vocabulary)
    if table.width >= layout.width:
        known[layout.label] = set(tagger.classes_)
    strange = [number for number, strings in known.items() if not strings & set(table.column(number).strings)]
    return len(strange) + (table.width not in (layout.width, layout.width - 1))
