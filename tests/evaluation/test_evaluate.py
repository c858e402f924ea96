"""Phrases as conlleval counts them, and the scores of tokens, words, sentences and labels."""

import json
from itertools import chain

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.evaluation.counts import evaluate_phrases, look_like_phrases, phrases, token_accuracy
from swvp.evaluation.tags import confusion, evaluate_tags

WORDS = [["the", "dog", "barks"], ["dogs", "bark"], ["the", "end"]]
GOLD = [["D", "N", "V"], ["N", "V"], ["D", "N"]]
PREDICTED = [["D", "V", "N"], ["N", "N"], ["D", "N"]]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("B-NP I-NP O B-NP", [("NP", 0, 2), ("NP", 3, 4)]),
        ("B-NP B-NP", [("NP", 0, 1), ("NP", 1, 2)]),
        ("I-NP I-NP I-VP", [("NP", 0, 2), ("VP", 2, 3)]),  # IOB1
        ("I-NP B-NP I-NP", [("NP", 0, 1), ("NP", 1, 3)]),
        ("O I-NP", [("NP", 1, 2)]),  # a lone I begins a phrase
        ("B-NP I-VP", [("NP", 0, 1), ("VP", 1, 2)]),  # another type does too
        ("I-NP E-NP I-NP E-NP", [("NP", 0, 2), ("NP", 2, 4)]),  # IOE
        ("B-NP E-NP S-NP O S-VP", [("NP", 0, 2), ("NP", 2, 3), ("VP", 4, 5)]),  # BIOES
        ("S-NP S-NP I-NP", [("NP", 0, 1), ("NP", 1, 2), ("NP", 2, 3)]),
        ("O O", []),
        ("", []),
        ("B-a-b I-a-b", [("a-b", 0, 2)]),
        ("B I O", [("", 0, 2)]),  # no type at all
    ],
)
def test_phrases_of_every_scheme(labels, expected):
    assert phrases(labels.split()) == expected


def test_the_output_is_that_of_conlleval():
    gold = [["B-NP", "I-NP", "B-VP", "O"], ["B-NP", "B-PP"]]
    predicted = [["B-NP", "I-NP", "I-VP", "B-NP"], ["I-NP", "O"]]
    assert str(evaluate_phrases(gold, predicted)) == (
        "processed 6 tokens with 4 phrases; found: 4 phrases; correct: 3.\n"
        "accuracy:  33.33%; precision:  75.00%; recall:  75.00%; FB1:  75.00\n"
        "               NP: precision:  66.67%; recall: 100.00%; FB1:  80.00  3\n"
        "               PP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0\n"
        "               VP: precision: 100.00%; recall: 100.00%; FB1: 100.00  1"
    )


def test_phrases_do_not_cross_sentences():
    scores = evaluate_phrases([["B-NP"], ["I-NP"]], [["B-NP"], ["I-NP"]])
    assert scores.total == (2, 2, 2)


def test_nothing_to_find_is_no_error():
    assert evaluate_phrases([["O"]], [["O"]]).total.f1 == 0.0
    assert evaluate_phrases([], []).tokens == 0


def test_lengths_must_agree():
    with pytest.raises(InputError, match="sentence 1 has 1 gold labels and 2 predicted ones"):
        evaluate_phrases([["O"], ["O"]], [["O"], ["O", "O"]])


def test_token_accuracy_is_a_share():
    assert token_accuracy([["a", "b"], ["c"]], [["a", "x"], ["c"]]) == pytest.approx(2 / 3)


def test_seqeval_agrees_on_random_labels():
    metrics = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed")
    rng = np.random.default_rng(0)
    labels = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    gold, predicted = ([[str(rng.choice(labels)) for _ in range(8)] for _ in range(200)] for _ in range(2))
    ours = evaluate_phrases(gold, predicted).total
    assert ours.precision == pytest.approx(metrics.precision_score(gold, predicted))
    assert ours.recall == pytest.approx(metrics.recall_score(gold, predicted))
    assert ours.f1 == pytest.approx(metrics.f1_score(gold, predicted))


