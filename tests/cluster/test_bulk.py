"""Bulk prediction: the bytes of the plain command, in threads or on a cluster, resumed, with problems at the end."""

import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from helpers.trees import conllu, toy
from swvp import DependencyParser, SequenceTagger
from swvp.bulk import run as bulk_run
from swvp.bulk.plan import inputs_of
from swvp.bulk.run import predict_files
from swvp.bulk.work import Prediction, model_files
from swvp.cluster.connect import Threads
from swvp.errors import InputError
from swvp.io.blocks import sections_of
from swvp.pipeline import load_models, predict_blocks
from swvp.text.pipeline import Pipeline

WORDS = "the DT B-NP\ndog NN I-NP\nbarks VB B-VP\n\nBo NNP B-NP\nsaw VB B-VP\na DT B-NP\ncat NN I-NP\n\n"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A tagger of columns, a parser and a pipeline."""
    folder = tmp_path_factory.mktemp("models")
    X = [[("the", "DT"), ("dog", "NN"), ("barks", "VB")], [("Bo", "NNP"), ("saw", "VB"), ("a", "DT"), ("cat", "NN")]]
    y = [["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP", "B-NP", "I-NP"]]
    SequenceTagger(epochs=3, random_state=0).fit(X, y).save(folder / "tagger.swvp")
    (folder / "train.conllu").write_text(conllu(*toy(0, 40)))
    DependencyParser(hashed=2**12, epochs=2, random_state=0).fit(folder / "train.conllu").save(folder / "parser.swvp")
    Pipeline.train(folder / "train.conllu", stages="tokens,tags").save(folder / "pipeline.swvp")
    return folder


@pytest.fixture
def texts(tmp_path):
    """Column files of several sizes, one of them compressed."""
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.txt").write_text(WORDS * (number + 1))
    (folder / "packed.txt.gz").write_bytes(gzip.compress(WORDS.encode() * 3))
    return folder


def paths_in(folder):
    return sorted(map(str, folder.iterdir()))


def predict(model, files, folder, workers, **options):
    inputs = inputs_of(files, folder, models=[model])
    given = (("encoding", "utf-8"), ("conllu", False), ("check_prose", True))
    return predict_files(
        Prediction("predict", model_files([model]), given, str(folder), 2**30), inputs, workers, **options
    )


def content_of(folder):
    """The outputs in a folder by name, unpacked."""
    return {
        path.name: gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        for path in folder.iterdir()
        if not path.name.startswith(".")
    }


def plain(model, path):
    return b"".join(predict_blocks(load_models([model]), str(path)))


def test_outputs_are_those_of_the_plain_command_in_threads_and_on_a_cluster(cluster, models, texts, tmp_path):
    model, files = models / "tagger.swvp", paths_in(texts)
    assert predict(model, files, tmp_path / "threads", Threads(2)) == []
    assert predict(model, files, tmp_path / "cluster", cluster) == []
    expected = {path.name: plain(model, path) for path in texts.iterdir()}
    assert content_of(tmp_path / "threads") == content_of(tmp_path / "cluster") == expected
    assert not list(tmp_path.glob("*/.swvp-pieces"))


@pytest.mark.parametrize("size", [40, 100, 1000])
def test_sections_of_a_large_file_give_the_bytes_of_the_whole(models, tmp_path, size):
    model, path = models / "parser.swvp", tmp_path / "large.conllu"
    path.write_text("# begin\n" + conllu(*toy(3, 30)) + "\n\n# end\n")
    assert len(sections_of(path, size)) > 2
    assert predict(model, [str(path)], tmp_path / "out", Threads(2), section=size) == []
    assert (tmp_path / "out" / "large.conllu").read_bytes() == plain(model, path)


def test_an_error_in_a_section_has_the_line_of_the_file(models, tmp_path):
    path = tmp_path / "large.txt"
    path.write_text(WORDS * 20 + "one two three four five six\n\n" + WORDS * 20)
    (problem,) = predict(models / "tagger.swvp", [str(path)], tmp_path / "out", Threads(1), section=200)
    assert f"{path}:181:" in problem.message
    assert content_of(tmp_path / "out") == {}


def test_corrupt_files_are_reported_and_the_rest_is_done(models, texts, tmp_path):
    (texts / "bad.txt").write_text("a b c\nd\n\n")
    files = [*paths_in(texts), str(texts / "missing.txt")]
    problems = predict(models / "tagger.swvp", files, tmp_path / "out", Threads(2))
    assert {problem.given for problem in problems} == {str(texts / "bad.txt"), str(texts / "missing.txt")}
    assert any(f"{texts / 'bad.txt'}:2: " in problem.message for problem in problems)
    assert content_of(tmp_path / "out").keys() == {path.name for path in texts.iterdir()} - {"bad.txt"}


def test_finished_outputs_are_skipped(models, texts, tmp_path, monkeypatch):
    model, files = models / "tagger.swvp", paths_in(texts)
    predict(model, files[:3], tmp_path / "out", Threads(1))
    made = []
    original = bulk_run.predict_piece
    monkeypatch.setattr(bulk_run, "predict_piece", lambda p, piece: made.append(piece.output) or original(p, piece))
    predict(model, files, tmp_path / "out", Threads(1))
    assert made == [os.path.basename(path) for path in files[3:]]


@pytest.mark.parametrize("changed", ["input", "model", "output", "deleted"])
def test_an_output_of_another_input_or_model_is_made_again(models, texts, tmp_path, changed):
    model, files, out = tmp_path / "model.swvp", paths_in(texts)[:1], tmp_path / "out"
    model.write_bytes((models / "tagger.swvp").read_bytes())
    predict(model, files, out, Threads(1))
    expected = content_of(out)
    (output,) = (path for path in out.iterdir() if not path.name.startswith("."))
    if changed == "input":
        (texts / "0.txt").write_text(WORDS * 2)
        expected = {"0.txt": plain(model, texts / "0.txt")}
    elif changed == "model":
        X, y = [[("the", "DT"), ("dog", "NN")]], [["X", "Y"]]
        SequenceTagger(epochs=1, random_state=0).fit(X, y).save(model)
        expected = {"0.txt": plain(model, texts / "0.txt")}
    elif changed == "output":
        output.write_text("mine")
    else:
        output.unlink()
    predict(model, files, out, Threads(1))
    assert content_of(out) == expected


def test_pieces_of_an_interrupted_command_are_not_made_again(models, tmp_path, monkeypatch):
    model, path, out = models / "tagger.swvp", tmp_path / "large.txt", tmp_path / "out"
    path.write_text(WORDS * 50)
    made = []
    original = bulk_run.predict_piece

    def stop_after_three(prediction, piece):
        if len(made) == 3:
            raise KeyboardInterrupt
        made.append(piece.number)
        return original(prediction, piece)

    monkeypatch.setattr(bulk_run, "predict_piece", stop_after_three)
    with pytest.raises(KeyboardInterrupt):
        predict(model, [str(path)], out, Threads(1), section=500)
    assert content_of(out) == {}
    monkeypatch.setattr(bulk_run, "predict_piece", lambda p, piece: made.append(piece.number) or original(p, piece))
    predict(model, [str(path)], out, Threads(1), section=500)
    assert sorted(made) == list(range(len(made)))
    assert content_of(out) == {"large.txt": plain(model, path)}


def test_a_killed_worker_changes_nothing(cluster, processes, models, texts, tmp_path):
    killed = []

    def watch(status):
        if status.files == 2 and not killed:
            killed.append(processes()[0])
            os.kill(killed[0], signal.SIGKILL)

    model = models / "tagger.swvp"
    assert predict(model, paths_in(texts), tmp_path / "out", cluster, watch=watch, section=100) == []
    assert killed
    assert content_of(tmp_path / "out") == {path.name: plain(model, path) for path in texts.iterdir()}


def test_a_full_disk_fails_one_file_and_leaves_nothing_of_it(models, texts, tmp_path, monkeypatch):
    original, calls = os.fsync, []

    def fsync(handle):
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    (problem,) = predict(models / "tagger.swvp", paths_in(texts), tmp_path / "out", Threads(1))
    assert "No space left on device" in problem.message
    assert len(content_of(tmp_path / "out")) == len(paths_in(texts)) - 1
    assert {path.name for path in (tmp_path / "out").iterdir() if path.name.startswith(".")} == {".swvp-manifest.jsonl"}


def test_a_worker_that_cannot_write_is_named(cluster, models, texts, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "0.txt").mkdir()
    (problem,) = predict(models / "tagger.swvp", paths_in(texts), out, cluster)
    assert problem.given.endswith("0.txt")
    assert "on worker tls://" in problem.message


def test_outputs_with_the_same_name_are_refused(models, texts, tmp_path):
    other = tmp_path / "0.txt"
    other.write_text(WORDS)
    with pytest.raises(InputError, match=r"texts/0\.txt and .*0\.txt would both be written to"):
        inputs_of([str(texts / "0.txt"), str(other)], tmp_path / "out", models=[])


def test_inputs_are_never_replaced(models, texts):
    with pytest.raises(InputError, match="would be replaced, but it is an input or a model"):
        inputs_of([str(texts / "0.txt")], texts, models=[])


def test_two_commands_cannot_write_into_one_folder(models, texts, tmp_path):
    model, out = models / "tagger.swvp", tmp_path / "out"

    def watch(status):
        with pytest.raises(InputError, match="another command is writing"):
            predict(model, paths_in(texts), out, Threads(1))

    predict(model, paths_in(texts)[:1], out, Threads(1), watch=watch)


def test_the_command_reports_problems_with_exit_code_2(command, address, models, texts, tmp_path):
    (texts / "bad.txt").write_text("a b c\nd\n\n")
    arguments = ["predict", models / "tagger.swvp", *paths_in(texts), "--output-dir", "out"]
    code, out, err = command(*arguments, *address)
    assert (code, out) == (2, b"")
    assert "scheduler: tls://" in err
    assert f"{texts / 'bad.txt'}:2: 1 column, but 3 on the lines before" in err
    assert "swvp: 1 of 8 files could not be predicted; all others are in out" in err
    assert "tokens/s" in err
    assert command(*arguments)[0] == 2
    (texts / "bad.txt").unlink()
    code, _, err = command("predict", models / "tagger.swvp", *paths_in(texts), "--output-dir", "out")
    assert (code, "7 of 7 files are finished already" in err) == (0, True)


def test_texts_are_parsed_into_a_folder(command, address, models, tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.txt").write_text("a dog sees a cat . " * (number + 1) + "\n\nthe cat runs .\n")
    files = sorted(tmp_path.glob("*.txt"))
    arguments = ["parse", models / "pipeline.swvp", *files, "--output-dir"]
    assert command(*arguments, "here")[0] == 0
    assert command(*arguments, "there", *address)[0] == 0
    assert content_of(tmp_path / "here").keys() == {"0.conllu", "1.conllu", "2.conllu"}
    assert content_of(tmp_path / "here") == content_of(tmp_path / "there")
    for path in files:
        assert (
            command("parse", models / "pipeline.swvp", path)[1] == content_of(tmp_path / "here")[f"{path.stem}.conllu"]
        )


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["x.txt", "--workers", "2"], "need --output-dir"),
        (["x.txt", "--output-dir", "o", "-o", "y"], "exclude each other"),
        (["-", "--output-dir", "o"], "not standard input"),
        (["x.txt", "y.txt"], "or for several also --output-dir"),
        (["x.txt", "--output-dir", "o", "--workers", "2", "--cluster", "tcp://x:1"], "exclude each other"),
    ],
)
def test_wrong_options_of_the_command_are_refused(command, models, tmp_path, arguments, problem):
    (tmp_path / "x.txt").write_text(WORDS)
    code, _, err = command("predict", models / "tagger.swvp", *arguments)
    assert (code, problem in err) == (2, True)


@pytest.mark.slow
def test_bulk_work_resumes_after_its_leader_was_killed(command, models, tmp_path):
    pytest.importorskip("distributed")
    for number in range(12):
        (tmp_path / f"{number}.txt").write_text(WORDS * 3000)
    files = sorted(str(path) for path in tmp_path.glob("*.txt"))
    arguments = ["predict", str(models / "tagger.swvp"), *files, "--output-dir=out"]
    process = [sys.executable, "-m", "swvp", *arguments, "--workers=2"]
    leader = subprocess.Popen(process, cwd=tmp_path, stderr=subprocess.DEVNULL)
    manifest = tmp_path / "out" / ".swvp-manifest.jsonl"
    for _ in range(1000):
        if manifest.exists() and manifest.read_bytes().count(b"\n") >= 3:
            break
        time.sleep(0.02)
    leader.kill()
    leader.wait()
    finished = {json.loads(line)["output"] for line in manifest.read_bytes().splitlines()}
    assert len(finished) >= 3
    code, _, err = command(*arguments)
    assert code == 0
    assert f"{len(finished)} of 12 files are finished already" in err
    assert len(set(content_of(tmp_path / "out").values())) == 1
    assert not [path for path in (tmp_path / "out").iterdir() if ".swvp-new-" in path.name]
