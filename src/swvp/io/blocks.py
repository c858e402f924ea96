"""Files of any size in bounded memory: they are read in blocks of whole sentences.

A block ends after an empty line, so it holds whole sentences and the lines before them. All but the last hold a token.
A pipe gives what it has, so that a sentence can be answered before the next one comes.
"""

from __future__ import annotations

import codecs
import gzip
import itertools
import os
import re
import select
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from swvp.errors import InputError
from swvp.io import files
from swvp.io.files import FileFormat

__all__ = ["BLOCK", "Block", "Section", "can_be_divided", "count_lines", "read_blocks", "sections_of"]

BLOCK = 2**18
"""The number of bytes that are read at once; a block is larger only if a sentence is."""
FIRST = 4
"""The first block is smaller by this factor: the first result comes early."""
SENTENCE_END = re.compile(rb"\n[ \t\r]*\n")
ONE_BYTE_EACH = ("ascii", "iso8859", "cp125", "koi8")
"""How the names of encodings begin in which a character is a byte."""

SEARCHED = 2**16
"""The number of bytes that are read at once to find the end of a sentence."""


class Section(NamedTuple):
    """A range of bytes of a file, from the beginning of a sentence to the end of one."""

    begin: int
    end: int


Part = tuple[bytes, bool]
"""Some bytes of a file, and whether it ends with them."""


class Block(NamedTuple):
    """A part of a file.

    Parameters
    ----------
    content : bytes
        Whole sentences.
    line : int
        The number of lines before it in the file.
    last : bool
        The file ends with it.
    """

    content: bytes
    line: int
    last: bool


def read_blocks(
    path: str | Path, format: FileFormat, encoding: str, section: Section | None = None, line: int = 0
) -> Iterator[Block | None]:
    """Read a file in blocks of whole sentences; None before waiting for a pipe that has nothing to read.

    Formats that are turned into columns, and encodings in which a character may have several bytes (except UTF-8), are
    read as one block.

    Parameters
    ----------
    path : str or Path
        The file, plain or .gz; - is standard input.
    format : FileFormat
        Its format, which says which lines are no tokens.
    encoding : str
        The name of a known encoding.
    section : Section, optional
        Read only this section, from `sections_of`; the last block is then the last one of the section.
    line : int
        The number of lines before it.
    """
    if not can_be_divided(format, encoding):
        yield Block(files.read_bytes(path), 0, True)
        return
    token = token_line(format)
    waiting = bytearray()
    searched = 0  # there is no line with a token before it
    for part in read_parts(path) if section is None else read_section(path, section):
        if part is None:
            yield None
            continue
        content, last = part
        begin = max(0, waiting.rfind(b"\n"))
        waiting += content
        end = len(waiting) if last else sentence_end(waiting, begin)
        if last or (end and token.search(waiting, searched, end)):
            block = bytes(memoryview(waiting)[:end])
            del waiting[:end]
            yield Block(block, line, last)
            line, searched = line + block.count(b"\n"), 0
        elif end:
            searched = end


