"""Where tokens may end and which blanks they have inside, learnt from the training text."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io.model_files import Memory
from swvp.io.table import table_of
from swvp.text.boundaries import Boundaries, boundaries_of
from swvp.text.tokenizer import Tokenizer

SENTENCES = [
    [("Le", " "), ("monde", " "), ("dort", ""), (".", " ")],
    [("L'", ""), ("eau", " "), ("coûte", " "), ("1 000", " "), ("euros", ""), ("!", " ")],
    [("En", " "), ("2026", ""), (",", " "), ("Ève", " "), ("rit", ""), (".", " ")],
    [("Qui", " "), ("a", " "), ("12", " "), ("%", ""), ("?", " ")],
]


def conllu(sentences):
    lines = []
    for number, tokens in enumerate(sentences):
        lines += ["# newpar"] * (number % 3 == 0)
        for k, (form, space) in enumerate(tokens, 1):
            lines.append("\t".join([str(k), form, *"_______", "_" if space else "SpaceAfter=No"]))
        lines.append("")
    return table_of("made.conllu", "\n".join([*lines, ""]).encode())


def text_of(*sentences):
    text, spans = "", []
    for tokens in sentences:
        spans.append([])
        for form, space in tokens:
            spans[-1].append((len(text), len(text) + len(form)))
            text += form + space
    return text.rstrip(), spans


@pytest.fixture(scope="module")
def tokenizer():
    rng = np.random.default_rng(0)
    return Tokenizer.train(conllu([SENTENCES[k] for k in rng.integers(0, len(SENTENCES), 150)]))


@pytest.fixture(scope="module")
def without_spaces():
    return Tokenizer.train(conllu([SENTENCES[k] for k in (0, 2, 3) * 50]))


def tokens(tokenizer, text):
    return [token for sentence in tokenizer.tokens(text) for token in sentence]


@pytest.mark.parametrize("text", ["Bonjour le monde", "2026", "FIN", "Comment ça va", "la page 17", "Хорошо", "வணக்கம்"])
def test_a_text_without_punctuation_keeps_its_last_letter(tokenizer, text):
    assert tokens(tokenizer, text) == text.split()


def test_what_training_divides_is_learnt(tokenizer):
    assert tokens(tokenizer, "L'eau dort, Ève rit!") == ["L'", "eau", "dort", ",", "Ève", "rit", "!"]


@pytest.mark.parametrize("blank", [" ", "\t", "\u00a0", "\u202f", "\u3000", "\n", "\u2028"])
def test_tokens_have_no_blank_inside_if_training_has_none(without_spaces, blank):
    for text in ("Ο{}Γιάννης", "a{}b", "I{}😀", "1{}000", "Qui{}a"):
        text = text.format(blank)
        assert tokens(without_spaces, text) == text.split()


def test_tokens_may_have_the_blanks_that_training_has_and_no_others(tokenizer):
    assert "1 000" in tokens(tokenizer, "L'eau coûte 1 000 euros!")
    assert "1\u202f000" in tokens(tokenizer, "L'eau coûte 1\u202f000 euros!")
    for text in ("L'eau coûte 1\t000 euros!", "L'eau coûte 1\n000 euros!", "L'eau coûte 1  000 euros!", "Ο Γιάννης"):
        assert not any(len(token.split()) > 1 for token in tokens(tokenizer, text))


def test_pairs_are_those_of_the_text():
    found = boundaries_of([text_of(*SENTENCES)])
    assert found == Boundaries(frozenset(), frozenset({("digit", "digit")}))
    glued = boundaries_of([text_of([("5", ""), ("km", " "), ("de", ""), ("là", "")])])
    assert glued.divided == {("digit", "LATIN"), ("LATIN", "LATIN")}
    assert glued.may_divide("7", "k")
    assert not glued.may_divide("k", "7")


def test_slips_of_a_treebank_are_not_learnt():
    right, slip = [("de", " "), ("là", " ")] * 10_000, [("de", ""), ("là", " ")]
    assert not boundaries_of([text_of(right + slip)]).may_divide("e", "l")


def test_scripts_without_blanks_and_punctuation_may_be_divided_anywhere():
    assert Boundaries().may_divide("我", "们")
    assert Boundaries().may_divide("ก", "า")
    assert Boundaries().may_divide("a", "-")
    assert not Boundaries().may_divide("a", "b")
    assert not Boundaries().may_divide("а", "b")


def test_a_model_file_keeps_the_boundaries(tokenizer):
    meta, arrays = tokenizer.contents()
    assert Tokenizer.from_contents(meta, arrays, Memory()).boundaries == tokenizer.boundaries


@pytest.mark.parametrize(
    "value", [None, [], {"divided": []}, {"divided": [["a"]], "spaced": []}, {"divided": 3, "spaced": []}]
)
def test_damaged_boundaries_are_refused(tokenizer, value):
    meta, arrays = tokenizer.contents()
    with pytest.raises((InputError, ValueError)):
        Tokenizer.from_contents(meta | {"boundaries": value}, arrays, Memory())
