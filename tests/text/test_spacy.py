"""Pipelines in spaCy: documents as Docs, and the component that spaCy finds by its entry point."""

from importlib.metadata import entry_points
from typing import ClassVar

import pytest

from swvp import InputError, Pipeline
from swvp.text.spacy_component import SpacyComponent

spacy = pytest.importorskip("spacy", reason="needs the extra spacy")

TEXT = "  Ann doesn't paint\nthe  gardens. The old child walked!\n"


@pytest.fixture(scope="module")
def model(garden, tmp_path_factory):
    path = tmp_path_factory.mktemp("spacy") / "garden.swvp"
    garden.save(path)
    return str(path)


@pytest.fixture
def nlp(model):
    if not [point for point in entry_points(group="spacy_factories") if point.name == "swvp"]:
        pytest.skip("swvp is installed without its entry points: pip install -e . again")
    nlp = spacy.blank("en")
    nlp.add_pipe("swvp", config={"model": model})
    return nlp


def rows(doc):
    return [(token.text, token.pos_, token.lemma_, str(token.morph), token.dep_, token.head.i) for token in doc]


def test_a_doc_has_the_text_and_the_analysis_of_the_document(garden, nlp):
    doc = nlp(TEXT)
    assert doc.text == TEXT
    words = [token for token in doc if not token.is_space]
    assert [(token.text, token.pos_, token.lemma_) for token in words] == [
        (word.form, word.upos, word.lemma) for word in garden(TEXT).words
    ]
    place = {token.i: k for k, token in enumerate(words)}
    heads = [word.head for sentence in garden(TEXT).sentences for word in sentence.words]
    assert [place[token.head.i] == k for k, token in enumerate(words)] == [head == 0 for head in heads]
    assert [token.text for token in doc if token.is_space] == ["  ", "\n", " ", "\n"]
    assert len(list(doc.sents)) == len(garden(TEXT).sentences)


def test_many_texts_are_streamed_also_in_processes(nlp):
    texts = [TEXT, "", " ", "Ann saw Bob."]
    one = [rows(doc) for doc in nlp.pipe(texts)]
    assert one == [rows(nlp(text)) for text in texts]
    assert [rows(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=1)] == one


def test_a_saved_pipeline_of_spacy_holds_the_model(nlp, model, tmp_path):
    nlp.to_disk(tmp_path / "saved")
    assert rows(spacy.load(tmp_path / "saved")(TEXT)) == rows(nlp(TEXT))
    other = spacy.blank("en")
    other.add_pipe("swvp")
    other.from_bytes(nlp.to_bytes())
    assert rows(other(TEXT)) == rows(nlp(TEXT))


def test_tokens_and_sentences_of_the_doc_stay_if_that_is_wanted(nlp, model):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    tokens = [token.text for token in nlp(TEXT)]
    nlp.add_pipe("swvp", config={"model": model, "tokenize": False})
    doc = nlp(TEXT)
    assert [token.text for token in doc] == tokens
    assert doc.text == TEXT
    assert [sentence.root.text for sentence in doc.sents] == ["paint", "walked"]


def test_a_pipeline_without_tokens_uses_those_of_the_doc(garden):
    doc = SpacyComponent.__call__(component(garden.only("tags")), spacy.blank("en")("Ann saw dogs"))
    assert [token.pos_ for token in doc] == ["PROPN", "VERB", "NOUN"]
    assert not doc.has_annotation("DEP")


def component(pipeline):
    made = SpacyComponent()
    made._pipeline = pipeline
    return made


def test_words_that_are_no_pieces_of_their_token_are_separated_by_blanks(garden):
    changed = Pipeline(dict(garden.parts, multiword=Expansions()))
    assert changed("Ann saw dogs.").to_spacy().text == "Ann saw two dog s."


class Expansions:
    feats: ClassVar = {}

    def expand_all(self, forms, sentence_offsets):
        return [{"saw": ("sa", "w"), "dogs": ("two", "dog", "s")}.get(form) for form in forms]


def test_tags_that_spacy_does_not_know_are_x(garden):
    from dataclasses import replace

    document = garden("Ann saw Bob.")
    upos = document.treebank.upos
    strings = ["N" if tag == "PROPN" else tag for tag in upos.strings]
    changed = replace(document, treebank=replace(document.treebank, upos=upos._replace(strings=strings)))
    assert [token.pos_ for token in changed.to_spacy()] == ["X", "VERB", "X", "PUNCT"]


def test_a_component_without_a_model_says_so(nlp):
    with pytest.raises(InputError, match="no model: give config"):
        SpacyComponent()(nlp.make_doc("Ann"))
    with pytest.raises(InputError, match=r"there is no file nothing\.swvp"):
        SpacyComponent("nothing.swvp")(nlp.make_doc("Ann"))
