"""Training on shards by real worker processes: the bytes of a training without a cluster, also when workers die."""

import os
import signal
from pathlib import Path

import pytest

from helpers.texts import noisy
from helpers.trees import conllu, toy
from swvp.errors import InputError
from swvp.parsing.parser import Parser
from swvp.parsing.train_shards import train_parser_on_shards
from swvp.tagging.tagger import Tagger
from swvp.tagging.train import TaggerFiles
from swvp.tagging.train_shards import train_tagger_on_shards
from swvp.training.observer import Observer
from swvp.training.rounds import Sharding
from swvp.training.run import Run

pytest.importorskip("distributed", reason="needs Dask: pip install 'swvp[cluster]'")


@pytest.fixture
def corpus(tmp_path):
    """A folder with a training file and a dev set of each kind."""
    (tmp_path / "train.txt").write_text("".join(noisy(k) for k in range(4)))
    (tmp_path / "dev.txt").write_text(noisy(9))
    (tmp_path / "train.conllu").write_text(conllu(*toy(0, 40)))
    (tmp_path / "dev.conllu").write_text(conllu(*toy(9, 8)))
    return tmp_path


def tagger(folder, workers=None, store="shards", observers=(), seconds=1e9):
    """Train a tagger on three shards and return the bytes of its model."""
    run = Run(train=str(folder / "train.txt"), dev=str(folder / "dev.txt"), model=folder / "model", checkpoint=seconds)
    sharding = Sharding(3, folder=None if store is None else str(folder / store))
    learner = Tagger(epochs=5, random_state=0)
    train_tagger_on_shards(run, [run.train], TaggerFiles(), learner, sharding, observers, workers)
    return (folder / "model").read_bytes()


def parser(folder, workers=None, store="shards", **options):
    """Train a parser on three shards and return the bytes of its model."""
    run = Run(train=str(folder / "train.conllu"), dev=str(folder / "dev.conllu"), model=folder / "model")
    sharding = Sharding(3, folder=None if store is None else str(folder / store))
    learner = Parser(epochs=3, random_state=0, margin=1.0, hashed=2**14, **options)
    train_parser_on_shards(run, [run.train], learner, sharding, (), workers)
    return (folder / "model").read_bytes()


@pytest.mark.parametrize("store", ["shards", None])
def test_workers_train_a_tagger_to_the_same_bytes(corpus, cluster, store):
    assert tagger(corpus, cluster, store) == tagger(corpus)


def test_workers_train_a_parser_to_the_same_bytes(corpus, cluster):
    assert parser(corpus, cluster, None) == parser(corpus)


@pytest.mark.slow
def test_workers_train_a_parser_of_second_order_to_the_same_bytes(corpus, cluster):
    assert parser(corpus, cluster, None, order=2) == parser(corpus, order=2)


class Killer(Observer):
    """Kills workers after the second round; with them their shards are gone."""

    def __init__(self, processes):
        self.processes = processes

    def on_epoch(self, stage, progress):
        if progress.epoch.epoch == 2:
            for process in self.processes:
                os.kill(process, signal.SIGKILL)


@pytest.mark.parametrize(("killed", "store"), [(1, None), (2, None), (1, "shards")])
def test_killed_workers_change_no_byte(corpus, cluster, processes, killed, store):
    """One, and all at once: their nannies start others, which build the shards again, or lack only the weights."""
    alone = tagger(corpus)
    assert tagger(corpus, cluster, store, [Killer(processes()[:killed])]) == alone


class KillerInTheRound(Observer):
    """Kills a worker while the others train shards of a round."""

    def __init__(self, processes):
        self.processes = processes

    def on_shard(self, done, shards):
        if done == 1 and self.processes:
            os.kill(self.processes.pop(), signal.SIGKILL)


def test_a_worker_killed_in_the_middle_of_a_round_changes_no_byte(corpus, cluster, processes):
    alone = tagger(corpus)
    assert tagger(corpus, cluster, None, [KillerInTheRound(processes()[:1])]) == alone


def test_a_killed_leader_resumes_without_the_cluster(corpus, cluster):
    alone = tagger(corpus)
    (corpus / "model").unlink()

    class Leave(Observer):
        def on_checkpoint(self, path):
            raise SystemExit(137)

    with pytest.raises(SystemExit):
        tagger(corpus, cluster, None, [Leave()], seconds=0)
    assert (corpus / "model.checkpoint").exists()
    assert tagger(corpus) == alone


def test_a_worker_that_cannot_write_is_named_in_one_line(corpus, cluster):
    with pytest.raises(InputError, match=r"^cannot write .*train\.txt/x: Not a directory \(on worker .*\)$"):
        tagger(corpus, cluster, "train.txt/x")


def test_a_worker_that_cannot_see_a_file_is_named_with_it(corpus, cluster):
    text = (corpus / "train.txt").read_text()
    (corpus / "train.txt").unlink()

    class Hiding:
        """The leader sees the file; before workers are asked, it is gone."""

        addresses = cluster.addresses

        def map(self, *arguments, **options):
            (corpus / "train.txt").unlink()
            return cluster.map(*arguments, **options)

    (corpus / "train.txt").write_text(text)
    with pytest.raises(InputError, match=r"cannot read .*train\.txt: No such file or directory \(on worker .*\)"):
        tagger(corpus, Hiding())


def test_the_command_trains_on_a_cluster(fine, address):
    Path("train.txt").write_text("".join(noisy(k) for k in range(4)))
    Path("dev.txt").write_text(noisy(9))
    train = ["train", "tagger", "train.txt", "--dev", "dev.txt", "--epochs", "5", "--shards", "3", "-m"]
    fine(*train, "alone")
    err = fine(*train, "together", *address)[1]
    assert Path("together").read_bytes() == Path("alone").read_bytes()
    assert "tokens/s" in err


def test_a_cluster_needs_a_number_of_shards(refused):
    Path("train.txt").write_text(noisy(0))
    message = refused("train", "tagger", "train.txt", "--workers", "2", "-m", "model")
    assert message.startswith("--cluster and --workers need --shards S")
