"""`--tune` on a cluster: the same table and model as in threads."""

import re
from pathlib import Path

import pytest

from helpers.texts import noisy
from helpers.trees import conllu, toy
from swvp.tagging.tagger import Tagger
from swvp.tagging.train import TaggerFiles, start_on_worker
from swvp.training.run import Run
from swvp.training.tune import Recipe, candidates, train_on_worker

TAGGER = ["train", "tagger", "train.txt", "--dev", "dev.txt", "--epochs", "3", "--tune", "--rules", "csp,a-wm,softmax"]
PARSER = ["train", "parser", "train.conllu", "--dev", "dev.conllu", "--epochs", "2", "--tune", "--rules", "csp,a-wm"]
HASHED = ["--hashed", "4096", "--betas", "1"]


@pytest.fixture
def files(command):
    Path("train.txt").write_text(noisy(2))
    Path("dev.txt").write_text(noisy(6))
    for seed, part in enumerate(("train", "dev")):
        Path(f"{part}.conllu").write_text(conllu(*toy(seed, 40, wrong=0.2)))


def table_of(err):
    return [re.sub(r" +[\d.]+ *$", "", line) for line in err.splitlines() if " % " in line]  # without seconds


@pytest.mark.parametrize("arguments", [[*TAGGER, "--betas", "0.5,2"], [*PARSER, *HASHED]], ids=["tagger", "parser"])
def test_the_model_is_the_one_of_threads(command, files, address, arguments):
    code, _, here = command(*arguments, "-m", "here", "--jobs", "2")
    assert code == 0
    code, _, there = command(*arguments, "-m", "there", *address)
    assert code == 0
    assert Path("here").read_bytes() == Path("there").read_bytes()
    assert table_of(here) == table_of(there) != []


def test_a_cluster_without_tuning_is_refused(command, files, address):
    code, _, err = command("train", "tagger", "train.txt", "-m", "model", *address)
    assert (code, "--cluster and --workers need --shards S" in err) == (2, True)


def test_standard_input_is_refused(command, files, address):
    code, _, err = command(*TAGGER[:2], "-", *TAGGER[3:], "-m", "model", *address)
    assert (code, "must be files that all workers see" in err) == (2, True)


def test_a_worker_with_other_data_refuses_them(files):
    run = Run(train="train.txt", dev="dev.txt", model=Path("model"))
    recipe = Recipe(lambda: start_on_worker(run, TaggerFiles(), Tagger()), "key", "digest", "train.txt, dev.txt")
    with pytest.raises(ValueError, match=r"train\.txt, dev\.txt: another content here"):
        train_on_worker(recipe, 1, None, candidates(["csp"], [])[0])
