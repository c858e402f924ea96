"""Pipelines from training to documents, with small stages in the place of those for tokens, tags and lemmas."""

import json

import numpy as np
import pytest

from helpers.garden import joined
from helpers.text_stages import FAKES, treebank_text
from swvp import Document, InputError, Pipeline
from swvp.io.container import read_container, write_container
from swvp.io.treebank import Treebank
from swvp.text.files import analyse_file
from swvp.text.jackknife import folds_of
from swvp.text.stages import KIND, PARTS, chosen_stages
from swvp.text.treebank_text import document_of

TEXT = "  le roi du chat dort.\tle chien\n\n\nle chat du roi mange.  \r\nle du\u00a0roi dort\n"


@pytest.fixture(scope="module")
def fakes():
    with pytest.MonkeyPatch.context() as patch:
        for part, place in FAKES.items():
            patch.setitem(PARTS, part, place)
        yield


@pytest.fixture(scope="module")
def treebank(fakes, tmp_path_factory):
    path = tmp_path_factory.mktemp("treebank") / "x-ud-train.conllu"
    path.write_text(treebank_text(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def pipeline(treebank):
    return Pipeline.train(treebank, treebank, order=1, folds=3, n_jobs=1)


def test_a_text_gets_tokens_words_tags_lemmas_and_trees(pipeline):
    document = pipeline("le roi du chat dort.")
    assert [token.text for token in document.tokens] == ["le", "roi", "du", "chat", "dort", "."]
    assert [word.form for word in document.words] == ["le", "roi", "de", "le", "chat", "dort", "."]
    assert [word.lemma for word in document.words][5] == "dorr"
    assert [word.head for word in document.words] == [2, 6, 5, 5, 2, 0, 6]
    assert [word.deprel for word in document.words] == ["det", "nsubj", "case", "det", "nmod", "root", "punct"]


def test_offsets_of_tokens_are_those_of_the_text(pipeline):
    document = pipeline(TEXT)
    assert all(TEXT[token.start : token.end] == token.text for token in document.tokens)


@pytest.mark.parametrize("text", [TEXT, "le roi.", "\ufeffle roi | \\ du.le chat\\n .\n", "a\n\nb\n\n"])
def test_the_conllu_of_a_text_holds_each_of_its_characters(pipeline, text):
    assert joined(pipeline(text).to_conllu()) == text


def test_conllu_can_be_read_again(pipeline):
    document = pipeline(TEXT)
    again = Treebank.from_text(document.to_conllu())
    assert again.heads.tolist() == document.treebank.heads.tolist()
    assert again.number_of_sentences == len(document.sentences)


def test_an_empty_line_begins_a_paragraph(pipeline):
    lines = pipeline("le roi dort.\n\nle chat dort. le chien dort.").to_conllu().split("\n")
    assert [line for line in lines if line.startswith(("# new", "# sent_id"))] == [
        "# newdoc",
        "# newpar",
        "# sent_id = 1",
        "# newpar",
        "# sent_id = 2",
        "# sent_id = 3",
    ]


def test_an_empty_text_is_an_empty_document(pipeline):
    assert pipeline("").sentences == []
    assert pipeline(" \n").to_conllu() == ""


def test_tokens_can_be_given(pipeline):
    document = pipeline([["le", "roi", "dort"], ["le", "chat"]])
    assert document.text == "le roi dort le chat"
    assert [len(sentence.words) for sentence in document.sentences] == [3, 2]


@pytest.mark.parametrize("wrong", [["le roi"], [["le", ""]], [["le", 3]], [[]]])
def test_wrong_tokens_are_an_error(wrong):
    with pytest.raises(InputError):
        Document.from_tokens(wrong)


def test_many_texts_are_the_same_with_threads(pipeline):
    texts = [TEXT, "le roi dort.", ""] * 3
    one, two = ([document.to_conllu() for document in pipeline.pipe(texts, n_jobs=jobs)] for jobs in (1, 2))
    assert one == two == [pipeline(text).to_conllu() for text in texts]


def test_an_iterable_of_texts_is_read_as_needed(pipeline):
    read = []

    def texts():
        for text in ["le roi dort.", TEXT]:
            read.append(text)
            yield text

    documents = pipeline(texts())
    assert not read[1:]
    assert [document.to_conllu() for document in documents] == [pipeline(text).to_conllu() for text in read]
    assert [len(document) for document in pipeline(["le roi", ""], n_jobs=2)] == [2, 0]


def test_a_multiword_token_has_the_feats_of_its_range(pipeline, tmp_path):
    document = pipeline("le roi cannot du.")
    assert [token.feats for token in document.tokens] == ["_", "_", "Typo=Yes", "_", "_"]
    content = document.to_conllu()
    assert "3-4\tcannot\t_\t_\t_\tTypo=Yes\t_" in content
    assert document.to_dict()["sentences"][0]["tokens"][2]["feats"] == "Typo=Yes"
    path = tmp_path / "a.conllu"
    path.write_text(content, encoding="utf-8")
    written = b"".join(analyse_file(pipeline, str(path), input="conllu", output="json"))
    assert json.loads(written)["tokens"][2]["feats"] == "Typo=Yes"


def test_records_have_the_columns_of_udpipe_for_r(pipeline):
    records = pipeline("le roi du chat dort.").to_records("a")
    assert [record["token_id"] for record in records] == ["1", "2", "3-4", "3", "4", "5", "6", "7"]
    assert records[2]["token"] == "du"
    assert records[2]["lemma"] is None
    assert records[2]["doc_id"] == "a"
    assert records[1]["head_token_id"] == "6"
    assert records[1]["dep_rel"] == "nsubj"


def test_a_data_frame_has_a_row_for_each_record(pipeline):
    pytest.importorskip("pandas")
    frame = pipeline("le roi dort.").to_dataframe()
    assert frame["token"].tolist() == ["le", "roi", "dort", "."]


def test_json_has_offsets_and_trees(pipeline):
    loaded = json.loads(pipeline("le roi dort.").to_json())
    assert loaded["sentences"][0]["tokens"][1] == {"text": "roi", "start": 3, "end": 6, "first_word": 2, "last_word": 2}
    assert loaded["sentences"][0]["words"][2]["deprel"] == "root"


def test_displacy_has_an_arc_for_each_word_but_the_root(pipeline):
    (sentence,) = pipeline("le roi dort.").to_displacy()
    assert {"start": 0, "end": 1, "label": "det", "dir": "left"} in sentence["arcs"]
    assert len(sentence["arcs"]) == 3


def test_spacy_gets_words_and_heads(pipeline):
    pytest.importorskip("spacy")
    doc = pipeline("le roi du chat dort.").to_spacy()
    assert [token.head.i for token in doc] == [1, 5, 4, 4, 1, 5, 5]
    assert doc[1].pos_ == "NOUN"


def test_a_sentence_is_drawn(pipeline):
    document = pipeline("le roi dort.")
    assert "<svg" in document.sentences[0]._repr_svg_()
    assert "<svg" in document._repr_html_()


# ---------------------------------------------------------------- training and files


def test_the_file_is_the_same_for_any_number_of_threads(treebank, pipeline, tmp_path):
    pipeline.save(tmp_path / "one")
    Pipeline.train(treebank, treebank, order=1, folds=3, n_jobs=3).save(tmp_path / "three")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "three").read_bytes()


def test_a_saved_pipeline_predicts_the_same(pipeline, tmp_path):
    pipeline.save(tmp_path / "model")
    loaded = Pipeline.load(tmp_path / "model")
    assert loaded(TEXT).to_conllu() == pipeline(TEXT).to_conllu()
    assert loaded.training == pipeline.training
    assert loaded.stages == ("tokens", "tags", "lemmas", "trees")


def test_the_dev_set_is_scored_from_its_raw_text(pipeline):
    assert pipeline.training["dev"]["Words"] == 1.0
    assert pipeline.training["dev"]["LAS"] == 1.0


def test_stages_without_data_are_left_out_and_named(fakes, tmp_path):
    path = tmp_path / "train.conllu"
    rows = (line.split("\t") for line in treebank_text().split("\n"))
    path.write_text(
        "\n".join("\t".join([*row[:2], "_", *row[3:6], "_", "_", *row[8:]]) if len(row) > 1 else row[0] for row in rows)
    )
    lines = []
    pipeline = Pipeline.train(path, order=1, watch=lines.append)
    assert pipeline.stages == ("tokens", "tags")
    assert "note: no stage lemmas: the treebank has no lemmas (_)" in lines
    assert "note: no stage trees: the treebank has no heads (_)" in lines
    assert pipeline("le roi").words[0].head is None


def test_stages_can_be_chosen(treebank):
    pipeline = Pipeline.train(treebank, stages="lemmas,tags")
    assert pipeline.stages == ("tags", "lemmas")
    assert pipeline([["le", "roi"]]).words[1].upos == "NOUN"
    with pytest.raises(InputError, match="no stage for tokens"):
        pipeline("le roi")


@pytest.mark.parametrize("stages", ["", "tokens,words"])
def test_wrong_stages_are_an_error(stages):
    with pytest.raises(InputError):
        chosen_stages(stages)


def test_a_folder_of_universal_dependencies_has_a_dev_set(treebank, tmp_path):
    for part in ("train", "dev"):
        (tmp_path / f"x-ud-{part}.conllu").write_text(treebank_text(8), encoding="utf-8")
    assert "dev" in Pipeline.train(tmp_path, stages="tags").training
    with pytest.raises(InputError, match="no file"):
        Pipeline.train(tmp_path.parent / tmp_path.name / "..", stages="tags")


def test_every_sentence_is_in_one_fold():
    for sentences, folds in ((3, 3), (100, 5), (101, 7), (1, 1)):
        parts = folds_of(sentences, folds)
        assert sorted(np.concatenate(parts).tolist()) == list(range(sentences))
        assert all(len(part) for part in parts)


@pytest.mark.parametrize(
    "change",
    [
        lambda meta: meta["parts"].update(unknown={}),
        lambda meta: meta["parts"].clear(),
        lambda meta: meta.update(parts=[]),
        lambda meta: meta["parts"].update(trees=3),
        lambda meta: meta["parts"]["tags"].update(known={"a": "b"}),
        lambda meta: meta["parts"]["trees"].update(format=99),
        lambda meta: meta["parts"]["trees"].update(size=-1),
        lambda meta: meta.update(training=None),
    ],
)
def test_a_hostile_file_is_refused(pipeline, tmp_path, change):
    path = tmp_path / "model"
    pipeline.save(path)
    contents = read_container(path, KIND)
    change(contents.meta)
    write_container(path, KIND, contents.meta, contents.arrays)
    with pytest.raises(InputError, match=r"fit together|cannot be right|newer swvp"):
        Pipeline.load(path)


# ---------------------------------------------------------------- files of texts


def analysed(pipeline, path, content, **options):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return b"".join(analyse_file(pipeline, str(path), **options)).decode()


@pytest.mark.parametrize("text", [TEXT, "le roi.", "\n \n", ""])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_file_in_parts_gives_what_the_whole_text_gives(pipeline, tmp_path, text, jobs):
    assert analysed(pipeline, tmp_path / "text", text, n_jobs=jobs) == pipeline(text).to_conllu()


@pytest.mark.parametrize("input", ["presegmented", "horizontal"])
def test_lines_can_be_sentences(pipeline, tmp_path, input, monkeypatch):
    text = "le roi dort .\n\nle chat\n le\tchien . le roi\n"
    for lines in (1, 100):
        monkeypatch.setattr("swvp.text.files.LINES", lines)
        conllu = analysed(pipeline, tmp_path / "text", text, input=input)
        assert joined(conllu) == text
        assert [line for line in conllu.split("\n") if "# text" in line] == [
            "# text = le roi dort .",
            "# text = le chat",
            "# text = le chien . le roi",
        ]
        assert conllu.count("# newpar") == 2


def test_a_blank_inside_a_token_survives_lines_of_tokens(pipeline, tmp_path):
    conllu = analysed(pipeline, tmp_path / "text", "le roi\u00a0dort .\n", input="horizontal")
    assert [line.split("\t")[1] for line in conllu.split("\n") if line[:1].isdigit()] == ["le", "roi dort", "."]
    lines = analysed(pipeline, tmp_path / "text", "le roi\u00a0dort .\n", input="horizontal", output="horizontal")
    assert lines == "le roi\u00a0dort .\n"


def test_a_document_can_have_the_name_of_its_file(pipeline, tmp_path):
    conllu = analysed(pipeline, tmp_path / "text", "le roi.\n\nle chat.\n", document_id="a\tb.txt")
    assert conllu.startswith("# newdoc id = a b.txt\n# newpar\n")
    assert conllu.count("newdoc") == 1


@pytest.mark.parametrize("given", [None, b"abc", 3, [None], [b"abc"], [["a", 3]]])
def test_what_is_no_text_is_refused_in_one_line(pipeline, given):
    with pytest.raises(InputError) as error:
        pipeline(given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("given", ["text", b"text", None, [None], [3]])
def test_many_texts_must_be_texts(pipeline, given):
    with pytest.raises(InputError):
        list(pipeline.pipe(given))


def test_tokens_can_be_lines(pipeline, tmp_path, monkeypatch):
    text = "le\tx\nroi\n\n\nle\ndu\n"
    whole = analysed(pipeline, tmp_path / "text", text, input="vertical")
    assert [line for line in whole.split("\n") if "# text" in line] == ["# text = le roi", "# text = le du"]
    monkeypatch.setattr("swvp.text.files.LINES", 1)
    assert analysed(pipeline, tmp_path / "text", text, input="vertical") == whole


def test_conllu_keeps_all_but_the_predicted_columns(pipeline, tmp_path):
    text = treebank_text(3)
    blank = "\n".join(
        "\t".join([*row[:2], *["_"] * 6, *row[8:]]) if len(row) > 1 else row[0]
        for row in (line.split("\t") for line in text.split("\n"))
    )
    assert analysed(pipeline, tmp_path / "text", blank, input="conllu") == text
    assert analysed(pipeline, tmp_path / "text", "", input="conllu") == ""


@pytest.mark.parametrize(("output", "expected"), [("horizontal", "le roi .\n"), ("vertical", "le\nroi\n.\n\n")])
def test_tokens_can_be_written(pipeline, tmp_path, output, expected):
    assert analysed(pipeline, tmp_path / "text", "le roi.", output=output) == expected


def test_json_has_a_line_for_each_sentence(pipeline, tmp_path):
    lines = analysed(pipeline, tmp_path / "text", "le roi. le chat.", output="json").splitlines()
    assert [(json.loads(line)["id"], json.loads(line)["start"]) for line in lines] == [(1, 0), (2, 8)]


def test_bytes_that_are_not_utf_8_are_an_error_with_their_line(pipeline, tmp_path):
    with pytest.raises(InputError, match=r"text:2: byte 0xe9 is not UTF-8"):
        analysed(pipeline, tmp_path / "text", b"le roi.\nle \xe9 roi\n")


def test_the_text_of_a_treebank_has_its_spaces_and_paragraphs():
    document = document_of(Treebank.from_text(treebank_text(5)))
    assert document.text.startswith("le chien du chat dort. le chat du roi mange. ")
    assert document.text.count("\n\n") == 1
    assert document.text.endswith("dort.\n")
    assert document.to_conllu().count("3-4\tdu") == 5
