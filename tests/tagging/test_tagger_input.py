"""What Python or a file may give to a tagger by mistake: one clear line, or read as it was meant."""

from pathlib import Path

import numpy as np
import pytest

from helpers.texts import COLUMNS
from swvp import SequenceTagger
from swvp.errors import InputError
from swvp.io.table import read_table

X, Y = [["the", "dog", "barks"], ["cats", "sleep"]], [["D", "N", "V"], ["N", "V"]]
TRAIN = ["train", "tagger", "train.txt", "-m", "model"]


def tagger(**options):
    return SequenceTagger(**{"epochs": 2, "random_state": 0} | options)


@pytest.fixture
def fitted():
    return tagger().fit(X, Y)


def circular():
    token = {"word": "a"}
    token["self"] = token
    return token


@pytest.mark.parametrize(
    ("sentences", "labels", "message"),
    [
        (None, [["X"]], "X must be a list of sentences, not a NoneType"),
        ([["a"]], None, "y is None"),
        ([None], [["X"]], "a sentence must be a list of tokens, not a NoneType"),
        ([{"a": 1}], [["X"]], "a sentence must be a list of tokens, not a dict"),
        ([["a"]], [None], "sentence 0 of y must be a list of labels, not a NoneType"),
        ((s for s in X), Y, "X must be a list of sentences, not a generator"),
        (X, (labels for labels in Y), "y must be a list of the labels of each sentence, not a generator"),
        ([(w for w in "ab")], [["X", "Y"]], "a sentence must be a list of tokens, not a generator"),
        ([["a"]], [[None]], "a label is None"),
        ([["a", "b"]], [["X", None]], "a label is None"),
        ([["a", "b"]], [["X", 1]], "labels must be of one kind that can be sorted, such as strings, not int, str"),
        ([["a"]], [[["X"]]], "a label must be hashable"),
        ([[("a", "b"), "cd"]], [["X", "Y"]], "X mixes kinds of tokens: columns and words"),
        ([["cd"], [("a",)]], [["X"], ["Y"]], "X mixes kinds of tokens: words and columns"),
        ([[("a", "b"), {"c": 1, "d": 1}]], [["X", "Y"]], "X mixes kinds of tokens: columns and features"),
        ([[["f"], ("a",)]], [["X", "Y"]], "X mixes kinds of tokens: features and columns"),
        ([[("a", ["b"])]], [["X"]], "the columns of a token must be strings"),
        ([[circular()]], [["X"]], "nested too deeply, or contain themselves"),
        ([[{"a": 10**400}]], [["X"]], "the value of the feature 'a' is too large"),
    ],
)
def test_sentences_and_labels_that_are_none(sentences, labels, message):
    with pytest.raises(InputError, match=message):
        tagger().fit(sentences, labels)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": 3}, "features must be the name of a preset or a list of templates, not 3"),
        ({"features": [1]}, r"features must be the name of a preset or a list of templates, not \[1\]"),
        ({"columns": 3}, "columns must be a list of names, not 3"),
        ({"columns": "word"}, "columns must be a list of names, not 'word'"),
        ({"columns": []}, r"columns must be a list of names, not \[\]"),
        ({"columns": ["w", "w"]}, "columns has a name twice: w, w"),
        ({"constraint": 3}, "a constraint is the name of a scheme, a function, or pairs"),
        ({"constraint": ["DN"]}, "a constraint is the name of a scheme, a function, or pairs"),
        ({"constraint": [("D", ["N"])]}, "the pairs of a constraint must be pairs of labels"),
        ({"rule": "crf", "l2": "x"}, "l2 must be a number of at least 0, not 'x'"),
        ({"rule": "crf", "l2": None}, "l2 must be a number of at least 0, not None"),
        ({"hashed": 8, "minimum_count": 2}, "hashed attributes are not counted"),
        ({"hashed": 99999999999999}, "hashed must be at most 4294967295"),
        ({"fix": "foo"}, "unknown fix 'foo'"),
    ],
)
def test_options_that_cannot_be_used(options, message):
    with pytest.raises(InputError, match=message):
        tagger(**options).fit(X, Y)


def test_ready_features_are_not_hashed():
    with pytest.raises(InputError, match="hashed is for templates"):
        tagger(hashed=8).fit([[["f"]]], [["X"]])


def test_schemes_are_for_strings():
    with pytest.raises(InputError, match="the constraint 'bio' is for labels that are strings, not 1"):
        tagger(constraint="bio").fit([["a"]], [[1]])


def test_a_constraint_may_be_lists_of_pairs():
    pairs = [[None, "D"], ["D", "N"], ["N", "V"], ["V", None], [None, "N"]]
    assert tagger(constraint=pairs).fit(X, Y).predict(X[:1]).tolist() == [["D", "N", "V"]]


