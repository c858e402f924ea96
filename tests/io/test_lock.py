"""Two trainings into one model: the second is refused, a dead one is no obstacle."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.texts import COLUMNS
from swvp.errors import InputError
from swvp.io.files import exclusive

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no locks")

HOLD = """
import sys, time
from pathlib import Path
from swvp.io.files import exclusive
with exclusive(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock of `model`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "model")], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait()


def test_a_second_training_into_a_model_is_refused(refused, fine, holder):
    Path("train.txt").write_text(COLUMNS)
    Path("link").symlink_to("model")
    for name in ("model", "link"):
        line = refused("train", "tagger", "train.txt", "-m", name)
        assert line == f"another training is writing {name}: wait until it ends, or write to another file"
    fine("train", "tagger", "train.txt", "-m", "other", "--epochs", "1")


@pytest.mark.parametrize("kill", [signal.SIGKILL, signal.SIGTERM])
def test_the_lock_of_a_dead_process_is_no_obstacle(tmp_path, holder, kill):
    holder.send_signal(kill)
    holder.wait()
    assert (tmp_path / ".model.lock").exists()
    with exclusive(tmp_path / "model"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_training_that_fails_leaves_no_lock(refused):
    Path("train.txt").write_text("only\n")
    refused("train", "tagger", "train.txt", "-m", "model")
    assert os.listdir() == ["train.txt"]


def test_one_process_cannot_take_a_lock_twice(tmp_path):
    with exclusive(tmp_path / "model"), pytest.raises(InputError), exclusive(tmp_path / "model"):
        pass


def test_where_no_lock_can_be_had_there_is_none(tmp_path):
    with exclusive(tmp_path / "nowhere" / "model"):
        assert os.listdir(tmp_path) == []
    (tmp_path / ".model.lock").mkdir()
    with exclusive(tmp_path / "model"), exclusive(tmp_path / "model"):
        assert os.listdir(tmp_path) == [".model.lock"]
    assert (tmp_path / ".model.lock").is_dir()


def test_a_file_of_the_user_s_with_that_name_stays(tmp_path):
    (tmp_path / ".model.lock").write_text("mine")
    with exclusive(tmp_path / "model"):
        pass
    assert (tmp_path / ".model.lock").read_text() == "mine"
