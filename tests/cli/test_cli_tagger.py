"""`swvp train tagger` and `swvp predict` as a user runs them: files in, a model, files out."""

import codecs
import gzip
import json
import os
from pathlib import Path

import pytest

from helpers.texts import COLUMNS, CONLLU, noisy
from swvp.estimators import SequenceTagger
from swvp.features import FUNCTIONS, PRESETS
from swvp.io import files

STRANGE = "-DOCSTART- -X- O\r\n\r\nthe  DT B-NP\r\ndog NN I-NP \r\nbarks\tVB B-VP\n\n \n\n Bo NNP B-NP\n# # B-VP"


@pytest.fixture
def trained(fine):
    """Train on a text and give the name of the model."""

    def train(text=COLUMNS, *options, name="train.txt"):
        Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
        fine("train", "tagger", name, "--model", "model", *options)
        return "model"

    return train


def labels_appended(text, labels):
    """The text with one more column, by plain means."""
    labels = iter(labels)
    lines = text.split("\n")
    for k, line in enumerate(lines):
        body = line.rstrip("\r \t")
        if body and not body.startswith("-DOCSTART-"):
            lines[k] = f"{body} {next(labels)}{line[len(body) :]}"
    assert next(labels, None) is None
    return "\n".join(lines)


# ---------------------------------------------------------------- round trips


def test_columns_go_from_training_to_scores(trained, fine):
    model = trained()
    out, err = fine("predict", model, "train.txt", "-o", "out.txt")
    assert (out, err) == (b"", "")
    gold = [line.split()[-1] for line in COLUMNS.splitlines() if line]
    assert Path("out.txt").read_text() == labels_appended(COLUMNS, gold)
    assert json.loads(fine("evaluate", "out.txt", "--json", "-")[0])["scores"]["phrases"]["f1"] == 1.0
    assert fine("evaluate", "train.txt", "out.txt")[0].startswith(b"processed 7 tokens with 5 phrases")