def sections_of(path: str | Path, size: int) -> list[Section]:
    """Divide a plain file into sections of about `size` bytes; each ends after the first empty line from there on."""
    try:
        with open(path, "rb") as file:
            total = os.fstat(file.fileno()).st_size
            ends = [next_sentence(file, begin) for begin in range(size, total - size // 2, size)]
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    bounds = [0, *dict.fromkeys(end for end in ends if end < total), total]
    return [Section(*pair) for pair in itertools.pairwise(bounds)]


def next_sentence(file: IO[bytes], begin: int) -> int:
    """Return where the first empty line from `begin` on ends, or the file."""
    file.seek(begin)
    content = bytearray()
    while block := file.read(SEARCHED):
        searched = max(0, content.rfind(b"\n"))
        content += block
        if (match := SENTENCE_END.search(content, searched)) is not None:
            return begin + match.end()
    return begin + len(content)


def read_section(path: str | Path, section: Section) -> Iterator[Part]:
    """Read a section of a plain file part by part."""
    try:
        with open(path, "rb") as file:
            file.seek(section.begin)
            left = section.end - section.begin
            while True:
                part = file.read(min(BLOCK, left))
                left = left - len(part) if part else 0
                yield part, left == 0
                if not left:
                    return
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def count_lines(path: str | Path, end: int) -> int:
    """Return the number of lines in the first `end` bytes of a plain file."""
    return sum(content.count(b"\n") for content, _ in read_section(path, Section(0, end)))


def can_be_divided(format: FileFormat, encoding: str) -> bool:
    """Return whether a file can be divided at newlines, and its parts decoded and turned into columns on their own."""
    if format.to_columns is not None:
        return False
    name = codecs.lookup(encoding).name
    return name in ("utf-8", "utf-8-sig") or name.startswith(ONE_BYTE_EACH)


def token_line(format: FileFormat) -> re.Pattern[bytes]:
    """Return the pattern of the beginning of a line with a token: not skipped, and no range or empty node."""
    no_tokens = [re.escape(format.skipped), *([rb"[0-9]*[-.]"] if format.columns else [])]
    mark = codecs.BOM_UTF8  # on the first line
    return re.compile(rb"^(?!(?:%s)?(?:%s))[ \t\r]*[^ \t\r\n]" % (mark, b"|".join(no_tokens)), re.MULTILINE)


def sentence_end(content: bytearray, begin: int) -> int:
    """Return where the last complete sentence ends; 0 if none ends after `begin`, the begin or the end of a line."""
    last = max(content.rfind(b"\n\n", begin), content.rfind(b"\n\r\n", begin), begin)
    end = 0
    for match in SENTENCE_END.finditer(content, last):  # lines of blanks are empty too
        end = match.end()
    return end


def read_parts(path: str | Path) -> Iterator[Part | None]:
    """Read a file part by part; None before waiting for a pipe that has nothing to read."""
    try:
        if str(path) == "-":
            if sys.stdin is None:
                raise InputError("cannot read -: there is no standard input")
            yield from bounded(path, parts_of(sys.stdin.buffer))
        elif str(path).endswith(".gz"):
            with gzip.open(path) as unpacked:
                yield from bounded(path, parts_of(unpacked))
        else:
            with open(path, "rb") as file:
                parts = parts_of(file)
                yield from bounded(path, parts) if files.is_special(Path(path)) else parts
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{path}: not a gzip file, or cut off") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def bounded(path: str | Path, parts: Iterator[Part | None]) -> Iterator[Part | None]:
    """Raise InputError when there are more bytes than `set_max_bytes` allows."""
    total = 0
    for part in parts:
        total += 0 if part is None else len(part[0])
        files.check_size(path, total)
        yield part


def parts_of(file: IO[bytes] | gzip.GzipFile) -> Iterator[Part | None]:
    """The parts of an open file, the last one marked; of a pipe or a terminal, what there is."""
    handle = pipe_handle(file)
    if handle is not None:
        yield from parts_of_pipe(handle)
        return
    part = file.read(BLOCK // FIRST or 1)
    while True:
        following = file.read(BLOCK)
        yield part, not following
        if not following:
            return
        part = following


def parts_of_pipe(handle: int) -> Iterator[Part | None]:
    """The parts of a pipe: up to a block, as far as there is something to read."""
    last = False
    while not last:
        part = bytearray()
        while not last and len(part) < BLOCK and (not part or has_more(handle)):
            content = os.read(handle, BLOCK)
            last = not content
            part += content
        yield bytes(part), last
        if not last and not has_more(handle):
            yield None


def pipe_handle(file: IO[bytes] | gzip.GzipFile) -> int | None:
    """Return the descriptor of a pipe or a terminal; None for files, of which everything is there."""
    if os.name != "posix" or isinstance(file, gzip.GzipFile):
        return None
    try:
        handle = file.fileno()
    except OSError:  # a program's own stream
        return None
    return None if stat.S_ISREG(os.fstat(handle).st_mode) else handle


def has_more(handle: int) -> bool:
    """Return whether reading would not wait."""
    return bool(select.select([handle], [], [], 0)[0])
