"""Training a parser on shards: divides the treebanks, merges what the blocks count, runs the rounds of its stages."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.cluster.threads import Threads, Workers
from swvp.errors import InputError
from swvp.io.treebank import Treebank, read_treebank
from swvp.learning.perceptron import generator
from swvp.parsing.labeller import DevLabels, Labeller, for_rule
from swvp.parsing.options import label_rule
from swvp.parsing.parser import DevTrees, Parser
from swvp.parsing.shards import (
    BlockBuilding,
    BlockTrees,
    LabelLearner,
    PrunerStart,
    TreeLearner,
    build_block,
    count_block,
    empty_problem,
    fit_pruner,
    merged_longest,
    merged_ranks,
    reading_of,
)
from swvp.parsing.train import pruning_note, scores_note
from swvp.parsing.tree_model import PRUNER_EPOCHS, TreeModel
from swvp.structures.chain.attributes import new_model
from swvp.tagging.shards import empty_chain
from swvp.training.mixing import Mixture, Sparse, packed, unpacked
from swvp.training.observer import Observer
from swvp.training.options import best_epoch_text, unseen_labels
from swvp.training.parts import Part, divide, part_name
from swvp.training.rounds import RoundTraining, Sharding, check_sharding, shard_notes
from swvp.training.run import Run
from swvp.training.shard_epoch import Shard
from swvp.training.shard_store import digest_of

__all__ = ["check_parser", "train_parser_on_shards"]


def name_of(building: BlockBuilding) -> str:
    """A block as messages name it."""
    return part_name(building.part)


def shard_name(work: tuple[Shard, tuple[Part, ...]]) -> str:
    """A shard of the pruner as messages name it."""
    return part_name(work[1][0])


class TreebankBlocks:
    """What distinguishes a divided treebank from another one, for checkpoints."""

    def __init__(self, blocks: Sequence[BlockTrees]):
        self.blocks = blocks

    def parts(self) -> Iterator[str | NDArray[Any]]:
        for block in self.blocks:
            yield block.digest


def train_parser_on_shards(
    run: Run,
    data: Sequence[str],
    parser: Parser,
    sharding: Sharding,
    observers: Sequence[Observer] = (),
    workers: Workers | None = None,
) -> list[RoundTraining]:
    """Train a parser on treebanks in shards and write its model file; `data` are the files in their order.

    Returns the trainings of its stages, whose bytes and seconds benchmarks read.
    """
    workers = Threads() if workers is None else workers
    parser.check()
    run.check(patience=parser.patience)
    check_sharding(sharding, dev=run.dev is not None)
    check_parser(parser)
    if parser.batch_size > 1:
        parser.use_threads(run.threads)
    with run.session(observers) as session:
        parts = divide(data, sharding.parts, encoding=run.encoding, conllu=True)
        dev = None if run.dev is None else read_treebank(run.dev, encoding=run.encoding, heads=True)
        if dev is not None and dev.table is not None:
            dev.table.forget_text()
        work = Preparation(parser, sharding, parts, run.encoding, workers)
        for note in shard_notes(sharding, [block.number_of_sentences for block in work.blocks], work.tokens, len(data)):
            session.note(note)
        if parser.model_.pruner is not None:
            session.note("training the pruner")
        work.prune()
        if parser.prune and dev is not None:
            session.note(pruning_note(parser, dev, "dev"))
        work.label(dev)
        labelled = work.labeller is not None
        if labelled and dev is not None and dev.labels is not None:
            assert work.labeller is not None
            session.note(unseen_labels(work.labeller.classes, *dev.labels))
        found: list[Any] = [TreebankBlocks(work.blocks), *([] if dev is None else [dev])]
        training = work.trees(dev)
        training.on_shard = session.on_shard
        session.train(parser, training, found, stage="trees" if labelled else "")
        parser.finish(training)
        trainings = [training]
        if not parser.model_class.searches_exactly and dev is not None:
            session.note(f"dev: {100 * parser.certified(dev):.1f} % of the predicted trees are certified as the best")
        if labelled:
            parser.labeller_ = work.labeller
            label_training = work.labels(dev)
            label_training.on_shard = session.on_shard
            session.train(parser, label_training, found, stage="labels", examples="families")
            parser.finish_labels(label_training)
            trainings.append(label_training)
        if dev is not None and labelled and dev.labelled:
            session.note(scores_note(parser, dev))
        classes = "" if parser.labeller_ is None else f", {len(parser.labeller_.classes)} labels"
        parser.use_threads(1)  # the file is the same for any number of threads
        session.save(parser, run.model, f"{len(parser.templates_)} templates{classes}, {best_epoch_text(parser)}")
        sharding.remove_store()
    return trainings


def check_parser(parser: Parser) -> None:
    """Raise InputError for options that need the whole treebank at once."""
    if parser.hashed is None:
        raise InputError("shards need hashed features: leave out --exact, or --shards")
    if parser.ensemble != 1:
        raise InputError("shards train one parser: leave out --ensemble, or --shards")


class Preparation:
    """The first rounds: what all blocks count, merged in the order of the blocks into the parser."""

    def __init__(self, parser: Parser, sharding: Sharding, parts: Sequence[Part], encoding: str, workers: Workers):
        self.parser, self.sharding, self.parts, self.workers = parser, sharding, parts, workers
        self.reading = reading_of(encoding)
        count = functools.partial(count_block, self.reading)
        self.blocks: list[BlockTrees] = [counts for _, counts in workers.map(count, parts, name=part_name)]
        self.tokens = sum(block.tokens for block in self.blocks)
        summed = self.blocks[0]._replace(
            number_of_sentences=sum(block.number_of_sentences for block in self.blocks),
            several_roots=sum(block.several_roots for block in self.blocks),
            crossing=sum(block.crossing for block in self.blocks),
        )
        self.ranks = merged_ranks(self.blocks)
        parser.prepare(summed, self.ranks)
        self.labeller: Labeller | None = None

    def prune(self) -> None:
        """Learn which arcs are considered; in second order, train the pruner in rounds."""
        parser = self.parser
        if parser.prune:
            parser.model_.prune_by(merged_longest(self.blocks, self.ranks))
        else:
            parser.model_.prune_by(parser.model_.longest)
        pruner = parser.model_.pruner
        if pruner is None:
            return
        size, blocks = pruner.size, self.sharding.blocks
        old = {"w": np.zeros(size), "squares": np.ones(size)}
        pruner.w, pruner.squares = old["w"], old["squares"]
        shards = self._recipes([""] * len(self.parts), [block.number_of_sentences for block in self.blocks])
        work = [(shard, tuple(self.parts[shard.number * blocks : (shard.number + 1) * blocks])) for shard in shards]
        light = copy(parser.model_)
        light.pruner = copy(pruner)
        light.pruner.w, light.pruner.squares = np.zeros(0), None
        for epoch in range(1, PRUNER_EPOCHS + 1):
            arrays: dict[str, NDArray[Any]] = {}
            for name, zero in (("w", 0.0), ("squares", 1.0)):
                places = np.flatnonzero(old[name] != zero)
                arrays |= {f"{name} places": places, f"{name} values": old[name][places]}
            means = {name: Mixture(array) for name, array in old.items()}
            task = functools.partial(fit_pruner, self.reading, light, PrunerStart(epoch, packed(arrays)))
            for _, end in self.workers.map(task, work, name=shard_name):
                changed = unpacked(end)
                for name, mean in means.items():
                    mean.add(1.0, Sparse(changed[f"{name} places"], changed[f"{name} values"]))
            for mean in means.values():
                mean.write()

    def label(self, dev: Treebank | None) -> None:
        """Make the labeller, if labels are learnt; then the keys of all blocks are known."""
        parser = self.parser
        if parser.labels and any(block.labelled for block in self.blocks):
            self.labeller = Labeller()
            self.labeller.classes = sorted({label for block in self.blocks for label in block.labels})
        model, pruner = parser.model_, parser.model_.pruner
        pruned = "" if pruner is None else digest_of(pruner.meta(), pruner.w)
        templates = [template.text for template in model.templates]
        what = (__version__, self.reading, templates, self.ranks, parser._kind(), model.longest, pruned)
        self.keys = [digest_of(block.digest, *what) for block in self.blocks]
        classes = None if self.labeller is None else self.labeller.classes
        self.label_keys = [digest_of(block.digest, __version__, self.reading, classes) for block in self.blocks]

    def _recipes(self, keys: Sequence[str], sizes: Sequence[int]) -> list[Shard]:
        return self.sharding.recipes(keys, sizes, self.parser.random_state)

    def trees(self, dev: Treebank | None) -> RoundTraining:
        """The training of trees."""
        parser = self.parser
        rule = parser.check()
        like = empty_problem(parser.model_, parser._kind(), parser._margin(rule))
        assert parser.hashed is not None
        learner = TreeLearner(
            lightened(parser.model_),
            like,
            int(parser.hashed),
            rule,
            parser._average_power(rule),
            int(parser.batch_size),
            int(parser.n_jobs),
        )
        return RoundTraining(
            like,
            learner.model(like),
            rule,
            kind="parser",
            average=parser.average,
            for_rule=parser._for_rule,
            dev=None if dev is None else DevTrees(parser, dev),
            shards=self._recipes(self.keys, [block.number_of_sentences for block in self.blocks]),
            learner=learner,
            **self._settings(),
        )

    def labels(self, dev: Treebank | None) -> RoundTraining:
        """The training of labels."""
        assert self.labeller is not None
        rule, number = label_rule(), len(self.labeller.classes)
        problem, power = for_rule(number, empty_chain(), rule)
        learner = LabelLearner(self.labeller.rows, number, rule, power)
        return RoundTraining(
            problem,
            new_model(self.labeller.rows, number, 1),
            rule,
            kind="labels",
            average=True,
            for_rule=functools.partial(for_rule, number),
            dev=None if dev is None or not dev.labelled else DevLabels(self.labeller, dev),
            shards=self._recipes(self.label_keys, [block.families for block in self.blocks]),
            learner=learner,
            **self._settings(),
        )

    def _settings(self) -> dict[str, Any]:
        """What both stages have in common."""
        return {
            "orders": generator(self.parser.random_state),
            "sharding": self.sharding,
            "workers": self.workers,
            "build": self.build,
            "tokens": self.tokens,
        }

    def build(self, shards: Sequence[Shard]) -> None:
        """Build the blocks of these shards."""
        parser, blocks = self.parser, self.sharding.blocks
        task = functools.partial(
            build_block, self.reading, parser.model_, parser._kind(), self.labeller, self.sharding.folder
        )
        numbers = (
            (k, shard.worker) for shard in shards for k in range(shard.number * blocks, (shard.number + 1) * blocks)
        )
        items = (
            BlockBuilding(
                self.parts[k],
                self.keys[k],
                None if self.labeller is None else self.label_keys[k],
                self.blocks[k].digest,
                worker,
            )
            for k, worker in numbers
        )
        for _ in self.workers.map(task, items, name=name_of):
            pass


def lightened(model: TreeModel) -> TreeModel:
    """A model without what only encoding and pruning need, which need not be sent to workers in every round."""
    light = copy(model)
    light.ranks, light.pruner = {}, None
    return light
