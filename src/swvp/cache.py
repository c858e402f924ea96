"""The cache of machine code on disk: where it is, which files are trusted, what happens to damaged ones.

Each kernel has one file with the machine code for all argument types it was compiled for:

    8 bytes     b"SWVPCODE"
    32 bytes    SHA-256 of all that follows
    …           one line, the stamp: versions of Python, Numba and the sources
    …           a pickle: {argument types and processor: pickled machine code}

A pickle can run any code, and LLVM crashes on damaged machine code. So a file is read only if nobody but this user
(or root) can have written it, and unpickled only if its checksum is right. Folders are created with mode 0700 and
files with 0600, whatever the umask. Without a usable cache everything still works, only slower: code in a damaged
file is compiled again, and without a cache each process compiles for itself, with one warning.

What the cache does not have may come from an installed package of machine code (`swvp.baseline`).
"""

from __future__ import annotations

import contextlib
import functools
import glob
import hashlib
import importlib
import os
import pickle
import stat
import sys
import tempfile
import threading
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

from swvp.compile_events import report_end, report_load, report_start

__all__ = ["KernelCache", "cache_folder", "cache_problem"]

MAGIC = b"SWVPCODE"
HEAD = len(MAGIC) + hashlib.sha256().digest_size


def cache_folder() -> str:
    """Return NUMBA_CACHE_DIR or, if it is not set, the user's cache folder.

    The user's cache is $XDG_CACHE_HOME/swvp or ~/.cache/swvp on Linux. It is never next to the sources, because an
    installed package may be shared by users who do not trust each other.
    """
    root: str = getattr(config, "CACHE_DIR", "") or AppDirs(appname="swvp", appauthor=False).user_cache_dir
    return os.path.abspath(root)


class CacheFolder(_CacheLocator):
    """The folder for kernels of one folder of sources, in `cache_folder`."""

    def __init__(self, source: str, line: int):
        self.path = os.path.join(cache_folder(), self.get_suitable_cache_subpath(source))
        self.line = line

    def get_cache_path(self) -> str:
        return self.path

    def ensure_cache_path(self) -> None:
        """Do nothing: the folder is created when there is something to write."""

    def get_source_stamp(self) -> str:
        """Nothing: `KernelCache` gets its stamp when it is made."""
        return ""

    def get_disambiguator(self) -> str:
        return str(self.line)

    @classmethod
    def from_function(cls, function: Any, source: str) -> CacheFolder | None:
        """None for a function without a source file, as at a prompt: no stamp would notice that it changed."""
        return cls(source, function.__code__.co_firstlineno) if os.path.exists(source) else None


class KernelFormat(CompileResultCacheImpl):
    """Numba's conversion of compiled functions to picklable objects and back."""

    _locator_classes = [CacheFolder]  # noqa: RUF012


