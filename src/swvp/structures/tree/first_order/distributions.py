"""The scores of all arcs of many sentences, their probabilities, and the weights that make up the scores.

The table of a sentence of n words is [h, m], (n + 1)². The tables of all sentences are stored one after the other in
one row.
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
    begins: Ints = np.concatenate([[0], np.cumsum(np.diff(problem.nodes.starts) ** 2)])
    return begins


def table_of(row: Floats, begins: Ints, i: int) -> Floats:
    """The table of sentence i."""
    size = int(np.sqrt(begins[i + 1] - begins[i]) + 0.5)
    return row[begins[i] : begins[i + 1]].reshape(size, size)


def rescued(problem: Arcs, model: ArcModel, i: int) -> tuple[Floats, Floats]:
    """The scores of a sentence in which every tree has a pruned arc, and by how much each was lowered.

    Pruned arcs have their scores, lowered so much that the trees with the fewest of them come before all others and
    have all of the probability.
    """
    size = int(problem.nodes.starts[i + 1] - problem.nodes.starts[i])
    begins, (pruned, scores) = np.zeros(i + 2, np.int64), np.zeros((2, size * size))
    score_all(problem, model, i, i + 1, begins, pruned)
    score_all(unpruned(problem), model, i, i + 1, begins, scores)
    is_arc = np.isfinite(scores)
    lowered = np.where(np.isfinite(pruned) | ~is_arc, 0.0, 100 * size * (1.0 + np.ptp(scores[is_arc])))
    return (scores - lowered).reshape(size, size), lowered.reshape(size, size)


@kernel
def score_all(problem, model, first, end, begins, out):
    """Write the scores of the arcs of the sentences first:end; -inf for pruned arcs and where there is no arc."""
    for i in range(first, end):
        n = score_sentence(problem.nodes, problem.tables, i, model.w, model.owners, model.buffers)
        at = begins[i]
        for h in range(n + 1):
            for m in range(n + 1):
                out[at] = model.buffers.scores[h, m] if m != h and m > 0 else -np.inf
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
        log_z[i], table = arc_marginals(scaled, size - 1, projective, one_root)
        at = begins[i]
        for h in range(size):
            for m in range(size):
                marginals[at] = table[h, m]
                at += 1


@kernel
def arc_weights(problem, model, i, h, m, out):
    """Write the weights of the features of one arc of sentence i, in the order of `arc_keys`; return how many."""
    score_sentence(problem.nodes, problem.tables, i, model.w, model.owners, model.buffers)
    mask = np.uint64(len(model.w) - 1)
    keys = model.buffers.features
    size = arc_keys(problem.nodes, problem.tables, problem.nodes.starts[i], h, m, model.buffers, keys)
    for f in range(size):
        out[f] = model.w[place(keys[f], model.owners, mask)]
    return size


@kernel
def weights_from(problem, model, i, h, keys, weights, arcs):
    """Write the features of all arcs from h that are not pruned: their keys, weights, and (m, number in the arc).

    The buffers must hold the nodes of sentence i. Returns their number.
    """
    first = problem.nodes.starts[i]
    n = problem.nodes.starts[i + 1] - first - 1
    mask = np.uint64(len(model.w) - 1)
    size = 0
    for m in range(1, n + 1):
        if m != h and allowed(problem.tables.longest, problem.nodes.kinds, first, h, m):
            for f in range(arc_keys(problem.nodes, problem.tables, first, h, m, model.buffers, model.buffers.features)):
                keys[size] = model.buffers.features[f]
                weights[size] = model.w[place(model.buffers.features[f], model.owners, mask)]
                arcs[size, 0], arcs[size, 1] = m, f
                size += 1
    return size
