"""Owns the scores of all arcs of many sentences, their probabilities, and the weights that scores are made of.

The table of a sentence of n words is [h, m], (n + 1)²; those of all sentences lie in one row, one after the other.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import kernel
from swvp.structures.tree.first_order.features import arc_keys, place, score_sentence
from swvp.structures.tree.first_order.model import ArcModel, Arcs, unpruned
from swvp.structures.tree.sums.marginals import arc_marginals
from swvp.structures.tree.tag_pruning import allowed
from swvp.types import Floats, Ints

__all__ = ["arc_weights", "distributions", "rescued", "score_all", "table_of", "tables_begin", "weights_from"]


def tables_begin(problem: Arcs) -> Ints:
    """Where the table of each sentence begins, and where the last ends."""
    found: Ints = np.concatenate([[0], np.cumsum(np.diff(problem.nodes.starts) ** 2)])
    return found


def table_of(row: Floats, begins: Ints, i: int) -> Floats:
    """The table of sentence i."""
    size = int(np.sqrt(begins[i + 1] - begins[i]) + 0.5)
    return row[begins[i] : begins[i + 1]].reshape(size, size)


def rescued(problem: Arcs, model: ArcModel, i: int) -> tuple[Floats, Floats]:
    """The scores of a sentence in which every tree has a pruned arc, and by how much each was lowered.

    Pruned arcs have their scores, so much lower that the trees with the fewest of them come before all others, and no
    probability is left for these.
    """
    size = int(problem.nodes.starts[i + 1] - problem.nodes.starts[i])
    begins, (few, every) = np.zeros(i + 2, np.int64), np.zeros((2, size * size))
    score_all(problem, model, i, i + 1, begins, few)
    score_all(unpruned(problem), model, i, i + 1, begins, every)
    there = np.isfinite(every)
    lowered = np.where(np.isfinite(few) | ~there, 0.0, 100 * size * (1.0 + np.ptp(every[there])))
    return (every - lowered).reshape(size, size), lowered.reshape(size, size)


@kernel
def score_all(problem, model, first, end, begins, out):
    """Write the scores of the arcs of the sentences first:end; -inf for what is pruned and for what is no arc."""
    for i in range(first, end):
        n = score_sentence(problem.nodes, problem.tables, i, model.w, model.owners, model.room)
        at = begins[i]
        for h in range(n + 1):
            for m in range(n + 1):
                out[at] = model.room.scores[h, m] if m != h and m > 0 else -np.inf
                at += 1


@kernel
def distributions(scores, begins, first, end, projective, one_root, temperature, marginals, log_z):
    """Write P(h → m | x) and log Z of the sentences first:end, of scores divided by the temperature.

    Where every tree has a forbidden arc, log Z is -inf and all probabilities are 0.
    """
    for i in range(first, end):
        size = int(np.sqrt(begins[i + 1] - begins[i]) + 0.5)
        scaled = np.empty((size, size))
        at = begins[i]
        for h in range(size):
            for m in range(size):
                scaled[h, m] = scores[at] / temperature
                at += 1
        log_z[i], found = arc_marginals(scaled, size - 1, projective, one_root)
        at = begins[i]
        for h in range(size):
            for m in range(size):
                marginals[at] = found[h, m]
                at += 1


@kernel
def arc_weights(problem, model, i, h, m, out):
    """Write the weights of the features of one arc of sentence i, in the order of `arc_keys`; return how many."""
    score_sentence(problem.nodes, problem.tables, i, model.w, model.owners, model.room)
    mask = np.uint64(len(model.w) - 1)
    size = arc_keys(problem.nodes, problem.tables, problem.nodes.starts[i], h, m, model.room, model.room.found)
    for f in range(size):
        out[f] = model.w[place(model.room.found[f], model.owners, mask)]
    return size


@kernel
def weights_from(problem, model, i, h, keys, weights, arcs):
    """Write the features of all arcs from h that are not pruned: their keys, weights, and (m, number in the arc).

    The nodes of sentence i must be in the room. Returns how many there are.
    """
    first = problem.nodes.starts[i]
    n = problem.nodes.starts[i + 1] - first - 1
    mask = np.uint64(len(model.w) - 1)
    size = 0
    for m in range(1, n + 1):
        if m != h and allowed(problem.tables.longest, problem.nodes.kinds, first, h, m):
            for f in range(arc_keys(problem.nodes, problem.tables, first, h, m, model.room, model.room.found)):
                keys[size] = model.room.found[f]
                weights[size] = model.w[place(model.room.found[f], model.owners, mask)]
                arcs[size, 0], arcs[size, 1] = m, f
                size += 1
    return size
