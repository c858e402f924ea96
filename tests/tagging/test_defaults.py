"""Which features and constraint a tagger has that was given none: from labels and columns, in Python and the shell."""

from pathlib import Path

import numpy as np
import pytest

from helpers.texts import COLUMNS
from swvp.errors import InputError
from swvp.estimators import SequenceTagger
from swvp.features import PRESETS
from swvp.tagging import options
from swvp.tagging.corpus import corpus_of
from swvp.tagging.options import choose, kind_of_labels, scheme_of, split

WORDS = ["Ann", "met", "Bo", "Lee", "in", "Rome"]
ENTITIES = ["B-PER", "O", "B-PER", "I-PER", "O", "B-LOC"]
IOB1 = [label.replace("B-", "I-") for label in ENTITIES]
BIOES = ["S-PER", "O", "B-PER", "E-PER", "O", "S-LOC"]
CHUNKS = ["B-NP", "B-VP", "B-NP", "I-NP", "B-PP", "B-NP"]
TAGS = ["PROPN", "VERB", "PROPN", "PROPN", "ADP", "PROPN"]


def corpus(labels, *, pos=True, sentences=1):
    tokens = [(word, "X") for word in WORDS] if pos else WORDS
    return corpus_of([tokens] * sentences, [labels] * sentences, None)


def never(*_):
    raise AssertionError("there is no doubt: nothing should be tried")


def chosen(labels, *, pos=True, sentences=1, score=never):
    found = choose(corpus(labels, pos=pos, sentences=sentences), features=True, constraint=True, score=score)
    return found.features, found.constraint


def typed(**types):
    return ["-".join([label[:1], types.get(label[2:], label[2:])]) if label != "O" else label for label in ENTITIES]


# ---------------------------------------------------------------- labels that leave no doubt


@pytest.mark.parametrize("pos", [True, False])
@pytest.mark.parametrize(
    ("labels", "constraint"),
    [
        (ENTITIES, "iob2"),
        (IOB1, "iob1"),
        (BIOES, "bioes"),
        ([label.lower() if label == "o" else label[:2] + label[2:].lower() for label in ENTITIES], "iob2"),
        (typed(PER="Disease", LOC="Gene"), "iob2"),
        (typed(PER="LOCderiv", LOC="ORGpart"), "iob2"),
        (typed(PER="cell_line", LOC="protein"), "iob2"),
        ([label.replace("I-", "L-") for label in ENTITIES], None),
    ],
    ids=["IOB2", "IOB1", "BIOES", "lower case", "biomedical", "derived", "underscore", "BILOU"],
)
def test_entities_are_seen_as_names_with_their_scheme(labels, constraint, pos):
    assert chosen(labels, pos=pos, sentences=300) == ("ner", constraint)


@pytest.mark.parametrize(
    "types", [{}, {"NP": "NC", "VP": "VC", "PP": "PC"}, {"NP": "np", "VP": "vp"}, {"NP": "NP-SBJ"}]
)
def test_chunks_with_parts_of_speech_are_chunks(types):
    labels = [f"{label[:2]}{types.get(label[2:], label[2:])}" for label in CHUNKS]
    assert chosen(labels, sentences=300) == ("chunk", None)


def test_tags_of_words_are_tags():
    assert chosen(TAGS, pos=False, sentences=300) == ("pos", None)
    assert chosen([1, 2, 1, 1, 3, 1], pos=False, sentences=300) == ("pos", None)
    assert chosen(["S", "I", "S", "S", "I", "S"], pos=False, sentences=300) == ("pos", None)


def test_a_second_column_that_no_preset_knows_is_left_out():
    found = choose(corpus_of([[("a", "b")]], [["N"]], ["word", "lemma"]), features=True, constraint=True, score=never)
    assert found.features == "pos"
    with pytest.raises(InputError, match="no preset of features fits the columns form, tag: name one of them word"):
        choose(corpus_of([[("a", "b")]], [["N"]], ["form", "tag"]), features=True, constraint=True, score=never)


# ---------------------------------------------------------------- doubt


@pytest.mark.parametrize(
    ("labels", "pos", "tried"),
    [
        (typed(PER="fromloc.city_name", LOC="toloc.city_name"), True, {"ner", "chunk", "pos"}),
        (typed(PER="Firma", LOC="Ort"), False, {"ner", "pos"}),
        (["B", "I", "B", "I", "B", "B"], False, {"ner", "pos"}),
        (["B", "O", "B", "I", "O", "B"], True, {"ner", "chunk", "pos"}),
        (CHUNKS, False, {"ner", "pos"}),
        (TAGS, True, {"chunk", "pos"}),
    ],
    ids=["slots", "other types", "segments", "no types", "chunks of words", "tags with a column"],
)
def test_in_doubt_held_out_sentences_decide(labels, pos, tried):
    for best in tried:
        seen = []

        def score(name, train, dev, best=best, seen=seen):
            seen.append(name)
            assert (len(train.offsets), len(dev.offsets)) == (161, 41)
            return float(name == best)

        assert chosen(labels, pos=pos, sentences=200, score=score)[0] == best
        assert set(seen) == tried


def test_another_preset_than_the_likeliest_must_be_clearly_better():
    labels = typed(PER="slot", LOC="other")[:2] + ["O"] * 4
    for other, best in ((0.705, "ner"), (0.715, "pos")):
        scores = {"ner": 0.7, "chunk": 0.5, "pos": other}
        assert chosen(labels, sentences=200, score=lambda name, *_, scores=scores: scores[name])[0] == best


@pytest.mark.parametrize(
    ("labels", "preset"),
    [(typed(PER="x", LOC="y")[:2] + ["O"] * 4, "ner"), (["B-a", "I-a", "B-b", "I-b", "O", "B-a"], "chunk")],
)
def test_with_few_sentences_the_share_outside_phrases_decides(labels, preset):
    assert chosen(labels, sentences=99)[0] == preset


