"""The catalogue of bad inputs, `bad_inputs.toml`: each is refused with one line and leaves no file behind."""

import os
import shutil
import tomllib
from pathlib import Path

import pytest

from helpers.texts import COLUMNS
from swvp.errors import STEERING
from swvp.estimators import DependencyParser, SequenceTagger

CASES = tomllib.loads((Path(__file__).parent / "bad_inputs.toml").read_text(encoding="utf-8"))["case"]
TREES = "1\tTime\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tflies\t_\tVERB\t_\t_\t0\troot\t_\t_\n"
PYTHON = {
    "raises.py": "x = 1\nraise ValueError('two\\nlines \\x1b[31m')\n",
    "syntax.py": "def f(:\n",
    "exits.py": "raise SystemExit(0)\n",
    "silent.py": "class Silent(Exception):\n    def __str__(self):\n        raise RuntimeError\nraise Silent\n",
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with a tagger and a parser, trained once."""
    folder = tmp_path_factory.mktemp("models")
    SequenceTagger(epochs=1).fit([[("the", "DT"), ("dog", "NN")]], [["B-NP", "I-NP"]]).save(folder / "tagger.swvp")
    (folder / "trees.conllu").write_text(TREES)
    DependencyParser(epochs=1).fit(folder / "trees.conllu").save(folder / "parser.swvp")
    return folder


@pytest.mark.skipif(os.name == "nt", reason="pipes and devices")
@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(part[:30] for part in case["command"]))
def test_a_bad_input_is_refused_with_one_line(command, models, case):
    shutil.copytree(models, ".", dirs_exist_ok=True)
    Path("train.txt").write_text(COLUMNS)
    Path("folder").mkdir()
    os.mkfifo("pipe")
    for name, text in (PYTHON | case.get("files", {})).items():
        Path(name).write_text(text)
    for name, digits in case.get("bytes", {}).items():
        Path(name).write_bytes(bytes.fromhex(digits))
    before = contents()
    code, out, err = command(*("m" * int(part[2:]) if part.startswith("m*") else part for part in case["command"]))
    assert (code, out) == (2, b""), err
    last = err.splitlines()[-1]
    assert last.startswith("swvp: ")
    assert case["message"] in last
    assert len(last) < 1010
    assert not STEERING.search(last)
    assert "Traceback" not in err
    assert contents() == before


def contents():
    """What the files of the folder hold, by name."""
    return {path.name: path.read_bytes() if path.is_file() else None for path in Path().iterdir()}
