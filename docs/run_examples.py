"""Run the commands that the documentation shows, and compare or rewrite their output.

    python docs/run_examples.py                      every page, with the small files of docs/data
    python docs/run_examples.py tutorials/first-tagger.md --update
    python docs/run_examples.py --data CORPORA       also the blocks that need a corpus

Blocks of a page share one folder. In a block with the language `console`, a line after `$ ` is a command, and what
follows is its output. A block of any other language whose first line is `# file: NAME` is written to that file first.

- `…` alone on a line stands for any lines, `…` within a line for any characters.
- Times and sizes of a progress table differ between machines: they are not compared.
- `<!-- needs: FOLDER … -->` before a block: it is run only with `--data`, where each FOLDER holds a corpus.
- `<!-- before: COMMAND -->` before a block: this command is run first, and its output is not shown.
- `<!-- not run: REASON -->` before a block: it is never run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parent
BLOCK = re.compile(
    r"(?P<marks>(?:^<!-- (?:needs|before|not run): [^\n]* -->\n+)*)"
    r"^(?P<indent> *)```(?P<language>[\w-]*)\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
MARK = re.compile(r"<!-- (needs|before|not run): (.*) -->")
SECONDS_AND_TIME_LEFT = re.compile(r"\s+\d+\.\d(\s+\d+:\d\d)?$")
COMPILING = re.compile(r"^compiling \(only")


class Block(NamedTuple):
    """A fenced block of a page: its place in the text, its lines, and what the comments before it say."""

    start: int
    end: int
    indent: str
    language: str
    body: str
    needs: list[str]
    before: str
    never: bool


class Step(NamedTuple):
    """A command and the lines it is shown to print."""

    command: str
    shown: list[str]


def pages() -> list[Path]:
    """Return the README and all pages of the documentation."""
    return [DOCS.parent / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "decisions")]


def blocks(text: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page.

    >>> [block.body for block in blocks("```console" + chr(10) + "$ swvp" + chr(10) + "```")]
    ['$ swvp\\n']
    """
    for match in BLOCK.finditer(text):
        marks = dict(MARK.findall(match["marks"]))
        yield Block(
            *match.span("body"),
            match["indent"],
            match["language"],
            match["body"],
            needs=marks.get("needs", "").split(),
            before=marks.get("before", ""),
            never="not run" in marks,
        )


def steps(block: Block) -> list[Step]:
    """Split a console block into commands and their output; a trailing backslash continues a command."""
    parts: list[Step] = []
    continued = False
    for line in block.body.splitlines():
        line = line.removeprefix(block.indent)
        if line.startswith("$ "):
            parts.append(Step(line[2:], []))
        elif continued:
            parts[-1] = Step(f"{parts[-1].command}\n{line}", [])
        elif parts:
            parts[-1].shown.append(line)
        continued = bool(parts) and not parts[-1].shown and parts[-1].command.endswith("\\")
    return parts


