"""Prose with equally many words on each line is no column file; small column files are."""

from pathlib import Path

import pytest

from helpers.texts import COLUMNS, CONLLU

TOKENIZED = "This is a short sentence .\nThat one has six words .\nHere is yet another one .\n"
PLAIN = "This is one sentence.\nThat is another one.\nHere is the third.\n"
LINES = "so the river runs\nand the birds sing\nwhere the river ends\n"
LONG = """\
green tea is what they had
and what they had was cold
the tea was cold and green
they had what they wanted then
is it what she wanted then
it was green and she left
she left what she had cold
the cold is what it is
and then they left the tea
had she wanted what they had
"""
FEW_LINES = "the cat sat on mats\na dog ran to town\nthey all left it there\nwe saw them go home.\n"
ALL_DIFFERENT = """\
my old friend came along
with a bag of apples
we sat down by water
and ate until the evening
then rain began to fall
so he took his hat
and walked up the street
while i stayed behind alone
under a tree of pears
it grew dark very early
no one else was around
only birds sang from somewhere
"""
ONE_WORD = "Vamos\nnos\n\nmar\n"


@pytest.mark.parametrize(
    "text",
    [
        TOKENIZED,
        PLAIN,
        LONG,
        TOKENIZED.replace("\n", "\n\n"),
        "Hello big world .\n",
        FEW_LINES,
        ALL_DIFFERENT,
    ],
)
def test_training_on_prose_is_refused_unless_told(fine, refused, text):
    Path("prose.txt").write_text(text)
    width = len(text.splitlines()[0].split())
    message = refused("train", "tagger", "prose.txt", "-m", "model")
    assert message.startswith(f"prose.txt: looks like prose with {width} words on each line: put each word on a line")
    assert message.endswith("or use --not-prose if these are columns")
    assert not Path("model").exists()
    fine("train", "tagger", "prose.txt", "-m", "model", "--not-prose", "--epochs", "1")
    fine("train", "tagger", "prose.txt", "-m", "model", "--column", "-1", "--epochs", "1")


@pytest.mark.parametrize(
    "text",
    [
        COLUMNS,
        "the DT\ndog NN\nbarks VB\n. .\n",
        "the det\ndog noun\nbarks verb\n",
        "Ann B-PER\nleft O\n",
        "Berlin B-LOC\nParis B-LOC\nRome B-LOC\n",
        "Das ART\nIst VAFIN\nGut ADJD\n. $.\n",
        "Dogs dog\nBark bark\nCats cat\nSleep sleep\n",
        "is be\nwas be\nthe the\nThe the\nbe be\ndogs dog\ndog dog\nran run\nrun run\n. .\nhas have\n\na a\n",
        "the the det a\ndog dog noun b\nbarks bark verb c\na a det a\n",
        "cats cat\ndogs dog\nmice mouse\nbirds bird\nfish fish\ncows cow\nants ant\nbees bee\nrats rat\nowls owl\n",
        "He prep.\ntold v.\n\nme pron.\n\nsays v.\nit pron.\ntells v.\n",
        "This\tis.\nThat\tis.\nHere\tis.\n",
    ],
)
def test_column_files_are_no_prose(fine, text):
    Path("train.txt").write_text(text)
    fine("train", "tagger", "train.txt", "-m", "model", "--epochs", "1")
    out, _ = fine("predict", "model", "train.txt")
    assert [line.split()[:1] for line in out.decode().splitlines()] == [line.split()[:1] for line in text.splitlines()]


def test_predicting_and_evaluating_prose_is_refused_unless_told(fine, refused):
    Path("train.txt").write_text(COLUMNS)
    fine("train", "tagger", "train.txt", "-m", "model")
    for text in (TOKENIZED, PLAIN, LONG, LINES):
        Path("prose.txt").write_text(text)
        assert refused("predict", "model", "prose.txt").startswith("prose.txt: looks like prose with")
        fine("predict", "model", "prose.txt", "--not-prose")
    Path("prose.txt").write_text(PLAIN)
    assert refused("evaluate", "prose.txt").startswith("prose.txt: looks like prose with 4 words on each line")
    fine("evaluate", "prose.txt", "--not-prose")
    fine("evaluate", "prose.txt", "prose.txt", "--column", "1")


def test_words_between_which_a_tagger_already_put_labels_are_tagged_again(fine):
    Path("train.txt").write_text(COLUMNS)
    fine("train", "tagger", "train.txt", "-m", "model")
    once = fine("predict", "model", "train.txt")[0]
    assert fine("predict", "model", "-", stdin=once)[0].splitlines()[0] == b"the DT B-NP B-NP B-NP"


def test_a_tagger_of_conllu_labels_one_word_a_line(fine, refused):
    Path("train.conllu").write_text(CONLLU)
    fine("train", "tagger", "train.conllu", "--target", "upos", "-m", "model")
    Path("words.txt").write_text(ONE_WORD)
    expected = [["1", "Vamos", "VERB"], ["2", "nos", "PRON"], [], ["1", "mar", "NOUN"], []]
    for source in ("words.txt", "-"):
        out = fine("predict", "model", source, stdin=ONE_WORD.encode())[0].decode()
        assert [
            [field for field in line.split("\t") if field not in ("", "_")] for line in out.splitlines()
        ] == expected
    assert fine("inspect", "model", "--explain", "words.txt")[0].count(b"\nVamos") > 0
    Path("prose.txt").write_text(PLAIN)
    assert refused("predict", "model", "prose.txt").startswith("prose.txt: neither CoNLL-U, which has tabs, nor one")
