"""Training a tagger from files: reads them, checks options, trains or tunes, writes the model."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from swvp.cluster.threads import Workers
from swvp.errors import InputError, counted
from swvp.features.clusters import CLUSTERS
from swvp.features.encoder import TemplateEncoder
from swvp.features.templates import PRESETS, parse_templates, read_templates
from swvp.io.table import Table, is_conllu, read_table
from swvp.io.tree_checks import EMPTY
from swvp.learning.rule import UpdateRule
from swvp.tagging.corpus import Corpus
from swvp.tagging.decoder import candidates_note, recall_note
from swvp.tagging.files import (
    NO_TARGET,
    Layout,
    check_column_options,
    check_not_prose,
    clusters_with_text,
    conllu_layout,
    layout_of,
    read_corpus,
)
from swvp.tagging.options import presets_for
from swvp.tagging.tagger import Tagger
from swvp.training.observer import Observer
from swvp.training.options import best_epoch_text, one_sentence_note, unseen_labels
from swvp.training.run import Run
from swvp.training.training import Training, stamp
from swvp.training.tune import Recipe, candidates

__all__ = ["BETAS", "RULES", "TaggerFiles", "read_features", "train_tagger"]

RULES = (
    "csp",
    "a-wm",
    "b-wm",
    "a-wm:sqrt",
    "a-wmr:sqrt",
    "a-uniform:count",
    "a-wm:segments",
    "a-wm:segments:sqrt",
    "a-uniform:segments:sqrt",
    "a-softmin:segments:sqrt",
    "a-uniform:segments:count",
    "a-wm:single+full:sqrt",
    "csp:ada",
    "b-maxent:all:ada",
    "softmax",
)
"""Rules that tuning tries by default."""
BETAS = (0.25, 0.5, 1.0, 2.0)
"""β that tuning tries by default, for rules that have one."""


@dataclass(frozen=True)
class TaggerFiles:
    """How the files of a tagger are read.

    Parameters
    ----------
    label : str or int, optional
        The column of the labels: a name in CoNLL-U, a number from 0 in a column file (by default the last column).
    columns : sequence of str, optional
        Names of the columns that features use; by default all, in CoNLL-U the word.
    templates : str, optional
        The file that the features of the tagger come from; errors name it.
    conllu : bool, optional
        Whether the files are CoNLL-U; by default their names decide.
    check_prose : bool
        Raise InputError for a file that looks like prose.
    cluster_text : str, optional
        A file of text, from which word clusters are learnt besides the words of the training file.
    """

    label: str | int | None = None
    columns: Sequence[str] | None = None
    templates: str | None = None
    conllu: bool | None = None
    check_prose: bool = True
    cluster_text: str | None = None

    def for_workers(self) -> TaggerFiles:
        """The same with the whole path of the text, for workers in other folders."""
        text = self.cluster_text
        return replace(self, cluster_text=None if text is None else str(Path(text).absolute()))

    def layout(self, table: Table) -> Layout:
        return layout_of(table, self.label, self.columns)

    def read(self, path: str, encoding: str) -> Table:
        table = read_table(path, encoding=encoding, conllu=self.conllu)
        if self.check_prose:
            check_not_prose(table)
        return table


def train_tagger(
    run: Run,
    files: TaggerFiles,
    tagger: Tagger,
    observers: Sequence[Observer] = (),
    *,
    workers: Workers | None = None,
) -> None:
    """Train a tagger on files and write its model file; observers receive its events.

    With `workers`, a cluster that is not open yet, the trainings of a tuning run there.
    """
    tried = check_options(run, files, tagger)
    new = copy.deepcopy(tagger)
    for_workers = None if workers is None else run.for_workers()
    with run.session(observers) as session:
        training, data = start(run, files, tagger, session.note)
        if run.tune:
            recipe = None
            if for_workers is not None:
                digest = stamp(training, {}, *data)["data"]
                start_there = partial(start_on_worker, for_workers, files.for_workers(), new)
                parts = [for_workers, files, vars(new)]
                recipe = Recipe(start_there, repr(parts), digest, f"{run.train}, {run.dev}")
            training = session.tune(tagger, training, tried, jobs=run.threads, workers=workers, recipe=recipe)
        else:
            session.train(tagger, training, data)
        tagger.finish(training)
        del training  # it has more weights than the tagger
        session.note(recall_note(tagger, data[-1], "training" if run.dev is None else "dev"))
        size = f"{counted(tagger.n_attributes_, 'attribute')} × {counted(len(tagger.classes_), 'label')}"
        session.save(tagger, run.model, f"{size}, {best_epoch_text(tagger)}")


def start(
    run: Run, files: TaggerFiles, tagger: Tagger, note: Callable[[str | None], object]
) -> tuple[Training, list[Corpus]]:
    """Read the files of a tagger and start its training; return it with the training set and the dev set."""
    table = files.read(run.train, run.encoding)
    layout = files.layout(table)
    corpus = read_corpus(table, layout, labelled=True)
    dev = None
    if run.dev is not None:
        dev = read_corpus(files.read(run.dev, run.encoding), layout, labelled=True)
    for read in (corpus, dev):
        if read is not None and read.table is not None:
            read.table.forget_text()
    check_labels(corpus, layout)
    check_features(tagger.features, layout.names, files.templates)
    tagger.use_layout(layout)
    note(size_note("training", corpus, layout))
    note(one_sentence_note(len(corpus.offsets) - 1, corpus.tokens))
    if dev is not None:
        assert corpus.labels is not None
        assert dev.labels is not None
        note(size_note("dev", dev, layout))
        note(unseen_labels(corpus.labels.names, *dev.labels))
    if files.cluster_text is not None:
        number = tagger.clusters if isinstance(tagger.clusters, int) else CLUSTERS
        tagger.clusters = clusters_with_text(corpus, files.cluster_text, number, encoding=run.encoding)
    training = tagger.start(corpus, dev, grows=not run.tune)
    if not tagger.n_attributes_:
        raise InputError(f"no attribute occurs {counted(tagger.minimum_count, 'time')}: choose a lower --min-count")
    note(choice_note(tagger))
    note(candidates_note(tagger))
    note(clusters_note(tagger, files))
    return training, [corpus] if dev is None else [corpus, dev]


def start_on_worker(run: Run, files: TaggerFiles, tagger: Tagger) -> tuple[Training, str]:
    """Start a training as a worker does; return it and a digest of its data."""
    training, data = start(run, files, copy.deepcopy(tagger), lambda text: None)
    return training, stamp(training, {}, *data)["data"]


def check_options(run: Run, files: TaggerFiles, tagger: Tagger) -> list[UpdateRule]:
    """Raise InputError if options are wrong whatever the files hold; return the rules to tune."""
    conllu = bool(files.conllu) or is_conllu(run.train)
    tagger.check()
    if run.tune and tagger.rule == "crf":
        raise InputError("--tune tries rules of the perceptron: leave out --rule crf")
    tried = candidates(run.rules or RULES, run.betas or BETAS, tagger.C) if run.tune else []
    missing = [f"{run.train}: {NO_TARGET}"] if conllu and files.label is None else []
    if files.cluster_text == "-":
        raise InputError("--cluster-text must be a file, not standard input")
    run.check(patience=tagger.patience, missing=missing)
    if conllu:
        conllu_layout(run.train, files.label, files.columns)
    else:
        check_column_options(run.train, files.label, files.columns)
    return tried


def read_features(features: str | None) -> str | list[str] | None:
    """A preset by name, or the templates of a file; None if they are to be chosen."""
    return features if features is None or features in PRESETS else read_templates(features)


def check_labels(corpus: Corpus, layout: Layout) -> None:
    """Raise InputError if the column of the labels is empty: nothing can be learnt from it."""
    if corpus.labels is not None and corpus.labels.names == [EMPTY]:
        raise InputError(f"{corpus.place(0)}: all labels are {EMPTY}: the column {layout.label_name} is empty")


def check_features(features: str | Sequence[str] | None, columns: Sequence[str], file: str | None) -> None:
    """Raise InputError if features need columns that are not there; `file` is that of the templates."""
    if features is not None and not isinstance(features, str):
        parse_templates(features, columns, where=str(file))
        return
    fitting = presets_for(columns)
    if features in fitting or (features is None and fitting):
        return
    who = "all presets need" if features is None else f"the preset {features} needs"
    needed = "the columns word and pos" if features == "chunk" else "the column word"
    there = f"only {columns[0]}" if len(columns) == 1 else " and ".join(columns)
    raise InputError(
        f"{who} {needed}; this file has {there}: choose other --features, or name the columns with --columns"
    )


def choice_note(tagger: Tagger) -> str | None:
    """What was chosen from the labels and why; None if there was nothing to choose."""
    choices = {"features": tagger.chosen_.features, "constraint": tagger.chosen_.constraint}
    chosen = {name: value for name, value in choices.items() if value is not None}
    if not chosen:
        return None
    texts, options = (f"{name} {value}" for name, value in chosen.items()), (f"--{name}" for name in chosen)
    why = f"because the labels are {tagger.chosen_.why}"
    return f"chosen: {', '.join(texts)}, {why}; to choose others: {', '.join(options)}"


def clusters_note(tagger: Tagger, files: TaggerFiles) -> str | None:
    """The number of words with a cluster; None if no template uses clusters."""
    assert isinstance(tagger.encoder_, TemplateEncoder)
    if not tagger.encoder_.clusters:
        return None
    paths = max(tagger.encoder_.clusters.values(), key=len)
    source = "the training file" + ("" if files.cluster_text is None else f" and {files.cluster_text}")
    return f"clusters: {len(set(paths.values())):,} of {len(paths):,} words, learnt from {source}"


def size_note(name: str, corpus: Corpus, layout: Layout) -> str:
    """The size of a corpus, its labels and the columns that features use."""
    assert corpus.labels is not None
    sentences, labels = len(corpus.offsets) - 1, len(corpus.labels.names)
    return (
        f"{name}: {counted(sentences, 'sentence')}, {counted(corpus.tokens, 'token')}, {counted(labels, 'label')} "
        f"({layout.label_name}) from "
        f"{', '.join(layout.names)}"
    )
