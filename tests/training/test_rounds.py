"""Training on shards: the bytes of plain training with one shard, the same bytes in any order, and after kills."""

import errno
import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from helpers.texts import noisy
from helpers.trees import conllu, toy
from swvp.cluster.threads import Threads
from swvp.errors import InputError
from swvp.parsing.parser import Parser
from swvp.parsing.train_shards import train_parser_on_shards
from swvp.structures.exact import averaged
from swvp.tagging.dictionary import BlockKeys, merge_vocabularies
from swvp.tagging.files import read_labelled
from swvp.tagging.tagger import Tagger
from swvp.tagging.train import TaggerFiles
from swvp.tagging.train_shards import train_tagger_on_shards
from swvp.training import session
from swvp.training.rounds import Sharding
from swvp.training.run import Run
from swvp.training.shard_store import ShardStore

TAGGER = ["train", "tagger", "--epochs", "4", "--dev", "dev.txt"]
PARSER = ["train", "parser", "--epochs", "2", "--hashed", "16384", "--dev", "dev.conllu"]


@pytest.fixture
def corpora(command):
    """Column files and treebanks in the folder that commands run in, whole and in a folder of several files."""
    Path("words").mkdir()
    Path("trees").mkdir()
    for k in range(3):
        Path("words", f"{k}.txt").write_text(noisy(k))
        Path("trees", f"{k}.conllu").write_text(conllu(*toy(k, 14)))
    Path("train.txt").write_text("".join(noisy(k) for k in range(3)))
    Path("train.conllu").write_text("".join(conllu(*toy(k, 14)) for k in range(3)))
    Path("dev.txt").write_text(noisy(9))
    Path("dev.conllu").write_text(conllu(*toy(9, 8)))


@pytest.fixture
def model(fine, corpora):
    """Run a training and return the bytes of its model."""

    def run(*options):
        fine(*options, "-m", "model")
        content = Path("model").read_bytes()
        Path("model").unlink()
        assert not Path("model.shards").exists()
        return content

    return run


def train(shards=3, workers=None, blocks=1, name="model", observers=(), files=("train.txt",), **options):
    """Train a tagger on shards and return the bytes of its model."""
    sharding = Sharding(shards, blocks, folder=f"{name}.shards", **options)
    run = Run(train=files[0], dev="dev.txt", model=Path(name), checkpoint=0)
    tagger = Tagger(epochs=4, random_state=0)
    training = train_tagger_on_shards(run, list(files), TaggerFiles(), tagger, sharding, observers, workers)
    return Path(name).read_bytes(), training, tagger


class LastFirst(Threads):
    """Runs tasks in two threads, the last one first."""

    def map(self, function, items, **options):
        items = list(items)
        with ThreadPoolExecutor(2) as pool:
            futures = [pool.submit(function, item) for item in items[::-1]][::-1]
            yield from enumerate(future.result() for future in futures)


# ---------------------------------------------------------------- one shard


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--min-count", "2"],
        ["--hashed", "512", "--rule", "csp"],
        pytest.param(["--features", "pos", "--beam", "2", "--patience", "1"], marks=pytest.mark.slow),
    ],
)
def test_a_tagger_of_one_shard_is_the_plain_one_byte_for_byte(model, options):
    plain = model(*TAGGER, "train.txt", *options)
    assert model(*TAGGER, "train.txt", "--shards", "1", *options) == plain
    assert model(*TAGGER, "words", *options) == plain  # several files are trained on as one


@pytest.mark.parametrize("options", [["--batch", "4"], pytest.param(["--order", "2"], marks=pytest.mark.slow)])
def test_a_parser_of_one_shard_is_the_plain_one_byte_for_byte(model, options):
    plain = model(*PARSER, "train.conllu", *options)
    assert model(*PARSER, "train.conllu", "--shards", "1", *options) == plain
    assert model(*PARSER, "trees/*.conllu", *options) == plain


# ---------------------------------------------------------------- several shards


@pytest.mark.parametrize("shards", [2, 5])
@pytest.mark.parametrize("options", [{}, {"minimum_count": 2}])
def test_the_dictionary_of_shards_is_that_of_one_pass(model, shards, options):
    more = ["--min-count", "2"] if options else []
    Path("plain").write_bytes(model(*TAGGER, "train.txt", "--features", "pos", *more))
    Path("mixed").write_bytes(model(*TAGGER, "words", "--features", "pos", "--shards", shards, *more))
    plain, mixed = Tagger.load("plain"), Tagger.load("mixed")
    assert mixed.encoder_.vocabularies == plain.encoder_.vocabularies
    assert (mixed.encoder_.keys == plain.encoder_.keys).all()
    assert mixed.encoder_.lexicons == plain.encoder_.lexicons
    assert mixed.classes_ == plain.classes_
    assert not np.array_equal(mixed.coef_, plain.coef_)


