"""What a tagger knows beside its best labels: against all label sequences, and against how often it is right."""

import itertools
import json
import pickle

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.exceptions import NotFittedError

from helpers.taggers import entities
from swvp import SequenceTagger
from swvp.errors import InputError
from swvp.io.container import read_container, write_container
from swvp.studies.synthetic.runs import permuted_hmm, sample
from swvp.tagging.inspection import best_temperature

X_NEW = [["Ann", "went"], [], ["Lee"], ["Bonn", "saw", "xyzzy", "Paris"]]


@pytest.fixture(scope="module")
def names():
    X, y = entities(np.random.default_rng(0))
    return SequenceTagger(features=["word[0]", "word[-1]"], constraint="iob2", epochs=2, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def noisy():
    """A tagger of symbols whose labels cannot be told for sure, and two sets of data it was not trained on."""
    rng = np.random.default_rng(1)
    hmm = permuted_hmm([0.7, 0.2, 0.1], [0.5, 0.2, 0.1, 0.1, 0.1], 3, 6, rng)
    sets = [sample(hmm, 300, 8, rng) for _ in range(3)]
    words = [([[f"w{s}" for s in row] for row in x], [[f"L{s}" for s in row] for row in y]) for x, y in sets]
    return SequenceTagger(features=["word[0]"], epochs=3, random_state=0).fit(*words[0]), words[1], words[2]


def all_labels(tagger, sentence):
    """Every allowed (labels, score), by the weights alone."""
    problem = tagger._encode(tagger._corpus([sentence]))
    node = [
        tagger.coef_[problem.attributes[a:b]].sum(0) for a, b in zip(problem.starts, problem.starts[1:], strict=False)
    ]
    moves, L = tagger.transitions_ + tagger.barrier_, len(tagger.classes_)
    found = []
    for y in itertools.product(range(L), repeat=len(sentence)):
        score = sum(scores[k] for scores, k in zip(node, y, strict=True))
        if sentence:
            score += sum(moves[a, b] for a, b in itertools.pairwise([L, *y, L]))
        if score > -np.inf:
            found.append(([tagger.classes_[k] for k in y], float(score)))
    return sorted(found, key=lambda pair: -pair[1])


def test_the_k_best_are_the_best_of_all(names):
    for sentence, found in zip(X_NEW, names.predict_k_best(X_NEW, 30), strict=True):
        expected = all_labels(names, sentence)
        assert len(found) == min(30, len(expected))
        np.testing.assert_allclose([s for _, s in found], [s for _, s in expected[:30]], atol=1e-9)
        scores = {tuple(labels): score for labels, score in expected}
        assert all(scores[tuple(labels)] == pytest.approx(score) for labels, score in found)
        assert len({tuple(labels) for labels, _ in found}) == len(found)
    assert [found[0][0] for found in names.predict_k_best(X_NEW, 1)] == names.predict(X_NEW).tolist()
    assert names.predict_k_best([[]], 3) == [[([], 0.0)]]
    assert names.predict_k_best([], 3) == []


@pytest.mark.parametrize("temperature", [1.0, 7.0])
def test_probabilities_are_those_over_all_allowed_labels(names, temperature):
    names.temperature_ = temperature
    marginals, sure = names.predict_marginals(X_NEW), names.confidence(X_NEW)
    for sentence, tokens, confidence in zip(X_NEW, marginals, sure, strict=True):
        every = all_labels(names, sentence)
        p = softmax([score / temperature for _, score in every])
        assert len(tokens) == len(sentence)
        for t, token in enumerate(tokens):
            assert list(token) == names.classes_
            assert sum(token.values()) == pytest.approx(1)
            for label, found in token.items():
                expected = sum(q for q, (labels, _) in zip(p, every, strict=True) if labels[t] == label)
                assert found == pytest.approx(expected, rel=1e-9, abs=1e-14)
        assert confidence.labels == every[0][0]
        assert confidence.sequence == pytest.approx(p[0])
        assert confidence.tokens.tolist() == [token[y] for token, y in zip(tokens, every[0][0], strict=True)]
    names.temperature_ = 1.0


def test_forbidden_labels_have_probability_zero(names):
    for tokens in names.predict_marginals(X_NEW):
        if tokens:
            assert tokens[0]["I-PER"] == tokens[0]["I-LOC"] == 0.0  # IOB2: never the first
            assert min(tokens[0]["B-PER"], tokens[0]["O"]) > 0.0


def test_sentences_without_tokens_are_certain(names):
    (nothing,) = names.confidence([[]])
    assert (nothing.labels, nothing.tokens.tolist(), nothing.sequence) == ([], [], 1.0)
    assert names.predict_marginals([[]]) == [[]]
    assert names.predict_marginals([]) == names.confidence([]) == []


def calibration_error(tagger, X, y, bins=10):
    """How far confidence and accuracy are apart, on average over tokens of about the same confidence."""
    sure = tagger.confidence(X)
    p = np.concatenate([c.tokens for c in sure])
    right = np.array([a == b for c, labels in zip(sure, y, strict=True) for a, b in zip(c.labels, labels, strict=True)])
    which = np.minimum((p * bins).astype(int), bins - 1)
    return sum(abs(p[which == k].sum() - right[which == k].sum()) for k in range(bins)) / len(p)


def test_a_fitted_temperature_makes_confidences_right_on_average(noisy):
    tagger, held_out, test = noisy
    before = calibration_error(tagger, *test)
    predicted = tagger.predict(test[0]).tolist()
    assert tagger.fit_temperature(*held_out) is tagger
    after = calibration_error(tagger, *test)
    assert tagger.temperature_ > 1.5
    assert before > 0.1
    assert after < 0.4 * before
    assert tagger.predict(test[0]).tolist() == predicted
    tagger.temperature_ = 1.0


@pytest.mark.parametrize("of", ["tokens", "sequences"])
def test_the_temperature_is_the_one_that_makes_gold_labels_most_probable(noisy, of):
    tagger, (X, y), _ = noisy
    X, y = X[:40], [list(labels) for labels in y[:40]]
    every = [all_labels(tagger, sentence[:4]) for sentence in X]
    X, y = [sentence[:4] for sentence in X], [labels[:4] for labels in y]

    def loss(temperature):
        total = 0.0
        for labels, found in zip(y, every, strict=True):
            scores = np.array([score for _, score in found]) / temperature
            p = np.exp(scores - logsumexp(scores))
            if of == "sequences":
                total -= np.log(p[[guess for guess, _ in found].index(labels)])
            else:
                for t, label in enumerate(labels):
                    total -= np.log(sum(q for q, (guess, _) in zip(p, found, strict=True) if guess[t] == label))
        return total

    best = best_temperature(tagger, tagger._encode(tagger._corpus(X)), y, of)
    assert loss(best) <= min(loss(best * factor) for factor in (0.02, 0.5, 0.98, 1.02, 2.0, 50.0))
    unknown = [[*X[0], "w1"], *X[1:]], [[*y[0], "UNSEEN"], *y[1:]]  # left out: the token, or the sentence
    left_out = best_temperature(tagger, tagger._encode(tagger._corpus(unknown[0])), unknown[1], of)
    assert left_out == pytest.approx(best, rel=0.2)
    if of == "sequences":
        rest = best_temperature(tagger, tagger._encode(tagger._corpus(X[1:])), y[1:], of)
        assert left_out == pytest.approx(rest, rel=1e-2)


def test_the_scale_of_the_scores_does_not_matter(noisy):
    tagger, held_out, test = noisy
    tagger.fit_temperature(*held_out)
    expected, large = tagger.predict_marginals(test[0][:5]), pickle.loads(pickle.dumps(tagger))
    large.coef_, large.transitions_ = tagger.coef_ * 1e4, tagger.transitions_ * 1e4
    assert large.temperature_ == 1.0  # that of other weights
    large.fit_temperature(*held_out)
    for a, b in zip(expected, large.predict_marginals(test[0][:5]), strict=True):
        np.testing.assert_allclose([list(x.values()) for x in a], [list(x.values()) for x in b], atol=1e-3)
    tagger.temperature_ = 1.0


def test_gold_labels_that_the_constraint_forbids_do_not_spoil_the_temperature(names):
    X, y = entities(np.random.default_rng(3), count=20)
    for of in ("tokens", "sequences"):
        with_forbidden = best_temperature(names, names._encode(names._corpus([*X, ["Ann"]])), [*y, ["I-PER"]], of)
        without = best_temperature(names, names._encode(names._corpus(X)), y, of)
        assert with_forbidden == pytest.approx(without, rel=1e-2)


def test_threads_change_no_probability(noisy):
    tagger, _, (X, _) = noisy
    one = tagger.predict_marginals(X)
    assert tagger.set_params(n_jobs=3).predict_marginals(X) == one
    tagger.set_params(n_jobs=1)


def test_long_sentences(names):
    (long,) = names.confidence([["Ann", "went"] * 10_000])
    assert np.isfinite(long.tokens).all()
    assert long.tokens.min() > 0
    assert 0 <= long.sequence <= 1


def test_the_temperature_is_kept_in_files_and_pickles_but_not_by_another_fit(noisy, tmp_path):
    tagger, held_out, _ = noisy
    assert SequenceTagger().temperature_ == tagger.temperature_ == 1.0
    tagger.fit_temperature(*held_out)
    tagger.save(tmp_path / "model")
    assert tagger.temperature_ != 1.0
    assert SequenceTagger.load(tmp_path / "model").temperature_ == tagger.temperature_
    copy = pickle.loads(pickle.dumps(tagger))
    assert copy.temperature_ == tagger.temperature_
    assert copy.fit(*held_out).temperature_ == 1.0
    tagger.temperature_ = 1.0


@pytest.mark.parametrize("forged", [0, -1.0, "1", None, True, [1.0], 1e999])
def test_a_file_with_an_impossible_temperature_is_refused(names, tmp_path, forged):
    names.save(tmp_path / "model")
    kind, meta, arrays = read_container(tmp_path / "model", "tagger")
    write_container(tmp_path / "old", kind, {k: v for k, v in meta.items() if k != "temperature"}, arrays)
    assert SequenceTagger.load(tmp_path / "old").temperature_ == 1.0
    try:
        write_container(tmp_path / "forged", kind, json.loads(json.dumps(meta)) | {"temperature": forged}, arrays)
    except ValueError:
        return  # infinity cannot be written at all
    with pytest.raises(InputError, match="its temperature cannot be right"):
        SequenceTagger.load(tmp_path / "forged")


def test_bad_input_is_one_clear_line(names):
    with pytest.raises(InputError, match="k must be a whole number of at least 1, not 0"):
        names.predict_k_best(X_NEW, 0)
    with pytest.raises(InputError, match="unknown measure 'token'"):
        names.fit_temperature([["Ann"]], [["O"]], of="token")
    with pytest.raises(InputError, match="sentence 0 has 1 token and 2 labels"):
        names.fit_temperature([["Ann"]], [["O", "O"]])
    with pytest.raises(InputError, match="no gold labels that the tagger can predict"):
        names.fit_temperature([["Ann"]], [["UNSEEN"]])
    pairs = {(None, "A"), ("A", "B"), ("B", None)}
    strict = SequenceTagger(constraint=pairs, epochs=1).fit([["a", "b"]], [["A", "B"]])
    with pytest.raises(InputError, match="sentence 1: the constraint allows no labels for its 1 tokens"):
        strict.confidence([["a", "b"], ["a"]])
    assert strict.predict_k_best([["a"]], 2) == [[]]
    for ask in (SequenceTagger().confidence, SequenceTagger().predict_marginals):
        with pytest.raises(NotFittedError):
            ask([["a"]])
