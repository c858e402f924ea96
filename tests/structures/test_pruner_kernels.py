"""The kernels of the pruner against all trees, in plain Python."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from helpers.tree_decoders import all_trees, every_kind
from helpers.treebanks import arcs_of, as_arcs, keys_of, random_sentence
from swvp.features.parser_templates import parse_arc_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.structures.tree.encoding import allowed
from swvp.structures.tree.first_order.features import new_arc_buffers
from swvp.structures.tree.first_order.model import unpruned
from swvp.structures.tree.first_order.probabilities import best_heads, keep_heads, learn, posteriors
from swvp.structures.tree.reference import is_projective, is_tree, trees

LIGHT = parse_arc_templates(PRESETS["light"])
SIZE = 2**12


class Bank(NamedTuple):
    """A small treebank; places[i][h, m] are the places of the weights of an arc."""

    problem: object
    trees: list
    places: list


def bank(seed, projective, one_root, sizes=(4, 1, 3, 4, 2), prune=True):
    """Random trees, of any kind; tags and lengths prune, but nothing of them."""
    rng = np.random.default_rng(seed)
    X = [random_sentence(rng, n) for n in sizes]
    every = {n: list(trees(n, False, one_root)) for n in sizes}
    Y = [every[len(x)][rng.integers(len(every[len(x)]))] for x in X]
    problem = as_arcs(X, Y, LIGHT, projective=projective, one_root=one_root, prune=prune)
    if prune:
        longest = problem.tables.longest
        longest = np.maximum(longest, rng.integers(0, 4, longest.shape)).astype(np.int32)
        problem = problem._replace(tables=problem.tables._replace(longest=longest))
    places = []
    for i, x in enumerate(X):
        arcs = arcs_of(x)
        places.append(
            {arc: [k % SIZE for k in keys] for arc, keys in zip(arcs, keys_of(problem, i, arcs), strict=True)}
        )
    return Bank(problem, Y, places)


def kernel_inputs(problem):
    buffers = new_arc_buffers(problem.tables, problem.nodes, int(np.diff(problem.nodes.starts).max()) - 1)
    return problem.nodes, problem.tables, unpruned(problem).tables, buffers


def marginals(found, i, w):
    """log Z, {(h, m): probability} and {(h, m): score} of sentence i, of all trees one after the other."""
    problem, places = found.problem, found.places[i]
    nodes, n = problem.nodes, len(found.trees[i])
    scores = {arc: sum(w[place] for place in where) for arc, where in places.items()}
    inside = {arc for arc in places if allowed(problem.tables.longest, nodes.kinds, nodes.starts[i], *arc)}
    every = [
        [(int(h), m) for m, h in enumerate(tree, 1)] for tree in all_trees(n, problem.projective, problem.one_root)
    ]
    some = [tree for tree in every if inside.issuperset(tree)] or every
    weights = [math.exp(sum(scores[arc] for arc in tree)) for tree in some]
    z = sum(weights)
    p = dict.fromkeys(places, 0.0)
    for tree, weight in zip(some, weights, strict=True):
        for arc in tree:
            p[arc] += weight / z
    best = max(zip(weights, some, strict=True))[1]
    return math.log(z), p, scores, {m: h for h, m in best}


def steps(found, order, w, squares, rate, small):
    """What `learn` does, by its definition. The log-loss."""
    loss = 0.0
    for i in order:
        log_z, p, scores, _ = marginals(found, i, w)
        gold = {(h, m) for m, h in enumerate(found.trees[i], 1)}
        loss += log_z - sum(scores[arc] for arc in gold)
        for arc in sorted(p, key=lambda arc: (arc[1], arc[0])):
            slope = (arc in gold) - p[arc]
            for place in found.places[i][arc] if abs(slope) > small else []:
                squares[place] += slope**2
                w[place] += rate * slope / math.sqrt(squares[place])
    return loss


def run(found, order, w, squares, rate, small):
    problem = found.problem
    nodes, tables, every, buffers = kernel_inputs(problem)
    mode = problem.projective, problem.one_root
    return learn(nodes, tables, every, problem.heads, np.array(order), *mode, w, squares, buffers, rate, small)


@every_kind
@pytest.mark.parametrize("prune", [False, True])
def test_the_steps_of_learning(projective, one_root, prune):
    found = bank(3, projective, one_root, prune=prune)
    rng = np.random.default_rng(5)
    w, squares = rng.normal(size=SIZE) * 0.2, np.ones(SIZE)
    expected, expected_squares = w.copy(), squares.copy()
    order = [2, 0, 4, 1, 3, 0]
    loss = run(found, order, w, squares, 0.2, 0.05)
    assert loss == pytest.approx(steps(found, order, expected, expected_squares, 0.2, 0.05))
    np.testing.assert_allclose(w, expected, rtol=0, atol=1e-10)
    np.testing.assert_allclose(squares, expected_squares, rtol=0, atol=1e-10)


@every_kind
def test_the_direction_is_the_gradient_of_the_loss(projective, one_root):
    """Squares so large that nothing adds to them make the steps the gradient itself."""
    found = bank(4, projective, one_root, prune=False)
    w = np.random.default_rng(6).normal(size=SIZE) * 0.2
    large = 1e20
    for i in range(len(found.trees)):
        after = w.copy()
        run(found, [i], after, np.full(SIZE, large), math.sqrt(large), 0.0)
        places = sorted({place for where in found.places[i].values() for place in where})
        for place in places[:: max(len(places) // 20, 1)]:
            losses = []
            for change in (1e-4, -1e-4):
                moved = w.copy()
                moved[place] += change
                losses.append(run(found, [i], moved, np.full(SIZE, large), 0.0, 0.0))
            assert after[place] - w[place] == pytest.approx(-(losses[0] - losses[1]) / 2e-4, abs=1e-6)


def kept_heads(found, w, most, threshold, gold):
    problem = found.problem
    words = len(problem.heads)
    out, counts = np.full((words, most + 2), -1, np.int32), np.zeros(words, np.int32)
    nodes, tables, every, buffers = kernel_inputs(problem)
    heads = problem.heads if gold else np.zeros(0, np.int32)
    mode = problem.projective, problem.one_root
    keep_heads(nodes, tables, every, heads, 0, len(found.trees), *mode, w, buffers, most, threshold, out, counts)
    rows = [row[:count].tolist() for row, count in zip(out, counts, strict=True)]
    found_rows, word = [], 0
    for tree in found.trees:
        found_rows.append(rows[word : word + len(tree)])
        word += len(tree)
    return found_rows


def by_rule(p, best, tree, m, n, most, threshold):
    """The heads of word m by the rule; `tree` has gold heads or is empty."""
    column = {h: p[h, m] for h in range(n + 1) if h != m and p[h, m] > 0}
    ordered = sorted(column, key=lambda h: (-column[h], h))[:most]
    heads = {h for h in ordered if column[h] >= threshold * max(column.values())} | {best[m]}
    return sorted(heads | {tree[m - 1]} if tree else heads)


@every_kind
@pytest.mark.parametrize("seed", range(3))
def test_the_heads_that_are_kept(projective, one_root, seed):
    found = bank(10 + seed, projective, one_root, prune=seed > 0)
    w = np.random.default_rng(seed).normal(size=SIZE) * 0.3
    sizes = set()
    for most, threshold, gold in ((10, 0.0, False), (10, 0.1, False), (2, 0.05, False), (1, 0.0, True), (3, 1.0, True)):
        rows = kept_heads(found, w, most, threshold, gold)
        for i, tree in enumerate(found.trees):
            n = len(tree)
            _, p, _, best = marginals(found, i, w)
            expected = [by_rule(p, best, tree if gold else (), m, n, most, threshold) for m in range(1, n + 1)]
            assert rows[i] == expected
            sizes |= {len(heads) for heads in rows[i]}
            assert has_tree(rows[i], projective, one_root)
    assert len(sizes) > 2


def has_tree(rows, projective, one_root):
    return any(
        all(h in row for h, row in zip(tree, rows, strict=True)) for tree in all_trees(len(rows), projective, one_root)
    )


@every_kind
def test_without_a_tree_that_is_allowed_all_arcs_are(projective, one_root):
    found = bank(20, projective, one_root, sizes=(4, 3))
    longest = np.zeros_like(found.problem.tables.longest)
    problem = found.problem._replace(tables=found.problem.tables._replace(longest=longest))
    found = found._replace(problem=problem)
    w = np.random.default_rng(7).normal(size=SIZE) * 0.2
    nodes, tables, every, buffers = kernel_inputs(problem)
    for i, rows in enumerate(kept_heads(found, w, 10, 0.0, False)):
        n, log_z, table = posteriors(nodes, tables, every, i, w, projective, one_root, buffers)
        expected_z, p, _, _ = marginals(found, i, w)
        assert log_z == pytest.approx(expected_z)
        for (h, m), value in p.items():
            assert table[h, m] == pytest.approx(value, abs=1e-12)
            assert (h in rows[m - 1]) == (value > 1e-12)
        assert n == len(rows)


def test_the_definitions_tell_kinds_of_trees_apart():
    assert any(not is_projective(tree) for tree in all_trees(4, False, True).tolist())
    assert any(not is_tree(tree, one_root=True) for tree in all_trees(3, False, False).tolist())


def test_of_equally_probable_heads_the_smallest_are_kept():
    table = np.zeros((6, 6))
    table[:, 2] = [0.1, 0.25, 0.0, 0.25, 0.15, 0.25]
    chosen = np.full(5, -1)
    assert best_heads(table, 5, 2, 2, 0.0, chosen) == 2
    assert chosen.tolist() == [1, 3, -1, -1, -1]
    assert best_heads(table, 5, 2, 3, 0.6, chosen) == 3
    assert chosen.tolist() == [1, 3, 5, -1, -1]
    assert best_heads(table, 5, 2, 5, 0.6, chosen) == 4
    assert chosen.tolist() == [1, 3, 5, 4, -1]
