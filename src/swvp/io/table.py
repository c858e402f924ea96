"""Tables of tokens: files of any registered format read into arrays, and written back byte for byte."""

from __future__ import annotations

import codecs
import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, counted, unknown_name
from swvp.io.container import MAGIC
from swvp.io.files import CONLLU, FileFormat, choose_format, is_conllu, read_bytes
from swvp.io.scan import BAD_ID, BAD_WIDTH, intern, scan, splice

__all__ = [
    "CONLLU",
    "Column",
    "ColumnFile",
    "Shape",
    "Table",
    "check_encoding",
    "is_conllu",
    "read_columns",
    "read_table",
    "shape_of",
    "table_of",
]

Ints = NDArray[np.int64]

UTF_8 = ("utf-8", "utf-8-sig")
NEWLINE = np.frombuffer(b"\n", np.uint8)
NO_PIECE_OR_NEWLINE = np.array([0, 0, 1], np.int64)
"""Where the pieces of `splice` begin: piece 0 is empty, piece 1 a newline."""


class Column(NamedTuple):
    """A column of a table.

    Parameters
    ----------
    strings : list of str
        The distinct strings.
    ids : array of int32, shape (tokens,)
        For each token, the number of its string.
    """

    strings: list[str]
    ids: NDArray[np.int32]


class Shape(NamedTuple):
    """How the tokens of a file are divided into columns: into how many, and whether by tabs or by blanks."""

    width: int
    tabs: bool


