"""The kernels of the pruner: an arc-factored log-linear model that gives the heads that a word may have.

P(y | x) ∝ exp(w·φ(x, y)) over the trees of a sentence, and the gradient of log P(y | x) by w is

    Σ_arcs ([arc in y] - P(arc | x))·φ(arc).

Only arcs that tags and lengths allow are used (`swvp.structures.tree.tag_pruning`). In a sentence where every tree has
an arc that they do not allow, all arcs are used: `unpruned` are the tables that allow all arcs.
"""

from __future__ import annotations

import numpy as np

from swvp.compiled import inlined_source, kernel
from swvp.structures.tree.first_order.features import arc_keys, score_sentence
from swvp.structures.tree.first_order.model import decode
from swvp.structures.tree.sums.marginals import arc_marginals

__all__ = ["keep_heads", "learn", "posteriors"]

SMALL = 1e-3
"""The slopes that `learn` ignores by default; smaller values do not improve the pruner, larger ones harm it."""


@inlined_source
def posteriors(nodes, tables, unpruned, i, w, projective, one_root, buffers):
    """Score the arcs of sentence i; return its length, log Z and P(h → m | x), [h, m]."""
    n = score_sentence(nodes, tables, i, w, None, buffers)
    log_z, marginals = arc_marginals(buffers.scores, n, projective, one_root)
    if log_z == -np.inf:
        score_sentence(nodes, unpruned, i, w, None, buffers)
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
