"""The plan of bulk prediction: names of outputs, clashes among them, the sections that files are divided into."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from swvp.errors import InputError
from swvp.io.blocks import Section, can_be_divided, sections_of
from swvp.io.files import FileFormat, is_special

__all__ = ["SECTION", "Input", "Piece", "endings", "inputs_of", "pieces_of"]

SECTION = 2**24
"""Files that can be divided are predicted in sections of about so many bytes."""

ENDINGS = {"conllu": ".conllu", "json": ".jsonl", "horizontal": ".txt", "vertical": ".txt"}
"""The ending of an output of `swvp parse` by its format."""


class Input(NamedTuple):
    """A file to predict.

    Parameters
    ----------
    given : str
        The file as the user named it.
    path : str
        Its whole path, by which workers read it.
    size, times : int and tuple of int
        Its bytes, and the times of its last changes: other ones mean another content.
    output : str
        The name of its output in the folder.
    """

    given: str
    path: str
    size: int
    times: tuple[int, int]
    output: str

    @property
    def state(self) -> list[int]:
        """The size of the file and the times of its last changes, to detect a changed file."""
        return [self.size, *self.times]


class Piece(NamedTuple):
    """A task: an input or a section of it, and the file that is written."""

    input: Input
    number: int
    section: Section | None
    output: str


def endings(output: str) -> Callable[[str], str]:
    """Return the function that turns the name of a text into that of its analysis, in an output format.

    >>> endings("conllu")("article.txt.gz")
    'article.conllu.gz'
    """

    def named(name: str) -> str:
        packed = ".gz" if name.endswith(".gz") else ""
        stem = Path(name.removesuffix(".gz")).stem
        return f"{stem}{ENDINGS.get(output, '.' + output)}{packed}"

    return named


def inputs_of(
    files: Sequence[str], folder: Path, *, models: Sequence[Path], named: Callable[[str], str] = lambda name: name
) -> list[Input]:
    """Return the inputs; raise InputError if outputs would have the same name, or replace an input or a model.

    Files that cannot be read are among them: the task reports them, and the others are predicted.
    """
    inputs: dict[str, Input] = {}
    used = {os.path.realpath(path) for path in [*files, *map(str, models)]}
    for given in files:
        if given == "-":
            raise InputError("--output-dir needs files, not standard input")
        path = Path(given)
        if path.is_dir():
            raise InputError(f"{given} is a folder: give its files, as {path / '*'}")
        if is_special(path):
            raise InputError(f"{given}: a pipe or a device; with --output-dir it must be a file")
        output = named(path.name)
        if output in inputs:
            raise InputError(
                f"{inputs[output].given} and {given} would both be written to {folder / output}: rename one of them"
            )
        if os.path.realpath(folder / output) in used:
            raise InputError(f"{folder / output} would be replaced, but it is an input or a model: use another folder")
        size, times = state_of(path)
        inputs[output] = Input(given, str(path.absolute()), size, times, output)
    return list(inputs.values())


def state_of(path: Path) -> tuple[int, tuple[int, int]]:
    """Return the size of a file and the times of its last changes; zeros if it cannot be read."""
    try:
        status = path.stat()
    except OSError:
        return 0, (0, 0)
    return status.st_size, (status.st_mtime_ns, status.st_ctime_ns)


def pieces_of(
    input: Input, format: FileFormat | None, encoding: str, *, pieces: str, size: int | None = None
) -> list[Piece]:
    """Return the tasks of an input: sections that are written into the folder `pieces`, or the whole file.

    Compressed files, running text (None), formats that are turned into columns and some encodings cannot be divided.
    """
    size = SECTION if size is None else size
    sections: list[Section] = []
    if format is not None and input.size > 2 * size and not input.path.endswith(".gz"):
        sections = sections_of(input.path, size) if can_be_divided(format, encoding) else []
    if len(sections) < 2:
        return [Piece(input, 0, None, input.output)]
    return [
        Piece(input, number, section, f"{pieces}/{input.output}.{number:05}") for number, section in enumerate(sections)
    ]
