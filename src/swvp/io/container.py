"""The container of model files and checkpoints: a JSON manifest and arrays in one file, safe to read from anyone.

    8 bytes    b"SWVPFILE"
    4 bytes    version of this layout
    4 bytes    CRC-32 of the manifest
    8 bytes    length of the manifest
    …          the manifest: {"kind", "meta", "arrays": [{"name", "dtype", "shape", "crc32"}]}, UTF-8
    …          the arrays in that order, C order, each beginning at the next multiple of 64

All numbers are little-endian. The position of an array follows from those before it, so arrays cannot overlap. The
file ends with the last array, so no length can be forged. Nothing in the file is code.

A file is read, not memory-mapped: if another process truncates it meanwhile, that is an error, not a crash. The
manifest is checked before the arrays are read, so that unexpected arrays take no memory.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
import struct
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.files import write_whole

__all__ = ["ArrayNames", "Contents", "kind_of", "read_container", "write_container"]

MAGIC = b"SWVPFILE"
VERSION = 1
HEAD = struct.Struct("<8sIIQ")
ALIGNED = 64
MAX_ELEMENTS = 2**48
BLOCK = 2**20
LARGEST = np.float64(1e100)  # sums of numbers up to this are finite
OUT_OF_RANGE = f"NaN, infinity or numbers beyond {LARGEST:g}"
DTYPES = {name: np.dtype(name) for name in ("<f8", "<f4", "<i8", "<i4", "<u4", "<u2", "|u1", "<f2")}


MIGRATIONS: dict[int, Callable[[Any], Any]] = {}
"""Functions that turn the manifest of an older version of this layout into that of the next, by the older version."""

HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")

Result = TypeVar("Result")
ArrayNames = Callable[[dict[str, Any]], Collection[str]]
"""A function that returns the names of the arrays of a file, given its `meta`."""


class Contents(NamedTuple):
    """The contents of a file: its kind, its `meta`, and its arrays, which are read-only."""

    kind: str
    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write_container(path: Path, kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write a file atomically; raise InputError for contents that `read_container` would not accept."""
    entries: list[dict[str, Any]] = []
    blocks: list[memoryview] = []
    for name, array in arrays.items():
        dtype = next(name for name, known in DTYPES.items() if known == array.dtype)
        array = np.ascontiguousarray(array, DTYPES[dtype])
        if not in_range(array):
            raise InputError(f"cannot write {path}: its array '{name}' would hold {OUT_OF_RANGE}")
        block = array.reshape(-1).view(np.uint8).data
        entries.append({"name": name, "dtype": dtype, "shape": list(arrays[name].shape), "crc32": zlib.crc32(block)})
        blocks.append(block)
    manifest = json.dumps({"kind": kind, "meta": meta, "arrays": entries}, ensure_ascii=False, allow_nan=False).encode()
    parts: list[bytes | memoryview] = [HEAD.pack(MAGIC, VERSION, zlib.crc32(manifest), len(manifest)), manifest]
    position = HEAD.size + len(manifest)
    for block in blocks:
        parts += [b"\0" * padding(position), block]
        position += padding(position) + len(block)
    write_whole(path, parts)


def padding(position: int) -> int:
    """Return the number of bytes from a position to the next multiple of ALIGNED."""
    return -position % ALIGNED


def read_container(path: str | Path, kind: str, names: ArrayNames | None = None) -> Contents:
    """Read a file of this kind; raise InputError, with the reason, if it is damaged or of another kind.

    `names` returns the names of its arrays. A file with other arrays is an error before any array is read.
    """
    return read(path, lambda file, size: parse(file, size, kind, names))


def kind_of(path: str | Path) -> str:
    """Return the kind of a model file, such as "tagger"."""
    return read(path, lambda file, size: str(parse_manifest(file, size)[0]["kind"]))


