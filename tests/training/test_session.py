"""Sessions: stages with their own checkpoints, observers, and resuming from Python."""

import io
import json
import os
import signal
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from helpers.texts import noisy
from helpers.trees import toy
from swvp.cli.progress import EpochLines, TrainingOutput
from swvp.errors import InputError
from swvp.estimators import DependencyParser, SequenceTagger
from swvp.io.table import read_table
from swvp.tagging.corpus import corpus_of
from swvp.tagging.files import layout_of, read_corpus
from swvp.tagging.tagger import Tagger
from swvp.training import session as session_module
from swvp.training.observer import Observer, TrainingLog
from swvp.training.run import Run
from swvp.training.training import Progress, Stopped
from swvp.training.tune import candidates


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("train.txt").write_text(noisy(2))
    Path("dev.txt").write_text(noisy(6))


def train_two(tune=False, observers=(), **given):
    """Train two taggers, one after the other, and write the second."""
    options = {"train": "train.txt", "dev": "dev.txt", "log": Path("log"), "checkpoint": 0.0, "model": Path("model")}
    run = Run(**(options | {"tune": tune, "jobs": 2} | given))
    layout = layout_of(read_table("train.txt"), None, None)
    data = [read_corpus(read_table(name), layout, labelled=True) for name in ("train.txt", "dev.txt")]
    first, second = (Tagger(rule="csp", epochs=epochs, random_state=epochs) for epochs in (3, 4))
    with run.session([TrainingOutput(), *observers]) as session:
        training = first.start(*data)
        if tune:
            training = session.tune(first, training, candidates(["csp", "a-wm"], [1.0]), jobs=2, stage="trees")
        else:
            session.train(first, training, data, stage="trees")
        first.finish(training)
        training = second.start(*data)
        session.train(second, training, data, stage="labels")
        second.finish(training)
        session.save(second, run.model, "two stages")
    return first


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (80, "round wrong sentences wrong tokens dev F1 seconds tokens/s left"),
        (70, "round wrong sentences wrong tokens dev F1 seconds left"),
        (60, "round wrong sentences dev F1 seconds left"),
        (40, "round dev F1 seconds left"),
    ],
)
def test_lines_of_epochs_leave_out_columns_in_narrow_terminals(width, headings):
    output = io.StringIO()
    training = SimpleNamespace(history=[], tokens=1000, dev=SimpleNamespace(metric="F1"))
    lines = EpochLines(Console(file=output, width=width), training, 3)
    lines.print_headings("sentences")
    epoch = SimpleNamespace(epoch=1, mistakes=7, wrong_positions=9, seconds=2.0)
    lines.print(Progress(epoch, 0.5, best=True))
    first, second = output.getvalue().splitlines()
    assert " ".join(first.split()) == headings
    assert second.split()[:2] == ["1", "7" if "sentences" in headings else "50.00"]
    assert len(second) <= width


def log_of(path="log"):
    return [json.loads(line) | {"seconds": 0} for line in Path(path).read_text().splitlines()]


# ---------------------------------------------------------------- stages


def test_stages_have_headings_and_lines_of_the_log(files, capsys):
    train_two()
    err = capsys.readouterr().err.splitlines()
    assert err.index("trees") < err.index("labels")
    assert err[-1].startswith("model: ")
    assert err[-1].endswith(" kB, two stages")
    assert [(line["stage"], line["epoch"]) for line in log_of()] == [
        *(("trees", k) for k in (1, 2, 3)),
        *(("labels", k) for k in (1, 2, 3, 4)),
    ]
    assert sorted(os.listdir()) == ["dev.txt", "log", "model", "train.txt"]


