"""Model files: what was written comes back, and nothing else is taken for a model."""

import os
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

from helpers.containers import ONE, entry, forged, manifest
from swvp.errors import InputError
from swvp.io import container
from swvp.io.container import HEAD, MAGIC, kind_of, read_container, write_container

META = {"name": "é", "list": [1, 2.5, None], "nested": {"a": True}}
ARRAYS = {
    "weights": np.arange(12.0).reshape(3, 4),
    "transposed": np.arange(12.0).reshape(3, 4).T,
    "every second": np.arange(10, dtype=np.int64)[::2],
    "empty": np.zeros((0, 3), np.float32),
    "bytes": np.arange(5, dtype=np.uint8),
    "number": np.array(7, np.uint32),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model"
    write_container(path, "tagger", META, ARRAYS)
    return path


def test_what_was_written_comes_back(path):
    contents = read_container(path, "tagger")
    assert contents.meta == META
    assert list(contents.arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(contents.arrays[name], array)
        assert contents.arrays[name].dtype == array.dtype
        assert contents.arrays[name].ctypes.data % 64 == 0 or not array.size


def test_the_same_contents_are_the_same_bytes(path, tmp_path):
    write_container(tmp_path / "again", "tagger", META, ARRAYS)
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_arrays_cannot_be_changed_by_accident(path):
    with pytest.raises(ValueError, match="read-only"):
        read_container(path, "tagger").arrays["weights"][0, 0] = 1


def test_every_truncation_is_refused(path):
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        with pytest.raises(InputError, match=r"not a model file|cut off|damaged"):
            read_container(path, "tagger")


def test_every_changed_byte_is_refused_or_lies_between_the_arrays(path):
    content = path.read_bytes()
    original = read_container(path, "tagger")
    rng = np.random.default_rng(0)
    for position in range(len(content)):
        changed = bytearray(content)
        changed[position] ^= int(rng.integers(1, 256))
        path.write_bytes(changed)
        try:
            contents = read_container(path, "tagger")
        except InputError:
            continue
        assert content[position] == 0  # padding: nobody reads it
        assert contents.meta == original.meta
        for name in ARRAYS:
            np.testing.assert_array_equal(contents.arrays[name], original.arrays[name])


def test_random_bytes_are_refused(tmp_path):
    rng = np.random.default_rng(1)
    for size in (0, 1, 8, 24, 100, 5000):
        for start in (b"", MAGIC, MAGIC + struct.pack("<I", 1)):
            (tmp_path / "noise").write_bytes(start + rng.bytes(size))
            with pytest.raises(InputError):
                read_container(tmp_path / "noise", "tagger")


NAN = struct.pack("<d", float("nan"))
HUGE = struct.pack("<d", 1.7e308)
ENDLESS = struct.pack("<f", float("inf"))


def test_the_forger_can_make_a_good_file(tmp_path):
    (tmp_path / "model").write_bytes(forged(manifest(entry()), ONE))
    assert read_container(tmp_path / "model", "tagger").arrays["w"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (forged(manifest(entry(shape=[2**40])), ONE), "cut off"),
        (forged(manifest(entry(shape=[2**47, 2**47, 2**47, 2**47])), ONE), "cut off"),
        (forged(manifest(entry(shape=[2**60])), ONE), "its description is not one"),
        (forged(manifest(entry(shape=[-1])), ONE), "its description is not one"),
        (forged(manifest(entry(shape=[True])), ONE), "its description is not one"),
        (forged(manifest(entry(shape=[1.0])), ONE), "its description is not one"),
        (forged(manifest(entry(dtype="O")), ONE), "its description is not one"),
        (forged(manifest(entry(dtype=["<f8"])), ONE), "its description is not one"),
        (forged(manifest(entry(offset=0)), ONE), "its description is not one"),
        (forged(manifest(entry(), entry()), ONE + b"\0" * 56 + ONE), "two of its arrays have the same name"),
        (forged(manifest(entry(crc32=zlib.crc32(NAN))), NAN), "holds NaN, infinity or numbers beyond 1e[+]100"),
        (forged(manifest(entry(crc32=zlib.crc32(HUGE))), HUGE), "holds NaN, infinity or numbers beyond 1e[+]100"),
        (forged(manifest(entry(dtype="<f4", crc32=zlib.crc32(ENDLESS))), ENDLESS), "holds NaN, infinity or numbers"),
        (forged(manifest(entry(crc32=5)), ONE), "does not have its checksum"),
        (forged(manifest(entry()), ONE + b"more"), "something follows its last array"),
        (forged(manifest(kind="parser")), "a model of the kind 'parser', not 'tagger'"),
        (forged([1, 2]), "its description is not one"),
        (forged({"kind": "tagger"}), "its description is not one"),
        (forged(b'{"kind": "a", "kind": "b"}'), "a name comes twice"),
        (forged(b'{"kind": NaN}'), "is no number"),
        (forged(b"[" * 100_000), "cannot be read"),
        (forged(b"\xff\xfe"), "cannot be read"),
        (HEAD.pack(MAGIC, 2, 0, 0), "version 2 of the file layout, this swvp reads 1: use a newer swvp"),
        (HEAD.pack(MAGIC, 0, 0, 0), "version 0 of the file layout, which this swvp cannot read: train again"),
        (HEAD.pack(MAGIC, 1, 0, 2**63), "cut off"),
        (b"PK\x03\x04" + b"\0" * 100, "not a model file"),
    ],
)
def test_hostile_files_are_refused(tmp_path, content, message):
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_container(tmp_path / "model", "tagger")
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        read_container(tmp_path / "nowhere", "tagger")


def test_an_older_layout_is_migrated(tmp_path, monkeypatch):
    """A layout that said "type" for kind, say."""
    (tmp_path / "model").write_bytes(forged({"type": "tagger", "meta": {}, "arrays": [entry()]}, ONE))
    monkeypatch.setattr(container, "VERSION", 2)
    monkeypatch.setattr(container, "MIGRATIONS", {1: lambda old: {"kind": old.pop("type"), **old}})
    assert kind_of(tmp_path / "model") == "tagger"
    assert read_container(tmp_path / "model", "tagger").meta == {}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (lambda meta: set(ARRAYS) - {"bytes"}, "it has an array 'bytes' that nobody reads"),
        (lambda meta: {*ARRAYS, "more"}, "it lacks its array 'more'"),
        (lambda meta: meta["missing"], "KeyError"),
    ],
)
def test_arrays_that_are_not_the_expected_ones_are_refused(path, names, message):
    with pytest.raises(InputError, match=message):
        read_container(path, "tagger", names)


