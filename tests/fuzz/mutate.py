"""Random changes of a container with right checksums: of its manifest, its arrays, its bytes.

It reads and writes files by itself, so that it can write what swvp would not.
"""

from __future__ import annotations

import copy
import json
import math
import struct
import zlib
from typing import Any, NamedTuple

import numpy as np

HEAD = struct.Struct("<8sIIQ")
SIZES = {"<f8": 8, "<f4": 4, "<i8": 8, "<i4": 4, "<u4": 4, "<u2": 2, "<f2": 2, "|u1": 1}

NUMBERS = [0, 1, -1, 2, 7, 64, 255, 256, 1000, 2**16, 2**28, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**400]
FLOATS = [0.0, -0.0, 0.5, 1.0, -1.0, 1e-320, 1e30, 1e100, 1e101, 1e300, -1e300]
TEXTS = ["", " ", "x", "word", "_", "crf", "csp", "mira:3", "\0", "\x1b[31m", "\ud800", "é", "‮", "a\nb", "9" * 50]
TEXTS += ["h.pos & m.pos", "word[0]", "bias", "s.pos & h.pos", "x" * 5000, "[]", "None"]
VALUES = [None, True, False, [], {}, [[]], [None], ["x"], {"x": 1}, *NUMBERS, *FLOATS, *TEXTS]
DATA = [0.0, 1.0, -1.0, 1e-320, 1e100, 1e101, math.inf, -math.inf, math.nan]


class Parts(NamedTuple):
    """A file taken apart: the description, and the bytes of each array in its order."""

    manifest: dict[str, Any]
    blocks: list[bytes]


def taken_apart(content: bytes) -> Parts:
    """The parts of a sound file."""
    _, _, _, length = HEAD.unpack(content[: HEAD.size])
    manifest = json.loads(content[HEAD.size : HEAD.size + length])
    blocks, position = [], HEAD.size + length
    for entry in manifest["arrays"]:
        position += -position % 64
        size = math.prod(entry["shape"]) * SIZES[entry["dtype"]]
        blocks.append(content[position : position + size])
        position += size
    return Parts(manifest, blocks)


