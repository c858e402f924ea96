"""Pieces of a text that are one token in any language."""

import numpy as np
import pytest

from swvp.io.model_files import Memory
from swvp.io.table import table_of
from swvp.text.tokenizer import Tokenizer
from swvp.text.whole_pieces import KINDS, find_pieces, join_pieces, kinds_of


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
