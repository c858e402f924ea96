"""`swvp train parser` and `swvp predict` with parsers as a user runs them: treebanks in, a model, trees out."""

import gzip
import json
import os
import signal
from pathlib import Path

import pytest

from helpers.trees import conllu, toy
from swvp.estimators import DependencyParser
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.io import FORMATS
from swvp.training import session
from swvp.training.observer import TrainingLog

TRAIN = ["train", "parser", "train.conllu", "-m", "model", "--hashed", "16384", "--epochs", "3"]
GOOD = conllu(*toy(0, 40))
NEW, NEW_Y = toy(1, 10)


@pytest.fixture
def trained(fine):
    """Train on a text and give the name of the model."""

    def train(text=GOOD, *options):
        Path("train.conllu").write_text(text)
        fine(*TRAIN, *options)
        return "model"

    return train


def row(k, word, head, label="x", tag="_"):
    return f"{k}\t{word}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n"


# ---------------------------------------------------------------- round trips


def test_a_treebank_goes_from_training_to_scores(trained, fine):
    model = trained()
    Path("test.conllu").write_text(conllu(NEW, NEW_Y))
    Path("blind.conllu").write_text(conllu(NEW))
    out, err = fine("predict", model, "blind.conllu", "-o", "out.conllu")
    assert (out, err) == (b"", "")
    assert Path("out.conllu").read_text() == conllu(NEW, NEW_Y)
    scores = json.loads(fine("evaluate", "test.conllu", "out.conllu", "--trees", "--json", "-")[0])
    assert '"uas": 1.0' in json.dumps(scores)
    assert fine("predict", model, "test.conllu", "--jobs", "2")[0].decode() == conllu(NEW, NEW_Y)


SLASHES = """
from swvp.io import FileFormat, register_format

def to_columns(text):
    return "\\n\\n".join(line.replace(" ", "\\n").replace("/", "\\t") for line in text.splitlines()) + "\\n"

def from_columns(text):
    return "".join(lines.replace("\\t", "/").replace("\\n", " ") + "\\n" for lines in text.strip().split("\\n\\n"))

format = FileFormat("slashes", "slashes", (".slashes",), to_columns=to_columns, from_columns=from_columns)
register_format(format)
"""


def test_a_treebank_may_be_in_a_format_of_one_s_own_that_becomes_conll_u(trained, fine, monkeypatch):
    monkeypatch.setattr("swvp.io.files.FORMATS", dict(FORMATS))
    expected = Path(trained()).read_bytes()
    Path("slashes.py").write_text(SLASHES)
    sentences = GOOD.strip().split("\n\n")
    slashes = "".join(sentence.replace("\t", "/").replace("\n", " ") + "\n" for sentence in sentences)
    Path("train.slashes").write_text(slashes)
    fine("train", "parser", "train.slashes", "--load", "slashes.py", *TRAIN[3:])
    assert Path("model").read_bytes() == expected
    assert fine("predict", "model", "train.slashes")[0].decode() == slashes


def test_every_other_byte_stays(trained, fine):
    model = trained()
    strange = (
        "\ufeff# text = The dogs\r\n1-2\tthe'dog\t_\t_\t_\t_\t_\t_\t_\tx=y\r\n1\tthe\tL\tDET\tX\tA=b\t_\t_\t_\tz\r\n"
        "2\tdog\t_\tNOUN\t_\t_\t7\twrong\t_\t_\r\n2.1\te\t_\t_\t_\t_\t_\t_\t_\t_\r\n3\tsees\t_\tVERB\t_\t_\t_\t_\t_\t_"
    )
    found = fine("predict", model, "-", stdin=strange.encode())[0].decode()
    assert found == (
        strange.replace("A=b\t_\t_", "A=b\t2\tdet")
        .replace("7\twrong", "3\tnsubj")
        .replace("VERB\t_\t_\t_\t_", "VERB\t_\t_\t0\troot")
    )


