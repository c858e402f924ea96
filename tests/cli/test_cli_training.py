"""A model of several trainings: stages with checkpoints and lines of their own, which the same command goes on with."""

import json
import os
from pathlib import Path

import pytest
import typer

from helpers.texts import noisy
from swvp.cli import training as cli_training
from swvp.cli.output import new_console
from swvp.cli.training import Run, run_options
from swvp.io.table import read_table
from swvp.tagging.columns import layout_of, read_corpus
from swvp.tagging.tagger import Tagger
from swvp.training.tune import candidates


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.txt").write_text(noisy(2))
    Path("dev.txt").write_text(noisy(6))


def train_two(tune=False, **given):
    """Train two taggers, one after the other, and write the second."""
    options = {"train": "train.txt", "dev": "dev.txt", "encoding": "utf-8", "log": Path("log"), "checkpoint": 0.0}
    options |= {"model": Path("model"), "fresh": False, "tune": tune, "jobs": 2}
    run = Run(run_options(None, None, None, **(options | given)), new_console(stderr=True))
    layout = layout_of(read_table("train.txt"), None, None)
    data = [read_corpus(read_table(name), layout, labelled=True) for name in ("train.txt", "dev.txt")]
    first, second = (Tagger(rule="csp", epochs=epochs, random_state=epochs) for epochs in (3, 4))
    training = first.start(*data)
    if tune:
        first.finish(run.tune(first, training, candidates(["csp", "a-wm"], [1.0]), stage="trees"))
    else:
        first.finish(run.train(first, training, data, stage="trees", heading="trees"))
    second.finish(run.train(second, second.start(*data), data, stage="labels", heading="labels"))
    run.save(second, "two stages")
    return first


def log_of(path="log"):
    return [json.loads(line) | {"seconds": 0} for line in Path(path).read_text().splitlines()]


def test_stages_have_headings_and_lines_of_the_log(files, capsys):
    train_two()
    err = capsys.readouterr().err.splitlines()
    assert err.index("trees") < err.index("labels")
    assert err[-1] == "model: 0.0 MB, two stages"
    assert [(line["stage"], line["epoch"]) for line in log_of()] == [
        *(("trees", k) for k in (1, 2, 3)),
        *(("labels", k) for k in (1, 2, 3, 4)),
    ]
    assert sorted(os.listdir()) == ["dev.txt", "log", "model", "train.txt"]


@pytest.mark.parametrize("after", [("trees", 1), ("trees", 3), ("labels", 2), ("labels", 4)], ids=str)
def test_a_killed_run_goes_on_where_it_was(files, capsys, monkeypatch, after):
    train_two(model=Path("other"), log=Path("other.log"))
    save = cli_training.save_checkpoint

    def save_and_die(path, training, stamped):
        save(path, training, stamped)
        if (path.name, len(training.history)) == (f"model.{after[0]}.checkpoint", after[1]):
            raise SystemExit(137)

    with monkeypatch.context() as patch:
        patch.setattr(cli_training, "save_checkpoint", save_and_die)
        with pytest.raises(SystemExit):
            train_two()
    assert not Path("model").exists()
    capsys.readouterr()
    train_two()
    err = capsys.readouterr().err
    assert f"going on after pass {after[1]}, from model.{after[0]}.checkpoint" in err
    assert err.count("wrong tokens") == {("trees", 3): 1, ("labels", 2): 1, ("labels", 4): 0}.get(after, 2)
    assert Path("model").read_bytes() == Path("other").read_bytes()
    assert log_of() == log_of("other.log")
    assert sorted(os.listdir()) == ["dev.txt", "log", "model", "other", "other.log", "train.txt"]


def test_ctrl_c_in_the_last_pass_of_a_stage_stops_before_the_next(files, capsys, monkeypatch):
    def interrupt(log, progress, **more):
        if (more["stage"], progress.epoch.epoch) == ("trees", 3):
            cli_training.signal.raise_signal(cli_training.signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(cli_training, "write_line", interrupt)
        with pytest.raises(typer.Exit):
            train_two()
    assert capsys.readouterr().err.endswith("stopped after pass 3; the same command goes on from there\n")
    train_two()
    assert "going on after pass 3, from model.trees.checkpoint" in capsys.readouterr().err


def test_a_tuned_stage_is_logged_before_the_next(files):
    first = train_two(tune=True)
    assert first.rule in ("csp", "a-wm")
    stages = [line["stage"] for line in log_of()]
    assert stages == sorted(stages, reverse=True)
    assert {line.get("rule") for line in log_of() if line["stage"] == "trees"} == {"csp", "a-wm"}
