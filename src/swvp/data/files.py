"""Owns reading and writing the bytes of a file that a user names: plain, .gz, or - for the standard streams."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

from swvp.errors import InputError
from swvp.storage.files import cannot_write, write_whole

__all__ = ["read_bytes", "write_bytes"]


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a file, unpacked if its name ends in .gz; - is standard input."""
    try:
        if str(path) == "-":
            if sys.stdin is None:
                raise InputError("cannot read -: there is no standard input")
            return sys.stdin.buffer.read()
        content = Path(path).read_bytes()
        return gzip.decompress(content) if str(path).endswith(".gz") else content
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{path}: not a gzip file, or cut off") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a file whole or not at all, packed if its name ends in .gz; - is standard output.

    A device or a pipe is written to, not replaced by a file.
    """
    if str(path) != "-":
        write_whole(Path(path), gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content)
        return
    if sys.stdout is None:
        raise InputError("cannot write -: there is no standard output")
    try:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(Path(path), error) from None
