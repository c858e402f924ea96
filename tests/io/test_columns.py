"""Column files, with what people find in them."""

import gzip

import pytest

from swvp.errors import InputError
from swvp.io.table import read_columns

ROWS = [[("The", "DT", "B-NP"), ("dog", "NN", "I-NP")], [("Barks", "VBZ", "B-VP")]]


@pytest.mark.parametrize(
    "content",
    [
        "The DT B-NP\ndog NN I-NP\n\nBarks VBZ B-VP\n\n",
        "The\tDT\tB-NP\ndog\tNN\tI-NP\n\nBarks\tVBZ\tB-VP\n",
        "The DT B-NP\r\ndog NN I-NP\r\n\r\nBarks VBZ B-VP\r\n",
        "\ufeffThe DT B-NP\ndog NN I-NP\n\n\n \nBarks VBZ B-VP",
        "-DOCSTART- -X- O\n\nThe DT B-NP\ndog NN I-NP\n\n-DOCSTART- -X- O\n\nBarks VBZ B-VP\n",
        "\n\nThe  DT   B-NP \ndog NN I-NP\n\nBarks VBZ B-VP\n",
    ],
    ids=["blanks", "tabs", "crlf", "bom and no last newline", "docstart", "several blanks"],
)
def test_all_these_are_the_same_two_sentences(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content.encode())
    assert read_columns(path).sentences == ROWS


def test_packed_files_are_unpacked(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(b"The DT B-NP\ndog NN I-NP\n\nBarks VBZ B-VP\n"))
    assert read_columns(path).sentences == ROWS


def test_empty_fields_between_tabs_are_kept(tmp_path):
    path = tmp_path / "file"
    path.write_text("a\t\tX\nb\tc\tY\n")
    assert read_columns(path).sentences == [[("a", "", "X"), ("b", "c", "Y")]]


def test_the_line_of_each_sentence_is_known(tmp_path):
    path = tmp_path / "file"
    path.write_text("\na X\n\n\nb X\nc X\n")
    assert read_columns(path).lines == [2, 5]


def test_another_encoding_can_be_named(tmp_path):
    path = tmp_path / "file"
    path.write_bytes("año N\n".encode("iso-8859-1"))
    assert read_columns(path, encoding="iso-8859-1").sentences == [[("año", "N")]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a X\nb\n", r"file:2: 1 column, but 2 on the lines before \(all lines need the same number\)"),
        (b"a X\n\nb Y Z\n", "file:3: 3 columns, but 2 on the lines before"),
        (b"a\tX\nb Y\n", r"file:2: 1 column, but 2 on the lines before \(tabs and blanks mixed\?\)"),
        (b"a X\na\xf1o N\n", "file:2: byte 0xf1 is not utf-8; name the encoding"),
        (b"", "file: no token in it"),
        (b"\n\n", "file: no token in it"),
    ],
)
def test_bad_files_are_one_line_with_the_place(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_columns(path)


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"cannot read .*nowhere: No such file"):
        read_columns(tmp_path / "nowhere")


@pytest.mark.parametrize("content", [b"not packed", gzip.compress(b"a X\n" * 100, mtime=0)[:-20]])
def test_a_damaged_gz_file_is_one_line(tmp_path, content):
    (tmp_path / "file.gz").write_bytes(content)
    with pytest.raises(InputError, match="not a gzip file, or cut off"):
        read_columns(tmp_path / "file.gz")
