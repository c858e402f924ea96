"""The arc-factored model: φ(x, y) is the sum of the features of the arcs of the tree y.

Position k of the label is the head of word k + 1: 0 for the root, else the number of a word. So a mixed assignment
changes heads, and Δφ(x, y, m^J) is the sum over J of the features of the gold arc less those of the predicted one,
whether or not m^J is a tree.

Prediction is the best tree, of any kind or projective, with one child of the root or several. A pruned arc is used
only if there is no tree without one. It has its weights all the same, so margins and updates are exact.

With a `margin` ρ > 0 gold arcs must win by ρ: during training the score of each is lowered by ρ. So the prediction is
the tree with the largest w·φ(x, y') + ρ·(number of wrong heads), and a mixed assignment m^J is a violation if
w·Δφ(x, y, m^J) - ρ·|J| ≤ 0. The paper's algorithm has ρ = 0. MIRA's steps require its loss on top: (1 + ρ)·|J|.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from swvp.compiled import borrowing, implement, inlined, inlined_source, inner, kernel
from swvp.structures import operations
from swvp.structures.exact import averaged
from swvp.structures.tree.decoding.chu_liu_edmonds import chu_liu_edmonds
from swvp.structures.tree.decoding.eisner import eisner
from swvp.structures.tree.decoding.k_best import k_best
from swvp.structures.tree.encoding import Nodes, Tables, all_allowed
from swvp.structures.tree.first_order.features import FREE, ArcBuffers, arc_keys, new_arc_buffers, place, score_sentence
from swvp.types import Floats, Heads, Ints, Keys


class Arcs(NamedTuple):
    """Sentences; `heads` are the gold heads of all words, or empty for prediction only."""

    nodes: Nodes
    tables: Tables
    heads: Heads
    projective: bool
    one_root: bool
    margin: float


def unpruned(problem: Arcs) -> Arcs:
    """The same sentences, with all arcs."""
    return problem._replace(tables=problem.tables._replace(longest=all_allowed()))


class ArcModel(NamedTuple):
    """The weights, their averaging sums, the owners of their slots in the exact mode, and buffers for one sentence.

    `delayed` is Σ clock·update, from which `averaged_weights` makes the average; checkpoints use this name.
    """

    w: Floats
    delayed: Floats
    owners: Keys  # empty in the hashed mode
    claimed: Ints  # the number of slots with owners
    predicted: Ints
    buffers: ArcBuffers


def new_model(problem: Arcs, size: int, *, exact: bool = False, w: Floats | None = None) -> ArcModel:
    """A model of `size` weights, a power of 2; they are 0 or `w`."""
    words = int(np.diff(problem.nodes.starts).max(initial=1)) - 1
    buffers = new_arc_buffers(problem.tables, problem.nodes, words)
    return ArcModel(
        w=np.zeros(size) if w is None else w,
        delayed=np.zeros(size if w is None else 0),
        owners=np.zeros(size if exact else 0, np.uint64),
        claimed=np.zeros(1, np.int64),
        predicted=np.zeros(words, np.int64),
        buffers=buffers,
    )


@implement(operations.with_buffers, Arcs)
def with_buffers(problem: Arcs, model: ArcModel) -> ArcModel:
    """See the operation. Only the score of a pruned arc is computed later, from the weights at that time."""
    shared = {name: getattr(model, name) for name in ("delayed", "owners", "claimed")}
    return new_model(problem, len(model.w), w=model.w)._replace(**shared)


@implement(operations.longest, Arcs)
@borrowing
def longest(problem):
    most = 0
    starts = problem.nodes.starts
    for i in range(len(starts) - 1):
        most = max(most, starts[i + 1] - starts[i] - 1)
    return most


@implement(operations.length, Arcs)
@borrowing
def length(problem, model, i):
    return problem.nodes.starts[i + 1] - problem.nodes.starts[i] - 1


@implement(operations.has_parts, Arcs)
def has_parts(problem: Arcs) -> bool:
    """True: the arc of a word is its only part, so Δφ is the same with and without `parts`."""
    return True


@implement(operations.reach, Arcs)
def reach(problem: Arcs) -> int:
    """1, though each feature depends on the head of one word only."""
    return 1


@implement(operations.counts_features, Arcs)
@borrowing
def counts_features(problem):
    return True


@kernel
def decode(scores, n, projective, one_root, heads):
    """Write the best tree; if `projective` is None instead of False, the projective decoder is not compiled."""
    if projective is not None:  # noqa: SIM102, for the compiler
        if projective:
            eisner(scores, n, one_root, heads)
            return
    chu_liu_edmonds(scores, n, one_root, heads)


@borrowing
def score_example(problem, model, i):
    """Score the arcs of sentence i, its gold arcs lowered by the margin; return its length."""
    n = score_sentence(problem.nodes, problem.tables, i, model.w, model.owners, model.buffers)
    if problem.margin > 0:
        start = problem.nodes.starts[i] - i
        for k in range(n):
            model.buffers.scores[problem.heads[start + k], k + 1] -= problem.margin
    return n


@inlined_source
def predict_one(problem, model, i):
    """Write the best tree of sentence i to model.predicted; return its length."""
    n = score_example(problem, model, i)
    decode(model.buffers.scores, n, problem.projective, problem.one_root, model.predicted)
    return n


@inlined
def compare(heads, start, n, predicted, wrong):
    """Write the words with wrong heads; return their number. heads[start:start + n] are the gold heads."""
    count = 0
    for k in range(n):
        if predicted[k] != heads[start + k]:
            wrong[count] = k
            count += 1
    return count


@implement(operations.find_mistakes, Arcs)
@borrowing
def find_mistakes(problem, model, i, wrong):
    n = predict_one(problem, model, i)
    return compare(problem.heads, problem.nodes.starts[i] - i, n, model.predicted, wrong)


@inner
def score_of(problem, model, first, h, m):
    """The score of an arc of the sentence in the buffers, pruned or not."""
    score = model.buffers.scores[h, m]
    if score == -np.inf:
        score = 0.0
        mask = np.uint64(len(model.w) - 1)
        for f in range(arc_keys(problem.nodes, problem.tables, first, h, m, model.buffers, model.buffers.features)):
            score += model.w[place(model.buffers.features[f], model.owners, mask)]
    return score


@implement(operations.margins, Arcs)
@borrowing
def margins(problem, model, i, starts, positions, count, out):
    first = problem.nodes.starts[i]
    for j in range(count):
        margin = 0.0
        for p in range(starts[j], starts[j + 1]):
            k = positions[p]
            h = np.int64(problem.heads[first - i + k])
            margin += score_of(problem, model, first, h, k + 1)
            if model.buffers.scores[h, k + 1] == -np.inf:  # the scores of other arcs include it
                margin -= problem.margin
            margin -= score_of(problem, model, first, model.predicted[k], k + 1)
        out[j] = margin


@inlined
def claim(key, at, owners, claimed):
    """In the exact mode, make a feature the owner of its slot. Half of the slots stay free: later features share."""
    if len(owners) > 0 and owners[at] == FREE and 2 * claimed[0] < len(owners):
        owners[at] = key
        claimed[0] += 1


@inner
def add_arc(problem, model, first, h, m, amount, clock):
    """w += amount · φ(arc)."""
    w, delayed, owners, keys = model.w, model.delayed, model.owners, model.buffers.features
    mask = np.uint64(len(w) - 1)
    for f in range(arc_keys(problem.nodes, problem.tables, first, h, m, model.buffers, keys)):
        at = place(keys[f], owners, mask)
        claim(keys[f], at, owners, model.claimed)
        w[at] += amount
        delayed[at] += amount * clock


@implement(operations.add, Arcs)
@borrowing
def add(problem, model, i, starts, positions, sets, count, amounts, clock):
    first = problem.nodes.starts[i]
    for c in range(count):
        if amounts[c] == 0:
            continue
        for p in range(starts[sets[c]], starts[sets[c] + 1]):
            k = positions[p]
            add_arc(problem, model, first, np.int64(problem.heads[first - i + k]), k + 1, amounts[c], clock)
            add_arc(problem, model, first, model.predicted[k], k + 1, -amounts[c], clock)


@implement(operations.direction, Arcs)
@kernel
def direction(problem, model, i, starts, positions, sets, count, amounts):
    first = problem.nodes.starts[i]
    total = 0
    for c in range(count):
        total += 2 * (starts[sets[c] + 1] - starts[sets[c]])
    keys = model.buffers.features
    features, values = np.empty(total * len(keys), np.int64), np.empty(total * len(keys))
    mask = np.uint64(len(model.w) - 1)
    size = 0
    for c in range(count):
        for p in range(starts[sets[c]], starts[sets[c] + 1]):
            k = positions[p]
            for gold in range(2):
                h = np.int64(problem.heads[first - i + k]) if gold else model.predicted[k]
                for f in range(arc_keys(problem.nodes, problem.tables, first, h, k + 1, model.buffers, keys)):
                    at = place(keys[f], model.owners, mask)
                    claim(keys[f], at, model.owners, model.claimed)  # or two new features would have one slot
                    features[size] = at
                    values[size] = amounts[c] if gold else -amounts[c]
                    size += 1
    return size, features, values


@implement(operations.change, ArcModel)
@borrowing
def change(model, feature, amount, clock):
    model.w[feature] += amount
    model.delayed[feature] += amount * clock


@implement(operations.best_outputs, Arcs)
@kernel
def best_outputs(problem, model, i, k):
    n = score_example(problem, model, i)
    outputs = np.zeros((k, n), np.int64)
    number = k_best(model.buffers.scores, n, k, problem.projective, problem.one_root, outputs)
    if number == 0:  # every tree has a pruned arc
        decode(model.buffers.scores, n, problem.projective, problem.one_root, outputs[0])
        number = 1
    return number, outputs


@implement(operations.keep, Arcs)
@borrowing
def keep(problem, model, i, outputs, r, wrong):
    n = outputs.shape[1]
    for k in range(n):
        model.predicted[k] = outputs[r, k]
    return compare(problem.heads, problem.nodes.starts[i] - i, n, model.predicted, wrong)


@implement(operations.heads, Arcs)
@kernel
def heads(problem, model, i):
    first, end = problem.nodes.starts[i] - i, problem.nodes.starts[i + 1] - i - 1
    return problem.heads[first:end], model.predicted[: end - first]


@implement(operations.labels, Arcs)
def labels(problem: Arcs, model: ArcModel, i: int) -> tuple[Ints, Ints]:
    first = int(problem.nodes.starts[i]) - i
    n = int(problem.nodes.starts[i + 1]) - i - 1 - first
    return problem.heads[first : first + n].astype(np.int64), model.predicted[:n].copy()


@implement(operations.weights, ArcModel)
def weights(model: ArcModel) -> Floats:
    return model.w.copy()


@kernel
def square(w):
    total = 0.0
    for at in range(len(w)):
        total += w[at] * w[at]
    return total


@implement(operations.norm, ArcModel)
def norm(model: ArcModel) -> float:
    return math.sqrt(square(model.w))


@implement(operations.averaged_weights, ArcModel)
def averaged_weights(model: ArcModel, clock: float) -> Floats:
    return averaged(model.w, model.delayed, clock)


@implement(operations.refresh, ArcModel)
def refresh(model: ArcModel) -> None:
    """Count the slots with owners, which is all that is derived from the weights."""
    model.claimed[0] = np.count_nonzero(model.owners)


@borrowing
def predict_all(problem, model, first, end, out):
    """Write the heads of all words of the sentences first:end."""
    for i in range(first, end):
        n = predict_one(problem, model, i)
        start = problem.nodes.starts[i] - i
        for k in range(n):
            out[start + k] = model.predicted[k]
