"""The pruner: what it keeps, that it learns, and its file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from helpers.tree_decoders import every_kind
from helpers.trees import heads_only, toy
from swvp.errors import InputError
from swvp.features.parser_templates import parse_arc_templates
from swvp.features.presets import ARC_PRESETS as PRESETS
from swvp.io.model_files import Memory
from swvp.io.treebank import treebank_of
from swvp.parsing.tree_model import Pruner, columns_of, pruned_candidates
from swvp.structures.tree.encoding import all_allowed, encode, longest_arcs, ranks_of, slots_of
from swvp.structures.tree.reference import is_projective, is_tree
from swvp.structures.tree.second_order.parts import Candidates

SMALL = {"size": 2**12}


def data(seed=0, count=30, extra=()):
    X, y = toy(seed, count)
    X, y = [*X, *(x for x, _ in extra)], [*heads_only(y), *(tree for _, tree in extra)]
    return treebank_of(X, y)


def encoded(treebank, pruner, ranks=None, slots=None):
    columns = columns_of(treebank)
    return encode(columns, treebank.offsets, pruner.templates, ranks or ranks_of(columns), slots)


def fitted(seed=0, treebank=None, prune=False, **options):
    """A pruner, its nodes and the ranks of its values."""
    treebank = treebank or data()
    pruner = Pruner(**SMALL, **options)
    ranks = ranks_of(columns_of(treebank))
    nodes = encoded(treebank, pruner, ranks)
    longest = longest_arcs(nodes.kinds, nodes.starts, treebank.trees, len(ranks["pos"]))
    pruner.use_slots(slots_of(pruner.templates), longest if prune else all_allowed())
    return pruner.fit(nodes, treebank.trees, orders=np.random.default_rng(seed)), nodes, ranks


def same(a, b):
    return np.array_equal(a.first, b.first) and np.array_equal(a.heads, b.heads)


def rows_of(candidates):
    return [row.tolist() for row in np.split(candidates.heads, candidates.first[1:-1])]


@every_kind
@pytest.mark.parametrize("prune", [False, True])
def test_it_learns_which_heads_are_right(projective, one_root, prune):
    pruner, nodes, ranks = fitted(prune=prune, projective=projective, one_root=one_root)
    other = data(seed=1)
    unknown = encoded(other, pruner, ranks)
    result = pruned_candidates(pruner.candidates(unknown), unknown.starts, other.trees)
    everything = Pruner(**SMALL, most=1000, threshold=0.0)
    everything.w = pruner.w
    before = pruned_candidates(everything.candidates(unknown), unknown.starts, other.trees)
    assert before == (1.0, pytest.approx(before.heads), 1.0)
    assert result.recall == 1.0
    assert result.heads < 0.5 * before.heads
    assert result.share == pytest.approx(result.heads / before.heads)
    assert pruned_candidates(pruner.candidates(nodes), nodes.starts, data().trees).recall == 1.0


def test_what_is_kept_is_counted():
    found = Candidates(np.array([0, 2, 3, 4]), np.array([0, 2, 1, 0], np.int32))
    assert pruned_candidates(found, np.array([0, 3, 5]), np.array([2, 0, 0], np.int32)) == (2 / 3, 4 / 3, 4 / 5)
    nothing = Candidates(np.zeros(1, np.int64), np.zeros(0, np.int32))
    assert pruned_candidates(nothing, np.zeros(1, np.int64), np.zeros(0, np.int32)) == (0.0, 0.0, 0.0)


def test_heads_increase_and_every_word_has_one():
    pruner, nodes, _ = fitted()
    found = pruner.candidates(nodes)
    assert found.first.dtype == np.int64
    assert found.heads.dtype == np.int32
    assert len(found.first) == len(data().trees) + 1
    for row in rows_of(found):
        assert row
        assert row == sorted(set(row))


def test_gold_heads_are_put_back():
    pruner, _, ranks = fitted()
    X, _ = toy(3, 20)
    chains = treebank_of(X, [[m - 1 for m in range(1, len(x) + 1)] for x in X])
    nodes = encoded(chains, pruner, ranks)
    without, with_gold = pruner.candidates(nodes), pruner.candidates(nodes, chains.trees)
    assert pruned_candidates(without, nodes.starts, chains.trees).recall < 1.0
    assert pruned_candidates(with_gold, nodes.starts, chains.trees).recall == 1.0
    for few, more, gold in zip(rows_of(without), rows_of(with_gold), chains.trees.tolist(), strict=True):
        assert more == sorted({*few, gold})


@every_kind
def test_the_best_tree_is_kept_whatever_the_rule(projective, one_root):
    pruner, nodes, _ = fitted(projective=projective, one_root=one_root, most=1, threshold=1.0)
    pruner.w = np.random.default_rng(9).normal(size=pruner.size)
    pruner.use_slots(slots_of(pruner.templates), all_allowed())
    rows, trees = rows_of(pruner.candidates(nodes)), 0
    for i in range(len(nodes.starts) - 1):
        first, end = int(nodes.starts[i]) - i, int(nodes.starts[i + 1]) - i - 1
        some = [[]]
        for row in rows[first:end]:  # one or two heads
            some = [[*heads, h] for heads in some for h in row]
        right = [heads for heads in some if is_tree(heads, one_root) and (is_projective(heads) or not projective)]
        assert right
        trees += len(some) > 1
    assert trees


def test_one_word():
    treebank = data(extra=[([("Rain", "NOUN")], [0])])
    pruner, nodes, ranks = fitted(treebank=treebank)
    assert rows_of(pruner.candidates(nodes))[-1] == [0]
    new = encoded(treebank_of([[("X", "NEW")]], [[0]]), pruner, ranks)
    assert rows_of(pruner.candidates(new)) == [[0]]


def test_no_sentences():
    pruner, nodes, _ = fitted()
    nothing = nodes._replace(atoms=nodes.atoms[:0], flags=nodes.flags[:0], starts=nodes.starts[:1])
    assert same(pruner.candidates(nothing), Candidates(np.zeros(1, np.int64), np.zeros(0, np.int32)))


def test_the_same_seed_gives_the_same_bytes():
    (one, nodes, _), (two, _, _), (other, _, _) = fitted(1), fitted(1), fitted(2)
    assert one.w.tobytes() == two.w.tobytes() != other.w.tobytes()
    assert same(one.candidates(nodes), two.candidates(nodes))


def test_threads_change_nothing():
    pruner, nodes, _ = fitted()
    assert same(pruner.candidates(nodes), pruner.candidates(nodes, n_jobs=3))


def test_the_loss_falls_from_epoch_to_epoch():
    treebank = data()
    pruner, told = Pruner(**SMALL), []
    nodes = encoded(treebank, pruner)
    orders = np.random.default_rng(0)
    pruner.fit(nodes, treebank.trees, orders=orders, epochs=4, watch=lambda epoch, loss: told.append((epoch, loss)))
    epochs, losses = zip(*told, strict=True)
    assert epochs == (1, 2, 3, 4)
    assert list(losses) == sorted(losses, reverse=True)


def test_nodes_of_several_lists_of_templates():
    pruner, nodes, ranks = fitted()
    expected = pruner.candidates(nodes)
    first_order = parse_arc_templates(PRESETS["first-order"])
    slots = slots_of([*first_order, *pruner.templates])
    assert slots != slots_of(pruner.templates)
    shared = encoded(data(), pruner, ranks, slots)
    assert shared.atoms.shape[1] == len(slots)
    assert same(pruner.use_slots(slots, pruner.tables.longest).candidates(shared), expected)


@every_kind
def test_its_file(projective, one_root):
    pruner, nodes, _ = fitted(projective=projective, one_root=one_root, most=4, threshold=0.01)
    meta = json.loads(json.dumps(pruner.meta()))
    again = Pruner.rebuild(meta, pruner.arrays(), Memory()).use_slots(slots_of(pruner.templates), pruner.tables.longest)
    assert again.w.tobytes() == pruner.w.tobytes()
    assert again.meta() == pruner.meta()
    assert same(again.candidates(nodes), pruner.candidates(nodes))


@pytest.mark.parametrize(
    "change",
    [
        {"templates": ["bias", 3]},
        {"templates": ["m.pos & h.pos"]},
        {"size": 2**40},
        {"size": 3},
        {"most": 0},
        {"most": 10**9},
        {"most": True},
        {"threshold": "x"},
        {"threshold": None},
        {"threshold": -1.0},
        {"threshold": float("nan")},
        {"projective": 1},
    ],
)
def test_files_that_cannot_be_right(change):
    pruner, _, _ = fitted()
    with pytest.raises(InputError):
        Pruner.rebuild(pruner.meta() | change, pruner.arrays(), Memory())


def test_weights_of_another_size():
    pruner, _, _ = fitted()
    with pytest.raises(ValueError, match="of another size"):
        Pruner.rebuild(pruner.meta() | {"size": 2}, pruner.arrays(), Memory())


def test_a_warm_start_continues_learning():
    pruner, nodes, _ = fitted()
    orders = np.random.default_rng
    gold, told = data().trees, []
    pruner.fit(nodes, gold, orders=orders(1), epochs=2, watch=lambda _, loss: told.append(loss))
    first = pruner.w.copy()
    pruner.fit(nodes, gold, orders=orders(2), epochs=1, warm_start=True, watch=lambda _, loss: told.append(loss))
    assert told[0] > told[1] > told[2]
    assert not np.array_equal(pruner.w, first)
    pruner.fit(nodes, gold, orders=orders(1), epochs=2)
    np.testing.assert_array_equal(pruner.w, first)


def test_the_threshold_depends_on_the_kind_of_trees():
    assert Pruner().threshold > Pruner(projective=True).threshold == 3e-4
    assert Pruner(projective=True, threshold=0.5).threshold == 0.5


@pytest.mark.parametrize("one_root", [False, True])
def test_several_roots(one_root):
    """Without weights the root is the head of a word of two with probability 1/2, or 2/3 if both can have it."""
    pruner = Pruner(**SMALL, one_root=one_root, threshold=0.6)
    pruner.w = np.zeros(pruner.size)
    nodes = encoded(treebank_of([[("a", "X"), ("b", "X")]]), pruner)
    assert len(pruner.candidates(nodes).heads) == (4 if one_root else 2)
    assert pruner.meta()["one_root"] == one_root