def test_held_out_sentences_are_taken_evenly_and_none_twice(monkeypatch):
    monkeypatch.setattr(options, "MOST_SENTENCES", 10)
    sentences = [[f"w{k}"] for k in range(100)]
    X = [token for sentence in sentences for token in (sentence, [])]  # with empty sentences between
    train, dev = split(corpus_of(X, [["N"] * len(sentence) for sentence in X], None))
    both = train.words() + dev.words()
    assert (len(train.words()), len(dev.words()), len(set(both))) == (8, 2, 10)
    assert {"w0", "w99"} <= set(both)


def test_real_trials_find_the_column_that_tells_the_label():
    rng = np.random.default_rng(0)
    X = [[(f"w{rng.integers(1000)}", str(rng.integers(3))) for _ in range(4)] for _ in range(150)]
    y = [["B-abc" if pos == "0" else "O" for _, pos in sentence] for sentence in X]
    fitted = SequenceTagger(epochs=1, random_state=0).fit(X, y)
    assert fitted.chosen_.features == "chunk"
    assert "on 30 held-out sentences ner " in fitted.chosen_.why


# ---------------------------------------------------------------- schemes


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        ([["B-X", "I-X", "O"]], "iob2"),
        ([["I-X", "B-X", "O"], ["I-X", "I-Y"]], "iob1"),
        ([["S-X", "B-X", "E-X"]], "bioes"),
        ([["S-X", "E-X"]], None),
        ([["B-X", "O", "I-X"]], None),
        ([["B-X", "I-X", "O"]] * 100 + [["O", "I-X"]], "iob2"),
        ([["N", "V"]], None),
        ([["B", "I", "I", "B"]], "iob2"),
    ],
)
def test_the_constraint_is_the_scheme_that_labels_keep_to(labels, scheme):
    assert scheme_of(corpus_of([["w"] * len(sentence) for sentence in labels], labels, None)) == scheme


def test_kinds_are_named_with_their_most_frequent_types():
    labels = corpus_of([["a"] * 4], [["B-LOC", "B-PER", "I-PER", "O"]], None).labels
    assert kind_of_labels(labels) == ("entities", "entities (PER, LOC)")


# ---------------------------------------------------------------- Python and the shell


def test_python_and_the_shell_choose_the_same(fine, tmp_path):
    lines = [f"{word} X {label}\n" for word, label in zip(WORDS, ENTITIES, strict=True)]
    Path("train.txt").write_text("".join(lines))
    _, err = fine("train", "tagger", "train.txt", "-m", "model")
    assert "chosen: features ner, constraint iob2, because the labels are entities (PER, LOC)" in err
    assert "; to choose others: --features, --constraint" in err
    loaded = SequenceTagger.load("model")
    fitted = SequenceTagger(random_state=0).fit([[(word, "X") for word in WORDS]], [ENTITIES])
    assert loaded.chosen_ == fitted.chosen_
    np.testing.assert_array_equal(loaded.coef_, fitted.coef_)
    out, _ = fine("inspect", "model", "--top", "0")
    assert "constraint  iob2\n" in out.decode()


def test_what_is_given_is_not_chosen(fine):
    Path("train.txt").write_text(COLUMNS)
    _, err = fine("train", "tagger", "train.txt", "-m", "model", "--features", "pos", "--constraint", "none")
    assert "chosen" not in err
    Path("train.txt").write_text(COLUMNS.replace("NP", "PER"))
    _, err = fine("train", "tagger", "train.txt", "-m", "model", "--features", "chunk")
    assert "chosen: constraint iob2, because the labels are entities" in err
    assert SequenceTagger.load("model").features == "chunk"


def test_a_later_batch_that_breaks_the_chosen_constraint_ends_it():
    learner = SequenceTagger(random_state=0).partial_fit([WORDS], [ENTITIES])
    assert np.isneginf(learner.barrier_).any()
    learner.partial_fit([["Rome", "Bo"]], [["O", "I-PER"]])
    assert np.isfinite(learner.barrier_).all()
    given = SequenceTagger(constraint="bioes", random_state=0).partial_fit([WORDS], [BIOES])
    with pytest.raises(InputError, match="the constraint bioes does not allow I-PER after O"):
        given.partial_fit([["Rome", "Bo"]], [["O", "I-PER"]])


def test_ready_features_have_the_constraint_of_their_labels():
    fitted = SequenceTagger(random_state=0).fit([[[word] for word in WORDS]], [ENTITIES])
    assert fitted.chosen_[:2] == (None, "iob2")


# ---------------------------------------------------------------- what presets can learn


def test_the_preset_ner_knows_both_neighbours_together():
    X = [["p", "Rome", "p"], ["p", "Rome", "q"], ["q", "Rome", "p"], ["q", "Rome", "q"]]
    y = [["O", "B-LOC" if first == last else "B-ORG", "O"] for first, _, last in X]  # neither neighbour alone tells
    assert SequenceTagger(features="ner", random_state=0).fit(X, y).predict(X).tolist() == y


def test_the_preset_ner_sees_three_words_to_each_side():
    for at, town in ((0, 3), (3, 0)):
        X = [["a", "a", "a", "a"] for _ in range(2)]
        for sentence, word in zip(X, ("mayor", "club"), strict=True):
            sentence[at], sentence[town] = word, "Rome"
        y = [["O"] * 4 for _ in X]
        y[0][town], y[1][town] = "B-LOC", "B-ORG"
        tagger = SequenceTagger(features=[*PRESETS["ner"]], constraint=None, random_state=0).fit(X, y)
        assert tagger.predict(X).tolist() == y
