"""`swvp predict` on files of many blocks: the same bytes, errors and notes as for one block, for any number of jobs."""

import codecs
import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from helpers.texts import COLUMNS, CONLLU
from helpers.trees import conllu, toy
from swvp import DependencyParser, SequenceTagger
from swvp.errors import InputError
from swvp.io import blocks
from swvp.pipeline import in_order, load_models, predict_blocks

STRANGE = (
    "-DOCSTART- -X- O\r\n\r\nthe  DT B-NP\r\ndog NN I-NP \r\nbarks\tVB B-VP\n\n \n\n Bo NNP B-NP\n# # B-VP\n\n"
    "-DOCSTART- -X- O\n\na DT B-NP\ncat NN I-NP\n\n\n"
)
SPOKEN = "one\ntwo\n\n\nthe\ndog\nbarks\n\n3.5\n-\n\nend"
SIZES = (1, 7, 40, 100)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A tagger of columns, one of CoNLL-U, and a parser."""
    folder = tmp_path_factory.mktemp("models")
    words, tags = ["the dog barks", "Bo saw a cat"], ["DT NN VB", "NNP VB DT NN"]
    columns = [list(zip(a.split(), b.split(), strict=True)) for a, b in zip(words, tags, strict=True)]
    labels = [["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP", "B-NP", "I-NP"]]
    SequenceTagger(epochs=5, random_state=0).fit(columns, labels).save(folder / "columns")
    (folder / "train.conllu").write_text(conllu(*toy(0, 40)))
    swvp(folder, "train", "tagger", "train.conllu", "--target", "upos", "-m", "upos", "--epochs", "2")
    DependencyParser(hashed=2**14, epochs=2, random_state=0).fit(folder / "train.conllu").save(folder / "parser")
    return folder


def swvp(folder, *arguments, **options):
    command = [sys.executable, "-m", "swvp", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=300, **options)


@pytest.fixture
def predicted(models, tmp_path, monkeypatch):
    """Predict a file with blocks of about `size` bytes: the bytes and the notes."""

    def predict(names, content, size, *, name="file.txt", **options):
        monkeypatch.setattr(blocks, "BLOCK", size)
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        notes = []
        monkeypatch.chdir(tmp_path)
        loaded = load_models([models / model for model in names])
        made = list(predict_blocks(loaded, name, note=notes.append, **options))
        return b"".join(made), notes, len(made)

    return predict


FILES = [
    (["columns"], STRANGE, "file.txt", {}),
    (["columns"], STRANGE.rstrip(), "file.txt", {}),
    (["columns"], codecs.BOM_UTF8 + STRANGE.encode(), "file.txt", {}),
    (["columns"], COLUMNS.replace("dog", "Dögge").encode("latin-1"), "file.txt", {"encoding": "latin-1"}),
    (["columns"], COLUMNS.encode("utf-16"), "file.txt", {"encoding": "utf-16"}),
    (["upos"], CONLLU, "file.conllu", {}),
    (["upos"], CONLLU.replace("\n", "\r\n") + "\r\n\r\n# the end\r\n", "file.conllu", {}),
    (["parser"], CONLLU, "file.conllu", {}),
    (["parser"], conllu(*toy(1, 10)) + "# the end\n\n", "file.conllu", {}),
    (["upos", "parser"], SPOKEN, "file.txt", {}),
    (["upos", "parser"], codecs.BOM_UTF8 + SPOKEN.replace("\n", "\r\n").encode(), "file.txt", {}),
    (["upos", "parser", "upos"], conllu(toy(1, 6)[0]), "file.conllu", {}),
]


@pytest.mark.parametrize(("names", "content", "name", "options"), FILES)
def test_blocks_change_nothing(predicted, names, content, name, options):
    whole, notes, count = predicted(names, content, 2**20, name=name, **options)
    assert count == 1
    for size, jobs in itertools.product(SIZES, (1, 3)):
        divided = predicted(names, content, size, name=name, n_jobs=jobs, **options)
        assert divided[:2] == (whole, notes)
        assert divided[2] > 1 or size > 1 or options.get("encoding") == "utf-16"


BAD = [
    (["columns"], COLUMNS + "a b\n", "file.txt", "file.txt:10: 2 columns, but 3 on the lines before"),
    (
        ["columns"],
        COLUMNS + "a\tb\n\n" + COLUMNS,
        "file.txt",
        "file.txt:10: 2 columns, but 3 on the lines before (tabs",
    ),
    (["columns"], COLUMNS.encode() + b"a \xff c\n", "file.txt", "file.txt:10: byte 0xff is not utf-8"),
    (["parser"], CONLLU + "\n\n1 mar\n", "file.conllu", "file.conllu:13: 1 column; CoNLL-U has 10"),
    (["parser"], CONLLU + "\n\n2\tx" + "\t_" * 8 + "\n", "file.conllu", "file.conllu:13: the ID is 2, not 1"),
    (["parser"], CONLLU + "\n\nx\tx" + "\t_" * 8 + "\n", "file.conllu", "file.conllu:13: the first column of CoNLL-U"),
    (["parser"], CONLLU + "\n\n1-2\tx" + "\t_" * 8 + "\n", "file.conllu", "file.conllu:13: the range 1-2 needs"),
    (["upos", "parser"], SPOKEN + "\n\ntwo words\n", "file.txt", "file.txt:14: 2 columns, but 1 on the lines before"),
]


@pytest.mark.parametrize(("names", "content", "name", "message"), BAD)
@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_name_the_line_of_the_whole_file(predicted, names, content, name, message, jobs):
    for size in (1, 30, 2**20) if names != ["upos", "parser"] else (1, 30):  # else it is no file of one word per line
        with pytest.raises(InputError) as caught:
            predicted(names, content, size, name=name, n_jobs=jobs)
        assert str(caught.value).startswith(message)


def test_a_late_error_writes_no_file_and_is_one_line(models, tmp_path):
    (tmp_path / "file.txt").write_text(COLUMNS * 20_000 + "a b\n")
    for jobs in ("1", "2"):
        done = swvp(tmp_path, "predict", models / "columns", "file.txt", "-o", "out.txt", "--jobs", jobs)
        assert done.returncode == 2
        assert done.stderr.decode().splitlines()[-1].startswith("swvp: file.txt:180001: 2 columns, but 3 on")
        assert os.listdir(tmp_path) == ["file.txt"]


def test_prose_is_seen_before_anything_is_written(predicted):
    prose = "The dog barks .\nA cat sleeps .\nBo left early .\n\n" * 500
    for size in (2**20, 2**14):
        with pytest.raises(InputError, match="looks like prose"):
            predicted(["columns"], prose, size)
    with pytest.raises(InputError, match="neither CoNLL-U"):
        predicted(["parser"], "the dog\nbarks now\n", 1)


def test_a_note_is_about_the_whole_file(predicted):
    sentences, trees = toy(1, 4)
    tagged, untagged = conllu(sentences, trees), conllu([[(word, "_") for word, _ in x] for x in sentences], trees)
    _, notes, count = predicted(["parser"], untagged, 1, name="file.conllu")
    assert count > 3
    assert len(notes) == 1
    assert "file.conllu has no tags (UPOS)" in notes[0]
    for content in (untagged + tagged, tagged + untagged):
        assert predicted(["parser"], content, 1, name="file.conllu")[1] == []


def test_a_sentence_in_a_pipe_is_answered_before_the_next_one(models):
    for jobs in ("1", "2"):
        command = [sys.executable, "-m", "swvp", "predict", str(models / "columns"), "-", "--jobs", jobs]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
            for _ in range(3):
                process.stdin.write(b"the DT\ndog NN\n\n")
                answer = [process.stdout.readline() for _ in range(3)]
                assert answer == [b"the DT B-NP\n", b"dog NN I-NP\n", b"\n"]
            process.stdin.write(b"the DT\ndog NN")
            process.stdin.close()
            assert process.stdout.read() == b"the DT B-NP\ndog NN I-NP"
            assert process.wait(timeout=60) == 0


def test_results_come_in_order_whatever_the_threads_do():
    rng = np.random.default_rng(0)
    items = [None if rng.random() < 0.2 else k for k in range(200)]
    expected = [k * k for k in items if k is not None]
    for jobs in (1, 2, 5):
        assert list(in_order(lambda k: sum(k for _ in range(k)), items, jobs)) == expected


def test_results_before_an_error_come_first():
    def items():
        yield from range(10)
        raise InputError("no more")

    for jobs in (1, 3):
        seen = []
        with pytest.raises(InputError, match="no more"):
            seen.extend(in_order(lambda k: k, items(), jobs))
        assert seen == list(range(10))
        seen = []
        with pytest.raises(ZeroDivisionError):
            seen.extend(in_order(lambda k: 7 // (7 - k), range(10), jobs))
        assert len(seen) == 7


def test_none_among_the_items_lets_results_out():
    for jobs in (1, 2):
        done = []

        def items(done=done):
            for k in range(5):
                yield k
                yield None
                assert done == list(range(k + 1))

        for result in in_order(lambda k: k, items(), jobs):
            done.append(result)
