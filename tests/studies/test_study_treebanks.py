"""The treebanks of the parsing study: found in folders, named, cut, and development sentences sampled."""

import gzip
import itertools

import numpy as np
import pytest

from helpers.trees import conllu, toy
from swvp.errors import InputError
from swvp.studies.common.sources import dev_size, part_of
from swvp.studies.parsing.treebanks import find_treebanks, read_data


def write(folder, names, count=20):
    folder.mkdir(exist_ok=True)
    for seed, name in enumerate(names):
        text = conllu(*toy(seed, count)).encode()
        (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return folder


UD = ["x-ud-train.conllu", "x-ud-dev.conllu", "x-ud-test.conllu"]


def words_of(treebank):
    words, offsets = treebank.words, treebank.offsets
    return [[words.strings[k] for k in words.ids[a:b]] for a, b in itertools.pairwise(offsets)]


def test_a_folder_of_universal_dependencies(tmp_path):
    folder = write(tmp_path / "UD_X", [*UD, "x-ud-train.txt", "README.md", "latest.conllu"])
    (source,) = find_treebanks([str(folder)])
    assert source.name == "UD_X"
    assert [source.train.name, source.dev.name, source.test.name] == UD


def test_a_folder_of_conll_x_without_development_file(tmp_path):
    (source,) = find_treebanks([str(write(tmp_path / "es", ["esp.train", "esp.test", "README"]))])
    assert (source.train.name, source.dev, source.test.name) == ("esp.train", None, "esp.test")


def test_packed_files_are_found(tmp_path):
    (source,) = find_treebanks([str(write(tmp_path / "a", ["train.conllu.gz", "test.conllu"]))])
    assert read_data(source, sample_dev=False, sentences=None, seed=0).whole.number_of_sentences == 20


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("train", "train"),
        ("a.TRAIN.conll", "train"),
        ("a_dev.x", "dev"),
        ("contest.conllu", None),
        ("training.conllu", "train"),
        ("x.devel.gz", "dev"),
        ("validation.conllu", "dev"),
        ("undevel.conllu", None),
    ],
)
def test_the_part_is_the_end_of_the_name(name, part):
    assert part_of(name) == part


def test_files_between_commas_and_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(write(tmp_path / "bank", ["a", "b", "c"]))
    two, three = (find_treebanks([given])[0] for given in ("two=a,c", "a,b,c"))
    assert (two.name, two.train.name, two.dev, two.test.name) == ("two", "a", None, "c")
    assert (three.name, three.dev.name) == ("bank", "b")


def test_digests_tell_files_apart_and_places_do_not(tmp_path):
    here, there = (write(tmp_path / name, UD) for name in ("here", "there"))
    one, two = find_treebanks([f"x={here}"]) + find_treebanks([f"x={there}"])
    assert one.to_json() == two.to_json()
    write(there, UD[:1], count=21)
    assert find_treebanks([f"x={there}"])[0].to_json() != one.to_json()


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        (UD[:2], ["bank"], "bank: no file whose name ends in 'test' before its extension: name the files instead"),
        (
            [*UD, "y-test.conllu"],
            ["bank"],
            r"2 files whose names end in 'test' \(x-ud-test.conllu, y-test.conllu\)",
        ),
        (UD, ["bank", "bank/"], "two treebanks are called 'bank': rename one"),
        (UD, ["nowhere"], "cannot read nowhere: No such file or directory"),
        (UD, [f"bank/{UD[0]}"], "is a file: give a folder, or TRAIN,DEV,TEST"),
        (UD, ["a,b,c,d"], "'a,b,c,d': 2 or 3 files between commas"),
        (UD, ["a,,b"], "2 or 3 files between commas"),
        (UD, [f"bank/{UD[0]},nothing"], "cannot read nothing: No such file"),
        (UD, ["=bank"], "no name before ="),
        (UD, ["-,bank/x"], "not from standard input"),
        (UD, [f"bank/{UD[0]},bank/{UD[0]}"], "has the same content as"),
        (UD, [f"bank/{UD[0]},bank/{UD[2]},bank/{UD[2]}"], "has the same content as"),
        (UD, ["bank", "again=bank"], "bank and again have the same test sentences: leave one of them out"),
        (UD, ["x" * 300], "cannot read x+: No such file"),
        (UD, [f"{'x' * 300},{'y' * 300}"], "cannot read x+: File name too long"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path, monkeypatch, files, arguments, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "bank", files)
    with pytest.raises(InputError, match=message):
        find_treebanks(arguments)


