"""The report and the tables of the parsing study, and its command."""

import dataclasses
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console
from typer.testing import CliRunner

from helpers.pages import Page
from helpers.parsing_results import run, study, two_banks
from helpers.trees import conllu, toy
from swvp.cli import app
from swvp.studies.parsing import page as html
from swvp.studies.parsing.page import CHOICES
from swvp.studies.parsing.settings import ParsingSettings
from swvp.studies.parsing.study import ParsingResults
from swvp.studies.parsing.summary import PAPER, summarise_parsing
from swvp.studies.parsing.terminal import print_tables
from swvp.studies.parsing.treebanks import find_treebanks


@pytest.fixture
def undrawn(monkeypatch):
    """Pages without figures, which take most of the time."""
    monkeypatch.setattr(html, "figures", lambda results, summaries: [])


def page_of(results):
    return html.render_parsing(results, summarise_parsing(results, samples=50))


def text_of(results, width=80):
    file = io.StringIO()
    print_tables(Console(width=width, markup=False, highlight=False, file=file), summarise_parsing(results, samples=50))
    return file.getvalue()


@pytest.fixture
def bank(tmp_path):
    """A small treebank in the folder where commands are run."""
    (tmp_path / "bank").mkdir()
    for seed, part in enumerate(("train", "dev", "test")):
        (tmp_path / "bank" / f"x-ud-{part}.conllu").write_text(conllu(*toy(seed, 20, wrong=0.3)))
    return "bank"


SMALL = ("experiment", "parsing", "--orders", "1", "--epochs", "1", "--betas", "1", "--rules", "csp,b-wm", "-o", "out")


def both_orders():
    extra = [run("csp-orders", None, 801, 795 + k, treebank=bank, draw=k) for bank in "xy" for k in (0, 1)]
    runs = [*two_banks(), *extra]
    return study(
        [*runs, *(dataclasses.replace(found, order=2, certified=0.9) for found in runs)], orders=(1, 2), control=True
    )


def with_seeds(results):
    """The same results with two seeds."""
    runs = [dataclasses.replace(found, seed=seed) for found in results.runs for seed in (0, 1)]
    return dataclasses.replace(results, settings=dataclasses.replace(results.settings, seeds=2), runs=runs)


def test_the_first_three_lines_answer_the_question(undrawn):
    lines = text_of(both_orders(), width=1000).splitlines()
    assert [line.partition("?")[0] for line in lines[:2]] == [
        "Do sub-structures and γ pay, beyond step and margin",
        "Where",
    ]
    assert "First order: significantly above on x +10.50 (b-wm@0.5 against csp-orders);" in lines[1]
    assert lines[2].startswith("Step and margin alone")
    rows = Page(page_of(both_orders())).rows
    assert rows[1:3] == [["First order"], ["x", "b-wm@0.5", "csp-orders", *rows[2][3:]]]


def test_all_comparisons_of_an_order_are_one_table(undrawn):
    assert page_of(both_orders()).count('scope="rowgroup"') == 2 + 2 * 4  # of the answer and of the tests


def test_a_page_with_seeds_tells_their_spread(undrawn):
    rows = Page(page_of(with_seeds(both_orders()))).rows
    assert (
        rows.count(["x", "80.00 ±0.00", "90.00 ±0.00", "90.00 ±0.00", "90.00 ±0.00", "90.00 ±0.00", "79.50 ±0.00"]) == 2
    )


def test_the_page_has_every_number_of_the_table(undrawn):
    rows = Page(page_of(both_orders())).rows
    assert rows.count(["x", "80.00", "90.00", "90.00", "90.00", "90.00", "79.50"]) == 2
    assert rows.count(["y", "80.00", "79.00", "79.00", "79.00", "79.00", "79.50"]) == 2
    assert rows.count(["Average", "80.00", "84.50", "84.50", "84.50", "84.50", "79.50"]) == 2
    assert rows.count(["Won–lost against CSP", "–", "1–1", "1–1", "1–1", "1–1", "0–2"]) == 2


def test_the_page_has_the_paper_s_table(undrawn):
    rows = Page(page_of(both_orders())).rows
    for language in PAPER[1]:
        assert [language, *(f"{value:.2f}" for order in (1, 2) for value in PAPER[order][language])] in rows


def test_test_b_wm_is_never_bold(undrawn):
    page = page_of(study([run("csp", None, 800, 800), run("b-wm", 0.5, 801, 790), run("b-wm", 1.0, 790, 850)]))
    assert "<td><b>80.00</b></td><td>79.00</td><td>79.00</td><td>85.00</td>" in page


def test_gains_and_losses_of_all_rules_are_shown_with_their_beta(undrawn):
    rows = Page(page_of(both_orders())).rows
    assert ["b-wm", "+10.00 β 0.5", "−1.00 β 0.5"] in rows
    assert ["csp", "80.00", "80.00"] in rows
    means = [row[:4] for row in rows]
    assert ["b-wm", "84.50", "+4.50", "1–1"] in means
    assert ["csp", "80.00", "–", "–"] in means


def test_certified_trees_and_what_pruning_leaves_are_told(undrawn):
    rows = Page(page_of(both_orders())).rows
    assert sum("90.0 %" in row for row in rows) == sum("100.0 %" in row for row in rows) > 0
    text = " ".join(text_of(both_orders()).split())
    for share in ("100.0", "90.0"):
        assert f"pruning leaves 99.00 % of the test arcs, 4.0 heads per word; {share} % of the trees" in text


def test_every_choice_and_every_setting_is_listed(undrawn):
    results = both_orders()
    rows = Page(page_of(results)).rows
    for choice in CHOICES:
        assert list(choice) in rows
    assert {row[0] for row in rows} >= set(results.header)


