"""Texts of any characters: nothing is lost, and the result does not depend on how a text is cut or on threads."""

import random

import pytest

from helpers.garden import joined
from swvp.io.treebank import Treebank
from swvp.text.files import analyse_file, plain_text

PIECES = [
    *(" ", " ", " ", "\n", "\t", "\r\n", "\n\n", "\r\n\r\n", "\r", "\xa0", "\u3000", "\u2028", "\x85", "\x0b", "\x1c"),
    *("\x00", "\x1b[0m", "\x7f", "\u200b", "\u202e", "\ufeff", "\ue000", "\ufffd", "\u0301", "e\u0301", "ß", "İ", "ﬁ"),
    *("\U0001f600", "👩‍👩‍👧", "🇬🇷", "שָׁלוֹם", "مرحبا", "நன்றி", "ขอบคุณ", "中文没有空格。", "日本語", "Ελλάδα"),
    *(
        ".",
        "...",
        "…",
        "!",
        "|",
        "\\",
        "\\n",
        "\\s",
        "=",
        "_",
        "#",
        "-",
        "1",
        "3.14",
        "1-2",
        "a@b.gr",
        "http://x.y/?z=1",
    ),
    *("Ann", "doesn't", "dogs", "saw", "the", "# text = x", "SpaceAfter=No"),
]


def random_text(seed):
    rng = random.Random(seed)
    size = rng.choice([1, 5, 40, 40, 400])

    def piece():
        if rng.random() < 0.8:
            return rng.choice(PIECES)
        return chr(rng.choice([rng.randrange(0xD800), rng.randrange(0xE000, 0x110000)]))

    return "".join(piece() for _ in range(size)) + rng.choice(["", "\n", "x"])


@pytest.fixture(scope="module")
def texts():
    return [text for text in map(random_text, range(60)) if text.strip()]


def test_tokens_and_spaces_joined_are_the_text(garden, texts):
    for text in texts:
        document = garden(text)
        tokens = document.tokens
        before = text[: tokens[0].start]
        assert before + "".join(token.text + document.spaces(k) for k, token in enumerate(tokens)) == text
        assert joined(document.to_conllu()) == text


@pytest.mark.parametrize("tokens", [1, 4000])
def test_a_text_cut_anywhere_gives_the_same(garden, texts, tokens, monkeypatch):
    monkeypatch.setattr("swvp.text.files.TOKENS", tokens)
    for seed, text in enumerate(texts):
        rng, cuts, at = random.Random(seed), [], 0
        while at < len(text):
            size = rng.choice([1, 3, 30])
            cuts.append(text[at : at + size])
            at += size
        parts = [
            garden.analyse(text, segmentation, begin=begin, number=number, continued=continued)
            for text, segmentation, begin, number, continued in plain_text(garden, cuts)
        ]
        assert "".join(part.to_conllu() for part in parts) == garden(text).to_conllu()


def test_the_file_that_is_written_holds_each_byte_and_can_be_read_again(garden, texts, tmp_path, monkeypatch):
    text = "".join(texts).removeprefix("\ufeff")
    path = tmp_path / "text"
    path.write_bytes(text.encode())
    one = b"".join(analyse_file(garden, str(path), n_jobs=1))
    monkeypatch.setattr("swvp.io.blocks.BLOCK", 997)
    monkeypatch.setattr("swvp.text.tokenizer.BATCH", 500)
    monkeypatch.setattr("swvp.text.files.TOKENS", 7)
    assert b"".join(analyse_file(garden, str(path), n_jobs=3)) == one
    assert joined(one.decode()).encode() == path.read_bytes()
    path.with_suffix(".conllu").write_bytes(one)
    again = Treebank.from_text(one.decode(), heads=True)
    assert [again.words.strings[k] for k in again.words.ids] == [word.form for word in garden(text).words]


@pytest.mark.parametrize("control", ["\x00", "\x1b", "\x7f", "\x9b"])
def test_control_characters_are_replaced_in_files_and_kept_in_the_notes(garden, tmp_path, control):
    text = f"Ann sa{control}w Bob{control}\x0b.\n"
    path = tmp_path / "text"
    path.write_bytes(text.encode())
    for output in ("conllu", "vertical", "horizontal"):
        written = b"".join(analyse_file(garden, str(path), output=output)).decode()
        assert not any(character in written for character in (control, "\x0b"))
        assert "sa\ufffdw" in written
    assert joined(garden(text).to_conllu()) == text
    assert [token.text for token in garden(text).tokens][1] == f"sa{control}w"


@pytest.mark.parametrize("content", [b"", b" \t\r\n\n", b"\xef\xbb\xbf", "\xa0\u3000\n".encode()])
def test_a_text_without_tokens_gives_nothing(garden, tmp_path, content):
    (tmp_path / "text").write_bytes(content)
    assert b"".join(analyse_file(garden, str(tmp_path / "text"))) == b""


def test_a_byte_order_mark_is_no_part_of_a_text(garden, tmp_path):
    (tmp_path / "text").write_bytes(b"\xef\xbb\xbfAnn saw Bob.")
    assert b"".join(analyse_file(garden, str(tmp_path / "text"))).decode() == garden("Ann saw Bob.").to_conllu()


def test_a_text_without_blanks_is_cut_into_sentences_of_bounded_length(garden):
    document = garden("中" * 50_000)
    assert "".join(token.text for token in document.tokens) == "中" * 50_000
    assert max(len(sentence.text) for sentence in document.sentences) <= 2000


def test_windows_and_unix_ends_of_lines_give_the_same_tokens(garden):
    text = "Ann saw Bob.\nThe dogs walked.\n\nA cat chased the dogs!\n"
    unix, windows = garden(text), garden(text.replace("\n", "\r\n"))
    assert [token.text for token in unix.tokens] == [token.text for token in windows.tokens]
    assert [sentence.starts_paragraph for sentence in unix.sentences] == [
        sentence.starts_paragraph for sentence in windows.sentences
    ]
