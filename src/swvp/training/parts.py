"""The files of a corpus and its parts: contiguous blocks of whole sentences that are read one at a time.

A part is a tuple of pieces, ranges of bytes of files. Plain files are cut at the ends of sentences; a file that has to
be read as a whole (.gz, encodings in which a character may have several bytes) belongs to one part. The parts follow
from the files and their number alone, so every machine that sees the files finds the same sentences in them.
"""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from swvp.errors import InputError
from swvp.io.blocks import SENTENCE_END, can_be_divided
from swvp.io.files import choose_format, is_special, read_bytes
from swvp.io.table import Column, Table, table_of
from swvp.types import Ints

__all__ = [
    "JoinedTables",
    "Part",
    "Piece",
    "Reading",
    "divide",
    "files_of",
    "joined_columns",
    "joined_offsets",
    "part_name",
    "size_of",
]

WHOLE = -1
"""The end of a piece that is a whole file."""
BLOCK = 2**16
PACKED = 5
"""How many bytes a byte of a .gz file is taken for, before it is unpacked."""

Result = TypeVar("Result")


class Piece(NamedTuple):
    """A range of bytes of a file; with `end` = WHOLE the file."""

    path: str
    begin: int
    end: int


Part = tuple[Piece, ...]


def part_name(part: Part) -> str:
    """A part as messages name it."""
    first = part[0]
    return f"{first.path}{f' from byte {first.begin:,}' if first.begin else ''}{' …' if len(part) > 1 else ''}"


def files_of(data: Sequence[str]) -> list[str]:
    """The files that paths, folders and globs stand for; those of a folder or a glob in the order of their names."""
    files: list[str] = []
    for name in data:
        path = Path(name)
        if path.is_dir():
            inside = [str(file) for file in sorted(path.rglob("*")) if file.is_file() and not file.name.startswith(".")]
        elif path.exists() or not glob.has_magic(name):
            inside = [name]
        else:
            inside = sorted(file for file in glob.glob(name, recursive=True) if Path(file).is_file())
        if not inside:
            raise InputError(f"{name}: no file in it" if path.is_dir() else f"{name}: no such file")
        files += inside
    for file in files:
        if file == "-" or is_special(Path(file)):
            raise InputError(f"cannot divide {file}: shards need files that can be read again")
    return files


def size_of(file: str) -> int:
    """The number of bytes of a file, unpacked; of a .gz file an estimate."""
    try:
        return Path(file).stat().st_size * (PACKED if file.endswith(".gz") else 1)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None


def divide(files: Sequence[str], number: int, *, encoding: str, conllu: bool | None = None) -> list[Part]:
    """Divide files into `number` parts of about the same size, in the order of the files."""
    sizes = [size_of(file) for file in files]
    ends = np.cumsum(sizes)
    total = int(ends[-1])
    cuts = [(0, 0)]
    for k in range(1, number):
        target = total * k // number
        at = int(np.searchsorted(ends, target, side="right"))
        inside = target - (int(ends[at]) - sizes[at])
        cuts.append(max(cuts[-1], cut_of(files[at], at, inside, sizes[at], encoding, conllu)))
    cuts.append((len(files), 0))
    parts = [pieces_between(files, first, last) for first, last in pairwise(cuts)]
    if not all(parts):
        filled = sum(map(bool, parts))
        raise InputError(
            f"{files[0]}{' …' if len(files) > 1 else ''}: {number} parts are too many, {filled} of them would have "
            "sentences: use fewer shards, or unpack .gz files, which cannot be divided"
        )
    return parts


def cut_of(file: str, at: int, inside: int, size: int, encoding: str, conllu: bool | None) -> tuple[int, int]:
    """Where to cut near a byte of a file: (number of the file, byte), between sentences."""
    if not inside:
        return at, 0
    if file.endswith(".gz") or not can_be_divided(choose_format(file, conllu=conllu), encoding):
        return (at, 0) if 2 * inside < size else (at + 1, 0)
    with open(file, "rb") as opened:
        begin = max(inside - 1, 0)
        opened.seek(begin)
        waiting = b""
        while block := opened.read(BLOCK):
            waiting += block
            match = SENTENCE_END.search(waiting)
            if match is not None:
                rest = waiting[match.end() :] + opened.read(BLOCK)
                return (at, begin + match.end()) if rest.strip() else (at + 1, 0)
            keep = max(waiting.rfind(b"\n"), 0)
            begin, waiting = begin + keep, waiting[keep:]
    return at + 1, 0


