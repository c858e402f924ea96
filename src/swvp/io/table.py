"""Owns tables of tokens: column files and CoNLL-U, read into arrays, written back with nothing else changed.

Owns column files as Python sees them: sentences as lists of tuples.
"""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, unknown_name
from swvp.io.files import read_bytes
from swvp.io.scan import BAD_ID, BAD_WIDTH, DOCUMENT_START, intern, scan, splice

__all__ = [
    "CONLLU",
    "Column",
    "ColumnFile",
    "Table",
    "check_encoding",
    "is_conllu",
    "read_columns",
    "read_table",
    "table_of",
]

Ints = NDArray[np.int64]

UTF_8 = ("utf-8", "utf-8-sig")
CONLLU = ("id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")


class Column(NamedTuple):
    """The distinct strings of a column, and which of them each token has."""

    strings: list[str]
    ids: NDArray[np.int32]


class Table:
    """The tokens of one file.

    `content` is the text in UTF-8; `fields[t, c]` where field c of token t begins and ends in it; `lines[t]` the line
    of token t, from 1; `offsets` where each sentence begins, and where the last one ends. `mark` is the byte order mark
    the file began with, if any. `widths` are the numbers of columns that CoNLL-U may have; its first token decides.
    """

    def __init__(
        self,
        path: str | Path,
        text: bytes,
        encoding: str,
        *,
        conllu: bool,
        mark: bytes = b"",
        widths: Sequence[int] = (len(CONLLU),),
    ):
        self.path, self.encoding, self.conllu, self.mark = str(path), encoding, conllu, mark
        self.content = np.frombuffer(text, np.uint8)
        self.tabs, self.width = True, len(CONLLU)
        if b"\n" not in text and b"\r" in text.strip(b"\r"):
            raise InputError(f"{path}: its lines end in CR only; convert them to LF, as with tr '\\r' '\\n'")
        if not conllu:
            line = first_line(text, DOCUMENT_START.tobytes())
            self.tabs = b"\t" in line
            self.width = len(line.split(b"\t") if self.tabs else re.findall(rb"[^ ]+", line))
        elif (width := first_line(text, b"#").count(b"\t") + 1) in widths:
            self.width = width
        # a token has at least one byte for each field, its separator or its newline: a wide line makes no large table
        newlines = int(np.count_nonzero(self.content == ord("\n")))
        room = min(newlines, (len(text) + 1) // max(self.width, 1)) + 1
        fields, lines, offsets = (
            np.empty((room, self.width, 2), np.int64),
            np.empty(room, np.int64),
            np.empty(room + 1, np.int64),
        )
        wrong, tokens, sentences, line_number, found = scan(
            self.content, self.width, self.tabs, conllu, DOCUMENT_START, fields, lines, offsets
        )
        if wrong == BAD_WIDTH:
            raise InputError(f"{path}:{line_number}: {found} columns, {self.width} {self._hint(text, line_number)}")
        if wrong == BAD_ID:
            raise InputError(
                f"{path}:{line_number}: the first column of CoNLL-U is the token's number (1, 2-3 or 4.1), not this"
            )
        if tokens == 0:
            raise InputError(f"{path}: no token in it")
        self.fields, self.lines, self.offsets = fields[:tokens], lines[:tokens], offsets[: sentences + 1]

    def _hint(self, text: bytes, number: int) -> str:
        if self.conllu:
            blanks = self._blanks(text, number)
            return "in CoNLL-U, between tabs" + (f" ({blanks})" if blanks else "")
        return f"on the lines before ({self._blanks(text, number) or 'all lines need the same number'})"

    def _blanks(self, text: bytes, number: int) -> str:
        line = text.split(b"\n", number)[number - 1]
        return "tabs and blanks mixed?" if (b"\t" in line) != self.tabs else ""

    @property
    def tokens(self) -> int:
        return len(self.fields)

    def place(self, token: int) -> str:
        """The file and line of a token."""
        return f"{self.path}:{self.lines[token]}"

    def column(self, number: int) -> Column:
        """A column by its number, each distinct string decoded once."""
        ids = np.empty(self.tokens, np.int32)
        first = intern(self.content, self.fields, number, ids)
        text = self.content.tobytes() if len(first) > 64 else self.content
        spans = self.fields[first, number].tolist()
        return Column([bytes(text[begin:end]).decode() for begin, end in spans], ids)

    def sentences(self, number: int) -> list[list[str]]:
        """A column as lists of strings, one a sentence."""
        strings, ids = self.column(number)
        flat = np.array(strings, object)[ids].tolist()
        bounds = self.offsets.tolist()
        return [flat[a:b] for a, b in itertools.pairwise(bounds)]

    def number_of(self, name: str | int) -> int:
        """The number of a column, given by number (negative from the end) or, in CoNLL-U, by name."""
        if isinstance(name, str) and self.conllu and name in CONLLU:
            return CONLLU.index(name)
        if isinstance(name, str) and not re.fullmatch(r"[+-]?\d+", name):
            if self.conllu:
                raise unknown_name("column", name, CONLLU)
            raise InputError(f"{self.path}: a column is given by its number, 0 to {self.width - 1}, not '{name}'")
        number = int(name)
        if not -self.width <= number < self.width:
            raise InputError(f"{self.path}: there is no column {number}: it has {self.width}, 0 to {self.width - 1}")
        return number % self.width

    def replace(self, number: int, column: Column) -> bytes:
        """The text with another string in a column, in the table's encoding."""
        return self._splice(self.fields[:, number, 0], self.fields[:, number, 1], column.strings, column.ids)

    def replace_columns(self, columns: Mapping[int, Column]) -> bytes:
        """The text with other strings in several columns; those after the last one there is are added, in order."""
        numbers = sorted(columns)
        begins, ends = np.empty((2, self.tokens, len(numbers)), np.int64)
        which = np.empty((self.tokens, len(numbers)), np.int32)
        strings: list[str] = []
        for k, number in enumerate(numbers):
            there = number < self.width
            begins[:, k] = self.fields[:, number, 0] if there else self.fields[:, -1, 1]
            ends[:, k] = self.fields[:, number, 1] if there else self.fields[:, -1, 1]
            which[:, k] = columns[number].ids + len(strings)
            strings += columns[number].strings if there else ["\t" + string for string in columns[number].strings]
        return self._splice(begins.ravel(), ends.ravel(), strings, which.ravel())

    def append(self, column: Column) -> bytes:
        """The text with one more column, in the table's encoding."""
        separator = "\t" if self.tabs else " "
        end = self.fields[:, -1, 1]
        return self._splice(end, end, [separator + string for string in column.strings], column.ids)

    def _splice(self, begins: Ints, ends: Ints, strings: Sequence[str], which: NDArray[np.int32]) -> bytes:
        encoded = [string.encode() for string in strings]
        pieces = np.frombuffer(b"".join(encoded), np.uint8)
        starts = np.concatenate([[0], np.cumsum([len(piece) for piece in encoded], dtype=np.int64)]).astype(np.int64)
        arguments = (self.content, begins, ends, pieces, starts, which)
        out = np.empty(splice(*arguments, np.empty(0, np.uint8)), np.uint8)
        splice(*arguments, out)
        if codecs.lookup(self.encoding).name in UTF_8:
            return self.mark + out.tobytes()
        try:
            return self.mark + out.tobytes().decode().encode(self.encoding)
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise InputError(f"the label with '{character}' cannot be written in {self.encoding}: use utf-8") from None


def first_line(text: bytes, skipped: bytes) -> bytes:
    """The first line of a token: not empty, not one that starts with `skipped`."""
    begin = 0
    while begin < len(text):
        end = text.find(b"\n", begin)
        line = text[begin : end if end >= 0 else len(text)]
        if line.strip(b" \t\r") and not line.startswith(skipped):
            return line.rstrip(b"\r")
        begin = end + 1 if end >= 0 else len(text)
    return b""


def is_conllu(path: str | Path) -> bool:
    """Whether the name of a file says CoNLL-U."""
    return re.search(r"\.conllu(\.gz)?$", str(path)) is not None


def read_table(
    path: str | Path,
    *,
    encoding: str = "utf-8",
    conllu: bool | None = None,
    widths: Sequence[int] = (len(CONLLU),),
) -> Table:
    """Read a file (plain, .gz, or - for standard input) of tokens.

    A column file has the same number of columns on all lines, between tabs if the first line has one, else between
    blanks; lines that start with -DOCSTART- are skipped. A byte order mark, CRLF, several empty lines and a missing
    last newline are fine. CoNLL-U is known by the file's name (.conllu), or asked for; `widths` are those it may have.
    """
    conllu = is_conllu(path) if conllu is None else conllu
    return table_of(path, read_bytes(path), encoding=encoding, conllu=conllu, widths=widths)


def check_encoding(encoding: str) -> str:
    """The usual name of an encoding of text."""
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):  # a name may hold a byte 0
        raise InputError(f"unknown encoding {encoding!a}") from None


