"""How many roots predicted trees have: as given, or as the training trees have them."""

from pathlib import Path

import numpy as np
import pytest

from helpers.trees import conllu, toy
from swvp import DependencyParser
from swvp.errors import InputError
from swvp.io.container import read_container, write_container
from swvp.io.treebank import treebank_of
from swvp.parsing.options import has_one_root

X, TWO_ROOTS = [["a", "b", "c"]] * 3, [[0, 1, 0]] * 3
ONE_ROOT = [[0, 1, 1]] * 3


def roots(heads, order=1, **options):
    given = {"order": order, "epochs": 20, "hashed": 2**14, "labels": False, "random_state": 0, "prune": order == 1}
    parser = DependencyParser(**(given | options)).fit(X, heads)
    return [tree.heads.count(0) for tree in parser.predict(X)], parser


@pytest.mark.parametrize("order", [1, 2])
def test_predictions_have_several_roots_if_training_trees_have(order):
    found, parser = roots(TWO_ROOTS, order)
    assert (found, parser.one_root_, parser.one_root) == ([2] * 3, False, None)
    found, parser = roots(ONE_ROOT, order)
    assert (found, parser.one_root_) == ([1] * 3, True)


@pytest.mark.parametrize("order", [1, 2])
def test_what_is_given_holds_whatever_the_training_trees(order):
    assert roots(TWO_ROOTS, order, one_root=True)[0] == [1] * 3
    assert roots(TWO_ROOTS, order, one_root=False)[0] == [2] * 3


def test_a_few_trees_with_several_roots_are_taken_for_mistakes():
    def treebank(several, of):
        return treebank_of([["a", "b"]] * of, heads=[[0, 0]] * several + [[0, 1]] * (of - several))

    assert has_one_root(treebank(0, 3))
    assert has_one_root(treebank(1, 20))
    assert not has_one_root(treebank(2, 39))
    assert not has_one_root(treebank(1, 2))


def test_the_choice_is_in_the_model_file(tmp_path):
    path = tmp_path / "model"
    for heads, count in ((TWO_ROOTS, 2), (ONE_ROOT, 1)):
        parser = roots(heads)[1]
        parser.save(path)
        again = DependencyParser.load(path)
        assert (again.one_root, again.one_root_) == (None, count == 1)
        assert [tree.heads.count(0) for tree in again.predict(X)] == [count] * 3
    contents = read_container(path, "parser")
    arrays = {name: np.array(array) for name, array in contents.arrays.items()}
    write_container(path, "parser", contents.meta | {"one_root": "no"}, arrays)
    with pytest.raises(InputError, match="its kind of trees cannot be right"):
        DependencyParser.load(path)


def test_the_command_reports_several_roots_and_has_an_option_for_either(fine):
    train = ["train", "parser", "train.conllu", "-m", "model", "--hashed", "16384", "--epochs", "2", "--no-labels"]
    tokens, heads = toy(0, 10)
    several = [[(0, label) for _, label in tree[:2]] + list(tree[2:]) for tree in heads[:4]] + heads[4:]
    Path("train.conllu").write_text(conllu(tokens, several))
    _, err = fine(*train)
    assert "note: 4 training trees with several roots (40.0 %); predicted trees may have several (--one-root" in err
    assert b"several roots" in fine("inspect", "model")[0]
    _, err = fine(*train, "--one-root")
    assert "note: 4 training trees with several roots; predicted trees have one (--several-roots allows more)" in err
    assert b"one root" in fine("inspect", "model")[0]
    _, err = fine(*train, "--several-roots")
    assert "roots" not in err
    assert DependencyParser.load("model").one_root is False
