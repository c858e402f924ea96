"""Owns the rule that a model has one training at a time, and a name to which others can be added."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from swvp.errors import InputError
from swvp.io.files import cannot_write
from swvp.io.lock import exclusive

__all__ = ["one_training"]

LONGEST_ENDING = ".labels.checkpoint"

Train = TypeVar("Train", bound=Callable[..., None])


def one_training(train: Train) -> Train:
    """Let a function that trains, given its RunOptions first, run only while no other process writes the same model."""

    @functools.wraps(train)
    def run(options: Any, *more: Any, **settings: Any) -> None:
        check_name(options.model)
        with exclusive(options.model):
            train(options, *more, **settings)

    return run  # type: ignore[return-value]


def check_name(model: Path) -> None:
    """Raise InputError if there cannot be a file of this name, or none for its checkpoints."""
    try:
        model.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise cannot_write(model, error) from None
    most = 255
    if hasattr(os, "pathconf") and model.parent.is_dir():
        most = os.pathconf(model.parent, "PC_NAME_MAX")
    most -= len(LONGEST_ENDING)
    length = len(os.fsencode(model.name))
    if length > most:
        raise InputError(
            f"cannot write {model}: its name has {length} bytes, at most {most} leave room for checkpoints"
        )
