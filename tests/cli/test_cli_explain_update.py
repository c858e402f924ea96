"""`swvp explain-update` prints one update as tables, for column files and treebanks."""

import json
from pathlib import Path

from rich.console import Console

from swvp.cli.explain_update import print_update
from swvp.parsing.parser import Parser

DATA = Path(__file__).parents[2] / "docs" / "data"
NAMES, TREES = DATA / "names-train.txt", DATA / "toy-train.conllu"


def test_the_first_update_that_weighs_several_positions_is_shown(fine):
    out, _ = fine("explain-update", NAMES)
    text = out.decode()
    assert "Mistake 2 of the training: epoch 1, sentence 2, rule a-wm" in text
    assert "{2}  yes        -23.000  0.354   0.354" in text
    assert "condition (2)  Σγ·margin = -21.708, holds" in text
    assert "O then O" in text


def test_sentence_and_epoch_choose_an_update(fine):
    out, _ = fine("explain-update", TREES, "--rule", "csp", "--sentence", 8, "--epoch", 1, "--json", "-")
    update = json.loads(out)
    assert (update["structure"], update["example"], update["epoch"], update["rule"]) == ("heads", 7, 1, "csp")


def test_tables_fit_into_60_columns(capsys):
    update = next(Parser(rule="csp", margin=0, labels=False, random_state=0).trace(TREES))
    print_update(Console(width=60, force_terminal=True, color_system=None), update)
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_what_has_no_update_is_one_line(refused):
    assert refused("explain-update", NAMES, "--sentence", 999) == f"--sentence 999: {NAMES} has 36 sentences"
    assert refused("explain-update", NAMES, "--rule", "softmax").startswith("rule 'softmax' cannot be traced: ")