def test_the_development_file_is_used_if_there_is_one(tmp_path):
    (source,) = find_treebanks([str(write(tmp_path / "bank", UD))])
    data = read_data(source, sample_dev=False, sentences=None, seed=0)
    assert data.train is data.whole
    assert words_of(data.dev) == [[word for word, _ in x] for x in toy(1, 20)[0]]
    assert not data.sampled


@pytest.mark.parametrize("files", [UD, ["x.train", "x.test"]])
def test_sampled_sentences_are_training_sentences_that_are_left_out(tmp_path, files):
    folder = write(tmp_path / "bank", files, count=40)
    (source,) = find_treebanks([str(folder)])
    data = read_data(source, sample_dev=True, sentences=None, seed=3)
    assert data.sampled
    whole = words_of(data.whole)
    assert whole == [[word for word, _ in x] for x in toy(0, 40)[0]]
    assert len(words_of(data.dev)) == 4
    assert sorted(words_of(data.dev) + words_of(data.train)) == sorted(whole)
    assert words_of(data.dev) != whole[:4]
    again, other = (words_of(read_data(source, sample_dev=True, sentences=None, seed=seed).dev) for seed in (3, 4))
    assert again == words_of(data.dev) != other


def test_heads_go_with_their_sentences(tmp_path):
    (source,) = find_treebanks([str(write(tmp_path / "bank", UD, count=40))])
    data = read_data(source, sample_dev=True, sentences=30, seed=0)
    assert (data.whole.number_of_sentences, data.dev.number_of_sentences, data.train.number_of_sentences) == (30, 3, 27)
    X, y = toy(0, 40)
    known = {" ".join(word for word, _ in x): [head for head, _ in tree] for x, tree in zip(X, y, strict=True)}
    for part in (data.whole, data.dev, data.train):
        for words, a, b in zip(words_of(part), part.offsets, part.offsets[1:], strict=False):
            assert part.trees[a:b].tolist() == known[" ".join(words)]


@pytest.mark.parametrize(("sentences", "size"), [(20_000, 1000), (5000, 500), (300, 30), (4, 1), (2, 1), (1, 0)])
def test_a_thousand_sentences_are_sampled_but_at_most_a_tenth(sentences, size):
    assert dev_size(sentences) == size


def test_too_few_sentences_to_sample_from(tmp_path):
    (source,) = find_treebanks([str(write(tmp_path / "bank", ["x.train", "x.test"], count=1))])
    with pytest.raises(InputError, match="0 dev sentences cannot be sampled from 1; give a DEV file"):
        read_data(source, sample_dev=False, sentences=None, seed=0)


def test_as_many_sentences_are_sampled_as_asked_for(tmp_path):
    (source,) = find_treebanks([str(write(tmp_path / "bank", UD, count=30))])
    data = read_data(source, sample_dev=True, sentences=None, seed=0, dev_sentences=17)
    assert (data.dev.number_of_sentences, data.train.number_of_sentences, data.whole.number_of_sentences) == (
        17,
        13,
        30,
    )
    with pytest.raises(InputError, match=r"30 dev sentences cannot be sampled from 30.*fewer --dev-sentences"):
        read_data(source, sample_dev=True, sentences=None, seed=0, dev_sentences=30)


def test_parts_have_only_their_own_words(tmp_path):
    (source,) = find_treebanks([str(write(tmp_path / "bank", UD))])
    part = read_data(source, sample_dev=False, sentences=1, seed=0).whole
    assert len(part.words.strings) == len(np.unique(part.words.ids))
