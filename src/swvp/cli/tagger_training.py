"""Owns training a tagger from the command line: which files, columns and features; the rest is `swvp.cli.training`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swvp.cli.exclusive import one_training
from swvp.cli.output import new_console
from swvp.cli.training import Run, RunOptions, check_run, kept_pass, tell_unseen
from swvp.data.table import read_table
from swvp.errors import InputError
from swvp.structures.chain.templates import PRESETS, parse_templates, read_templates
from swvp.tagging.corpus import Corpus
from swvp.tagging.layout import Layout, layout_of, read_corpus
from swvp.tagging.rules import candidates
from swvp.tagging.tagger import Tagger

__all__ = ["TaggerFiles", "train_tagger"]


@dataclass(frozen=True)
class TaggerFiles:
    """What the command line says about the columns of files and the features of taggers."""

    label: str | int | None
    columns: Sequence[str] | None
    features: str | None
    conllu: bool | None


@one_training
def train_tagger(options: RunOptions, files: TaggerFiles, **settings: Any) -> None:
    """Read, train or tune, save; say what happens. The settings are those of Tagger."""
    messages = new_console(stderr=True)
    rule = settings["rule"]
    check_run(options, patience=settings["patience"], rule=None if rule == "crf" else rule, beta=settings["beta"])
    tried = candidates(options.rules, options.betas, settings["C"]) if options.tune else []
    layout, corpus, dev = read_files(options, files)
    tagger = Tagger(features=read_features(files.features, layout.names), columns=list(layout.names), **settings)
    tagger.layout_ = layout
    messages.print(described("training", corpus, layout))
    if dev is not None:
        messages.print(described("development", dev, layout))
        assert corpus.labels is not None
        assert dev.labels is not None
        tell_unseen(messages, corpus.labels.names, *dev.labels)
    run = Run(options, messages)
    training = tagger.start(corpus, dev)
    if options.tune:
        training = run.tune(tagger, training, tried)
    else:
        run.train(tagger, training, [corpus] if dev is None else [corpus, dev])
    tagger.finish(training)
    run.save(tagger, f"{tagger.n_attributes_:,} attributes × {len(tagger.classes_)} labels, {kept_pass(tagger)}")


def read_files(options: RunOptions, files: TaggerFiles) -> tuple[Layout, Corpus, Corpus | None]:
    table = read_table(options.train, encoding=options.encoding, conllu=files.conllu)
    layout = layout_of(table, files.label, files.columns)
    corpus = read_corpus(table, layout, labelled=True)
    if options.dev is None:
        return layout, corpus, None
    dev_table = read_table(options.dev, encoding=options.encoding, conllu=files.conllu)
    return layout, corpus, read_corpus(dev_table, layout, labelled=True)


def read_features(features: str | None, columns: Sequence[str]) -> str | list[str] | None:
    """A preset by name, or the templates of a file, which is named if something is wrong with it."""
    preset = features or ("pos" if len(columns) == 1 else "chunk")
    if preset in PRESETS:
        try:
            parse_templates(PRESETS[preset], columns)
        except InputError:
            needs = "word, pos" if preset == "chunk" else "word"
            raise InputError(
                f"the features '{preset}' need columns named {needs}, there are {', '.join(columns)}; "
                "give others with --features, or other names with --columns"
            ) from None
        return features
    lines = read_templates(preset)
    parse_templates(lines, columns, where=preset)
    return lines


def described(what: str, corpus: Corpus, layout: Layout) -> str:
    assert corpus.labels is not None
    sentences, labels = len(corpus.offsets) - 1, len(corpus.labels.names)
    names = ", ".join(layout.names)
    return (
        f"{what}: {sentences:,} sentences, {corpus.tokens:,} tokens, {labels} labels ({layout.label_name}) from {names}"
    )
