"""Tests of kernels with rare types run as plain Python, in a process without the JIT: compiling them takes minutes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

TESTS = Path(__file__).parent


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="NUMBA_DISABLE_JIT=1 is set: these tests run directly")
@pytest.mark.parametrize("folder", ["learning", "structures"])
def test_kernels_with_rare_types_pass_their_tests_in_plain_python(folder):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-m", "without_jit", TESTS / folder],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"[1-9]\d* passed", done.stdout)
