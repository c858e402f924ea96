"""The second-order model: φ(x, y) is the sum of the features of the arcs, siblings and grandparents of y.

As in `first_order.model`, position k of the label is the head of word k + 1. A mixed assignment changes heads, and
with each head the parts that contain it: the siblings at the old and at the new head, and the grandparent parts above
and below. m^J has its parts whether or not it is a tree, so w·Δφ(x, y, m^J) is the difference of two sums. A model for
rules with `parts` uses the parts of words instead (`swvp.structures.tree.second_order.parts`).

The `candidates` are the heads that words may have; during training the gold heads are among them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swvp.compiled import borrowing, implement, inlined, inlined_source, inner, kernel
from swvp.structures import operations
from swvp.structures.tree.decoding.dual_decomposition import (
    DualBuffers,
    best_nonprojective,
    new_dual_buffers,
    rounds_for,
)
from swvp.structures.tree.decoding.eisner import ProjectiveBuffers, best_projective, new_projective_buffers
from swvp.structures.tree.encoding import Nodes
from swvp.structures.tree.first_order import model as arcs
from swvp.structures.tree.first_order.features import arc_keys, place
from swvp.structures.tree.first_order.model import claim, compare
from swvp.structures.tree.second_order.features import (
    PartBuffers,
    PartTables,
    grandparent_keys,
    new_part_buffers,
    score_parts,
    sibling_keys,
)
from swvp.structures.tree.second_order.groups import group_heads
from swvp.structures.tree.second_order.parts import (
    Candidates,
    WordParts,
    add_word_parts,
    grandparent,
    new_word_parts,
    score_heads,
    siblings,
    word_part_margins,
)
from swvp.types import Floats, Heads, Ints, Keys

__all__ = ["PartModel", "SecondOrder", "new_part_model", "part_weights", "predict_parts", "score_all_parts"]

ARC, SIBLINGS, GRANDPARENT = range(3)
MOST_ITERATIONS = 200


class SecondOrder(NamedTuple):
    """Sentences; `heads` are the gold heads of all words, or empty for prediction only."""

    nodes: Nodes
    tables: PartTables
    candidates: Candidates
    heads: Heads
    projective: bool
    one_root: bool
    margin: float


class PartModel(NamedTuple):
    """The weights, their averaging sums, the owners of their slots in the exact mode, and buffers for one sentence.

    `delayed` is Σ clock·update, as in `ArcModel`. `amounts` are the amounts of all parts in an update; `changed` and
    `changes` are the parts with an amount other than 0, and these amounts. Only one of the decoders has buffers, `dual`
    or `spans`, so only this one is compiled. `solved` counts sentences, certainly best trees, and iterations.
    `word_parts` is for rules with `parts`, else None.
    """

    w: Floats
    delayed: Floats
    owners: Keys  # empty in the hashed mode
    claimed: Ints
    predicted: Ints
    mixed: Ints
    amounts: Floats
    changed: Ints
    changes: Floats
    buffers: PartBuffers
    dual: DualBuffers | None
    spans: ProjectiveBuffers | None
    solved: Ints
    word_parts: WordParts | None


def new_part_model(
    problem: SecondOrder, size: int, *, exact: bool = False, w: Floats | None = None, word_parts: bool = False
) -> PartModel:
    """A model of `size` weights, a power of 2; they are 0 or `w`. With `word_parts` it is for rules with `parts`."""
    buffers = new_part_buffers(problem.tables, problem.nodes, problem.candidates)
    words, parts = len(buffers.parts.arcs) - 2, buffers.parts
    scores = (parts.arc_scores, parts.sibling_scores, parts.grandparent_scores)
    most = sum(map(len, scores)) if len(problem.heads) else 0
    shape = problem.candidates, problem.nodes.starts
    return PartModel(
        w=np.zeros(size) if w is None else w,
        delayed=np.zeros(size if w is None else 0),
        owners=np.zeros(size if exact else 0, np.uint64),
        claimed=np.zeros(1, np.int64),
        predicted=np.zeros(words, np.int64),
        mixed=np.zeros(words, np.int64),
        amounts=np.zeros(most),
        changed=np.zeros((most, 4), np.int64),
        changes=np.zeros(most),
        buffers=buffers,
        dual=None if problem.projective else new_dual_buffers(*shape),
        spans=new_projective_buffers(*shape) if problem.projective else None,
        solved=np.zeros(3, np.int64),
        word_parts=new_word_parts(words) if word_parts else None,
    )


@implement(operations.with_buffers, SecondOrder)
def with_buffers(problem: SecondOrder, model: PartModel) -> PartModel:
    shared = {name: getattr(model, name) for name in ("delayed", "owners", "claimed")}
    word_parts = model.word_parts is not None
    return new_part_model(problem, len(model.w), w=model.w, word_parts=word_parts)._replace(**shared)


SHARED_OPERATIONS = {
    SecondOrder: ("longest", "length", "counts_features", "has_parts", "heads", "labels"),
    PartModel: ("change", "weights", "norm", "averaged_weights", "refresh"),
}
"""Operations with the implementation of first order, since sentences and weights have the same layout."""

for cls, names in SHARED_OPERATIONS.items():
    for name in names:
        implement(getattr(operations, name), cls)(getattr(arcs, name))


@inlined_source
def predict_one(problem, model, i):
    """Write the best tree of sentence i, its gold arcs lowered by the margin, to model.predicted; return its length."""
    parts = model.buffers.parts
    n = score_parts(problem.nodes, problem.tables, problem.candidates, i, model.w, model.owners, model.buffers)
    if problem.margin > 0:
        start = problem.nodes.starts[i] - i
        for k in range(n):
            parts.arc_scores[parts.arc[problem.heads[start + k], k + 1]] -= problem.margin
    decode(parts, n, problem.one_root, model.dual, model.spans, model.predicted, model.solved)
    return n


@inner
def decode(parts, n, one_root, dual, spans, predicted, solved):
    """Write the best tree for the scores of the parts to `predicted`, and count in `solved`."""
    solved[0] += 1
    if dual is not None:
        most = rounds_for(parts, n, MOST_ITERATIONS)
        certain, iterations, _ = best_nonprojective(parts, n, one_root, most, dual, predicted)
        solved[1] += certain
        solved[2] += iterations
    if spans is not None:
        best_projective(parts, n, one_root, spans, predicted)
        solved[1] += 1


@implement(operations.find_mistakes, SecondOrder)
@borrowing
def find_mistakes(problem, model, i, wrong):
    n = predict_one(problem, model, i)
    return compare(problem.heads, problem.nodes.starts[i] - i, n, model.predicted, wrong)


@inlined
def mix(heads, start, n, predicted, first, end, positions, mixed):
    """Write m^J for J = positions[first:end]; the gold heads are heads[start:start + n]."""
    for k in range(n):
        mixed[k] = heads[start + k]
    for p in range(first, end):
        mixed[positions[p]] = predicted[positions[p]]


@implement(operations.groups, SecondOrder)
@borrowing
def groups(problem, model, i, wrong, k, group):
    start = problem.nodes.starts[i] - i
    n = problem.nodes.starts[i + 1] - problem.nodes.starts[i] - 1
    return group_heads(n, problem.heads, start, model.predicted, wrong, k, model.mixed, group)


@implement(operations.margins, SecondOrder)
@borrowing
def margins(problem, model, i, starts, positions, count, out):
    start = problem.nodes.starts[i] - i
    n = problem.nodes.starts[i + 1] - problem.nodes.starts[i] - 1
    margins_of(model.buffers.parts, n, problem.heads, start, model, model.word_parts, starts, positions, count, out)


@inner
def margins_of(parts, n, heads, start, model, word_parts, starts, positions, count, out):
    """Write the margins of the sets: of parts of words with `word_parts`, else of mixed heads. Only one is compiled."""
    if word_parts is not None:
        mix(heads, start, n, model.predicted, 0, 0, positions, model.mixed)
        word_part_margins(parts, n, model.mixed, model.predicted, starts, positions, count, word_parts, out)
    else:
        gold = 0.0
        for j in range(-1, count):
            first, end = (starts[j], starts[j + 1]) if j >= 0 else (0, 0)
            mix(heads, start, n, model.predicted, first, end, positions, model.mixed)
            score = score_heads(parts, n, model.mixed)
            if j >= 0:
                out[j] = gold - score
            else:
                gold = score


@inner
def add_amount(parts, n, heads, amount, amounts):
    """Add `amount` to all parts of an assignment; parts are numbered arcs first, then siblings, then grandparents."""
    sibling, grand = len(parts.arc_scores), len(parts.arc_scores) + len(parts.sibling_scores)
    for m in range(1, n + 1):
        h = heads[m - 1]
        a = parts.arc[h, m]
        amounts[a] += amount
        if h > 0 and heads[h - 1] != m:
            amounts[grand + grandparent(parts, a, parts.arc[heads[h - 1], h])] += amount
    for c in range(2 * n + 2):
        before = 0
        for p in range(parts.chains[c], parts.chains[c + 1]):
            a = parts.chain[p]
            if heads[parts.modifiers[a] - 1] == c // 2:
                amounts[sibling + siblings(parts, c, before, parts.rank[a])] += amount
                before = parts.rank[a]
        amounts[sibling + siblings(parts, c, before, parts.chains[c + 1] - parts.chains[c] + 1)] += amount


@inlined_source
def changed_parts(problem, model, i, starts, positions, sets, count, amounts):
    """Write the parts of Σ_c amounts[c] · Δφ(x, y, m^J) and their amounts into the model; return their number."""
    start = problem.nodes.starts[i] - i
    n = problem.nodes.starts[i + 1] - problem.nodes.starts[i] - 1
    add_amounts(
        model.buffers.parts, n, problem.heads, start, model, model.word_parts, starts, positions, sets, count, amounts
    )
    return collect(model.buffers.parts, n, model.amounts, model.changed, model.changes)


@inner
def add_amounts(parts, n, heads, start, model, word_parts, starts, positions, sets, count, amounts):
    """Write the amounts of all parts: of parts of words with `word_parts`, else of mixed heads."""
    predicted, mixed, of_parts = model.predicted, model.mixed, model.amounts
    clear(parts, n, of_parts)
    if word_parts is not None:
        mix(heads, start, n, predicted, 0, 0, positions, mixed)
        add_word_parts(parts, n, mixed, predicted, starts, positions, sets, count, amounts, word_parts, of_parts)
    else:
        total = 0.0
        for c in range(count):
            if amounts[c] != 0:
                total += amounts[c]
                j = sets[c]
                mix(heads, start, n, predicted, starts[j], starts[j + 1], positions, mixed)
                add_amount(parts, n, mixed, -amounts[c], of_parts)
        mix(heads, start, n, predicted, 0, 0, positions, mixed)
        add_amount(parts, n, mixed, total, of_parts)


@inner
def clear(parts, n, amounts):
    sibling, grand = len(parts.arc_scores), len(parts.arc_scores) + len(parts.sibling_scores)
    last = parts.arcs[n + 1]
    for first, end in (
        (0, last),
        (sibling, sibling + parts.siblings[2 * n + 2]),
        (grand, grand + parts.grandparents[last]),
    ):
        for p in range(first, end):
            amounts[p] = 0.0


@inner
def collect(parts, n, amounts, changed, changes):
    """Write the parts whose amounts are not 0, as kind and nodes, and the amounts; return their number."""
    sibling, grand = len(parts.arc_scores), len(parts.arc_scores) + len(parts.sibling_scores)
    size = 0
    for a in range(parts.arcs[n + 1]):
        h, m = parts.heads[a], parts.modifiers[a]
        if amounts[a] != 0:
            changed[size, 0], changed[size, 1], changed[size, 2], changed[size, 3] = ARC, h, m, 0
            changes[size] = amounts[a]
            size += 1
        for b in range(parts.arcs[h], parts.arcs[h + 1]):
            value = amounts[grand + grandparent(parts, a, b)]
            if value != 0:
                changed[size, 0], changed[size, 1], changed[size, 2] = GRANDPARENT, parts.heads[b], h
                changed[size, 3], changes[size] = m, value
                size += 1
    for c in range(2 * n + 2):
        k = parts.chains[c + 1] - parts.chains[c]
        for r in range(k + 1):
            for s in range(r + 1, k + 2):
                value = amounts[sibling + siblings(parts, c, r, s)]
                if value != 0:
                    changed[size, 0], changed[size, 1], changed[size, 2] = SIBLINGS, c, r
                    changed[size, 3], changes[size] = s, value
                    size += 1
    return size


@inner
def part_keys(nodes, tables, buffers, i, kind, x, y, z):
    """Write the keys of the features of a part of sentence i into buffers.features; return their number."""
    first = nodes.starts[i]
    if kind == SIBLINGS:
        return sibling_keys(nodes, tables, first, nodes.starts[i + 1] - first - 1, x, y, z, buffers)
    if kind == GRANDPARENT:
        return grandparent_keys(nodes, tables, first, x, y, z, buffers)
    return arc_keys(nodes, tables.arcs, first, x, y, buffers.arcs, buffers.features)


@borrowing
def part_weights(problem, model, i, part, out):
    """Write the weights of the features of a part of the sentence in the buffers; return their number."""
    mask = np.uint64(len(model.w) - 1)
    size = part_keys(problem.nodes, problem.tables, model.buffers, i, part[0], part[1], part[2], part[3])
    for f in range(size):
        out[f] = model.w[place(model.buffers.features[f], model.owners, mask)]
    return size


@implement(operations.add, SecondOrder)
@borrowing
def add(problem, model, i, starts, positions, sets, count, amounts, clock):
    w, delayed, owners, keys = model.w, model.delayed, model.owners, model.buffers.features
    mask = np.uint64(len(w) - 1)
    size = changed_parts(problem, model, i, starts, positions, sets, count, amounts)
    for p in range(size):
        kind, x = model.changed[p, 0], model.changed[p, 1]
        y, z = model.changed[p, 2], model.changed[p, 3]
        value = model.changes[p]
        for f in range(part_keys(problem.nodes, problem.tables, model.buffers, i, kind, x, y, z)):
            at = place(keys[f], owners, mask)
            claim(keys[f], at, owners, model.claimed)
            w[at] += value
            delayed[at] += value * clock


@implement(operations.direction, SecondOrder)
@kernel
def direction(problem, model, i, starts, positions, sets, count, amounts):
    owners, keys, mask = model.owners, model.buffers.features, np.uint64(len(model.w) - 1)
    size = changed_parts(problem, model, i, starts, positions, sets, count, amounts)
    features, each = np.empty(size * len(keys), np.int64), np.empty(size * len(keys))
    total = 0
    for p in range(size):
        kind, x = model.changed[p, 0], model.changed[p, 1]
        y, z = model.changed[p, 2], model.changed[p, 3]
        for f in range(part_keys(problem.nodes, problem.tables, model.buffers, i, kind, x, y, z)):
            at = place(keys[f], owners, mask)
            claim(keys[f], at, owners, model.claimed)  # or two new features would have one slot
            features[total] = at
            each[total] = model.changes[p]
            total += 1
    return total, features, each


@borrowing
def score_all_parts(problem, model, first, end):
    """Score the parts of the sentences first:end, one after the other; the buffers hold those of the last one."""
    for i in range(first, end):
        score_parts(problem.nodes, problem.tables, problem.candidates, i, model.w, model.owners, model.buffers)


@borrowing
def predict_parts(problem, model, first, end, out):
    """Write the heads of all words of the sentences first:end."""
    for i in range(first, end):
        n = predict_one(problem, model, i)
        start = problem.nodes.starts[i] - i
        for k in range(n):
            out[start + k] = model.predicted[k]
