"""`DependencyParser(order=2)` and `swvp train parser --order 2`: the same methods as in first order, after a pruner."""

import copy
import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from helpers.trees import conllu, heads_only, toy
from swvp import DependencyParser
from swvp.errors import InputError
from swvp.io.container import read_container, write_container
from swvp.parsing.second_order import SentenceSolver
from swvp.parsing.tree import treebank_from
from swvp.structures.tree.reference import is_tree, trees

X, Y = toy(0, 30, wrong=0.3)
NEW, NEW_Y = toy(1, 10)
SHORT = [("the", "DET"), ("dog", "NOUN"), ("sees", "VERB"), (".", "PUNCT")]


def parser(**options):
    return DependencyParser(**({"order": 2, "random_state": 0, "epochs": 2, "hashed": 2**14} | options))


@pytest.fixture(scope="module")
def fitted():
    return parser().fit(X, Y, dev=(NEW, NEW_Y))


@pytest.fixture(scope="module")
def unpruned():
    return parser(prune=False, labels=False).fit(X, Y)


def heads(found):
    return [list(tree.heads) for tree in found]


def test_it_learns_what_can_be_learnt():
    clean, clean_y = toy(0, 40)
    found = parser().fit(clean, clean_y)
    assert found.score(NEW, NEW_Y) == 1.0
    assert [list(zip(tree.heads, tree.labels, strict=True)) for tree in found.predict(NEW)] == NEW_Y


def test_pruning_and_certified_trees_are_reported(fitted):
    told = fitted.pruning(treebank_from(NEW, NEW_Y, heads=True))
    assert 0.9 < told.recall <= 1.0
    assert 1.0 <= told.heads < 4.0
    assert fitted.certified(NEW) == 1.0
    assert parser(order=1).fit(X, Y).certified(NEW) == 1.0


def test_a_pruner_changes_little_for_easy_sentences(unpruned):
    assert unpruned.pruner_ is None
    assert unpruned.pruning(treebank_from(NEW, NEW_Y, heads=True)).recall == 1.0
    assert parser(labels=False).fit(X, Y).score(NEW, NEW_Y) == pytest.approx(unpruned.score(NEW, NEW_Y), abs=0.05)
    with pytest.raises(InputError, match="has no probabilities: fit it with prune=True"):
        unpruned.confidence(NEW)


@pytest.mark.parametrize("k", [1, 7, 1000])
def test_k_best_trees_are_those_of_all_trees(unpruned, k):
    treebank = treebank_from([SHORT], heads=None)
    sentence = SentenceSolver(unpruned._encoded(treebank), unpruned._weights, 0)
    every = {y: sentence.solve([[h] for h in y])[1] for y in trees(len(SHORT))}
    found = unpruned.predict_k_best([SHORT], k)[0]
    expected = sorted(every.values(), reverse=True)[:k]
    assert [score for _, score in found] == pytest.approx(expected)
    assert [every[tuple(tree.heads)] for tree, _ in found] == pytest.approx(expected)
    assert len({tuple(tree.heads) for tree, _ in found}) == len(found) == min(k, len(every))
    assert list(found[0][0].heads) == heads(unpruned.predict([SHORT]))[0]


def test_reasons_add_up_to_what_a_tree_wins_by(unpruned):
    for i, m in ((0, 1), (0, 3), (1, 2)):
        table = unpruned.explain(NEW[i], m, n=10_000)
        wins = {row[3] for row in table.rows}
        assert len(wins) == 1
        assert sum(row[-1] for row in table.rows) == pytest.approx(wins.pop())
        names = [row[4] for row in table.rows]
        assert any("s.pos" in name for name in names) or any("g.pos" in name for name in names)
    with pytest.raises(InputError, match="there is no word 99"):
        unpruned.explain(SHORT, 99)


def test_the_heaviest_features_come_first(fitted):
    weights = [abs(weight) for _, weight in fitted.top_features(NEW, 10).rows]
    assert len(weights) == 10
    assert weights == sorted(weights, reverse=True)
    assert fitted.top_features(NEW, 0).rows == []


def test_probabilities_are_those_of_the_pruner(fitted):
    treebank = treebank_from(NEW, heads=None)
    nodes = fitted._encoded(treebank).nodes
    for table in fitted.predict_marginals(NEW):
        assert table[:, 1:].sum(axis=0) == pytest.approx(np.ones(len(table) - 1))
    for tree in fitted.confidence(NEW):
        assert all(0 <= p <= 1 for p in tree.confidence)
    assert len(nodes.starts) == len(NEW) + 1
    assert copy.deepcopy(fitted).fit_temperature(NEW, NEW_Y).temperature_ > 0


@pytest.mark.parametrize("options", [{}, {"projective": True}, {"one_root": False}], ids=str)
def test_a_file_has_all_of_it(options, tmp_path):
    found = parser(**options).fit(X, Y)
    found.save(tmp_path / "one")
    parser(**options).fit(X, Y).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    loaded = DependencyParser.load(tmp_path / "one")
    assert loaded.get_params() == found.get_params()
    np.testing.assert_array_equal(loaded.coef_, found.coef_)
    assert heads(loaded.predict(NEW)) == heads(found.predict(NEW))
    assert loaded.pruning(treebank_from(NEW, NEW_Y, heads=True)) == found.pruning(treebank_from(NEW, NEW_Y, heads=True))


