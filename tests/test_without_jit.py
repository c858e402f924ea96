"""Tests of kernels with rare types run as plain Python, in a process without the JIT: compiling them takes minutes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

TESTS = Path(__file__).parent
FILES = [
    path.relative_to(TESTS).as_posix()
    for path in sorted(TESTS.rglob("test_*.py"))
    if path != Path(__file__) and re.search(r"\b(without_jit|in_plain_python)\b", path.read_text(encoding="utf-8"))
]


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="these tests run by themselves")
@pytest.mark.parametrize("file", FILES)
def test_kernels_with_rare_types_pass_their_tests_in_plain_python(file):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "-m", "without_jit", str(TESTS / file)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(r"[1-9]\d* passed", done.stdout)
