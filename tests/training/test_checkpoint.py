"""Interrupted training resumes to the same model, and only with the same data and options."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from helpers.texts import noisy
from swvp.estimators import SequenceTagger
from swvp.io.container import read_container, write_container
from swvp.tagging.corpus import corpus_of
from swvp.training import session
from swvp.training.observer import TrainingLog
from swvp.training.training import START_AGAIN, resume, save_checkpoint, stamp

TRAIN = ["train", "tagger", "train.txt", "--dev", "dev.txt", "--epochs", "6"]
CHECKPOINT = Path("model.checkpoint")


@pytest.fixture
def texts(command):
    """The files of the trainings, in the folder that commands run in."""
    Path("train.txt").write_text(noisy(2))
    Path("dev.txt").write_text(noisy(6))


@pytest.fixture
def killed(command, texts, monkeypatch):
    """Start a training of `model` that is killed after the checkpoint of an epoch."""

    def run(*options, after=2, train=TRAIN):
        save = session.save_checkpoint

        def save_and_die(path, training, stamped):
            save(path, training, stamped)
            if len(training.history) == after:
                raise SystemExit(137)

        with monkeypatch.context() as patch:
            patch.setattr(session, "save_checkpoint", save_and_die)
            assert command(*train, "-m", "model", "--checkpoint", "0", *options)[0] == 137
        assert CHECKPOINT.exists()
        assert not Path("model").exists()

    return run


def epochs(err):
    return [int(line[:5]) for line in err.splitlines() if line[:5].strip().isdigit()]


# ---------------------------------------------------------------- the same bytes


def test_the_same_command_gives_the_same_bytes_and_another_seed_others(fine, texts):
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        fine(*TRAIN, "-m", name, "--seed", seed, "--checkpoint", "0" if name == "b" else "10")
    assert Path("a").read_bytes() == Path("b").read_bytes() != Path("c").read_bytes()
    assert sorted(os.listdir()) == ["a", "b", "c", "dev.txt", "train.txt"]


@pytest.mark.parametrize("options", [[], ["--no-average"], ["--hashed", "64"], ["--rule", "csp"]], ids=str)
@pytest.mark.parametrize("after", [1, 4])
def test_a_killed_training_resumes_to_the_same_bytes(fine, killed, options, after):
    killed(*options, after=after)
    _, err = fine(*TRAIN, "-m", "model", *options)
    assert f"resuming after epoch {after}, from model.checkpoint" in err
    assert epochs(err) == list(range(after + 1, 7))
    fine(*TRAIN, "-m", "other", *options)
    assert Path("model").read_bytes() == Path("other").read_bytes()
    assert not CHECKPOINT.exists()


def test_without_a_dev_set_too(fine, killed):
    alone = [*TRAIN[:3], "--epochs", "6"]
    killed(train=alone)
    assert "resuming after epoch 2" in fine(*alone, "-m", "model")[1]
    fine(*alone, "-m", "other")
    assert Path("model").read_bytes() == Path("other").read_bytes()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_a_process_that_is_stopped_resumes_to_the_same_bytes(fine, texts, tmp_path, number):
    command = ["train", "tagger", "train.txt", "--dev", "dev.txt", "--epochs", "400", "--checkpoint", "0", "-m"]
    process = subprocess.Popen(
        [sys.executable, "-m", "swvp", *command, "model"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # may be ignored in the background
    )
    deadline = time.monotonic() + 120
    while not CHECKPOINT.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    try:
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in err
    if number == signal.SIGINT:
        assert f"stopped after epoch {epochs(err)[-1]}; run the same command again to resume" in err
    assert not Path("model").exists()
    assert "resuming after epoch" in fine(*command[:-3], "-m", "model")[1]
    fine(*command[:-3], "-m", "other")
    assert Path("model").read_bytes() == Path("other").read_bytes()
    assert sorted(os.listdir()) == ["dev.txt", "model", "other", "train.txt"]


@pytest.mark.parametrize(("times", "message"), [(1, "stopped after epoch 2; run the same command"), (2, "stopped")])
def test_ctrl_c_stops_after_the_epoch_and_twice_at_once(command, fine, texts, monkeypatch, times, message):
    def interrupt(log, stage, progress):
        if progress.epoch.epoch == 2:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        patch.setattr(TrainingLog, "on_epoch", interrupt)
        code, _, err = command(*TRAIN, "-m", "model", "--log", "log")
    assert code == 130
    assert "stopping after this epoch (Ctrl-C again: at once)" in err
    assert err.splitlines()[-1].startswith(message)
    assert signal.getsignal(signal.SIGINT) is before
    assert CHECKPOINT.exists() == (times == 1)
    fine(*TRAIN, "-m", "model")
    fine(*TRAIN, "-m", "other")
    assert Path("model").read_bytes() == Path("other").read_bytes()


def test_the_log_of_a_killed_training_has_every_epoch_once(fine, killed):
    killed("--log", "log", after=3)
    with open("log", "a") as file:
        file.write('{"epoch": 4}\n')  # an epoch after the last checkpoint
    fine(*TRAIN, "-m", "model", "--log", "log")
    log = [json.loads(line) for line in Path("log").read_text().splitlines()]
    assert [line["epoch"] for line in log] == [1, 2, 3, 4, 5, 6]
    tagger = SequenceTagger.load("model")
    assert [line["dev_score"] for line in log] == tagger.dev_scores_
    assert [line["epoch"] for line in log if line["best"]][-1] == tagger.best_epoch_


def test_what_a_process_killed_while_writing_left_is_removed(fine, killed):
    killed()
    left = [".model.checkpoint.swvp-new-ab_d1234", ".model.swvp-new-x"]
    others = [".model.original", ".other.checkpoint.swvp-new-abcd1234"]
    for name in (*left, *others):
        Path(name).write_text("")
    fine(*TRAIN, "-m", "model")
    assert sorted(os.listdir()) == [*others, "dev.txt", "model", "train.txt"]


# ---------------------------------------------------------------- what may differ and what may not


def test_more_epochs_and_other_patience_are_fine_and_fewer_are_not(fine, refused, killed):
    killed(after=3)
    assert refused(*TRAIN, "-m", "model", "--epochs", "2") == (
        f"model.checkpoint was saved after epoch 3, but epochs is 2: {START_AGAIN}"
    )
    fine(*TRAIN, "-m", "model", "--epochs", "9")
    fine(*TRAIN, "-m", "other", "--epochs", "9")
    assert Path("model").read_bytes() == Path("other").read_bytes()


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--seed", "1"], "--seed"),
        (["--rule", "csp"], "rule"),
        (["--beta", "2", "--rule", "b-wm"], "beta, rule"),
        (["--no-average"], "average"),
        (["--min-count", "2"], "data, --min-count"),
        (["--features", "ner"], "data, features"),
        (["--load", "mine.py"], "load"),
    ],
)
def test_other_options_are_refused_by_name(fine, refused, killed, options, names):
    killed()
    Path("mine.py").write_text("")
    before = CHECKPOINT.read_bytes()
    assert refused(*TRAIN, "-m", "model", *options) == (
        f"model.checkpoint is the checkpoint of another training (other {names}): {START_AGAIN}"
    )
    assert CHECKPOINT.read_bytes() == before
    assert epochs(fine(*TRAIN, "-m", "model", *options, "--fresh")[1]) == [1, 2, 3, 4, 5, 6]
    assert not CHECKPOINT.exists()


@pytest.mark.parametrize("name", ["train.txt", "dev.txt"])
@pytest.mark.parametrize("change", [("w1 ", "w2 "), (" A", " B"), ("w", "v"), (" A", " D")], ids=str)
def test_other_data_are_refused(refused, killed, name, change):
    """Words of the dev set and new names for all labels count too."""
    killed()
    Path(name).write_text(Path(name).read_text().replace(*change))
    assert "another training (other data)" in refused(*TRAIN, "-m", "model")


def test_a_dev_set_that_comes_or_goes_is_refused(refused, killed):
    killed()
    assert "another training (other data)" in refused(*TRAIN[:3], "-m", "model")


def test_a_changed_gamma_is_another_training(refused, killed):
    text = "import swvp\nswvp.register_gamma('kept', lambda margins, beta: margins * 0 + 1)\n"
    Path("mine.py").write_text(text)
    options = ["--load", "mine.py", "--rule", "a-kept"]
    killed(*options)
    Path("mine.py").write_text(text.replace("+ 1", "+ beta"))
    assert "another training (other load)" in refused(*TRAIN, "-m", "model", *options)


@pytest.mark.parametrize("rule", ["csp", "a-wm:ada"])
def test_the_whole_state_is_kept(rule, tmp_path):
    corpus = corpus_of([["a", "b", "a"], ["b"]] * 3, [["A", "B", "C"], ["C"]] * 3, None)
    begun, new = (SequenceTagger(rule=rule, random_state=0).start(corpus, corpus) for _ in range(2))
    begun.run(3)
    save_checkpoint(tmp_path / "file", begun, stamp(begun, {}))
    assert not resume(tmp_path / "nothing", new, stamp(new, {}))
    assert resume(tmp_path / "file", new, stamp(new, {}))
    assert (new.state.clock, new.scores, new.history) == (begun.state.clock, begun.scores, begun.history)
    assert new.state.largest[0] == begun.state.largest[0] > 0
    np.testing.assert_array_equal(new.state.squares, begun.state.squares)
    assert begun.state.squares.any() == ("ada" in rule)
    assert new.orders.bit_generator.state == begun.orders.bit_generator.state
    for name in ("w", "w_move", "delayed", "delayed_move", "moves"):
        np.testing.assert_array_equal(getattr(new.model, name), getattr(begun.model, name))
    for name, array in begun.best.items():
        np.testing.assert_array_equal(new.best[name], array)


# ---------------------------------------------------------------- broken checkpoints


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda good: b"", "model.checkpoint: not a model file of swvp"),
        (lambda good: b"w1 A\n" * 9, "model.checkpoint: not a model file of swvp"),
        (lambda good: good[: len(good) // 2], "model.checkpoint: cut off"),
        (lambda good: good[:-1], "model.checkpoint: cut off"),
        (lambda good: good[:-1] + bytes([good[-1] ^ 1]), "model.checkpoint: damaged"),
        (lambda good: good[:60] + b"?" + good[61:], "model.checkpoint: damaged"),
    ],
)
def test_a_damaged_checkpoint_is_one_line_and_fresh_helps(fine, refused, killed, broken, message):
    killed()
    CHECKPOINT.write_bytes(broken(CHECKPOINT.read_bytes()))
    line = refused(*TRAIN, "-m", "model")
    assert line.startswith(message)
    assert line.endswith(f": {START_AGAIN}")
    fine(*TRAIN, "-m", "model", "--fresh")


def test_a_model_or_a_folder_in_its_place_is_one_line(fine, refused, texts):
    fine(*TRAIN, "-m", "model.checkpoint")
    assert "a model of the kind 'tagger', not 'tagger training'" in refused(*TRAIN, "-m", "model")
    CHECKPOINT.unlink()
    CHECKPOINT.mkdir()
    for options in ([], ["--fresh"]):
        assert refused(*TRAIN, "-m", "model", *options).startswith("cannot read model.checkpoint: Is a directory")


def test_a_checkpoint_is_no_model(refused, killed):
    killed()
    assert "a model of the kind 'tagger training', which cannot predict" in refused("predict", CHECKPOINT, "dev.txt")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda meta, arrays: meta["history"][0].update(mistakes="3"), "its history cannot be right"),
        (lambda meta, arrays: meta["history"][1].update(norm=None), "its history cannot be right"),
        (lambda meta, arrays: meta["history"][1].update(updates=1.5), "its history cannot be right"),
        (lambda meta, arrays: meta["history"][1].update(epoch=1), "its history cannot be right"),
        (lambda meta, arrays: meta["scores"].__setitem__(0, "0.5"), "its scores cannot be right"),
        (lambda meta, arrays: meta["scores"].__setitem__(0, True), "its scores cannot be right"),
        (lambda meta, arrays: meta.update(clock=24.0), "its clock cannot be right"),
        (lambda meta, arrays: meta.update(clock="24"), "its clock cannot be right"),
        (lambda meta, arrays: meta.update(largest=10**400), "its clock cannot be right"),
        (lambda meta, arrays: meta.update(largest=-1), "its clock cannot be right"),
        (lambda meta, arrays: arrays.update(more=np.zeros(3)), "it has an array 'more' that nobody reads"),
        (lambda meta, arrays: arrays.pop("best w places"), "it lacks its array 'best w places'"),
    ],
)
def test_a_checkpoint_is_as_strict_as_a_model(refused, killed, change, message):
    """What it lets through would be in the model, which could not be loaded."""
    killed()
    kind, meta, arrays = read_container(CHECKPOINT, "tagger training")
    arrays = dict(arrays)
    change(meta, arrays)
    write_container(CHECKPOINT, kind, meta, arrays)
    line = refused(*TRAIN, "-m", "model")
    assert message in line
    assert line.endswith(f": {START_AGAIN}")


@pytest.mark.parametrize("seed", range(30))
def test_a_checkpoint_whose_parts_do_not_fit_is_refused_or_works(command, killed, seed):
    """Fuzzing behind the checksums: change one part of a sound file at random, and write it as a sound file."""
    killed()
    rng = np.random.default_rng(seed)
    kind, meta, arrays = read_container(CHECKPOINT, "tagger training")
    meta, arrays = json.loads(json.dumps(meta)), {name: array.copy() for name, array in arrays.items()}
    if seed % 2:
        name = str(rng.choice(list(arrays)))
        flat = arrays[name]
        arrays[name] = [flat[:-1], flat.reshape(1, -1), flat + 10**7, np.concatenate([flat, flat])][rng.integers(4)]
    else:
        name = str(rng.choice(list(meta)))
        meta[name] = [None, [], {}, "x", 3, ["x"], [["x"]], [1], {"x": 1}][rng.integers(9)]
    CHECKPOINT.unlink()
    write_container(CHECKPOINT, kind, meta, arrays)
    code, _, err = command(*TRAIN, "-m", "model")
    assert "Traceback" not in err
    assert (code, Path("model").exists()) in ((0, True), (2, False))
