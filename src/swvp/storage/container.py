"""Owns the model file: a JSON manifest and arrays in one file, safe to read from anyone.

    8 bytes    b"SWVPFILE"
    4 bytes    version of this layout
    4 bytes    CRC-32 of the manifest
    8 bytes    length of the manifest
    …          the manifest: {"kind", "meta", "arrays": [{"name", "dtype", "shape", "crc32"}]}, UTF-8
    …          the arrays in that order, C order, each beginning at the next multiple of 64

All numbers are little-endian. Where an array lies follows from those before it, so arrays cannot overlap, and the
file must end with the last one, so no length can be made up. Nothing in it is code.
"""

from __future__ import annotations

import json
import math
import mmap
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.storage.files import write_whole

__all__ = ["Contents", "kind_of", "read_container", "write_container"]

MAGIC = b"SWVPFILE"
VERSION = 1
HEAD = struct.Struct("<8sIIQ")
ALIGNED = 64
MOST = 2**48
LARGEST = np.float64(1e100)  # sums of numbers up to this are finite
DTYPES = {name: np.dtype(name) for name in ("<f8", "<f4", "<i8", "<i4", "<u4", "<u2", "|u1")}


class Contents(NamedTuple):
    """What a file holds: its kind, its description, and its arrays, which are views of the file."""

    kind: str
    meta: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def write_container(path: Path, kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the file whole or not at all."""
    entries: list[dict[str, Any]] = []
    blocks: list[memoryview] = []
    for name, array in arrays.items():
        dtype = next(name for name, known in DTYPES.items() if known == array.dtype)
        block = np.ascontiguousarray(array, DTYPES[dtype]).reshape(-1).view(np.uint8).data
        entries.append({"name": name, "dtype": dtype, "shape": list(array.shape), "crc32": zlib.crc32(block)})
        blocks.append(block)
    manifest = json.dumps({"kind": kind, "meta": meta, "arrays": entries}, ensure_ascii=False, allow_nan=False).encode()
    parts: list[bytes | memoryview] = [HEAD.pack(MAGIC, VERSION, zlib.crc32(manifest), len(manifest)), manifest]
    position = HEAD.size + len(manifest)
    for block in blocks:
        parts += [b"\0" * padding(position), block]
        position += padding(position) + len(block)
    write_whole(path, parts)


def padding(position: int) -> int:
    return -position % ALIGNED


def read_container(path: str | Path, kind: str) -> Contents:
    """Read a file of this kind; whatever is wrong with it is one clear error."""
    content = contents_of(path)
    try:
        return parse(content, kind)
    except DamagedError as error:
        raise InputError(f"{path}: {error}") from None


def kind_of(path: str | Path) -> str:
    """The kind of model that a file holds."""
    content = contents_of(path)
    try:
        return str(parse_manifest(content)[0]["kind"])
    except DamagedError as error:
        raise InputError(f"{path}: {error}") from None


def contents_of(path: str | Path) -> memoryview:
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)) if size else memoryview(b"")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


class DamagedError(Exception):
    """What is wrong with a file."""


def parse_manifest(content: memoryview) -> tuple[dict[str, Any], int]:
    """The description of a file, checked, and its length."""
    if len(content) < HEAD.size or bytes(content[:8]) != MAGIC:
        raise DamagedError("not a model file of swvp")
    _, version, crc, length = HEAD.unpack(content[: HEAD.size])
    if version != VERSION:
        raise DamagedError(
            f"written in version {version} of the file layout, this swvp reads {VERSION}: use a newer swvp"
        )
    if length > len(content) - HEAD.size:
        raise DamagedError("cut off: its description is longer than the file")
    text = content[HEAD.size : HEAD.size + length]
    if zlib.crc32(text) != crc:
        raise DamagedError("damaged: its description does not have its checksum")
    try:
        manifest = json.loads(
            bytes(text), object_pairs_hook=without_duplicates, parse_constant=refuse_constant, parse_float=finite
        )
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"damaged: its description cannot be read ({error})") from None
    check_manifest(manifest)
    return manifest, length


def parse(content: memoryview, kind: str) -> Contents:
    manifest, length = parse_manifest(content)
    if manifest["kind"] != kind:
        raise DamagedError(f"a model of the kind '{manifest['kind']}', not '{kind}'")
    arrays: dict[str, NDArray[Any]] = {}
    position = HEAD.size + length
    for entry in manifest["arrays"]:
        position += padding(position)
        dtype, shape = DTYPES[entry["dtype"]], tuple(entry["shape"])
        end = position + math.prod(shape) * dtype.itemsize
        if 0 in shape and math.prod(filter(None, shape)) >= MOST:
            raise DamagedError(f"damaged: its array '{entry['name']}' cannot have that shape")
        if end > len(content):
            raise DamagedError(f"cut off: its array '{entry['name']}' ends beyond the file")
        block = content[position:end]
        if zlib.crc32(block) != entry["crc32"]:
            raise DamagedError(f"damaged: its array '{entry['name']}' does not have its checksum")
        array = np.frombuffer(block, dtype).reshape(shape)
        if dtype.kind == "f" and not (np.abs(array) <= LARGEST).all():
            raise DamagedError(f"its array '{entry['name']}' holds NaN, infinity or numbers beyond {LARGEST:g}")
        arrays[entry["name"]] = array
        position = end
    if position != len(content):
        raise DamagedError("damaged: something follows its last array")
    return Contents(kind, manifest["meta"], arrays)


def check_manifest(manifest: Any) -> None:
    """The description must be just what `write_container` writes."""
    sound = isinstance(manifest, dict) and set(manifest) == {"kind", "meta", "arrays"}
    sound = sound and isinstance(manifest["kind"], str) and isinstance(manifest["meta"], dict)
    sound = sound and isinstance(manifest["arrays"], list) and all(map(is_entry, manifest["arrays"]))
    if not sound:
        raise DamagedError("damaged: its description is not one")
    names = [entry["name"] for entry in manifest["arrays"]]
    if len(set(names)) < len(names):
        raise DamagedError("damaged: two of its arrays have the same name")


def is_entry(entry: Any) -> bool:
    if not (isinstance(entry, dict) and set(entry) == {"name", "dtype", "shape", "crc32"}):
        return False
    shape = entry["shape"]
    whole = (
        isinstance(shape, list) and len(shape) <= 4 and all(type(size) is int and 0 <= size < MOST for size in shape)
    )
    return whole and isinstance(entry["name"], str) and entry["dtype"] in list(DTYPES) and type(entry["crc32"]) is int


def without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice")
    return found


def refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")


def finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else refuse_constant(text)
