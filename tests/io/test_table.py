"""Tables of tokens: read into arrays, written back byte for byte."""

import codecs
import gzip

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io.table import Column, read_table, table_of

CONLLU = (
    "# text = Vámonos al mar\n"
    "1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t_\t_\n"
    "2\tnos\tnosotros\tPRON\tP\t_\t1\tobj\t_\t_\n"
    "2.1\tx\tx\tX\tX\t_\t_\t_\t_\t_\n"
    "3\tal\tal\tADP\tS\t_\t1\tobl\t_\tSpaceAfter=No\n"
    "\n"
    "# only a comment\n"
    "\n"
    "1\tmar\tmar\tNOUN\tN\t_\t0\troot\t_\t_\n"
)


def written(tmp_path, content, name="file"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_conllu_tokens_are_the_words_without_ranges_empty_nodes_and_comments(tmp_path):
    table = read_table(written(tmp_path, CONLLU, "a.conllu"))
    assert table.sentences(1) == [["Vamos", "nos", "al"], ["mar"]]
    assert table.sentences(table.number_of("upos")) == [["VERB", "PRON", "ADP"], ["NOUN"]]
    assert table.lines.tolist() == [3, 4, 6, 10]


def test_replacing_a_column_changes_nothing_else(tmp_path):
    table = read_table(written(tmp_path, CONLLU, "a.conllu"))
    new = table.replace(3, Column(["A", "longer"], np.array([0, 1, 1, 0], np.int32)))
    expected = CONLLU.replace("\tVERB\t", "\tA\t").replace("\tPRON\t", "\tlonger\t")
    assert new.decode() == expected.replace("\tADP\t", "\tlonger\t").replace("\tNOUN\t", "\tA\t")
    same = table.replace(3, table.column(3))
    assert same.decode() == CONLLU


def test_appending_a_column_keeps_every_byte_and_the_separator(tmp_path):
    content = "-DOCSTART- -X-\r\n\r\nDie  DT\r\nKuh NN \r\n\n\nx y"
    table = read_table(written(tmp_path, content))
    new = table.append(Column(["O", "B-é"], np.array([0, 1, 1], np.int32)))
    assert new.decode() == "-DOCSTART- -X-\r\n\r\nDie  DT O\r\nKuh NN B-é \r\n\n\nx y B-é"
    tabs = read_table(written(tmp_path, "a b\tc\n"))
    assert tabs.width == 2
    assert tabs.append(Column(["O"], np.zeros(1, np.int32))) == b"a b\tc\tO\n"


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16", "utf-8"])
def test_an_encoding_is_read_and_written(tmp_path, encoding):
    table = read_table(written(tmp_path, "fußball NN\n".encode(encoding)), encoding=encoding)
    assert table.sentences(0) == [["fußball"]]
    assert table.append(Column(["É"], np.zeros(1, np.int32))).decode(encoding) == "fußball NN É\n"


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [(encoding, mark) for encoding in ("utf-8", "utf-8-sig", "iso-8859-1") for mark in (b"", codecs.BOM_UTF8)]
    + [("utf-16-le", mark) for mark in (b"", codecs.BOM_UTF16_LE)],
)
def test_a_byte_order_mark_is_no_part_of_a_word_and_stays(tmp_path, encoding, mark):
    content = mark + "Ann O\n".encode(encoding.removesuffix("-sig"))
    table = read_table(written(tmp_path, content), encoding=encoding)
    assert table.sentences(0) == [["Ann"]]
    assert table.replace(1, table.column(1)) == content


def test_a_label_that_the_encoding_cannot_hold_is_one_line(tmp_path):
    table = read_table(written(tmp_path, b"a\xe9 O\n"), encoding="iso-8859-1")
    with pytest.raises(InputError, match="the label with '名' cannot be written in iso-8859-1: use utf-8"):
        table.append(Column(["名"], np.zeros(1, np.int32)))