def test_the_tables_of_a_parser_of_shards_are_those_of_one_pass(model):
    Path("plain").write_bytes(model(*PARSER, "train.conllu"))
    Path("mixed").write_bytes(model(*PARSER, "trees", "--shards", "4"))
    plain, mixed = Parser.load("plain"), Parser.load("mixed")
    assert mixed.model_.ranks == plain.model_.ranks
    assert (mixed.model_.longest == plain.model_.longest).all()
    assert mixed.labeller_.classes == plain.labeller_.classes


@pytest.mark.parametrize("mixing", ["uniform", "mistakes", "changed"])
@pytest.mark.parametrize("keep", ["average", "dev"])
def test_the_bytes_do_not_depend_on_who_trains_a_shard_or_when(corpora, mixing, keep):
    first = train(4, None, mixing=mixing, keep=keep)[0]
    assert train(4, LastFirst(), mixing=mixing, keep=keep)[0] == first


def test_the_number_of_shards_decides_the_weights(corpora):
    assert len({train(shards)[0] for shards in (1, 2, 3)}) == 3


def test_shards_learn(corpora):
    sentences = read_labelled("train.txt", -1)
    tagger = train(4)[2]
    right = [
        a == b
        for words, gold in zip(sentences.words, sentences.labels[0], strict=True)
        for a, b in zip(tagger.predict_single(words), gold, strict=True)
    ]
    assert np.mean(right) > 0.6


def test_the_late_weights_are_the_mean_of_the_later_half(corpora):
    """Of four rounds over one shard, after which nothing is mixed: rounds 3 and 4."""
    halves = []

    class After(session.Observer):
        def on_epoch(self, stage, progress):
            if progress.epoch.epoch == 2:
                model, clock = training_of.model, training_of._clock()
                halves.append({name: getattr(model, name) * clock - getattr(model, sums) for name, sums in NAMES})

        def on_start(self, start):
            nonlocal training_of
            training_of = start.training

    training_of = None
    _, training, _ = train(1, keep="late", observers=[After()])
    clock = training._clock()
    then = float(2 * training.examples) ** training.average_power
    for name, sums in NAMES:
        w, delayed = getattr(training.model, name), getattr(training.model, sums)
        expected = (w * clock - delayed - halves[0][name]) / (clock - then)
        assert training.kept("late")[name] == pytest.approx(expected, abs=1e-9)
        assert not np.allclose(expected, averaged(w, delayed, clock))


NAMES = [("w", "delayed"), ("w_move", "delayed_move")]


# ---------------------------------------------------------------- interruptions


@pytest.mark.parametrize("keep", ["average", "dev"])
def test_a_killed_leader_resumes_to_the_same_bytes(corpora, monkeypatch, keep):
    whole = train(3, keep=keep, name="whole")[0]
    save = session.save_checkpoint

    def save_and_die(path, training, stamped):
        save(path, training, stamped)
        if len(training.history) == 3:
            raise SystemExit(137)

    with monkeypatch.context() as patch:
        patch.setattr(session, "save_checkpoint", save_and_die)
        with pytest.raises(SystemExit):
            train(3, keep=keep)
    assert train(3, keep=keep)[0] == whole
    with monkeypatch.context() as patch:
        patch.setattr(session, "save_checkpoint", save_and_die)
        with pytest.raises(SystemExit):
            train(3, keep=keep)
    with pytest.raises(InputError, match=r"other data, shards\)"):
        train(2, keep=keep)


def test_arrays_that_vanish_or_are_damaged_between_rounds_are_built_again(corpora):
    whole = train(3, name="whole")[0]
    rounds = []

    class Vandal(Threads):
        def map(self, function, items, **options):
            rounds.append(1)
            stored = sorted(Path("model.shards").glob("*.shard"))
            if len(rounds) == 7 and stored:
                stored[0].unlink()
                content = bytearray(stored[1].read_bytes())
                content[-3] ^= 1
                stored[1].write_bytes(content)
            yield from super().map(function, items, **options)

    assert train(3, Vandal())[0] == whole
    assert len(rounds) > 8


