"""Corpora divided into parts: whole sentences, every byte once, and the right lines in messages."""

import gzip
from pathlib import Path

import pytest

from helpers.texts import noisy
from swvp.errors import InputError
from swvp.training.parts import Piece, Reading, bytes_of, divide, files_of


def content(part):
    return b"".join(bytes_of(piece) for piece in part)


@pytest.fixture
def files(tmp_path):
    """Three column files."""
    paths = [tmp_path / f"{k}.txt" for k in range(3)]
    for k, path in enumerate(paths):
        path.write_text(noisy(k))
    return [str(path) for path in paths]


@pytest.mark.parametrize("number", [1, 2, 3, 5, 8])
def test_the_parts_of_files_are_all_of_their_bytes_in_order(files, number):
    parts = divide(files, number, encoding="utf-8")
    assert len(parts) == number
    assert b"".join(map(content, parts)) == b"".join(Path(file).read_bytes() for file in files)


def test_parts_end_where_sentences_end(files):
    for part in divide(files, 7, encoding="utf-8"):
        for piece in part:
            assert bytes_of(piece).rstrip(b" ").endswith(b"\n")
            assert not bytes_of(piece).startswith(b"\n")


def test_parts_are_of_about_the_same_size(files):
    sizes = [len(content(part)) for part in divide(files, 4, encoding="utf-8")]
    assert max(sizes) < 1.5 * min(sizes)


def test_packed_files_are_not_divided(files, tmp_path):
    packed = []
    for file in files:
        packed.append(f"{file}.gz")
        Path(packed[-1]).write_bytes(gzip.compress(Path(file).read_bytes()))
    assert [[piece.path for piece in part] for part in divide(packed, 3, encoding="utf-8")] == [[one] for one in packed]
    with pytest.raises(InputError, match=r"4 parts are too many, 3 of them would have sentences"):
        divide(packed, 4, encoding="utf-8")


def test_a_file_of_one_sentence_cannot_be_divided(tmp_path):
    path = tmp_path / "one.txt"
    path.write_text("a N\nb V\n\n\n")
    with pytest.raises(InputError, match="too many"):
        divide([str(path)], 2, encoding="utf-8")


def test_folders_and_globs_stand_for_their_files_in_order(files, tmp_path):
    (tmp_path / ".hidden").write_text("x")
    assert files_of([str(tmp_path)]) == files
    assert files_of([str(tmp_path / "[12].txt"), files[0]]) == [files[1], files[2], files[0]]
    with pytest.raises(InputError, match="no such file"):
        files_of([str(tmp_path / "*.conllu")])
    with pytest.raises(InputError, match="read again"):
        files_of(["-"])


def test_a_message_names_the_line_in_the_file_not_in_the_part(tmp_path):
    path = tmp_path / "broken.txt"
    path.write_text("a N\nb V\n\n" * 50 + "c N extra\n\n")
    last = divide([str(path)], 3, encoding="utf-8")[-1]
    assert last[0].begin > 0
    with pytest.raises(InputError, match=r"broken\.txt:151: 3 columns"):
        Reading().read(last, lambda tables: tables)


def test_a_file_that_became_shorter_is_an_error(tmp_path):
    path = tmp_path / "short.txt"
    path.write_text("a N\n\n")
    with pytest.raises(InputError, match="shorter"):
        bytes_of(Piece(str(path), 2, 40))