def test_packed_files_standard_input_and_conll_x_give_the_same_model(trained, fine):
    model = Path(trained()).read_bytes()
    Path("train.gz").write_bytes(gzip.compress(GOOD.encode()))
    options = ["-m", "other", "--hashed", "16384", "--epochs", "3"]
    fine("train", "parser", "train.gz", *options)
    assert Path("other").read_bytes() == model
    fine("train", "parser", "-", *options, stdin=GOOD.encode())
    assert Path("other").read_bytes() == model
    eight = "".join("\t".join(line.split("\t")[:8]) + "\n" if line else "\n" for line in GOOD.split("\n"))
    Path("train.conll").write_text(eight)
    fine("train", "parser", "train.conll", *options)
    assert Path("other").read_bytes() == model
    six = "\n".join("\t".join(line.split("\t")[:6]) for line in conllu(NEW).split("\n"))
    found = fine("predict", "model", "-", stdin=six.encode())[0].decode()
    assert [line.split("\t")[6:] for line in found.split("\n") if line] == [
        line.split("\t")[6:8] for line in conllu(NEW, NEW_Y).split("\n") if line
    ]
    Path("in.gz").write_bytes(gzip.compress(conllu(NEW).encode()))
    fine("predict", "model", "in.gz", "-o", "out.gz")
    assert gzip.decompress(Path("out.gz").read_bytes()).decode() == conllu(NEW, NEW_Y)


def test_a_tagger_and_a_parser_one_after_the_other(trained, fine, refused):
    trained()
    fine("train", "tagger", "train.conllu", "--target", "upos", "-m", "tagger")
    words = "".join("".join(f"{word}\n" for word, _ in sentence) + "\n" for sentence in NEW)
    Path("words.txt").write_text(words)
    chain = ["predict", "--model", "tagger", "--model", "model"]
    assert fine(*chain, "words.txt")[0].decode() == conllu(NEW, NEW_Y)
    assert fine(*chain, "-", stdin=words.encode())[0].decode() == conllu(NEW, NEW_Y)
    assert fine(*chain, "-", stdin=conllu(NEW).encode())[0].decode() == conllu(NEW, NEW_Y)
    _, err = fine("predict", "model", "words.txt")
    assert "note: words.txt has no tags (UPOS)" in err
    Path("columns.txt").write_text("a X\nb Y\n")
    fine("train", "tagger", "columns.txt", "-m", "columns")
    line = refused("predict", "--model", "columns", "--model", "model", "words.txt")
    assert line.startswith("columns: a tagger before a parser must be one of CoNLL-U")
    assert refused("predict", "--model", "model", "a", "b").startswith("2 inputs: give one")
    assert refused("predict", "model").startswith("INPUT is missing: swvp predict MODEL INPUT")


def test_other_encodings(trained, fine, refused):
    text = row(1, "año", 0, "raíz").encode("latin-1")
    Path("latin").write_bytes(text)
    options = ["-m", "model", "--hashed", "1024"]
    fine("train", "parser", "latin", *options, "--encoding", "latin-1")
    assert fine("predict", "model", "latin", "--encoding", "latin-1")[0] == text
    assert refused("train", "parser", "latin", *options) == (
        "latin:1: byte 0xf1 is not utf-8; name the encoding (iso-8859-1?)"
    )
    assert refused("predict", "model", "latin").startswith("latin:1: byte 0xf1 is not utf-8")


# ---------------------------------------------------------------- training output


def test_trees_that_cannot_be_reached_are_counted(fine):
    crossing = row(1, "a", 3) + row(2, "b", 4) + row(3, "c", 0) + row(4, "d", 3) + "\n"
    roots = row(1, "a", 0) + row(2, "b", 0) + "\n"
    Path("train.conllu").write_text(crossing + roots + GOOD)
    _, err = fine(*TRAIN, "--projective")
    assert "training: 42 sentences" in err
    assert "note: 1 training tree with crossing arcs; predicted trees have none\n" in err
    assert "note: 1 training tree with several roots; predicted trees have one" in err
    _, err = fine(*TRAIN, "--several-roots", "--no-prune")
    assert "note: 1 training tree with crossing arcs; predicted trees have none (--non-projective allows them)\n" in err
    assert DependencyParser.load("model").projective_
    _, err = fine(*TRAIN, "--several-roots", "--no-prune", "--non-projective")
    assert "note" not in err
    assert not DependencyParser.load("model").projective_
    assert "pruning" not in err
    assert DependencyParser.load("model").one_root is False


def test_labels_are_a_stage_of_their_own_unless_there_are_none(fine):
    Path("train.conllu").write_text(GOOD)
    _, err = fine(*TRAIN)
    assert err.splitlines().index("trees") < err.splitlines().index("labels")
    _, err = fine(*TRAIN, "--no-labels")
    assert "labels" not in err
    assert DependencyParser.load("model").labeller_ is None
    X, y = toy(0, 5)
    Path("train.conllu").write_text(conllu(X, [[(head, "_") for head, _ in tree] for tree in y]))
    _, err = fine(*TRAIN)
    assert "labels" not in err
    found = fine("predict", "model", "train.conllu")[0].decode()
    assert {line.split("\t")[7] for line in found.splitlines() if line} == {"_"}


