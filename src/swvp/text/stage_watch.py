"""Who is told of the epochs of a stage of a pipeline."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Watch", "ignore"]

Watch = Callable[[int, int], object]
"""Called after each epoch with its number, from 1, and the number of epochs."""


def ignore(epoch: int, epochs: int) -> None:
    """Do nothing."""
