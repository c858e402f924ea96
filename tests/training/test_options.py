"""Options are looked at before any file is, and all that is missing is named at once."""

from pathlib import Path

import pytest

from helpers.texts import COLUMNS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["tagger", "--order", "3"], "--order must be 1 or 2, not 3"),
        (["tagger", "--hashed", "0"], "--hashed must be a whole number of at least 1, not 0"),
        (["tagger", "--hashed", "9", "--min-count", "2"], "hashed attributes are not counted: leave out --min-count"),
        (["tagger", "--epochs", "0"], "--epochs must be a whole number of at least 1, not 0"),
        (["tagger", "--beam", "-1"], "--beam must be 0 (exact search) or more, not -1"),
        (["tagger", "--fix", "late"], "unknown fix 'late' (did you mean 'latest'?); known:"),
        (["tagger", "--constraint", "bieos"], "unknown constraint 'bieos' (did you mean 'bioes'?)"),
        (["tagger", "--rule", "crf", "--l2", "-1"], "--l2 must be a number of at least 0, not -1.0"),
        (["tagger", "--rule", "crf", "--order", "2"], "rule 'crf' is for order 1 and exact search"),
        (["tagger", "--rule", "mira", "--C", "0"], "--C must be a number > 0, not 0.0"),
        (["tagger", "--checkpoint", "-1"], "--checkpoint must be a number of seconds of at least 0, not -1.0"),
        (["tagger", "--encoding", "klingon"], "unknown encoding 'klingon'"),
        (["tagger", "--columns", "word,word"], "the column 'word' is named twice"),
        (["tagger", "--tune", "--dev", "nowhere", "--rules", "a-wn"], "unknown gamma 'wn' (did you mean 'wm'?)"),
        (["tagger", "--conllu", "--target", "head"], "unknown target 'head'"),
        (["parser", "--order", "3"], "--order must be 1 (arcs) or 2 (arcs, siblings and grandparents), not 3"),
        (["parser", "--hashed", "3"], "--hashed must be a power of 2, such as 2**22, not 3"),
        (["parser", "--margin", "-1"], "--margin must be a number of at least 0, not -1.0"),
        (["parser", "--prune-heads", "0"], "--prune-heads must be a whole number from 1 to 1000, not 0"),
        (["parser", "--prune-threshold", "2"], "--prune-threshold must be a number from 0 to 1, not 2.0"),
        (["parser", "--rule", "nothing"], "unknown rule 'nothing'"),
        (["parser", "--features", "nothing"], "features 'nothing': neither a preset"),
    ],
)
def test_bad_options_are_refused_before_any_file_is_read(refused, monkeypatch, options, message):
    def read(path, **_):
        raise AssertionError(f"{path} is read")

    for module in ("tagging.train.read_table", "parsing.train.read_treebank"):
        monkeypatch.setattr(f"swvp.{module}", read)
    Path("train.txt").write_text(COLUMNS)
    assert refused("train", options[0], "train.txt", "-m", "model", *options[1:]).startswith(message)


def test_all_that_a_command_lacks_is_named_at_once(command):
    code, _, err = command("train", "tagger")
    assert code == 2
    assert "Missing argument 'TRAIN...' and option '--model' / '-m'." in err
    code, _, err = command("train", "parser", "train.conllu")
    assert code == 2
    assert "Missing option '--model' / '-m'." in err


def test_all_that_options_need_is_named_at_once(refused):
    line = refused("train", "tagger", "train.conllu", "-m", "model", "--tune", "--patience", "2")
    assert line == (
        "train.conllu: which column is the label? Use --target upos|xpos|feats|deprel; "
        "--tune needs --dev, to choose the best rule; "
        "--patience needs --dev: a dev set to score each epoch on"
    )


def test_a_missing_dev_file_is_told_before_the_training_file_is_read(refused, monkeypatch):
    monkeypatch.setattr("swvp.tagging.train.read_table", lambda *_, **__: pytest.fail("a file is read"))
    Path("train.txt").write_text(COLUMNS)
    line = refused("train", "tagger", "train.txt", "-m", "model", "--dev", "nowhere")
    assert line == "cannot read nowhere: No such file or directory"
