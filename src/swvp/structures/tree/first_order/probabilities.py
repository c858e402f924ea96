"""The log-linear model of arcs: the probabilities of all arcs, and the kernels of the pruner, which learns them.

P(y | x) = exp(score(y)) / Z for each tree y of a sentence, where the score is w·φ(x, y), perhaps divided by a
temperature. `swvp.structures.tree.matrix_tree` has the sums over all trees, `swvp.structures.tree.inside_outside` those
over the projective ones. The table of a sentence of n words is [h, m], (n + 1)². The tables of many sentences are
stored one after the other in one row.

The pruner gives the heads that a word may have. The gradient of log P(y | x) by its weights w is

    Σ_arcs ([arc in y] - P(arc | x))·φ(arc).

It uses only arcs that tags and lengths allow. In a sentence where every tree has an arc that they do not allow, all
arcs are used: `unpruned` are the tables that allow all arcs.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import inlined_source, kernel
from swvp.structures.tree.encoding import allowed
from swvp.structures.tree.first_order.features import NO_OWNERS, arc_keys, place, score_sentence
from swvp.structures.tree.first_order.model import ArcModel, Arcs, decode, unpruned
from swvp.structures.tree.inside_outside import projective_marginals
from swvp.structures.tree.matrix_tree import tree_marginals
from swvp.types import Floats, Ints

__all__ = [
    "arc_marginals",
    "arc_weights",
    "distributions",
    "keep_heads",
    "learn",
    "posteriors",
    "rescued",
    "score_all",
    "table_of",
    "tables_begin",
    "weights_from",
]


@kernel
def arc_marginals(scores, n, projective, one_root):
    """log Z and P(h → m | x), [h, m], of the trees of n words; with exactly one child of the root if `one_root`.

    If `projective` is None instead of False, the sums over projective trees are not compiled. Arcs of -inf have
    probability 0. If every tree has one, log Z is -inf and all probabilities are 0.
    """
    marginals = np.zeros((n + 1, n + 1))
    if projective is not None:  # noqa: SIM102, for the compiler
        if projective:
            return projective_marginals(scores, n, one_root, marginals), marginals
    return tree_marginals(scores, n, one_root, marginals), marginals


# ---------------------------------------------------------------- the distributions of many sentences


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


# ---------------------------------------------------------------- the pruner

SMALL = 1e-3
"""The slopes that `learn` ignores by default; smaller values do not improve the pruner, larger ones harm it."""


@inlined_source
def posteriors(nodes, tables, unpruned, i, w, projective, one_root, buffers):
    """Score the arcs of sentence i; return its length, log Z and P(h → m | x), [h, m]."""
    n = score_sentence(nodes, tables, i, w, NO_OWNERS, buffers)
    log_z, marginals = arc_marginals(buffers.scores, n, projective, one_root)
    if log_z == -np.inf:
        score_sentence(nodes, unpruned, i, w, NO_OWNERS, buffers)
        log_z, marginals = arc_marginals(buffers.scores, n, projective, one_root)
    return n, log_z, marginals


@kernel
def learn(nodes, tables, unpruned, heads, order, projective, one_root, w, squares, buffers, rate, small):
    """One epoch over the sentences in `order`: a step along the gradient of each, with AdaGrad's rates.

    Arcs whose slope, [arc in y] - P(arc | x), is at most `small` are ignored. Returns the log-loss, which is infinite
    if a gold arc is not allowed.
    """
    mask = np.uint64(len(w) - 1)
    loss = 0.0
    for i in order:
        first = nodes.starts[i]
        n, log_z, marginals = posteriors(nodes, tables, unpruned, i, w, projective, one_root, buffers)
        loss += log_z
        for m in range(1, n + 1):
            gold = heads[first - i + m - 1]
            loss -= buffers.scores[gold, m]
            for h in range(n + 1):
                slope = -marginals[h, m]
                if h == gold:
                    slope += 1.0
                if abs(slope) > small and h != m:
                    for f in range(arc_keys(nodes, tables, first, h, m, buffers, buffers.features)):
                        at = buffers.features[f] & mask
                        squares[at] += slope * slope
                        w[at] += rate * slope / np.sqrt(squares[at])
    return loss


@kernel
def keep_heads(
    nodes, tables, unpruned, gold, first, end, projective, one_root, w, buffers, most, threshold, out, counts
):
    """Write the candidate heads of the words of the sentences first:end, out[word, :counts[word]], increasing.

    These are the most probable heads, at most `most`, each at least `threshold` times as probable as the best; and
    always the heads of the best tree and of the gold tree, if it is given.
    """
    longest = 0
    for i in range(first, end):
        longest = max(longest, nodes.starts[i + 1] - nodes.starts[i] - 1)
    tree, chosen = np.zeros(longest, np.int64), np.zeros(most + 2, np.int64)
    for i in range(first, end):
        n, _, marginals = posteriors(nodes, tables, unpruned, i, w, projective, one_root, buffers)
        decode(buffers.scores, n, projective, one_root, tree)
        word = nodes.starts[i] - i
        for m in range(1, n + 1):
            size = best_heads(marginals, n, m, most, threshold, chosen)
            size = with_head(tree[m - 1], chosen, size)
            if len(gold):
                size = with_head(gold[word + m - 1], chosen, size)
            for k in range(size):
                place = k
                while place > 0 and out[word + m - 1, place - 1] > chosen[k]:
                    out[word + m - 1, place] = out[word + m - 1, place - 1]
                    place -= 1
                out[word + m - 1, place] = chosen[k]
            counts[word + m - 1] = size


@kernel
def best_heads(marginals, n, m, most, threshold, chosen):
    """Write the most probable heads of word m, the best first; of equals the smallest. Return their number."""
    best = 0.0
    for h in range(n + 1):
        best = max(best, marginals[h, m])
    least = threshold * best
    size = 0
    for h in range(n + 1):
        p = marginals[h, m]
        if p < least or p == 0.0 or (size == most and p <= marginals[chosen[size - 1], m]):
            continue
        size += size < most
        k = size - 1
        while k > 0 and marginals[chosen[k - 1], m] < p:
            chosen[k] = chosen[k - 1]
            k -= 1
        chosen[k] = h
    return size


@kernel
def with_head(head, chosen, size):
    """Add a head that is not there yet; return their number."""
    for k in range(size):
        if chosen[k] == head:
            return size
    chosen[size] = head
    return size + 1
