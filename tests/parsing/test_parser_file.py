"""The model file of a parser: the same parser comes back, the same bytes are written, broken files are reported."""

import copy
import dataclasses
import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from helpers.trees import heads_only, toy
from swvp import DependencyParser
from swvp.cli.inspect import described_parser
from swvp.errors import InputError
from swvp.io.container import kind_of, read_container, write_container
from swvp.parsing import parser as parser_module
from swvp.parsing.parser import Parser

X, Y = toy(0, 15, wrong=0.2)


def parser(**options):
    return DependencyParser(**({"random_state": 0, "epochs": 2, "hashed": 2**12} | options))


@pytest.fixture(scope="module")
def fitted():
    return parser().fit(X, Y, dev=toy(1, 10))


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


def same(loaded, fitted):
    np.testing.assert_array_equal(loaded.coef_, fitted.coef_)
    assert loaded.predict(X).tolist() == fitted.predict(X).tolist()
    assert loaded.confidence(X).tolist() == fitted.confidence(X).tolist()
    assert loaded.get_params() == fitted.get_params()


def test_a_saved_parser_is_the_same(fitted, saved):
    loaded = DependencyParser.load(saved)
    same(loaded, fitted)
    assert kind_of(saved) == "parser"
    assert loaded.history_ == [dataclasses.replace(epoch, seconds=0.0) for epoch in fitted.history_]
    assert loaded.label_history_ == [dataclasses.replace(epoch, seconds=0.0) for epoch in fitted.label_history_]
    assert (loaded.dev_scores_, loaded.best_epoch_) == (fitted.dev_scores_, fitted.best_epoch_)
    assert loaded.label_dev_scores_ == fitted.label_dev_scores_
    assert loaded.predict([[("new", "TAG"), ("words", "NOUN")]]).tolist() == (
        fitted.predict([[("new", "TAG"), ("words", "NOUN")]]).tolist()
    )
    assert type(Parser.load(saved)) is Parser


@pytest.mark.parametrize(
    "options",
    [
        {"labels": False},
        {"prune": False},
        {"projective": True, "one_root": False},
        {"features": ["h.pos & m.pos", "h.word & m.word & distance"]},
        {"features": "turbo", "average": False},
        {"hashed": None},
        {"rule": "a-wm:single+full:sqrt", "beta": 0.25, "margin": 0},
    ],
    ids=str,
)
def test_every_kind_of_parser_can_be_saved(options, tmp_path, monkeypatch):
    monkeypatch.setattr(parser_module, "EXACT_SIZE", 2**14)
    found = parser(**options).fit(X, Y)
    found.save(tmp_path / "model")
    loaded = DependencyParser.load(tmp_path / "model")
    same(loaded, found)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    loaded.partial_fit(X, Y)


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        parser().fit(X, Y, dev=(X, Y)).save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_unfitted_parser_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        parser().save(tmp_path / "model")
    with pytest.raises(InputError, match="cannot write"):
        parser().fit(X, heads_only(Y)).save(tmp_path / "no" / "model")


def test_files_that_are_cut_off_or_damaged_are_one_line(saved):
    good = saved.read_bytes()
    rng = np.random.default_rng(0)
    for size in [0, 7, 8, 23, 24, 100, *rng.integers(0, len(good), 20).tolist(), len(good) - 1]:
        saved.write_bytes(good[:size])
        with pytest.raises(InputError) as error:
            DependencyParser.load(saved)
        assert "\n" not in str(error.value)
    saved.write_bytes(good + b"x")
    with pytest.raises(InputError, match="something follows its last array"):
        DependencyParser.load(saved)


def test_a_file_of_another_kind_is_refused(saved, tmp_path):
    _, meta, arrays = read_container(saved, "parser")
    write_container(tmp_path / "other", "tagger", meta, arrays)
    with pytest.raises(
        InputError, match=r"a model of the kind 'tagger', not 'parser': load it with SequenceTagger\.load"
    ):
        DependencyParser.load(tmp_path / "other")


def told(work):
    """The message of an input error, or the result of the work."""
    try:
        return "", work()
    except InputError as error:
        return str(error), None


