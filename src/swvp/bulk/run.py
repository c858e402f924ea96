"""Bulk prediction from the beginning to the end: what is finished is skipped, the rest runs, pieces are joined."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from swvp.bulk.manifest import NAME, Manifest
from swvp.bulk.plan import Input, Piece, pieces_of, state_of
from swvp.bulk.work import Prediction, Result, models_of, predict_piece
from swvp.cluster.connect import Workers
from swvp.errors import InputError
from swvp.io.files import BLOCK, MARK, cannot_write, exclusive, unfinished, write_blocks

__all__ = ["Problem", "Status", "predict_files"]

PIECES = ".swvp-pieces"
"""The folder, in that of the outputs, for sections of files that are not finished yet."""


class Problem(NamedTuple):
    """A file that could not be predicted, and why."""

    given: str
    message: str


class Status(NamedTuple):
    """How far bulk prediction is: finished files of all files, bytes of the inputs, tokens.

    `skipped` files were finished by an earlier command; their bytes and tokens are not counted as done now.
    """

    files: int
    all_files: int
    skipped: int
    bytes: int
    all_bytes: int
    tokens: int


Watch = Callable[[Status], object]
Note = Callable[[str], object]


def predict_files(
    prediction: Prediction,
    inputs: Sequence[Input],
    workers: Workers,
    *,
    section: int | None = None,
    watch: Watch = lambda status: None,
    note: Note = lambda text: None,
) -> list[Problem]:
    """Predict files into a folder; return those that could not be predicted.

    Each output is written whole or not at all. Outputs that an earlier call has finished, from the same inputs with the
    same models, stay as they are.

    Parameters
    ----------
    prediction : Prediction
        What is done with each file.
    inputs : sequence of Input
        From `inputs_of`.
    workers : Workers
        `Threads` or an open `Cluster`.
    section : int, optional
        The size of the sections of large files, in bytes.
    watch, note : callable
        Receive the status after each task, and remarks on files.

    Raises
    ------
    InputError
        If the folder cannot be written, another process writes there, or the cluster is lost.
    """
    folder = Path(prediction.folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    with exclusive(folder / NAME, "command"), contextlib.closing(Manifest(folder, prediction.stamp)) as manifest:
        run = BulkRun(folder, manifest, watch, note)
        models = models_of(prediction)
        encoding = dict(prediction.options).get("encoding", "utf-8")
        for input in inputs:
            try:
                run.plan(input, pieces_of(input, models.format_of(input.path), encoding, pieces=PIECES, size=section))
            except InputError as error:
                run.fail(input, str(error))
        run.make_folder_of_pieces()
        run.tell()
        function = functools.partial(predict_piece, prediction)
        results = workers.map(function, run.missing(), in_order=False, name=lambda piece: piece.input.given)
        with contextlib.closing(results):
            for number, result in results:
                run.finish(run.begun.pop(number), result)
        run.clean()
        return run.problems


class BulkRun:
    """The state of one call: which pieces of which inputs are finished, and what went wrong."""

    def __init__(self, folder: Path, manifest: Manifest, watch: Watch, note: Note):
        self.folder, self.manifest, self.watch, self.note = folder, manifest, watch, note
        self.pieces: dict[str, list[Piece]] = {}
        self.left: dict[str, set[int]] = {}
        self.begun: dict[int, Piece] = {}
        self.problems: list[Problem] = []
        self.failed: set[str] = set()
        self.status = Status(0, 0, 0, 0, 0, 0)

    def plan(self, input: Input, pieces: list[Piece]) -> None:
        """Add an input; if its output is finished, nothing is left of it."""
        status = self.status
        if self.manifest.has(Piece(input, 0, None, input.output)):
            self.status = status._replace(
                files=status.files + 1, all_files=status.all_files + 1, skipped=status.skipped + 1
            )
            return
        self.pieces[input.output] = pieces
        self.left[input.output] = {piece.number for piece in pieces if not self.manifest.has(piece)}
        size = sum(size_of(piece) for piece in pieces if piece.number in self.left[input.output])
        self.status = status._replace(all_files=status.all_files + 1, all_bytes=status.all_bytes + size)
        if not self.left[input.output]:  # all its pieces are there
            self._join(input)

    def make_folder_of_pieces(self) -> None:
        """Create the folder for pieces if there are any."""
        if any(len(pieces) > 1 for pieces in self.pieces.values()):
            try:
                (self.folder / PIECES).mkdir(exist_ok=True)
            except OSError as error:
                raise cannot_write(self.folder / PIECES, error) from None

    def missing(self) -> Iterator[Piece]:
        """Yield the pieces that are not finished; those of a file that has failed are left out."""
        number = 0
        for output, pieces in self.pieces.items():
            for piece in pieces:
                if piece.number in self.left[output] and output not in self.failed:
                    self.begun[number] = piece
                    number += 1
                    yield piece

    def finish(self, piece: Piece, result: Result) -> None:
        """Record a finished piece; join the pieces of a file after the last of them."""
        input = piece.input
        if result.problem is None and (input.size, input.times) != state_of(Path(input.path)):
            result = result._replace(problem=f"{input.path} was changed while it was read: run the command again")
        self.status = self.status._replace(bytes=self.status.bytes + size_of(piece))
        if result.problem is not None:
            self.fail(input, result.problem, result.worker)
        else:
            self.status = self.status._replace(tokens=self.status.tokens + result.tokens)
            for text in result.notes:
                self.note(shown_path(text, input))
            self.manifest.add(piece, result.tokens)
            self.left[input.output].discard(piece.number)
            if not self.left[input.output] and input.output not in self.failed:
                self._join(input)
        self.tell()

    def fail(self, input: Input, problem: str, worker: str = "") -> None:
        """Record that a file cannot be predicted, once."""
        if input.output not in self.failed:
            self.failed.add(input.output)
            at = f" (on worker {worker})" if worker.startswith(("tcp", "tls", "ucx", "ws")) else ""
            self.problems.append(Problem(input.given, shown_path(problem, input) + at))

    def tell(self) -> None:
        self.watch(self.status)

    def _join(self, input: Input) -> None:
        """Write the output of a file from its pieces, and remove them."""
        pieces = self.pieces[input.output]
        if pieces[0].section is not None:
            paths = [self.folder / piece.output for piece in pieces]
            try:
                write_blocks(self.folder / input.output, (block for path in paths for block in blocks_of(path)))
            except InputError as error:
                self.fail(input, str(error))
                return
            tokens = sum(self.manifest.tokens(piece) for piece in pieces)
            self.manifest.add(Piece(input, 0, None, input.output), tokens)
            for path in paths:
                path.unlink(missing_ok=True)
        self.status = self.status._replace(files=self.status.files + 1)

    def clean(self) -> None:
        """Remove what killed processes have left, and pieces that nothing needs any more."""
        needed = {Path(piece.output).name for output in self.failed for piece in self.pieces.get(output, ())}
        unfinished_outputs = {unfinished(self.folder / output) for output in self.pieces}
        with contextlib.suppress(OSError):
            for path in list(self.folder.iterdir()):
                if path.name[: path.name.find(MARK) + len(MARK)] in unfinished_outputs:
                    path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            for path in list((self.folder / PIECES).iterdir()):
                if path.name not in needed:
                    path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            (self.folder / PIECES).rmdir()


def size_of(piece: Piece) -> int:
    """The number of bytes of a piece of an input."""
    return piece.input.size if piece.section is None else piece.section.end - piece.section.begin


def shown_path(text: str, input: Input) -> str:
    """A message about an input with the name that the user gave."""
    return text.replace(input.path, input.given)


def blocks_of(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                yield block
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
