"""Files in blocks of whole sentences: nothing is lost, and each block says where it begins."""

import gzip
import os
import re
import threading

import numpy as np
import pytest

from helpers.texts import CONLLU
from swvp.errors import InputError
from swvp.io import blocks, files
from swvp.io.blocks import read_blocks
from swvp.io.files import COLUMN_FILE, CONLLU_FILE, write_blocks
from swvp.io.table import Table

STRANGE = "\n-DOCSTART- -X- O\r\n\r\nthe DT\r\ndog NN\r\n \t\r\nbarks VB\n\n \n\n Bo NNP\n# #\n\n\n-DOCSTART-\n\nx y"


def blocks_of(path, format, encoding="utf-8"):
    return [block for block in read_blocks(path, format, encoding) if block is not None]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.txt"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 21, 34, 55, 1000])
@pytest.mark.parametrize(
    ("text", "format"),
    [
        (STRANGE, COLUMN_FILE),
        (STRANGE + "\n\n# only\n", COLUMN_FILE),
        (CONLLU, CONLLU_FILE),
        (CONLLU.replace("\n", "\r\n") + "\r\n\r\n# the end\r\n\r\n", CONLLU_FILE),
    ],
)
def test_blocks_are_the_file_divided_between_sentences(path, monkeypatch, size, text, format):
    monkeypatch.setattr(blocks, "BLOCK", size)
    path.write_bytes(text.encode())
    whole = Table(path, text.encode(), "utf-8", format=format)
    parts = blocks_of(path, format)
    assert b"".join(part.content for part in parts) == text.encode()
    assert [part.last for part in parts] == [False] * (len(parts) - 1) + [True]
    lines, lengths = [], []
    for number, (content, line, last) in enumerate(parts):
        assert last or re.search(rb"\n[ \t\r]*\n\Z", content)
        shape = None if number == 0 else (whole.width, whole.tabs)
        table = Table(path, content, "utf-8", format=format, line=line, shape=shape)
        assert last or table.tokens
        lines += table.lines.tolist()
        lengths += np.diff(table.offsets).tolist()
    assert lines == whole.lines.tolist()
    assert lengths == np.diff(whole.offsets).tolist()
    assert size > 5 or len(parts) >= len(whole.offsets) - 2


def test_a_large_file_has_small_blocks(path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 100)
    path.write_bytes(b"a A\nb B\n\n" * 1000)
    sizes = [len(block.content) for block in blocks_of(path, COLUMN_FILE)]
    assert max(sizes) < 120
    assert len(sizes) > 80


def test_what_cannot_be_divided_is_one_block(path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 10)
    for encoding in ("utf-8", "latin-1", "cp1252", "utf-16", "shift_jis"):
        path.write_bytes(("aaaa A\n\n" * 10).encode(encoding))
        divided = encoding not in ("utf-16", "shift_jis")
        assert (len(blocks_of(path, COLUMN_FILE, encoding)) > 1) == divided
    turned = COLUMN_FILE._replace(to_columns=str.upper, from_columns=str.lower)
    assert len(blocks_of(path, turned)) == 1


def test_an_empty_file_is_one_empty_block(path):
    path.write_bytes(b"")
    assert blocks_of(path, COLUMN_FILE) == [(b"", 0, True)]


def test_files_that_cannot_be_read_are_one_line(path, tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        blocks_of(path, COLUMN_FILE)
    with pytest.raises(InputError, match=r"cannot read .*: Is a directory"):
        blocks_of(tmp_path, COLUMN_FILE)
    packed = tmp_path / "a.gz"
    packed.write_bytes(gzip.compress(b"a A\n\n" * 100_000)[:-20])
    with pytest.raises(InputError, match=r"a\.gz: not a gzip file, or cut off"):
        blocks_of(packed, COLUMN_FILE)
    monkeypatch.setattr(files, "most_bytes", 1000)
    packed.write_bytes(gzip.compress(b"a A\n\n" * 1000))
    with pytest.raises(InputError, match=r"a\.gz: more than 1,000 bytes"):
        blocks_of(packed, COLUMN_FILE)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_gives_each_sentence_when_it_is_there(tmp_path):
    pipe, turn = tmp_path / "pipe", threading.Semaphore(1)
    os.mkfifo(pipe)

    def write():
        with open(pipe, "wb", buffering=0) as file:
            for sentence in (b"a A\n\n", b"b", b" B\n\nc C\n\n", b"\n", b"d D\n"):
                turn.acquire()
                file.write(sentence)
            turn.acquire()

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    seen = []
    for block in read_blocks(pipe, COLUMN_FILE, "utf-8"):
        if block is None:
            turn.release()
        else:
            seen.append(block)
    writer.join()
    assert seen == [(b"a A\n\n", 0, False), (b"b B\n\nc C\n\n", 2, False), (b"\nd D\n", 6, True)]


def test_packed_blocks_are_the_bytes_of_gzip(tmp_path):
    content = bytes(np.random.default_rng(0).integers(0, 4, 100_000, np.uint8))
    path = tmp_path / "a.gz"
    write_blocks(path, (content[k : k + 777] for k in range(0, len(content), 777)))
    assert gzip.decompress(path.read_bytes()) == content
    assert path.read_bytes() == gzip.compress(content, mtime=0)


def test_a_file_whose_blocks_fail_is_not_written(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def failing():
        yield b"new"
        raise InputError("no more")

    with pytest.raises(InputError, match="no more"):
        write_blocks(path, failing())
    assert os.listdir(tmp_path) == ["file"]
    assert path.read_text() == "old"
    write_blocks(path, [])
    assert path.read_bytes() == b""
