"""Model files forged byte by byte."""

import json
import struct
import zlib

from swvp.io.container import HEAD, MAGIC, padding


def forged(manifest, blocks=b""):
    """A file with this manifest and a right checksum."""
    text = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    head = HEAD.pack(MAGIC, 1, zlib.crc32(text), len(text)) + text
    return head + b"\0" * padding(len(head)) + blocks


def entry(**changes):
    return {"name": "w", "dtype": "<f8", "shape": [1], "crc32": zlib.crc32(struct.pack("<d", 1.0))} | changes


def manifest(*entries, kind="tagger", meta=None):
    return {"kind": kind, "meta": {} if meta is None else meta, "arrays": list(entries)}


ONE = struct.pack("<d", 1.0)
