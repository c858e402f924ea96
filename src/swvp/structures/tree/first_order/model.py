"""Owns the arc-factored model: φ(x, y) is the sum of the features of the arcs of the tree y.

Position k of the label is the head of word k + 1: 0 for the root, else the number of a word. So a mixed assignment
changes heads, and Δφ(x, y, m^J) is the sum over J of the features of the gold arc less those of the predicted one,
whether or not m^J is a tree.

Prediction is the best tree, of any kind or projective, with one child of the root or several. A pruned arc is not
taken unless there is no tree without; it has its weights nevertheless, so that margins and updates are exact.

With a `margin` ρ > 0 gold arcs must win by ρ: while learning, each is worth ρ less. So what is predicted is the tree
of the largest w·φ(x, y') + ρ·(number of wrong heads), and a mixed assignment m^J is a violation if its
w·Δφ(x, y, m^J) - ρ·|J| ≤ 0. The paper's algorithm has ρ = 0. MIRA's steps ask for its loss on top: (1 + ρ)·|J|.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from swvp.compiled import borrowing, implement, inlined, inner, kernel, pasted
from swvp.structures import operations
from swvp.structures.exact import averaged
from swvp.structures.tree.decoding.chu_liu_edmonds import chu_liu_edmonds
from swvp.structures.tree.decoding.eisner import eisner
from swvp.structures.tree.decoding.k_best import k_best
from swvp.structures.tree.encoding import Nodes, Tables
from swvp.structures.tree.first_order.features import FREE, Room, arc_keys, new_room, place, score_sentence
from swvp.structures.tree.tag_pruning import all_allowed
from swvp.types import Floats, Ints, Keys
from swvp.types import Heads as Heads


class Arcs(NamedTuple):
    """Sentences; `heads` are the gold heads of all words, or empty if there is nothing to learn."""

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
    """The weights, Σ clock·update, whose places they are in the exact mode, and room for one sentence."""

    w: Floats
    delayed: Floats
    owners: Keys | None
    taken: Ints  # how many places have owners
    predicted: Ints
    room: Room


def new_model(problem: Arcs, size: int, *, exact: bool = False, w: Floats | None = None) -> ArcModel:
    """A model of `size` weights, a power of 2, all 0 or as given."""
    words = int(np.diff(problem.nodes.starts).max(initial=1)) - 1
    room = new_room(problem.tables, problem.nodes, words)
    return ArcModel(
        w=np.zeros(size) if w is None else w,
        delayed=np.zeros(size if w is None else 0),
        owners=np.zeros(size, np.uint64) if exact else None,
        taken=np.zeros(1, np.int64),
        predicted=np.zeros(words, np.int64),
        room=room,
    )


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
    """A word's arc is its only part, so that Δφ is the same either way."""
    return True


@implement(operations.counts_features, Arcs)
@borrowing
def counts_features(problem):
    return True


@kernel
def decode(scores, n, projective, one_root, heads):
    """Write the best tree; with None for False, what projective trees need is not compiled."""
    if projective is not None:  # noqa: SIM102, for the compiler
        if projective:
            eisner(scores, n, one_root, heads)
            return
    chu_liu_edmonds(scores, n, one_root, heads)


@borrowing
def score_example(problem, model, i):
    """Score the arcs of sentence i, those of its gold tree less the margin; return its length."""
    n = score_sentence(problem.nodes, problem.tables, i, model.w, model.owners, model.room)
    if problem.margin > 0:
        start = problem.nodes.starts[i] - i
        for k in range(n):
            model.room.scores[problem.heads[start + k], k + 1] -= problem.margin
    return n


@pasted
def predict_one(problem, model, i):
    """Keep the best tree of sentence i; return its length."""
    n = score_example(problem, model, i)
    decode(model.room.scores, n, problem.projective, problem.one_root, model.predicted)
    return n


@inlined
def compare(heads, start, n, predicted, wrong):
    """Write the words whose kept heads are wrong; return how many. Gold ones are heads[start:start + n]."""
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
    """The score of an arc of the sentence looked at, pruned or not."""
    score = model.room.scores[h, m]
    if score == -np.inf:
        score = 0.0
        mask = np.uint64(len(model.w) - 1)
        for f in range(arc_keys(problem.nodes, problem.tables, first, h, m, model.room, model.room.found)):
            score += model.w[place(model.room.found[f], model.owners, mask)]
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
            if model.room.scores[h, k + 1] == -np.inf:  # others have it in their scores
                margin -= problem.margin
            margin -= score_of(problem, model, first, model.predicted[k], k + 1)
        out[j] = margin


@inlined
def own(key, at, owners, taken):
    """In the exact mode, give a place its owner. Half of them stay free: where there is no more, features share."""
    if owners is not None:  # noqa: SIM102, for the compiler
        if owners[at] == FREE and 2 * taken[0] < len(owners):
            owners[at] = key
            taken[0] += 1


@inner
def add_arc(problem, model, first, h, m, amount, clock):
    """w += amount · φ(arc)."""
    w, delayed, owners, found = model.w, model.delayed, model.owners, model.room.found
    mask = np.uint64(len(w) - 1)
    for f in range(arc_keys(problem.nodes, problem.tables, first, h, m, model.room, found)):
        at = place(found[f], owners, mask)
        own(found[f], at, owners, model.taken)
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
    features, values = np.empty(total * len(model.room.found), np.int64), np.empty(total * len(model.room.found))
    mask = np.uint64(len(model.w) - 1)
    size = 0
    for c in range(count):
        for p in range(starts[sets[c]], starts[sets[c] + 1]):
            k = positions[p]
            for gold in range(2):
                h = np.int64(problem.heads[first - i + k]) if gold else model.predicted[k]
                for f in range(arc_keys(problem.nodes, problem.tables, first, h, k + 1, model.room, model.room.found)):
                    at = place(model.room.found[f], model.owners, mask)
                    own(model.room.found[f], at, model.owners, model.taken)  # or two new features would seem to be one
                    features[size] = at
                    values[size] = amounts[c] if gold else -amounts[c]
                    size += 1
    return size, features, values


@implement(operations.best_outputs, Arcs)
@kernel
def best_outputs(problem, model, i, k):
    n = score_example(problem, model, i)
    outputs = np.zeros((k, n), np.int64)
    found = k_best(model.room.scores, n, k, problem.projective, problem.one_root, outputs)
    if found == 0:  # every tree has a pruned arc
        decode(model.room.scores, n, problem.projective, problem.one_root, outputs[0])
        found = 1
    return found, outputs


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
def averaged_weights(model: ArcModel, clock: int) -> Floats:
    return averaged(model.w, model.delayed, clock)


@implement(operations.refresh, ArcModel)
def refresh(model: ArcModel) -> None:
    """Nothing is derived from the weights but how many places are taken."""
    if model.owners is not None:
        model.taken[0] = np.count_nonzero(model.owners)


@borrowing
def predict_all(problem, model, first, end, out):
    """Write the heads of all words of the sentences first:end."""
    for i in range(first, end):
        n = predict_one(problem, model, i)
        start = problem.nodes.starts[i] - i
        for k in range(n):
            out[start + k] = model.predicted[k]
