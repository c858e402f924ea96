"""The columns of the nearest verbs and adpositions, against their definition, and the tagger that uses them."""

import dataclasses
import itertools

import numpy as np
import pytest

from swvp.io.model_files import Memory
from swvp.io.table import Column
from swvp.io.tree_checks import column_of
from swvp.io.treebank import treebank_of
from swvp.text.governors import AFTER, BEFORE, FARTHEST, governor_columns, has_cases
from swvp.text.morphology import MorphologicalTagger, strings_of

UPOS = ["NOUN", "VERB", "ADP", "AUX", "DET", "NOUN"]


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_governor_before_and_verb_after_are_found(seed):
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, 1, 30, 7, 12])
    upos = UPOS if seed else ["NOUN"] * 6
    words = Column([f"w{k}" for k in range(6)], rng.choice(6, offsets[-1], p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]))
    columns = governor_columns(words, offsets, upos)
    assert columns.names == ("word", "governor", "verb")
    found = [[strings[k] for k in ids] for strings, ids in zip(columns.strings, columns.ids, strict=True)]
    for first, last in itertools.pairwise(offsets):
        for t in range(first, last):
            before = [s for s in range(first, t) if upos[words.ids[s]] in BEFORE and t - s <= FARTHEST]
            after = [s for s in range(t + 1, last) if upos[words.ids[s]] in AFTER and s - t <= FARTHEST]
            assert found[0][t] == words.strings[words.ids[t]]
            assert found[1][t] == (words.strings[words.ids[before[-1]]] if before else "")
            assert found[2][t] == (words.strings[words.ids[after[0]]] if after else "")


def test_a_text_without_words_has_empty_columns():
    columns = governor_columns(Column([], np.zeros(0, np.int32)), np.zeros(1, np.int64), [])
    assert columns.ids.shape == (3, 0)


def test_languages_with_cases_are_those_whose_nouns_mostly_have_one():
    noun, bare, pronoun = ("NOUN", "_", "Case=Nom"), ("NOUN", "_", "_"), ("PRON", "_", "Case=Nom")
    assert has_cases([noun, noun, bare])
    assert not has_cases([noun, bare, bare, pronoun])
    assert not has_cases([("_", "_", "_")])


OBJECT, SUBJECT = ("x", "sees", "far", "away", "n"), ("n", "far", "away", "sees", "x")


@pytest.fixture(scope="module")
def treebank():
    """The noun `n` is nominative before the verb and accusative after it, four words away."""
    rng = np.random.default_rng(0)
    sentences = [SUBJECT if rng.random() < 0.5 else OBJECT for _ in range(60)]
    plain = treebank_of([list(sentence) for sentence in sentences])
    upos = {"n": "NOUN", "sees": "VERB", "x": "PRON", "far": "ADV", "away": "ADV"}
    return dataclasses.replace(
        plain,
        upos=column_of(upos[word] for sentence in sentences for word in sentence),
        feats=column_of(
            f"Case={'Nom' if sentence is SUBJECT else 'Acc'}" if word == "n" else "_"
            for sentence in sentences
            for word in sentence
        ),
    )


def test_the_tagger_of_a_language_with_cases_uses_them_and_its_contents_too(treebank):
    tagger = MorphologicalTagger.train(treebank, places=2**12)
    assert {slot.column for slot in tagger.encoder.slots} == {"word", "governor", "verb"}
    restored = MorphologicalTagger.from_contents(*tagger.contents(), Memory())
    for each in (tagger, restored):
        assert strings_of(each.predict(treebank.words, treebank.offsets).feats) == strings_of(treebank.feats)


def test_the_tagger_of_other_languages_does_not(treebank):
    without = dataclasses.replace(treebank, feats=column_of(["_"] * treebank.tokens))
    tagger = MorphologicalTagger.train(without, places=2**12)
    assert {slot.column for slot in tagger.encoder.slots} == {"word"}
