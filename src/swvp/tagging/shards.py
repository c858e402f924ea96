"""Taggers on shards: the tasks of blocks (count, number, build) and what a shard needs to train.

A block is counted first: its labels, and the labels of its words. With those of all blocks it numbers its strings and
attributes (`dictionary`). With the numbers of all blocks its arrays are built, and stored on the disk of the worker.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.features.encoder import Columns, TemplateEncoder, look_up
from swvp.features.lexicons import Lexicon
from swvp.features.templates import Template
from swvp.io.table import Column, Table
from swvp.learning.rule import UpdateRule
from swvp.structures.chain.attributes import AttributeChain
from swvp.tagging.corpus import Corpus, Labels, gold_numbers
from swvp.tagging.decoder import Constraint, Decoder, barrier, check_allowed, repaired
from swvp.tagging.dictionary import DROPPED, BlockKeys, TagCounts, count_tags
from swvp.tagging.files import Layout, check_not_prose, layout_of, read_corpus
from swvp.training.parts import JoinedTables, Part, Reading, joined_columns, joined_offsets
from swvp.training.shard_store import Arrays, ShardStore
from swvp.types import Floats, Ids, Int32s, Ints

__all__ = ["BlockCounts", "Building", "ChainLearner", "TaggerReading", "build_block", "count_block", "number_block"]


@dataclass(frozen=True)
class TaggerReading:
    """How the blocks of a corpus are read: the files, the columns, the constraint that repairs labels."""

    files: Reading
    label: str | int | None
    columns: tuple[str, ...] | None
    check_prose: bool
    layout: Layout | None = None
    constraint: Constraint | None = None

    def corpus(self, part: Part) -> tuple[Corpus, str]:
        """The corpus of a block as its files have it, and a digest of its bytes."""
        return self.files.read(part, self._corpus_of)

    def layout_of(self, part: Part) -> Layout:
        """The layout of the first file of a block."""
        return self.files.read(part[:1], lambda tables: layout_of(tables[0], self.label, self.columns))[0]

    def repaired(self, part: Part) -> tuple[Corpus, str]:
        """The corpus of a block with labels repaired and checked, and a digest of its bytes."""
        return self.files.read(part, lambda tables: self._checked(self._corpus_of(tables)))

    def _corpus_of(self, tables: list[Table]) -> Corpus:
        for table in tables:
            if self.check_prose:
                check_not_prose(table)
        layout = layout_of(tables[0], self.label, self.columns) if self.layout is None else self.layout
        return joined([read_corpus(table, layout, labelled=True) for table in tables])

    def _checked(self, corpus: Corpus) -> Corpus:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the leader says it of the first block
            corpus = repaired(self.constraint, corpus)
        assert corpus.labels is not None
        names = sorted(corpus.labels.names)
        gold = gold_numbers(corpus, names)
        check_allowed(barrier(self.constraint, names), names, gold, corpus.offsets, corpus.place, self.constraint)
        return corpus


def joined(corpora: list[Corpus]) -> Corpus:
    """One corpus after the other."""
    first = corpora[0]
    if len(corpora) == 1:
        return first
    columns = [corpus.columns for corpus in corpora if corpus.columns is not None]
    width = len(columns[0].names)
    merged = [joined_columns([Column(each.strings[k], each.ids[k]) for each in columns]) for k in range(width)]
    offsets = joined_offsets([corpus.offsets for corpus in corpora])
    labels = joined_columns([Column(*corpus.labels) for corpus in corpora if corpus.labels is not None])
    return first._replace(
        columns=Columns(
            columns[0].names, [each.strings for each in merged], np.stack([each.ids for each in merged]), offsets
        ),
        offsets=offsets,
        labels=Labels(*labels),
        table=JoinedTables([corpus.table for corpus in corpora if corpus.table is not None]),  # type: ignore[arg-type]
    )


# ---------------------------------------------------------------- first task: counts


class BlockCounts(NamedTuple):
    """The size of a block, its labels in the order of their first occurrence, the labels of its words."""

    digest: str
    sentences: int
    tokens: int
    labels: list[str]
    tags: dict[str, TagCounts]


def count_block(reading: TaggerReading, learns_tags: list[str], part: Part) -> BlockCounts:
    """Read and check a block, and count what all blocks decide together; `learns_tags` as in `TemplateEncoder`."""
    corpus, digest = reading.repaired(part)
    assert corpus.labels is not None
    assert corpus.columns is not None
    tags = {column: count_tags(corpus.columns, column, *corpus.labels) for column in learns_tags}
    return BlockCounts(digest, len(corpus.offsets) - 1, corpus.tokens, corpus.labels.names, tags)


# ---------------------------------------------------------------- second task: numbers


@dataclass(frozen=True)
class Templates:
    """The templates of a tagger, with what all blocks together know about words."""

    templates: list[Template]
    hashed: int | None
    lexicons: dict[str, Lexicon]

    def encoder(self) -> TemplateEncoder:
        encoder = TemplateEncoder(self.templates, self.hashed)
        encoder.lexicons = self.lexicons
        return encoder


def number_block(reading: TaggerReading, templates: Templates, minimum_count: int, part: Part) -> BlockKeys:
    """Number the strings and the attributes of a block."""
    corpus, _ = reading.repaired(part)
    assert corpus.columns is not None
    encoder, keys, counts = templates.encoder(), np.zeros(0, np.int64), np.zeros(0, np.int64)
    if templates.hashed is None:
        attributes, _ = encoder.fit(corpus.columns)
        keys = encoder.keys
        if minimum_count > 1:
            counts = np.bincount(attributes, minlength=len(keys))
    else:
        encoder.numbers(corpus.columns, grow=True)
    return BlockKeys([list(vocabulary) for vocabulary in encoder.vocabularies], keys, counts)


# ---------------------------------------------------------------- third task: arrays


class Building(NamedTuple):
    """A block to build: its key in the store, the digest of its bytes, and the new numbers of its own ones.

    `numbers` are those of its attributes; if these are hashed, `strings` are those of the strings of each slot, and
    `radix` the numbers of all strings.
    """

    part: Part
    key: str
    digest: str
    numbers: Ints
    strings: list[Int32s]
    radix: Ints
    worker: str | None


def build_block(
    reading: TaggerReading, templates: Templates, classes: list[str], folder: str | None, building: Building
) -> None:
    """Store the arrays of a block on the disk of this machine, unless they are there."""
    store = ShardStore(folder)
    if store.has(building.key):
        return
    corpus, digest = reading.repaired(building.part)
    if digest != building.digest:
        raise InputError(f"{building.part[0].path}: the file has changed since training began")
    assert corpus.columns is not None
    encoder = templates.encoder()
    if templates.hashed is None:
        attributes, starts = renumbered(*encoder.fit(corpus.columns), building.numbers)
    else:
        own = encoder.numbers(corpus.columns, grow=True)
        numbers = np.stack([table[row] for table, row in zip(building.strings, own, strict=True)]).astype(np.int32)
        places = (encoder.atoms, encoder.starts, building.radix, encoder.reach, encoder.table, templates.hashed)
        attributes, starts = look_up(numbers, corpus.columns.offsets, *places)
    arrays: Arrays = {
        "attributes": attributes,
        "values": np.zeros(0),
        "starts": starts,
        "y": gold_numbers(corpus, list(classes)).astype(np.uint32),
        "offsets": np.asarray(corpus.offsets, np.int64),
    }
    store.write(building.key, arrays)


def renumbered(attributes: Ids, starts: Ints, numbers: Ints) -> tuple[Ids, Ints]:
    """Attributes with new numbers, without those that are dropped."""
    new = numbers[attributes]
    left = new != DROPPED
    if left.all():
        return new.astype(np.uint32), starts
    ends = np.concatenate([[0], np.cumsum(left)])
    return new[left].astype(np.uint32), ends[starts]


# ---------------------------------------------------------------- training


@dataclass(frozen=True)
class ChainLearner:
    """What trains on the shards of a tagger: the search, the size of the model, the costs and the rule."""

    decoder: Decoder
    attributes: int
    costs: Floats
    rule: UpdateRule
    power: float
    batch_size: int = 1
    n_jobs: int = 1

    def problem(self, arrays: Arrays) -> Any:
        """The problem whose arrays a block has."""
        return self.decoder.problem(AttributeChain(**arrays, costs=self.costs))

    def model(self, problem: Any) -> Any:
        """A model with all weights 0."""
        return self.decoder.new_model(self.attributes, int(np.diff(problem.offsets).max(initial=0)))


def empty_chain() -> AttributeChain:
    """A chain without sequences."""
    nothing: NDArray[np.uint32] = np.zeros(0, np.uint32)
    return AttributeChain(nothing, np.zeros(0), np.zeros(1, np.int64), nothing, np.zeros(1, np.int64))
