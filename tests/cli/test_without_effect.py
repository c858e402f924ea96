"""Options that change nothing are named in a note."""

from pathlib import Path

import pytest

from helpers.texts import COLUMNS, CONLLU

TAGGER = ["train", "tagger", "train.txt", "-m", "model", "--epochs", "1"]
PARSER = ["train", "parser", "train.conllu", "-m", "model", "--epochs", "1"]


def notes(err):
    return [line.removeprefix("note: ") for line in err.splitlines() if "without effect" in line]


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (["--rule", "csp", "--beta", "2", "--C", "2"], "--beta (rule csp has no β), --C (for the steps mira and ada)"),
        (["--rule", "crf", "--C", "2"], "--C (for the steps mira and ada)"),
        (["--rule", "a-wm", "--l2", "2", "--fix", "early"], "--l2 (for rule crf), --fix (for --beam)"),
        (["--rule", "csp", "--cost", "B-NP=2"], "--cost (the margin is 0: give --margin)"),
        (["--no-average", "--average-power", "2"], "--average-power (--no-average)"),
        (["--jobs", "2"], "--jobs (for --tune, --shards)"),
        (
            ["--tune", "--dev", "train.txt", "--rules", "csp", "--rule", "a-wm", "--beta", "2"],
            "--rule (--tune tries --rules), --beta (--tune tries --betas)",
        ),
    ],
)
def test_options_of_taggers_without_effect(fine, options, note):
    Path("train.txt").write_text(COLUMNS)
    assert notes(fine(*TAGGER, *options)[1]) == [f"without effect: {note}"]


@pytest.mark.parametrize(
    ("options", "note"),
    [
        (["--exact", "--hashed", "1024"], "--hashed (--exact)"),
        (["--prune-heads", "4"], "--prune-heads (for --order 2)"),
        (["--no-prune", "--order", "2", "--prune-threshold", "0.1"], "--prune-threshold (--no-prune)"),
        (["--jobs", "2"], "--jobs (for --tune, --shards and --batch)"),
    ],
)
def test_options_of_parsers_without_effect(fine, options, note):
    Path("train.conllu").write_text(CONLLU)
    assert notes(fine(*PARSER, *options)[1]) == [f"without effect: {note}"]


@pytest.mark.parametrize("options", [["--C", "0.1"], ["--rule", "a-wm", "--beta", "2"], ["--cost", "B-NP=2"], []])
def test_options_with_an_effect_are_not_named(fine, options):
    Path("train.txt").write_text(COLUMNS)
    assert notes(fine(*TAGGER, *options)[1]) == []
