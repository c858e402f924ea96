"""The task of bulk prediction: predicts a file, or a section of it, and writes the output whole or not at all.

Everything is named by paths, so that a task can run in a thread or on another machine. A process keeps the models.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from swvp.bulk.plan import Piece
from swvp.cluster import task
from swvp.errors import InputError
from swvp.io.blocks import Section, count_lines
from swvp.io.files import CONLLU_FILE, FileFormat, read_bytes, set_max_bytes, write_blocks
from swvp.io.table import check_encoding

__all__ = ["ModelFile", "Prediction", "Result", "model_files", "models_of", "predict_piece"]


class ModelFile(NamedTuple):
    """A model, or a dictionary, and the SHA-256 digest of its content."""

    path: str
    digest: str


class Prediction(NamedTuple):
    """How all files are predicted.

    Parameters
    ----------
    command : str
        "predict" or "parse".
    models : tuple of ModelFile
    options : tuple of (str, value)
        The options of `predict_blocks` or `analyse_file`; for "parse" also `stages` and `lexicon`, which is a number in
        `models`.
    folder : str
        Where outputs are written.
    max_bytes : int
        The largest size of a .gz file after unpacking.
    """

    command: str
    models: tuple[ModelFile, ...]
    options: tuple[tuple[str, Any], ...]
    folder: str
    max_bytes: int

    @property
    def stamp(self) -> str:
        """A digest of all that outputs depend on besides their inputs."""
        digests = [model.digest for model in self.models]
        parts = [*task.expected()[:1], [file.digest for file in task.expected().files], self.command, digests]
        return hashlib.sha256(json.dumps([*parts, self.options]).encode()).hexdigest()


class Result(NamedTuple):
    """What became of a task: its tokens and remarks on the file, or the message of an error."""

    problem: str | None
    tokens: int
    notes: tuple[str, ...]
    size: int
    worker: str


Analyse = Callable[[str, Section | None, int, Callable[[str], object]], Iterator[bytes]]
"""A function of a path, a section, the number of lines before it, and the receiver of notes."""


FormatOf = Callable[[str], FileFormat | None]
"""A function of a path: the format of the file, None for running text."""


def model_files(paths: Sequence[Path]) -> tuple[ModelFile, ...]:
    """Return models with their digests."""
    return tuple(ModelFile(str(path.absolute()), hashlib.sha256(read_bytes(path)).hexdigest()) for path in paths)


def predict_piece(prediction: Prediction, piece: Piece) -> Result:
    """Predict and write one piece; an input error is in the result, so that other files are not stopped."""
    set_max_bytes(prediction.max_bytes)
    tokens, notes = 0, dict[str, None]()
    path, section = piece.input.path, piece.section
    output = Path(prediction.folder, piece.output)

    def counted(blocks: Iterator[bytes]) -> Iterator[bytes]:
        nonlocal tokens
        stop = task.Stop()
        for block in blocks:
            if stop.is_set():
                raise InputError("cancelled")
            tokens += tokens_in(block)
            yield block

    models = models_of(prediction)
    try:
        with models.first_alone():
            line = 0 if section is None or section.begin == 0 else 1
            try:
                write_blocks(output, counted(models.analyse(path, section, line, lambda text: notes.setdefault(text))))
            except InputError:
                if not line:
                    raise
                tokens = 0  # again, with the number of the line in the message
                line = count_lines(path, section.begin) if section is not None else 0
                write_blocks(output, counted(models.analyse(path, section, line, lambda text: notes.setdefault(text))))
        return Result(None, tokens, tuple(notes), output.stat().st_size, task.worker_name())
    except InputError as error:
        return Result(str(error), 0, (), 0, task.worker_name())


def tokens_in(block: bytes) -> int:
    """About how many tokens a block of output has: lines that are neither empty nor comments."""
    return block.count(b"\n") - block.count(b"\n\n") - block.count(b"\n#") - block.startswith((b"#", b"\n"))


def models_of(prediction: Prediction) -> Models:
    """Return the models of a prediction, which this process keeps; raise InputError if they cannot be used."""
    return task.kept((prediction.models, prediction.options), lambda: Models(prediction))


class Models:
    """The models of a prediction, loaded in this process."""

    def __init__(self, prediction: Prediction):
        paths = [Path(file.path) for file in prediction.models]
        for file, path in zip(prediction.models, paths, strict=True):
            if hashlib.sha256(read_bytes(path)).hexdigest() != file.digest:
                raise InputError(f"{path} has another content here than where the command was started")
        options = dict(prediction.options)
        make = parser_of if prediction.command == "parse" else predictor_of
        self.analyse, self.format_of = make(paths, **options)
        self.lock = threading.Lock()
        self.is_warm = False

    def first_alone(self) -> FirstAlone:
        """A context in which the first piece is alone: it loads kernels and builds what all pieces use."""
        return FirstAlone(self)


class FirstAlone:
    def __init__(self, models: Models):
        self.models, self.holds_lock = models, False

    def __enter__(self) -> None:
        if not self.models.is_warm:
            self.models.lock.acquire()
            self.holds_lock = True

    def __exit__(self, *error: object) -> None:
        self.models.is_warm = True
        if self.holds_lock:
            self.models.lock.release()


def predictor_of(paths: list[Path], **options: Any) -> tuple[Analyse, FormatOf]:
    """Load taggers and parsers; return the function that predicts a file with them, and that of its format."""
    from swvp.pipeline import FilePrediction, load_models, predict_blocks

    options["encoding"] = check_encoding(options["encoding"])
    models = load_models(paths)

    def analyse(path: str, section: Section | None, line: int, note: Callable[[str], object]) -> Iterator[bytes]:
        return predict_blocks(models, path, **options, note=note, section=section, line=line)

    def format_of(path: str) -> FileFormat:
        return FilePrediction(models, path, options["encoding"], conllu=options["conllu"]).format

    return analyse, format_of


def parser_of(
    paths: list[Path], *, stages: str | None = None, lexicon: int | None = None, **options: Any
) -> tuple[Analyse, FormatOf]:
    """Load a pipeline; return the function that analyses a text with it, and that of its format."""
    from swvp.text.files import analyse_file
    from swvp.text.pipeline import Pipeline

    pipeline = Pipeline.load(paths[0])
    if stages is not None:
        pipeline = pipeline.only(stages)
    if lexicon is not None:
        pipeline.add_lexicon(paths[lexicon])

    def analyse(path: str, section: Section | None, line: int, note: Callable[[str], object]) -> Iterator[bytes]:
        return analyse_file(pipeline, path, **options, section=section, line=line)

    return analyse, lambda path: CONLLU_FILE if options["input"] == "conllu" else None