def test_the_log_has_a_line_for_each_epoch_of_both_stages(fine):
    Path("train.conllu").write_text(conllu(*toy(2, 15, wrong=0.4)))
    Path("dev.conllu").write_text(conllu(*toy(3, 15, wrong=0.4)).replace("\tpunct\t", "\tpoint\t"))
    _, err = fine(*TRAIN, "--dev", "dev.conllu", "--log", "log")
    assert "dev tokens have labels unseen in training (point): counted as wrong" in err
    assert "dev UAS" in err
    assert "wrong tokens  dev label accuracy" in err
    log = [json.loads(line) for line in Path("log").read_text().splitlines()]
    model = DependencyParser.load("model")
    assert [line["dev_score"] for line in log if line["stage"] == "trees"] == model.dev_scores_
    assert [line["dev_score"] for line in log if line["stage"] == "labels"] == model.label_dev_scores_
    assert sorted(os.listdir()) == ["dev.conllu", "log", "model", "train.conllu"]


def test_tuning_chooses_a_rule(fine, refused):
    Path("train.conllu").write_text(conllu(*toy(2, 15, wrong=0.3)))
    Path("dev.conllu").write_text(conllu(*toy(3, 15, wrong=0.3)))
    tune = ["--dev", "dev.conllu", "--tune", "--jobs", "1"]
    _, err = fine(*TRAIN, *tune, "--rules", "csp,a-wm", "--betas", "0.5,1", "--log", "log")
    assert "tuning: 3 trainings of 3 epochs, 1 at a time" in err
    model = DependencyParser.load("model")
    assert model.rule in ("csp", "a-wm")
    assert model.labeller_ is not None
    trees = [json.loads(line) for line in Path("log").read_text().splitlines()]
    assert {(line["rule"], line["beta"]) for line in trees if line["stage"] == "trees"} == {
        ("csp", 1.0),
        ("a-wm", 0.5),
        ("a-wm", 1.0),
    }
    assert refused(*TRAIN, "--tune") == "--tune needs --dev, to choose the best rule"


# ---------------------------------------------------------------- resuming


@pytest.mark.parametrize("after", [("trees", 1), ("trees", 3), ("labels", 2)], ids=str)
def test_a_stopped_training_resumes_to_the_same_bytes(command, fine, monkeypatch, after):
    Path("train.conllu").write_text(conllu(*toy(2, 15, wrong=0.4)))
    fine(*TRAIN, "--dev", "train.conllu", "--log", "log")
    expected = Path("model").read_bytes()
    os.unlink("model")
    write = TrainingLog.on_epoch

    def interrupt(log, stage, progress):
        write(log, stage, progress)
        if (stage, progress.epoch.epoch) == after:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingLog, "on_epoch", interrupt)
        code, _, err = command(*TRAIN, "--dev", "train.conllu", "--log", "log")
    assert code == 130
    assert "run the same command again to resume" in err
    assert not Path("model").exists()
    assert Path(f"model.{after[0]}.checkpoint").exists()
    _, err = fine(*TRAIN, "--dev", "train.conllu", "--log", "log")
    assert f"resuming after epoch {after[1]}, from model.{after[0]}.checkpoint" in err
    assert Path("model").read_bytes() == expected
    assert sorted(os.listdir()) == ["log", "model", "train.conllu"]


def test_a_checkpoint_of_other_data_is_refused(command, fine, refused, monkeypatch):
    Path("train.conllu").write_text(conllu(*toy(2, 15, wrong=0.4)))

    def stop(path, training, stamped):
        save(path, training, stamped)
        raise SystemExit(137)

    save = session.save_checkpoint
    with monkeypatch.context() as patch:
        patch.setattr(session, "save_checkpoint", stop)
        assert command(*TRAIN, "--checkpoint", "0")[0] == 137
    assert "other margin" in refused(*TRAIN, "--margin", "3")
    Path("train.conllu").write_text(GOOD)
    assert "other data" in refused(*TRAIN)
    fine(*TRAIN, "--fresh")
    assert sorted(os.listdir()) == ["model", "train.conllu"]


# ---------------------------------------------------------------- bad input


