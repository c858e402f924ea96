"""`swvp warmup` compiles everything that later commands use."""

import errno
import json
import os
import subprocess
import sys

import numba
import pytest

from swvp.cli.warmup import write_examples

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

PROGRAM = """
import json, sys
from swvp.cli import main
from swvp.compile_events import CompileObserver, add_observer

class Compiled(CompileObserver):
    kernels = []
    def on_start(self, kernel):
        self.kernels.append(kernel)

add_observer(Compiled())
try:
    main()
finally:
    print(json.dumps(Compiled.kernels), file=sys.__stdout__)
"""


@pytest.fixture
def run(tmp_path):
    """Run a command in a process of its own with a cache of this test: (exit code, kernels compiled, messages)."""
    write_examples(tmp_path)

    def run(command, **environment):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, *command.split()],
            cwd=tmp_path,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), **environment},
            capture_output=True,
            text=True,
        )
        return done.returncode, json.loads(done.stdout.splitlines()[-1]), done.stderr

    return run


def nothing_is_compiled(run, *commands):
    for command in commands:
        code, kernels, messages = run(command)
        assert (command, code, kernels) == (command, 0, []), messages


@pytest.mark.slow
def test_after_warmup_taggers_compile_nothing(run, tmp_path):
    code, kernels, messages = run("warmup tagger")
    assert code == 0, messages
    assert len(kernels) >= 8
    assert messages.splitlines()[-1].startswith(f"{tmp_path / 'cache'}: {len(kernels)} kernels compiled, 0 already")
    nothing_is_compiled(
        run,
        "train tagger chunks.txt --dev chunks.txt --epochs 2 -m a.swvp",
        "train tagger chunks.txt --rule a-wm:segments:sqrt --hashed 1024 --epochs 1 -m b.swvp",
        "predict a.swvp chunks.txt -o out.txt",
        "evaluate chunks.txt out.txt",
        "inspect b.swvp --explain chunks.txt",
        "warmup tagger",
    )


@pytest.mark.slow
def test_pipelines_are_warmed_up_too(fine):
    assert "kernels compiled" in fine("warmup", "pipeline")[1].splitlines()[-1]


@pytest.mark.slow
def test_where_nothing_can_be_cached_warmup_says_so_before_it_compiles(run, tmp_path):
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "cache"
    code, kernels, messages = run("warmup tagger", NUMBA_CACHE_DIR=str(folder))
    assert (code, kernels) == (2, [])
    assert messages == (
        f"swvp: machine code cannot be cached: {folder}: Not a directory; set NUMBA_CACHE_DIR to another folder\n"
    )


def test_a_folder_that_others_may_write_is_refused(refused, tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
    assert refused("warmup", "tagger").startswith(f"machine code cannot be cached: other users may write to {folder};")
    assert list(folder.iterdir()) == []


def test_a_disk_that_is_full_is_refused(refused, tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("swvp.cache.write_private", full)
    assert f"{tmp_path / 'cache'}: No space left on device" in refused("warmup", "tagger")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("warmup --order 3", "--order must be 1 or 2, not 3"),
        ("warmup tagger --order 2", "--order 2 is for parsers: swvp warmup parser --order 2"),
    ],
)
def test_wrong_options_are_refused(refused, arguments, message):
    assert refused(*arguments.split()) == message
