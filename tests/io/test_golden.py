"""Models written by earlier versions: each of them loads and predicts what it did."""

import json
from pathlib import Path

import pytest

from golden.write import FOLDER, PARSERS, TAGGERS, tags_of, trees_of
from swvp import DependencyParser, SequenceTagger
from swvp.parsing import persistence as parser_model
from swvp.tagging import persistence as tagger_model

FOLDERS = sorted(FOLDER.parent.glob("format-*"))
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.swvp"))]


def predicted(path):
    name = path.stem
    return tags_of(SequenceTagger.load(path), name) if name in TAGGERS else trees_of(DependencyParser.load(path))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_golden_file_predicts_what_it_did(path):
    assert predicted(path) == json.loads((path.parent / "expected.json").read_text())[path.stem]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name} {path.stem}")
def test_a_golden_file_that_is_saved_again_predicts_the_same(path, tmp_path):
    learner = SequenceTagger if path.stem in TAGGERS else DependencyParser
    learner.load(path).save(tmp_path / path.name)
    assert predicted(tmp_path / path.name) == predicted(path)


def test_there_is_a_golden_file_of_every_kind_and_each_is_small():
    assert FOLDERS
    for folder in FOLDERS:
        assert {path.stem for path in folder.glob("*.swvp")} == {*TAGGERS, *PARSERS}
    assert all(path.stat().st_size < 10_000 for path in FILES)


def test_every_version_of_a_format_has_golden_files():
    newest = max(tagger_model.FORMAT.version, parser_model.FORMAT.version)
    assert [folder.name for folder in FOLDERS] == [f"format-{version}" for version in range(1, newest + 1)]
    assert Path(FOLDER).name == f"format-{newest}"