def test_nobody_has_to_watch(fitted):
    np.testing.assert_array_equal(tagger().fit(X, Y, watch=None).coef_, fitted.coef_)
    with pytest.raises(InputError, match="watch must be a function, not 3"):
        tagger().fit(X, Y, watch=3)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda fitted: fitted.predict(None), "X must be a list of sentences"),
        (lambda fitted: fitted.predict(s for s in X), "X must be a list of sentences, not a generator"),
        (lambda fitted: fitted.score((s for s in X), Y), "X must be a list of sentences, not a generator"),
        (lambda fitted: fitted.explain(X[0], position=1.5), "there is no token 1.5: the sentence has 3"),
        (lambda fitted: fitted.explain(X[0], n=-1), "n must be a whole number of at least 0, not -1"),
        (lambda fitted: fitted.top_features(n=-1), "n must be a whole number of at least 0, not -1"),
        (lambda fitted: fitted.top_transitions(n=1.5), "n must be a whole number of at least 0, not 1.5"),
        (
            lambda fitted: fitted.predict_k_best([["a"] * 50], 10**12),
            "not enough memory for the 1000000000000 best labels",
        ),
        (
            lambda fitted: fitted.predict_k_best([["a"] * 90], 10**40),
            "not enough memory for the .* best labels of 90 tokens",
        ),
    ],
)
def test_questions_that_make_no_sense(fitted, ask, message):
    with pytest.raises(InputError, match=message):
        ask(fitted)


def test_there_are_no_more_label_sequences_than_all(fitted):
    assert len(fitted.predict_k_best([["a", "b"]], 10**12)[0]) == 9


@pytest.mark.parametrize("threads", [-1, 0, 1.5, None])
def test_threads_are_counted_from_one(fitted, threads):
    fitted.set_params(n_jobs=threads)
    for ask in (fitted.predict, fitted.predict_marginals):
        with pytest.raises(InputError, match="n_jobs must be a whole number of at least 1"):
            ask(X)


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2)])
def test_the_order_cannot_change_after_fit(tmp_path, before, after):
    fitted = tagger(order=before).fit(X, Y).set_params(order=after)
    for ask in (fitted.predict, fitted.predict_marginals, lambda X: fitted.save(tmp_path / "model")):
        with pytest.raises(InputError, match=f"fitted with order {before}, not {after}: fit it again"):
            ask(X)
    with pytest.raises(InputError, match="fit it again"):
        fitted.partial_fit(X, Y)
    assert fitted.fit(X, Y).predict(X).tolist() == Y


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    ("content", "encoding", "message"),
    [
        (b"a O\n", "undefined", "train.txt: cannot be read with the encoding 'undefined'"),
        (b"a O\n", "utf\0-8", r"unknown encoding 'utf\x00-8'"),
        (b"a O\n", "hex", "unknown encoding 'hex'"),
        (b"b O\n+2AA- O\n", "utf-7", r"train.txt:2: an unpaired surrogate ('\ud800'), read as utf-7"),
        (
            b"a O\rb O\r\rc O\r",
            "utf-8",
            r"train.txt: its lines end in CR only; convert them to LF, as with tr '\r' '\n'",
        ),
    ],
)
def test_files_that_cannot_be_read_as_text(refused, content, encoding, message):
    Path("train.txt").write_bytes(content)
    assert refused(*TRAIN, "--encoding", encoding) == message


def test_a_line_of_blanks_and_carriage_returns_is_empty(tmp_path):
    (tmp_path / "a").write_bytes(b"\r \r\na O\n \r \r\nb O\n")
    assert read_table(tmp_path / "a").sentences(0) == [["a"], ["b"]]


@pytest.mark.parametrize("separator", ["\t", " "])
def test_a_wide_line_in_a_long_file_takes_no_more_room_than_it_needs(tmp_path, separator):
    (tmp_path / "a").write_text(separator.join("x" * 1_000_000) + "\n" + "\n" * 1_000_000 + "a b\n")
    with pytest.raises(InputError, match="but 1000000 on the lines before"):
        read_table(tmp_path / "a")


@pytest.mark.parametrize("content", [b"\ta\n\t\n\tb\n", b"a b\nc d", b"a\nb\n\nc", b"a\n\nb\n\nc\n"])
def test_small_tables_have_room_for_all_tokens(tmp_path, content):
    (tmp_path / "a").write_bytes(content + b"\nx y z")
    with pytest.raises(InputError, match=r"1 column,|3 columns"):
        read_table(tmp_path / "a")


def test_what_does_not_fit_into_memory_is_one_line(refused, monkeypatch):
    Path("train.txt").write_text(COLUMNS)
    line = refused(*TRAIN, "--hashed", "99999999999999")
    assert line == "--hashed must be at most 4294967295, not 99999999999999"

    def full(*_, **__):
        raise MemoryError("Unable to allocate\n80 TiB")

    monkeypatch.setattr("swvp.tagging.train.train_tagger", full)
    assert refused(*TRAIN) == "not enough memory: Unable to allocate 80 TiB"


def test_a_fix_is_known_without_a_beam(refused):
    Path("train.txt").write_text(COLUMNS)
    assert refused(*TRAIN, "--fix", "foo").startswith("unknown fix 'foo'; known: none, early")