def pieces_between(files: Sequence[str], first: tuple[int, int], last: tuple[int, int]) -> Part:
    """The pieces from one cut to the next."""
    pieces = []
    for number in range(first[0], min(last[0] + 1, len(files))):
        begin = first[1] if number == first[0] else 0
        end = last[1] if number == last[0] else WHOLE
        if end == WHOLE or end > begin:
            pieces.append(Piece(files[number], begin, end))
    return tuple(pieces)


# ---------------------------------------------------------------- reading


class Reading(NamedTuple):
    """How the files of a corpus are read; `widths` as in `read_table`."""

    encoding: str = "utf-8"
    conllu: bool | None = None
    widths: tuple[int, ...] | None = None

    def read(self, part: Part, build: Callable[[list[Table]], Result]) -> tuple[Result, str]:
        """Return what `build` makes of the tables of a part, and a digest of its bytes.

        Lines are counted in errors only: for that all bytes before a piece have to be read.
        """
        digest = hashlib.sha256()
        contents = []
        for piece in part:
            contents.append(bytes_of(piece))
            digest.update(f"{len(contents[-1])} ".encode())
            digest.update(contents[-1])
        options: dict[str, Any] = {"encoding": self.encoding, "conllu": self.conllu, "widths": self.widths}
        try:
            tables = [table_of(piece.path, read, **options) for piece, read in zip(part, contents, strict=True)]
            return build(tables), digest.hexdigest()
        except InputError:
            if not any(piece.begin for piece in part):
                raise
        lines = map(lines_before, part)
        again = zip(part, contents, lines, strict=True)
        return build([table_of(piece.path, read, line=line, **options) for piece, read, line in again]), ""


def bytes_of(piece: Piece) -> bytes:
    """The bytes of a piece."""
    if piece.begin == 0 and piece.end == WHOLE:
        return read_bytes(piece.path)
    try:
        with open(piece.path, "rb") as file:
            file.seek(piece.begin)
            content = file.read() if piece.end == WHOLE else file.read(piece.end - piece.begin)
    except OSError as error:
        raise InputError(f"cannot read {piece.path}: {error.strerror or error}") from None
    if not content or (piece.end != WHOLE and len(content) < piece.end - piece.begin):
        raise InputError(f"{piece.path}: the file has become shorter since training began")
    return content


def lines_before(piece: Piece) -> int:
    """The number of lines of a file before a piece of it."""
    if not piece.begin:
        return 0
    with open(piece.path, "rb") as file:
        left, lines = piece.begin, 0
        while left:
            block = file.read(min(left, 2**20))
            if not block:
                break
            left, lines = left - len(block), lines + block.count(b"\n")
    return lines


class JoinedTables:
    """The tables of several pieces, with the methods of a table that messages need."""

    def __init__(self, tables: Sequence[Table]):
        self.tables = tables
        self.starts = np.cumsum([0, *(table.tokens for table in tables)])
        self.path = tables[0].path

    def place(self, token: int) -> str:
        """The file and line of a token."""
        number = int(np.searchsorted(self.starts, token, side="right")) - 1
        return self.tables[number].place(token - int(self.starts[number]))

    def forget_text(self) -> None:
        """Free the memory of the texts."""
        for table in self.tables:
            table.forget_text()


def joined_columns(columns: Sequence[Column]) -> Column:
    """One column after the other; strings in the order of their first occurrence."""
    if len(columns) == 1:
        return Column(*columns[0])
    number: dict[str, int] = {}
    ids = []
    for strings, own in columns:
        numbers = np.array([number.setdefault(string, len(number)) for string in strings], np.int32)
        ids.append(numbers[own])
    return Column(list(number), np.concatenate(ids).astype(np.int32))


def joined_offsets(offsets: Sequence[Ints]) -> Ints:
    """The offsets of the sentences of several tables, one after the other."""
    if len(offsets) == 1:
        return offsets[0]
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(own) for own in offsets]))]).astype(np.int64)
