"""The paper's linear chain written as its definitions, in plain Python: for theory, for study, as an oracle."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from swvp.types import Floats

__all__ = ["PlainChain"]


class PlainChain:
    """The paper's linear chain as a structure for `StructuredPerceptron` and the functions of `swvp.theory`.

    Its features are those of `swvp.structures.chain.indicator`, in the same order.

    Parameters
    ----------
    symbols : int
        The number of different observations, 0 to symbols - 1.
    labels : int
        The number of different labels, 0 to labels - 1.

    Examples
    --------
    >>> chain = PlainChain(symbols=2, labels=2)
    >>> chain.joint_feature((0, 1), (1, 1)).astype(int)[:7]  # (x), (y), (y')
    array([1, 1, 0, 2, 0, 1, 1])
    >>> len(list(chain.outputs((0, 1, 1))))
    8
    """

    def __init__(self, symbols: int, labels: int):
        self.symbols = symbols
        self.labels = labels

    def joint_feature(self, x: Sequence[int], y: Sequence[int]) -> Floats:
        S, L = self.symbols, self.labels
        counts = [np.zeros(shape) for shape in ((S,), (L,), (L + 1,), (S, L), (L + 1, L), (S, L + 1, L))]
        previous = L  # START
        for symbol, label in zip(x, y, strict=True):
            features = ((symbol,), (label,), (previous,), (symbol, label), (previous, label), (symbol, previous, label))
            for block, feature in zip(counts, features, strict=True):
                block[feature] += 1
            previous = label
        return np.concatenate([block.ravel() for block in counts])

    def outputs(self, x: Sequence[int]) -> list[tuple[int, ...]]:
        """Every label, in the order in which ties are broken: the last position changes slowest."""
        return [y[::-1] for y in itertools.product(range(self.labels), repeat=len(x))]

    def argmax(self, x: Sequence[int], w: Floats) -> tuple[int, ...]:
        return max(self.outputs(x), key=lambda y: float(w @ self.joint_feature(x, y)))
