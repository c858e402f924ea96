"""The command line as a user runs it."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from swvp import __version__
from swvp.cli import main
from swvp.cli.options import floats, integers

TINY = [
    "experiment",
    "synthetic",
    "--setups",
    "1",
    "--datasets",
    "2",
    "--sizes",
    "30,10,10",
    "--epochs",
    "2",
    "--no-control",
]


@pytest.fixture
def swvp(monkeypatch, capsys, tmp_path):
    """Run the command line in an empty folder: (exit code, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["swvp", *arguments])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run


def test_version_is_told(swvp):
    assert swvp("--version") == (0, f"swvp {__version__}\n", "")


def test_help_shows_the_commands_and_examples(swvp):
    assert "experiment" in swvp("--help")[1]
    code, out, _ = swvp("experiment", "synthetic", "--help")
    assert code == 0
    assert "--betas" in out
    assert "Examples:" in out


COMMANDS = [
    ["train", "tagger"],
    ["train", "parser"],
    ["train", "pipeline"],
    ["predict"],
    ["evaluate"],
    ["inspect"],
    ["explain-update"],
    ["experiment", "synthetic"],
    ["experiment", "parsing"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_help_fits_into_60_columns_and_has_examples(swvp, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("TERMINAL_WIDTH", "60")
    code, out, err = swvp(*command, "--help")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 60
    assert not re.search(r"\w…", out)  # no name and no value is cut
    assert not re.search(r"<(bool|str|int|path|list)", out)  # values have names, not types of Python
    assert f"swvp {' '.join(command)}" in out.split("Examples:")[1]


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], *([*command, "--help"] for command in COMMANDS)])
def test_help_and_version_import_nothing_heavy(arguments):
    program = (
        "import sys; sys.argv = ['swvp', *sys.argv[1:]]; from swvp.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'numba', 'scipy', 'sklearn', 'matplotlib', 'jinja2'} & set(sys.modules)\n"
        "print(*heavy, file=sys.stderr, end='')"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "swvp" in done.stdout


def test_the_study_ends_with_a_table_and_says_where_the_report_lies(swvp, tmp_path):
    code, out, _ = swvp(*TINY, "--betas", "1,2", "--rules", "csp,b-wm,a-wm:segments:sqrt")
    assert code == 0
    assert "Setup 1: simple(++), learnable(+++); best possible (Bayes)" in out
    for rule in ("csp", "b-wm", "a-wm:segments:sqrt"):
        assert re.search(rf"^ ?{re.escape(rule)} +\d\d\.\d\d ±\d", out, re.MULTILINE)
    assert "75.47 ±3.0" in out  # the paper's B-WM
    assert "Report: swvp-synthetic/report.html" in out
    assert (tmp_path / "swvp-synthetic" / "report.html").read_text().startswith("<!doctype html>")
    results = json.loads((tmp_path / "swvp-synthetic" / "results.json").read_text())
    assert len(results["runs"]) == 2 * (1 + 2 + 2)


def test_the_same_command_again_trains_nothing_and_shows_the_same(swvp, tmp_path):
    first = swvp(*TINY, "--rules", "csp", "-o", "out")
    files = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert swvp(*TINY, "--rules", "csp", "-o", "out")[1] == first[1]
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == files


def test_quick_changes_only_what_is_not_given(swvp, tmp_path):
    assert swvp(*TINY, "--quick", "--rules", "a-wm")[0] == 0
    settings = json.loads((tmp_path / "swvp-synthetic-quick" / "results.json").read_text())["settings"]
    assert (settings["epochs"], settings["sizes"], settings["betas"]) == (2, [30, 10, 10], [0.5, 1.0, 2.0, 4.0])


def test_a_gamma_of_ones_own_is_a_rule(swvp, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import swvp\nswvp.register_gamma('constant', lambda margins, beta: margins * 0 + 1)\n"
    )
    assert swvp(*TINY, "--load", "mine.py", "--rules", "a-constant,a-uniform", "--betas", "1")[0] == 0
    runs = json.loads((tmp_path / "swvp-synthetic" / "results.json").read_text())["runs"]
    own, built_in = ([run for run in runs if run["rule"] == rule] for rule in ("a-constant", "a-uniform"))
    assert [run["accuracy"] for run in own] == [run["accuracy"] for run in built_in]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--rules", "a-wn"],
            "unknown gamma 'wn' (did you mean 'wm'?); known: wm, wmr, uniform, softmin,",
        ),
        (["--rules", "perceptron"], "unknown rule 'perceptron'"),
        (["--rules", "a-wm:sgments"], "did you mean 'segments'?"),
        (["--setups", "7"], "unknown setup '7'; known: 1, 2, 3"),
        (["--setups", "one"], "--setups takes whole numbers between commas, not 'one'"),
        (["--betas", "0"], "beta must be a number > 0, not 0.0"),
        (["--betas", "1,-2"], "beta must be a number > 0, not -2.0"),
        (["--betas", "1:2"], "--betas takes numbers between commas, or FIRST:LAST:STEP, not '1:2'"),
        (["--sizes", "0,1,1"], "--sizes must be three numbers of at least 1 (train,dev,test), not '0,1,1'"),
        (["--datasets", "0"], "datasets and epochs must be at least 1"),
        (["--hmm", "each"], "unknown hmm 'each'"),
        (["--jobs", "0"], "--jobs must be at least 1, not 0"),
        (["--load", "nowhere.py"], "cannot load nowhere.py: No such file or directory"),
        (["--output", "file/inside"], "cannot write file/inside: Not a directory"),
    ],
)
def test_bad_options_are_one_line_and_exit_code_2(swvp, tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    code, out, err = swvp("experiment", "synthetic", "--quick", *arguments)
    assert code == 2
    assert out == ""
    last = err.strip().splitlines()[-1]
    assert last.startswith("swvp: ")
    assert message in last
    assert "Traceback" not in err
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        ("margins * float('nan')", "NaN"),
        ("margins * 0 - 1", "negative"),
        ("margins * 0", "only zeros"),
        ("[1] * 99", "an array of shape (99,)"),
    ],
)
def test_a_gamma_that_returns_nonsense_is_one_line_and_exit_code_2(swvp, tmp_path, weights, complaint):
    (tmp_path / "mine.py").write_text(f"import swvp\nswvp.register_gamma('broken', lambda margins, beta: {weights})\n")
    code, _, err = swvp(*TINY, "--load", "mine.py", "--rules", "a-broken")
    assert code == 2
    assert "gamma function <lambda> returned" in err
    assert complaint in err
    assert "Traceback" not in err


