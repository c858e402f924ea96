"""The tokenizer: what it learns, that nothing of the text is lost, and that it does not matter how the text comes."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io.model_files import Memory
from swvp.io.table import table_of
from swvp.text.tokenizer import WINDOW, Tokenizer, paragraphs
from swvp.text.treebank_text import raw_text

NAMES, VERBS = ["Ann", "Bo", "Dr. Lee", "They"], ["sleeps", "left", "saw U.N. staff", "paid 3.50 euros"]
ENDS = [".", "!", "?"]


def line(number, form, misc="_"):
    return f"{number}\t{form}\t" + "\t".join(["_"] * 7) + f"\t{misc}\n"


def treebank(sentences=200, seed=0):
    """Sentences whose last token has no space before it, in paragraphs of four."""
    rng = np.random.default_rng(seed)
    text = ""
    for number in range(sentences):
        words = f"{rng.choice(NAMES)} {rng.choice(VERBS)}".split()
        text += "# newpar\n" if number % 4 == 0 else ""
        last = len(words)
        text += "".join(line(k, word, "SpaceAfter=No" if k == last else "_") for k, word in enumerate(words, 1))
        text += line(last + 1, rng.choice(ENDS)) + "\n"
    return table_of("made.conllu", text.encode())


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(treebank())


def spans(tokenizer, text):
    starts, ends, sentences = tokenizer.segment(text)
    return starts.tolist(), ends.tolist(), sentences.tolist()


def test_it_learns_what_can_be_learnt(tokenizer):
    assert tokenizer.evaluate(treebank(80, seed=1)) == (1.0, 1.0)
    assert tokenizer.tokens("Bo left. Dr. Lee sleeps!") == [["Bo", "left", "."], ["Dr.", "Lee", "sleeps", "!"]]


@pytest.mark.parametrize("text", ["", " ", "\n\n \n", "\u00a0\u3000"])
def test_a_text_without_tokens_has_no_sentences(tokenizer, text):
    assert spans(tokenizer, text) == ([], [], [0])


@pytest.mark.parametrize(
    "text",
    [
        "Ann left.",
        " \n Ann",
        "a\x00b\x07 c",
        "👩‍👩‍👧 e\u0301 שלום!",
        "我们睡觉。你走了",
        "Ann\r\n\r\nBo left.\r\n",
        "x" * 5000,
        "a\ud800b",
    ],
)
def test_all_that_is_not_blank_is_in_exactly_one_token(tokenizer, text):
    starts, ends, sentences = spans(tokenizer, text)
    covered = [place for a, b in zip(starts, ends, strict=True) for place in range(a, b) if not text[place].isspace()]
    assert covered == [place for place, character in enumerate(text) if not character.isspace()]
    assert sentences[0] == 0
    assert sentences[-1] == len(starts)
    assert sentences == sorted(set(sentences))


def test_an_empty_line_ends_a_sentence(tokenizer):
    assert tokenizer.tokens("Ann left\n \nBo left") == [["Ann", "left"], ["Bo", "left"]]


@pytest.mark.parametrize("seed", range(5))
def test_the_result_does_not_depend_on_how_the_text_is_cut(tokenizer, seed):
    rng = np.random.default_rng(seed)
    text = "\n\n".join(raw_text(treebank(150, seed=9)).replace("\n\n", " ") for _ in range(3)) + "\n \n"
    assert len(text) > 2 * WINDOW
    cuts = np.sort(rng.integers(0, len(text), 40)).tolist()
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, cut = (list(tokenizer.segment_stream(texts)) for texts in ([text], parts))
    assert "".join(part for part, _ in whole) == text
    assert [part for part, _ in whole] == [part for part, _ in cut]
    for (_, a), (_, b) in zip(whole, cut, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_paragraphs_together_are_the_text_and_long_ones_are_divided(monkeypatch):
    monkeypatch.setattr("swvp.text.tokenizer.LONGEST_PARAGRAPH", 50)
    text = "  one two three four five six " * 20 + "\n\n\nend"
    parts = list(paragraphs([text]))
    assert "".join(parts) == text
    assert max(map(len, parts)) <= 60
    assert parts == list(paragraphs(list(text)))


def test_a_seed_gives_the_same_model_and_its_contents_the_same_tokens(tokenizer):
    meta, arrays = Tokenizer.train(treebank()).contents()
    same_meta, same_arrays = tokenizer.contents()
    assert meta == same_meta
    assert all(np.array_equal(arrays[name], same_arrays[name]) for name in Tokenizer.array_names(meta))
    restored = Tokenizer.from_contents(meta, arrays, Memory())
    text = raw_text(treebank(20, seed=4))
    assert spans(restored, text) == spans(tokenizer, text)


@pytest.mark.parametrize(("field", "value"), [("labels", ["a", "b", "c"]), ("columns", ["char"])])
def test_contents_that_do_not_fit_are_refused(tokenizer, field, value):
    meta, arrays = tokenizer.contents()
    with pytest.raises((InputError, ValueError, KeyError)):
        Tokenizer.from_contents(meta | {field: value}, arrays, Memory())


def test_a_column_file_is_refused():
    with pytest.raises(InputError, match="learns from CoNLL-U"):
        Tokenizer.train(table_of("a.txt", b"Ann B-PER\n"))