@pytest.mark.parametrize("after", [("trees", 1), ("trees", 3), ("labels", 2), ("labels", 4)], ids=str)
def test_a_killed_session_resumes_in_its_stage(files, capsys, monkeypatch, after):
    train_two(model=Path("other"), log=Path("other.log"))
    save = session_module.save_checkpoint

    def save_and_die(path, training, stamped):
        save(path, training, stamped)
        if (path.name, len(training.history)) == (f"model.{after[0]}.checkpoint", after[1]):
            raise SystemExit(137)

    with monkeypatch.context() as patch:
        patch.setattr(session_module, "save_checkpoint", save_and_die)
        with pytest.raises(SystemExit):
            train_two()
    assert not Path("model").exists()
    capsys.readouterr()
    train_two()
    err = capsys.readouterr().err
    assert f"resuming after epoch {after[1]}, from model.{after[0]}.checkpoint" in err
    assert err.count("wrong tokens") == {("trees", 3): 1, ("labels", 2): 1, ("labels", 4): 0}.get(after, 2)
    assert Path("model").read_bytes() == Path("other").read_bytes()
    assert log_of() == log_of("other.log")
    assert sorted(os.listdir()) == ["dev.txt", "log", "model", "other", "other.log", "train.txt"]


class CtrlC(Observer):
    """Sends the signal of Ctrl-C after an epoch of a stage."""

    def __init__(self, *after):
        self.after = after

    def on_epoch(self, stage, progress):
        if (stage, progress.epoch.epoch) == self.after:
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_in_the_last_epoch_of_a_stage_stops_before_the_next(files, capsys):
    with pytest.raises(Stopped):
        train_two(observers=[CtrlC("trees", 3)])
    assert capsys.readouterr().err.endswith("stopped after epoch 3; run the same command again to resume\n")
    train_two()
    assert "resuming after epoch 3, from model.trees.checkpoint" in capsys.readouterr().err


def test_a_tuned_stage_is_logged_before_the_next(files):
    first = train_two(tune=True)
    assert first.rule in ("csp", "a-wm")
    stages = [line["stage"] for line in log_of()]
    assert stages == sorted(stages, reverse=True)
    assert {line.get("rule") for line in log_of() if line["stage"] == "trees"} == {"csp", "a-wm"}


# ---------------------------------------------------------------- observers


class Recording(Observer):
    """Records the events of a session."""

    def __init__(self):
        self.events = []

    def __getattribute__(self, name):
        if not name.startswith("on_") and name != "close":
            return super().__getattribute__(name)
        return lambda *given: self.events.append(name)


def test_observers_see_the_events_in_order_and_are_closed_after_errors_too(files):
    recording = Recording()
    train_two(observers=[recording])
    stage = ["on_start", *["on_epoch", "on_checkpoint"] * 3]
    assert recording.events == [*stage, *stage, "on_epoch", "on_checkpoint", "on_saved", "close"]
    recording = Recording()
    with pytest.raises(Stopped):
        train_two(observers=[CtrlC("trees", 2), recording])
    assert recording.events[-5:] == ["on_interrupt", "on_epoch", "on_checkpoint", "on_stop", "close"]


def test_a_log_is_written_from_python_too(files):
    X, y = sentences(0)
    log = TrainingLog(Path("log"))
    tagger = Tagger(epochs=2, random_state=0)
    with session_module.Session(observers=[log]) as session:
        training = tagger.start(corpus_of(X, y, None))
        session.train(tagger, training, [])
    assert [line["epoch"] for line in log_of()] == [1, 2]


# ---------------------------------------------------------------- from Python


def sentences(seed):
    tokens = [[line.split() for line in text.splitlines()] for text in noisy(seed).strip().split("\n\n")]
    return [[word for word, _ in sentence] for sentence in tokens], [
        [tag for _, tag in sentence] for sentence in tokens
    ]


def interrupt_after(epoch):
    def watch(progress):
        if progress.epoch.epoch == epoch:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize(
    "options", [{}, {"average": False}, {"hashed": 64}, {"order": 2}, {"decoder": "beam"}], ids=str
)
@pytest.mark.parametrize("after", [1, 4])
def test_an_interrupted_tagger_resumes_to_the_same_bytes(tmp_path, monkeypatch, options, after):
    monkeypatch.chdir(tmp_path)
    (X, y), dev = sentences(2), sentences(6)

    def tagger():
        return SequenceTagger(rule="csp", epochs=6, random_state=3, **options)

    with pytest.raises(KeyboardInterrupt):
        tagger().fit(X, y, dev=dev, checkpoint="state", watch=interrupt_after(after))
    assert Path("state").exists()
    seen = []
    resumed = tagger().fit(X, y, dev=dev, checkpoint="state", watch=lambda progress: seen.append(progress.epoch.epoch))
    assert seen == list(range(after + 1, 7))
    assert not Path("state").exists()
    resumed.save("resumed")
    tagger().fit(X, y, dev=dev).save("whole")
    assert Path("resumed").read_bytes() == Path("whole").read_bytes()
    assert sorted(os.listdir()) == ["resumed", "whole"]


