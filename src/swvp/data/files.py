"""Owns reading and writing the bytes of a file that a user names: plain, .gz, or - for the standard streams."""

from __future__ import annotations

import gzip
import sys
import zlib
from pathlib import Path

from swvp.errors import InputError
from swvp.storage.files import cannot_write, write_whole

__all__ = ["is_special", "read_bytes", "write_bytes"]


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
    try:
        if str(path) == "-":
            if sys.stdout is None:
                raise InputError("cannot write -: there is no standard output")
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
            return
        content = gzip.compress(content, mtime=0) if str(path).endswith(".gz") else content
        if is_special(Path(path)):
            with Path(path).open("wb") as file:
                file.write(content)
            return
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(Path(path), error) from None
    write_whole(Path(path), content)


def is_special(path: Path) -> bool:
    """Whether there is something of this name that is neither a file nor a folder: a device, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()
