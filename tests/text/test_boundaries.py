"""Where tokens may end and which blanks they have inside, learnt from training text; pieces that are one token."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io.model_files import Memory
from swvp.io.table import table_of
from swvp.text.boundaries import KINDS, Boundaries, boundaries_of, find_pieces, join_pieces, kinds_of
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


@pytest.mark.parametrize(
    ("kind", "text", "found"),
    [
        ("url", "See https://a.b/c?d=e#f, (www.x.gr/a_b) or HTTP://Y.Z.", ["https://a.b/c?d=e#f", "www.x.gr/a_b", "HTTP://Y.Z"]),
        ("url", "网址https://a.cn/b。好", ["https://a.cn/b"]),
        ("e-mail", "Write to me.too@mail-x.co.uk.", ["me.too@mail-x.co.uk"]),
        ("name", "Ask @ann_b, not a@b or @; #tag1", ["@ann_b", "#tag1"]),
        ("time", "At 10:30, 9:05:10 or 1:2:3", ["10:30", "9:05:10"]),
        ("date", "On 2026-11-18, 12/05/2026. Not 1/2 or 3-2/1", ["2026-11-18", "12/05/2026"]),
        ("number", "1.234,56 or 3,5. But v1.2.3a, 12 and 1, 2", ["1.234,56", "3,5"]),
        ("dots", "Well ... no....", ["...", "...."]),
        ("marks", "cafe\u0301 👍🏽 👩\u200d👧 x", ["e\u0301", "👍🏽", "👩\u200d👧"]),
        ("marks", "नमस्ते", ["स्", "ते"]),
    ],
)  # fmt: skip
def test_pieces_are_found_without_what_surrounds_them(kind, text, found):
    assert [text[begin:end] for begin, end in find_pieces(text, kind)] == found


def test_labels_within_pieces_become_inside_and_the_last_one_stays():
    text = "at 3,5 ..."
    places = np.flatnonzero([not character.isspace() for character in text])
    labels = np.ones(len(places), np.int64)
    assert join_pieces(text, 0, labels, places, KINDS).tolist() == [1, 1, 0, 0, 1, 0, 0, 1]
    assert join_pieces(text, 0, labels, places, ()).tolist() == labels.tolist()


def test_a_kind_that_the_training_text_divides_is_not_used():
    whole = [("3,5 ...", [[(0, 3), (4, 7)]])]
    divided = [("3,5 ...", [[(0, 1), (1, 2), (2, 3), (4, 7)]])]
    assert kinds_of(whole) == KINDS
    assert kinds_of(divided) == tuple(kind for kind in KINDS if kind != "number")


def test_a_tokenizer_that_never_saw_an_address_does_not_divide_it():
    def row(number, form, misc="_"):
        return "\t".join([str(number), form, *"_______", misc])

    sentence = [
        row(1, "Go", "SpaceAfter=No"),
        row(2, "/", "SpaceAfter=No"),
        row(3, "on", "SpaceAfter=No"),
        row(4, "."),
        "",
    ]
    tokenizer = Tokenizer.train(table_of("a.conllu", "\n".join(sentence * 20).encode()))
    text = "Go/on. See http://a.b/c/d. Mail a.b@c.de."
    tokens = [token for tokens in tokenizer.tokens(text) for token in tokens]
    assert all(any(piece in token for token in tokens) for piece in ("http://a.b/c/d", "a.b@c.de"))
    again = Tokenizer.from_contents(*tokenizer.contents(), Memory())
    assert again.whole == tokenizer.whole