def table_of(
    path: str | Path, whole: bytes, *, encoding: str, conllu: bool, widths: Sequence[int] = (len(CONLLU),)
) -> Table:
    """The tokens of the bytes of a file; `path` is for messages."""
    content = whole.removeprefix(codecs.BOM_UTF8)
    mark = whole[: len(whole) - len(content)]
    known = check_encoding(encoding)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        byte = content[min(error.start, len(content) - 1)]
        raise InputError(
            f"{path}:{line}: byte 0x{byte:02x} is not {encoding}; name the encoding (iso-8859-1?)"
        ) from None
    except UnicodeError:
        raise InputError(f"{path}: cannot be read with the encoding {encoding!a}") from None
    except (LookupError, ValueError):  # a name may hold a byte 0
        raise InputError(f"unknown encoding {encoding!a}") from None
    if known not in UTF_8:
        try:
            content = text.removeprefix("\ufeff").encode()
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            raise InputError(f"{path}:{line}: half a character ({text[error.start]!a}), read as {encoding}") from None
        mark += "\ufeff".encode(encoding) if text.startswith("\ufeff") else b""
    return Table(path, content, encoding, conllu=conllu, mark=mark, widths=widths)


class ColumnFile(NamedTuple):
    """The rows of each sentence, and the line of the file on which each sentence begins."""

    sentences: list[list[tuple[str, ...]]]
    lines: list[int]
    width: int


def read_columns(path: str | Path, *, encoding: str = "utf-8") -> ColumnFile:
    """Read a column file, or CoNLL-U if its name says so; see `swvp.io.table.read_table`."""
    table = read_table(path, encoding=encoding)
    columns = (table.sentences(number) for number in range(table.width))
    sentences = [list(zip(*rows, strict=True)) for rows in zip(*columns, strict=True)]
    return ColumnFile(sentences, table.lines[table.offsets[:-1]].tolist(), table.width)
