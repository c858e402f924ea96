"""Taggers with word clusters: from the training data or from other text, in Python and from the shell."""

from pathlib import Path

import numpy as np
import pytest

from swvp.errors import InputError
from swvp.estimators import SequenceTagger
from swvp.features import learn_clusters
from swvp.io.container import read_container, write_container
from swvp.tagging.files import read_sentences

KINDS = {"D": ["the", "a", "this"], "N": ["dog", "cat", "bird", "fish"], "V": ["sees", "hears", "likes"]}


def corpus(count=60, seed=0, kinds=KINDS):
    random = np.random.default_rng(seed)
    y = [list("DNVDN") for _ in range(count)]
    return [[str(random.choice(kinds[label])) for label in labels] for labels in y], y


def tagger(**options):
    return SequenceTagger(**({"features": ["bias"], "clusters": 3, "epochs": 3, "random_state": 0} | options))


def templates_of(fitted):
    return [template.text for template in fitted.encoder_.templates]


def test_cluster_templates_are_added_unless_there_are_some():
    fitted = tagger().fit(*corpus())
    assert templates_of(fitted)[0] == "bias"
    assert "cluster(word[0])" in templates_of(fitted)
    assert fitted.encoder_.clusters == {"word": learn_clusters(corpus()[0], 3)}
    own = ["bias", "cluster(word[0], 1)"]
    assert templates_of(tagger(features=own).fit(*corpus())) == own
    assert templates_of(tagger(features=own, clusters=None).fit(*corpus())) == own
    assert templates_of(tagger(clusters=None).fit(*corpus())) == ["bias"]


def test_clusters_of_other_text_label_words_that_training_has_not():
    new = {kind: [*words, f"{kind}1", f"{kind}2"] for kind, words in KINDS.items()}
    clusters = learn_clusters(corpus(200, kinds=new)[0], 3)
    fitted = tagger(features=["bias", "cluster(word[0])"], clusters=clusters).fit(*corpus())
    assert fitted.predict([["D1", "N2", "V1"], ["V2", "D2", "N1"]]).tolist() == [list("DNV"), list("VDN")]


@pytest.mark.parametrize("options", [{}, {"hashed": 64}, {"clusters": {"dog": "01", "the": "1"}}], ids=str)
def test_a_saved_tagger_has_the_same_clusters_and_bytes(options, tmp_path):
    fitted = tagger(**options).fit(*corpus())
    fitted.save(tmp_path / "one")
    tagger(**options).fit(*corpus()).save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    loaded = SequenceTagger.load(tmp_path / "one")
    assert loaded.encoder_.clusters == fitted.encoder_.clusters
    assert loaded.clusters == (None if isinstance(fitted.clusters, dict) else 3)
    X = corpus(20, seed=1)[0]
    assert loaded.predict(X).tolist() == fitted.predict(X).tolist()
    loaded.save(tmp_path / "three")
    assert SequenceTagger.load(tmp_path / "three").encoder_.clusters == fitted.encoder_.clusters


def test_a_batch_keeps_the_clusters():
    fitted = tagger().fit(*corpus())
    clusters = dict(fitted.encoder_.clusters)
    fitted.partial_fit([["the", "zebra", "zebra", "zebra"]], [list("DNNN")])
    assert fitted.encoder_.clusters == clusters


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"clusters": 0}, "number of clusters must be a whole number from 1 to 5000, not 0"),
        ({"clusters": "many"}, "number of clusters must be"),
        ({"clusters": {"a": 1}}, "clusters must be a number, or a dict with the path of each word"),
        (
            {"features": ["form[0]"], "columns": ["form"]},
            "clusters need a column named word, or templates with cluster",
        ),
    ],
    ids=str,
)
def test_wrong_clusters_are_told(options, message):
    with pytest.raises(InputError, match=message):
        tagger(**options).fit(*corpus())


def test_ready_features_have_no_clusters():
    with pytest.raises(InputError, match="X holds ready features: clusters are for templates"):
        tagger(features=None).fit([[["a"]]], [["X"]])


@pytest.mark.parametrize(
    "clusters", [{}, {"word": [["dog"], []]}, {"word": [["dog"], [1]]}, {"pos": [[], []]}, 3, {"word": "dog"}], ids=str
)
def test_a_file_with_other_clusters_is_refused(clusters, tmp_path):
    path = tmp_path / "model"
    tagger().fit(*corpus()).save(path)
    kind, meta, arrays = read_container(path, "tagger")
    write_container(path, kind, {**meta, "clusters": clusters}, dict(arrays))
    with pytest.raises(InputError, match="model"):
        SequenceTagger.load(path)


# ---------------------------------------------------------------- files

TEXT = "the dog sees a cat\nThis fish likes the bird .\n"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("text", TEXT),
        ("words", "\n\n".join("\n".join(line.split()) for line in TEXT.splitlines())),
        ("columns", "\n\n".join("\n".join(f"{word} X" for word in line.split()) for line in TEXT.splitlines())),
        (
            "t.conllu",
            "\n\n".join(
                "\n".join("\t".join([str(k), word, *"________"]) for k, word in enumerate(line.split(), 1))
                for line in TEXT.splitlines()
            )
            + "\n\n",
        ),
    ],
)
def test_texts_columns_and_conllu_are_read(name, content, tmp_path):
    path = tmp_path / name
    path.write_text(content)
    assert [sentence for sentence in read_sentences(path) if sentence] == [line.split() for line in TEXT.splitlines()]


def test_a_line_of_words_is_no_column_file(tmp_path):
    (tmp_path / "text").write_text("the cat sees the dog")
    assert read_sentences(tmp_path / "text") == [["the", "cat", "sees", "the", "dog"]]


def test_text_in_another_encoding_is_told(tmp_path):
    (tmp_path / "text").write_bytes("el niño\n".encode("iso-8859-1"))
    with pytest.raises(InputError, match="text: cannot be read as utf-8; name its encoding with --encoding"):
        read_sentences(tmp_path / "text")
    assert read_sentences(tmp_path / "text", encoding="iso-8859-1") == [["el", "niño"]]


def columns_of(X, y):
    return "\n\n".join("\n".join(map(" ".join, zip(*pair, strict=True))) for pair in zip(X, y, strict=True)) + "\n"


def test_the_shell_learns_clusters_of_the_training_file_and_of_text(fine):
    X, y = corpus()
    Path("train.txt").write_text(columns_of(X, y))
    Path("text").write_text("\n".join(map(" ".join, corpus(100, seed=1, kinds=KINDS | {"V": ["eats", "bites"]})[0])))
    options = ["--model", "model", "--features", "pos", "--epochs", "2"]
    _, shown = fine("train", "tagger", "train.txt", "--clusters", "3", *options)
    assert "clusters: 3 of 10 words, learnt from the training file" in shown.replace("\n", " ")
    loaded = SequenceTagger.load("model")
    assert loaded.encoder_.clusters == {"word": learn_clusters(X, 3)}
    fine("train", "tagger", "train.txt", "--clusters", "4", "--cluster-text", "text", *options)
    text = [line.split() for line in Path("text").read_text().splitlines()]
    assert SequenceTagger.load("model").encoder_.clusters == {"word": learn_clusters([*X, *text], 4)}
    fine("train", "tagger", "train.txt", "--cluster-text", "text", *options)
    assert SequenceTagger.load("model").encoder_.clusters == {"word": learn_clusters([*X, *text])}