def matches(shown: list[str], printed: list[str]) -> bool:
    """Whether the lines shown stand for the lines printed."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "…" else re.escape(without_times(line)).replace("…", ".*?") + r"\n"
        for line in trimmed(shown)
    )
    text = "".join(without_times(line) + "\n" for line in trimmed(printed))
    return re.fullmatch(pattern, text) is not None


def trimmed(lines: list[str]) -> list[str]:
    """Leave out blank ends of lines, empty lines at the end, and the note of a first training."""
    lines = [line.rstrip() for line in lines if not COMPILING.search(line)]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def without_times(line: str) -> str:
    return SECONDS_AND_TIME_LEFT.sub(" (time)", line.rstrip())


def shortened(shown: list[str], printed: list[str]) -> list[str]:
    """Cut new output as the old one was cut: between two `…`, keep the lines most like those shown before."""
    printed = trimmed(printed)
    segments: list[list[str]] = [[]]
    for line in trimmed(shown):
        if line.strip() == "…":
            segments.append([])
        else:
            segments[-1].append(line)
    if len(segments) == 1:
        return printed
    first, *middle, last = segments
    lines, done = [*printed[: len(first)], "…"], len(first)
    end = len(printed) - len(last)
    for segment in middle:
        at = max(range(done, max(done, end - len(segment)) + 1), key=lambda k: likeness(segment, printed[k:]))
        lines += [*printed[at : at + len(segment)], "…"]
        done = at + len(segment)
    return [*lines, *printed[end:]]


def rewritten(shown: list[str], printed: list[str]) -> list[str]:
    """Cut new output, and keep the old line where only a time differs."""
    old = {without_times(line): line for line in shown}
    return [old.get(without_times(line), line) for line in shortened(shown, printed)]


def likeness(segment: list[str], lines: list[str]) -> float:
    """Return how much lines begin like a segment, whatever their numbers."""
    pairs = zip(segment, lines, strict=False)
    return sum(SequenceMatcher(None, *(re.sub(r"[\d.,+-]+", "0", line) for line in pair)).ratio() for pair in pairs)


def run(page: Path, *, corpora: Path | None = None, update: bool = False) -> list[str]:
    """Run the commands of a page, and return one message for each that prints something else.

    Parameters
    ----------
    page : Path
        A Markdown file.
    corpora : Path, optional
        A folder of corpora; without it, blocks that need one are left out.
    update : bool
        Write what the commands print into the page.
    """
    text = page.read_text(encoding="utf-8")
    problems: list[str] = []
    changes: list[tuple[int, int, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in (DOCS / "data").iterdir():
            shutil.copy(file, folder)
        for block in blocks(text):
            if block.never or (block.needs and corpora is None):
                continue
            first, _, rest = block.body.partition("\n")
            if first.strip().startswith("# file: "):
                lines = (line.removeprefix(block.indent) for line in rest.splitlines())
                (folder / first.split(": ")[1]).write_text("\n".join(lines) + "\n", encoding="utf-8")
            if block.language != "console":
                continue
            for corpus in block.needs:
                copy_corpus(corpora, corpus, folder)
            output(block.before, folder)
            new: list[str] = []
            commands = steps(block)
            for step in commands:
                printed = output(step.command, folder)
                fits = matches(step.shown, printed)
                if not fits:
                    line = text.count("\n", 0, block.start) + 1
                    problems.append(f"{page}:{line}: $ {step.command}\n" + "\n".join(f"    {row}" for row in printed))
                new += [*f"$ {step.command}".splitlines(), *(step.shown if fits else rewritten(step.shown, printed))]
                new += [""] if not fits and step is not commands[-1] else []
            changes.append((block.start, block.end, "".join(f"{block.indent}{line}".rstrip() + "\n" for line in new)))
    if update:
        for start, end, body in reversed(changes):
            text = text[:start] + body + text[end:]
        page.write_text(text, encoding="utf-8")
    return problems


def copy_corpus(corpora: Path | None, name: str, folder: Path) -> None:
    assert corpora is not None
    for file in (corpora / name).iterdir():
        if not (folder / file.name).exists():
            shutil.copy(file, folder)


def output(command: str, folder: Path) -> list[str]:
    """Return the lines that a command prints, errors included, as on a terminal 110 columns wide."""
    settings = {"COLUMNS": "110", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **settings, "PATH": path},
        timeout=1800,
    )
    return done.stdout.decode().splitlines()


def main() -> None:
    parser = argparse.ArgumentParser(description="Run the commands that the documentation shows.")
    parser.add_argument("pages", nargs="*", type=Path, help="pages, relative to docs (default: all)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of corpora, one folder each")
    parser.add_argument("--update", action="store_true", help="write the new output into the pages")
    options = parser.parse_args()
    problems: list[str] = []
    for page in [DOCS / page for page in options.pages] or pages():
        wrong = run(page, corpora=options.data, update=options.update)
        problems += wrong
        print(f"{page.relative_to(DOCS.parent)}: {f'{len(wrong)} differ' if wrong else 'as shown'}", flush=True)
    if problems and not options.update:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
