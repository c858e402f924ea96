"""The text of a treebank: its paragraphs, where tokens and sentences end in them, and all of it as a document.

The text is made of the forms of the tokens and of SpaceAfter=No (or SpacesAfter) in MISC, so a treebank needs no
`# text`. A range such as 3-4 is one token; empty nodes such as 4.1 are no part of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from swvp.errors import InputError
from swvp.io.files import CONLLU
from swvp.io.table import Table
from swvp.io.tree_checks import EMPTY
from swvp.io.treebank import Treebank
from swvp.text.document import Document
from swvp.text.sentence import Segmentation

__all__ = [
    "Paragraph",
    "SurfaceToken",
    "document_of",
    "files_of_folder",
    "paragraphs_of",
    "raw_text",
    "surface_sentences",
]

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


UNESCAPED = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}
ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|(.?))", re.DOTALL)


def files_of_folder(folder: Path) -> tuple[Path, Path | None]:
    """Return the training file and the dev set, if there is one, of a treebank of Universal Dependencies."""

    def only(part: str) -> Path | None:
        found = sorted(
            path for path in folder.iterdir() if path.name.endswith((f"-ud-{part}.conllu", f"-ud-{part}.conllu.gz"))
        )
        if len(found) > 1:
            raise InputError(f"{folder}: {len(found)} files *-ud-{part}.conllu; give the one to use")
        return found[0] if found else None

    train = only("train")
    if train is None:
        raise InputError(f"{folder}: no file *-ud-train.conllu in this folder; give a training file")
    return train, only("dev")


def document_of(treebank: Treebank) -> Document:
    """Return the text of a treebank from a file, with its tokens, words and trees.

    MISC says which spaces follow a token: SpaceAfter=No, or SpacesAfter. An empty line is put before each paragraph.
    """
    assert treebank.table is not None
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    first_words: list[int] = []
    token_feats: dict[int, str] = {}
    sentence_offsets = [0]
    at = words = covered = 0
    spaces, paragraph = "", False
    for line in lines_of(treebank.table):
        if line.startswith("#"):
            paragraph |= line.startswith(("# newpar", "# newdoc"))
            continue
        if not line.strip():
            if len(starts) > sentence_offsets[-1]:
                sentence_offsets.append(len(starts))
            covered = 0
            continue
        fields = line.split("\t")
        number, _, last = fields[0].partition("-")
        if "." in number:
            continue
        is_word = not last
        if int(number) > covered:
            if paragraph and pieces and "\n\n" not in spaces:
                spaces = "\n\n"
            paragraph = False
            pieces += [spaces, fields[1]]
            starts.append(at + len(spaces))
            at += len(spaces) + len(fields[1])
            ends.append(at)
            if last and fields[5:6] not in ([], [EMPTY]):
                token_feats[len(starts) - 1] = fields[5]
            first_words.append(words)
            covered = int(last or number)
            spaces = spaces_in(fields[9] if len(fields) > 9 else "_")
        words += is_word
    if len(starts) > sentence_offsets[-1]:
        sentence_offsets.append(len(starts))
    pieces.append("\n")
    segmentation = Segmentation(
        np.array(starts, np.int64), np.array(ends, np.int64), np.array(sentence_offsets, np.int64)
    )
    all_words = np.array([*first_words, words], np.int64)
    return Document("".join(pieces), segmentation, all_words, treebank, token_feats=token_feats)


def lines_of(table: Table) -> list[str]:
    """Return the lines of a file."""
    return [line.removesuffix("\r") for line in table.content.tobytes().decode().split("\n")]


def spaces_in(misc: str) -> str:
    """Return the spaces after a token, by its field MISC."""
    if misc == "_":
        return " "
    for note in misc.split("|"):
        if note == "SpaceAfter=No":
            return ""
        if note.startswith("SpacesAfter="):
            return unescaped(note.removeprefix("SpacesAfter=")) or " "
    return " "


def unescaped(noted: str) -> str:
    r"""Return spaces from UDPipe's notation.

    >>> unescaped(r"\s\n\x0b")
    ' \n\x0b'
    """

    def character(match: re.Match[str]) -> str:
        code = match[1] or match[2]
        return chr(int(code, 16)) if code else UNESCAPED.get(match[3], "")

    return ESCAPE.sub(character, noted)