@pytest.mark.parametrize("strange", ["\x0b", "\x0c", "\x1c", "\x85", "\xa0", "\u2028", "a\rb"])
def test_only_blanks_tabs_and_newlines_separate(tmp_path, strange):
    content = f"{strange} O\n x{strange}y\tO \n\n{strange} O"
    table = read_table(written(tmp_path, content))
    assert table.sentences(0) == [[strange, f"x{strange}y"], [strange]]
    assert table.replace(1, table.column(1)).decode() == content


def test_random_tables_agree_with_splitting_lines(tmp_path):
    rng = np.random.default_rng(0)
    pieces = ["a", "bb", "é", "日本", "x" * 30, "#", "-", "1"]
    for trial in range(40):
        separator = "\t" if trial % 2 else " "
        rows = [
            [separator.join(rng.choice(pieces, 3)) for _ in range(rng.integers(1, 6))]
            for _ in range(rng.integers(1, 6))
        ]
        content = "\n\n".join("\n".join(sentence) for sentence in rows) + "\n" * int(rng.integers(3))
        table = read_table(written(tmp_path, content))
        columns = [table.sentences(k) for k in range(3)]
        found = [
            [separator.join(row) for row in zip(*sentence, strict=True)] for sentence in zip(*columns, strict=True)
        ]
        assert found == rows
        assert table.replace(1, table.column(1)).decode() == content


def test_strings_are_numbered_once_each_however_many(tmp_path):
    words = [f"w{k % 5000}" for k in range(12_000)]
    table = read_table(written(tmp_path, "\n".join(words)))
    strings, ids = table.column(0)
    assert strings == [f"w{k}" for k in range(5000)]
    assert [strings[k] for k in ids] == words


def test_gzip_and_long_tokens(tmp_path):
    content = ("x" * 10_000 + " O\n") * 3
    table = read_table(written(tmp_path, gzip.compress(content.encode()), "a.gz"))
    assert table.column(0).strings == ["x" * 10_000]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a", "a b\nc\n", r"a:2: 1 column, but 2 on the lines before \(all lines need the same number\)"),
        ("a", "a\tb\nc d\n", r"a:2: 1 column, but 2 on the lines before \(tabs and blanks mixed\?\)"),
        ("a", "\n \n", "a: no token in it"),
        ("a", b"a\xe9 b\n", "a:1: byte 0xe9 is not utf-8; name the encoding"),
        ("a.conllu", "1\tx\n", "a.conllu:1: 2 columns; CoNLL-U has 10, separated by tabs$"),
        ("a.conllu", "1 x x x\n", r"1 column; CoNLL-U has 10, separated by tabs \(tabs and blanks mixed\?\)"),
        (
            "a.conllu",
            CONLLU.replace("\n2\t", "\ntwo\t"),
            "a.conllu:4: the first column of CoNLL-U is the token's number",
        ),
    ],
)
def test_bad_files_are_one_line_with_the_place(tmp_path, name, content, message):
    with pytest.raises(InputError, match=message):
        read_table(written(tmp_path, content, name))


def test_columns_are_found_by_number_or_name(tmp_path):
    columns = read_table(written(tmp_path, "a b c\n"))
    assert [columns.number_of(name) for name in (0, -1, "2", "-3")] == [0, 2, 2, 0]
    for name, message in ((3, "there is no column 3: the file has 3 columns, 0 to 2"), ("upos", "given by its number")):
        with pytest.raises(InputError, match=message):
            columns.number_of(name)
    with pytest.raises(InputError, match=r"unknown column 'upso' \(did you mean 'upos'\?\)"):
        read_table(written(tmp_path, CONLLU, "a.conllu")).number_of("upso")


@pytest.mark.parametrize(
    ("content", "encoding", "hint"),
    [
        (b"a\xe9 O\n", "utf-8", r"name the encoding \(iso-8859-1\?\)"),
        ("a\u0301 O".encode(), "utf-16", r"name the encoding \(utf-8\?\)"),
        (b"SWVPFILE\x00\xff", "utf-8", "it is a model file of swvp, not a text"),
        (b"\x7fELF\x00\xff", "utf-8", "it looks binary, not like a text"),
    ],
)
def test_what_cannot_be_decoded_gets_a_fitting_hint(content, encoding, hint):
    with pytest.raises(InputError, match=hint):
        table_of("file", content, encoding=encoding)
