"""SequenceTagger as scikit-learn and its users take it."""

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from helpers.taggers import broken_iob2, entities, sentences, tagger
from swvp import SequenceTagger
from swvp.errors import InputError
from swvp.io.container import read_container, write_container


@pytest.fixture
def data():
    return sentences(np.random.default_rng(0))


def test_it_learns_what_can_be_learnt(data):
    assert tagger().fit(*data).score(*data) == 1.0


@pytest.mark.parametrize(
    "as_token",
    [
        lambda word: word,
        lambda word: (word, word[-1]),
        lambda word: [f"w={word}", f"last={word[-1]}"],
        lambda word: {"word": word, "length": len(word) / 10, "short": len(word) < 4, "letters": list(word)},
    ],
    ids=["words", "columns", "lists", "dicts"],
)
def test_tokens_may_be_words_columns_or_ready_features(data, as_token):
    X = [[as_token(word) for word in sentence] for sentence in data[0]]
    assert tagger(epochs=15).fit(X, data[1]).score(X, data[1]) == 1.0


def test_dicts_mean_what_they_mean_to_crfsuite(data):
    def fitted(make):
        X = [[make(word) for word in sentence] for sentence in data[0]]
        return tagger(epochs=2).fit(X, data[1]).coef_

    as_dict = fitted(lambda word: {"w": word, "ends": {"last": word[-1]}, "all": ["x", "y"], "bias": 1})
    as_list = fitted(lambda word: [f"w:{word}", f"ends:last:{word[-1]}", "all:x", "all:y", "bias"])
    np.testing.assert_array_equal(as_dict, as_list)


