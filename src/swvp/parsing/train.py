"""Training a parser from files: reads treebanks, trains or tunes its two stages, writes the model."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial

import numpy as np

from swvp.cluster.threads import Workers
from swvp.errors import counted
from swvp.features.templates import read_templates
from swvp.io.treebank import Treebank, read_treebank
from swvp.parsing.options import candidates, has_one_root, is_projective, margin_note
from swvp.parsing.parser import Parser, stage_of
from swvp.parsing.tree_model import TreeModel
from swvp.training.observer import Observer
from swvp.training.options import best_epoch_text, one_sentence_note, unseen_labels
from swvp.training.run import Run
from swvp.training.session import Session
from swvp.training.training import Training, stamp
from swvp.training.tune import Recipe

__all__ = ["read_features", "train_parser"]


def train_parser(
    run: Run,
    parser: Parser,
    observers: Sequence[Observer] = (),
    *,
    default_margin: bool = False,
    workers: Workers | None = None,
) -> None:
    """Train a parser on treebanks and write its model file; observers receive its events.

    `default_margin`: the user gave no margin, so a note says where the default matters. With `workers`, a cluster that
    is not open yet, the trainings of a tuning run there.
    """
    rule = parser.check()
    tried = candidates(run.rules, run.betas, parser.C) if run.tune else []
    run.check(patience=parser.patience)
    new = copy.deepcopy(parser)
    for_workers = None if workers is None else run.for_workers()
    if parser.batch_size > 1:
        parser.use_threads(run.threads)
    with run.session(observers) as session:
        treebank, dev = read_treebanks(run)
        data = [treebank] if dev is None else [treebank, dev]
        session.note(size_note("training", treebank))
        session.note(one_sentence_note(treebank.number_of_sentences, treebank.tokens))
        session.note(projective_note(treebank, parser))
        session.note(roots_note(treebank, parser.one_root))
        if default_margin and not run.tune and (note := margin_note(parser.rule, rule)) is not None:
            session.note(f"note: {note} (--margin 0)")
        if dev is not None:
            session.note(size_note("dev", dev))
        if parser.model_class.uses_pruner and parser.prune:
            session.note("training the pruner")
        others = parser.new_others()
        training = parser.start(treebank, dev)
        if parser.prune:
            session.note(pruning_note(parser, *((treebank, "training") if dev is None else (dev, "dev"))))
        labelled = parser.labels and treebank.labelled
        if labelled and dev is not None and treebank.labels is not None and dev.labels is not None:
            session.note(unseen_labels(treebank.labels.strings, *dev.labels))
        stage = "trees" if labelled or others else ""
        if run.tune:
            recipe = None
            if for_workers is not None:
                start_there = partial(start_on_worker, for_workers, new)
                digest = stamp(training, {}, *data)["data"]
                recipe = Recipe(start_there, repr([for_workers, vars(new)]), digest, f"{run.train}, {run.dev}")
            training = session.tune(
                parser, training, tried, jobs=run.threads, stage=stage, workers=workers, recipe=recipe
            )
        else:
            session.train(parser, training, data, stage=stage)
        parser.finish(training)
        if not parser.model_class.searches_exactly and dev is not None:
            session.note(f"dev: {100 * parser.certified(dev):.1f} % of the predicted trees are certified as the best")
        if labelled:
            train_labels(session, parser, treebank, dev)
        for number, other in enumerate(others, 2):
            if run.tune:
                other.use_rule(parser._rule())
            session.note(f"parser {number} of {parser.ensemble}, seed {other.random_state}")
            other_training = other.start(treebank, dev)
            session.train(other, other_training, data, stage=stage_of(stage, number))
            other.finish(other_training)
            if labelled:
                train_labels(session, other, treebank, dev, number)
            parser.others_.append(other)
        if others and dev is not None:
            session.note(f"all {parser.ensemble} parsers, by votes")
            session.note(scores_note(parser, dev))
        classes = "" if parser.labeller_ is None else f", {counted(len(parser.labeller_.classes), 'label')}"
        epochs = f"{parser.ensemble} parsers" if others else best_epoch_text(parser)
        for trained in (parser, *others):
            trained.use_threads(1)  # the file is the same for any number of threads
        session.save(parser, run.model, f"{counted(len(parser.templates_), 'template')}{classes}, {epochs}")


def read_treebanks(run: Run) -> tuple[Treebank, Treebank | None]:
    """Read the training set and the dev set of a parser."""
    treebank = read_treebank(run.train, encoding=run.encoding, heads=True)
    dev = None if run.dev is None else read_treebank(run.dev, encoding=run.encoding, heads=True)
    for read in (treebank, dev):
        if read is not None and read.table is not None:
            read.table.forget_text()
    return treebank, dev


def start_on_worker(run: Run, parser: Parser) -> tuple[Training, str]:
    """Start a training as a worker does; return it and a digest of its data."""
    treebank, dev = read_treebanks(run)
    training = copy.deepcopy(parser).start(treebank, dev)
    return training, stamp(training, {}, *([treebank] if dev is None else [treebank, dev]))["data"]


def train_labels(session: Session, parser: Parser, treebank: Treebank, dev: Treebank | None, number: int = 1) -> None:
    """The second stage: labels of arcs; `number` is that of the parser in an ensemble."""
    label_training = parser.start_labels(treebank, dev)
    data = [treebank] if dev is None else [treebank, dev]
    session.train(parser, label_training, data, stage=stage_of("labels", number), examples="families")
    parser.finish_labels(label_training)
    if dev is not None and dev.labelled:
        session.note(scores_note(parser, dev))


def read_features(features: str, model_class: type[TreeModel]) -> str | list[str]:
    """Return the name of a preset, or the templates of a file; errors name the file."""
    if features in model_class.presets:
        return features
    lines = read_templates(features, model_class.presets)
    model_class.check_templates(lines, where=features)
    return lines


def size_note(name: str, treebank: Treebank) -> str:
    """The size of a treebank and the share of non-projective trees."""
    crossing = 100 * treebank.nonprojective_trees() / treebank.number_of_sentences
    return (
        f"{name}: {counted(treebank.number_of_sentences, 'sentence')}, {counted(treebank.tokens, 'word')}, "
        f"{crossing:.1f} % of the trees not projective"
    )


def projective_note(treebank: Treebank, parser: Parser) -> str | None:
    """How many trees of a treebank no prediction can equal, and how to change that."""
    chosen = is_projective(treebank, parser.order) if parser.projective is None else parser.projective
    if chosen and (trees := treebank.nonprojective_trees()):
        how = " (--non-projective allows them)" if parser.projective is None else ""
        return f"note: {training_trees(trees)} with crossing arcs; predicted trees have none{how}"
    return None


def training_trees(number: int) -> str:
    """A number of training trees in words."""
    return counted(number, "training tree")


def roots_note(treebank: Treebank, one_root: bool | None) -> str | None:
    """How many roots predictions have, if some training trees have several."""
    trees = treebank.several_roots
    if not trees or one_root is False:
        return None
    if one_root or has_one_root(treebank):
        return (
            f"note: {training_trees(trees)} with several roots; predicted trees have one (--several-roots allows more)"
        )
    share = 100 * trees / treebank.number_of_sentences
    return (
        f"note: {training_trees(trees)} with several roots ({share:.1f} %); predicted trees may have several "
        "(--one-root allows only one)"
    )


def scores_note(parser: Parser, dev: Treebank) -> str:
    """UAS and, if labels were learnt, LAS of the finished parser on the dev set."""
    heads, labels = parser.predict_trees(dev)
    if labels is None or dev.labels is None:
        return f"dev: UAS {100 * np.mean(heads == dev.trees):.2f}, punctuation included"
    predicted, gold = (np.array(column.strings, object)[column.ids] for column in (labels, dev.labels))
    right = heads == dev.trees
    uas, las = np.mean(right), np.mean(right & (predicted == gold))
    return f"dev: UAS {100 * uas:.2f}, LAS {100 * las:.2f}, punctuation included"


def pruning_note(parser: Parser, treebank: Treebank, name: str) -> str:
    """How many heads pruning leaves, and how many of the gold arcs."""
    pruned = parser.pruning(treebank)
    return (
        f"pruning: keeps {pruned.heads:.1f} possible heads per word ({100 * pruned.share:.0f} % of all arcs), "
        f"{100 * pruned.recall:.2f} % of the gold {name} arcs"
    )