def put_together(parts: Parts, *, version: int = 1, repair: bool = True) -> bytes:
    """A file of these parts; `repair` gives its arrays their checksums."""
    manifest = copy.deepcopy(parts.manifest)
    entries = manifest.get("arrays")
    for entry, block in zip(entries if repair and isinstance(entries, list) else [], parts.blocks, strict=False):
        if isinstance(entry, dict):
            entry["crc32"] = zlib.crc32(block)
    text = json.dumps(manifest).encode()
    content = HEAD.pack(b"SWVPFILE", version, zlib.crc32(text), len(text)) + text
    for block in parts.blocks:
        content += b"\0" * (-len(content) % 64) + block
    return content


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The file with one to three changes, mostly with right checksums."""
    parts = taken_apart(content)
    for _ in range(int(rng.integers(1, 4))):
        kind = rng.random()
        if kind < 0.55:
            meta = parts.manifest.get("meta")
            change_description(meta if isinstance(meta, (dict, list)) else parts.manifest, rng)
        elif kind < 0.97:
            change_arrays(parts, rng)
        else:
            change_description(parts.manifest, rng)
    version = 1 if rng.random() < 0.98 else int(rng.integers(0, 2**32))
    result = bytearray(put_together(parts, version=version, repair=rng.random() < 0.97))
    if rng.random() < 0.05:
        for place in rng.integers(0, len(result), int(rng.integers(1, 5))):
            result[place] = int(rng.integers(256))
    return bytes(result[: int(rng.integers(len(result)))] if rng.random() < 0.02 else result)


def pick(values: list[Any], rng: np.random.Generator) -> Any:
    return copy.deepcopy(values[int(rng.integers(len(values)))])


def change_description(root: Any, rng: np.random.Generator) -> None:
    """Change one thing somewhere in a tree of lists and dicts."""
    node = root
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            if isinstance(node, list):
                node.append(pick(VALUES, rng))
            else:
                node[pick(TEXTS, rng)] = pick(VALUES, rng)
            return
        key = keys[int(rng.integers(len(keys)))]
        if not isinstance(node[key], (dict, list)) or rng.random() < 0.25:
            break
        node = node[key]
    change_item(node, key, rng)


def change_item(node: Any, key: Any, rng: np.random.Generator) -> None:
    """Change one item of a list or dict."""
    old, what = node[key], int(rng.integers(7))
    if what == 0:
        del node[key]
    elif what == 1 and isinstance(node, list):
        node.insert(int(key), copy.deepcopy(old))
    elif what == 2:
        other = pick(list(node.values()) if isinstance(node, dict) else node, rng)
        node[key] = other
    elif what == 3 and type(old) in (int, float):
        other_type = float(min(max(old, -1e308), 1e308))  # an earlier change may have made a number too large for it
        node[key] = pick([old + 1, old - 1, -old, 2 * old, other_type, str(old), [old]], rng)
    elif what == 4 and isinstance(old, str):
        node[key] = pick([old + "x", old[:-1], old.upper(), old * 2, [old], pick(TEXTS, rng)], rng)
    elif what == 5 and isinstance(node, dict):
        node[pick(TEXTS, rng)] = node.pop(key)
    else:
        node[key] = pick(VALUES, rng)


def change_arrays(parts: Parts, rng: np.random.Generator) -> None:
    """Change one array: its numbers, its length, its type, its shape, its name, or whether it is there."""
    entries, blocks = parts.manifest.get("arrays"), parts.blocks
    if not (isinstance(entries, list) and entries and len(entries) == len(blocks)):
        return
    k = int(rng.integers(len(entries)))
    entry, block = entries[k], blocks[k]
    if not (isinstance(entry, dict) and entry.get("dtype") in SIZES and isinstance(entry.get("shape"), list)):
        return
    what = rng.random()
    if what < 0.5:
        blocks[k] = other_numbers(block, entry["dtype"], rng)
    elif what < 0.65:
        array = np.frombuffer(block, entry["dtype"])
        changed = [array[:-1], array[1:], np.concatenate([array, array]), np.concatenate([array, array[:1]]), array[:0]]
        array = pick(changed, rng)
        entry["shape"], blocks[k] = [len(array)], array.tobytes()
    elif what < 0.75:
        entry["dtype"] = pick([name for name in SIZES if SIZES[name] == SIZES[entry["dtype"]]], rng)
    elif what < 0.85:
        shape, size = entry["shape"], math.prod(entry["shape"])
        entry["shape"] = pick([[size], [1, size], [size, 1], shape[::-1], [*shape, 1], [0], [], [2**40, 0]], rng)
    elif what < 0.9:
        del entries[k], blocks[k]
    elif what < 0.95:
        entries.append(entry | {"name": pick(["more", "", entry["name"] + " places"], rng)})
        blocks.append(block)
    else:
        other = int(rng.integers(len(entries)))
        blocks[k], blocks[other] = blocks[other], blocks[k]
        for name in ("dtype", "shape"):
            entries[k][name], entries[other][name] = entries[other][name], entries[k][name]


def other_numbers(block: bytes, dtype: str, rng: np.random.Generator) -> bytes:
    """An array with some of its numbers changed."""
    array = np.frombuffer(block, dtype).copy()
    if not len(array):
        return block
    with np.errstate(all="ignore"):
        for place in rng.integers(0, len(array), int(rng.integers(1, 4))):
            if array.dtype.kind == "f":
                array[place] = pick(DATA, rng)
            else:
                limits = np.iinfo(array.dtype)
                near = int(array[place]) + int(rng.integers(-2, 3))
                value = pick([0, 1, near, len(array), len(array) - 1, limits.min, limits.max, 2**20], rng)
                array[place] = min(max(value, limits.min), limits.max)
        if rng.random() < 0.1:
            array[:] = array[0]
        elif rng.random() < 0.1:
            array = rng.permutation(array)
    return array.tobytes()
