"""The campaign of corpora: damaged column files, CoNLL-U and CoNLL-X, given to every command that reads them.

`catalogue.json` holds bad files as data: (name, what it is, its text, its exit codes: 0 if it is read, 2 if refused).
Rounds change a sound file at random. A command must end with 0, or with 2 and a last line that says why.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from swvp.cli import main

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "golden" / "format-1"

COLUMNS = b"the DT B-NP\ndog NN I-NP\nbarks VB B-VP\n\nBo NNP B-NP\nsaw VB B-VP\na DT B-NP\ncat NN I-NP\n\n"
CONLLU = (
    b"# text = Vamonos al mar\n1-2\tVamonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    b"1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t_\t_\n2\tnos\tnos\tPRON\tP\tCase=Acc|Number=Plur\t1\tobj\t_\t_\n"
    b"2.1\tx\tx\tX\tX\t_\t_\t_\t_\t_\n3\tmar\tmar\tNOUN\tN\t_\t1\tobl\t_\tSpaceAfter=No\n\n"
    b"1\tmar\tmar\tNOUN\tN\tGender=Fem\t0\troot\t_\t_\n\n"
)
CONLLX = (
    b"1\tthe\tthe\tD\tDT\t_\t2\tdet\t_\t_\n2\tdog\tdog\tN\tNN\tnum=sg\t3\tsubj\t_\t_\n"
    b"3\tbarks\tbark\tV\tVB\t_\t0\troot\t_\t_\n\n"
)
FIELDS = [
    "_",
    "-",
    "0",
    "1",
    "-1",
    "99",
    "2147483648",
    "99999999999999999999",
    "1-2",
    "3-1",
    "1.1",
    "1e3",
    "٣",
    "=",
    "#",
]
FIELDS += ["B-", "I-", "O", "-DOCSTART-"]
FIELDS += ["", " ", "\0", "\x1b[2J", "\ufeff", "\u2028", "\u00a0", "é" * 300, "a=b|a=b", "|"]
BYTES = [
    b"\xff",
    b"\0",
    b"\r",
    b"\r\n",
    b"\t",
    b" ",
    b"\n",
    b"\n\n",
    b"\xef\xbb\xbf",
    b"\xc3",
    b"\xed\xa0\x80",
    b"# x\n",
]


def commands(columns: bool, path: Path, folder: Path) -> list[list[Any]]:
    """What may be done with a file."""
    model = ["--model", folder / "model", "--epochs", "1", "--fresh"]
    if columns:
        return [
            ["train", "tagger", path, *model, "--features", "chunk"],
            ["predict", GOLDEN / "tagger-exact.swvp", path],
            ["predict", GOLDEN / "tagger-columns.swvp", path],
            ["evaluate", path],
            ["evaluate", path, path],
            ["inspect", GOLDEN / "tagger-columns.swvp", "--explain", path],
        ]
    return [
        ["train", "tagger", path, *model, "--target", "upos", "--conllu"],
        ["train", "parser", path, *model, "--hashed", "256", "--no-labels"],
        ["predict", GOLDEN / "parser-hashed.swvp", path],
        ["predict", GOLDEN / "parser-second-order.swvp", path],
        ["evaluate", path, path, "--trees"],
        ["evaluate", path, path, "--target", "feats"],
        ["inspect", GOLDEN / "parser-hashed.swvp", "--explain", path],
    ]


def new(folder: Path) -> Callable[[np.random.Generator], str | None]:
    """Rounds that change one of the sound files and run one command."""

    def round_of(rng: np.random.Generator) -> str | None:
        columns = bool(rng.random() < 0.4)
        content = COLUMNS if columns else (CONLLU if rng.random() < 0.6 else CONLLX)
        for _ in range(int(rng.integers(1, 5))):
            content = changed(content, rng)
        path = folder / ("corpus.txt" if columns else "corpus.conllu")
        path.write_bytes(content)
        chosen = commands(columns, path, folder)
        return outcome(chosen[int(rng.integers(len(chosen)))])

    return round_of


def changed(content: bytes, rng: np.random.Generator) -> bytes:
    """A file with one change: of a line, of a field, or of a few bytes."""
    lines, what = content.split(b"\n"), int(rng.integers(8))
    k = int(rng.integers(len(lines)))
    if what == 0:
        del lines[k]
    elif what == 1:
        lines.insert(k, lines[int(rng.integers(len(lines)))])
    elif what == 2:
        lines[k] = lines[k].replace(b"\t", b" ") if b"\t" in lines[k] else lines[k].replace(b" ", b"\t")
    elif what in (3, 4, 5):
        separator = b"\t" if b"\t" in lines[k] else b" "
        fields = lines[k].split(separator)
        at = int(rng.integers(len(fields)))
        fields[at : at + int(rng.integers(0, 2))] = [FIELDS[int(rng.integers(len(FIELDS)))].encode()] * (what != 5)
        lines[k] = separator.join(fields)
    elif what == 6:
        place = int(rng.integers(len(content) + 1))
        return content[:place] + BYTES[int(rng.integers(len(BYTES)))] + content[place + int(rng.integers(0, 3)) :]
    else:
        return content[: int(rng.integers(len(content) + 1))]
    return b"\n".join(lines)


def outcome(command: list[Any], codes: tuple[int, ...] = (0, 2)) -> str | None:
    """What is wrong with how a command ended, or None."""
    code, err = run(command)
    text = " ".join(map(str, command))
    if "Traceback" in err:
        return f"{text}: a traceback\n{err}"
    if code not in codes:
        return f"{text}: exit code {code}\n{err}"
    lines = err.splitlines()
    if code == 2 and not (lines and lines[-1].startswith("swvp: ")):
        return f"{text}: no line says why\n{err}"
    return None


def run(command: list[Any]) -> tuple[int, str]:
    """The exit code and the messages of a command, run in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    before = sys.argv
    sys.argv = ["swvp", *map(str, command)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as stop:
        return int(stop.code or 0), err.getvalue()
    finally:
        sys.argv = before
    return 0, err.getvalue()


def catalogue() -> list[dict[str, Any]]:
    """The bad files, each with the commands it is for."""
    return json.loads((HERE / "catalogue.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def content_of(entry: dict[str, Any]) -> bytes:
    """The bytes of a file of the catalogue; Latin-1 so that any byte can be written."""
    return str(entry["bytes"]).encode("latin-1") * int(entry.get("times", 1))


def check_catalogue(folder: Path) -> list[str]:
    """What went wrong with the files of the catalogue: each is trained on, and predicted for."""
    told = []
    for entry in catalogue():
        columns = entry["kind"] == "columns"
        path = folder / ("corpus.txt" if columns else "corpus.conllu")
        path.write_bytes(content_of(entry))
        train = ["train", "tagger" if columns else "parser", path, "--model", folder / "model", "--epochs", "1"]
        train += ["--fresh", *([] if columns else ["--hashed", "256"])]
        predict = ["predict", GOLDEN / ("tagger-exact.swvp" if columns else "parser-hashed.swvp"), path]
        for name, command in (("train", train), ("predict", predict)):
            if what := outcome(command, tuple(entry[name])):
                told.append(f"{entry['kind']}, {entry['name']}: {what}")
    return told


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        failures = check_catalogue(Path(name))
    print("\n".join([f"{len(catalogue())} files, {len(failures)} failures", *failures]))
    sys.exit(1 if failures else 0)