@pytest.mark.parametrize("target", ["upos", "xpos", "feats", "deprel"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_conllu_goes_from_training_to_scores_and_keeps_every_other_byte(trained, fine, target, end):
    text = CONLLU.replace("\n", end)
    model = trained(text, "--target", target, name="train.conllu")
    number = {"upos": 3, "xpos": 4, "feats": 5, "deprel": 7}[target]
    lines = text.split(end)
    for k, line in enumerate(lines):
        fields = line.split("\t")
        if fields[0].isdigit():
            fields[number] = "?"
            lines[k] = "\t".join(fields)
    Path("test.conllu").write_bytes(end.join(lines).encode())
    fine("predict", model, "test.conllu", "-o", "out.conllu")
    assert Path("out.conllu").read_bytes() == text.encode()
    scores = json.loads(fine("evaluate", "train.conllu", "out.conllu", "--target", target, "--json", "-")[0])
    assert scores["scores"]["tokens"]["right"] == 4


def test_every_byte_of_a_strange_column_file_stays(trained, fine):
    model = trained(STRANGE, "--epochs", "30")
    out, _ = fine("predict", model, "train.txt")
    assert out.decode() == labels_appended(STRANGE, ["B-NP", "I-NP", "B-VP", "B-NP", "B-VP"])
    marked = codecs.BOM_UTF8 + STRANGE.encode()
    assert fine("predict", model, "-", stdin=marked)[0] == codecs.BOM_UTF8 + out


def test_packed_files_and_standard_streams_give_the_same(trained, fine):
    model = trained()
    plain = Path(model).read_bytes()
    expected = fine("predict", model, "train.txt")[0]
    Path("in.gz").write_bytes(gzip.compress(COLUMNS.encode()))
    fine("predict", model, "in.gz", "-o", "out.gz")
    assert gzip.decompress(Path("out.gz").read_bytes()) == expected
    assert fine("predict", model, "-", stdin=COLUMNS.encode())[0] == expected
    assert fine("predict", model, "train.txt", "--jobs", "2")[0] == expected
    for source, stdin in (("in.gz", b""), ("-", COLUMNS.encode())):
        fine("train", "tagger", source, "-m", "other", stdin=stdin)
        assert Path("other").read_bytes() == plain


def test_standard_input_may_be_conllu(trained, fine):
    model = trained(CONLLU, "--target", "upos", name="train.conllu")
    expected = Path(model).read_bytes()
    assert fine("predict", model, "-", stdin=CONLLU.encode())[0] == CONLLU.encode()
    fine("train", "tagger", "-", "--conllu", "--target", "upos", "-m", "other", stdin=CONLLU.encode())
    assert Path("other").read_bytes() == expected
    Path("named.txt").write_text(CONLLU)
    assert fine("predict", model, "named.txt", "--conllu")[0] == CONLLU.encode()


def test_another_encoding_is_read_and_written(trained, fine, refused):
    text = "fußball NN Straße\nspielt VB O\n".encode("iso-8859-1")
    model = trained(text, "--encoding", "iso-8859-1")
    expected = "fußball NN Straße Straße\nspielt VB O O\n"
    assert fine("predict", model, "train.txt", "--encoding", "latin-1")[0] == expected.encode("iso-8859-1")
    assert fine("predict", model, "-", stdin=text.decode("latin-1").encode())[0] == expected.encode()
    assert refused("predict", model, "train.txt") == (
        "train.txt:1: byte 0xdf is not utf-8; name the encoding (iso-8859-1?)"
    )
    line = refused("predict", model, "-", "--encoding", "ascii", stdin=b"fussball NN\n")
    assert line == "the label with 'ß' cannot be written in ascii: use utf-8"
    assert refused("predict", model, "train.txt", "--encoding", "latin-11") == "unknown encoding 'latin-11'"


def test_the_label_may_be_in_the_middle_and_may_be_missing(trained, fine, refused):
    rows = [line.split() for line in COLUMNS.splitlines()]
    middle = "\n".join(" ".join([row[0], row[2], row[1]]) if row else "" for row in rows)
    without = "\n".join(" ".join(row[:2]) for row in rows)
    gold = [row[2] for row in rows if row]
    model = trained(middle, "--column", "1")
    kept = SequenceTagger.load(model)
    assert fine("predict", model, "train.txt")[0].decode() == labels_appended(middle, gold)
    assert fine("predict", model, "-", stdin=without.encode())[0].decode() == labels_appended(without, gold)
    expected = SequenceTagger.load(trained(COLUMNS, "--column", "-1"))
    assert (kept.coef_ == expected.coef_).all()
    assert fine("predict", "model", "-", stdin=without.encode())[0].decode() == labels_appended(without, gold)
    assert refused("predict", "model", "-", stdin=b"the\n") == "-: 1 column; the tagger needs 2: word, pos"


def test_columns_can_be_named_and_left_out(trained, fine, refused):
    Path("templates").write_text("form[0]\ntag[0]\n")
    trained(COLUMNS, "--columns", "form,tag", "--features", "templates")
    assert SequenceTagger.load("model").columns_ == ["form", "tag"]
    model = trained(COLUMNS, "--columns", "word")
    assert SequenceTagger.load(model).columns_ == ["word"]
    assert fine("predict", model, "-", stdin=b"dog\n")[0] == b"dog I-NP\n"
    Path("train.conllu").write_text(CONLLU)
    command = ["train", "tagger", "train.conllu", "--target", "upos", "-m", "model", "--columns"]
    fine(*command, "word,lemma", "--features", "ner")
    assert refused(*command, "word,upos") == "the label 'upos' cannot be one of the columns that features use"
    assert refused(*command, "word,lema").startswith("unknown column 'lema' (did you mean 'lemma'?)")
    assert refused(*command, "word,word") == "the column 'word' is named twice"
    line = refused(*command, "word,lemma", "--features", "chunk")
    assert "the preset chunk needs the columns word and pos; this file has word and lemma: choose" in line


# ---------------------------------------------------------------- options


@pytest.mark.parametrize(
    "templates",
    ["# ours\nword[0]\n\nword[-1] & word[0]\npos[0]\n", "U00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]\nU02:%x[0,1]\n\nB\n"],
    ids=["ours", "CRF++"],
)
def test_templates_come_from_a_file(trained, fine, templates):
    Path("templates").write_text(templates)
    model = trained(COLUMNS, "--features", "templates")
    assert [template.text for template in SequenceTagger.load(model).encoder_.templates] == [
        "word[0]",
        "word[-1] & word[0]",
        "pos[0]",
    ]
    os.unlink("templates")
    assert fine("predict", model, "train.txt")[0].splitlines()[0] == b"the DT B-NP B-NP"


def test_presets_are_different(trained):
    texts = {}
    for preset in ("pos", "chunk", "ner"):
        texts[preset] = [t.text for t in SequenceTagger.load(trained(COLUMNS, "--features", preset)).encoder_.templates]
    assert "pos[0]" in texts["chunk"]
    assert "suffix(word[0], 3)" in texts["pos"]
    assert "shape(word[-1]) & shape(word[0])" in texts["ner"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# one\nword[0]\nfoo[0]\n", "unknown column in templates line 3: 'foo'; known: word, pos"),
        ("U0:%x[0,0]\nU1:%x[0,7]\n", "unknown column in templates line 2: '7'; known: word, pos"),
        ("word[0]\nlowr(word[0])", "unknown function in templates line 2: 'lowr' (did you mean 'lower'?)"),
        ("", "templates: no template in it"),
        ("# nothing\n\n", "templates: no template in it"),
        ("word 0\n", "templates line 1: cannot read 'word 0'"),
    ],
)
def test_a_bad_file_of_templates_is_named_with_the_line(trained, refused, content, message):
    trained()
    Path("templates").write_text(content)
    assert refused("train", "tagger", "train.txt", "-m", "other", "--features", "templates").startswith(message)
    assert not Path("other").exists()


TRAIN = ["train", "tagger", "train.txt", "-m", "other"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--features", "poss"], "features 'poss': neither a preset (pos, chunk, ner) nor a file of templates"),
        (["--rule", "a-wn"], "unknown gamma 'wn' (did you mean 'wm'?)"),
        (["--beta", "0"], "--beta must be a number > 0, not 0.0"),
        (["--epochs", "0"], "--epochs must be a whole number of at least 1, not 0"),
        (["--hashed", "0"], "--hashed must be a whole number of at least 1"),
        (["--min-count", "0"], "--min-count must be a whole number of at least 1"),
        (["--constraint", "bieos"], "unknown constraint 'bieos' (did you mean 'bioes'?)"),
        (["--constraint", "bioes"], "train.txt:3: the constraint bioes does not allow B-VP after I-NP"),
        (["--column", "3"], "train.txt: there is no column 3: the file has 3 columns, 0 to 2"),
        (["--columns", "a,b,c"], "--columns names 3 columns, but train.txt has only 2 besides the label"),
        (["--columns", "a,b"], "all presets need the column word; this file has a and b: choose"),
        (
            ["--target", "upos"],
            "train.txt: --target upos is for CoNLL-U: a file whose name ends in .conllu, or any file with --conllu;",
        ),
        (["--target", "upos", "--column", "1"], "--column and --target exclude each other"),
        (["--conllu", "--target", "upos"], "train.txt:1: 1 column; CoNLL-U has 10, separated by tabs (tabs and blanks"),
        (["--patience", "2"], "--patience needs --dev"),
        (["--tune"], "--tune needs --dev"),
        (["--rules", "csp"], "--rules and --betas are for --tune"),
        (["--jobs", "0"], "--jobs must be at least 1, not 0"),
        (["--dev", "two"], "two: 2 columns, the training file has 3"),
        (["--dev", "dev.conllu"], "dev.conllu is CoNLL-U, but the training file was a column file"),
        (["--dev", "nowhere"], "cannot read nowhere: No such file or directory"),
        (["--log", "no/log"], "cannot write no/log: No such file or directory"),
        (["--log", "folder"], "cannot write folder: Is a directory"),
        (["--load", "nowhere.py"], "cannot load nowhere.py: No such file or directory"),
        (["-m", "no/model"], "cannot write no/model: there is no folder no"),
        (["-m", "folder"], "cannot write folder: it is a folder"),
        (["-m", "pipe"], "cannot write pipe: a model needs a file of its own"),
        (["-m", "-"], "cannot write -: a model needs a file of its own"),
        (["-m", "train.txt"], "--model and TRAIN are the same file, train.txt"),
        (["-m", "./two", "--dev", "two"], "--model and --dev are the same file, two"),
    ],
)
def test_bad_options_are_one_line_and_leave_no_file(refused, options, message):
    Path("train.txt").write_text(COLUMNS)
    Path("two").write_text("a O\n")
    Path("dev.conllu").write_text(CONLLU)
    Path("folder").mkdir()
    os.mkfifo("pipe")
    before = sorted(os.listdir())
    assert refused(*TRAIN, *options).startswith(message)
    assert sorted(os.listdir()) == before
    assert Path("train.txt").read_text() == COLUMNS


