"""How the suite runs on several cores, and fixtures for tests of commands."""

import io
import sys
from pathlib import Path

import numba
import pytest

from fuzz import todays_seed
from swvp.cli import main

FIRST = (
    "structures/test_tree_second_order.py",
    "structures/test_arcs.py",
    "tagging/test_tagger.py",
    "parsing/test_parser_second.py",
    "structures/test_word_parts.py",
    "test_baseline.py",
    "test_fuzz.py",
    "test_docs.py",
    "test_without_jit.py",
    "test_cache.py",
)
"""The files that compile most or take longest, in the order in which they start.

Each of the first five compiles the kernels of one family: second-order trees, first-order trees, chains, the parser,
parts of words. Files that start later load these kernels from the cache, so that no kernel is compiled in two processes
at once. The others take long, and all but test_baseline.py compile little. If they started last, one process would
wait for the other.
"""


def pytest_report_header():
    """Print the seed of the fuzz campaigns. It changes each day; set SWVP_FUZZ_SEED to repeat an earlier run."""
    return f"fuzz seed: {todays_seed()}"


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Run the whole suite on all cores unless `-n` or a part of the suite is given; keep each file in one process."""
    if not config.pluginmanager.hasplugin("xdist") or hasattr(config, "workerinput"):
        return
    option = config.option
    if option.numprocesses is None and config.args_source is pytest.Config.ArgsSource.TESTPATHS and not option.usepdb:
        option.numprocesses = "auto"
    if option.numprocesses and option.dist == "no":
        option.dist = "loadfile"
        option.loadscopereorder = False  # files start in the order of collection


def pytest_collection_modifyitems(config, items):
    """Leave tests marked without_jit to test_without_jit.py; start the files that take longest first."""
    if not numba.config.DISABLE_JIT:
        left_out = [item for item in items if item.get_closest_marker("without_jit")]
        items[:] = [item for item in items if not item.get_closest_marker("without_jit")]
        config.hook.pytest_deselected(items=left_out)
    folder = Path(__file__).parent
    ranks = {folder / name: rank for rank, name in enumerate(FIRST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


@pytest.fixture
def command(monkeypatch, capsysbinary, tmp_path):
    """Run the command line in an empty folder: (exit code, bytes of standard output, text of standard error).

    The text is without the progress of the compiler, which depends on what is in the cache.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["swvp", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsysbinary.readouterr()
        lines = err.decode().splitlines(keepends=True)
        return stop.value.code or 0, out, "".join(line for line in lines if not line.startswith("compiling (only"))

    return run


@pytest.fixture
def fine(command):
    """Run a command that has to succeed: (standard output, standard error)."""

    def run(*arguments, stdin=b""):
        code, out, err = command(*arguments, stdin=stdin)
        assert code == 0, err
        return out, err

    return run


@pytest.fixture
def refused(command):
    """Run a command that has to end with exit code 2 and one error line; return it without 'swvp: '."""

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


@pytest.fixture(autouse=True)
def no_user_files(monkeypatch):
    """Each test starts as if no file of a user was loaded: a command of an earlier test may have loaded one."""
    monkeypatch.setattr("swvp.user_code.loaded", [])