def test_a_full_disk_is_one_clear_line(corpora, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("swvp.io.files.os.fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*\.shard: No space left on device"):
        train(2)


def test_a_file_that_changes_during_training_is_an_error(corpora):
    class Editor(Threads):
        def map(self, function, items, **options):
            if getattr(function, "func", None).__name__ == "build_block":
                Path("train.txt").write_text(Path("train.txt").read_text().replace("w1 ", "w2 "))
            yield from super().map(function, items, **options)

    with pytest.raises(InputError, match=r"train\.txt: the file has changed"):
        train(2, Editor())


# ---------------------------------------------------------------- memory


def test_blocks_are_read_one_at_a_time_and_train_without_mixing(corpora):
    content, training, tagger = train(1, blocks=4)
    assert len(training.shards[0].keys) == 4
    assert training.history[0].examples == 36
    assert train(1, blocks=4)[0] == content
    plain = train(1)[2]
    assert tagger.encoder_.vocabularies == plain.encoder_.vocabularies


def test_the_memory_decides_the_number_of_blocks(fine, corpora, monkeypatch):
    monkeypatch.setattr("swvp.cli.train.BASE", 0)
    err = fine(*TAGGER, "train.txt", "--memory", "40K", "-m", "model")[1]
    assert "1 shard of 3 blocks" in err or "1 shard of 2 blocks" in err


# ---------------------------------------------------------------- the store


def test_the_store_returns_what_it_was_given(tmp_path):
    store = ShardStore(str(tmp_path))
    arrays = {"a": np.arange(5, dtype=np.uint64), "b": np.zeros((0, 3)), "c": np.array([[1, 2]], np.int32)}
    store.write("key", arrays)
    found = store.open("key")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        assert (found[name] == array).all()
        assert found[name].flags.writeable
    found["a"][:] = 9  # stays in memory
    assert store.open("key")["a"].tolist() == [0, 1, 2, 3, 4]
    assert store.open("other") is None


# ---------------------------------------------------------------- messages


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tune"], "--tune trains on one file"),
        (["--rule", "crf"], "rule 'crf' looks at all data at once"),
        (["--clusters", "4"], "word clusters are learnt from a whole corpus"),
        (["--mixing", "best"], "unknown mixing 'best'"),
        (["--keep", "first"], "unknown keep 'first'"),
        (["--memory", "lots"], "--memory must be a number of bytes"),
        (["--shards", "900"], "train.txt: 900 parts are too many"),
    ],
)
def test_options_that_do_not_go_with_shards_are_refused(refused, corpora, options, message):
    shards = [] if "--shards" in options else ["--shards", "2"]
    assert refused(*TAGGER, "train.txt", *shards, "-m", "model", *options).startswith(message)


@pytest.mark.parametrize("option", ["--exact", "--ensemble=2"])
def test_parsers_on_shards_are_hashed_and_alone(refused, corpora, option):
    assert "shards" in refused(*PARSER, "train.conllu", "--shards", "2", "-m", "model", option)


def test_mixing_needs_shards(refused, corpora):
    assert refused(*TAGGER, "train.txt", "-m", "model", "--keep", "late") == "--mixing and --keep are for --shards"


def test_a_parser_on_shards_from_python(corpora):
    run = Run(train="train.conllu", model=Path("model"), dev=None)
    trainings = train_parser_on_shards(
        run, ["train.conllu"], Parser(epochs=2, random_state=0, margin=1.0, hashed=2**14), Sharding(3, folder="s")
    )
    assert [training.kind for training in trainings] == ["parser", "labels"]
    assert trainings[0].history[0].examples == 42
    assert {len(shard.keys) for training in trainings for shard in training.shards} == {1}


def test_the_strings_of_a_block_are_not_kept_after_they_are_merged():
    class Strings(list):
        """A list that can be referred to weakly."""

    alive = []

    def blocks():
        for number in range(4):
            strings = Strings([f"w{number}", "a"])
            alive.append(weakref.ref(strings))
            yield BlockKeys([strings], np.zeros(0, np.int64), np.zeros(0, np.int64))
            del strings
            gc.collect()
            assert sum(reference() is not None for reference in alive) <= 1

    vocabularies, numbers, _ = merge_vocabularies(blocks())
    assert vocabularies == [["w0", "a", "w1", "w2", "w3"]]
    assert [own.tolist() for (own,) in numbers] == [[0, 1], [2, 1], [3, 1], [4, 1]]