@pytest.mark.parametrize("ragged", [True, False])
def test_scikit_learn_s_tools_work(ragged):
    X, y = sentences(np.random.default_rng(1), ragged=ragged)
    assert len(cross_val_score(tagger(), X, y, cv=3)) == 3
    assert cross_val_score(tagger(), X, y, cv=3).mean() > 0.9
    predicted = cross_val_predict(tagger(), X, y, cv=3)
    assert [len(labels) for labels in predicted] == [len(labels) for labels in y]
    search = GridSearchCV(tagger(), {"rule": ["csp", "a-wm"], "beta": [0.5, 1]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.9


def test_clone_and_parameters(data):
    original = tagger(rule="b-wmr", beta=2, features=["word[0]"], constraint=None)
    copy = clone(original)
    assert copy.get_params() == original.get_params()
    assert not hasattr(copy, "coef_")


def test_a_fitted_tagger_can_be_pickled(data):
    fitted = tagger().fit(*data)
    assert pickle.loads(pickle.dumps(fitted)).predict(data[0]).tolist() == fitted.predict(data[0]).tolist()


def test_a_seed_fixes_the_weights_byte_for_byte(data):
    weights = [tagger(random_state=seed, epochs=1).fit(*data).coef_.tobytes() for seed in (3, 3, 4)]
    assert weights[0] == weights[1] != weights[2]


def test_threads_do_not_change_predictions(data):
    fitted = tagger().fit(*data)
    expected = fitted.predict(data[0]).tolist()
    assert fitted.set_params(n_jobs=3).predict(data[0]).tolist() == expected


def test_parts_of_the_rule_can_be_given_apart(data):
    whole = tagger(rule="b-softmin:pairs:count", beta=2).fit(*data)
    parts = tagger(gamma="softmin", approach="balanced", substructures="pairs", step="count", beta=2).fit(*data)
    np.testing.assert_array_equal(whole.coef_, parts.coef_)


def test_averaging_can_be_left_out(data):
    assert (tagger(average=False).fit(*data).coef_ != tagger().fit(*data).coef_).any()


@pytest.mark.parametrize("constraint", ["bio", "iob2"])
def test_no_prediction_breaks_the_constraint(constraint):
    X, y = entities(np.random.default_rng(2))
    free, bound = (
        tagger(rule="a-wm:segments:sqrt", epochs=1, constraint=name, features=["word[0]"]).fit(X, y)
        for name in (None, constraint)
    )
    assert sum(map(broken_iob2, free.predict(X))) > 0
    assert sum(map(broken_iob2, bound.predict(X))) == 0


def test_bioes_is_kept_to_the_ends_of_a_sentence():
    X, y = [["a", "b", "c"], ["a"], ["b", "c"]] * 5, [["B-X", "I-X", "E-X"], ["S-X"], ["B-X", "E-X"]] * 5
    fitted = tagger(constraint="bioes").fit(X, y)
    for labels in fitted.predict([["a", "a"], ["b"], ["c", "c", "c", "a"], ["z"] * 6]):
        open_entity = False
        for label in labels:
            assert open_entity == (label[0] in "IE")
            open_entity = label[0] in "BI"
        assert not open_entity


def test_allowed_transitions_may_be_pairs_or_a_function(data):
    allowed = {(None, "D"), ("D", "N"), ("N", "V"), ("V", "R"), ("V", None), ("R", None), (None, "N"), (None, "R")}
    by_pairs = tagger(constraint=allowed).fit(*data)
    by_function = tagger(constraint=lambda previous, label: (previous, label) in allowed).fit(*data)
    X = [["sleeps", "the"], ["barks"]]
    for labels in (by_pairs.predict(X), by_function.predict(X)):
        assert [list(row) for row in labels] == [["N", "V"], ["R"]]


def test_training_data_that_break_the_constraint_are_refused():
    with pytest.raises(InputError, match="sentence 1, token 1: the constraint bioes does not allow I-X after O:"):
        tagger(constraint="bioes").fit([["a"], ["b", "c"]], [["S-X"], ["O", "I-X"]])
    with pytest.raises(InputError, match="sentence 0, token 1: the constraint bioes does not allow the end after B-X:"):
        tagger(constraint="bioes").fit([["a", "b"]], [["S-X", "B-X"]])


def test_iob1_is_read_as_iob2_and_told():
    X, y = [["a", "b", "c", "d"], ["e", "f"]], [["I-X", "I-X", "B-X", "I-Y"], ["O", "I-X"]]
    with pytest.warns(UserWarning, match=r"3 labels begin a phrase with I-.* \(the first: sentence 0, token 0\)"):
        read = tagger(constraint="iob2").fit(X, y)
    assert read.classes_ == ["B-X", "B-Y", "I-X", "O"]
    given = tagger(constraint="iob2").fit(X, [["B-X", "I-X", "B-X", "B-Y"], ["O", "B-X"]])
    np.testing.assert_array_equal(read.coef_, given.coef_)


def test_empty_sentences_and_new_words_are_fine(data):
    X, y = data
    fitted = tagger().fit([*X, []], [*y, []])
    assert [list(row) for row in fitted.predict([[], ["xyzzy"], []])][::2] == [[], []]
    assert fitted.predict([]).tolist() == []
    assert len(fitted.predict([["word"] * 20_000])[0]) == 20_000


def test_labels_unseen_in_training_count_as_wrong(data):
    assert tagger().fit(*data).score([["the"]], [["UNSEEN"]]) == 0.0


@pytest.mark.parametrize(
    ("options", "X", "y", "message"),
    [
        ({}, [["a"]], [["X"], ["Y"]], "X has 1 sentence and y has 2"),
        ({}, [["a", "b"]], [["X"]], "sentence 0 has 2 tokens and 1 label"),
        ({}, [], [], "no tokens to learn from"),
        ({}, [[]], [[]], "no tokens to learn from"),
        ({}, ["a b"], [["X", "X", "X"]], "a sentence is a list of tokens, not a string"),
        ({}, [[1]], [["X"]], "not a int"),
        ({}, [[("a", "b"), ("c",)]], [["X", "Y"]], "a token has 1 column, the tagger knows 2: word, pos"),
        ({"columns": ["word"]}, [[("a", "b")]], [["X"]], "a token has 2 columns, the tagger knows 1: word"),
        ({"features": "posh"}, [["a"]], [["X"]], r"unknown features 'posh' \(did you mean 'pos'\?\)"),
        ({"features": ["pos[0]"]}, [["a"]], [["X"]], "unknown column in template line 1: 'pos'; known: word"),
        ({"features": "pos"}, [[["a"]]], [["X"]], "X holds ready features"),
        ({"epochs": 0}, [["a"]], [["X"]], "epochs must be a whole number of at least 1"),
        ({"minimum_count": 1.5}, [["a"]], [["X"]], "minimum_count must be a whole number"),
        ({"constraint": "bilou"}, [["a"]], [["X"]], "unknown constraint 'bilou'"),
        ({"rule": "a-wn"}, [["a"]], [["X"]], "unknown gamma 'wn'"),
        ({}, [[{"x": float("nan")}]], [["X"]], "NaN or infinity"),
        ({}, [[[3]]], [["X"]], "a feature in a list must be a string"),
    ],
)
def test_bad_input_is_one_clear_line(options, X, y, message):
    with pytest.raises(InputError, match=message):
        tagger(**options).fit(X, y)


def test_another_kind_of_tokens_than_in_training_is_refused(data):
    with pytest.raises(InputError, match="trained on words, but the input has columns"):
        tagger().fit(*data).predict([[("the", "D")]])


def test_predicting_before_fitting_is_refused():
    with pytest.raises(NotFittedError, match="call fit"):
        tagger().predict([["a"]])


# ---------------------------------------------------------------- the model file


@pytest.mark.parametrize(
    "as_token",
    [str, lambda word: (word, word[-1]), lambda word: {"w": word, "n": 0.5}],
    ids=["words", "columns", "features"],
)
def test_a_saved_tagger_predicts_the_same(data, tmp_path, as_token):
    X = [[as_token(word) for word in sentence] for sentence in data[0]]
    fitted = tagger(epochs=3, constraint=None).fit(X, data[1])
    fitted.save(tmp_path / "model")
    loaded = SequenceTagger.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.coef_, fitted.coef_)
    new = [[as_token("unseen"), *X[0]], []]
    assert loaded.predict(new).tolist() == fitted.predict(new).tolist()
    assert loaded.history_ == [dataclasses.replace(epoch, seconds=0.0) for epoch in fitted.history_]
    assert loaded.get_params() == fitted.get_params()


def test_constraints_are_saved(tmp_path):
    X, y = entities(np.random.default_rng(2))
    fitted = tagger(epochs=1, constraint="iob2", features=["word[0]"]).fit(X, y)
    fitted.save(tmp_path / "model")
    assert SequenceTagger.load(tmp_path / "model").predict(X).tolist() == fitted.predict(X).tolist()


def test_saving_the_same_tagger_twice_gives_the_same_bytes(data, tmp_path):
    for name in ("a", "b"):
        fitted = tagger(epochs=2).fit(*data)
        fitted.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_unfitted_tagger_cannot_be_saved(tmp_path):
    with pytest.raises(NotFittedError):
        tagger().save(tmp_path / "model")


@pytest.mark.parametrize("seed", range(40))
def test_a_model_whose_parts_do_not_fit_is_refused_or_works(data, tmp_path, seed):
    """Fuzzing behind the checksums: change one part of a sound file at random, and write it as a sound file."""
    rng = np.random.default_rng(seed)
    tagger(epochs=1).fit(*data).save(tmp_path / "model")
    kind, meta, arrays = read_container(tmp_path / "model", "tagger")
    meta, arrays = json.loads(json.dumps(meta)), dict(arrays)
    if seed % 2:
        name = str(rng.choice(list(arrays)))
        array = arrays[name]
        flat = array.ravel().copy()
        change = int(rng.integers(4))
        if change == 0 and len(flat):
            flat[rng.integers(len(flat))] = rng.integers(0, 120)
        arrays[name] = [flat.reshape(array.shape), array[:-1], array.ravel(), np.concatenate([flat, flat])][change]
    else:
        name = str(rng.choice(list(meta)))
        meta[name] = [None, [], {}, "x", 3, ["x"], [["x"]], [1], {"x": 1}][rng.integers(9)]
        if rng.random() < 0.2:
            del meta[name]
    write_container(tmp_path / "forged", kind, meta, arrays)
    try:
        loaded = SequenceTagger.load(tmp_path / "forged")
        predicted = loaded.predict(data[0])
    except InputError:
        return
    assert [len(labels) for labels in predicted] == [len(sentence) for sentence in data[0]]


def test_a_tagger_that_forgets_unused_attributes_predicts_and_explains_the_same(data):
    fitted = tagger(epochs=1).fit(*data)
    smaller = copy.deepcopy(fitted)
    smaller.forget_unused_attributes()
    assert 0 < smaller.n_attributes_ < fitted.n_attributes_
    assert len(smaller.coef_) == smaller.n_attributes_
    assert smaller.predict(data[0]).tolist() == fitted.predict(data[0]).tolist()
    assert smaller.explain(data[0][0]).rows == fitted.explain(data[0][0]).rows
    assert smaller.top_features().rows == fitted.top_features().rows


def test_weights_are_an_array_that_can_be_changed(data):
    fitted = tagger(epochs=2).fit(*data)
    before = fitted.predict(data[0]).tolist()
    fitted.coef_ *= -1.0
    assert fitted.predict(data[0]).tolist() != before