def read(path: str | Path, parse: Callable[[IO[bytes], int], Result]) -> Result:
    """Return what `parse` returns for an open file and its size; raise InputError for every problem."""
    try:
        with open(path, "rb", opener=open_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise DamagedError("not a regular file: a model cannot be read from a pipe or a device")
            return parse(file, status.st_size)
    except DamagedError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def open_at_once(path: str, flags: int) -> int:
    """Open a file; if it is a pipe, without waiting for its writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


class DamagedError(Exception):
    """Raised when a file is damaged; the message says how."""


def parse_manifest(file: IO[bytes], size: int) -> tuple[dict[str, Any], int]:
    """Return the checked manifest of a file and its length in bytes."""
    head = file.read(HEAD.size)
    if len(head) < HEAD.size or head[:8] != MAGIC:
        raise DamagedError("not a model file of swvp")
    _, version, crc, length = HEAD.unpack(head)
    if version > VERSION:
        raise DamagedError(
            f"written in version {version} of the file layout, this swvp reads {VERSION}: use a newer swvp"
        )
    if version < min(MIGRATIONS, default=VERSION):
        raise DamagedError(f"written in version {version} of the file layout, which this swvp cannot read: train again")
    if length > size - HEAD.size:
        raise DamagedError("cut off: its description is longer than the file")
    text = file.read(length)
    if len(text) < length:
        raise DamagedError("cut off while it was read")
    if zlib.crc32(text) != crc:
        raise DamagedError("damaged: its description does not have its checksum")
    try:
        manifest = json.loads(
            text, object_pairs_hook=without_duplicates, parse_constant=reject_constant, parse_float=finite
        )
        if HALF_CHARACTER.search(text):
            json.dumps(manifest, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise DamagedError("damaged: a text in its description has an unpaired surrogate") from None
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"damaged: its description cannot be read ({error})") from None
    for older in range(version, VERSION):
        manifest = MIGRATIONS[older](manifest)
    check_manifest(manifest)
    return manifest, length


LOADERS = {"tagger": "SequenceTagger", "parser": "DependencyParser", "pipeline": "Pipeline"}
"""The classes of `swvp` that load the kinds of models, for messages."""


def parse(file: IO[bytes], size: int, kind: str, names: ArrayNames | None) -> Contents:
    """Return the contents of an open file of `size` bytes; raise DamagedError if it is not sound."""
    manifest, length = parse_manifest(file, size)
    if manifest["kind"] != kind:
        loader = LOADERS.get(manifest["kind"])
        advice = "" if loader is None else f": load it with {loader}.load"
        raise DamagedError(f"a model of the kind '{manifest['kind']}', not '{kind}'{advice}")
    check_sizes(manifest["arrays"], HEAD.size + length, size)
    if names is not None:
        check_names(manifest, names)
    arrays: dict[str, NDArray[Any]] = {}
    position = HEAD.size + length
    for entry in manifest["arrays"]:
        position += padding(position)
        block = read_block(file, position, size_of(entry))
        if zlib.crc32(block.data) != entry["crc32"]:
            raise DamagedError(f"damaged: its array '{entry['name']}' does not have its checksum")
        array = block.view(DTYPES[entry["dtype"]]).reshape(entry["shape"])
        if not in_range(array):
            raise DamagedError(f"its array '{entry['name']}' holds {OUT_OF_RANGE}")
        array.flags.writeable = False
        arrays[entry["name"]] = array
        position += len(block)
    return Contents(kind, manifest["meta"], arrays)


def size_of(entry: dict[str, Any]) -> int:
    """Return the number of bytes of an array."""
    return int(math.prod(entry["shape"]) * DTYPES[entry["dtype"]].itemsize)


def check_sizes(entries: list[dict[str, Any]], position: int, size: int) -> None:
    """Raise DamagedError unless the arrays, which begin after `position`, end with the file."""
    for entry in entries:
        if 0 in entry["shape"] and math.prod(filter(None, entry["shape"])) >= MAX_ELEMENTS:
            raise DamagedError(f"damaged: its array '{entry['name']}' cannot have that shape")
        position += padding(position) + size_of(entry)
        if position > size:
            raise DamagedError(f"cut off: its array '{entry['name']}' ends beyond the file")
    if position != size:
        raise DamagedError("damaged: something follows its last array")


def check_names(manifest: dict[str, Any], names: ArrayNames) -> None:
    """Raise DamagedError unless the file has exactly the arrays that its `meta` requires."""
    try:
        expected = set(names(manifest["meta"]))
    except InputError as error:
        raise DamagedError(str(error)) from None
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise DamagedError(f"its parts do not fit together ({type(error).__name__}: {error})") from None
    present = {entry["name"] for entry in manifest["arrays"]}
    if present - expected:
        extra = min(present - expected)
        raise DamagedError(f"its parts do not fit together (it has an array '{extra}' that nobody reads)")
    if expected - present:
        raise DamagedError(f"its parts do not fit together (it lacks its array '{min(expected - present)}')")


def read_block(file: IO[bytes], position: int, size: int) -> NDArray[np.uint8]:
    """Return `size` bytes of a file from `position` on, at an address that is a multiple of ALIGNED."""
    buffer = np.empty(size + ALIGNED, np.uint8)
    block = buffer[-buffer.ctypes.data % ALIGNED :][:size]
    file.seek(position)
    if file.readinto(block.data) < size:  # type: ignore[attr-defined]
        raise DamagedError("cut off while it was read")
    return block


def in_range(array: NDArray[Any]) -> bool:
    """Return whether all numbers of an array are finite and at most LARGEST; in blocks, which bounds the memory."""
    if array.dtype.kind != "f":
        return True
    flat = array.reshape(-1)
    return all((np.abs(flat[k : k + BLOCK]) <= LARGEST).all() for k in range(0, len(flat), BLOCK))


def check_manifest(manifest: Any) -> None:
    """Raise DamagedError unless the manifest has the fields and types that `write_container` writes."""
    sound = isinstance(manifest, dict) and set(manifest) == {"kind", "meta", "arrays"}
    sound = sound and isinstance(manifest["kind"], str) and isinstance(manifest["meta"], dict)
    sound = sound and isinstance(manifest["arrays"], list) and all(map(is_entry, manifest["arrays"]))
    if not sound:
        raise DamagedError("damaged: its description is not one")
    names = [entry["name"] for entry in manifest["arrays"]]
    if len(set(names)) < len(names):
        raise DamagedError("damaged: two of its arrays have the same name")


def is_entry(entry: Any) -> bool:
    """Return whether an entry of the manifest describes an array."""
    if not (isinstance(entry, dict) and set(entry) == {"name", "dtype", "shape", "crc32"}):
        return False
    shape = entry["shape"]
    whole = (
        isinstance(shape, list)
        and len(shape) <= 4
        and all(type(size) is int and 0 <= size < MAX_ELEMENTS for size in shape)
    )
    return whole and isinstance(entry["name"], str) and entry["dtype"] in list(DTYPES) and type(entry["crc32"]) is int


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object as a dict; raise ValueError if a name comes twice."""
    unique = dict(pairs)
    if len(unique) < len(pairs):
        raise ValueError("a name comes twice")
    return unique


def reject_constant(name: str) -> float:
    """Raise ValueError for NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{name} is no number")


def finite(text: str) -> float:
    """Return a number; raise ValueError if it is too large for a float."""
    number = float(text)
    return number if math.isfinite(number) else reject_constant(text)
