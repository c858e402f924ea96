"""SequenceTagger in training: development data, batches, orders and searches."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from helpers.taggers import broken_iob2, entities, sentences, tagger
from swvp import SequenceTagger
from swvp.errors import InputError
from swvp.evaluation.counts import evaluate_phrases
from swvp.learning.rule import UpdateRule


@pytest.fixture
def data():
    return sentences(np.random.default_rng(0))


# ---------------------------------------------------------------- development data


def noisy_entities(seed, count):
    """Names in which one label in six is wrong, so that more passes are not always better."""
    rng = np.random.default_rng(seed)
    X, y = entities(rng, count)
    labels = sorted({label for sentence in y for label in sentence})
    return X, [[str(rng.choice(labels)) if rng.random() < 1 / 6 else label for label in sentence] for sentence in y]


WINDOW = ["bias", "word[-1]", "word[0]", "word[1]"]


def test_the_best_pass_on_development_data_is_kept():
    train, dev = noisy_entities(0, 40), noisy_entities(1, 30)
    seen = []
    fitted = tagger(epochs=8, features=WINDOW).fit(*train, dev=dev, watch=seen.append)
    scores = [progress.score for progress in seen]
    assert fitted.dev_scores_ == scores
    assert len(set(scores)) > 1
    best = int(np.argmax(scores)) + 1
    assert 1 < best < 8
    assert fitted.best_epoch_ == best
    assert evaluate_phrases(dev[1], fitted.predict(dev[0])).total.f1 == pytest.approx(max(scores))
    np.testing.assert_array_equal(fitted.coef_, tagger(epochs=best, features=WINDOW).fit(*train).coef_)


def test_patience_stops_early():
    train, dev = noisy_entities(0, 40), noisy_entities(1, 30)
    full = tagger(epochs=8, features=WINDOW).fit(*train, dev=dev)
    stopped = tagger(epochs=8, patience=1, features=WINDOW).fit(*train, dev=dev)
    assert len(stopped.history_) < 8
    assert stopped.dev_scores_ == full.dev_scores_[: len(stopped.history_)]
    assert stopped.dev_scores_[-1] <= max(stopped.dev_scores_[:-1])


def test_tags_are_scored_by_accuracy_and_unseen_labels_count_as_wrong(data):
    X, y = data
    fitted = tagger(epochs=3).fit(X, y, dev=(X[:2], [["UNSEEN"] * len(labels) for labels in y[:2]]))
    assert fitted.dev_scores_ == [0.0] * len(fitted.history_)
    assert tagger(epochs=3).fit(X, y, dev=(X, y)).dev_scores_[-1] == 1.0


def test_hashed_attributes_learn_and_can_be_saved(data, tmp_path):
    fitted = tagger(hashed=512).fit(*data)
    assert fitted.coef_.shape == (512, 4)
    assert fitted.score(*data) == 1.0
    fitted.save(tmp_path / "model")
    assert SequenceTagger.load(tmp_path / "model").predict(data[0]).tolist() == fitted.predict(data[0]).tolist()


def test_an_interrupted_training_leaves_no_old_weights_to_predict_with(data):
    def stop(progress):
        raise KeyboardInterrupt

    fitted = tagger().fit([["a"]], [["X"]])
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(*data, watch=stop)
    with pytest.raises(NotFittedError):
        fitted.predict(data[0])


def test_bad_data_leave_a_fitted_tagger_as_it_was(data):
    fitted = tagger(constraint="bioes").fit([["a"]], [["S-X"]])
    for learn in (fitted.fit, fitted.partial_fit):
        with pytest.raises(InputError):
            learn([["b"]], [["I-X"]])
    assert fitted.predict([["a"]]).tolist() == [["S-X"]]


def test_the_beta_of_a_rule_is_its_own():
    assert tagger(rule="a-wm")._rule().beta == 0.5
    assert tagger(rule=UpdateRule(beta=2.0))._rule().beta == 2.0
    assert tagger(rule=UpdateRule(beta=2.0), beta=3.0)._rule().beta == 3.0


def test_development_data_have_the_columns_of_training(data):
    X = [[(word, word[0]) for word in sentence] for sentence in data[0]]
    assert tagger(epochs=1).fit(X, data[1], dev=([], [])).dev_scores_ == [1.0]
    with pytest.raises(InputError, match="a token has 1 column, the tagger knows 2: word, pos"):
        tagger().fit(X, data[1], dev=([[("the",)]], [["D"]]))
    with pytest.raises(InputError, match="trained on columns, but the input has words"):
        tagger().fit(X, data[1], dev=data)


# ---------------------------------------------------------------- batch by batch


def as_features(X):
    return [[[f"w={word}", f"l={word[-1]}"] for word in sentence] for sentence in X]


@pytest.mark.parametrize("options", [{}, {"order": 2}, {"decoder": "beam", "width": 2}], ids=str)
@pytest.mark.parametrize("ready", [False, True], ids=["words", "features"])
def test_batches_are_passes_that_go_on(data, options, ready):
    """With all words and labels in the first batch, partial_fit twice is fit with two passes in the same orders."""
    X, y = (as_features(data[0]) if ready else data[0]), data[1]
    whole = tagger(epochs=2, **options).fit(X, y)
    parts = tagger(epochs=9, **options).partial_fit(X, y).partial_fit(X, y)
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-12)
    np.testing.assert_allclose(parts.transitions_, whole.transitions_, atol=1e-12)
    assert [epoch.mistakes for epoch in parts.history_] == [epoch.mistakes for epoch in whole.history_]
    assert [epoch.epoch for epoch in parts.history_] == [1, 2]


@pytest.mark.parametrize("ready", [False, True], ids=["words", "features"])
def test_words_and_labels_may_come_later(data, ready):
    X, y = (as_features(data[0]) if ready else data[0]), data[1]
    late = [i for i, labels in enumerate(y) if "R" in labels]
    early = [i for i, labels in enumerate(y) if "R" not in labels]
    learner = tagger(constraint=lambda previous, label: True)
    learner.partial_fit([X[i] for i in early], [y[i] for i in early])
    assert learner.classes_ == ["D", "N", "V"]
    before = learner.coef_
    learner.partial_fit([X[i] for i in late], [y[i] for i in late])
    assert learner.classes_ == ["D", "N", "V", "R"]
    assert len(learner.coef_) > len(before)
    for _ in range(5):
        learner.partial_fit(X, y)
    assert learner.score(X, y) == 1.0
    assert tagger().partial_fit(X, y, classes=["Z"]).classes_ == ["D", "N", "R", "V", "Z"]


def test_batches_go_on_after_fit_and_after_load(data, tmp_path):
    fitted = tagger(epochs=3).fit(*data)
    weights = fitted.coef_.copy()
    fitted.save(tmp_path / "model")
    loaded = SequenceTagger.load(tmp_path / "model").partial_fit(*data)
    fitted.partial_fit(*data)
    np.testing.assert_array_equal(loaded.coef_, fitted.coef_)
    assert fitted.score(*data) == 1.0
    if fitted.history_[-1].mistakes == 0:
        np.testing.assert_allclose(fitted.coef_, weights)  # nothing to learn, nothing lost
    again = pickle.loads(pickle.dumps(fitted)).partial_fit(*data)
    np.testing.assert_array_equal(again.coef_, fitted.partial_fit(*data).coef_)


def test_batches_of_another_kind_and_of_a_crf_are_refused(data):
    with pytest.raises(InputError, match="trained on words, but the input has features"):
        tagger().partial_fit(*data).partial_fit(as_features(data[0]), data[1])
    with pytest.raises(InputError, match="it has no partial_fit"):
        tagger(rule="crf").partial_fit(*data)


# ---------------------------------------------------------------- order and search


def cycles(count=30):
    """Labels that the two before them decide: A A B A A B …, whatever the words are."""
    rng = np.random.default_rng(0)
    y = [[("A", "A", "B")[(k + int(start)) % 3] for k in range(9)] for start in rng.integers(3, size=count)]
    return [["start" + labels[0] + labels[1], *["w"] * 8] for labels in y], y


def test_second_order_learns_what_first_order_cannot():
    X, y = cycles()
    first, second = (
        tagger(order=order, epochs=60, average=False, features=["word[-1] & word[0]"]).fit(X, y) for order in (1, 2)
    )
    assert second.score(X, y) == 1.0
    assert first.score(X, y) < 0.9


@pytest.mark.parametrize("fix", ["none", "early", "max-violation", "latest"])
@pytest.mark.parametrize("order", [1, 2])
def test_a_beam_learns_with_every_fix_and_can_be_saved(order, fix, tmp_path):
    X, y = entities(np.random.default_rng(2))
    fitted = tagger(order=order, decoder="beam", width=3, fix=fix, constraint="iob2", features="ner").fit(X, y)
    assert fitted.score(X, y) > 0.7
    assert sum(map(broken_iob2, fitted.predict(X))) == 0
    fitted.save(tmp_path / "model")
    loaded = SequenceTagger.load(tmp_path / "model")
    assert loaded.predict(X).tolist() == fitted.predict(X).tolist()


def test_a_wide_beam_predicts_as_exact_search_does():
    X, y = entities(np.random.default_rng(2))
    fitted = tagger(epochs=1).fit(X, y)
    expected = fitted.predict(X).tolist()
    fitted.triples_ = np.zeros((0, 0, 0))
    assert fitted.set_params(decoder="beam", width=5).predict(X).tolist() == expected
    assert fitted.set_params(width=1).predict(X).tolist() != expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 3}, "order must be 1 or 2, not 3"),
        ({"decoder": "bean"}, r"unknown decoder 'bean' \(did you mean 'beam'\?\)"),
        ({"decoder": "beam", "width": 0}, "width must be a whole number of at least 1"),
        ({"decoder": "beam", "fix": "earlier"}, "unknown fix 'earlier'"),
        ({"order": 2, "rule": "crf"}, "rule 'crf' is for order 1 and exact search"),
        ({"decoder": "beam", "rule": "mira:5"}, "rule 'mira:5' is for order 1 and exact search"),
        ({"decoder": "beam", "rule": "softmax"}, "rule 'softmax' is for exact search"),
        ({"order": 2, "rule": "b-maxent:all:5"}, "rule 'b-maxent:all:5' is for order 1 and exact search"),
    ],
)
def test_searches_that_make_no_sense_are_refused(data, options, message):
    with pytest.raises(InputError, match=message):
        tagger(**options).fit(*data)


def test_what_needs_first_order_says_so(data):
    fitted = tagger(order=2, epochs=1).fit(*data)
    for ask in (fitted.predict_marginals, fitted.confidence, lambda X: fitted.predict_k_best(X, 2)):
        with pytest.raises(InputError, match="need order 1 and exact search"):
            ask(data[0])


def test_a_crf_is_trained_by_its_likelihood(data):
    fitted = tagger(rule="crf", epochs=30, l2=0.1).fit(*data, dev=data)
    assert fitted.score(*data) == 1.0
    loose, tight = (tagger(rule="crf", epochs=30, l2=l2).fit(*data) for l2 in (0.01, 10.0))
    assert np.linalg.norm(tight.coef_) < np.linalg.norm(loose.coef_)
    assert 0.9 < loose.confidence(data[0])[0].sequence <= 1.0