class Table:
    """The tokens of one file. Single columns can be replaced; every other byte stays as it was.

    Parameters
    ----------
    path : str or Path
        The file, for messages.
    text : bytes
        Its columns, in UTF-8.
    encoding : str
        The encoding in which it is written back.
    format : FileFormat
        Its format; see `swvp.io.files`.
    conllu : bool, optional
        Without a format, whether it is CoNLL-U; by default the name of the file decides.
    mark : bytes
        The byte order mark at its beginning, if any.
    widths : sequence of int, optional
        The numbers of columns it may have if they have names; those of the format by default. The first token decides.
    line : int
        The number of lines before it, if it is a later part of a file.
    shape : Shape, optional
        That of the part before it, if it is a later part; it may then have no token.

    Attributes
    ----------
    content : array of uint8
        The text.
    fields : array of int, shape (tokens, columns, 2)
        Where each field begins and ends in `content`.
    lines : array of int, shape (tokens,)
        The line of each token, from 1.
    offsets : array of int, shape (sentences + 1,)
        Where each sentence begins, and where the last one ends.
    """

    def __init__(
        self,
        path: str | Path,
        text: bytes,
        encoding: str,
        *,
        format: FileFormat | None = None,
        conllu: bool | None = None,
        mark: bytes = b"",
        widths: Sequence[int] | None = None,
        line: int = 0,
        shape: Shape | None = None,
    ):
        self.path, self.encoding, self.mark, self.line = str(path), encoding, mark, line
        self.format = choose_format(path, conllu=conllu) if format is None else format
        self.content = np.frombuffer(text, np.uint8)
        if shape is None and b"\n" not in text and b"\r" in text.strip(b"\r"):
            raise InputError(f"{path}: its lines end in CR only; convert them to LF, as with tr '\\r' '\\n'")
        self.width, self.tabs = shape_of(text, self.format, widths) if shape is None else shape
        # a token has at least one byte for each field, its separator or its newline: a wide line makes no large table
        newlines = int(np.count_nonzero(self.content == ord("\n")))
        most = min(newlines, (len(text) + 1) // max(self.width, 1)) + 1
        fields, lines, offsets = (
            np.empty((most, self.width, 2), np.int32 if len(text) < 2**31 else np.int64),
            np.empty(most, np.int32 if len(text) < 2**31 else np.int64),
            np.empty(most + 1, np.int64),
        )
        skipped = np.frombuffer(self.format.skipped, np.uint8)
        wrong, tokens, sentences, line_number, columns = scan(
            self.content, self.width, self.tabs, self.conllu, skipped, fields, lines, offsets
        )
        if wrong == BAD_WIDTH:
            place = f"{path}:{line + line_number}"
            raise InputError(f"{place}: {counted(columns, 'column')}{self._hint(text, line_number)}")
        if wrong == BAD_ID:
            raise InputError(
                f"{path}:{line + line_number}: the first column of {self.format.title} is the token's number "
                "(1, 2-3 or 4.1), not this"
            )
        if tokens == 0 and shape is None:
            raise InputError(f"{path}: no token in it")
        np.add(lines, line, out=lines, casting="unsafe")
        self.fields, self.lines, self.offsets = fields[:tokens], lines[:tokens], offsets[: sentences + 1]

    @property
    def conllu(self) -> bool:
        """Whether the columns are those of CoNLL-U: they have names, and tokens have IDs."""
        return bool(self.format.columns)

    def _hint(self, text: bytes, number: int) -> str:
        if self.conllu:
            blanks = self._blanks(text, number)
            return f"; {self.format.title} has {self.width}, separated by tabs" + (f" ({blanks})" if blanks else "")
        same = self._blanks(text, number) or "all lines need the same number"
        return f", but {self.width} on the lines before ({same})"

    def _blanks(self, text: bytes, number: int) -> str:
        line = text.split(b"\n", number)[number - 1]
        return "tabs and blanks mixed?" if (b"\t" in line) != self.tabs else ""

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return len(self.lines)

    def forget_text(self) -> None:
        """Free the memory of the text, of which nothing but the places of tokens is needed any more."""
        self.content, self.fields = self.content[:0].copy(), self.fields[:0].copy()

    def place(self, token: int) -> str:
        """Return the file and line of a token, for messages."""
        return f"{self.path}:{self.lines[token]}"

    def column(self, number: int) -> Column:
        """Return a column by its number."""
        ids = np.empty(self.tokens, np.int32)
        first = intern(self.content, self.fields, number, ids)
        return Column(self._strings(self.fields[first, number]), ids)

    def _strings(self, spans: NDArray[np.signedinteger[Any]]) -> list[str]:
        """Return the strings at these places, which are in order: all of them are decoded at once."""
        if not len(spans):
            return []
        # what is between them is replaced by newlines, which no string has
        gaps = np.empty((len(spans) + 1, 2), spans.dtype)
        gaps[0, 0], gaps[-1, 1] = 0, len(self.content)
        gaps[1:, 0], gaps[:-1, 1] = spans[:, 1], spans[:, 0]
        newlines = np.ones(len(gaps), np.int32)
        newlines[0] = newlines[-1] = 0
        arguments = (self.content, gaps[:, 0], gaps[:, 1], NEWLINE, NO_PIECE_OR_NEWLINE, newlines)
        joined = np.empty(splice(*arguments, np.empty(0, np.uint8)), np.uint8)
        splice(*arguments, joined)
        return joined.tobytes().decode().split("\n")

    def sentences(self, number: int) -> list[list[str]]:
        """Return a column as a list of strings for each sentence."""
        strings, ids = self.column(number)
        flat = np.array(strings, object)[ids].tolist()
        bounds = self.offsets.tolist()
        return [flat[a:b] for a, b in itertools.pairwise(bounds)]

    def number_of(self, name: str | int) -> int:
        """Return the number of a column, given by number (negative from the end) or, if columns have names, by name."""
        if isinstance(name, str) and name in self.format.columns:
            return self.format.columns.index(name)
        if isinstance(name, str) and not re.fullmatch(r"[+-]?\d+", name):
            if self.conllu:
                raise unknown_name("column", name, self.format.columns)
            raise InputError(f"{self.path}: a column is given by its number, 0 to {self.width - 1}, not '{name}'")
        number = int(name)
        if not -self.width <= number < self.width:
            has = counted(self.width, "column") + (f", 0 to {self.width - 1}" if self.width > 1 else "")
            from_end = " (counted from the end)" if number < 0 else ""
            raise InputError(f"{self.path}: there is no column {number}{from_end}: the file has {has}")
        return number % self.width

    def replace(self, number: int, column: Column) -> bytes:
        """Return the bytes of the file with other strings in a column."""
        return self._splice(self.fields[:, number, 0], self.fields[:, number, 1], column.strings, column.ids)

    def replace_columns(self, columns: Mapping[int, Column]) -> bytes:
        """Return the bytes of the file with other strings in several columns; columns after the last one are added."""
        numbers = sorted(columns)
        begins, ends = np.empty((2, self.tokens, len(numbers)), np.int64)
        which = np.empty((self.tokens, len(numbers)), np.int32)
        strings: list[str] = []
        for k, number in enumerate(numbers):
            exists = number < self.width
            begins[:, k] = self.fields[:, number, 0] if exists else self.fields[:, -1, 1]
            ends[:, k] = self.fields[:, number, 1] if exists else self.fields[:, -1, 1]
            which[:, k] = columns[number].ids + len(strings)
            strings += columns[number].strings if exists else ["\t" + string for string in columns[number].strings]
        return self._splice(begins.ravel(), ends.ravel(), strings, which.ravel())

    def append(self, column: Column) -> bytes:
        """Return the bytes of the file with one more column."""
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
        utf_8 = codecs.lookup(self.encoding).name in UTF_8
        if utf_8 and self.format.from_columns is None:
            return self.mark + out.tobytes()
        text = out.tobytes().decode()
        if self.format.from_columns is not None:
            text = self.format.from_columns(text)
        try:
            return self.mark + text.encode("utf-8" if utf_8 else self.encoding)
        except UnicodeEncodeError as error:
            character = error.object[error.start]
            raise InputError(f"the label with '{character}' cannot be written in {self.encoding}: use utf-8") from None


def shape_of(text: bytes, format: FileFormat, widths: Sequence[int] | None = None) -> Shape:
    """Return the shape of a text in a format, by its first line with a token.

    `widths` are the numbers of columns it may have if they have names, by default those of the format.
    """
    line = first_line(text, format.skipped)
    if format.columns:
        width = line.count(b"\t") + 1
        return Shape(width if width in (format.widths if widths is None else widths) else len(format.columns), True)
    tabs = b"\t" in line
    return Shape(len(line.split(b"\t") if tabs else re.findall(rb"[^ ]+", line)), tabs)


def first_line(text: bytes, skipped: bytes) -> bytes:
    """Return the first line with a token: not empty, and without `skipped` at its beginning."""
    begin = 0
    while begin < len(text):
        end = text.find(b"\n", begin)
        line = text[begin : end if end >= 0 else len(text)]
        if line.strip(b" \t\r") and not line.startswith(skipped):
            return line.rstrip(b"\r")
        begin = end + 1 if end >= 0 else len(text)
    return b""


def read_table(
    path: str | Path,
    *,
    encoding: str = "utf-8",
    conllu: bool | None = None,
    format: str | None = None,
    widths: Sequence[int] | None = None,
) -> Table:
    """Read the tokens of a file.

    A column file has the same number of columns on all lines, between tabs if the first line has one, else between
    blanks; lines that start with -DOCSTART- are skipped. A byte order mark, CRLF, several empty lines and a missing
    last newline are accepted.

    Parameters
    ----------
    path : str or Path
        The file, plain or .gz; - is standard input.
    encoding : str
        The encoding of its text.
    conllu : bool, optional
        Whether it is CoNLL-U. By default its name decides: .conllu is CoNLL-U.
    format : str, optional
        The name of its format, one of `swvp.io.FORMATS`. By default its name decides.
    widths : sequence of int, optional
        The numbers of columns it may have if they have names.

    Returns
    -------
    Table
    """
    return table_of(path, read_bytes(path), encoding=encoding, conllu=conllu, format=format, widths=widths)


def check_encoding(encoding: str) -> str:
    """Return the usual name of an encoding; raise InputError if it is unknown."""
    try:
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):  # a name may hold a byte 0
        raise InputError(f"unknown encoding {encoding!a}") from None


