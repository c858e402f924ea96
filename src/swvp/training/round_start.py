"""The weights at the beginning of a round, on their way to the workers: what the round before changed, or all of them.

A worker process keeps the weights of the last round that it took part in. If that is the round before, the changes are
enough; else the worker says that it lacks weights, and gets all of them. Threads of the leader read its own arrays.
"""

from __future__ import annotations

import threading
import uuid
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.learning.perceptron import State
from swvp.training.mixing import Packed, packed, unpacked
from swvp.training.training import SUMS, weight_names

__all__ = ["SQUARES", "Dense", "Sender", "Start", "weights_at"]

SQUARES = "squares"
PLACES_OF = {sums: name for name, sums in SUMS.items()}
"""Averaging sums are sent for the places of their weights."""

Dense = dict[str, NDArray[Any]]
"""Flat arrays by name: weights, sums of squares and, with one shard, averaging sums. They are only read."""


class Start(NamedTuple):
    """The beginning of a round.

    Parameters
    ----------
    training : str
        A name of the training, for processes that keep its weights.
    round : int
        Its number, from 1.
    base : int or None
        The round at whose beginning the arrays are put into the weights; None: all other elements are 0.
    arrays : Packed
        Places and new values. With one shard the averaging sums are among them, so that they are summed as in plain
        training; the sums of several shards begin at 0 in every round.
    sizes : dict
        The number of elements and the type of each flat array.
    largest : float
        The largest |margin| so far.
    dense : dict, optional
        The arrays themselves, for threads of this process.
    """

    training: str
    round: int
    base: int | None
    arrays: Packed
    sizes: dict[str, tuple[int, str]]
    largest: float
    dense: Dense | None = None


class Sender:
    """What the leader sends at the beginnings of rounds; `here` if it goes no further than the threads of this process.

    After a round `changed` are the places and values that it changed.
    """

    def __init__(self, model: Any, state: State, *, shards: int, here: bool):
        self.training = uuid.uuid4().hex
        self.here = here
        self.dense: Dense = {name: getattr(model, name).reshape(-1) for name in weight_names(model)}
        if shards == 1:
            self.dense |= {SUMS[name]: getattr(model, SUMS[name]).reshape(-1) for name in weight_names(model)}
        if len(state.squares):
            self.dense[SQUARES] = state.squares
        self.changed: Packed | None = None

    def start(self, number: int, largest: float, *, whole: bool = False) -> Start:
        """The beginning of a round: what the last one has changed or, if `whole` or at first, all that is not 0."""
        sizes = {name: (len(array), array.dtype.str) for name, array in self.dense.items()}
        whole = whole or self.changed is None
        arrays = self._all() if self.changed is None or whole else self.changed
        base = None if whole else number - 1
        return Start(self.training, number, base, arrays, sizes, largest, self.dense if self.here else None)

    def _all(self) -> Packed:
        arrays: dict[str, NDArray[Any]] = {}
        for name, array in self.dense.items():
            if name in PLACES_OF:
                continue
            sums = self.dense.get(SUMS.get(name, ""))
            places = np.flatnonzero(array if sums is None else (array != 0.0) | (sums != 0.0))
            arrays |= {f"{name} places": places, f"{name} values": array[places]}
            if sums is not None:
                arrays[f"{SUMS[name]} values"] = sums[places]
        return packed(arrays)


def put(dense: Dense, arrays: dict[str, NDArray[Any]]) -> None:
    """Overwrite the elements of flat arrays that were sent."""
    for name, array in dense.items():
        if f"{name} values" in arrays:
            array[arrays[f"{PLACES_OF.get(name, name)} places"]] = arrays[f"{name} values"]


# ---------------------------------------------------------------- what a worker process keeps


class Kept(NamedTuple):
    """The weights at the beginning of a round."""

    training: str
    round: int
    dense: Dense


kept: Kept | None = None
lock = threading.Lock()


def weights_at(start: Start) -> Dense | None:
    """The weights at the beginning of a round; None if this process has not got those that they are put into.

    A process keeps the weights of one round of one training.
    """
    global kept
    if start.dense is not None:
        return start.dense
    with lock:
        if kept is not None and (kept.training, kept.round) == (start.training, start.round):
            return kept.dense
        if start.base is None:
            dense: Dense = {name: np.zeros(size, dtype) for name, (size, dtype) in start.sizes.items()}
        elif kept is not None and (kept.training, kept.round) == (start.training, start.base):
            dense = kept.dense  # tasks of the round before are done: nothing reads it
        else:
            return None
        put(dense, unpacked(start.arrays))
        kept = Kept(start.training, start.round, dense)
        return dense
