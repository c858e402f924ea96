"""Standard streams that are closed, full or no longer read, in every command."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.texts import COLUMNS
from swvp.cli.terminal import note_terminal

SWVP = f'"{sys.executable}" -m swvp'
CLOSED, FULL = "it is closed", "No space left on device"
RESULTS = ["--version", "predict model train.txt", "inspect model", "evaluate train.txt train.txt --json -"]

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("streams")
    (path / "train.txt").write_text(COLUMNS)
    shell(path, "train tagger train.txt -m model --epochs 1")
    return path


def shell(folder, command):
    """Run a command in the shell: (exit code, standard output, standard error)."""
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {SWVP} {command}"], cwd=folder, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", [*RESULTS, "evaluate train.txt train.txt", "--help"])
@pytest.mark.parametrize(("to", "why"), [(">/dev/full", FULL), (">&-", CLOSED)])
def test_results_that_cannot_be_written_are_one_line_and_exit_code_2(folder, command, to, why):
    assert shell(folder, f"{command} {to}") == (2, "", f"swvp: cannot write to standard output: {why}\n")


@pytest.mark.parametrize("command", RESULTS)
def test_results_are_written_where_messages_cannot_be(folder, command):
    expected = shell(folder, command)[1]
    assert expected
    for to in ("2>&-", "2>/dev/full", "2>&- <&-"):
        assert shell(folder, f"{command} {to}") == (0, expected, "")


@pytest.mark.parametrize("to", ["2>/dev/full", "2>&-", ">&- 2>&- <&-", "2>&1 | true"])
def test_a_training_goes_on_without_its_messages(folder, to):
    Path(folder / "trained").unlink(missing_ok=True)
    assert shell(folder, f"train tagger train.txt -m trained --epochs 1 {to}")[0] == 0
    assert Path(folder / "trained").read_bytes() == Path(folder / "model").read_bytes()


@pytest.mark.parametrize("to", ["2>/dev/full", "2>&-"])
def test_an_error_that_cannot_be_said_has_its_exit_code(folder, to):
    assert shell(folder, f"predict model nowhere {to}") == (2, "", "")


@pytest.mark.parametrize("command", ["inspect model", "predict model many.txt"])
def test_a_reader_that_has_enough_ends_the_command_quietly(folder, command):
    (folder / "many.txt").write_text(COLUMNS * 5000)
    code, _, err = shell(folder, f"{command} | true")
    assert (code, err) == (1, "")


def test_a_command_that_waits_for_a_terminal_says_so(capsys, monkeypatch):
    note_terminal(["-"])
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    note_terminal(["a.txt"])
    assert capsys.readouterr().err == ""
    note_terminal(["a.txt", "-"])
    assert capsys.readouterr().err.startswith("swvp: reading from the terminal: type or paste the input")
