"""Training a tagger in little memory, with `GrowingModel`: its weights in order, and its state for checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp.io.model_files import Arrays, fill, parts_of, sparse
from swvp.structures.chain.growing import GrowingModel, fill_in_order, rows_of_model, weights_in_order
from swvp.structures.chain.rows import WeightRows, weight_rows
from swvp.structures.exact import averaged
from swvp.tagging.decoder import ROW_LABELS, ROW_STARTS
from swvp.training.training import SQUARES, Training, Weights
from swvp.types import Ints

__all__ = ["GrowingTraining", "as_rows"]

BY_PLACE = ("w", "delayed")
BEST = "best w"


class GrowingTraining(Training):
    """A training whose weights `w` are `WeightRows`; its checkpoints have the same form as those with all weights."""

    model: GrowingModel

    def weights(self) -> Weights:
        model, clock = self.model, self._clock() if self.average else None
        rows = rows_of_model(model, clock)
        moves = model.w_move.copy() if clock is None else averaged(model.w_move, model.delayed_move, clock)
        return {"w": rows.weights, ROW_STARTS: rows.starts, ROW_LABELS: rows.labels, "w_move": moves}

    def result(self) -> Weights:
        self.problem = None  # its memory is needed for the weights
        return self.weights() if self.best is None else self.best

    def arrays(self) -> Arrays:
        model, squares = self.model, self.state.squares
        arrays: Arrays = {}
        end = model.free[-1]
        for name in BY_PLACE:
            arrays |= named(name, *weights_in_order(model, getattr(model, name)[:end]))
        arrays |= sparse("w_move", model.w_move) | sparse("delayed_move", model.delayed_move)
        if len(squares):
            features, values = weights_in_order(model, squares[:end])
            moves = squares[: model.w_move.size]
            (of_moves,) = np.nonzero(moves)
            features = np.concatenate([features, of_moves + self._size])
            arrays |= named(SQUARES, features, np.concatenate([values.astype(np.float32), moves[of_moves]]))
        if self.best is not None:
            attributes, labels, values = as_rows(self.best).nonzero()
            arrays |= named(BEST, attributes * model.node.shape[1] + labels, values)
            arrays |= sparse("best w_move", self.best["w_move"])
        return arrays

    def restore(self, arrays: Arrays) -> None:
        model, labels = self.model, self.model.node.shape[1]
        for name in BY_PLACE:
            fill_in_order(model, name, *numbered(arrays, name, self._size))
        fill(model.w_move, arrays, "w_move")
        fill(model.delayed_move, arrays, "delayed_move")
        if len(self.state.squares):
            features, values = numbered(arrays, SQUARES, self._size + model.w_move.size)
            moves = features >= self._size
            fill_in_order(model, SQUARES, features[~moves], values[~moves])
            model.squares[features[moves] - self._size] = values[moves]
        if self.scores:
            places, values = numbered(arrays, BEST, self._size)
            counts = np.bincount(places // labels, minlength=len(model.rows))
            rows = weight_rows(counts, places % labels, values, labels)
            best_move = np.zeros_like(model.w_move)
            fill(best_move, arrays, "best w_move")
            self.best = {"w": rows.weights, ROW_STARTS: rows.starts, ROW_LABELS: rows.labels, "w_move": best_move}

    @property
    def _size(self) -> int:
        """The number of weights of attributes, as `AttributeModel` numbers them."""
        return len(self.model.rows) * int(self.model.node.shape[1])


def named(name: str, places: NDArray[Any], values: NDArray[Any]) -> Arrays:
    """What `sparse` returns for an array that has these values at these places, which ascend, and 0 elsewhere."""
    few = not len(places) or places[-1] < 2**32
    return {f"{name} places": places.astype(np.uint32) if few else places, f"{name} values": values}


def numbered(arrays: Arrays, name: str, size: int) -> tuple[Ints, NDArray[Any]]:
    """The checked places and values that `named` returned."""
    places, values = parts_of(arrays, name, size)
    return places.astype(np.int64), values


def as_rows(weights: Weights) -> WeightRows:
    """The weights of attributes of `GrowingTraining.weights`."""
    return WeightRows(weights[ROW_STARTS], weights[ROW_LABELS], weights["w"])
