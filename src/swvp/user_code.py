"""Python files of users, which register their own γ, sub-structures, template functions or file formats.

A process remembers what it has loaded, so that workers of a cluster can load the same files before a task.
"""

from __future__ import annotations

import hashlib
import runpy
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from swvp.errors import InputError
from swvp.io.files import is_special

__all__ = ["UserFile", "load_again", "load_python", "loaded_files"]


class UserFile(NamedTuple):
    """A file that was loaded, and the SHA-256 digest of its content."""

    path: str
    digest: str


loaded: list[UserFile] = []
lock = threading.Lock()


def loaded_files() -> tuple[UserFile, ...]:
    """Return the files that this process has loaded, in their order."""
    return tuple(loaded)


def load_again(files: Sequence[UserFile]) -> None:
    """Load the files that another process has loaded; raise InputError if one cannot be read or has changed."""
    with lock:
        if [*files] == loaded:
            return
        has_others = bool(loaded)
        loaded.clear()
        try:
            for file in files:
                if load_python(Path(file.path)) != file.digest:
                    raise InputError(f"{file.path} has another content here than where the command was started")
        except InputError as error:
            loaded.clear()
            hint = "; it has loaded other files before, which it cannot forget: restart it" if has_others else ""
            raise InputError(f"{error}{hint}") from None


def load_python(path: Path) -> str:
    """Run a user's Python file, which may register a γ or a JJ; return its SHA-256 digest."""
    if is_special(path):
        raise InputError(f"cannot load {path}: a pipe or a device; it must be a file")
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot load {path}: {error.strerror or error}") from None
    sys.path.insert(0, str(path.parent.resolve()))  # as `python FILE` does: it may import its neighbours
    try:
        runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        raise InputError(f"cannot load {path}{failed_line(path, error)}: {described(error)}") from None
    digest = hashlib.sha256(source).hexdigest()
    loaded.append(UserFile(str(path.resolve()), digest))
    return digest


def failed_line(path: Path, error: BaseException) -> str:
    """Return the line of a user's file that raised an error, if it is known."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    return "" if line is None else f", line {line}"


def described(error: BaseException) -> str:
    """Return the message of an error of a user's code, whose own __str__ may fail."""
    try:
        return str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__
