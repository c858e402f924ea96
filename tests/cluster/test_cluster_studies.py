"""Studies on a cluster: the same results as in threads, also when workers or the leader are killed."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from helpers.trees import conllu, toy
from swvp.errors import InputError
from swvp.studies.parsing.settings import ParsingSettings
from swvp.studies.parsing.study import run_parsing
from swvp.studies.parsing.treebanks import find_treebanks
from swvp.studies.synthetic.settings import SyntheticSettings
from swvp.studies.synthetic.study import run_synthetic
from swvp.studies.tagging.settings import TaggingSettings, find_datasets
from swvp.studies.tagging.study import run_tagging


@pytest.fixture(scope="module")
def treebank(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bank")
    for seed, part in enumerate(("train", "dev", "test")):
        (folder / f"{part}.conllu").write_text(conllu(*toy(seed, 30, wrong=0.3)))
    return folder


def parsing_settings(treebank):
    sources = find_treebanks([str(treebank)])
    return ParsingSettings(treebanks=sources, orders=(1,), rules=("b-wm",), betas=(2.0, 0.5), epochs=2, hashed=2**12)


def timeless(results):
    fields = results.to_json()
    return json.dumps({**fields, "runs": [{**run, "timing": None} for run in fields["runs"]]})


def test_the_synthetic_study_has_the_same_results(cluster, tmp_path):
    settings = SyntheticSettings(setups=(1,), datasets=2, sizes=(60, 20, 20), epochs=2, rules=("a-wm",), betas=(1, 2))
    in_threads = run_synthetic(settings, tmp_path / "threads", jobs=2)
    on_cluster = run_synthetic(settings, tmp_path / "cluster", workers=cluster)
    assert on_cluster.to_json() == in_threads.to_json()


def test_the_parsing_study_has_the_same_results(cluster, treebank, tmp_path):
    settings = parsing_settings(treebank)
    in_threads = run_parsing(settings, tmp_path / "threads", jobs=2)
    on_cluster = run_parsing(settings, tmp_path / "cluster", workers=cluster)
    assert timeless(on_cluster) == timeless(in_threads)


def test_the_tagging_study_has_the_same_results(cluster, treebank, tmp_path):
    datasets = find_datasets([f"{treebank},target=upos"])
    settings = TaggingSettings(datasets=datasets, rules=("a-wm",), betas=(1.0,), seeds=2, epochs=2)
    in_threads = run_tagging(settings, tmp_path / "threads", jobs=2)
    on_cluster = run_tagging(settings, tmp_path / "cluster", workers=cluster)
    assert timeless(on_cluster) == timeless(in_threads)


def test_a_worker_killed_in_the_middle_changes_nothing(cluster, processes, tmp_path):
    settings = SyntheticSettings(setups=(1, 2), datasets=2, sizes=(60, 20, 20), epochs=2, rules=("a-wm",), betas=(1, 2))
    killed = []

    def progress(done, total):
        if done == 3:
            killed.append(processes()[0])
            os.kill(killed[0], signal.SIGKILL)

    on_cluster = run_synthetic(settings, tmp_path / "cluster", workers=cluster, progress=progress)
    assert killed
    assert on_cluster.to_json() == run_synthetic(settings, tmp_path / "threads", jobs=2).to_json()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda path: path.write_text("\n"), r"train\.conllu has another content here than .*on worker tls://"),
        (lambda path: path.unlink(missing_ok=True), r"cannot read .*train\.conllu: No such file.*on worker tls://"),
    ],
    ids=["changed", "missing"],
)
def test_a_file_that_a_worker_sees_otherwise_is_named(cluster, treebank, tmp_path, change, problem):
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in treebank.iterdir():
        (moved / path.name).write_bytes(path.read_bytes())

    def progress(done, total):
        change(moved / "train.conllu")

    with pytest.raises(InputError, match=problem):
        run_parsing(parsing_settings(moved), tmp_path / "study", workers=cluster, progress=progress)


STUDY = [
    "experiment",
    "synthetic",
    "--setups=1",
    "--datasets=4",
    "--sizes=2000,50,50",
    "--rules=a-wm",
    "--betas=1:3:0.5",
]


@pytest.mark.slow
def test_a_study_resumes_after_its_leader_was_killed(command, tmp_path):
    pytest.importorskip("distributed")
    arguments = [*STUDY, "--workers=2", "--output=study"]
    leader = subprocess.Popen([sys.executable, "-m", "swvp", *arguments], cwd=tmp_path, stderr=subprocess.DEVNULL)
    journal = tmp_path / "study" / "runs.jsonl"
    deadline = time.monotonic() + 120
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 5) and time.monotonic() < deadline:
        time.sleep(0.02)
    leader.kill()
    leader.wait()
    saved = len(journal.read_bytes().splitlines()) - 1
    code, _, err = command(*STUDY, "--output=study")
    assert code == 0
    assert f"{saved} are there already" in err
    assert command(*STUDY, "--output=again")[0] == 0
    assert (tmp_path / "study" / "results.json").read_bytes() == (tmp_path / "again" / "results.json").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for groups of processes")
def test_ctrl_c_ends_the_leader_and_its_workers_in_one_line(tmp_path):
    pytest.importorskip("distributed")
    arguments = [*STUDY, "--sizes=7000,50,50", "--datasets=50", "--workers=2", "--output=study"]
    leader = subprocess.Popen(
        [sys.executable, "-m", "swvp", *arguments],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    journal = tmp_path / "study" / "runs.jsonl"
    deadline = time.monotonic() + 120
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 2) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(leader.pid, signal.SIGINT)  # as a terminal does: to the workers too
    _, err = leader.communicate(timeout=60)
    assert leader.returncode == 130
    assert err.splitlines()[-1].startswith("stopped: ")
    assert "Traceback" not in err
