"""Single stages from the shell, dictionaries of lemmas, and explanations, with real stages on a small treebank."""

import shutil
from pathlib import Path

import pytest

from helpers.garden import DEV, TRAIN, without_columns


@pytest.fixture(scope="module")
def model_file(tmp_path_factory):
    """A pipeline without trees, trained once."""
    from swvp import Pipeline

    path = tmp_path_factory.mktemp("model") / "model"
    Pipeline.train(TRAIN, DEV, stages="tokens,tags,lemmas", n_jobs=1).save(path)
    return path


@pytest.fixture
def model(model_file, tmp_path, command):
    shutil.copy(model_file, tmp_path / "model")
    return "model"


def lemmas(conllu):
    return [line.split("\t")[2] for line in conllu.decode().split("\n") if "\t" in line and "-" not in line[:3]]


def test_a_tokenizer_alone_writes_tokens(fine):
    _, err = fine("train", "tokenizer", TRAIN, "--dev", DEV, "-m", "tokens.swvp")
    assert "dev Tokens 100.00, Sentences 100.00, Words 100.00" in err
    out, err = fine("parse", "tokens.swvp", "--output", "horizontal", stdin=b"Bob doesn't walk. Ann saw the cats!")
    assert out == b"Bob doesn't walk .\nAnn saw the cats !\n"
    assert err == ""


def test_a_lemmatizer_alone_reads_words_with_tags(fine, refused):
    fine("train", "lemmatizer", TRAIN, "-m", "lemmas.swvp")
    tagged = DEV.read_text(encoding="utf-8")
    Path("tagged.conllu").write_text(without_columns(tagged, 2), encoding="utf-8")
    out, err = fine("parse", "lemmas.swvp", "--input", "conllu", "tagged.conllu")
    assert lemmas(out) == lemmas(tagged.encode())
    assert err == ""
    assert "no stage for tokens" in refused("parse", "lemmas.swvp", "tagged.conllu")
    _, err = fine("parse", "lemmas.swvp", "--input", "horizontal", stdin=b"Ann saw dogs")
    assert err.startswith("note: lemmas were learnt with tags (UPOS), which the pipeline does not predict; give them")


def test_stages_can_be_left_out_and_a_dictionary_goes_before_the_model(model, fine):
    Path("lemmas.tsv").write_text("# mine\ndogs\tNOUN\thound\n", encoding="utf-8")
    text = b"Bob saw the dogs."
    assert lemmas(fine("parse", model, stdin=text)[0]) == ["Bob", "see", "the", "dog", "."]
    assert lemmas(fine("parse", model, "--lexicon", "lemmas.tsv", stdin=text)[0]) == ["Bob", "see", "the", "hound", "."]
    assert lemmas(fine("parse", model, "--stages", "tokens,tags", stdin=text)[0]) == ["_"] * 5


@pytest.mark.parametrize(
    ("word", "lines"),
    [
        ("dogs NOUN Number=Plur", ["lemma       dog", "the training set has the form"]),
        ("painters NOUN Number=Plur", ["lemma       painter", "the best of the candidates", "candidate", "feature"]),
    ],
)
def test_inspect_says_why_a_word_has_its_lemma(model, fine, word, lines):
    out = fine("inspect", model, "--explain-lemma", word)[0].decode()
    assert [line in out for line in lines] == [True] * len(lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["parse", "model", "text", "--stages", "trees"], "no stage trees, it has tokens, tags, lemmas"),
        (["parse", "model", "text", "--stages", "words"], "unknown stage 'words'"),
        (["parse", "model", "text", "--output", "out.conllu"], "(did you mean 'conllu'?)"),
        (["parse", "model", "text", "--output", "out.conllu"], "; to write a file, use -o FILE"),
        (["parse", "model", "text", "--lexicon", "bad.tsv"], "bad.tsv:1: 1 column(s) between tabs"),
        (["parse", "model", "text", "--lexicon", "text", "--stages", "tokens"], "the pipeline has no stage lemmas"),
        (["inspect", "model", "--explain-lemma", "a b c d"], "has 4 parts"),
        (["inspect", "tokens", "--explain-lemma", "a"], "not a model file"),
        (["train", "pipeline", "text", "-m", "m", "--lexicon", "bad.tsv"], "bad.tsv:1"),
    ],
)
def test_wrong_options_are_one_line(model, refused, arguments, message):
    Path("text").write_text("Ann saw", encoding="utf-8")
    Path("tokens").write_text("Ann saw", encoding="utf-8")
    Path("bad.tsv").write_text("dogs\n", encoding="utf-8")
    assert message in refused(*arguments)
