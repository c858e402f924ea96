"""Parsers on shards: the tasks of blocks (count, train the pruner, build) and what a shard needs to train.

The counts of all blocks decide what the options leave open, rank the tags, and say which arcs pruning leaves. Features
are hashed, so blocks need no common dictionary.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.io.table import Table
from swvp.io.treebank import Treebank, treebank_of, treebank_of_table
from swvp.learning.rule import UpdateRule
from swvp.parsing.labeller import Labeller, class_numbers, classes_of, for_rule, labels_of
from swvp.parsing.tree_model import Ranks, TreeKind, TreeModel
from swvp.structures.chain.attributes import AttributeChain, new_model
from swvp.structures.tree.encoding import FEW_VALUES, kinds_of, longest_arcs, of_nodes, parts_of, ranks_of
from swvp.training.mixing import Packed, change_of, packed, unpacked
from swvp.training.parts import JoinedTables, Part, Reading, joined_columns, joined_offsets
from swvp.training.shard_epoch import Given, Shard, orders_of
from swvp.training.shard_store import Arrays, ShardStore, flattened, put_in
from swvp.types import Heads, Int32s

__all__ = [
    "BlockBuilding",
    "BlockTrees",
    "LabelLearner",
    "PrunerStart",
    "TreeLearner",
    "build_block",
    "count_block",
    "empty_problem",
    "fit_pruner",
    "merged_longest",
    "merged_ranks",
    "read_block",
]

WIDTHS = (10, 8)
COLUMNS = ("words", "lemmas", "upos", "xpos", "feats")


def reading_of(encoding: str) -> Reading:
    """How treebanks with trees are read."""
    return Reading(encoding, True, WIDTHS)


def read_block(reading: Reading, part: Part) -> tuple[Treebank, str]:
    """The treebank of a block, and a digest of its bytes."""
    return reading.read(part, treebank_of_tables)


def treebank_of_tables(tables: list[Table]) -> Treebank:
    """The trees of several tables as one treebank."""
    treebanks = [treebank_of_table(table, heads=True) for table in tables]
    if len(treebanks) == 1:
        return treebanks[0]
    columns = {name: joined_columns([getattr(treebank, name) for treebank in treebanks]) for name in COLUMNS}
    return Treebank(
        **columns,
        offsets=joined_offsets([treebank.offsets for treebank in treebanks]),
        heads=np.concatenate([treebank.trees for treebank in treebanks]),
        labels=joined_columns([labels_of(treebank) for treebank in treebanks]),
        table=JoinedTables(tables),  # type: ignore[arg-type]
    )


# ---------------------------------------------------------------- first task: counts


class BlockTrees(NamedTuple):
    """The counts of a block: its trees, the values of the columns that are ranked, its longest arcs, its labels.

    `longest` is the table of the longest arcs (see `structures.tree.encoding`) for `tags` in their order. `families`
    are the heads that have children.
    """

    digest: str
    number_of_sentences: int
    tokens: int
    several_roots: int
    crossing: int
    families: int
    values: dict[str, dict[str, int]]
    tags: list[str]
    longest: Int32s
    labels: list[str]
    labelled: bool

    def nonprojective_trees(self) -> int:
        return self.crossing


def count_block(reading: Reading, part: Part) -> BlockTrees:
    """Read and check a block, and count what all blocks decide together."""
    treebank, digest = read_block(reading, part)
    columns = treebank.columns()
    ranks = ranks_of(columns)["pos"]
    starts = treebank.offsets + np.arange(len(treebank.offsets))
    words = np.ones(starts[-1], bool)
    words[starts[:-1]] = False
    kinds = of_nodes(words, kinds_of(columns["pos"][0], ranks), columns["pos"][1])
    heads = np.repeat(starts[:-1], np.diff(treebank.offsets)) + treebank.trees
    return BlockTrees(
        digest=digest,
        number_of_sentences=treebank.number_of_sentences,
        tokens=treebank.tokens,
        several_roots=treebank.several_roots,
        crossing=treebank.nonprojective_trees(),
        families=len(np.unique(heads)),
        values={name: value_counts(name, *columns[name]) for name in FEW_VALUES},
        tags=list(ranks),
        longest=longest_arcs(kinds, starts, treebank.trees, len(ranks)),
        labels=classes_of(treebank),
        labelled=treebank.labelled,
    )


def value_counts(name: str, strings: list[str], ids: NDArray[Any]) -> dict[str, int]:
    """How often each value of a column occurs; each morphological feature is a value."""
    counts: dict[str, int] = {}
    for string, count in zip(strings, np.bincount(ids, minlength=len(strings)).tolist(), strict=True):
        for value in parts_of(string) if name == "feats" else [string]:
            counts[value] = counts.get(value, 0) + count
    return counts


def merged_ranks(blocks: list[BlockTrees]) -> Ranks:
    """The ranks of the values of all blocks, as `ranks_of` numbers those of one treebank."""
    ranks: Ranks = {}
    for name in FEW_VALUES:
        counts: dict[str, int] = {}
        for block in blocks:
            for value, count in block.values[name].items():
                counts[value] = counts.get(value, 0) + count
        ordered = sorted(counts, key=lambda value: (-counts[value], value))
        ranks[name] = {value: rank for rank, value in enumerate(ordered)}
    return ranks


def merged_longest(blocks: list[BlockTrees], ranks: Ranks) -> Int32s:
    """The table of the longest arcs of all blocks, for tags with these ranks."""
    tags = ranks["pos"]
    size = len(tags) + 2
    longest: Int32s = np.zeros((size, size, 2), np.int32)
    longest[-1] = longest[:, -1] = blocks[0].longest[-1, -1]  # any length for tags that are not in training
    for block in blocks:
        places = [0, *(1 + tags[tag] for tag in block.tags)]
        own = np.ix_(places, places)
        longest[own] = np.maximum(longest[own], block.longest[: len(places), : len(places)])
    return longest


# ---------------------------------------------------------------- second task: the pruner of second order


class PrunerStart(NamedTuple):
    """The beginning of an epoch of the pruner: its number from 1, its weights and sums of squares."""

    epoch: int
    arrays: Packed


def fit_pruner(reading: Reading, model: TreeModel, start: PrunerStart, work: tuple[Shard, tuple[Part, ...]]) -> Packed:
    """Train the pruner one epoch on a shard, from the same weights as all shards; return what has changed."""
    shard, parts = work
    assert model.pruner is not None
    pruner, given = copy(model.pruner), unpacked(start.arrays)
    before = {"w": np.zeros(pruner.size), "squares": np.ones(pruner.size)}
    for name, array in before.items():
        array[given[f"{name} places"]] = given[f"{name} values"]
    pruner.w, pruner.squares = before["w"], before["squares"]
    for block, order in orders_of(shard, start.epoch):
        treebank, _ = read_block(reading, parts[block])
        pruner.fit(
            model.encode(treebank),
            treebank.trees,
            orders=Given(order),  # type: ignore[arg-type]
            epochs=1,
            warm_start=True,
        )
    arrays: Arrays = {}
    for name, array in before.items():
        places, values = change_of(array, getattr(pruner, name))
        arrays |= {f"{name} places": places, f"{name} values": values}
    return packed(arrays)


# ---------------------------------------------------------------- third task: arrays


class BlockBuilding(NamedTuple):
    """A block to build: the keys of its trees and of its labels in the store, and the digest of its bytes."""

    part: Part
    key: str
    label_key: str | None
    digest: str
    worker: str | None


def build_block(
    reading: Reading,
    model: TreeModel,
    kind: TreeKind,
    labeller: Labeller | None,
    folder: str | None,
    work: BlockBuilding,
) -> None:
    """Store the arrays of a block on the disk of this machine, unless they are there."""
    store = ShardStore(folder)
    has_labels = work.label_key is None or store.has(work.label_key)
    if store.has(work.key) and has_labels:
        return
    treebank, digest = read_block(reading, work.part)
    if digest != work.digest:
        raise InputError(f"{work.part[0].path}: the file has changed since training began")
    if not store.has(work.key):
        problem = model.problem(model.encode(treebank), treebank.trees, kind)
        arrays = {name: array for name, array in flattened(problem).items() if not name.startswith("tables.")}
        store.write(work.key, arrays)
    if not has_labels:
        assert labeller is not None
        assert work.label_key is not None
        store.write(work.label_key, label_arrays(labeller, treebank))


def label_arrays(labeller: Labeller, treebank: Treebank) -> Arrays:
    """The arrays of the chains of labels of a treebank."""
    trees = labeller.trees(treebank, treebank.trees)
    chain = trees.chain(0, treebank.number_of_sentences)
    gold = class_numbers(labels_of(treebank), labeller.classes)[trees.order].astype(np.uint32)
    arrays = flattened(chain._replace(y=gold))
    return {name: arrays[name] for name in ("attributes", "values", "starts", "y", "offsets")}


# ---------------------------------------------------------------- training


def empty_problem(model: TreeModel, kind: TreeKind, margin: float) -> Any:
    """A problem of one tree, whose arrays those of a block replace; it has the tables of the templates."""
    treebank = treebank_of([["a"]], heads=[[0]])
    heads: Heads = treebank.trees
    return model.problem(model.encode(treebank), heads, kind, margin=margin)


@dataclass(frozen=True)
class TreeLearner:
    """What trains trees on the shards of a parser; `like` is a problem with its tables."""

    trees: TreeModel
    like: Any
    size: int
    rule: UpdateRule
    power: float
    batch_size: int = 1
    n_jobs: int = 1

    def problem(self, arrays: Arrays) -> Any:
        """The problem whose arrays a block has."""
        return put_in(self.like, arrays)

    def model(self, problem: Any) -> Any:
        """A model with all weights 0."""
        return self.trees.new_weights(problem, self.size, exact=False, parts=self.rule.parts)


@dataclass(frozen=True)
class LabelLearner:
    """What trains labels on the shards of a parser."""

    rows: int
    labels: int
    rule: UpdateRule
    power: float
    batch_size: int = 1
    n_jobs: int = 1

    def problem(self, arrays: Arrays) -> Any:
        """The problem whose arrays a block has."""
        return for_rule(self.labels, AttributeChain(**arrays), self.rule)[0]

    def model(self, problem: Any) -> Any:
        """A model with all weights 0."""
        return new_model(self.rows, self.labels, int(np.diff(problem.offsets).max(initial=0)))
