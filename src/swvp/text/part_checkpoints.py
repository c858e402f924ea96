"""Checkpoints of finished stages: what an interrupted training of a pipeline does not have to train again.

A stage is stored beside the model file when it is trained, as are the predicted columns of each fold. A checkpoint
names the options and a digest of the data: it is used only by a training with the same ones.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.errors import InputError
from swvp.io.container import Contents, read_container, write_container
from swvp.io.model_files import Memory, require, strings
from swvp.io.table import Column
from swvp.io.treebank import Treebank
from swvp.text.jackknife import COLUMNS, columns_of, with_columns
from swvp.text.stages import Arrays, array_names, described_parts, rebuilt_parts
from swvp.training.session import Session
from swvp.training.training import START_AGAIN, different

__all__ = ["PartCheckpoints", "described_columns", "digest_of", "stored"]

PART, FOLD = "pipeline stage", "pipeline fold"
"""The kinds of files."""

Parts = dict[str, Any]
Predict = Callable[[], Treebank]
Made = TypeVar("Made")


class PartCheckpoints:
    """The checkpoints of the parts of one pipeline; without a checkpoint of the session, nothing is stored.

    Parameters
    ----------
    session : Session
        It says where checkpoints are, and removes them when the model is complete.
    data : str
        A digest of the training set and the dev set.
    """

    def __init__(self, session: Session, data: str):
        self.session, self.data = session, data

    def parts(self, stage: str, options: Mapping[str, Any], train: Callable[[], Parts]) -> tuple[Parts, Path | None]:
        """Return the parts of a stage, and the checkpoint that they are from: None if they were trained now."""

        def write(path: Path, stamp: dict[str, Any], parts: Parts) -> None:
            meta, arrays = described_parts(parts)
            write_container(path, PART, {"stamp": stamp, **meta}, arrays)

        def read(contents: Contents) -> Parts:
            return rebuilt_parts(contents, Memory())

        return self._made(stage, options, lambda: stored(train()), PART, array_names, read, write)

    def columns(self, number: int, options: Mapping[str, Any], fold: Treebank, predict: Predict) -> Treebank:
        """Return a fold with its predicted columns; `number` is that of the fold, from 1."""

        def write(path: Path, stamp: dict[str, Any], columns: dict[str, Column]) -> None:
            meta, arrays = described_columns(columns)
            write_container(path, FOLD, {"stamp": stamp, **meta}, arrays)

        def read(contents: Contents) -> dict[str, Column]:
            texts = contents.meta["columns"]
            return {name: column(strings(texts[name]), contents.arrays[name], fold.tokens) for name in COLUMNS}

        def make() -> dict[str, Column]:
            return columns_of(predict())

        columns, _ = self._made(f"fold-{number}", options, make, FOLD, lambda meta: set(COLUMNS), read, write)
        return with_columns(fold, columns)

    def _made(
        self,
        stage: str,
        options: Mapping[str, Any],
        make: Callable[[], Made],
        kind: str,
        names: Callable[[dict[str, Any]], set[str]],
        read: Callable[[Contents], Made],
        write: Callable[[Path, dict[str, Any], Made], None],
    ) -> tuple[Made, Path | None]:
        """Return what a checkpoint holds, or else what `make` makes, which is stored."""
        path = self.session.path_of(stage)
        if path is None:
            return make(), None
        stamp = self._stamp(options)
        if path.exists():
            return checked(path, kind, names, stamp, read), path
        made = make()
        write(path, stamp, made)
        return made, None

    def is_stored(self, stage: str) -> bool:
        """Whether there is a checkpoint of a stage or fold."""
        path = self.session.path_of(stage)
        return path is not None and path.exists()

    def store(self, stage: str, options: Mapping[str, Any], meta: dict[str, Any], arrays: Arrays) -> None:
        """Write the checkpoint of a stage or fold that was trained elsewhere; raise InputError without checkpoints."""
        path = self.session.path_of(stage)
        if path is None:
            raise InputError("training on a cluster needs a model file, beside which finished stages are stored")
        write_container(path, FOLD if "columns" in meta else PART, {"stamp": self._stamp(options), **meta}, arrays)

    def _stamp(self, options: Mapping[str, Any]) -> dict[str, Any]:
        stamp = {"options": dict(options), "data": self.data, "swvp": __version__}
        return json.loads(json.dumps(stamp, default=repr))  # type: ignore[no-any-return]

    def claim(self, stages: Iterable[str]) -> None:
        """Let the session remove the checkpoints of these stages when the model is complete, used or not."""
        for stage in stages:
            self.session.path_of(stage)


def described_columns(columns: Mapping[str, Column]) -> tuple[dict[str, Any], Arrays]:
    """Return the predicted columns of a fold as the content of a checkpoint."""
    texts = {name: columns[name].strings for name in COLUMNS}
    return {"columns": texts}, {name: columns[name].ids for name in COLUMNS}


def stored(parts: Parts) -> Parts:
    """Return parts as they are after they were written to a file and read.

    Files may hold weights with fewer digits. So a training that resumes goes on with the same weights as one that was
    not interrupted.
    """
    meta, arrays = described_parts(parts)
    return rebuilt_parts(Contents(PART, json.loads(json.dumps(meta)), arrays), Memory())


def checked(
    path: Path,
    kind: str,
    names: Callable[[dict[str, Any]], set[str]],
    stamp: dict[str, Any],
    read: Callable[[Contents], Made],
) -> Made:
    """Read a checkpoint; raise InputError if it is damaged or of another training."""
    try:
        contents = read_container(path, kind, names)
        differing = different(contents.meta["stamp"], stamp)
        if not differing:
            return read(contents)
    except InputError as error:
        text = str(error)
        raise InputError(f"{text if text.startswith(str(path)) else f'{path}: {text}'}: {START_AGAIN}") from None
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, MemoryError) as error:
        raise InputError(f"{path}: its parts do not fit together ({error}): {START_AGAIN}") from None
    raise InputError(f"{path} is the checkpoint of another training ({', '.join(differing)} differ): {START_AGAIN}")


def column(texts: list[str], ids: NDArray[Any], tokens: int) -> Column:
    """Return a column of a checkpoint; raise InputError if it is not one of so many tokens."""
    require(ids.dtype == np.int32 and ids.shape == (tokens,), "columns")
    require(not tokens or bool(0 <= ids.min() <= ids.max() < len(texts)), "columns")
    return Column(texts, ids)


def digest_of(*treebanks: Treebank | None) -> str:
    """Return a digest of treebanks and of the files that they are from."""
    digest = hashlib.sha256()
    for treebank in treebanks:
        digest.update(b"no treebank" if treebank is None else b"treebank")
        if treebank is None:
            continue
        texts = [] if treebank.table is None else [treebank.table.content]
        for part in [*treebank.parts(), *texts]:
            block = part.encode() if isinstance(part, str) else np.ascontiguousarray(part).tobytes()
            digest.update(f"{len(block)} ".encode())
            digest.update(block)
    return digest.hexdigest()