@pytest.mark.parametrize(
    "change",
    [
        {"pruner": None},
        {"pruner": {}},
        {"pruner": {"most": 10**9}},
        {"templates": ["h.pos & m.pos"]},
        {"templates": ["x"]},
        {"options": {"order": 3}},
        {"options": {"order": "2"}},
        {"options": {"prune": 1}},
    ],
    ids=str,
)
def test_a_file_whose_parts_do_not_fit_is_one_line(fitted, tmp_path, change):
    path = tmp_path / "model"
    fitted.save(path)
    contents = read_container(path, "parser")
    meta = json.loads(json.dumps(contents.meta))
    for name, value in change.items():
        meta[name] = meta[name] | value if isinstance(value, dict) and value and name in meta else value
    write_container(path, "parser", meta, contents.arrays)
    if change == {"templates": ["h.pos & m.pos"]}:  # which has weights for arcs
        DependencyParser.load(path).predict(NEW)
        return
    with pytest.raises(InputError) as refused:
        DependencyParser.load(path).predict(NEW)
    assert "\n" not in str(refused.value)


def test_each_batch_continues_from_the_last(fitted):
    found = parser()
    for first in range(0, 30, 10):
        found.partial_fit(X[first : first + 10], Y[first : first + 10])
    assert len(found.history_) == 3
    assert found.score(NEW, NEW_Y) > 0.9


def test_the_pruner_learns_from_every_batch():
    found = parser(prune_threshold=0.5)
    kept = []
    for first in range(0, 30, 10):
        found.partial_fit(X[first : first + 10], Y[first : first + 10])
        kept.append(found.pruner_.w.copy())
    assert all(np.count_nonzero(b) > np.count_nonzero(a) for a, b in itertools.pairwise(kept))


@pytest.mark.parametrize("options", [{"projective": True}, {"one_root": False}], ids=str)
def test_trees_of_another_kind_are_found_after_fit(options):
    """The pruner was asked for the best tree of the first kind, and few other heads are left."""
    found = parser(prune_heads=1, labels=False).fit(X, heads_only(Y)).set_params(**options)
    for tree in found.predict(NEW):
        assert is_tree(list(tree.heads), found.one_root)
        assert not found.projective or tree.is_projective
    assert found.certified(NEW) == 1.0


@pytest.mark.parametrize("options", [{"order": 1}, {"prune": False}], ids=str)
def test_a_parser_that_is_no_longer_as_it_was_fitted_is_not_saved(fitted, tmp_path, options):
    changed = copy.deepcopy(fitted).set_params(**options)
    with pytest.raises(InputError, match=rf"{next(iter(options))} is not what the parser was fitted with: set it back"):
        changed.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize(
    ("name", "value"),
    [("prune_heads", 0), ("prune_heads", True), ("prune_heads", 1.5), ("prune_threshold", 2), ("prune_threshold", "x")],
)
def test_options_of_the_pruner_are_checked_in_both_orders(order, name, value):
    with pytest.raises(InputError, match=f"{name} must be a .*number from"):
        parser(order=order, **{name: value}).fit(X, Y)


def test_numbers_of_numpy_will_do():
    options = {"prune_heads": np.int64(3), "prune_threshold": np.float32(0.25)}
    assert parser(labels=False, **options).fit(X, heads_only(Y)).pruner_.most == 3


def test_wrong_options_are_one_clear_line(tmp_path):
    with pytest.raises(InputError, match=r"order must be 1 \(arcs\) or 2"):
        parser(order=3).fit(X, Y)
    with pytest.raises(InputError, match=r"template line 1: s.pos is of second order; .* use order 2"):
        parser(order=1, features=["h.pos & s.pos"]).fit(X, Y)
    with pytest.raises(InputError, match=r"unknown features 'second-ordr'.*second-order"):
        parser(features="second-ordr").fit(X, Y)
    with pytest.raises(InputError, match="k must be a whole number of at least 1"):
        parser(labels=False).fit(X, heads_only(Y)).predict_k_best([SHORT], 0)


# ---------------------------------------------------------------- the command line

TRAIN = ["train", "parser", "train.conllu", "-m", "model", "--hashed", "16384", "--epochs", "2", "--order", "2"]


def test_from_training_to_scores(fine, refused):
    Path("train.conllu").write_text(conllu(*toy(0, 40)))
    Path("dev.conllu").write_text(conllu(NEW, NEW_Y))
    _, err = fine(*TRAIN, "--dev", "dev.conllu")
    assert "pruning: " in err
    assert "dev: 100.0 % of the predicted trees are certified as the best" in err
    assert fine("predict", "model", "dev.conllu")[0].decode() == conllu(NEW, NEW_Y)
    out = fine("inspect", "model")[0].decode()
    assert "second order (arcs, siblings, grandparents)" in out
    assert "a log-linear model keeps at most 16 heads per word" in out
    assert "difference" in fine("inspect", "model", "--explain", "dev.conllu")[0].decode()
    Path("own.txt").write_text("h.pos & m.pos\nh.pos & m.pos & s.pos\ng.pos & h.pos & m.pos\n")
    fine(*TRAIN, "--features", "own.txt", "--fresh")
    assert [t.text for t in DependencyParser.load("model").templates_][1] == "h.pos & m.pos & s.pos"
    Path("own.txt").write_text("h.pos & m.pos\nh.pos & q.pos\n")
    assert "own.txt line 2" in refused(*TRAIN, "--features", "own.txt", "--fresh")
    assert "order must be 1 (arcs) or 2" in refused(*TRAIN[:-1], "4")
