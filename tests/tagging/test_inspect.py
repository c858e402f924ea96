"""`swvp inspect`: what a model is and what decides its predictions."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.texts import COLUMNS, CONLLU
from swvp.estimators import SequenceTagger
from swvp.learning.rule import registered_gammas
from swvp.tagging.inspection import top_features


@pytest.fixture(autouse=True)
def model(fine):
    Path("train.txt").write_text(COLUMNS)
    fine("train", "tagger", "train.txt", "-m", "model", "--constraint", "iob2", "--dev", "train.txt")


def section(out, title):
    """The rows of a table, split at blanks, without its headings."""
    lines = out.decode().split(f"\n{title}", 1)[1].splitlines()[2:]
    end = lines.index("") if "" in lines else len(lines)
    return [line.split() for line in lines[:end]]


FEATURES, TRANSITIONS = "Features with the largest weights", "Transitions with the largest weights"


def test_the_summary_tells_what_the_model_is(fine):
    out, err = fine("inspect", "model", "--top", "0")
    tagger = SequenceTagger.load("model")
    assert err == ""
    facts = dict(line.split(maxsplit=1) for line in out.decode().splitlines())
    assert facts["labels"] == "3: B-NP, B-VP, I-NP"
    assert facts["attributes"] == f"{tagger.n_attributes_}, non-zero weights: {np.count_nonzero(tagger.coef_)}"
    assert facts["rule"] == "softmax"
    assert facts["margin"] == "5"
    assert facts["weights"] == "averaged"
    assert facts["constraint"] == "iob2"
    assert facts["epochs"] == f"{len(tagger.history_)}, the weights are those of epoch {tagger.best_epoch_}"
    assert facts["dev"] == "F1      " + " ".join(f"{100 * score:.2f}" for score in tagger.dev_scores_)
    assert facts["columns"] == "word, pos"
    assert "pos[-1] & pos[0]" in facts["templates"]
    assert FEATURES not in out.decode()


def test_the_heaviest_features_come_first(fine):
    tagger = SequenceTagger.load("model")
    rows = section(fine("inspect", "model", "--top", "30")[0], FEATURES)
    assert len(rows) == 30
    shown = [float(row[-1]) for row in rows]
    assert [abs(w) for w in shown] == pytest.approx(sorted(np.abs(tagger.coef_).ravel())[::-1][:30], abs=6e-4)
    for label, *name, weight in rows:
        number = next(k for k in range(tagger.n_attributes_) if tagger.encoder_.name(k).split() == name)
        assert tagger.coef_[number, tagger.classes_.index(label)] == pytest.approx(float(weight), abs=6e-4)
    rows = section(fine("inspect", "model", "--label", "I-NP", "--top", "1000")[0], FEATURES)
    assert {row[0] for row in rows} == {"I-NP"}
    assert len(rows) == np.count_nonzero(tagger.coef_[:, 2])


def test_any_weights_are_sorted():
    weights = np.random.default_rng(0).normal(size=(5000, 3))
    encoder = SimpleNamespace(names=lambda attributes: [str(k) for k in attributes])
    tagger = SimpleNamespace(classes_=["A", "B", "C"], coef_=weights, encoder_=encoder)
    rows = top_features(tagger, n=1000).rows
    assert [abs(row[2]) for row in rows] == sorted(np.abs(weights).ravel(), reverse=True)[:1000]
    assert all(weights[int(name), "ABC".index(label)] == weight for label, name, weight in rows)


def test_transitions_are_shown_with_the_edges(fine):
    tagger = SequenceTagger.load("model")
    rows = section(fine("inspect", "model", "--top", "100")[0], TRANSITIONS)
    names = [*tagger.classes_, "(edge)"]
    for before, after, weight in rows:
        found = tagger.transitions_[names.index(before), names.index(after)]
        assert found == pytest.approx(float(weight), abs=6e-4)
    assert any("(edge)" in row for row in rows)
    assert not [row for row in rows if row[:2] == ["(edge)", "I-NP"]]  # not allowed
    assert [abs(float(row[2])) for row in rows] == sorted([abs(float(row[2])) for row in rows], reverse=True)


def test_a_wrong_label_is_told_with_a_suggestion_and_nothing_else(refused):
    assert refused("inspect", "model", "--label", "B-NX").startswith("unknown label 'B-NX' (did you mean 'B-NP'?)")


def explained(tagger, token, label, second, feature):
    """The difference of weights by definition."""
    first, other = tagger.classes_.index(label), tagger.classes_.index(second)
    number = next(k for k in range(tagger.n_attributes_) if tagger.encoder_.name(k) == feature)
    return tagger.coef_[number, first] - tagger.coef_[number, other]


def test_a_sentence_is_explained_by_its_features(fine, refused):
    Path("templates").write_text("bias\nword[0]\nword[-1]\nword[1]\nsuffix(word[0], 1)\nshape(word[0])\n")
    fine("train", "tagger", "train.txt", "-m", "words", "--columns", "word", "--features", "templates")
    tagger = SequenceTagger.load("words")
    rows = section(fine("inspect", "words", "--sentence", "the cat")[0], "What decided the labels")
    assert list(dict.fromkeys(row[0] for row in rows)) == ["the", "cat"]
    assert next(row[1] for row in rows if row[0] == "the") == tagger.predict([["the", "cat"]])[0][0]
    plain = [row for row in rows if row[3] not in ("after", "before")]
    assert len(plain) > 2
    for token, label, second, *name, weight in plain:
        expected = explained(tagger, token, label, second, " ".join(name))
        assert float(weight) == pytest.approx(expected, abs=6e-4)
    assert (
        refused("inspect", "model", "--sentence", "the cat")
        == "model uses the columns word, pos, but --sentence gives words only: use --explain FILE with a file of these "
        "columns"
    )


def test_an_explanation_holds_the_transitions_before_and_after():
    tagger = SequenceTagger(random_state=0, features=["bias"]).fit([["a", "b", "c"], ["a"]], [["A", "B", "C"], ["B"]])
    rows = tagger.explain(["a", "b", "c"], n=100).rows
    moves, names = tagger.transitions_, [*tagger.classes_, "(edge)"]
    seen = set()
    for _, label, second, feature, difference in rows:
        first, other = names.index(label), names.index(second)
        where, _, neighbour = feature.partition(" ")
        k = names.index(neighbour) if neighbour else None
        if where == "after":
            assert difference == moves[k, first] - moves[k, other]
        elif where == "before":
            assert difference == moves[first, k] - moves[other, k]
        seen.add(where)
    assert seen == {"after", "before", "bias"}
    one = tagger.explain(["a", "b", "c"], position=1, n=100).rows
    assert one == [row for row in rows if row[0] == "b"]


def test_the_first_sentence_of_a_file_is_explained(fine, refused):
    expected = fine("inspect", "model", "--explain", "train.txt")[0]
    tokens = list(dict.fromkeys(row[0] for row in section(expected, "What decided the labels")))
    assert tokens == ["the", "dog", "barks"]
    assert fine("inspect", "model", "--explain", "-", stdin=COLUMNS.encode())[0] == expected
    without = "the DT\ndog NN\nbarks VB\n"
    assert fine("inspect", "model", "--explain", "-", stdin=without.encode())[0] == expected
    assert refused("inspect", "model", "--explain", "nowhere") == "cannot read nowhere: No such file or directory"
    assert refused("inspect", "model", "--explain", "-", stdin=b"the\n").startswith("-: 1 column; the tagger needs 2")


def test_conllu_is_explained_whatever_its_name(fine, refused):
    Path("train.conllu").write_text(CONLLU)
    fine("train", "tagger", "train.conllu", "--target", "upos", "-m", "pos")
    expected = fine("inspect", "pos", "--explain", "train.conllu")[0]
    Path("other").write_text(CONLLU)
    assert fine("inspect", "pos", "--explain", "other", "--conllu")[0] == expected
    assert fine("inspect", "pos", "--explain", "-", stdin=CONLLU.encode())[0] == expected
    Path("other").write_text("a b\n")
    assert "other: neither CoNLL-U, which has tabs, nor one word per line: 'a b'" in refused(
        "inspect", "pos", "--explain", "other"
    )


def test_a_hashed_model_has_numbers_for_names(fine):
    fine("train", "tagger", "train.txt", "-m", "hashed", "--hashed", "64")
    rows = section(fine("inspect", "hashed", "--top", "3")[0], FEATURES)
    assert [row[1] for row in rows] == ["hashed"] * 3
    assert all(0 <= int(row[2]) < 64 for row in rows)
    assert b"hashed" in fine("inspect", "hashed", "--explain", "train.txt")[0]


def test_a_model_of_ready_features_is_shown_and_cannot_read_files(fine, refused):
    SequenceTagger(random_state=0).fit([[["w=a"], ["w=b"]]], [["A", "B"]]).save("ready")
    out = fine("inspect", "ready")[0]
    assert {row[1] for row in section(out, FEATURES)} <= {"w=a", "w=b"}
    assert b"templates" not in out
    message = "this tagger was trained on ready features: it can label sentences from Python only"
    assert refused("inspect", "ready", "--explain", "train.txt") == message
    assert refused("predict", "ready", "train.txt") == message
    assert (
        refused("inspect", "ready", "--sentence", "a b")
        == "the tagger was trained on features, but the input has words"
    )


def test_a_model_trained_with_a_gamma_of_ones_own_needs_it_no_more(fine, monkeypatch):
    text = "import swvp\nswvp.register_gamma('mine_alone', lambda margins, beta: margins * 0 + beta)\n"
    Path("mine.py").write_text(text)
    fine("train", "tagger", "train.txt", "-m", "mine", "--load", "mine.py", "--rule", "a-mine_alone", "--beta", "2")
    with_gamma = fine("inspect", "mine")[0]
    assert "rule        a-mine_alone, β = 2\n" in with_gamma.decode()
    monkeypatch.delitem(registered_gammas, "mine_alone")
    assert fine("inspect", "mine")[0] == with_gamma
    assert fine("predict", "mine", "train.txt")[0].count(b"\n") == 9


def test_a_model_trained_in_python_labels_files(fine):
    SequenceTagger(random_state=0).fit([[("a", "x"), ("b", "y")]], [["A", "B"]]).save("python")
    assert fine("predict", "python", "-", stdin=b"a x\nb y\n")[0] == b"a x A\nb y B\n"
    assert fine("predict", "python", "-", stdin=b"a x gold\nb y gold\n")[0] == b"a x gold A\nb y gold B\n"