def test_conllu_needs_a_target(refused):
    Path("train.conllu").write_text(CONLLU)
    command = ["train", "tagger", "train.conllu", "-m", "model"]
    assert refused(*command) == "train.conllu: which column is the label? Use --target upos|xpos|feats|deprel"
    assert refused(*command, "--target", "upso").startswith("unknown column 'upso' (did you mean 'upos'?)")
    Path("dev.txt").write_text(COLUMNS)
    line = refused(*command, "--target", "upos", "--dev", "dev.txt")
    assert line.startswith("dev.txt is a column file, but the training file was CoNLL-U")


def test_iob1_is_read_as_iob2_and_told_with_its_line(refused, fine):
    Path("train.txt").write_text("a B-X\n\nb O\nc I-X\n")
    _, err = fine(*TRAIN, "--constraint", "iob2")
    assert "note: 1 label begins a phrase with I-, read as B- for the constraint 'iob2' (the first: train.txt:4)" in err
    assert refused(*TRAIN, "--constraint", "bioes") == (
        "train.txt:4: the constraint bioes does not allow I-X after O: leave out the constraint, or correct the label"
    )


def test_features_may_be_a_preset_that_the_loaded_file_registers(trained):
    Path("mine.py").write_text(
        'from swvp.features import register_preset\nregister_preset("mine", ["lower(word[0])"])\n'
    )
    try:
        model = trained(COLUMNS, "--load", "mine.py", "--features", "mine")
        assert [template.text for template in SequenceTagger.load(model).encoder_.templates] == ["lower(word[0])"]
    finally:
        PRESETS.pop("mine", None)


