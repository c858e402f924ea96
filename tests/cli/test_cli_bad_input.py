"""Strange and broken files given to `swvp train tagger` and `swvp predict`: handled, or one line and exit code 2."""

import struct
from pathlib import Path

import pytest

from helpers.texts import COLUMNS

TRAIN = ["train", "tagger", "train.txt", "-m", "model"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a b O\nc O\n", "train.txt:2: 2 columns, but 3 on the lines before (all lines need the same number)"),
        (b"a\tO\nb O\n", "train.txt:2: 1 column, but 2 on the lines before (tabs and blanks mixed?)"),
        (b"a O\nb\tO\tx\n", "train.txt:2: 3 columns, but 2 on the lines before (tabs and blanks mixed?)"),
        (b"a\xe9 O\n", "train.txt:1: byte 0xe9 is not utf-8; name the encoding (iso-8859-1?)"),
        (b"a O\n\xff\xfe O\n", "train.txt:2: byte 0xff is not utf-8; name the encoding (iso-8859-1?)"),
        (b"", "train.txt: no token in it"),
        (b"\xef\xbb\xbf", "train.txt: no token in it"),
        (b"\n \r\n\t\n-DOCSTART- x\n", "train.txt: no token in it"),
        (b"word\n", "train.txt: only one column; a tagger needs a word and a label on each line"),
    ],
)
def test_files_that_cannot_be_columns(refused, content, message):
    Path("train.txt").write_bytes(content)
    assert refused(*TRAIN) == message
    assert not Path("model").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"a O\r\nb P\r\n\r\nc O\r\n",
        b"\xef\xbb\xbfa O\nb P\n\nc O\n",
        b"\n\n\na O\nb P\n\n\n \n\nc O",
        b" a O \n\tb\tP\n\n c  O",
    ],
    ids=["CRLF", "mark", "empty lines", "blanks around"],
)
def test_files_that_are_handled_give_the_same_model(fine, content):
    Path("train.txt").write_text("a O\nb P\n\nc O\n")
    fine(*TRAIN)
    expected = Path("model").read_bytes()
    Path("train.txt").write_bytes(content)
    fine(*TRAIN)
    assert Path("model").read_bytes() == expected


def test_long_tokens_and_long_sentences(fine):
    long = "x" * 10_000
    Path("train.txt").write_text(f"{long} A\nb B\n" + "c C\n" * 20_000)
    fine(*TRAIN, "--epochs", "2")
    lines = fine("predict", "model", "train.txt")[0].decode().splitlines()
    assert len(lines) == 20_002
    assert lines[0].startswith(long)
    assert {len(line.split()) for line in lines} == {3}


def test_a_model_without_attributes_is_refused(refused):
    Path("train.txt").write_text(COLUMNS)
    assert refused(*TRAIN, "--min-count", "1000") == "no attribute occurs 1,000 times: choose a lower --min-count"
    assert not Path("model").exists()


def test_an_empty_label_column_is_refused(refused):
    Path("train.conllu").write_text("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n")
    line = refused("train", "tagger", "train.conllu", "--target", "xpos", "-m", "model")
    assert line == "train.conllu:1: all labels are _: the column xpos is empty"


def test_a_file_without_empty_lines_gets_a_note(fine):
    Path("train.txt").write_text("a A\nb B\n" * 100)
    note = "note: one sentence of 200 tokens: is there an empty line after each sentence?"
    assert note in fine(*TRAIN, "--epochs", "1")[1]


@pytest.mark.parametrize(
    "given", [["predict", "broken", "train.txt"], ["inspect", "broken"]], ids=["predict", "inspect"]
)
def test_model_files_that_are_none(fine, refused, given):
    Path("train.txt").write_text(COLUMNS)
    fine(*TRAIN)
    good = Path("model").read_bytes()
    broken = Path("broken")
    assert refused(*given) == "cannot read broken: No such file or directory"
    for content, message in [
        (b"", "broken: not a model file of swvp"),
        (COLUMNS.encode(), "broken: not a model file of swvp"),
        (good[:20], "broken: not a model file of swvp"),
        (good[:100], "broken: cut off: its description is longer than the file"),
        (good[:-1], "broken: cut off: its array 'allowed' ends beyond the file"),
        (good[:-1] + b"\x07", "broken: damaged: its array 'allowed' does not have its checksum"),
        (good + b"x", "broken: damaged: something follows its last array"),
        (good[:8] + struct.pack("<I", 2) + good[12:], "broken: written in version 2 of the file layout, this swvp"),
    ]:
        broken.write_bytes(content)
        assert refused(*given).startswith(message)
    broken.unlink()
    broken.mkdir()
    assert refused(*given) == "cannot read broken: Is a directory"


def test_input_and_output_that_cannot_be_used(fine, refused):
    Path("train.txt").write_text(COLUMNS)
    fine(*TRAIN)
    Path("empty").write_text("")
    Path("folder").mkdir()
    for arguments, message in [
        (["nowhere"], "cannot read nowhere: No such file or directory"),
        (["empty"], "empty: no token in it"),
        (["train.txt", "-o", "no/out"], "cannot write no/out: No such file or directory"),
        (["train.txt", "-o", "folder"], "cannot write folder: Is a directory"),
        (["train.txt", "--jobs", "0"], "--jobs must be at least 1, not 0"),
        (
            ["train.txt", "--conllu"],
            "train.txt:1: 1 column; CoNLL-U has 10, separated by tabs (tabs and blanks mixed?)",
        ),
    ]:
        assert refused("predict", "model", *arguments) == message
    Path("a.conllu").write_text("1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n")
    line = refused("predict", "model", "a.conllu")
    assert line.startswith("a.conllu is CoNLL-U, but the tagger's training file was a column file")
    line = refused("train", "tagger", "-", "--dev", "-", "-m", "other")
    assert line == "standard input can be only one of the files"