def sizes(trees):
    return [len(tree) for tree in trees]


CHANGES = [
    {"size": 2**40},
    {"size": 3},
    {"size": -1},
    {"size": True},
    {"size": 2**28},  # room for all of them is not asked for
    {"templates": []},
    {"templates": ["h.pos", "h.pos"]},
    {"templates": ["h.poss"]},
    {"templates": "h.pos"},
    {"ranks": {}},
    {"ranks": {"pos": ["A", "A"], "tag": [], "feats": []}},
    {"ranks": {"pos": [], "tag": [], "feats": []}},
    {"exact": True},
    {"options": {"nonsense": 1}},
    {"options": {"n_jobs": 10**9}},
    {"options": {"rule": ["csp"]}},
    {"options": {"rule": "own", "beta": "x"}},
    {"options": {"rule": {"csp": 1}, "C": []}},
    {"labels": None},
    {"labels": {}},
    {"labels": {"labels": ["a"], "label_templates": ["h.pos"], "label_rows": 2}},
    {"history": [{}]},
    {"history": 3},
    {"label_history": [{"epoch": "x"}]},
    {"label_dev_scores": ["x"]},
    {"best_epoch": "x"},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_parts_that_do_not_fit_are_one_line_or_work(saved, change):
    kind, meta, arrays = read_container(saved, "parser")
    write_container(saved, kind, json.loads(json.dumps(meta)) | change, arrays)

    def use():
        loaded = DependencyParser.load(saved)
        assert described_parser(loaded, saved)
        return loaded.predict(X)

    refused, predicted = told(use)
    assert "its parts do not fit together" in refused if refused else sizes(predicted) == sizes(Y)


def test_a_file_cannot_own_more_than_half_of_the_places(tmp_path, monkeypatch):
    """Where no place is free, a feature would look for its own for ever."""
    monkeypatch.setattr(parser_module, "EXACT_SIZE", 2**12)
    parser(hashed=None, epochs=1).fit(X, Y).save(tmp_path / "model")
    kind, meta, arrays = read_container(tmp_path / "model", "parser")
    every = np.arange(2**12)
    for owned in (every, every[None], every.reshape(64, 64)):
        write_container(tmp_path / "model", kind, meta, arrays | {"owned": owned, "owners": owned + 1})
        with pytest.raises(InputError, match="its owners of weights cannot be right"):
            DependencyParser.load(tmp_path / "model")


@pytest.mark.parametrize("seed", range(60))
def test_a_file_changed_behind_its_checksums_is_refused_or_works(fitted, tmp_path, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    found = copy.copy(fitted)
    if seed % 3 == 0:
        monkeypatch.setattr(parser_module, "EXACT_SIZE", 2**12)
        found = parser(hashed=None, epochs=1).fit(X, Y)
    found.save(tmp_path / "model")
    kind, meta, arrays = read_container(tmp_path / "model", "parser")
    meta, arrays = json.loads(json.dumps(meta)), dict(arrays)
    if seed % 2:
        name = str(rng.choice(list(arrays)))
        array = arrays[name]
        flat = array.ravel().copy()
        change = int(rng.integers(5))
        if change == 0 and len(flat):
            flat[rng.integers(len(flat))] = rng.integers(0, 120)
        changed = [flat.reshape(array.shape), array[:-1], array.ravel(), np.concatenate([flat, flat]), None][change]
        if changed is None:
            del arrays[name]
        else:
            arrays[name] = changed
    else:
        name = str(rng.choice(list(meta)))
        meta[name] = [None, [], {}, "x", 3, ["x"], [["x"]], [1], {"x": 1}][rng.integers(9)]
        if rng.random() < 0.2:
            del meta[name]
    write_container(tmp_path / "forged", kind, meta, arrays)

    def use():
        loaded = DependencyParser.load(tmp_path / "forged")
        loaded.predict_marginals(X[:2])
        loaded.explain(X[0])
        return loaded.predict(X)

    refused, predicted = told(use)
    assert "\n" not in refused if refused else sizes(predicted) == sizes(Y)
