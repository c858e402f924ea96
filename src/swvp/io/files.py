"""Reading and writing the bytes of files: atomically, plain or .gz, - for the standard streams."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from swvp.errors import InputError, escaped

__all__ = [
    "MAX_BYTES",
    "cannot_write",
    "is_special",
    "read_bytes",
    "remove_leftovers",
    "set_max_bytes",
    "write_bytes",
    "write_whole",
]

MARK = ".swvp-new-"
"""In the names of files that are not complete yet."""


def write_whole(path: Path, content: str | bytes | Sequence[bytes | memoryview]) -> None:
    """Write `content`, or its parts, to `path` atomically: a reader sees the old file or the new one.

    A link stays a link, and its target is written. A device or a pipe is written to, not replaced by a file.
    """
    content = content.encode() if isinstance(content, str) else content
    parts = [content] if isinstance(content, bytes) else content
    try:
        path = path.resolve() if path.is_symlink() else path
        if is_special(path):
            with path.open("wb") as file:
                file.writelines(parts)
            return
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=unfinished(path))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~current_umask())
        os.replace(name, path)
    except BaseException as error:
        with contextlib.suppress(OSError):  # perhaps somebody removed it
            os.unlink(name)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from error
        raise


def unfinished(path: Path) -> str:
    """Return the prefix of the names of temporary files that become this one; long names are cut."""
    return f".{path.name[:40]}{MARK}"


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files that killed processes have left beside a file."""
    path = path.resolve() if path.is_symlink() else path
    for left in path.parent.iterdir():
        if left.name.startswith(unfinished(path)) and left.is_file():
            left.unlink(missing_ok=True)


def is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe: it exists, and is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def current_umask() -> int:
    """Return the umask of the process."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def cannot_write(path: Path, error: OSError) -> InputError:
    """Return the error for a file that the operating system does not let us write."""
    return InputError(f"cannot write {path}: {error.strerror or error}")


MAX_BYTES = 2**30
BLOCK = 2**20
most_bytes = MAX_BYTES


def set_max_bytes(most: int) -> None:
    """Set how many bytes may be read from a .gz file, a pipe or a device, whose size is not known beforehand."""
    global most_bytes  # set once for a process, by the option --max-bytes
    most_bytes = most


def read_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file, decompressed if its name ends in .gz; - is standard input."""
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
    """Return the bytes of a file of unknown size; raise InputError if there are more than `set_max_bytes` allows."""
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
    """Write a file atomically, compressed if its name ends in .gz; - is standard output.

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
    """Return the text for a terminal: lines and tabs stay, other control characters are escaped."""
    return escaped(content.decode(errors="replace").replace("\r\n", "\n"), keep="\n\t")
