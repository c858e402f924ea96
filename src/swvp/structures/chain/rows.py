"""Which labels an attribute has weights for: `Rows` in taggers with many labels, `WeightRows` with the weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import kernel
from swvp.structures.chain.likelihood import Occurrences
from swvp.types import Floats, Ids, Int32s, Ints

__all__ = ["Rows", "WeightRows", "rows_of_positions", "weight_rows"]


class Rows(NamedTuple):
    """The labels of each attribute, in ascending order: labels[starts[a]:starts[a + 1]]."""

    starts: Ints
    labels: Ids


class WeightRows(NamedTuple):
    """The labels and the weights of each attribute, by ascending label: labels[starts[a]:starts[a + 1]].

    Rows of all labels may have zeros in them, which are faster to add up than to leave out.
    """

    starts: Ints
    labels: Ids
    weights: Floats

    def nonzero(self) -> tuple[Ints, Ids, Floats]:
        """The attributes, the labels and the values of the weights that are not 0."""
        there = self.weights != 0
        attributes = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return attributes[there], self.labels[there], self.weights[there]


FULL_FROM = 4
"""A row of `WeightRows` with weights for more than a quarter of the labels has one for each: that is faster."""


def weight_rows(counts: Ints, labels: Ints | Ids, weights: Floats, every: int) -> WeightRows:
    """The rows of attributes that have so many weights, of these labels, by attribute and ascending label.

    `every` is the number of labels.
    """
    full = counts * FULL_FROM > every
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(np.where(full, every, counts), out=starts[1:])
    rows = WeightRows(starts, np.zeros(starts[-1], np.uint32), np.zeros(starts[-1]))
    rows.labels[(starts[:-1][full][:, None] + np.arange(every)).ravel()] = np.tile(np.arange(every), int(full.sum()))
    inside = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = np.repeat(starts[:-1], counts) + np.where(np.repeat(full, counts), labels, inside)
    rows.labels[places], rows.weights[places] = labels, weights
    return rows


def rows_of_positions(where: Occurrences, of_positions: Int32s, labels: int) -> Rows:
    """The labels of the positions at which each attribute occurs; all labels, if they are more than half of them.

    Full rows are faster to add up, and few attributes have that many labels.

    Parameters
    ----------
    where : Occurrences
        The positions of each attribute.
    of_positions : array of shape (positions, most)
        The labels of each position; the first -1 of a position ends them.
    labels : int
        The number of labels.

    Returns
    -------
    Rows
    """
    starts = np.zeros(len(where.starts), np.int64)
    collect_labels(where.starts, where.positions, of_positions, labels, starts, np.zeros(0, np.uint32))
    np.cumsum(starts, out=starts)
    found = np.empty(starts[-1], np.uint32)
    collect_labels(where.starts, where.positions, of_positions, labels, starts, found)
    return Rows(starts, found)


@kernel
def collect_labels(begins, positions, of_positions, labels, starts, found):
    """Write the labels of each attribute to `found`, from starts[a] on; without room, their number to starts[a + 1]."""
    seen, here = np.full(labels, -1, np.int64), np.empty(labels, np.uint32)
    for a in range(len(begins) - 1):
        count = 0
        for p in range(begins[a], begins[a + 1]):
            t = positions[p]
            for r in range(of_positions.shape[1]):
                y = of_positions[t, r]
                if y < 0:
                    break
                if seen[y] != a:
                    seen[y] = a
                    s = count
                    while s > 0 and here[s - 1] > y:
                        here[s] = here[s - 1]
                        s -= 1
                    here[s] = y
                    count += 1
        full = 2 * count > labels
        if len(found) == 0:
            starts[a + 1] = labels if full else count
            continue
        for s in range(starts[a + 1] - starts[a]):
            found[starts[a] + s] = s if full else here[s]