# ---------------------------------------------------------------- dev sets, the log, failures


def test_the_best_epoch_is_marked_chosen_and_logged(fine):
    Path("train.txt").write_text(noisy(0))
    Path("dev.txt").write_text(noisy(7) + "w1 NEW\nw2 NEWER\n")
    Path("log").write_text("of an earlier training\n")
    Path("templates").write_text("bias\nword[0]\nword[-1]\nword[1]\nsuffix(word[0], 1)\n")
    given = ("--rule", "csp", "--features", "templates")
    _, err = fine(*TRAIN, "--dev", "dev.txt", "--epochs", "6", "--log", "log", *given)
    model = SequenceTagger.load("other")
    assert "2 dev tokens have labels unseen in training (NEW, NEWER): counted as wrong" in err
    rows = [line.split() for line in err.splitlines() if line[:5].strip().isdigit()]
    scores = [float(row[3]) for row in rows]
    assert [int(row[0]) for row in rows] == [1, 2, 3, 4, 5, 6]
    starred = [k for k, row in enumerate(rows) if "*" in row]
    assert starred == [k for k, score in enumerate(scores) if score > max(scores[:k], default=-1)]
    assert starred[0] == 0
    assert 1 < model.best_epoch_ == starred[-1] + 1 < 6
    log = [json.loads(line) for line in Path("log").read_text().splitlines()]
    assert [line.pop("dev_score") for line in log] == model.dev_scores_
    assert [k for k, line in enumerate(log) if line.pop("best")] == starred
    assert [line | {"seconds": 0.0} for line in log] == [epoch.as_dict() for epoch in model.history_]
    assert all(line["seconds"] > 0 for line in log)
    fine(*TRAIN, "--dev", "dev.txt", "--epochs", "6", "--patience", "1", *given)
    stopped = SequenceTagger.load("other")
    assert stopped.dev_scores_ == model.dev_scores_[: len(stopped.dev_scores_)]
    assert len(stopped.history_) == stopped.best_epoch_ + 1 < 6


