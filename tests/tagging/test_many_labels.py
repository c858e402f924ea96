"""Taggers that look at few of many labels: what they choose, their files, and what works as with all labels."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from swvp import InputError, SequenceTagger
from swvp.cli import app
from swvp.io.container import read_container, write_container
from swvp.tagging.corpus import corpus_of

FEATURES = ["word[0]", "suffix(word[0], 1)", "word[-1]", "bias"]


def corpus(labels, sentences=60):
    """Sentences of words w0, w1, … whose labels are those of their numbers, or the next ones after w0."""
    rng = np.random.default_rng(0)
    X = [[f"w{k}" for k in rng.integers(labels, size=rng.integers(1, 6))] for _ in range(sentences)]
    return X, [[f"l{(int(word[1:]) + (k > 0 and x[k - 1] == 'w0')) % labels}" for k, word in enumerate(x)] for x in X]


X, Y = corpus(12)


OPTIONS = {"features": FEATURES, "epochs": 3, "random_state": 0, "candidates": 4}


def trained(**options):
    return SequenceTagger(**(OPTIONS | options)).fit(X, Y)


def labels_of(tagger):
    return list(tagger.predict(X))


def test_with_all_candidates_the_weights_are_those_of_all_labels():
    few, all_labels = (trained(candidates=k, rule="csp") for k in (12, 0))
    np.testing.assert_array_equal(few.transitions_, all_labels.transitions_)
    dense, seen = all_labels.coef_, few.coef_.toarray()
    np.testing.assert_array_equal(seen[seen != 0], dense[seen != 0])


def test_few_labels_are_all_looked_at_and_of_many_only_some():
    assert trained(candidates=None).candidates_ == 0
    many = SequenceTagger(features=FEATURES, epochs=1, random_state=0).fit(*corpus(150, sentences=300))
    assert (many.candidates_, len(many.classes_) > 100) == (8, True)
    assert not isinstance(many.coef_, np.ndarray)


@pytest.mark.parametrize("options", [{"rule": "crf"}, {"rule": "mira:3"}, {"rule": "csp", "vote": True}, {"order": 2}])
def test_what_needs_all_labels_gets_them(options):
    tagger = SequenceTagger(features=["word[0]"], **options)
    tagger.start(corpus_of(*corpus(120, sentences=300), None))
    assert tagger.candidates_ == 0


@pytest.mark.parametrize(
    "options", [{"rule": "crf"}, {"rule": "mira:3"}, {"vote": True}, {"order": 2}, {"decoder": "beam"}]
)
def test_candidates_are_refused_where_all_labels_are_needed(options):
    with pytest.raises(InputError, match="candidates are for order 1"):
        trained(**options)


@pytest.mark.parametrize("value", [-1, 1.5, "few", True])
def test_a_number_of_candidates_is_a_whole_number(value):
    with pytest.raises(InputError, match="candidates must be a whole number of at least 0"):
        trained(candidates=value)


def test_a_file_gives_the_same_tagger_and_the_same_bytes(tmp_path):
    tagger = trained()
    tagger.save(tmp_path / "a.swvp")
    loaded = SequenceTagger.load(tmp_path / "a.swvp")
    loaded.save(tmp_path / "b.swvp")
    assert (tmp_path / "a.swvp").read_bytes() == (tmp_path / "b.swvp").read_bytes()
    assert loaded.candidates_ == 4
    assert labels_of(loaded) == labels_of(tagger)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("meta", 0),
        ("meta", 13),
        ("meta", "4"),
        ("weights_per_attribute", lambda counts: counts + 1),
        ("weight_labels", lambda labels: labels * 0),
        ("weight_labels", lambda labels: labels[::-1]),
        ("weight_labels", lambda labels: labels + 12),
        ("weights", lambda weights: weights[1:]),
    ],
)
def test_a_file_whose_parts_do_not_fit_together_is_refused(tmp_path, name, value):
    trained().save(tmp_path / "a.swvp")
    kind, meta, arrays = read_container(tmp_path / "a.swvp", "tagger")
    if name == "meta":
        meta["candidates"] = value
    else:
        arrays[name] = np.ascontiguousarray(value(arrays[name]))
    write_container(tmp_path / "b.swvp", kind, meta, arrays)
    with pytest.raises(InputError, match="do not fit together"):
        SequenceTagger.load(tmp_path / "b.swvp")


def test_training_reports_how_often_gold_labels_are_candidates(tmp_path):
    lines = ("".join(f"{word} {label}\n" for word, label in zip(x, y, strict=True)) for x, y in zip(X, Y, strict=True))
    (tmp_path / "train.txt").write_text("\n".join(lines))
    train = ["train", "tagger", tmp_path / "train.txt", "-m", tmp_path / "m", "--epochs", "1", "--candidates", "2"]
    result = CliRunner().invoke(app, [*map(str, train), "--not-prose", "--features", "pos"])
    assert "candidates: 2 of 12 labels for each token\n" in result.output
    assert re.search(r"candidates: [\d.]+ % of the training tokens have their gold label among the 2\n", result.output)


def test_what_inspects_weights_gives_the_same_as_with_a_dense_matrix():
    tagger, dense = trained(), trained(candidates=0)
    dense.restore_weights(tagger.coef_.toarray(), 1.0)
    dense.transitions_ = tagger.transitions_
    assert tagger.top_features().rows == dense.top_features().rows
    assert tagger.state_features_ == dense.state_features_
    assert tagger.explain(X[0]).rows == dense.explain(X[0]).rows
    assert tagger.predict_k_best(X[:5], 3) == dense.predict_k_best(X[:5], 3)
    assert tagger.predict_marginals(X[:5]) == dense.predict_marginals(X[:5])
    assert tagger.fit_temperature(X, Y).temperature_ == dense.fit_temperature(X, Y).temperature_


def test_partial_fit_continues_with_all_labels():
    tagger = trained()
    before = tagger.coef_.toarray()
    tagger.partial_fit([["w0", "new"]], [["l0", "another"]])
    assert tagger.candidates_ == 0
    assert tagger.coef_.shape == (tagger.n_attributes_, 13)
    assert np.count_nonzero(tagger.coef_) >= np.count_nonzero(before)


def test_an_interrupted_training_resumes_to_the_same_weights(tmp_path):
    def stop(progress):
        if progress.epoch.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SequenceTagger(**OPTIONS).fit(X, Y, checkpoint=tmp_path / "c", watch=stop)
    resumed, whole = SequenceTagger(**OPTIONS).fit(X, Y, checkpoint=tmp_path / "c"), trained()
    np.testing.assert_array_equal(whole.coef_.toarray(), resumed.coef_.toarray())
    np.testing.assert_array_equal(whole.transitions_, resumed.transitions_)