@pytest.mark.parametrize("scheme", ["IOB2", "IOBES", "IOE2"])
def test_seqeval_agrees_type_by_type_in_its_strict_schemes(scheme):
    metrics = pytest.importorskip("seqeval.metrics", reason="seqeval is not installed")
    schemes = pytest.importorskip("seqeval.scheme")
    rng = np.random.default_rng(1)
    gold, predicted = ([encoded(rng, scheme) for _ in range(150)] for _ in range(2))
    ours = evaluate_phrases(gold, predicted)
    theirs = metrics.classification_report(
        gold, predicted, mode="strict", scheme=getattr(schemes, scheme), output_dict=True, zero_division=0
    )
    assert set(ours.by_type) == {"X", "Y"}
    assert 0 < ours.total.correct < ours.total.gold
    for kind, counts in {**ours.by_type, "micro avg": ours.total}.items():
        assert counts.precision == pytest.approx(theirs[kind]["precision"])
        assert counts.recall == pytest.approx(theirs[kind]["recall"])
        assert counts.f1 == pytest.approx(theirs[kind]["f1-score"])
        assert counts.gold == theirs[kind]["support"]


def encoded(rng, scheme):
    """Random phrases, well formed in the scheme."""
    labels = []
    while len(labels) < 10:
        length, kind = min(int(rng.integers(1, 4)), 10 - len(labels)), str(rng.choice(["X", "Y", "O"]))
        inside = ["I"] * length
        if scheme != "IOE2":
            inside[0] = "B"
        if scheme != "IOB2":
            inside[-1] = "E"
        if scheme == "IOBES" and length == 1:
            inside = ["S"]
        labels += ["O"] * length if kind == "O" else [f"{prefix}-{kind}" for prefix in inside]
    return labels


def test_tokens_sentences_known_and_unknown_words_are_counted():
    scores = evaluate_tags(GOLD, PREDICTED, words=WORDS, known={"the", "bark", "cat"})
    assert scores.tokens == (4, 7)
    assert scores.accuracy == token_accuracy(GOLD, PREDICTED) == pytest.approx(4 / 7)
    assert scores.known == (2, 3)
    assert scores.unknown == (2, 4)
    assert scores.sentences == (1, 3)
    assert scores.phrases is None


def test_without_known_words_nothing_is_said_about_them():
    scores = evaluate_tags(GOLD, PREDICTED, words=WORDS)
    assert scores.known is None
    assert scores.unknown is None
    assert scores.as_dict()["known"] is None
    assert [name for name, _ in scores.shares()] == ["tokens", "sentences"]


def test_words_must_fit_the_labels():
    with pytest.raises(InputError, match="not the words"):
        evaluate_tags(GOLD, PREDICTED, known={"the"})
    with pytest.raises(InputError, match="not of the same sentences"):
        evaluate_tags(GOLD, PREDICTED, words=[["the"]], known={"the"})


def test_the_tokens_of_each_label_are_counted():
    labels = evaluate_tags(GOLD, PREDICTED).by_label
    assert labels == {"D": (2, 2, 2), "N": (3, 4, 2), "V": (2, 1, 0)}
    assert labels["N"].precision == 1 / 2
    assert labels["N"].recall == pytest.approx(2 / 3)
    assert labels["N"].f1 == pytest.approx(4 / 7)
    assert labels["V"].f1 == 0.0


def test_scikit_learn_agrees_on_random_labels():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(2)
    gold, predicted = ([[str(x) for x in rng.choice(list("abcd"), 7)] for _ in range(50)] for _ in range(2))
    flat = [list(chain.from_iterable(labels)) for labels in (gold, predicted)]
    scores = evaluate_tags(gold, predicted)
    precision, recall, f1, support = metrics.precision_recall_fscore_support(*flat)
    ours = [(counts.precision, counts.recall, counts.f1, counts.gold) for counts in scores.by_label.values()]
    np.testing.assert_allclose(ours, np.transpose([precision, recall, f1, support]))
    assert scores.confusion.table() == metrics.confusion_matrix(*flat).tolist()