@pytest.mark.parametrize("after", [("trees", 2), ("trees", 3), ("labels", 1)], ids=str)
def test_an_interrupted_parser_resumes_to_the_same_bytes_in_both_stages(tmp_path, monkeypatch, after):
    monkeypatch.chdir(tmp_path)
    X, y = toy(2, 15, wrong=0.4)

    def parser():
        return DependencyParser(epochs=3, random_state=3, hashed=2**12)

    save = session_module.save_checkpoint

    def save_and_die(path, training, stamped):
        save(path, training, stamped)
        if (path.name, len(training.history)) == (f"state.{after[0]}.checkpoint", after[1]):
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(session_module, "save_checkpoint", save_and_die)
        patch.setattr(session_module.Session.__init__, "__kwdefaults__", every_epoch())
        with pytest.raises(KeyboardInterrupt):
            parser().fit(X, y, dev=(X, y), checkpoint="state.checkpoint")
    assert Path(f"state.{after[0]}.checkpoint").exists()
    parser().fit(X, y, dev=(X, y), checkpoint="state.checkpoint").save("resumed")
    parser().fit(X, y, dev=(X, y)).save("whole")
    assert Path("resumed").read_bytes() == Path("whole").read_bytes()
    assert sorted(os.listdir()) == ["resumed", "whole"]


def every_epoch():
    """The defaults of a session, with a checkpoint after every epoch."""
    return session_module.Session.__init__.__kwdefaults__ | {"seconds": 0.0}


def test_ctrl_c_in_python_finishes_the_epoch_and_saves_a_checkpoint(tmp_path):
    X, y = sentences(2)
    before = signal.getsignal(signal.SIGINT)

    def watch(progress):
        if progress.epoch.epoch == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        SequenceTagger(random_state=0).fit(X, y, checkpoint=tmp_path / "state", watch=watch)
    assert (tmp_path / "state").exists()
    assert signal.getsignal(signal.SIGINT) is before


def test_checkpoints_are_saved_in_other_threads_too(tmp_path):
    X, y = sentences(2)
    fitted = []
    thread = threading.Thread(
        target=lambda: fitted.append(SequenceTagger(random_state=0).fit(X, y, checkpoint=tmp_path / "state"))
    )
    thread.start()
    thread.join()
    np.testing.assert_array_equal(fitted[0].coef_, SequenceTagger(random_state=0).fit(X, y).coef_)


@pytest.mark.parametrize("options", [{"rule": "crf"}, {"vote": True}], ids=str)
def test_what_cannot_resume_says_so(tmp_path, options):
    with pytest.raises(InputError, match="cannot resume from a checkpoint: leave out checkpoint"):
        SequenceTagger(**options).fit(*sentences(2), checkpoint=tmp_path / "state")
    assert not os.listdir(tmp_path)


def test_a_checkpoint_of_other_data_or_in_no_folder_is_refused(tmp_path):
    X, y = sentences(2)
    with pytest.raises(KeyboardInterrupt):
        SequenceTagger(random_state=0).fit(X, y, checkpoint=tmp_path / "state", watch=interrupt_after(1))
    with pytest.raises(InputError, match=r"the checkpoint of another training \(other data, random_state\)"):
        SequenceTagger(random_state=1).fit(X[1:], y[1:], checkpoint=tmp_path / "state")
    with pytest.raises(InputError, match="there is no folder"):
        SequenceTagger().fit(X, y, checkpoint=tmp_path / "no" / "state")