def table_of(
    path: str | Path,
    whole: bytes,
    *,
    encoding: str = "utf-8",
    conllu: bool | None = None,
    format: str | None = None,
    widths: Sequence[int] | None = None,
    line: int = 0,
    shape: Shape | None = None,
) -> Table:
    """Return the tokens of the bytes of a file, as `read_table` does.

    Parameters
    ----------
    path : str or Path
        The name of the file, for messages and for its format.
    whole : bytes
        The content of the file.
    encoding : str
        Its encoding.
    conllu : bool, optional
        Whether it is CoNLL-U; by default its name decides.
    format : str, optional
        The name of its format in `FORMATS`; by default its name decides.
    widths : sequence of int, optional
        The numbers of columns it may have; by default those of the format.
    line, shape
        Of a later part of a file, as in `Table`.
    """
    chosen = choose_format(path, format=format, conllu=conllu)
    content = whole if line else whole.removeprefix(codecs.BOM_UTF8)
    mark = whole[: len(whole) - len(content)]
    known = check_encoding(encoding)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        number = line + content.count(b"\n", 0, error.start) + 1
        byte = content[min(error.start, len(content) - 1)]
        raise InputError(f"{path}:{number}: byte 0x{byte:02x} is not {encoding}; {not_text(content)}") from None
    except UnicodeError:
        raise InputError(f"{path}: cannot be read with the encoding {encoding!a}") from None
    except (LookupError, ValueError):  # a name may hold a byte 0
        raise InputError(f"unknown encoding {encoding!a}") from None
    if known not in UTF_8:
        try:
            content = text.removeprefix("\ufeff").encode()
        except UnicodeEncodeError as error:
            number = line + text.count("\n", 0, error.start) + 1
            raise InputError(
                f"{path}:{number}: an unpaired surrogate ({text[error.start]!a}), read as {encoding}"
            ) from None
        mark += "\ufeff".encode(encoding) if text.startswith("\ufeff") else b""
    if chosen.to_columns is not None:
        content = chosen.to_columns(text.removeprefix("\ufeff")).encode()
    del text  # as large as the file, or twice
    return Table(path, content, encoding, format=chosen, mark=mark, widths=widths, line=line, shape=shape)


