"""Owns writing files whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from swvp.errors import InputError

__all__ = ["cannot_write", "is_special", "remove_leftovers", "write_whole"]

MARK = ".swvp-new-"
"""In the names of files that are not whole yet."""


def write_whole(path: Path, content: str | bytes | Sequence[bytes | memoryview]) -> None:
    """Write `content`, or its parts, to `path` so that a reader sees the old file or the new one, never a part.

    A link stays a link to what is written; a device or a pipe is written to, not replaced by a file.
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
    """How the names of files begin that are to become this one; a long name is cut, to leave room for the rest."""
    return f".{path.name[:40]}{MARK}"


def remove_leftovers(path: Path) -> None:
    """Remove what a process that was killed while writing a file has left beside it."""
    path = path.resolve() if path.is_symlink() else path
    for left in path.parent.iterdir():
        if left.name.startswith(unfinished(path)) and left.is_file():
            left.unlink(missing_ok=True)


def is_special(path: Path) -> bool:
    """Whether there is something of this name that is neither a file nor a folder: a device, a pipe."""
    return path.exists() and not path.is_file() and not path.is_dir()


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def cannot_write(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {error.strerror or error}")
