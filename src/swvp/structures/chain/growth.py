"""Owns weights of a chain that keep their place while labels and attributes are added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from swvp.structures.operations import Floats, refresh

__all__ = ["take_over"]


def take_over(model: Any, old: Mapping[str, Floats], labels: int) -> None:
    """Give a model the weights, and their sums, of one for the first `labels` labels; the names are those of fields.

    The boundary is numbered after the labels, so its weights move.
    """
    for name, kept in old.items():
        array = getattr(model, name)
        if name in ("w", "delayed"):
            array[: len(kept), :labels] = kept
        elif len(kept):
            array[np.ix_(*[[*range(labels), len(array) - 1]] * array.ndim)] = kept
    refresh(model)