def not_text(content: bytes) -> str:
    """Return why the bytes of a file may not be a text in the given encoding, and what to do."""
    start = content[:4096]
    if start.startswith(MAGIC):
        return "it is a model file of swvp, not a text"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "it looks binary, not like a text" if b"\0" in start else "name the encoding (iso-8859-1?)"
    return "name the encoding (utf-8?)"


class ColumnFile(NamedTuple):
    """The tokens of a file as Python lists.

    Parameters
    ----------
    sentences : list of list of tuple
        The columns of each token.
    lines : list of int
        The line of the file on which each sentence begins, from 1.
    width : int
        The number of columns.
    """

    sentences: list[list[tuple[str, ...]]]
    lines: list[int]
    width: int


def read_columns(path: str | Path, *, encoding: str = "utf-8") -> ColumnFile:
    """Read a file of tokens as lists of tuples, one for each token; see `read_table`.

    Parameters
    ----------
    path : str or Path
        The file, plain or .gz, or - for standard input.
    encoding : str
        Its encoding.

    Returns
    -------
    ColumnFile

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "train.txt")
    ...     _ = path.write_text("the D\\ndog N\\n\\nit P\\n")
    ...     read_columns(path).sentences
    [[('the', 'D'), ('dog', 'N')], [('it', 'P')]]
    """
    table = read_table(path, encoding=encoding)
    columns = (table.sentences(number) for number in range(table.width))
    sentences = [list(zip(*rows, strict=True)) for rows in zip(*columns, strict=True)]
    return ColumnFile(sentences, table.lines[table.offsets[:-1]].tolist(), table.width)
