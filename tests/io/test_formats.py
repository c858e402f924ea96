"""File formats are rows of a registry: recognised by their ending, read as columns, written back."""

import gzip

import pytest

from swvp.errors import InputError
from swvp.io import FORMATS, FileFormat, read_columns, read_table, register_format, table_of
from swvp.io.files import COLUMN_FILE, CONLLU_FILE, CONLLX_FILE, choose_format, format_of


def to_columns(text):
    return "\n\n".join(line.replace(" ", "\n").replace("/", "\t") for line in text.splitlines()) + "\n"


def from_columns(text):
    return "".join(lines.replace("\t", "/").replace("\n", " ") + "\n" for lines in text[:-1].split("\n\n"))


@pytest.fixture
def slashes(monkeypatch):
    """A registered format with a sentence of word/TAG a line."""
    monkeypatch.setattr("swvp.io.files.FORMATS", dict(FORMATS))
    format = FileFormat("slashes", "word/TAG", (".slashes",), to_columns=to_columns, from_columns=from_columns)
    register_format(format)
    return format


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.conllu", CONLLU_FILE),
        ("a.conllu.gz", CONLLU_FILE),
        ("a.conllu.txt", COLUMN_FILE),
        ("a.txt", COLUMN_FILE),
        ("-", COLUMN_FILE),
    ],
)
def test_a_format_is_recognised_by_the_ending_of_a_file_name(name, format):
    assert format_of(name) is format


def test_a_format_can_be_named_whatever_the_file_is_called():
    assert choose_format("a.txt", format="conllx") is CONLLX_FILE
    assert choose_format("a.txt", conllu=True) is CONLLU_FILE
    assert choose_format("a.conllu", conllu=False) is COLUMN_FILE
    with pytest.raises(InputError, match=r"unknown file format 'conlu' \(did you mean 'conllu'\?\)"):
        choose_format("a.txt", format="conlu")


def test_conll_x_may_end_before_its_last_columns():
    table = table_of("a", b"1\tAnn\t_\tN\t_\t_\n", format="conllx")
    assert (table.width, table.sentences(table.number_of("word"))) == (6, [["Ann"]])


@pytest.mark.parametrize("name", ["a.slashes", "a.slashes.gz"])
def test_a_format_of_one_s_own_is_read_as_columns(slashes, tmp_path, name):
    content = "the/DET dög/NOUN\nbarks/VERB\n".encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert read_columns(tmp_path / name).sentences == [[("the", "DET"), ("dög", "NOUN")], [("barks", "VERB")]]


@pytest.mark.parametrize("encoding", ["utf-8", "iso-8859-1", "utf-16"])
def test_a_format_of_one_s_own_is_written_back(slashes, tmp_path, encoding):
    (tmp_path / "a.slashes").write_text("the/DET dög/NOUN\nbarks/VERB\n", encoding=encoding)
    table = read_table(tmp_path / "a.slashes", encoding=encoding)
    written = table.append(table.column(1)).decode(encoding)
    assert written == "the/DET/DET dög/NOUN/NOUN\nbarks/VERB/VERB\n"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "there is a file format 'slashes' already; choose another name"),
        ({"name": "b"}, "files in .slashes are of the format 'slashes' already; choose another ending"),
        ({"name": "b", "endings": (".conllu",)}, "files in .conllu are of the format 'conllu' already"),
        ({"name": "b", "endings": (), "from_columns": None}, "needs both to_columns and from_columns, or neither"),
    ],
)
def test_a_format_that_cannot_be_told_from_another_or_is_incomplete_is_an_error(slashes, changes, message):
    with pytest.raises(InputError, match=message):
        register_format(slashes._replace(**changes))
