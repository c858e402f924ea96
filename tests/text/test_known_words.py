"""Known words of a script without blanks: where they lie in a text, and that a tokenizer uses them."""

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.io import table_of
from swvp.io.model_files import Memory
from swvp.text.characters import CharacterReader, training_corpus
from swvp.text.known_words import count_words, lengths_of_words
from swvp.text.tokenizer import Tokenizer
from swvp.text.treebank_text import Paragraph


@pytest.mark.parametrize("seed", range(5))
def test_the_longest_words_are_found_at_each_character(seed):
    rng = np.random.default_rng(seed)
    chunk = "".join(rng.choice(list("ab"), 12))
    places = [(a, b) for a in range(12) for b in range(a + 1, min(a + 8, 12) + 1) if rng.random() < 0.2]
    words, hidden = {chunk[a:b] for a, b in places}, {chunk[a:b] for a, b in places[::3]}
    ends, begins, spans = lengths_of_words(chunk, words, hidden)
    known = [(a, b) for a in range(12) for b in range(a + 1, min(a + 8, 12) + 1) if chunk[a:b] in words - hidden]
    for k in range(12):
        assert ends[k] == max((b - a for a, b in known if b == k + 1), default=0)
        assert begins[k] == max((b - a for a, b in known if a == k + 1), default=0)
        assert spans[k] == max((b - a for a, b in known if a <= k < b - 1), default=0)


def test_words_are_counted_only_in_texts_without_blanks():
    chinese = ("我们走。", [[(0, 2), (2, 3), (3, 4)]])
    assert count_words([chinese, chinese]) == {"我们": 2, "走": 2}
    english = ("a b " * 20, [[(2 * k, 2 * k + 1) for k in range(40)]])
    assert not count_words([chinese, english])


def test_in_training_a_word_of_one_piece_only_is_unknown_there():
    def ends(texts, words):
        corpus = training_corpus(texts, words)
        at = corpus.columns.names.index("ends")
        return [corpus.columns.strings[at][k] for k in corpus.columns.ids[at]]

    one = Paragraph("我们走", [[(0, 2), (2, 3)]])
    other = Paragraph("他走", [[(0, 1), (1, 2)]])
    assert ends([one, other], count_words([one, other])) == ["", "", "1", "", "1"]
    reader = CharacterReader({"我们"})
    corpus = reader.corpus(["我们走"])
    assert corpus.columns.names == ("char", "class", "before", "after", "ends", "begins", "spans", "next")
    assert [corpus.columns.strings[4][k] for k in corpus.columns.ids[4]] == ["", "2", ""]


WORDS = ["我们", "你们", "老师", "学生", "走", "睡觉", "吃饭", "今天", "昨天", "都", "不"]


def treebank(sentences, seed):
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(sentences):
        for number, word in enumerate([*rng.choice(WORDS, 5), "。"], 1):
            lines.append("\t".join([str(number), word, *"_______", "SpaceAfter=No"]))
        lines.append("")
    return table_of("a.conllu", "\n".join(lines).encode())


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.train(treebank(60, 0), epochs=4)


def test_a_tokenizer_learns_the_words_and_finds_them(tokenizer):
    assert tokenizer.words == set(WORDS)
    assert tokenizer.evaluate(treebank(30, 1)).tokens > 0.99


def test_its_contents_give_the_same_tokens_and_other_words_are_refused(tokenizer):
    meta, arrays = tokenizer.contents()
    assert meta["words"] == sorted(WORDS)
    restored = Tokenizer.from_contents(meta, arrays, Memory())
    text = "今天老师不吃饭。昨天学生都走。"
    assert restored.tokens(text) == tokenizer.tokens(text)
    without = {name: value for name, value in meta.items() if name != "words"}
    for wrong in (without, meta | {"words": [1]}, meta | {"words": "我们"}):
        with pytest.raises(InputError):
            Tokenizer.from_contents(wrong, arrays, Memory())
