"""The probabilities of arcs in documents."""

import json

import numpy as np
import pytest

from swvp import InputError
from swvp.text.files import analyse_file

TEXT = "Ann doesn't paint the gardens. The old child walked!"


def test_words_have_the_probabilities_that_the_parser_gives_their_arcs(garden):
    document = garden(TEXT, confidence=True)
    plain = garden(TEXT)
    assert [word.confidence for word in plain.words] == [None] * len(plain.words)
    assert [word[:-1] for word in document.words] == [word[:-1] for word in plain.words]
    parser = garden.parts["trees"].parser
    expected = [value for tree in parser.confidence(plain.treebank) for value in tree.confidence]
    assert [word.confidence for word in document.words] == pytest.approx(expected)
    assert all(0 < value <= 1 for value in expected)
    assert document.sentences[1].tree.confidence == pytest.approx(tuple(expected[-5:]))


def test_confidences_are_written_and_the_text_stays(garden, tmp_path):
    document = garden(TEXT, confidence=True)
    misc = [line.split("\t")[9] for line in document.to_conllu().split("\n") if "\t" in line]
    assert misc[1] == "_"  # of a multiword token
    assert misc[2].startswith("Confidence=")
    assert misc[-1].endswith("|SpaceAfter=No")
    assert "confidence" in json.loads(document.to_json())["sentences"][0]["words"][0]
    assert "confidence" not in json.loads(garden(TEXT).to_json())["sentences"][0]["words"][0]
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    written = b"".join(analyse_file(garden, str(tmp_path / "text"), confidence=True, n_jobs=2))
    assert written.decode() == document.to_conllu()
    (piped,) = garden.pipe([TEXT], confidence=True)
    assert np.array_equal(piped.confidence, document.confidence)


def test_confidences_need_trees(garden, tmp_path):
    with pytest.raises(InputError, match="no stage trees"):
        garden.only("tokens,tags")(TEXT, confidence=True)
    with pytest.raises(InputError, match="no confidences with --input conllu"):
        list(analyse_file(garden, "text", input="conllu", confidence=True))
    assert garden("", confidence=True).words == []