BAD = [
    (row(1, "a", 2) + row(2, "b", 1), "train.conllu:1: a cycle of heads, word by word: 1 -> 2 -> 1;"),
    (row(1, "a", 1), "train.conllu:1: word 1 is its own head"),
    (row(1, "a", 0) + row(2, "b", 3), "train.conllu:2: the head is 3, but the sentence has 2 words"),
    (row(1, "a", "x"), "train.conllu:1: the head 'x' is not a number;"),
    (row(1, "a", "-1"), "train.conllu:1: the head '-1' is not a number;"),
    (row(1, "a", "1.5"), "train.conllu:1: the head '1.5' is not a number;"),
    (row("x", "a", 0), "train.conllu:1: the first column of CoNLL-U is the token's number (1, 2-3 or 4.1), not this"),
    (row(2, "a", 0), "train.conllu:1: the ID is 2, not 1;"),
    (row(1, "a", 0) + row(1, "b", 0), "train.conllu:2: the ID is 1, not 2; is an empty line missing before it?"),
    (row(1, "a", "_", "_"), "train.conllu: a treebank without heads (_ everywhere)"),
    (row(1, "a", 0) + row(2, "b", "_"), "train.conllu:2: no head (_);"),
    (row(1, "a", 0)[:-3] + "\n", "train.conllu:1: 9 columns"),
    (row(1, "a", 0)[:-1] + "\tx\n", "train.conllu:1: 11 columns"),
    ("1 a 0 root\n", "train.conllu:1: 1 column"),
    ("1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + row(1, "a", 0), "train.conllu:1: the range 1-2 needs the words 1 to 2"),
    ("1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n", "train.conllu: no token in it"),
    (row(1, "a", 0, ""), "train.conllu:1: the label (DEPREL) '' is empty or has an end of line in it"),
    ("", "train.conllu: no token in it"),
    ("# only\n\n# comments\n", "train.conllu: no token in it"),
    (row(1, "\udcf1", 0), "train.conllu:1: byte 0xf1 is not utf-8;"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message[:45] for _, message in BAD])
def test_bad_treebanks_are_one_line_and_nothing_is_written(refused, text, message):
    Path("train.conllu").write_bytes(text.encode(errors="surrogateescape"))
    assert refused(*TRAIN).startswith(message)
    assert sorted(os.listdir()) == ["train.conllu"]
    Path("good.conllu").write_text(GOOD)
    dev = ["train", "parser", "good.conllu", "--dev", "train.conllu", "-m", "model"]
    assert refused(*dev).startswith(message)
    assert sorted(os.listdir()) == ["good.conllu", "train.conllu"]


def test_what_cannot_be_parsed_is_one_line_and_nothing_is_written(trained, refused):
    trained()
    for text, message in BAD:
        if any(what in message for what in ("ID is", "column", "range", "token", "byte")):
            Path("in.conllu").write_bytes(text.encode(errors="surrogateescape"))
            line = refused("predict", "model", "in.conllu", "-o", "out.conllu")
            assert line.startswith(message.replace("train.conllu", "in.conllu")[:20]), text
            assert not Path("out.conllu").exists()
    assert refused("predict", "model", "nowhere") == "cannot read nowhere: No such file or directory"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--features", "turbos"],
            "features 'turbos': neither a preset (first-order, turbo, light) nor a file of templates",
        ),
        (["--features", "templates"], "unknown column in templates line 2: 'poss' (did you mean 'pos'?)"),
        (["--rule", "a-wn"], "unknown gamma 'wn'"),
        (["--hashed", "1000"], "--hashed must be a power of 2"),
        (["--margin", "-1"], "--margin must be a number of at least 0"),
        (["--batch", "0"], "--batch must be a whole number from 1 to 1024, not 0"),
        (["--batch", "8", "--rule", "mira:3"], "rule 'mira:3' cannot learn from batches"),
        (["--epochs", "0"], "--epochs must be a whole number of at least 1"),
        (["--order", "3"], "--order must be 1 (arcs) or 2 (arcs, siblings and grandparents), not 3"),
        (["--patience", "2"], "--patience needs --dev"),
        (["--dev", "nowhere"], "cannot read nowhere"),
        (["-m", "no/model"], "cannot write no/model: there is no folder no"),
        (["-m", "train.conllu"], "--model and TRAIN are the same file"),
    ],
)
def test_bad_options_are_one_line_and_leave_no_file(refused, options, message):
    Path("train.conllu").write_text(GOOD)
    Path("templates").write_text("h.pos\nm.poss\n")
    assert refused(*TRAIN, *options).startswith(message)
    assert sorted(os.listdir()) == ["templates", "train.conllu"]


def test_templates_come_from_a_file(trained, fine):
    Path("templates").write_text("# ours\nh.pos & m.pos\n\nh.pos & m.pos & distance\n")
    model = trained(GOOD, "--features", "templates")
    assert [t.text for t in DependencyParser.load(model).templates_] == ["h.pos & m.pos", "h.pos & m.pos & distance"]


