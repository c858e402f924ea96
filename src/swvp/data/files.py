"""Owns reading and writing the bytes of a file that a user names: plain, .gz, or - for the standard streams."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path
from typing import IO

from swvp.errors import InputError
from swvp.escaping import escaped
from swvp.storage.files import cannot_write, is_special, write_whole

__all__ = ["MAX_BYTES", "read_bytes", "set_max_bytes", "write_bytes"]

MAX_BYTES = 2**30
BLOCK = 2**20
most_bytes = MAX_BYTES


def set_max_bytes(most: int) -> None:
    """Set how many bytes a .gz file, a pipe or a device may give; the size of a plain file is there to see."""
    global most_bytes  # set once for a process, by the option --max-bytes
    most_bytes = most


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz; - is standard input."""
    try:
        if str(path) == "-":
            if sys.stdin is None:
                raise InputError("cannot read -: there is no standard input")
            return read_bounded(path, sys.stdin.buffer)
        if str(path).endswith(".gz"):
            with gzip.open(path) as unpacked:
                return read_bounded(path, unpacked)
        if is_special(Path(path)):
            with open(path, "rb") as pipe:
                return read_bounded(path, pipe)
        return Path(path).read_bytes()
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{path}: not a gzip file, or cut off") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def read_bounded(path: str | Path, file: IO[bytes] | gzip.GzipFile) -> bytes:
    """All of a file whose size cannot be seen beforehand, block by block."""
    content = io.BytesIO()
    block = file.read(BLOCK)
    while block:
        content.write(block)
        if content.tell() > most_bytes:
            raise InputError(
                f"{path}: more than {most_bytes:,} bytes, unpacked; if that is right, allow more with --max-bytes"
            )
        block = file.read(BLOCK) if len(block) == BLOCK else b""  # a terminal would have to end twice
    return content.getvalue()


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all, packed if its name ends in .gz; - is standard output.

    A device or a pipe is written to, not replaced by a file. A terminal gets text, with control characters escaped.
    """
    if str(path) != "-":
        write_whole(Path(path), gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)
        return
    if sys.stdout is None:
        raise InputError("cannot write -: there is no standard output")
    try:
        if sys.stdout.isatty():
            sys.stdout.write(for_terminal(content))
            sys.stdout.flush()
            return
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(Path(path), error) from None


def for_terminal(content: bytes) -> str:
    """The content as people should see it: lines and tabs stay, other characters that steer a terminal are escaped."""
    return escaped(content.decode(errors="replace").replace("\r\n", "\n"), keep="\n\t")
