"""What files hold reaches a terminal escaped; results for programs stay as they are."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

import swvp
from swvp.errors import STEERING, InputError, escaped, one_line
from swvp.evaluation.counts import evaluate_phrases
from swvp.io.container import write_container

EVIL = "a\x1b]0;title\x07b"
SAFE = r"a\x1b]0;title\x07b"
LABEL = "B-\x1b[31m\u202eX"
SAFE_LABEL = r"B-\x1b[31m\u202eX"
TAGGED = f"{EVIL} {LABEL}\nb O\n\nb O\n{EVIL} {LABEL}\n"
TREES = "".join(
    f"{k}\t{form}\t_\t{tag}\t_\t_\t{head}\t{label}\t_\t_\n"
    for k, form, tag, head, label in [(1, EVIL, "T\x9bX", 2, "l\x1b[1m"), (2, "b", "V", 0, "root")]
)


def safe(text):
    return not STEERING.search(text.replace("\n", ""))


@pytest.mark.parametrize(
    "character", ["\x00", "\n", "\r", "\x1b", "\x7f", "\x9b", "\u2028", "\u202e", "\u2066", "\ud800"]
)
def test_what_steers_a_terminal_is_escaped(character):
    assert escaped(f"a{character}b") == f"a{ascii(character)[1:-1]}b"


@pytest.mark.parametrize("text", ["naïve", "می‌شود", "日本語", "👩‍👩‍👧", "a b\u00a0c", r"C:\x"])
def test_what_people_write_stays(text):
    assert escaped(text) == text


def test_an_error_is_one_line_of_bounded_length_that_ends_with_what_to_do():
    message = str(InputError(f"cannot read {'x' * 10_000}\n{EVIL}: do this"))
    assert len(message) == 1000
    assert safe(message)
    assert message.endswith(f"{SAFE}: do this")
    assert one_line(message) == message


def test_errors_name_files_and_their_content_escaped(refused):
    Path(EVIL).write_text(f"{EVIL} O\n{EVIL}\n")
    for arguments in [
        ("predict", f"no{EVIL}", "x"),
        ("train", "tagger", EVIL, "-m", "model"),
        ("evaluate", EVIL, EVIL, "--trees"),
        ("inspect", EVIL),
    ]:
        line = refused(*arguments)
        assert SAFE in line
        assert safe(line)


def test_a_line_of_a_template_file_is_escaped(refused):
    Path("train.txt").write_text("a O\n")
    Path("templates").write_text(f"{EVIL}[0\n")
    line = refused("train", "tagger", "train.txt", "-m", "model", "--features", "templates")
    assert SAFE in line
    assert safe(line)


def test_the_kind_of_a_model_is_escaped(refused):
    write_container(Path("model"), EVIL, {}, {})
    for arguments in [("predict", "model", "x"), ("inspect", "model")]:
        line = refused(*arguments)
        assert SAFE in line
        assert safe(line)


def test_taggers_are_shown_escaped(fine):
    Path(EVIL).write_text(TAGGED)
    model = f"model{EVIL}\n"
    for arguments in [
        ("train", "tagger", EVIL, "-m", model, "--dev", EVIL),
        ("inspect", model),
        ("inspect", model, "--label", LABEL),
        ("inspect", model, "--explain", EVIL),
        ("inspect", model, "--sentence", f"{EVIL} b"),
    ]:
        out, err = fine(*arguments)
        assert safe(out.decode() + err)
        assert "x1b" in out.decode() + err


def test_parsers_are_shown_escaped(fine):
    Path("trees.conllu").write_text(TREES)
    fine("train", "parser", "trees.conllu", "-m", "model", "--epochs", "2")
    for arguments in [("inspect", "model"), ("inspect", "model", "--explain", "trees.conllu", "--top", "5")]:
        out, err = fine(*arguments)
        assert safe(out.decode() + err)
        assert r"\x9b" in out.decode() or "�" in out.decode()


@pytest.mark.parametrize("options", [[], ["--no-phrases"], ["--confusion", "5"], ["--compare", "gold.txt"]])
def test_scores_of_labels_are_shown_escaped(fine, options):
    Path(f"predicted{EVIL}").write_text(TAGGED.replace("b O", f"b {LABEL}x"))
    Path("gold.txt").write_text(TAGGED)
    out, err = fine("evaluate", "gold.txt", f"predicted{EVIL}", *options)
    assert safe(out.decode() + err)
    assert "x1b" in out.decode()


def test_scores_of_trees_are_shown_escaped(fine):
    Path("gold.conllu").write_text(TREES)
    Path(f"predicted{EVIL}").write_text(TREES.replace("root", "ro\x1bot"))
    out, err = fine(
        "evaluate", "gold.conllu", f"predicted{EVIL}", "--trees", "--confusion", "5", "--compare", "gold.conllu"
    )
    assert safe(out.decode() + err)
    assert SAFE in out.decode()


def test_conlleval_s_text_is_escaped():
    assert safe(str(evaluate_phrases([[LABEL]], [[LABEL]])))
    assert r"\x1b[31m" in str(evaluate_phrases([[LABEL]], [[LABEL]]))


def test_predictions_are_exact_in_a_pipe_and_escaped_on_a_terminal(fine):
    Path("train.txt").write_text(TAGGED)
    fine("train", "tagger", "train.txt", "-m", "model", "--epochs", "1")
    out, _ = fine("predict", "model", "train.txt")
    assert [line.rpartition(" ")[0] for line in out.decode().split("\n")] == [
        line if line else "" for line in TAGGED.split("\n")
    ]
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-m", "swvp", "predict", "model", "train.txt"], stdout=theirs, check=True)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode().replace("\r\n", "\n")
    os.close(ours)
    assert safe(shown)
    assert shown == escaped(out.decode(), keep="\n")


def test_nothing_is_said_but_by_the_functions_that_escape():
    package = Path(swvp.__file__).parent
    sources = {path.relative_to(package).as_posix(): path.read_text(encoding="utf-8") for path in package.rglob("*.py")}
    messages = {name for name, text in sources.items() if "sys.stderr" in text}
    own_words = {"cli/compiling.py", "__main__.py"}  # they print only their own words and numbers
    assert messages == {"cli/terminal.py", *own_words}
    consoles = [name for name, text in sources.items() if re.search(r"\bConsole\(", text)]
    assert consoles == ["studies/report.py"]  # it writes to a file, and escapes the text
