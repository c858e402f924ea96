"""Owns training a parser from the command line: which treebanks, what is told of them, its two stages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rich.console import Console

from swvp.cache import is_on_disk
from swvp.cli.exclusive import one_training
from swvp.cli.output import new_console
from swvp.cli.training import Run, RunOptions, check_run, kept_pass, tell_unseen
from swvp.evaluation.trees import evaluate_trees
from swvp.features.templates import read_templates
from swvp.parsing.options import MARGIN, candidates, has_one_root, margin_note
from swvp.parsing.parser import Parser
from swvp.parsing.pruner import Pruner
from swvp.parsing.tree_model import TreeModel
from swvp.parsing.treebank import Treebank, read_treebank

__all__ = ["train_parser"]


@one_training
def train_parser(options: RunOptions, *, order: int, features: str | None, **settings: Any) -> None:
    """Read, train or tune, save; say what happens. The settings are those of Parser."""
    messages = new_console(stderr=True)
    told = settings["margin"]
    parser = Parser(order=order, **(settings | {"margin": MARGIN if told is None else told}))
    rule = parser.check()
    tried = candidates(options.rules, options.betas, settings["C"]) if options.tune else []
    check_run(options, patience=settings["patience"])
    model_class = parser.model_class
    parser.features = None if features is None else read_features(features, model_class)
    treebank = read_treebank(options.train, encoding=options.encoding, heads=True)
    dev = None if options.dev is None else read_treebank(options.dev, encoding=options.encoding, heads=True)
    data = [treebank] if dev is None else [treebank, dev]
    messages.print(described("training", treebank))
    tell_unreachable(messages, treebank, parser)
    tell_roots(messages, treebank, parser.one_root)
    if told is None and not options.tune and (note := margin_note(parser.rule, rule)) is not None:
        messages.print(f"note: {note} (--margin 0)")
    if dev is not None:
        messages.print(described("development", dev))
    if model_class.uses_pruner and parser.prune:
        first = "" if is_on_disk(Pruner.kernel) else "; the first time it also compiles, for some 20 to 60 seconds"
        messages.print(f"training the pruner{first}")
    training = parser.start(treebank, dev)
    if parser.prune:
        tell_pruning(messages, parser, treebank if dev is None else dev, "training" if dev is None else "development")
    labelled = parser.labels and treebank.labelled
    if labelled and dev is not None and treebank.labels is not None and dev.labels is not None:
        tell_unseen(messages, treebank.labels.strings, *dev.labels)
    run = Run(options, messages)
    stages = {"stage": "trees", "heading": "trees"} if labelled else {}
    if options.tune:
        training = run.tune(parser, training, tried, **stages)
    else:
        run.train(parser, training, data, kernel=model_class.prediction_kernel, **stages)
    parser.finish(training)
    if not model_class.searches_exactly and dev is not None:
        messages.print(f"development: {100 * parser.certified(dev):.1f} % of the trees are certainly the best ones")
    if labelled:
        naming = parser.start_labels(treebank, dev)
        run.train(parser, naming, data, stage="labels", heading="labels", examples="families")
        parser.finish_labels(naming)
        if dev is not None and dev.labelled:
            tell_scores(messages, parser, dev)
    classes = "" if parser.labeller_ is None else f", {len(parser.labeller_.classes)} labels"
    run.save(parser, f"{len(parser.templates_)} templates{classes}, {kept_pass(parser)}")


def read_features(features: str, model_class: type[TreeModel]) -> str | list[str]:
    """A preset by name, or the templates of a file, which is named if something is wrong with it."""
    if features in model_class.presets:
        return features
    lines = read_templates(features, model_class.presets)
    model_class.check_templates(lines, where=features)
    return lines


def described(what: str, treebank: Treebank) -> str:
    crossing = 100 * treebank.non_projective() / treebank.number_of_sentences
    return (
        f"{what}: {treebank.number_of_sentences:,} sentences, {treebank.tokens:,} words, "
        f"{crossing:.1f} % of the trees not projective"
    )


def tell_unreachable(messages: Console, treebank: Treebank, parser: Parser) -> None:
    """Say how many trees of a treebank no prediction can equal."""
    if parser.projective and (trees := treebank.non_projective()):
        messages.print(f"note: {trees:,} training trees are not projective: a projective parser cannot reach them")


def tell_roots(messages: Console, treebank: Treebank, one_root: bool | None) -> None:
    """Say how many roots predictions have, where training trees have several."""
    trees = treebank.several_roots
    if not trees or one_root is False:
        return
    if one_root or has_one_root(treebank):
        messages.print(
            f"note: {trees:,} training trees have several roots, predictions have one (--several-roots allows more)"
        )
    else:
        share = 100 * trees / treebank.number_of_sentences
        messages.print(
            f"{trees:,} training trees ({share:.1f} %) have several roots: so may predictions (--one-root allows one)"
        )


def tell_scores(messages: Console, parser: Parser, dev: Treebank) -> None:
    """Say what the finished parser scores on development data: heads and labels at once."""
    heads, labels = parser.predict_trees(dev)
    scores = evaluate_trees(dev, replace(dev, heads=heads, labels=labels))
    if scores.las is not None:
        messages.print(f"development: UAS {100 * scores.uas:.2f}, LAS {100 * scores.las:.2f}, punctuation included")


def tell_pruning(messages: Console, parser: Parser, treebank: Treebank, what: str) -> None:
    found = parser.pruning(treebank)
    messages.print(
        f"pruning: {found.heads:.1f} heads a word are left ({100 * found.share:.0f} % of the arcs), "
        f"among them {100 * found.recall:.2f} % of the {what} arcs"
    )
