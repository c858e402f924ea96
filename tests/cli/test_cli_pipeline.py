"""`swvp train pipeline` and `swvp parse` as a user runs them, with small stages for tokens, tags and lemmas."""

import json
from pathlib import Path

import pytest

from helpers.text_stages import FAKES, treebank_text
from swvp.text.stages import PARTS


@pytest.fixture(autouse=True)
def fakes(monkeypatch):
    for part, place in FAKES.items():
        monkeypatch.setitem(PARTS, part, place)


@pytest.fixture
def model(fine):
    Path("train.conllu").write_text(treebank_text(), encoding="utf-8")
    fine(
        "train",
        "pipeline",
        "train.conllu",
        "--dev",
        "train.conllu",
        "-m",
        "model",
        "--order",
        "1",
        "--folds",
        "2",
        "--jobs",
        "1",
    )
    return "model"


def test_training_prints_stages_and_scores_and_writes_one_file(fine):
    Path("folder").mkdir()
    for part in ("train", "dev"):
        Path("folder", f"x-ud-{part}.conllu").write_text(treebank_text(), encoding="utf-8")
    _, err = fine("train", "pipeline", "folder", "-m", "model", "--order", "1", "--folds", "2")
    for text in (
        "reading folder/x-ud-train.conllu, dev set folder/x-ud-dev.conllu\n",
        "tokens:",
        "tags:",
        "lemmas:",
        "2 folds",
        "dev, from raw text:",
        "stages tokens, tags, lemmas, trees",
    ):
        assert text in err
    assert sorted(path.name for path in Path().iterdir()) == ["folder", "model"]


def test_several_texts_have_their_names_and_one_has_none(model, fine):
    for name in ("a.txt", "b.txt"):
        Path(name).write_text("le roi dort.", encoding="utf-8")
    out, _ = fine("parse", model, "a.txt", "b.txt")
    lines = out.decode().split("\n")
    assert [line for line in lines if "newdoc" in line] == ["# newdoc id = a.txt", "# newdoc id = b.txt"]
    out, _ = fine("parse", model, "a.txt")
    assert out.startswith(b"# newdoc\n")


def test_a_text_is_parsed_to_conllu_and_scored(model, fine):
    Path("text").write_text("le roi du chat dort. le chien mange.", encoding="utf-8")
    out, err = fine("parse", model, "text")
    assert err == ""
    assert out.decode().count("# text = ") == 2
    fine("parse", model, "text", "-o", "out.conllu", "--jobs", "2")
    assert Path("out.conllu").read_bytes() == out
    scores = json.loads(fine("evaluate", "out.conllu", "out.conllu", "--raw", "--json", "-")[0])
    assert '"f1": 1.0' in json.dumps(scores)


def test_formats_of_inputs_and_outputs_can_be_chosen(model, fine):
    Path("text").write_text("le roi\nle chat dort\n", encoding="utf-8")
    out, _ = fine("parse", model, "text", "--input", "horizontal", "--output", "vertical")
    assert out == b"le\nroi\n\nle\nchat\ndort\n\n"


def test_an_empty_text_gives_nothing(model, fine):
    Path("text").write_bytes(b"")
    assert fine("parse", model, "text") == (b"", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parse", "model", "bytes"], "bytes:1: byte 0xff is not UTF-8"),
        (["parse", "model", "text", "--input", "words"], "words"),
        (["parse", "model", "text", "--output", "words"], "words"),
        (["parse", "model", "text", "--jobs", "0"], "--jobs must be at least 1"),
        (["parse", "model", "nothing"], "cannot read nothing"),
        (["parse", "train.conllu", "text"], "not a model file"),
        (["predict", "model", "text"], "use swvp parse"),
        (["inspect", "model", "--top", "3"], "a pipeline"),
        (["train", "pipeline", "train.conllu", "-m", "m", "--stages", "trees,words"], "words"),
        (["train", "pipeline", "train.conllu", "-m", "m", "--order", "3"], "--order must be 1 (arcs) or 2"),
        (["train", "pipeline", "train.conllu", "-m", "m", "--folds", "0"], "--folds must be at least 1"),
        (["train", "pipeline", ".", "-m", "m"], "no file *-ud-train.conllu"),
    ],
)
def test_wrong_input_is_one_line(model, refused, arguments, message):
    Path("text").write_text("le roi", encoding="utf-8")
    Path("bytes").write_bytes(b"le \xff roi")
    assert message in refused(*arguments)


def test_inspect_shows_stages_and_scores(model, fine):
    out, _ = fine("inspect", model)
    assert b"tokens, tags, lemmas, trees" in out
    assert b"LAS" in out
    assert b", margin 1\n" in out
