"""Owns training a tagger from the command line: which files, columns and features; the rest is `swvp.cli.training`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from swvp.cli.exclusive import one_training
from swvp.cli.output import new_console
from swvp.cli.training import Run, RunOptions, check_run, kept_pass, tell_unseen
from swvp.errors import InputError
from swvp.features.templates import PRESETS, parse_templates, read_templates
from swvp.io.table import Table, is_conllu, read_table
from swvp.tagging.columns import NO_TARGET, Layout, check_column_options, conllu_layout, layout_of, read_corpus
from swvp.tagging.corpus import Corpus
from swvp.tagging.defaults import presets_for
from swvp.tagging.prose import refuse_prose
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
    check_prose: bool
    """Whether a file that looks like prose is refused."""


@one_training
def train_tagger(options: RunOptions, files: TaggerFiles, **settings: Any) -> None:
    """Read, train or tune, save; say what happens. The settings are those of Tagger."""
    messages = new_console(stderr=True)
    conllu = bool(files.conllu) or is_conllu(options.train)
    tagger = Tagger(**settings)
    tagger.check()
    if options.tune and tagger.rule == "crf":
        raise InputError("--tune tries rules of the perceptron: leave out --rule crf")
    tried = candidates(options.rules, options.betas, settings["C"]) if options.tune else []
    needed = [f"{options.train}: {NO_TARGET}"] if conllu and files.label is None else []
    check_run(options, patience=settings["patience"], needed=needed)
    if conllu:
        conllu_layout(options.train, files.label, files.columns)
    else:
        check_column_options(options.train, files.label, files.columns)
    tagger.features = read_features(files.features)
    layout, corpus, dev = read_files(options, files)
    check_features(tagger.features, layout.names, files.features)
    tagger.columns, tagger.layout_ = list(layout.names), layout
    messages.print(described("training", corpus, layout))
    if dev is not None:
        messages.print(described("development", dev, layout))
        assert corpus.labels is not None
        assert dev.labels is not None
        tell_unseen(messages, corpus.labels.names, *dev.labels)
    run = Run(options, messages)
    training = tagger.start(corpus, dev)
    if chosen := described_choice(tagger):
        messages.print(chosen)
    if options.tune:
        training = run.tune(tagger, training, tried)
    else:
        run.train(tagger, training, [corpus] if dev is None else [corpus, dev])
    tagger.finish(training)
    run.save(tagger, f"{tagger.n_attributes_:,} attributes × {len(tagger.classes_)} labels, {kept_pass(tagger)}")


def read_files(options: RunOptions, files: TaggerFiles) -> tuple[Layout, Corpus, Corpus | None]:
    def read(path: str) -> Table:
        table = read_table(path, encoding=options.encoding, conllu=files.conllu)
        if files.check_prose:
            refuse_prose(table)
        return table

    table = read(options.train)
    layout = layout_of(table, files.label, files.columns)
    corpus = read_corpus(table, layout, labelled=True)
    if options.dev is None:
        return layout, corpus, None
    return layout, corpus, read_corpus(read(options.dev), layout, labelled=True)


def read_features(features: str | None) -> str | list[str] | None:
    """A preset by name, or the templates of a file; None if they are to be chosen."""
    return features if features is None or features in PRESETS else read_templates(features)


def check_features(features: str | Sequence[str] | None, columns: Sequence[str], file: str | None) -> None:
    """Refuse features that the columns do not have; the file of templates is named."""
    if features is not None and not isinstance(features, str):
        parse_templates(features, columns, where=str(file))
        return
    fitting = presets_for(columns)
    if features in fitting or (features is None and fitting):
        return
    what = "all presets of features need a column" if features is None else f"the features '{features}' need columns"
    needs = "word, pos" if features == "chunk" else "word"
    raise InputError(
        f"{what} named {needs}, there are {', '.join(columns)}; give others with --features, or other names with "
        "--columns"
    )


def described_choice(tagger: Tagger) -> str:
    """What was chosen by the labels and why; nothing if there was nothing to choose."""
    found = {"features": tagger.chosen_.features, "constraint": tagger.chosen_.constraint}
    what = {name: value for name, value in found.items() if value is not None}
    if not what:
        return ""
    texts, options = (f"{name} {value}" for name, value in what.items()), (f"--{name}" for name in what)
    return f"chosen: {', '.join(texts)}, for labels that are {tagger.chosen_.why} (others: {', '.join(options)})"


def described(what: str, corpus: Corpus, layout: Layout) -> str:
    assert corpus.labels is not None
    sentences, labels = len(corpus.offsets) - 1, len(corpus.labels.names)
    names = ", ".join(layout.names)
    return (
        f"{what}: {sentences:,} sentences, {corpus.tokens:,} tokens, {labels} labels ({layout.label_name}) from {names}"
    )
