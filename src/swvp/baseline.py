"""Machine code that is installed: the package swvp_kernels, which `packaging/build_kernels.py` makes.

It has the kernels that the commands use, compiled for a generic processor, in the format of the user's cache
(`swvp.cache`), and a manifest that says what they were compiled for. The user's cache comes first, then this package,
then Numba compiles. If anything in the manifest differs from this process, the package is not used.

The package is as trusted as swvp itself: it is found as Python finds modules, in a regular package, and its files
belong to root, to this user or to whoever installed swvp. It is not used if others may write to it.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import platform
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numba

from swvp.cache import CodeFile, DistrustedError, check_private, read_private

__all__ = ["MANIFEST", "PACKAGE", "InstalledCode", "baseline_problem", "expected_manifest", "find_installed"]

PACKAGE = "swvp_kernels"
MANIFEST = "manifest.json"


class InstalledCode(CodeFile):
    """The file of one kernel in the installed package, which is only read.

    Parameters
    ----------
    path : Path
        The file, which need not exist.
    stamp : str
        The versions it has to be made for.
    machine : tuple of str
        What Numba calls the machine that it was compiled for: a generic processor.
    """

    def __init__(self, path: Path, stamp: str, machine: tuple[str, ...]):
        super().__init__(path, stamp)
        self.machine = machine

    def load(self, key: Any) -> Any:
        """The object for these argument types, or None; the key is that of the user's cache, with its processor."""
        types, _, *code = key
        return super().load((types, self.machine, *code))

    def save(self, key: Any, data: Any) -> None:
        """Do nothing: what is compiled goes to the user's cache."""

    def flush(self) -> None:
        """Do nothing: the file belongs to the installed package."""

    def _content(self) -> bytes:
        return read_private(self.path, owner_of_swvp())

    def _warn(self, error: OSError) -> None:
        warn(str(error))


def find_installed(name: str, digest: str, stamp: str) -> InstalledCode | None:
    """Return the file of a kernel in the installed package; None without a package for this process.

    Parameters
    ----------
    name : str
        The name of the file.
    digest : str
        The digest of the sources of all kernels.
    stamp : str
        The stamp of the user's cache.
    """
    folder, machine, _ = examined(digest)
    return None if folder is None else InstalledCode(folder / name, stamp, machine)


def baseline_problem(digest: str) -> str | None:
    """Return why the installed package is not used; None if it is used or there is none."""
    return examined(digest)[2]


def expected_manifest(digest: str) -> dict[str, str]:
    """What machine code has to be made for, to run in this process."""
    return {
        "platform": f"{platform.machine()} {EXTENSION_SUFFIXES[0]}",  # processor, system, C library, kind of Python
        "python": ".".join(map(str, sys.version_info[:2])),
        "numba": numba.__version__,
        "kernels": digest,
    }


@functools.cache
def examined(digest: str) -> tuple[Path | None, tuple[str, ...], str | None]:
    """The folder of the installed package, the machine it was compiled for, and why it is not used."""
    folder = installed_folder()
    if folder is None:
        return None, (), None
    try:
        check_private(folder, owner_of_swvp())
        manifest = json.loads(read_private(folder / MANIFEST, owner_of_swvp()))
        machine = tuple(map(str, manifest["machine"]))
        for name, expected in expected_manifest(digest).items():
            if manifest[name] != expected:
                return None, (), f"it was built for {name} {manifest[name]}, this is {expected}"
    except DistrustedError as error:
        warn(str(error))
        return None, (), str(error)
    except (OSError, ValueError, TypeError, KeyError) as error:
        return None, (), f"its {MANIFEST} cannot be read: {error}"
    return folder, machine, None


def installed_folder() -> Path | None:
    """The folder of the package; None if it is not installed.

    A folder without __init__.py is no package: such a folder anywhere on the path would become a namespace package.
    """
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).parent if spec is not None and spec.origin is not None else None


@functools.cache
def owner_of_swvp() -> int:
    """The user who installed swvp: whoever may change its sources may also change its machine code."""
    return os.stat(__file__).st_uid


def warn(what: str) -> None:
    warnings.warn(
        f"the machine code of swvp-kernels is not used: {what}; install it again where only you may write",
        RuntimeWarning,
        stacklevel=2,
    )
