"""`DependencyParser`: what it learns from what, options, batches."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from helpers.trees import conllu, heads_only, toy
from swvp import DependencyParser, DependencyTree, Treebank
from swvp.errors import InputError
from swvp.io.treebank import treebank_of
from swvp.learning.perceptron import check_structure
from swvp.learning.rule import as_rule
from swvp.parsing import parser as parser_module
from swvp.structures.tree.reference import is_projective, is_tree

X, Y = toy(0)
NEW, NEW_Y = toy(1)


def parser(**options):
    return DependencyParser(**({"random_state": 0, "epochs": 4, "hashed": 2**14} | options))


@pytest.fixture(scope="module")
def fitted():
    return parser().fit(X, Y)


def heads(trees):
    return [list(tree.heads) for tree in trees]


def pairs(trees):
    return [list(zip(tree.heads, tree.labels, strict=True)) for tree in trees]


# ---------------------------------------------------------------- input


def test_it_learns_what_can_be_learnt(fitted):
    assert fitted.score(NEW, NEW_Y) == 1.0
    assert pairs(fitted.predict(NEW)) == NEW_Y
    tree = fitted.predict(conllu(NEW, NEW_Y))[0]
    assert (tree.uas, tree.las) == (1.0, 1.0)
    assert tree.words == tuple(word for word, _ in NEW[0])
    assert tree.tags == tuple(tag for _, tag in NEW[0])


def test_treebanks_may_come_as_text_file_treebank_lists_or_trees(fitted, tmp_path):
    text = conllu(X, Y)
    (tmp_path / "train.conllu").write_text(text)
    dicts = [[{"form": word, "upos": tag} for word, tag in sentence] for sentence in X]
    trees = [
        DependencyTree([word for word, _ in sentence], [h for h, _ in tree], [label for _, label in tree])
        for sentence, tree in zip(X, Y, strict=True)
    ]
    for given in (
        (text,),
        (tmp_path / "train.conllu",),
        (str(tmp_path / "train.conllu"),),
        (Treebank.from_text(text),),
        (dicts, Y),
        (X, trees),
        (X, [[list(pair) for pair in tree] for tree in Y]),
        (np.array([*X, None], object)[:-1], np.array([*Y, None], object)[:-1]),
    ):
        again = parser().fit(*given)
        np.testing.assert_array_equal(again.coef_, fitted.coef_)
        assert again.labeller_.classes == fitted.labeller_.classes
        np.testing.assert_array_equal(again.labeller_.weights["w"], fitted.labeller_.weights["w"])
    for new in (NEW, conllu(NEW, NEW_Y), conllu(NEW), Treebank.from_text(conllu(NEW), heads=False)):
        assert pairs(fitted.predict(new)) == NEW_Y


def test_labels_are_learnt_only_if_there_are_any_and_they_are_wanted():
    for given in (
        parser(labels=False).fit(X, Y),
        parser().fit(X, heads_only(Y)),
        parser().fit(conllu(X, [[(head, "_") for head in tree] for tree in heads_only(Y)])),
    ):
        assert given.labeller_ is None
        assert given.label_history_ == []
        assert given.predict(NEW)[0].labels is None
        assert given.score(NEW, NEW_Y) == 1.0


def test_gold_trees_stand_beside_predicted_ones_where_they_are_known(fitted):
    assert fitted.predict(NEW)[0].gold_heads is None
    assert fitted.predict(conllu(NEW))[0].gold_heads is None
    assert fitted.predict(conllu(NEW, NEW_Y))[0].gold_heads == tuple(heads_only(NEW_Y)[0])
    # heads that are no trees are not gold, and do not matter to predicting
    assert fitted.predict("1\ta\t_\tX\t_\t_\t1\tx\t_\t_\n")[0].gold_heads is None


def test_nothing_to_parse_gives_no_trees(fitted):
    assert fitted.predict([]).shape == (0,)
    assert fitted.predict(()).dtype == object
    assert parser(labels=False).fit(X, Y).predict([]).tolist() == []


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([["a"]], None, "y is missing"),
        ([["a"]], [[0], [0]], "X has 1 sentences and y has 2"),
        ([["a", "b"]], [[0]], "sentence 0 has 2 words and 1 heads"),
        ([["a", "b"]], [[2, 1]], r"sentence 0, token 1: a cycle of heads, word by word: 1 -> 2 -> 1"),
        ([["a", "b"]], [[1, 0]], "sentence 0, token 1: word 1 is its own head"),
        ([["a", "b"]], [[3, 0]], "sentence 0, token 1: the head is 3, but the sentence has 2 words"),
        ([["a", "b"]], [[-1, 0]], "a head is a number"),
        ([["a", "b"]], [[True, 0]], "a head is a number"),
        ([["a", "b"]], [["2", "0"]], "sentence 0 of y must be a list of heads, or of pairs"),
        ([["a", "b"]], [[2.0, 0]], "sentence 0 of y must be a list of heads, or of pairs"),
        ([["a", "b"]], [[(2, "x"), 0]], "sentence 0 of y must be a list of heads, or of pairs"),
        ([["a", "b"]], [[(2, 7), (0, "r")]], "a label of an arc must be a string, not 7"),
        ([["a"], ["b"]], [[(0, "r")], [0]], "sentence 1 of y has no labels, others have"),
        ([["a"]], ["0"], "sentence 0 of y must be a list of heads, not '0'"),
        ([["a"]], [None], "sentence 0 of y must be a list of heads, not None"),
        ([["a"]], "0", "y must be a list of trees, one for each sentence, not a str"),
        ([["a"]], 3, "y must be a list of trees, one for each sentence, not a int"),
        (None, [[0]], "the sentences must be a list of sentences, not a NoneType"),
        (3, None, "y is missing"),
        ([[]], [[]], "sentence 0 has no word"),
        ([], [], "no sentence in it"),
        (["a b"], [[2, 0]], "sentence 0 must be a list of words, not a str"),
        ([[1]], [[0]], "sentence 0, token 1: a token is a string, a tuple or a dict, not a int"),
        ([[("a", "b", "c")]], [[0]], "a tuple is"),
        ("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n", [[0]], "y is for sentences as lists of tokens"),
        ("1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n", None, "text: a treebank without heads"),
        ("nowhere.conllu", None, "cannot read nowhere.conllu"),
        (Path("nowhere"), None, "cannot read nowhere"),
        (treebank_of([["a"]]), None, "the treebank: a treebank without heads"),
    ],
)
def test_bad_input_is_one_clear_line(X, y, message):
    with pytest.raises(InputError, match=message) as error:
        parser().fit(X, y)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hashed": 3000}, "hashed must be a power of 2"),
        ({"hashed": 2**29}, "hashed must be at most 268435456"),
        ({"hashed": 0}, "hashed must be a whole number of at least 1"),
        ({"margin": -1}, "margin must be a number of at least 0, not -1"),
        ({"margin": "x"}, "margin must be a number"),
        ({"epochs": 0}, "epochs must be a whole number of at least 1"),
        ({"patience": 0}, "patience must be a whole number of at least 1"),
        ({"features": "turbos"}, "unknown features 'turbos'"),
        ({"features": ["h.poss"]}, "unknown column in template line 1: 'poss'"),
        ({"features": [3]}, "features must be the name of a preset or a list of templates"),
        ({"features": []}, "no template in it"),
        ({"rule": "a-wn"}, "unknown gamma 'wn'"),
        ({"random_state": -1}, "random_state must be a seed"),
    ],
)
def test_bad_options_are_one_clear_line(options, message):
    with pytest.raises(InputError, match=message):
        parser(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([3, 0], "the head is 3, but the sentence has 2 words"),
        ([-1, 0], "the head is -1"),
        ([2, 1], "a cycle of heads"),
        ([1, 0], "word 1 is its own head"),
        ([0], "one for each of its 2 words"),
        ([2.0, 0.0], "heads must be whole numbers"),
    ],
    ids=str,
)
def test_trees_of_a_treebank_made_by_hand_are_checked(heads, message):
    treebank = treebank_of([["Ann", "left"]]).with_trees(np.array(heads), None)
    for learn in (parser().fit, parser().partial_fit):
        with pytest.raises(InputError, match=message):
            learn(treebank)


def test_an_unfitted_parser_answers_no_question():
    for ask in ("predict", "score", "confidence", "predict_marginals", "explain", "top_features", "fit_temperature"):
        with pytest.raises(NotFittedError, match="call fit"):
            getattr(parser(), ask)(*((X, Y) if ask in ("score", "fit_temperature") else (X,)))
    with pytest.raises(InputError, match="watch must be a function, not 3"):
        parser().fit(X, Y, watch=3)


@pytest.mark.parametrize("order", [1, 2])
def test_an_order_has_presets_and_a_rule_that_fit_it(order):
    model = parser(order=order).model_class
    assert model.order == order
    for lines in model.presets.values():
        model.check_templates(lines, "preset")
    assert model.default_features in model.presets
    check_structure(as_rule(model.default_rule), model.structure)
    assert parser(order=order).check().name == model.default_rule


@pytest.mark.parametrize("order", [0, 3, True, "1", None, [1]])
def test_there_is_no_other_order(order):
    with pytest.raises(InputError, match=r"order must be 1 \(arcs\) or 2 \(arcs, siblings and grandparents\), not"):
        parser(order=order).check()


# ---------------------------------------------------------------- epochs


def test_the_weights_of_the_best_epoch_on_the_dev_set_are_used():
    seen = []
    train, dev = toy(2, 20, wrong=0.4), toy(3, 20, wrong=0.4)
    found = parser(epochs=8).fit(*train, dev=dev, watch=seen.append)
    assert [progress.epoch for progress in seen] == found.history_
    assert [progress.score for progress in seen] == found.dev_scores_
    assert found.best_epoch_ == int(np.argmax(found.dev_scores_)) + 1
    assert found.score(*dev) == pytest.approx(max(found.dev_scores_))
    assert len(found.label_dev_scores_) == len(found.label_history_)
    as_text = parser(epochs=8).fit(conllu(*train), dev=conllu(*dev))
    np.testing.assert_array_equal(as_text.coef_, found.coef_)
    patient = parser(epochs=8, patience=1).fit(*train, dev=dev)
    assert patient.dev_scores_ == found.dev_scores_[: len(patient.dev_scores_)]
    assert len(patient.history_) == min(patient.best_epoch_ + 1, 8)


def test_a_dev_set_may_have_no_labels():
    found = parser(epochs=2).fit(X, Y, dev=(NEW, heads_only(NEW_Y)))
    assert found.dev_scores_
    assert found.label_dev_scores_ == []
    assert pairs(found.predict(NEW)) == NEW_Y


def test_a_seed_fixes_the_weights():
    noisy = toy(4, 20, wrong=0.3)
    weights = [parser(random_state=seed, epochs=2).fit(*noisy).coef_.tobytes() for seed in (3, 3, 4)]
    assert weights[0] == weights[1] != weights[2]


def test_threads_do_not_change_anything(fitted):
    many = copy.deepcopy(fitted).set_params(n_jobs=3)
    assert many.predict(NEW).tolist() == fitted.predict(NEW).tolist()
    assert many.confidence(NEW).tolist() == fitted.confidence(NEW).tolist()
    np.testing.assert_array_equal(parser(n_jobs=2).fit(X, Y).coef_, fitted.coef_)
    with pytest.raises(InputError, match="n_jobs must be a whole number"):
        many.set_params(n_jobs=0).predict(NEW)


# ---------------------------------------------------------------- scikit-learn


def test_clone_and_parameters(fitted):
    original = parser(rule="a-wm:components:sqrt", beta=0.7, projective=True, features=["h.pos & m.pos"])
    assert clone(original).get_params() == original.get_params()
    assert not hasattr(clone(fitted), "coef_")
    assert original.set_params(margin=1.0).margin == 1.0


def test_scikit_learn_s_tools_work():
    assert cross_val_score(parser(), X, Y, cv=3).min() > 0.95
    predicted = cross_val_predict(parser(), X, Y, cv=3)
    assert [len(tree) for tree in predicted] == [len(tree) for tree in Y]
    assert np.mean([tree == gold for tree, gold in zip(pairs(predicted), Y, strict=True)]) > 0.9
    assert cross_val_predict(parser(), X, heads_only(Y), cv=2)[0].labels is None
    search = GridSearchCV(parser(), {"rule": ["csp", "a-wm"], "margin": [0.0, 5.0]}, cv=2).fit(X, Y)
    assert search.best_score_ > 0.95
    assert pairs(search.predict(NEW)) == NEW_Y


def test_a_fitted_parser_can_be_pickled(fitted):
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(NEW).tolist() == fitted.predict(NEW).tolist()


# ---------------------------------------------------------------- kinds of trees


CROSSING = [["a", "b", "c", "d"]] * 3, [[3, 4, 0, 3]] * 3


def test_trees_may_cross_unless_projective():
    free, projective = (parser(projective=p, epochs=20).fit(*CROSSING) for p in (False, True))
    assert heads(free.predict(CROSSING[0])) == CROSSING[1]
    (found, *_) = heads(projective.predict(CROSSING[0]))
    assert is_projective(found)
    assert is_tree(found, True)


def test_several_roots():
    X, y = [["a", "b", "c"]] * 3, [[0, 1, 0]] * 3
    assert heads(parser(one_root=False, epochs=20).fit(X, y).predict(X)) == y
    assert [tree.count(0) for tree in heads(parser(one_root=True, epochs=20).fit(X, y).predict(X))] == [1] * 3


def test_without_pruning_and_with_weights_of_their_own(monkeypatch):
    monkeypatch.setattr(parser_module, "EXACT_SIZE", 2**16)
    exact = parser(hashed=None, prune=False).fit(X, Y)
    assert pairs(exact.predict(NEW)) == NEW_Y
    assert len(exact.longest_) == 1
    assert 0 < np.count_nonzero(exact.owners_) <= 2**15
    assert np.count_nonzero(exact.coef_[exact.owners_ == 0]) == 0
    large = parser(hashed=2**20, prune=False).fit(X, Y)  # hardly any place is shared
    assert heads(large.predict(NEW)) == heads(exact.predict(NEW))


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("prune", [False, True])
def test_short_and_long_sentences(projective, prune):
    found = parser(projective=projective, prune=prune, epochs=2).fit(X, Y)
    assert heads(found.predict([["dog"], [("dog", "NOUN")], [("dog", "UNSEEN")]])) == [[0]] * 3
    (long,) = found.predict([[("dog", "NOUN"), ("sees", "VERB"), ("xyzzy", "NEW"), ("the", "DET")] * 125])
    assert is_tree(long.heads, True)
    assert len(long.labels) == 500


# ---------------------------------------------------------------- batches


def test_each_batch_continues_from_the_last():
    found = parser()
    X, Y = toy(6, 30, wrong=0.1)
    assert found.partial_fit(X[:10], Y[:10]) is found
    first = found.coef_
    for part in range(10, 30, 10):
        found.partial_fit(X[part : part + 10], Y[part : part + 10])
    assert (found.coef_ != first).any()
    assert [epoch.epoch for epoch in found.history_] == [1, 2, 3]
    assert [epoch.epoch for epoch in found.label_history_] == [1, 2, 3]
    assert found.best_epoch_ == 3
    assert found.score(NEW, NEW_Y) > 0.85
    again = pickle.loads(pickle.dumps(found))
    for each in (found, again):
        each.partial_fit(NEW, NEW_Y)
    np.testing.assert_array_equal(found.coef_, again.coef_)
    np.testing.assert_array_equal(found.labeller_.weights["w"], again.labeller_.weights["w"])


def test_one_batch_is_one_epoch():
    noisy = toy(5, 20, wrong=0.3)
    one, fit = parser().partial_fit(*noisy), parser(epochs=1).fit(*noisy)
    np.testing.assert_allclose(one.coef_, fit.coef_, atol=1e-12)
    np.testing.assert_allclose(one.labeller_.weights["w"], fit.labeller_.weights["w"], atol=1e-12)
    np.testing.assert_allclose(one.labeller_.weights["w_move"], fit.labeller_.weights["w_move"], atol=1e-12)


def test_batches_may_bring_new_words_tags_and_labels(tmp_path):
    found = parser().partial_fit(X, Y)
    adverbs = [[("birds", "NOUN"), ("sing", "VERB"), ("loudly", "ADV")]] * 3
    trees = [[(2, "nsubj"), (0, "root"), (2, "advmod")]] * 3
    for _ in range(20):  # weights are averaged over all batches
        found.partial_fit(adverbs, trees)
    known = ["amod", "det", "nsubj", "obj", "punct", "root"]
    assert found.labeller_.classes == [*known, "advmod"]
    assert pairs(found.predict(adverbs)) == trees
    found.save(tmp_path / "model")
    loaded = DependencyParser.load(tmp_path / "model")
    assert pairs(loaded.predict(adverbs)) == trees
    assert [epoch.epoch for epoch in loaded.label_history_] == list(range(1, 22))
    loaded.partial_fit(adverbs, trees)
    assert pairs(loaded.predict(adverbs)) == trees


def test_batches_after_fit_keep_what_is_known_without_a_mistake(fitted):
    on = copy.deepcopy(fitted).set_params(margin=0.0).partial_fit(X, Y)
    np.testing.assert_array_equal(on.coef_, fitted.coef_)  # no mistake, no update
    assert len(on.history_) == len(fitted.history_) + 1
    only_heads = copy.deepcopy(fitted).partial_fit(NEW, heads_only(NEW_Y))
    assert only_heads.labeller_ is not None
    assert len(only_heads.label_history_) == len(fitted.label_history_)
    assert pairs(only_heads.predict(NEW)) == NEW_Y


def test_labels_may_come_with_a_later_batch():
    found = parser().partial_fit(X, heads_only(Y))
    assert found.predict(NEW)[0].labels is None
    found.partial_fit(X, Y)
    assert pairs(found.predict(NEW)) == NEW_Y


def test_batches_with_weights_of_their_own_never_fill_the_table(monkeypatch):
    monkeypatch.setattr(parser_module, "EXACT_SIZE", 2**9)
    found = parser(hashed=None, labels=False)
    for seed in range(4):
        found.partial_fit(*toy(seed, 8, wrong=0.5))
        assert 0 < np.count_nonzero(found.owners_) <= 2**8
    found.predict(NEW)


def test_batches_cannot_change_the_hash_size_but_can_stop_pruning(fitted):
    other = copy.deepcopy(fitted).set_params(hashed=2**10)
    with pytest.raises(InputError, match="hashed is not what the parser was fitted with"):
        other.partial_fit(X, Y)
    assert pairs(other.predict(NEW)) == NEW_Y  # as before
    assert len(other.set_params(hashed=2**14, prune=False).partial_fit(X, Y).longest_) == 1


def test_a_fit_forgets_the_batches_before():
    again = parser().partial_fit(NEW, NEW_Y).fit(X, Y)
    np.testing.assert_array_equal(again.coef_, parser().fit(X, Y).coef_)
    assert again.best_epoch_ == len(again.history_) <= 4


def test_one_sentence_without_its_list_is_refused():
    parser = DependencyParser(epochs=1).fit([[("a", "DET"), ("dog", "NOUN")]], [[2, 0]])
    with pytest.raises(InputError, match=r"X looks like one sentence, whose first token is .*: put it into a list"):
        parser.predict([("a", "DET"), ("dog", "NOUN")])
