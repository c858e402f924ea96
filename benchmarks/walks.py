"""How many source files a command walks through: a measure of how hard it is to follow.

    python benchmarks/walks.py train tagger train.txt --epochs 1 --model /tmp/model

runs the command (or, if the first argument ends in .py, that Python file) and prints the files of swvp that execute a
function (what runs when a module is imported does not count), and the calls that lead from another package back up into
`cli`. Those from a file that imports `cli` are returns: a reader has to follow them. The others are events: `cli` gave
an observer, a function or a console, and the file that calls it knows only its interface. Functions inside
compiled kernels are not seen.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import runpy
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import swvp
from swvp.cli import main

SOURCE = f"{Path(swvp.__file__).parent}/"
IMPORTING = "(import)"


class Walk:
    """Records the files of swvp whose functions are called, and calls from other packages into `cli`."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.returns: Counter[str] = Counter()
        self.events: Counter[str] = Counter()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(SOURCE) or not is_function(frame):
            return
        callers = list(files_above(frame))
        if IMPORTING in callers:
            return
        file = name.removeprefix(SOURCE)
        self.calls[file] += 1
        if file.startswith("cli/") and callers and not callers[0].startswith("cli/"):
            calls = self.returns if imports_cli(callers[0]) else self.events
            calls[f"{callers[0]} -> {file}: {frame.f_code.co_name}"] += 1


@functools.cache
def imports_cli(file: str) -> bool:
    """Whether a file of swvp imports `cli`, so that it calls its functions by name."""
    return bool(
        re.search(r"^\s*(from|import) swvp\.cli\b|^\s*from swvp import .*\bcli\b", Path(SOURCE, file).read_text(), re.M)
    )


def is_function(frame: FrameType) -> bool:
    """Whether a frame is that of a function, not of a module or the body of a class."""
    return bool(frame.f_code.co_flags & inspect.CO_OPTIMIZED)


def files_above(frame: FrameType) -> Iterator[str]:
    """The files of swvp from which a function is called, the nearest first, perhaps through other libraries."""
    above = frame.f_back
    while above is not None:
        name = above.f_code.co_filename
        if name.startswith(SOURCE):
            yield name.removeprefix(SOURCE) if is_function(above) else IMPORTING
        elif name.startswith("<frozen importlib"):  # of any module: ours, or one that another library looks for
            yield IMPORTING
        above = above.f_back


def measure(arguments: list[str]) -> Walk:
    """Run a command or a Python file and return its walk."""
    walk = Walk()
    script = arguments[0].endswith(".py")
    sys.argv = arguments if script else ["swvp", *arguments]
    sys.setprofile(walk)
    try:
        with contextlib.suppress(SystemExit):
            if script:
                runpy.run_path(arguments[0], run_name="__main__")
            else:
                main()
    finally:
        sys.setprofile(None)
    return walk


if __name__ == "__main__":
    walk = measure(sys.argv[1:])
    for file in sorted(walk.calls):
        print(f"{walk.calls[file]:8,}  {file}")
    returns, events = sum(walk.returns.values()), sum(walk.events.values())
    print(f"{len(walk.calls)} files; {returns} returns to cli, {events} events for its observers:")
    for text, count in (walk.returns + walk.events).most_common():
        print(f"{count:8,}  {text}")
