"""Checks of the files that a command will write, before it reads or computes anything.

None of them may be an input, and it must be possible to write them.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from swvp.errors import InputError
from swvp.io.files import cannot_write, is_special

__all__ = ["check_log", "check_separate", "check_writable"]


def check_separate(
    outputs: Mapping[str, str | Path | None], inputs: Mapping[str, str | Path | Sequence[str | Path] | None]
) -> None:
    """Raise InputError if a file that will be written is one of those that are read, or is written twice.

    Both map names of options or arguments to paths; None and - (a standard stream) are no files.
    """
    read = [(name, path) for name, paths in inputs.items() for path in several(paths) if is_file_name(path)]
    written = [(name, path) for name, path in outputs.items() if path is not None and is_file_name(path)]
    for number, (option, path) in enumerate(written):
        for other, other_path in [*read, *written[:number]]:
            if is_same_file(Path(path), Path(other_path)):
                raise InputError(f"{option} and {other} are the same file, {other_path}")


def check_writable(path: Path) -> None:
    """Raise InputError if no temporary file can be made beside a file, as `write_whole` will do; it is removed."""
    path = path.resolve() if path.is_symlink() else path
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.swvp-new-")
        os.close(handle)
        os.unlink(name)
    except OSError as error:
        raise cannot_write(path, error) from None


def several(paths: str | Path | Sequence[str | Path] | None) -> Sequence[str | Path]:
    """Return no path, one or several as a sequence."""
    if paths is None:
        return ()
    return (paths,) if isinstance(paths, str | Path) else paths


def is_file_name(path: str | Path) -> bool:
    """Return whether a path is not a standard stream, a device or a pipe, which hold nothing that could be lost."""
    return str(path) != "-" and not is_special(Path(path))


def is_same_file(a: Path, b: Path) -> bool:
    """Return whether two paths name the same file, which need not exist yet."""
    try:
        return a.samefile(b)
    except OSError:
        return os.path.realpath(a) == os.path.realpath(b)


def check_log(log: Path) -> None:
    """Raise InputError if a log cannot be opened; a file that is there stays as it is."""
    new = not log.exists()
    try:
        log.open("ab").close()
        if new:
            log.unlink()
    except OSError as error:
        raise cannot_write(log, error) from None