@pytest.mark.slow
@pytest.mark.parametrize(
    "results",
    [
        pytest.param(study([run("csp", None, 800, 800)]), id="only csp"),
        pytest.param(study([run("csp", None, 800, 800), run("csp/30", None, 801, 810)]), id="no beta"),
        pytest.param(both_orders(), id="both orders"),
        pytest.param(with_seeds(both_orders()), id="seeds"),
        pytest.param(
            study([run("csp", None, None, 800), run("b-wm", 0.5, 1, 1), run("csp-rest", None, 7, 790)], sampled=True),
            id="sampled",
        ),
    ],
)
def test_unusual_studies_have_a_whole_page_and_tables_of_80_columns(results):
    page = page_of(results)
    assert Page(page).open == []
    bare = re.sub(r"base64,[^\"]+", "", page)
    assert "nan" not in bare
    assert not re.search(r"<script|<link|url\(", bare)
    text = text_of(results)
    assert max(map(len, text.splitlines())) <= 80
    assert "nan" not in text


def test_the_same_results_give_the_same_page():
    assert page_of(study(two_banks()[:2])) == page_of(study(two_banks()[:2]))


def test_markup_in_names_is_text(undrawn):
    runs = [dataclasses.replace(found, treebank='<img src="x">') for found in two_banks()[:2]]
    assert '<img src="x">' not in page_of(study(runs))
    assert '<img src="x">' in text_of(study(runs))


def test_gains_are_drawn_with_their_intervals():
    (summary,) = summarise_parsing(study(two_banks()), samples=500)
    axes = html.gains(summary).axes[0]
    found = summary.treebanks[0].compared["b_wm", "csp"]
    drawn = [tuple(line.get_xdata()) for line in axes.lines]
    assert pytest.approx(tuple(100 * end for end in found.interval)) in drawn
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "y", "all"]


def test_groups_without_words_are_not_drawn():
    (summary,) = summarise_parsing(study(two_banks()), samples=10)
    top, bottom = html.by_length(summary, summary.treebanks[0], "by_arc_length").axes
    assert [label.get_text() for label in bottom.get_xticklabels()] == ["1\n50 %", "2\n50 %"]
    assert list(bottom.lines[0].get_ydata()) == pytest.approx([10, 10])
    assert list(top.lines[0].get_ydata()) == pytest.approx([80, 80])


def test_the_command_writes_its_files_and_prints_the_table(fine, bank, tmp_path):
    out, err = fine(*SMALL, bank)
    assert "3 trainings of 1 epochs, into out" in err
    assert "First order" in out.decode()
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert [found["rule"] for found in results["runs"]] == ["csp", "b-wm", "csp-orders"]
    assert (tmp_path / "out" / "report.html").read_text().startswith("<!doctype html>")
    before = (tmp_path / "out" / "results.json").read_bytes()
    _, err = fine(*SMALL, bank)
    assert "all 3 trainings are in out already: nothing to run" in err
    assert (tmp_path / "out" / "results.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "cannot read nowhere: No such file or directory"),
        (["bank", "--orders", "3"], "--orders must be 1, 2 or both"),
        (["bank", "--rules", "b-wm@"], "what is after @ must be a number"),
        (["bank", "--jobs", "0"], "--jobs must be at least 1, not 0"),
        (["bank", "--load", "nowhere.py"], "cannot load nowhere.py"),
        (["bank/x-ud-train.conllu,bank/x-ud-test.conllu,bank"], "cannot read bank: Is a directory"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(refused, bank, arguments, message):
    assert message in refused(*SMALL, *arguments)
    assert not os.path.exists("out")


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--sample-dev", "--projective", "--no-control", "--seed", "7"],
        ["--quick", "--rules", "a-wm@0.25/3,csp"],
        ["--paper"],
    ],
)
def test_the_command_on_the_page_gives_the_same_settings(options, bank, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "bank")
    received = []
    monkeypatch.setattr("swvp.cli.experiment.run_study", lambda settings, folder, *_: received.append(settings))
    assert CliRunner().invoke(app, ["experiment", "parsing", ".", *options]).exit_code == 0
    words = shlex.split(html.command_of(ParsingResults(received[0], [], [], received[0].to_json())))
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    assert received[0].to_json() == received[1].to_json()


def test_quick_is_small(bank, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    received = []
    monkeypatch.setattr(
        "swvp.cli.experiment.run_study", lambda settings, folder, *_: received.append((settings, folder))
    )
    assert CliRunner().invoke(app, ["experiment", "parsing", "bank", "--quick", "--epochs", "2"]).exit_code == 0
    settings, folder = received[0]
    assert settings == ParsingSettings(treebanks=find_treebanks(["bank"]), sentences=300, epochs=2, betas=(0.5, 2.0))
    assert str(folder) == "swvp-parsing-quick"


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished(bank, tmp_path):
    command = [sys.executable, "-m", "swvp", "experiment", "parsing", "bank", "--orders", "1", "--epochs", "60"]
    command += ["--rules", "csp,b-wm", "--betas", "0.1:20:0.1", "-o", "out"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # may be ignored in the background
    )
    journal = tmp_path / "out" / "runs.jsonl"
    deadline = time.monotonic() + 120
    while not (journal.exists() and journal.read_text().count("\n") > 3) and time.monotonic() < deadline:
        time.sleep(0.05)
    try:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert re.search(r"stopped: \d+ of 401 trainings are saved in out; the same command resumes", err)
    assert "Traceback" not in err
    assert 3 <= journal.read_text().count("\n") - 1 < 401