# ---------------------------------------------------------------- inspect


def test_inspect_tells_what_a_parser_is(trained, fine):
    Path("dev.conllu").write_text(conllu(NEW, NEW_Y))
    trained(GOOD, "--dev", "dev.conllu")
    out, err = fine("inspect", "model")
    facts = dict(line.split(maxsplit=1) for line in out.decode().splitlines())
    assert err == ""
    assert facts["trees"] == "projective, first order (arcs), one root"
    assert facts["weights"].startswith("16,384, features share weights by hashing, non-zero: ")
    assert facts["rule"] == "a-uniform:mira, margin 1"
    assert facts["labels"] == "6: amod, det, nsubj, obj, punct, root"
    assert facts["tags"].startswith("6: ") or facts["tags"].startswith("5: ")
    assert facts["templates"].startswith(f"{len(PRESETS['first-order'])}: bias; ")
    assert "pairs of tags" in facts["pruning"]
    assert facts["temperature"] == "1"
    trained(GOOD, "--no-labels", "--no-prune", "--non-projective")
    facts = dict(line.split(maxsplit=1) for line in fine("inspect", "model")[0].decode().splitlines())
    assert (facts["labels"], facts["pruning"]) == ("not learnt", "none")
    assert facts["trees"] == "of any kind, first order (arcs), one root"


def test_batches_give_the_same_file_for_any_number_of_threads(trained, fine):
    files = []
    for jobs in "123":
        trained(GOOD, "--batch", "3", "--jobs", jobs)
        files.append(Path("model").read_bytes())
    assert files[0] == files[1] == files[2]
    facts = dict(line.split(maxsplit=1) for line in fine("inspect", "model")[0].decode().splitlines())
    assert facts["batches"] == "3 sentences"


def test_inspect_explains_a_sentence(trained, fine, refused):
    model = trained(conllu(*toy(2, 15, wrong=0.3)))
    Path("test.conllu").write_text(conllu(NEW))
    out, err = fine("inspect", model, "--explain", "test.conllu", "--top", "4")
    assert err == ""
    parser = DependencyParser.load(model)
    text = out.decode()
    for *_, name, weight in parser.explain(NEW[0]).rows:
        assert name in text
        assert f"{weight:+.3f}" in text
    for name, weight in parser.top_features(NEW[:1], 4).rows:
        assert name in text
        assert f"{weight:+.3f}" in text
    assert fine("inspect", model, "--explain", "-", "--top", "4", stdin=conllu(NEW).encode())[0] == out
    _, err = fine("inspect", model, "--sentence", "the dog sees")
    assert err.startswith("note: words without tags (UPOS), but the parser was trained with tags")
    assert refused("inspect", model, "--label", "det") == "model is a parser; --label is for taggers"
    assert refused("inspect", model, "--top", "3").startswith("model: the features of a parser are hashed")
    assert refused("inspect", model, "--sentence", " ") == "--sentence: no word in it"
    assert refused("inspect", model, "--sentence", "a", "--explain", "b").startswith("--sentence and --explain exclude")
    assert refused("inspect", model, "--explain", "nowhere") == "cannot read nowhere: No such file or directory"
    plain = "".join(row(k, word, 2 * (k == 1), "x") for k, word in enumerate("ab", 1))
    trained(plain)
    assert fine("inspect", "model", "--sentence", "a b")[1] == ""


def test_notes_report_dev_scores_missing_columns_and_plain_text(fine, refused):
    rich = "".join(
        f"{k}\t{word}\t_\t{tag}\t_\tCase=Nom\t{head}\t{label}\t_\t_\n"
        for k, word, tag, head, label in (
            (1, "dogs", "NOUN", 2, "nsubj"),
            (2, "bark", "VERB", 0, "root"),
        )
    )
    Path("train.conllu").write_text(rich)
    err = fine("train", "parser", "train.conllu", "--dev", "train.conllu", "-m", "model", "--hashed", str(2**10))[1]
    assert "dev: UAS 100.00, LAS 100.00, punctuation included" in err
    assert "wrong families" in err
    assert fine("predict", "model", "train.conllu")[1] == ""
    Path("poor.conllu").write_text(rich.replace("Case=Nom", "_"))
    assert (
        "poor.conllu has no FEATS, but the parser was trained with them" in fine("predict", "model", "poor.conllu")[1]
    )
    Path("plain.txt").write_text("Dogs bark .\n")
    assert refused("predict", "model", "plain.txt") == (
        "plain.txt: neither CoNLL-U, which has tabs, nor one word per line: 'Dogs bark .'"
    )
