"""What tests of commands share."""

import io
import sys

import pytest

from fuzz import todays_seed
from swvp.cli import main


def pytest_report_header():
    """The campaigns of damaged files have a new seed each day; SWVP_FUZZ_SEED repeats an old one."""
    return f"fuzz seed: {todays_seed()}"


@pytest.fixture
def command(monkeypatch, capsysbinary, tmp_path):
    """Run the command line in an empty folder: (exit code, bytes of standard output, text of standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["swvp", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsysbinary.readouterr()
        return stop.value.code or 0, out, err.decode()

    return run


@pytest.fixture
def fine(command):
    """Run a command that must go well: (standard output, standard error)."""

    def run(*arguments, stdin=b""):
        code, out, err = command(*arguments, stdin=stdin)
        assert code == 0, err
        return out, err

    return run


@pytest.fixture
def refused(command):
    """Run a command that must end with exit code 2 and one line, the last; return it without its beginning."""

    def run(*arguments, stdin=b""):
        code, out, err = command(*arguments, stdin=stdin)
        assert code == 2, err
        assert out == b""
        assert "Traceback" not in err
        *before, last = err.splitlines()
        assert last.startswith("swvp: ")
        assert not [line for line in before if line.startswith("swvp: ")]
        return last.removeprefix("swvp: ")

    return run
