"""Workers of any number, one that is slow, one whose disk is full, a leader that is killed: the same bytes."""

import collections
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from helpers import cluster_tasks
from helpers.texts import noisy
from swvp import SequenceTagger
from swvp.bulk.plan import inputs_of
from swvp.bulk.run import predict_files
from swvp.bulk.work import Prediction, model_files
from swvp.cluster.threads import Threads
from swvp.errors import InputError
from swvp.studies.synthetic.settings import SyntheticSettings
from swvp.studies.synthetic.study import run_synthetic
from swvp.tagging.tagger import Tagger
from swvp.tagging.train import TaggerFiles
from swvp.tagging.train_shards import train_tagger_on_shards
from swvp.training.rounds import Sharding
from swvp.training.run import Run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a training file, a dev set, texts to predict and a tagger."""
    monkeypatch.chdir(tmp_path)
    Path("train.txt").write_text("".join(noisy(k) for k in range(5)))
    Path("dev.txt").write_text(noisy(9))
    for number in range(8):
        Path(f"{number}.txt").write_text("".join(f"w{word} D A\n\n" for word in range(20 + number)))
    SequenceTagger(epochs=1, random_state=0).fit([[("w1", "D"), ("w2", "E")]], [["A", "B"]]).save("tagger.swvp")
    return tmp_path


def shards(workers=None):
    """Train a tagger on five shards; return the bytes of its model."""
    run = Run(train=str(Path("train.txt").absolute()), dev="dev.txt", model=Path("model"), checkpoint=1e9)
    sharding = Sharding(5, folder=f"{Path.cwd()}/shards" if workers is None else None)
    train_tagger_on_shards(run, [run.train], TaggerFiles(), Tagger(epochs=4, random_state=0), sharding, workers=workers)
    return Path("model").read_bytes()


def study(workers=None):
    """Run a study; return its results."""
    settings = SyntheticSettings(setups=(1,), datasets=2, sizes=(60, 20, 20), epochs=2, rules=("a-wm",), betas=(1, 2))
    return run_synthetic(settings, f"study-{time.monotonic_ns()}", workers=workers).to_json()


def predict(workers, folder="out"):
    """Predict all texts into a folder; return the outputs and the problems."""
    out, model = Path(folder), Path("tagger.swvp")
    inputs = inputs_of([f"{number}.txt" for number in range(8)], out, models=[model])
    options = (("encoding", "utf-8"), ("conllu", False), ("check_prose", True))
    prediction = Prediction("predict", model_files([model]), options, str(out.absolute()), 2**30)
    problems = predict_files(prediction, inputs, workers, section=50)
    return {path.name: path.read_bytes() for path in out.iterdir() if not path.name.startswith(".")}, problems


def bulk(workers=None):
    """Predict all texts into a new folder; return the outputs."""
    outputs, problems = predict(Threads(1) if workers is None else workers, f"out-{time.monotonic_ns()}")
    assert not problems
    assert len(outputs) == 8
    return outputs


@contextlib.contextmanager
def resized(cluster, workers):
    """Change the number of worker processes for a while."""

    def resize(number):
        cluster.workers = number
        cluster._local.scale(number)
        while len(cluster.addresses) != number:
            time.sleep(0.02)
        cluster._slots_at = 0.0

    before = cluster.workers
    resize(workers)
    try:
        yield
    finally:
        resize(before)


@pytest.mark.parametrize("workers", [1, pytest.param(4, marks=pytest.mark.slow)])  # 2: all other tests
def test_the_number_of_workers_changes_no_byte(cluster, folder, workers):
    alone = shards(), study(), bulk()
    with resized(cluster, workers):
        assert (shards(cluster), study(cluster), bulk(cluster)) == alone


# ---------------------------------------------------------------- a slow worker


@contextlib.contextmanager
def slowed(process):
    """Let a process run for a fifth of the time."""
    ended = threading.Event()

    def slow_down():
        while not ended.is_set():
            os.kill(process, signal.SIGSTOP)
            ended.wait(0.2)
            os.kill(process, signal.SIGCONT)
            ended.wait(0.05)

    thread = threading.Thread(target=slow_down)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows cannot stop a process for a while")
def test_a_slow_worker_gets_less_work_and_changes_no_byte(cluster, processes, folder):
    alone = shards(), bulk()
    slow, fast = processes()
    with slowed(slow):
        naps = collections.Counter(process for _, process in cluster.map(cluster_tasks.nap, range(30), in_order=False))
        assert naps[slow] < naps[fast]
        assert (shards(cluster), bulk(cluster)) == alone


# ---------------------------------------------------------------- a full disk


@contextlib.contextmanager
def full_disk(cluster):
    """Fill the disk of the first worker; return its address."""
    address = cluster.addresses[0]
    cluster.client.run(cluster_tasks.fill_disk, workers=[address])
    try:
        yield address
    finally:
        cluster.client.run(cluster_tasks.free_disk, workers=[address])


def test_bulk_work_reports_the_worker_with_a_full_disk_and_resumes(cluster, folder):
    with full_disk(cluster) as address:
        _, problems = predict(cluster)
    assert problems
    for problem in problems:
        assert f"{problem.given}" in problem.message
        assert "No space left on device" in problem.message
        assert f"(on worker {address}" in problem.message
    assert not [path for path in Path("out").rglob("*") if ".swvp-new-" in path.name]
    outputs, problems = predict(cluster)
    assert (outputs, problems) == (bulk(), [])


def test_shards_name_the_worker_with_a_full_disk_in_one_line(cluster, folder):
    Path("train.txt").write_text("".join(noisy(k) for k in range(20, 25)))  # of which no worker has arrays
    with full_disk(cluster) as address, pytest.raises(InputError) as caught:
        shards(cluster)
    message = str(caught.value)
    assert message.startswith("cannot write ")
    assert f".shard: No space left on device (on worker {address}" in message
    assert "\n" not in message
    assert not Path("model").exists()
    assert shards(cluster) == shards()


# ---------------------------------------------------------------- a killed leader


@pytest.mark.slow
def test_shards_resume_after_their_leader_was_killed_and_its_workers_end(cluster, fine, folder):
    psutil = pytest.importorskip("psutil", reason="comes with Dask")
    train = ["train", "tagger", "train.txt", "--dev=dev.txt", "--epochs=60", "--shards=3", "--checkpoint=0"]
    program = [sys.executable, "-m", "swvp", *train, "--workers=2", "--model=killed"]
    leader = subprocess.Popen(program, stderr=subprocess.DEVNULL)
    while leader.poll() is None and not Path("killed.checkpoint").exists():
        time.sleep(0.01)
    children = psutil.Process(leader.pid).children(recursive=True)
    leader.kill()
    leader.wait()
    assert not Path("killed").exists()
    assert len(children) >= 2
    assert not psutil.wait_procs(children, timeout=60)[1]
    fine(*train, "--model=killed")
    fine(*train, "--model=alone")
    assert Path("killed").read_bytes() == Path("alone").read_bytes()
    assert not list(Path().glob("killed.*"))
