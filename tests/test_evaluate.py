"""Phrases as conlleval counts them."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.tagging.evaluate import evaluate_phrases, phrases, token_accuracy


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
