"""Training a tagger on shards: divides the files, merges what the blocks count and number, and runs the rounds."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.cluster.threads import Threads, Workers
from swvp.errors import InputError
from swvp.features.templates import PRESETS, parse_templates
from swvp.learning.perceptron import generator
from swvp.structures.chain.attributes import NO_COSTS
from swvp.tagging.corpus import Corpus, extended_labels
from swvp.tagging.decoder import barrier, costs_of, decoder_of
from swvp.tagging.dictionary import MergedTags, merge_keys, merge_vocabularies, rekeyed
from swvp.tagging.files import read_corpus
from swvp.tagging.shards import (
    BlockCounts,
    Building,
    ChainLearner,
    TaggerReading,
    Templates,
    build_block,
    count_block,
    empty_chain,
    number_block,
)
from swvp.tagging.tagger import Tagger
from swvp.tagging.train import TaggerFiles, check_features, check_options, choice_note
from swvp.training.observer import Observer
from swvp.training.options import best_epoch_text, lines_of, unseen_labels
from swvp.training.parts import Part, Reading, divide, part_name
from swvp.training.rounds import RoundTraining, Sharding, check_sharding, shard_notes
from swvp.training.run import Run
from swvp.training.shard_epoch import Shard
from swvp.training.shard_store import digest_of

__all__ = ["ShardedData", "check_tagger", "train_tagger_on_shards"]


def name_of(building: Building) -> str:
    """A block as messages name it."""
    return part_name(building.part)


class ShardedData:
    """What distinguishes a divided corpus from another one, for checkpoints."""

    def __init__(self, digests: Sequence[str]):
        self.digests = digests

    def parts(self) -> Iterator[str | NDArray[Any]]:
        yield from self.digests


def train_tagger_on_shards(
    run: Run,
    data: Sequence[str],
    files: TaggerFiles,
    tagger: Tagger,
    sharding: Sharding,
    observers: Sequence[Observer] = (),
    workers: Workers | None = None,
) -> RoundTraining:
    """Train a tagger on files in shards and write its model file; `data` are the files in their order.

    Returns the training, whose bytes and seconds benchmarks read.
    """
    workers = Threads() if workers is None else workers
    check_options(run, files, tagger)
    check_sharding(sharding, dev=run.dev is not None)
    check_tagger(tagger, files)
    with run.session(observers) as session:
        parts = divide(data, sharding.parts, encoding=run.encoding, conllu=files.conllu)
        columns = None if files.columns is None else tuple(files.columns)
        own = Reading(run.encoding, files.conllu)
        reading = TaggerReading(own, files.label, columns, files.check_prose)
        first, _ = reading.corpus(parts[0])
        layout = reading.layout_of(parts[0])
        check_features(tagger.features, layout.names, files.templates)
        tagger.use_layout(layout)
        tagger._choose(first, extend=False)
        reading = TaggerReading(own, files.label, columns, files.check_prose, layout, tagger._constraint())
        dev = None
        if run.dev is not None:
            dev = read_corpus(files.read(run.dev, run.encoding), layout, labelled=True)
        prepared = Preparation(tagger, reading, first, parts, workers)
        session.note(choice_note(tagger))
        for note in shard_notes(sharding, [block.sentences for block in prepared.blocks], prepared.tokens, len(data)):
            session.note(note)
        if dev is not None:
            assert dev.labels is not None
            session.note(unseen_labels(tagger.classes_, *dev.labels))
        training = prepared.training(sharding, dev)
        training.on_shard = session.on_shard
        session.train(tagger, training, [ShardedData(prepared.digests), *([] if dev is None else [dev])])
        tagger.finish(training)
        size = f"{tagger.n_attributes_:,} attributes × {len(tagger.classes_)} labels"
        session.save(tagger, run.model, f"{size}, {best_epoch_text(tagger)}")
        sharding.remove_store()
    return training


def check_tagger(tagger: Tagger, files: TaggerFiles) -> None:
    """Raise InputError for options that need the whole corpus at once."""
    if tagger.rule == "crf":
        raise InputError("rule 'crf' looks at all data at once: it cannot be trained on shards")
    if tagger.clusters is not None or files.cluster_text is not None:
        raise InputError("word clusters are learnt from a whole corpus: leave out --shards, or --clusters")


class Preparation:
    """The first rounds: what all blocks count and number, merged in the order of the blocks into the tagger."""

    def __init__(self, tagger: Tagger, reading: TaggerReading, first: Corpus, parts: Sequence[Part], workers: Workers):
        self.tagger, self.reading, self.parts, self.workers = tagger, reading, parts, workers
        assert reading.layout is not None
        names = list(reading.layout.names)
        features = tagger.chosen_.features if tagger.features is None else tagger.features
        assert features is not None
        templates = Templates(parse_templates(lines_of(features, PRESETS), names), tagger.hashed, {})
        if templates.encoder().learns_clusters:
            raise InputError(
                "word clusters are learnt from a whole corpus: leave out --shards, or features of clusters"
            )
        tags = templates.encoder().learns_tags
        count = functools.partial(count_block, reading, tags)
        self.blocks: list[BlockCounts] = []
        merged = {column: MergedTags() for column in tags}
        for _, block in workers.map(count, parts, name=part_name):
            for column, tags_of_words in merged.items():
                tags_of_words.add(block.tags[column])
            self.blocks.append(block._replace(tags={}))
        self.digests = [block.digest for block in self.blocks]
        self.tokens = sum(block.tokens for block in self.blocks)
        lexicons = {column: tags_of_words.chosen() for column, tags_of_words in merged.items()}
        self.templates = Templates(templates.templates, templates.hashed, lexicons)
        labels = dict.fromkeys(label for block in self.blocks for label in block.labels)
        tagger.classes_ = extended_labels([], list(labels))
        tagger.barrier_ = barrier(tagger._constraint(), tagger.classes_)
        tagger.kind_, tagger.columns_ = first.kind, names
        self._number()

    def _number(self) -> None:
        """Number the attributes of all blocks; give the tagger its encoder."""
        tagger = self.tagger
        task = functools.partial(number_block, self.reading, self.templates, tagger.minimum_count)
        results = self.workers.map(task, self.parts, name=part_name)
        vocabularies, self.strings, numbered = merge_vocabularies(keys for _, keys in results)
        encoder = self.templates.encoder()
        encoder.restore(vocabularies, np.zeros(0, np.int64), self.templates.lexicons)
        self.radix = encoder.radix
        self.numbers = [np.zeros(0, np.int64) for _ in self.parts]
        if tagger.hashed is None:
            keys = [
                rekeyed(encoder, block, strings, self.radix)
                for block, strings in zip(numbered, self.strings, strict=True)
            ]
            merged, self.numbers = merge_keys(keys, [block.counts for block in numbered], tagger.minimum_count)
            encoder.restore(vocabularies, merged, self.templates.lexicons)
            self.strings = [[] for _ in self.parts]
        tagger.encoder_, tagger.n_attributes_ = encoder, encoder.size
        what = (__version__, self.reading, self.templates, tagger.classes_, self.radix)
        everything = digest_of(*what)
        self.keys = [
            digest_of(everything, block.digest, numbers, *strings)
            for block, numbers, strings in zip(self.blocks, self.numbers, self.strings, strict=True)
        ]

    def training(self, sharding: Sharding, dev: Corpus | None) -> RoundTraining:
        """The training on shards, whose blocks are built by the workers that need them."""
        tagger = self.tagger
        rule = tagger.check()
        decoder = decoder_of(tagger.decoder, tagger.barrier_, tagger.order, tagger.width, tagger.fix)
        costs = costs_of(tagger._margin(rule), tagger.cost, tagger.classes_) if decoder.plain else NO_COSTS
        learner = ChainLearner(decoder, tagger.n_attributes_, costs, rule, tagger._average_power(rule))
        self.folder = sharding.folder
        shards = sharding.recipes(self.keys, [block.sentences for block in self.blocks], tagger.random_state)
        return RoundTraining(
            decoder.problem(empty_chain()),
            decoder.new_model(tagger.n_attributes_, 1),
            rule,
            kind="tagger",
            average=tagger.average,
            for_rule=tagger._for_rule,
            orders=generator(tagger.random_state),
            dev=None if dev is None else tagger._development(dev),
            sharding=sharding,
            shards=shards,
            learner=learner,
            workers=self.workers,
            build=self.build,
            tokens=self.tokens,
        )

    def build(self, shards: Sequence[Shard]) -> None:
        """Build the blocks of these shards."""
        place = {key: number for number, key in enumerate(self.keys)}
        task = functools.partial(build_block, self.reading, self.templates, self.tagger.classes_, self.folder)
        blocks = ((place[key], shard.worker) for shard in shards for key in shard.keys)
        items = (
            Building(self.parts[k], self.keys[k], self.digests[k], self.numbers[k], self.strings[k], self.radix, worker)
            for k, worker in blocks
        )
        for _ in self.workers.map(task, items, name=name_of):
            pass