def test_an_error_in_a_loaded_file_names_its_line(swvp, tmp_path):
    (tmp_path / "mine.py").write_text("import swvp\n\nswvp.register_gamma('wm', None)\n")
    code, _, err = swvp(*TINY, "--load", "mine.py")
    assert code == 2
    assert "cannot load mine.py, line 3: cannot name gamma 'wm'" in err


def test_an_exception_in_a_gamma_is_one_line_with_its_place(swvp, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import swvp\n\ndef mine(margins, beta):\n    return 1 / 0\n\nswvp.register_gamma('mine', mine)\n"
    )
    code, _, err = swvp(*TINY, "--load", "mine.py", "--rules", "a-mine")
    assert code == 2
    assert "swvp: gamma function mine raised ZeroDivisionError: division by zero (mine.py, line 4)" in err
    assert "Traceback" not in err


def test_a_loaded_file_may_import_its_neighbours(swvp, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "neighbour_of_mine.py").write_text("weight = 1.0\n")
    (tmp_path / "folder" / "mine.py").write_text(
        "import neighbour_of_mine as n\nimport swvp\nswvp.register_gamma('near', lambda m, b: m * 0 + n.weight)\n"
    )
    assert swvp(*TINY, "--load", "folder/mine.py", "--rules", "a-near")[0] == 0


def test_what_is_there_already_is_told(swvp):
    assert "42 trainings of 2 epochs, into swvp-synthetic" in swvp(*TINY, "--rules", "a-wm,a-wmr")[2]
    assert "all 42 trainings are in swvp-synthetic already: nothing to run" in swvp(*TINY, "--rules", "a-wm,a-wmr")[2]


def test_fresh_replaces_a_study_and_nothing_else(swvp, tmp_path):
    assert swvp(*TINY, "--rules", "csp")[0] == 0
    assert swvp(*TINY, "--rules", "csp", "--seed", "1", "--fresh")[0] == 0
    assert json.loads((tmp_path / "swvp-synthetic" / "results.json").read_text())["settings"]["seed"] == 1
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "report.html").write_text("mine")
    assert swvp(*TINY, "--rules", "csp", "--fresh", "-o", "other")[0] == 2
    assert (tmp_path / "other" / "report.html").read_text() == "mine"


def test_a_folder_of_any_name_is_printed_as_it_is(swvp, tmp_path):
    code, out, _ = swvp(*TINY, "--rules", "csp", "-o", "a [red]b[/] c")
    assert code == 0
    assert "Report: a [red]b[/] c/report.html" in out


def test_a_terminal_that_cannot_show_greek_gets_a_question_mark(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-m", "swvp", *TINY, "--rules", "csp"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert b"?" in done.stdout
    assert b"Report:" in done.stdout


def test_another_study_in_the_folder_is_refused(swvp):
    assert swvp(*TINY, "--rules", "csp")[0] == 0
    code, _, err = swvp(*TINY, "--rules", "csp", "--seed", "1")
    assert code == 2
    assert "swvp-synthetic holds another study's results (it differs in: seed): choose another --output folder" in err


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    command = [sys.executable, "-m", "swvp", "experiment", "synthetic", "--setups", "1", "--sizes", "30000,10,10"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # may be ignored in the background
    )
    journal = tmp_path / "swvp-synthetic" / "runs.jsonl"
    deadline = time.monotonic() + 120
    while not (journal.exists() and journal.read_text().count("\n") > 3) and time.monotonic() < deadline:
        time.sleep(0.05)
    try:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert re.search(r"stopped: \d+ of 510 trainings are saved in swvp-synthetic; the same command resumes", err)
    assert "Traceback" not in err
    runs = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert 3 <= len(runs) < 510


def test_lists_of_numbers_are_read():
    assert floats("betas", "0.5:5:0.5") == tuple(k / 2 for k in range(1, 11))
    assert floats("betas", "1, 2.5") == (1.0, 2.5)
    assert integers("setups", "3,1") == (3, 1)
    assert integers("setups", None) is None