def test_a_full_disk_is_one_line_and_leaves_no_part_of_a_file(refused, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    Path("train.txt").write_text(noisy(0))
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "fsync", full)
        assert refused(*TRAIN) == "cannot write other: No space left on device"
        assert refused(*TRAIN, "--checkpoint", "0") == "cannot write other.checkpoint: No space left on device"
    assert refused(*TRAIN, "--log", "/dev/full") == "cannot write /dev/full: No space left on device"
    assert sorted(os.listdir()) == ["train.txt"]


def test_a_crf_is_trained_and_leaves_no_checkpoint(fine):
    Path("train.txt").write_text(noisy(2))
    fine(*TRAIN, "--rule", "crf", "--epochs", "5", "--l2", "0.5", "--checkpoint", "0")
    assert not Path("other.checkpoint").exists()
    assert b"rule        crf, l2 = 0.5" in fine("inspect", "other")[0]


def test_labels_that_make_two_columns_are_refused(refused):
    SequenceTagger(random_state=0).fit([["a"]], [["N P"]]).save("blank")
    Path("in.txt").write_text("a\n")
    assert refused("predict", "blank", "in.txt") == (
        "the label 'N P' cannot be written into a column: it is empty or has blanks in it"
    )


FIRST_LETTER = 'from swvp.features import register_function\nregister_function("first", lambda string: string[:1])\n'


def test_a_model_with_a_function_of_the_user_s_predicts_with_load_only(trained, fine, refused):
    Path("mine.py").write_text(FIRST_LETTER)
    Path("mine.txt").write_text("word[0]\nfirst(word[0])\n")
    trained(COLUMNS, "--features", "mine.txt", "--load", "mine.py")
    for arguments in (["predict", "model", "train.txt"], ["inspect", "model"]):
        FUNCTIONS.pop("first")  # as in a new process
        assert "first" in refused(*arguments)
        assert fine(*arguments, "--load", "mine.py")[0]
    FUNCTIONS.pop("first")


def test_a_file_in_utf_8_that_is_read_in_another_encoding_has_a_note(fine):
    Path("train.txt").write_text("año N\n", encoding="utf-8")
    Path("latin.txt").write_text("año N\n", encoding="latin-1")
    options = ["-m", "model", "--epochs", "1", "--encoding", "iso-8859-1"]
    note = "note: train.txt looks like UTF-8, but is read as iso-8859-1: leave out --encoding?"
    assert note in fine("train", "tagger", "train.txt", *options)[1].splitlines()
    assert "looks like UTF-8" not in fine("train", "tagger", "latin.txt", *options)[1]


def test_a_number_of_word_clusters_is_not_a_dask_cluster(refused):
    Path("train.txt").write_text(COLUMNS)
    message = refused("train", "tagger", "train.txt", "-m", "model", "--cluster", "256")
    assert message == "--cluster is the address of a Dask cluster; for word clusters: --clusters 256"
