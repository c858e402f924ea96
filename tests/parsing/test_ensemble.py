"""Ensembles of parsers: votes by definition, the file of an ensemble, and all that a fitted parser can do."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from helpers.trees import conllu, toy
from swvp import DependencyParser
from swvp.errors import InputError
from swvp.io.container import read_container, write_container
from swvp.io.table import Column
from swvp.parsing.ensemble import seeds_of, vote_tables, voted_heads, voted_labels
from swvp.parsing.parser import Parser
from swvp.parsing.tree_model import TreeKind
from swvp.structures.tree.reference import is_tree, trees

X, Y = toy(0, 15, wrong=0.3)
NEW, NEW_Y = toy(1, 10)


def parser(**options):
    given = {"random_state": 0, "epochs": 2, "hashed": 2**12, "ensemble": 3}
    return DependencyParser(**(given | options))


@pytest.fixture(scope="module")
def fitted():
    return parser().fit(X, Y, dev=(NEW, NEW_Y))


# ---------------------------------------------------------------- votes


def votes_for(heads, votes):
    """The votes for a tree, then its arcs in the first vote."""
    agree = [sum(h == v for h, v in zip(heads, vote, strict=True)) for vote in votes]
    return sum(agree), agree[0]


@pytest.mark.parametrize(("projective", "one_root"), list(itertools.product([False, True], repeat=2)))
@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_voted_tree_has_the_most_votes_of_all_trees(size, projective, one_root):
    rng, lengths = np.random.default_rng(size), [1, 2, 3, 4, 5, 3, 4]
    every = {n: list(trees(n, projective, one_root)) for n in set(lengths)}
    votes = [
        np.concatenate([every[n][rng.integers(len(every[n]))] for n in lengths]).astype(np.int32) for _ in range(size)
    ]
    offsets = np.cumsum([0, *lengths])
    heads = voted_heads(votes, offsets, TreeKind(projective, one_root))
    for n, start in zip(lengths, offsets.tolist(), strict=False):
        chosen = tuple(heads[start : start + n].tolist())
        of_sentence = [vote[start : start + n].tolist() for vote in votes]
        assert chosen in every[n]
        assert votes_for(chosen, of_sentence) == max(votes_for(tree, of_sentence) for tree in every[n])


def test_equal_parsers_vote_for_their_own_tree_and_have_all_votes():
    heads, offsets = np.array([2, 0, 0, 1], np.int32), np.array([0, 2, 4])
    assert voted_heads([heads] * 4, offsets, TreeKind(False, True)).tolist() == heads.tolist()
    for table in vote_tables([heads] * 4, offsets):
        assert 4 * (len(table) - 1) < table.sum() < 4 * (len(table) - 1) + 1


def test_labels_are_voted_and_the_earliest_parser_decides_if_votes_are_equal():
    votes = [Column(["a", "b", "c"], np.array(ids, np.int32)) for ids in ([0, 0, 2, 1], [1, 1, 0, 0], [1, 2, 1, 0])]
    voted = voted_labels(votes)
    assert [voted.strings[k] for k in voted.ids] == ["b", "a", "c", "a"]


def test_seeds_differ_and_depend_on_the_first_one():
    assert len({0, *seeds_of(0, 50)}) == 50
    assert seeds_of(7, 3) == seeds_of(7, 4)[:2] != seeds_of(8, 3)
    assert seeds_of(7, 1) == []


# ---------------------------------------------------------------- a fitted ensemble


def test_an_ensemble_predicts_the_votes_of_parsers_with_its_seeds(fitted):
    parsers = [
        Parser(random_state=seed, epochs=2, hashed=2**12).fit(X, Y, dev=(NEW, NEW_Y)) for seed in (0, *seeds_of(0, 3))
    ]
    for one, other in zip(parsers, (fitted, *fitted.others_), strict=True):
        np.testing.assert_array_equal(one.coef_, other.coef_)
    offsets = np.cumsum([0, *map(len, NEW)])
    votes = [np.concatenate([tree.heads for tree in each.predict(NEW)]).astype(np.int32) for each in parsers]
    predicted = fitted.predict(NEW)
    heads = np.concatenate([tree.heads for tree in predicted])
    np.testing.assert_array_equal(heads, voted_heads(votes, offsets, TreeKind(False, True)))
    assert all(is_tree(list(tree.heads), one_root=True) for tree in predicted)
    assert len({each.coef_.tobytes() for each in parsers}) == 3


def test_the_best_of_the_k_best_trees_is_the_predicted_one(fitted):
    predicted = fitted.predict(NEW)
    for tree, ranked in zip(predicted, fitted.predict_k_best(NEW, 3), strict=True):
        assert list(ranked[0][0].heads) == list(tree.heads)
        assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)


def test_probabilities_are_means_of_the_parsers(fitted):
    marginals = fitted.predict_marginals(NEW)
    singles = [Parser.predict_marginals(each, NEW) for each in fitted.others_]
    first = DependencyParser(**(fitted.get_params() | {"ensemble": 1})).fit(X, Y, dev=(NEW, NEW_Y))
    for table, *others in zip(marginals, first.predict_marginals(NEW), *singles, strict=True):
        np.testing.assert_allclose(table, np.mean(others, axis=0))
    assert all(0 <= p <= 1 for tree in fitted.confidence(NEW) for p in tree.confidence)


def test_explanations_say_that_they_are_of_the_first_parser(fitted):
    assert fitted.explain(NEW[0]).title.endswith("(the first of 3 parsers)")
    assert fitted.top_features(NEW).title.endswith("(the first of 3 parsers)")
    assert fitted.certified(NEW) == 1.0
    assert 0 <= fitted.score(NEW, NEW_Y) <= 1


@pytest.mark.parametrize("options", [{}, {"labels": False}, {"hashed": None}, {"projective": True}], ids=str)
def test_a_saved_ensemble_is_the_same_and_a_seed_gives_the_same_bytes(options, tmp_path):
    paths = [tmp_path / name for name in ("a", "b", "c")]
    one, two = (parser(**options).fit(X, Y) for _ in range(2))
    one.save(paths[0])
    two.save(paths[1])
    loaded = DependencyParser.load(paths[0])
    loaded.save(paths[2])
    assert paths[0].read_bytes() == paths[1].read_bytes() == paths[2].read_bytes()
    assert loaded.predict(NEW).tolist() == one.predict(NEW).tolist()
    assert loaded.get_params() == one.get_params()
    assert [type(other) for other in loaded.others_] == [Parser, Parser]


def test_an_ensemble_of_one_is_the_parser_itself(tmp_path):
    parser(ensemble=1).fit(X, Y).save(tmp_path / "one")
    DependencyParser(random_state=0, epochs=2, hashed=2**12).fit(X, Y).save(tmp_path / "none")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "none").read_bytes()
    meta = read_container(tmp_path / "one", "parser").meta
    assert "ensemble" not in meta["options"]
    assert "others" not in meta


def test_an_interrupted_ensemble_resumes_in_the_parser_where_it_stopped(tmp_path, monkeypatch):
    whole = parser().fit(X, Y)
    start, started = Parser.start, []

    def stop_at_the_third(self, *given, **options):
        started.append(self.random_state)
        if len(started) == 3:
            raise KeyboardInterrupt
        return start(self, *given, **options)

    monkeypatch.setattr(Parser, "start", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        parser().fit(X, Y, checkpoint=tmp_path / "p.checkpoint")
    names = ["p.labels-2.checkpoint", "p.labels.checkpoint", "p.trees-2.checkpoint", "p.trees.checkpoint"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".checkpoint") == names
    resumed = parser().fit(X, Y, checkpoint=tmp_path / "p.checkpoint")
    for one, other in zip((whole, *whole.others_), (resumed, *resumed.others_), strict=True):
        np.testing.assert_array_equal(one.coef_, other.coef_)
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".checkpoint"]


@pytest.mark.parametrize("size", [0, -1, 101, 1.5, "3", True, None])
def test_a_wrong_size_is_told_in_one_line(size):
    with pytest.raises(InputError, match="ensemble must be a whole number from 1 to 100, not "):
        parser(ensemble=size).fit(X, Y)


def test_partial_fit_is_not_for_ensembles():
    with pytest.raises(InputError, match="partial_fit trains one parser, not an ensemble of 3: call fit"):
        parser().partial_fit(X, Y)


@pytest.mark.parametrize("damage", ["size", "nested", "kind", "labels", "list"])
def test_a_damaged_ensemble_is_refused(fitted, damage, tmp_path):
    path = tmp_path / "model"
    fitted.save(path)
    contents = read_container(path, "parser")
    meta = contents.meta
    if damage == "size":
        meta["options"]["ensemble"] = 2
    elif damage == "nested":
        meta["others"][0]["others"] = []
    elif damage == "kind":
        meta["others"][1]["options"]["projective"] = True
    elif damage == "labels":
        meta["others"][0]["labels"]["labels"].reverse()
    else:
        meta["others"] = {"2": meta["others"][0]}
    write_container(path, "parser", meta, dict(contents.arrays))
    with pytest.raises(InputError, match="model"):
        DependencyParser.load(path)


# ---------------------------------------------------------------- the command line


def test_an_ensemble_in_the_shell(fine):
    Path("train.conllu").write_text(conllu(X, Y))
    Path("new.conllu").write_text(conllu(NEW, NEW_Y))
    options = ["--hashed", "4096", "--epochs", "2", "--ensemble", "3", "--dev", "new.conllu"]
    _, told = fine("train", "parser", "train.conllu", "-m", "model", *options)
    assert "trees-3" in told
    assert "all 3 parsers, by votes" in told
    fine("train", "parser", "train.conllu", "-m", "again", *options)
    assert Path("model").read_bytes() == Path("again").read_bytes()
    assert "3 parsers vote; seeds 0, " in fine("inspect", "model")[0].decode()
    assert "the first of 3 parsers" in fine("inspect", "model", "--explain", "new.conllu")[0].decode()
    out, _ = fine("predict", "model", "new.conllu")
    assert len(out.splitlines()) == len(conllu(NEW, NEW_Y).splitlines())
