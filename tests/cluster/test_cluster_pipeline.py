"""`swvp train pipeline` on a cluster: stages and folds are tasks, the model has the same bytes."""

from pathlib import Path

import pytest

from helpers.trees import conllu, toy
from swvp.errors import InputError
from swvp.text import part_checkpoints
from swvp.text.stages_on_cluster import Part, Recipe, train_part

TRAIN = ["train", "pipeline", "el-ud-train.conllu", "--dev", "el-ud-dev.conllu", "--folds", "2"]


@pytest.fixture
def files(command):
    for seed, part in enumerate(("train", "dev")):
        Path(f"el-ud-{part}.conllu").write_text(conllu(*toy(seed, 40, wrong=0.2)))


def test_the_model_is_the_one_of_threads_and_unfinished_work_resumes(command, files, address, monkeypatch):
    assert command(*TRAIN, "-m", "here", "--jobs", "2")[0] == 0
    original, stored = part_checkpoints.PartCheckpoints.store, []

    def stop_after_two(self, stage, *described):
        if len(stored) == 2:
            raise InputError("interrupted")
        stored.append(stage)
        original(self, stage, *described)

    monkeypatch.setattr(part_checkpoints.PartCheckpoints, "store", stop_after_two)
    assert command(*TRAIN, "-m", "there", *address)[0] == 2
    monkeypatch.setattr(part_checkpoints.PartCheckpoints, "store", original)
    code, _, err = command(*TRAIN, "-m", "there", *address)
    assert code == 0
    (line,) = (line for line in err.splitlines() if line.endswith("on the cluster"))
    assert not set(stored) & set(line.removeprefix("training ").removesuffix(" on the cluster").split(", "))
    assert Path("here").read_bytes() == Path("there").read_bytes()
    assert not list(Path().glob("*.checkpoint"))


def test_a_worker_with_another_treebank_refuses_it(files):
    recipe = Recipe(str(Path("el-ud-train.conllu").absolute()), None, "utf-8", "another", 0, 2, {})
    with pytest.raises(InputError, match=r"el-ud-train\.conllu: another content here"):
        train_part(recipe, Part("tags"))


def test_standard_input_is_refused(command, files, address):
    code, _, err = command("train", "pipeline", "-", "-m", "model", *address, stdin=b"")
    assert (code, "must be files that all workers see" in err) == (2, True)