class KernelCache(FunctionCache):
    """The cache of one kernel, for Numba's dispatcher. RuntimeError if the function has no source file.

    Parameters
    ----------
    function : callable
        The function that is compiled.
    stamp : str
        What its machine code depends on, besides the versions of Python and Numba.
    find_installed : callable, optional
        Returns the installed file of a kernel, given its name, `stamp` and the whole stamp (`swvp.baseline`).
    """

    _impl_class = KernelFormat

    def __init__(self, function: Callable[..., Any], stamp: str, find_installed: FindInstalled = lambda *_: None):
        super().__init__(function)
        path = Path(self._cache_path) / f"{self._impl.filename_base}.code"
        versions = f"python {sys.version_info[:2]} numba {numba.__version__} {stamp}"
        self._cache_file: Any = CodeFile(path, versions)
        self._kernel = f"{function.__module__}.{function.__qualname__}".removeprefix("swvp.")
        self._is_own = function.__module__.startswith("swvp.")
        self._find_installed = functools.partial(
            find_installed, installed_name(function.__module__, path.name), stamp, versions
        )

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """The compiled function for these argument types, or None if it has to be compiled."""
        prepare(target_context, everything=not self._is_own)
        try:
            with self._guard_against_spurious_io_errors():
                loaded = self._load_overload(signature, target_context)
        except Exception:  # for instance, a class that the pickle names does not exist any more
            self._cache_file.flush()
            loaded = None
        if loaded is None:
            loaded = self._load_installed(signature, target_context)
        if loaded is None:  # Numba compiles now
            load_arrays_of_numba()
            report_start(self._kernel)
        else:
            report_load(self._kernel)
        return loaded

    def _load_installed(self, signature: Any, target_context: Any) -> Any:
        """The function that is compiled in the installed package, or None."""
        file = self._find_installed()
        if file is None:
            return None
        try:
            saved = file.load(self._index_key(signature, target_context.codegen()))
            return None if saved is None else self._impl.rebuild(target_context, saved)
        except Exception:  # as in `load_overload`
            return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Write the machine code for these argument types, which Numba has just compiled."""
        report_end(self._kernel)
        super().save_overload(signature, compiled)


def prepare(target_context: Any, *, everything: bool) -> None:
    """Make Numba ready to load machine code.

    Numba's own cache first imports and registers all that it can compile, which takes longer than loading. The kernels
    of swvp need only the functions that count references; what users wrote may need more, such as the secret numbers
    of hash tables.
    """
    if everything:
        load_arrays_of_numba()
        target_context.refresh()
    else:
        rtsys.initialize(target_context)


def installed_name(module: str, file: str) -> str:
    """The name of a kernel's file in the installed package: the folder of its module and its name in the cache.

    >>> installed_name("swvp.structures.chain.beam", "beam.search-12.py311.code")
    'structures.chain.beam.search-12.py311.code'
    """
    folder = module.removeprefix("swvp.").rpartition(".")[0]
    return f"{folder}.{file}" if folder else file


@functools.cache
def load_arrays_of_numba() -> None:
    """Import Numba's array functions without SciPy's linear algebra.

    Numba imports it only to see whether there is a BLAS, which takes as long as the rest of Numba. SciPy is installed
    with swvp, so there is one. A placeholder answers that question and is gone afterwards; a kernel that multiplies
    matrices imports the real module. With other threads, which might need it just then, Numba imports as usual.
    """
    name = "scipy.linalg.cython_blas"
    if name in sys.modules or threading.active_count() > 1:
        return
    placeholder = sys.modules[name] = types.ModuleType(name)
    try:
        importlib.import_module("numba.np.arraymath")
    except ImportError:  # another version of Numba, with other modules: it imports what it needs
        pass
    finally:
        if sys.modules.get(name) is placeholder:
            del sys.modules[name]


class CodeFile:
    """The file of one kernel: pickled machine code by argument types and processor."""

    def __init__(self, path: Path, stamp: str):
        self.path = path
        self.stamp = stamp.encode() + b"\n"

    def load(self, key: Any) -> Any:
        """The object saved under this key, or None."""
        code = self._entries().get(key)
        return None if code is None else pickle.loads(code)

    def save(self, key: Any, data: Any) -> None:
        """Add or replace an entry; if the file cannot be written, warn and continue."""
        body = self.stamp + dumps(self._entries() | {key: dumps(data)})
        try:
            create_private(self.path.parent)
            check_private(self.path.parent)
            write_private(self.path, MAGIC + hashlib.sha256(body).digest() + body)
            self._remove_stale()
        except OSError as error:
            self._warn(error)

    def flush(self) -> None:
        """Remove the file."""
        with contextlib.suppress(OSError):
            self.path.unlink()

    def _remove_stale(self) -> None:
        """Remove files of older versions of the same source: their kernels may have other names and lines now."""
        module, *_, python, ending = self.path.name.split(".")
        for other in self.path.parent.glob(f"{glob.escape(module)}.*.{python}.{ending}"):
            with contextlib.suppress(OSError):  # another process may do the same
                with other.open("rb") as file:
                    head = file.read(HEAD + len(self.stamp))
                if head[HEAD:] != self.stamp:
                    other.unlink()

    def _content(self) -> bytes:
        check_private(self.path.parent)
        return read_private(self.path)

    def _warn(self, error: OSError) -> None:
        warn_once(error, self.path.parent.parent)

    def _entries(self) -> dict[Any, bytes]:
        """All entries; none if the file is missing, damaged, stale, or could have been written by others."""
        try:
            content = self._content()
        except FileNotFoundError:
            return {}
        except OSError as error:
            self._warn(error)
            return {}
        body = content[HEAD:]
        if content[:HEAD] != MAGIC + hashlib.sha256(body).digest() or not body.startswith(self.stamp):
            return {}
        try:
            entries: dict[Any, bytes] = pickle.loads(body[len(self.stamp) :])
        except Exception:  # its argument types may name classes that do not exist any more
            return {}
        return entries


FindInstalled = Callable[[str, str, str], CodeFile | None]


class DistrustedError(OSError):
    """A file or folder of the cache that somebody else could have changed."""


def check_private(folder: Path, owner: int = 0) -> None:
    """Raise DistrustedError if others can change what is in a folder of the cache, or put another in its place.

    Root, this user and `owner` are not others.
    """
    above = folder.parent.stat()
    check_owner_and_mode(folder.parent, above, owner, shared=bool(above.st_mode & stat.S_ISVTX))  # sticky, as /tmp is
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise DistrustedError(f"{folder} is not a folder")
    check_owner_and_mode(folder, status, owner)


def check_owner_and_mode(path: Path, status: os.stat_result, owner: int, *, shared: bool = False) -> None:
    if not hasattr(os, "geteuid"):  # Windows: the folder is in the user's profile, which others cannot write
        return
    if status.st_uid not in (os.geteuid(), 0, owner):
        raise DistrustedError(f"{path} belongs to another user")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not shared:
        raise DistrustedError(f"other users may write to {path}")


def create_private(folder: Path) -> None:
    """Create a folder and those above it that are missing, for this user only."""
    for path in reversed([folder, *folder.parents]):
        if not path.exists():
            with contextlib.suppress(FileExistsError):  # another process was faster
                path.mkdir(mode=0o700)
                path.chmod(0o700)


def read_private(path: Path, owner: int = 0) -> bytes:
    """The bytes of a file that only this user, root or `owner` can have written."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise DistrustedError(f"{path} is not a file")
        check_owner_and_mode(path, status, owner)
        return file.read()


def write_private(path: Path, content: bytes) -> None:
    """Write a file with mode 0600; readers see the old content or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


problems: list[str] = []
"""Why machine code could not be cached: the first problem of the process."""


def cache_problem() -> str | None:
    """Return why machine code cannot be cached; None if it can, as far as is known before it is tried."""
    if not problems:
        root = Path(cache_folder())
        try:
            create_private(root)
            with tempfile.TemporaryDirectory(dir=root) as folder:
                check_private(Path(folder))
                write_private(Path(folder, "probe"), bytes(100_000))
        except OSError as error:
            return problem_of(error, root)
    return problems[0] if problems else None


def problem_of(error: OSError, root: Path) -> str:
    return str(error) if isinstance(error, DistrustedError) else f"{root}: {error.strerror or error}"


def warn_once(error: OSError, root: Path) -> None:
    """Warn about the first problem of the process only; other files would give the same warning."""
    if not problems:
        what = problem_of(error, root)
        problems.append(what)
        warnings.warn(
            f"machine code cannot be cached, each start compiles again: {what}; set NUMBA_CACHE_DIR to another folder",
            RuntimeWarning,
            stacklevel=2,
        )
