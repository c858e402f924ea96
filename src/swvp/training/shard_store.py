"""The arrays of shards on disk, memory-mapped: a file for each block of a shard, named by a digest of what made it.

A file is written whole or not at all. Its checksums are verified when a process opens it for the first time; a file
that is damaged counts as missing and is built again. The arrays are mapped copy-on-write, so kernels take them as they
take other arrays, and nothing they do can reach the disk.
"""

from __future__ import annotations

import hashlib
import shutil
import threading
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.cluster import task
from swvp.errors import InputError
from swvp.io.container import DTYPES, HEAD, DamagedError, check_sizes, padding, parse_manifest, size_of, write_container

__all__ = ["Arrays", "ShardStore", "digest_of", "flattened", "put_in"]

KIND = "shard"
WORDS = np.dtype("<u8")
"""Containers have no unsigned numbers of 64 bits: they are stored as signed ones."""

Arrays = dict[str, NDArray[Any]]
verified: set[tuple[str, int, int]] = set()
lock = threading.Lock()


class ShardStore:
    """A folder with the arrays of shards; by default one of the worker that runs the task, on its own disk."""

    def __init__(self, folder: str | None = None):
        folder = task.local_folder() if folder is None else folder
        if folder is None:
            raise InputError("the arrays of shards need a folder")
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        return self.folder / f"{key}.shard"

    def write(self, key: str, arrays: Arrays) -> None:
        """Write arrays, all of which are contiguous afterwards."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write {self.folder}: {error.strerror or error}") from None
        words = [name for name, array in arrays.items() if array.dtype == WORDS]
        stored = {name: array.view("<i8") if name in words else array for name, array in arrays.items()}
        write_container(self.path(key), KIND, {"key": key, "words": words}, stored)

    def open(self, key: str) -> Arrays | None:
        """The arrays of a key, or None if they are not there or damaged."""
        path = self.path(key)
        try:
            with path.open("rb") as file:
                status = path.stat()
                manifest, length = parse_manifest(file, status.st_size)
            check_sizes(manifest["arrays"], HEAD.size + length, status.st_size)
            if manifest["kind"] != KIND or manifest["meta"]["key"] != key:
                return None
            arrays = mapped(path, manifest, HEAD.size + length)
        except (OSError, DamagedError, KeyError):
            return None
        identity = (str(path), status.st_size, status.st_mtime_ns)
        with lock:
            is_known = identity in verified
        if not is_known:
            checksums = {entry["name"]: entry["crc32"] for entry in manifest["arrays"]}
            for name, array in arrays.items():
                if zlib.crc32(array.reshape(-1).view(np.uint8).data) != checksums[name]:
                    return None
            with lock:
                verified.add(identity)
        for name in manifest["meta"]["words"]:
            arrays[name] = arrays[name].view(WORDS)
        return arrays

    def has(self, key: str) -> bool:
        """Whether the arrays of a key are there, and whole."""
        return self.open(key) is not None

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


def mapped(path: Path, manifest: dict[str, Any], position: int) -> Arrays:
    """The arrays of a container, mapped into memory; those without elements are not."""
    arrays: Arrays = {}
    for entry in manifest["arrays"]:
        position += padding(position)
        shape, dtype = tuple(entry["shape"]), DTYPES[entry["dtype"]]
        if size_of(entry):
            arrays[entry["name"]] = np.asarray(np.memmap(path, dtype, "c", position, shape))
        else:
            arrays[entry["name"]] = np.zeros(shape, dtype)
        position += size_of(entry)
    return arrays


def digest_of(*parts: object) -> str:
    """A digest of texts, numbers and arrays."""
    digest = hashlib.sha256()
    for part in parts:
        block = part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode()
        digest.update(f"{len(block)} ".encode())
        digest.update(block)
    return digest.hexdigest()[:40]


def flattened(problem: Any, prefix: str = "") -> Arrays:
    """The arrays of a problem by their names, those of nested tuples with a dot: nodes.atoms."""
    arrays: Arrays = {}
    for name in problem._fields:
        value = getattr(problem, name)
        if isinstance(value, np.ndarray):
            arrays[prefix + name] = value
        elif hasattr(value, "_fields"):
            arrays |= flattened(value, f"{prefix}{name}.")
    return arrays


def put_in(problem: Any, arrays: Arrays) -> Any:
    """The problem with these arrays at their names."""
    changed: dict[str, Any] = {}
    for name, array in arrays.items():
        first, dot, rest = name.partition(".")
        if dot:
            changed.setdefault(first, {})[rest] = array
        else:
            changed[first] = array
    values = {
        name: put_in(getattr(problem, name), value) if isinstance(value, dict) else value
        for name, value in changed.items()
    }
    return problem._replace(**values)