def test_the_most_frequent_confusions_come_first():
    found = confusion([list("aaabbbc")], [list("bbacabc")])
    assert found.confusions() == [("a", "b", 2), ("b", "a", 1), ("b", "c", 1)]
    assert found.confusions(1) == [("a", "b", 2)]
    assert found.table() == [[1, 2, 0], [1, 1, 1], [0, 0, 1]]


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        ("B-NP I-NP O", "O O O", True),
        ("B I O", "", True),
        ("I-NP E-NP S-VP", "", True),
        ("O O", "B-NP O", True),
        ("B-NP O", "B-NP PAD", True),  # the gold labels decide
        ("O O", "O O", False),
        ("NOUN O", "B-NP", False),
        ("B-NP L-NP", "", False),  # conlleval does not know L and U
        ("B- O", "", False),
        ("", "", False),
    ],
)
def test_labels_of_phrases_are_seen(gold, predicted, expected):
    assert look_like_phrases([gold.split()], [predicted.split()]) is expected


def test_phrases_are_scored_if_seen_or_asked_for():
    gold, predicted = [["B-NP", "I-NP"]], [["B-NP", "O"]]
    assert evaluate_tags(gold, predicted).phrases == evaluate_phrases(gold, predicted)
    assert evaluate_tags(gold, predicted, phrases=False).phrases is None
    assert evaluate_tags([["O"]], [["O"]], phrases=True).phrases.total == (0, 0, 0)


def test_the_dictionary_is_json_with_everything():
    gold, predicted = [["B-NP", "O", "O"], ["B-VP"]], [["B-NP", "B-NP", "O"], ["B-VP"]]
    content = json.loads(json.dumps(evaluate_tags(gold, predicted, words=gold, known={"O"}).as_dict()))
    assert content["tokens"] == {"right": 3, "total": 4, "value": 0.75}
    assert content["known"] == {"right": 1, "total": 2, "value": 0.5}
    assert content["unknown"]["value"] == 1.0
    assert content["sentences"] == {"right": 1, "total": 2, "value": 0.5}
    assert content["phrases"]["correct"] == 2
    assert content["phrases"]["by_type"]["NP"]["precision"] == 0.5
    assert content["by_label"]["O"] == {
        "gold": 2, "predicted": 1, "correct": 1, "precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3)
    }  # fmt: skip
    assert content["confusions"] == [{"gold": "O", "predicted": "B-NP", "count": 1}]


def test_a_notebook_shows_tables_with_escaped_text():
    page = evaluate_tags([["<b>", "x"]], [["<b>", "&"]])._repr_html_()
    assert "<b>" not in page
    assert "<th>&lt;b&gt;</th><td>100.00</td><td>100.00</td><td>100.00</td><td>1</td><td>1</td>" in page
    assert "<th>&amp;</th>" in page
    assert "<th>tokens</th><td>1</td><td>2</td><td>50.00</td>" in page
    assert "Phrases" not in page
    page = evaluate_tags([["B-<i>"]], [["O"]])._repr_html_()
    assert "Phrases" in page
    assert "<th>&lt;i&gt;</th><td>0.00</td>" in page


def test_no_sentence_is_no_error():
    scores = evaluate_tags([], [], words=[], known=set())
    assert scores.accuracy == 1.0
    assert scores.unknown.percent() == "–"
    assert scores.by_label == {}


@pytest.mark.parametrize("score", [evaluate_phrases, token_accuracy, evaluate_tags, confusion])
def test_the_numbers_of_sentences_must_agree(score):
    with pytest.raises(InputError, match="1 sentences with gold labels and 2 with predicted ones"):
        score([["O"]], [["O"], ["O"]])
