"""File locks: one process at a time writes a model and its checkpoints."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: no locks
    fcntl = None  # type: ignore[assignment]

from swvp.errors import InputError

__all__ = ["exclusive"]


@contextlib.contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock of a file while it is written; raise InputError if another process holds it.

    The lock is one of the operating system, on an empty file beside it, so it ends with its process, even if that is
    killed. Where locking fails (no such folder, a file system without locks) nothing is locked: if the file cannot be
    written either, writing it reports that.
    """
    folder, name = os.path.split(os.path.realpath(path))
    lock = Path(folder, f".{name}.lock")
    try:
        handle = None if path.is_dir() else acquire(lock)
    except BlockingIOError:
        raise InputError(f"another training is writing {path}: wait until it ends, or write to another file") from None
    except OSError:
        handle = None
    try:
        yield
    finally:
        if handle is not None:
            if os.fstat(handle).st_size == 0:  # else it is not ours
                with contextlib.suppress(OSError):
                    lock.unlink()
            os.close(handle)


def acquire(lock: Path) -> int | None:
    """Return the handle of an open file that holds the lock; raise BlockingIOError if another process holds it."""
    if fcntl is None:
        return None
    while True:
        flags = os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            handle = os.open(lock, os.O_RDWR | os.O_CREAT | flags, 0o666)
        except PermissionError:  # another user's, which can be locked all the same
            handle = os.open(lock, os.O_RDONLY | flags)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(handle), lock.stat()):
                    return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # whoever held it removed the file before we had the lock: take the new one
