"""Files that a user names: plain, packed, standard streams, pipes."""

import errno
import gzip
import os
import sys
import threading

import pytest

from swvp.errors import InputError
from swvp.io import files
from swvp.io.files import read_bytes, write_bytes, write_whole


def test_what_is_written_is_read_back_and_packing_has_no_date(tmp_path):
    for name in ("plain", "packed.gz"):
        write_bytes(tmp_path / name, b"a O\n")
        assert read_bytes(tmp_path / name) == b"a O\n"
    first = (tmp_path / "packed.gz").read_bytes()
    assert gzip.decompress(first) == b"a O\n"
    write_bytes(tmp_path / "packed.gz", b"a O\n")
    assert (tmp_path / "packed.gz").read_bytes() == first
    assert sorted(os.listdir(tmp_path)) == ["packed.gz", "plain"]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_bytes(pipe, b"a O\n")
    reader.join(timeout=10)
    assert found == [b"a O\n"]
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


class Full:
    """A standard output on a disk without room."""

    buffer = property(lambda self: self)

    def isatty(self):
        return False

    def write(self, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_cannot_be_written_or_read_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(InputError, match=r"cannot write -: No space left on device"):
        write_bytes("-", b"x")
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(sys, stream, None)  # closed by the shell: <&-
    with pytest.raises(InputError, match="there is no standard input"):
        read_bytes("-")
    with pytest.raises(InputError, match="there is no standard output"):
        write_bytes("-", b"x")
    with pytest.raises(InputError, match=r"cannot write .*: Is a directory"):
        write_bytes(tmp_path, b"x")
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        read_bytes(tmp_path)
    with pytest.raises(InputError, match=r"cannot write .*: No such file or directory"):
        write_bytes(tmp_path / "no" / "folder", b"x")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("content", [b"a O\n", gzip.compress(b"a O\n" * 100, mtime=0)[:-9], b"\x1f\x8b"])
def test_a_broken_gz_is_one_line(tmp_path, content):
    (tmp_path / "a.gz").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.gz: not a gzip file, or cut off"):
        read_bytes(tmp_path / "a.gz")


def test_a_packed_file_or_a_device_may_give_only_so_many_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "most_bytes", 3 * 2**20)
    bomb = tmp_path / "bomb.gz"
    for size, fits in [(3 * 2**20, True), (3 * 2**20 + 1, False)]:
        bomb.write_bytes(gzip.compress(bytes(size), mtime=0))
        if fits:
            assert read_bytes(bomb) == bytes(size)
        else:
            with pytest.raises(InputError, match=r"bomb\.gz: more than 3,145,728 bytes, unpacked; .*--max-bytes"):
                read_bytes(bomb)
    with pytest.raises(InputError, match="/dev/zero: more than 3,145,728 bytes"):
        read_bytes("/dev/zero")
    (tmp_path / "plain").write_bytes(bytes(2**22))
    assert len(read_bytes(tmp_path / "plain")) == 2**22


def test_the_limit_is_an_option_with_a_default(refused, fine, tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"a O\n" * 10, mtime=0))
    line = refused("evaluate", "a.gz", "a.gz", "--max-bytes", "39")
    assert line == "a.gz: more than 39 bytes, unpacked; if that is right, allow more with --max-bytes"
    fine("evaluate", "a.gz", "a.gz", "--max-bytes", "40")
    fine("evaluate", "a.gz", "a.gz")
    assert files.most_bytes == 2**30


@pytest.mark.parametrize("when", ["fsync", "chmod"])
def test_a_temporary_file_that_vanishes_is_one_line(tmp_path, monkeypatch, when):
    real = getattr(os, when)

    def vanish(*arguments):
        for path in tmp_path.iterdir():
            path.unlink()
        real(*arguments)

    monkeypatch.setattr(os, when, vanish)
    with pytest.raises(InputError, match=r"cannot write .*model: No such file or directory"):
        write_whole(tmp_path / "model", b"x")


def test_every_name_that_a_file_can_have_can_be_written(tmp_path):
    write_whole(tmp_path / ("m" * 255), b"x")
    write_whole(tmp_path / ("β" * 127), b"x")
    assert len(os.listdir(tmp_path)) == 2
    with pytest.raises(InputError, match="File name too long"):
        write_whole(tmp_path / ("m" * 256), b"x")
