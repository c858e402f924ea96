"""Damaged files and killed training runs: the campaigns of `tests/fuzz`, a minute or two, with a new seed each day."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fuzz import todays_seed
from fuzz.mutate import put_together, taken_apart
from golden.write import FOLDER
from swvp.io.container import read_container

ROOT = Path(__file__).parent.parent
SECONDS = {"models": 25, "pipelines": 20, "checkpoints": 12, "corpora": 20, "killing": 25}


def run(*arguments):
    """Run a tool of `tests/fuzz` without compiling, so that each index is checked."""
    command = [sys.executable, "-W", "ignore", "-m", *arguments]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT, env=environment)


@pytest.mark.slow
@pytest.mark.parametrize("campaign", SECONDS)
def test_a_campaign_finds_nothing(campaign):
    minutes = str(SECONDS[campaign] / 60)
    done = run("tests.fuzz", "--only", campaign, "--minutes", minutes, "--seed", str(todays_seed()))
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_catalogue_of_bad_corpora_is_refused_or_read_as_it_says():
    done = run("tests.fuzz.corpora")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_every_borrowing_kernel_runs_with_checked_indices():
    """Borrowing kernels check no index when compiled; as plain Python, NumPy checks each."""
    done = run("tests.fuzz.kernels")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "borrowing kernels executed" in done.stdout


@pytest.mark.slow
def test_a_failure_is_found_and_told_with_how_to_repeat_it(tmp_path):
    """A loader that trusts a file: the campaign must find it."""
    (tmp_path / "sitecustomize.py").write_text(
        "import swvp.io.model_files as models\nmodels.require = lambda condition, what: None\n"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "tests.fuzz", "--only", "models", "--minutes", "0.3", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT, env=environment)
    assert done.returncode == 1
    assert "python -m tests.fuzz --seed 1 --only models --round" in done.stdout


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.swvp")), ids=lambda path: path.stem)
def test_the_mutator_writes_sound_files_if_it_changes_nothing(path, tmp_path):
    (tmp_path / "again").write_bytes(put_together(taken_apart(path.read_bytes())))
    kind = path.stem.partition("-")[0]
    before, after = read_container(path, kind), read_container(tmp_path / "again", kind)
    assert after.meta == before.meta
    for name, array in before.arrays.items():
        np.testing.assert_array_equal(after.arrays[name], array)