def test_arrays_that_nobody_reads_are_not_looked_at(path, monkeypatch):
    monkeypatch.setattr(container, "read_block", None)
    with pytest.raises(InputError, match="that nobody reads"):
        read_container(path, "tagger", lambda meta: [])


def test_a_pipe_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        read_container(tmp_path / "pipe", "tagger")


TRUNCATE = """
import os, sys, zlib
from swvp.io import container

class CutOff:
    def crc32(block):
        os.truncate(sys.argv[1], 100)
        return zlib.crc32(block)

container.zlib = CutOff
try:
    contents = container.read_container(sys.argv[1], "tagger")
    print(sum(float(array.sum()) for array in contents.arrays.values()))
except container.InputError as error:
    print(error)
"""


def test_a_file_that_is_cut_off_while_it_is_read_does_not_end_the_process(tmp_path):
    """A mapped file would: reading beyond its new end is a SIGBUS."""
    write_container(tmp_path / "model", "tagger", {}, {"a": np.ones(10**5), "b": np.ones(10**5)})
    done = subprocess.run(
        [sys.executable, "-c", TRUNCATE, tmp_path / "model"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert done.stdout.endswith("model: cut off while it was read\n")


def test_a_write_that_fails_leaves_the_old_file(path, monkeypatch):
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*: No space left on device"):
        write_container(path, "tagger", {}, {})
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["model"]


def test_a_description_that_is_no_json_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="JSON compliant"):
        write_container(tmp_path / "model", "tagger", {"x": float("nan")}, {})
    assert os.listdir(tmp_path) == []
