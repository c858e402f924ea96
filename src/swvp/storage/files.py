"""Owns writing files whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from swvp.errors import InputError

__all__ = ["cannot_write", "write_whole"]


def write_whole(path: Path, content: str | bytes) -> None:
    """Write `content` to `path` so that a reader sees the old file or the new one, never a part."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~current_umask())
        os.replace(name, path)
    except BaseException as error:
        os.unlink(name)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from error
        raise


def current_umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def cannot_write(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot write {path}: {error.strerror or error}")
