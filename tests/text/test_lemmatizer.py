"""Lemmas come from the user's dictionary, the memory, or the model; a seed fixes the model."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io.model_files import Memory
from swvp.io.treebank import treebank_of
from swvp.text.lemmatizer import Lemmatizer
from swvp.text.lexicon import read_lexicon

VERBS = ["walk", "talk", "look", "ask", "jump", "call", "open", "start"]


@pytest.fixture(scope="module")
def treebank():
    verbs = [
        [(f"{verb}ed", verb, "VERB", "VBD", "Tense=Past"), (f"{verb}s", verb, "VERB", "VBZ", "_")] for verb in VERBS
    ]
    names = [[(name, name, "PROPN", "NNP", "_")] for name in ("Ann", "Paris", "Fred", "Texas", "Reed")]
    return treebank_of([*verbs, *names, [("The", "the", "DET", "DT", "_")]])


@pytest.fixture(scope="module")
def lemmatizer(treebank):
    return Lemmatizer.train(treebank, places=2**12)


def test_unknown_words_are_edited_like_known_ones(lemmatizer):
    assert lemmatizer.lemma("Cooked", "VERB", "Tense=Past", "VBD") == "cook"
    assert lemmatizer.explain("Cooked", "VERB", "Tense=Past", "VBD").source == "model"


def test_names_keep_their_casing_and_endings(lemmatizer):
    assert lemmatizer.lemma("Dallas", "PROPN", "_", "NNP") == "Dallas"


def test_words_of_training_are_remembered(lemmatizer, treebank):
    lemmas = lemmatizer.predict(treebank.words, treebank.upos, treebank.xpos, treebank.feats, treebank.offsets)
    assert [lemmas.strings[k] for k in lemmas.ids] == [treebank.lemmas.strings[k] for k in treebank.lemmas.ids]
    assert lemmatizer.explain("walks", "VERB", "_").source == "memory"


def test_the_dictionary_wins(treebank, tmp_path):
    path = tmp_path / "lemmas.tsv"
    path.write_text("walks\tVERB\tstroll\nfoo\tbar\n", encoding="utf-8")
    lemmatizer = Lemmatizer.train(treebank, places=2**12)
    lemmatizer.lexicon = read_lexicon(path)
    assert lemmatizer.lemma("Walks", "VERB") == "stroll"
    assert lemmatizer.explain("foo", "NOUN")[:2] == ("bar", "lexicon")


@pytest.mark.parametrize("text", ["a\tb\nc\n", "a\tb\n\tc\n", "a\tb\na\tc\n"])
def test_an_error_in_the_dictionary_names_its_line(text, tmp_path):
    path = tmp_path / "lemmas.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"lemmas\.tsv:2: "):
        read_lexicon(path)


def test_a_seed_fixes_the_model_and_a_file_restores_it(lemmatizer, treebank):
    meta, arrays = lemmatizer.contents()
    again, same = Lemmatizer.train(treebank, places=2**12).contents()
    assert again == meta
    assert set(arrays) == Lemmatizer.array_names(meta)
    assert all(np.array_equal(arrays[name], same[name]) for name in arrays)
    loaded = Lemmatizer.from_contents(meta, arrays, Memory())
    assert loaded.explain("Cooked", "VERB") == lemmatizer.explain("Cooked", "VERB")


def test_damaged_contents_are_refused(lemmatizer):
    meta, arrays = lemmatizer.contents()
    for bad in ({"analyses": arrays["analyses"] + 10**6}, {"weights": arrays["weights"][:-1]}):
        with pytest.raises(InputError):
            Lemmatizer.from_contents(meta, arrays | bad, Memory())


def test_a_treebank_without_lemmas_is_refused():
    with pytest.raises(InputError, match="no lemmas"):
        Lemmatizer.train(treebank_of([[("a", "_", "X", "_", "_")]]))


@pytest.mark.parametrize("form", ["😀", "αγόρασε", "ΑΘΉΝΑ", "我们", "ред"])
def test_words_of_characters_that_training_never_had_are_their_own_lemmas(lemmatizer, form):
    assert lemmatizer.lemma(form, "VERB", "Tense=Past", "VBD") == form
    assert lemmatizer.explain(form, "VERB", "Tense=Past", "VBD").source == "form"


def test_a_word_with_one_unknown_character_is_edited(lemmatizer):
    assert lemmatizer.lemma("žlooked", "VERB", "Tense=Past", "VBD") == "žlook"
