"""The text of a treebank: its paragraphs, and where tokens and sentences end in them.

The text is made of the forms of the tokens and of SpaceAfter=No (or SpacesAfter) in MISC, so a treebank needs no
`# text`. A range such as 3-4 is one token; empty nodes such as 4.1 are no part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from swvp.errors import InputError
from swvp.io.files import CONLLU
from swvp.io.table import Table
from swvp.io.tree_checks import EMPTY

__all__ = ["Paragraph", "SurfaceToken", "paragraphs_of", "raw_text", "surface_sentences"]

NEW_PARAGRAPH = re.compile(r"#\s*new(par|doc)\b")
MOST_IN_PARAGRAPH = 100
"""The largest number of sentences in a paragraph of a treebank that does not mark any."""


class SurfaceToken(NamedTuple):
    """A token as the text has it: its form, whether a space follows, its words, and the FEATS of a range."""

    form: str
    space_after: bool
    words: tuple[str, ...]
    feats: str = EMPTY


class Paragraph(NamedTuple):
    """A paragraph: its text, and for each sentence the (begin, end) of its tokens in the text."""

    text: str
    sentences: list[list[tuple[int, int]]]


def surface_sentences(table: Table) -> Iterator[tuple[bool, list[SurfaceToken]]]:
    """Yield the sentences of a file in CoNLL-U: whether one begins a paragraph, and its tokens.

    Parameters
    ----------
    table : Table
        A file in CoNLL-U with its text, as `read_table` returns it.
    """
    if not table.conllu or table.width < len(CONLLU):
        raise InputError(f"{table.path}: a tokenizer learns from CoNLL-U, with {len(CONLLU)} columns")
    new, tokens, last_in_range = False, list[SurfaceToken](), 0
    for line in table.content.tobytes().decode().split("\n"):
        line = line.rstrip("\r")
        if line.startswith("#"):
            new = new or NEW_PARAGRAPH.match(line) is not None
        elif not line.strip():
            if tokens:
                yield new, tokens
            if tokens or not line:
                new, tokens, last_in_range = new and not tokens, [], 0
        else:
            number, form, *others, misc = line.split("\t")
            if "." in number:
                continue
            if "-" in number:
                last_in_range = int(number.partition("-")[2])
                tokens.append(SurfaceToken(form, has_space_after(misc), (), others[3]))
            elif int(number) <= last_in_range:
                tokens[-1] = tokens[-1]._replace(words=(*tokens[-1].words, form))
            else:
                tokens.append(SurfaceToken(form, has_space_after(misc), (form,)))
    if tokens:
        yield new, tokens


def has_space_after(misc: str) -> bool:
    """Return whether a space follows a token, by its MISC."""
    return "SpaceAfter=No" not in misc.split("|")


def paragraphs_of(table: Table) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file in CoNLL-U; without marks of paragraphs, of MOST_IN_PARAGRAPH sentences each."""
    text, sentences = "", list[list[tuple[int, int]]]()
    for new, tokens in surface_sentences(table):
        if sentences and (new or len(sentences) == MOST_IN_PARAGRAPH):
            yield Paragraph(text.rstrip(" "), sentences)
            text, sentences = "", []
        spans = []
        for token in tokens:
            spans.append((len(text), len(text) + len(token.form)))
            text += token.form + " " * token.space_after
        sentences.append(spans)
    if sentences:
        yield Paragraph(text.rstrip(" "), sentences)


def raw_text(table: Table) -> str:
    """Return the text of a file in CoNLL-U; paragraphs are separated by an empty line.

    Parameters
    ----------
    table : Table
        From `read_table`.

    Returns
    -------
    str

    Examples
    --------
    >>> from swvp.io import table_of
    >>> lines = ["1 Go _ _ _ _ _ _ _ SpaceAfter=No", "2 ! _ _ _ _ _ _ _ _"]
    >>> raw_text(table_of("a.conllu", "\\n".join(lines).replace(" ", "\\t").encode()))
    'Go!\\n'
    """
    return "\n\n".join(paragraph.text for paragraph in paragraphs_of(table)) + "\n"
