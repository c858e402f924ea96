"""Which labels an attribute has weights for, in taggers with many labels: `Rows`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import kernel
from swvp.structures.chain.likelihood import Occurrences
from swvp.types import Ids, Int32s, Ints

__all__ = ["Rows", "rows_of_positions"]


class Rows(NamedTuple):
    """The labels of each attribute, in ascending order: labels[starts[a]:starts[a + 1]]."""

    starts: Ints
    labels: Ids


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
