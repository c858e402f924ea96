"""Training a pipeline: its stages one after the other, the parser on tags and lemmas as they will be predicted.

Jackknifing: the treebank is divided into folds. The tags and lemmas of each fold are predicted by stages trained on the
other folds, so that the parser sees as many wrong ones as it will see later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from swvp.errors import InputError
from swvp.evaluation.raw_text import evaluate_raw
from swvp.io.table import Column, read_table
from swvp.io.tree_checks import EMPTY, column_of
from swvp.io.treebank import HEAD, WITHOUT_HEADS, Treebank, treebank_of_table
from swvp.parsing.parser import Parser
from swvp.text.document import strings_of
from swvp.text.gold import document_of, files_of_folder
from swvp.text.pipeline import Pipeline
from swvp.text.stages import TreeStage, chosen_stages, class_of
from swvp.training.session import Session
from swvp.types import Ints

__all__ = ["folds_of", "jackknifed", "read_treebanks", "scores_of", "train_pipeline"]

BLOCK = 10
"""Neighbouring sentences that are in the same fold: they often have the same words."""

NEEDED = {
    **{name: {"tokens"} for name in ("Tokens", "Sentences", "Words")},
    **{name: {"tags"} for name in ("UPOS", "XPOS", "UFeats", "AllTags")},
    "Lemmas": {"lemmas"},
    **{name: {"trees"} for name in ("UAS", "LAS", "CLAS")},
    "MLAS": {"trees", "tags"},
    "BLEX": {"trees", "lemmas"},
}
"""The parts without which a measure says nothing about a pipeline."""

Note = Callable[[str], object]


class Options(NamedTuple):
    """What all stages need to know."""

    random_state: int
    folds: int
    n_jobs: int


def train_pipeline(
    session: Session,
    train: str | Path | Treebank,
    dev: str | Path | Treebank | None,
    *,
    stages: str | Sequence[str],
    order: int,
    folds: int,
    random_state: int,
    n_jobs: int,
    encoding: str,
    note: Note,
) -> Pipeline:
    """Train a pipeline; the parameters are those of `Pipeline.train`, the session is that of the parser."""
    wanted = chosen_stages(stages)
    if order not in (1, 2):
        raise InputError(f"order must be 1 or 2, not {order!r}")
    if folds < 1:
        raise InputError(f"folds must be at least 1, not {folds}")
    if n_jobs < 1:
        raise InputError(f"n_jobs must be at least 1, not {n_jobs}")
    treebank, dev_set = read_treebanks(train, dev, encoding)
    left_out = {stage: reason for stage in wanted if (reason := why_not(stage, treebank))}
    for stage, reason in left_out.items():
        note(f"note: no stage {stage}: {reason}")
    wanted = tuple(stage for stage in wanted if stage not in left_out)
    if not wanted:
        raise InputError(f"{treebank.name}: no stage can be trained on it")
    options = Options(random_state, min(folds, treebank.number_of_sentences), n_jobs)
    note(f"training: {treebank.number_of_sentences:,} sentences, {treebank.tokens:,} words")
    pipeline = Pipeline({}, {"left out": left_out})
    if "tokens" in wanted:
        train_tokens(pipeline, treebank, dev_set, options, note)
    needs_folds = "trees" in wanted and options.folds > 1
    predicted = train_columns(pipeline, wanted, treebank, dev_set, options, note, needs_folds=needs_folds)
    if "trees" in wanted:
        dev_trees = dev_set if dev_set is not None and dev_set.heads is not None else None
        if dev_trees is not None:
            dev_trees = with_columns(dev_trees, pipeline.complete(dev_trees))
        parser = train_trees(session, predicted, dev_trees, order=order, random_state=random_state)
        pipeline.parts["trees"] = TreeStage.reduced(parser)
    if dev_set is not None:
        scores = scores_of(pipeline, dev_set)
        pipeline.training["dev"] = {name: round(score, 6) for name, score in scores.items()}
        text = "of its raw text" if "tokens" in pipeline.parts else "with gold tokens"
        note(f"dev, {text}: " + ", ".join(f"{name} {100 * score:.2f}" for name, score in scores.items()))
    return pipeline


# ---------------------------------------------------------------- data


def read_treebanks(
    train: str | Path | Treebank, dev: str | Path | Treebank | None, encoding: str = "utf-8"
) -> tuple[Treebank, Treebank | None]:
    """Return the training treebank and the dev set, which a folder may have too."""
    if isinstance(train, str | Path) and Path(train).is_dir():
        train, in_folder = files_of_folder(Path(train))
        dev = in_folder if dev is None else dev
    return read_any(train, encoding), None if dev is None else read_any(dev, encoding)


def read_any(source: str | Path | Treebank, encoding: str) -> Treebank:
    """Return a treebank, with trees if it has any."""
    if isinstance(source, Treebank):
        return source
    table = read_table(source, encoding=encoding, conllu=True, widths=WITHOUT_HEADS)
    return treebank_of_table(table, heads=table.width > HEAD and table.column(HEAD).strings != [EMPTY])


def why_not(stage: str, treebank: Treebank) -> str | None:
    """Return why a stage cannot be trained on a treebank, or None if it can."""

    def empty(*columns: Column) -> bool:
        return all(column.strings == [EMPTY] for column in columns)

    if stage == "tokens" and treebank.table is None:
        return "the treebank is not from a file, so its text is not known"
    if stage == "tags" and empty(treebank.upos, treebank.xpos, treebank.feats):
        return "the treebank has no tags (UPOS, XPOS and FEATS are _)"
    if stage == "lemmas" and empty(treebank.lemmas):
        return "the treebank has no lemmas (_)"
    if stage == "trees" and treebank.heads is None:
        return "the treebank has no heads (_)"
    return None


# ---------------------------------------------------------------- stages


def train_tokens(pipeline: Pipeline, treebank: Treebank, dev: Treebank | None, options: Options, note: Note) -> None:
    """Train the tokeniser and learn the multiword tokens."""
    begin = time.monotonic()
    dev_table = None if dev is None else dev.table
    pipeline.parts["tokens"] = class_of("tokens").train(
        treebank.table, dev=dev_table, random_state=options.random_state
    )
    pipeline.parts["multiword"] = class_of("multiword").train(treebank.table)
    scores = ""
    if dev is not None and dev.table is not None:
        measured = scores_of(Pipeline(pipeline.parts), dev)
        scores = text_of_scores({name: measured[name] for name in ("Tokens", "Sentences", "Words")})
    note(f"tokens: {seconds_since(begin)}{scores}")


def train_columns(
    pipeline: Pipeline,
    wanted: Sequence[str],
    treebank: Treebank,
    dev: Treebank | None,
    options: Options,
    note: Note,
    *,
    needs_folds: bool,
) -> Treebank:
    """Train the stages of tags and lemmas; return the treebank with the columns that the parser learns from.

    The trainings of the folds and those on the whole treebank do not depend on each other, so that threads share them.
    """
    names = [stage for stage in ("tags", "lemmas") if stage in wanted]
    if not names:
        return treebank
    begin = time.monotonic()
    folds = folds_of(treebank.number_of_sentences, options.folds) if needs_folds else []

    def whole(stage: str) -> Any:
        return class_of(stage).train(treebank, dev=dev, random_state=options.random_state)

    def fold(sentences: Ints) -> Treebank:
        return predicted_fold(treebank, sentences, names, options.random_state)

    with ThreadPoolExecutor(options.n_jobs) as pool:
        for stage in names:  # before the folds: it compiles what they use
            pipeline.parts[stage] = whole(stage)
            scores = "" if dev is None else text_of_scores(accuracies(pipeline, dev, stage))
            note(f"{stage}: {seconds_since(begin)}{scores}")
            begin = time.monotonic()
        predicted = list(pool.map(fold, folds))
    if not folds:
        return treebank
    note(f"tags and lemmas as predicted, {len(folds)} folds: {seconds_since(begin)}")
    return merged(treebank, folds, predicted)


def jackknifed(treebank: Treebank, names: Sequence[str], folds: int, random_state: int) -> Treebank:
    """Return a treebank with the tags and lemmas that stages trained on the other folds predict."""
    parts = folds_of(treebank.number_of_sentences, folds)
    return merged(treebank, parts, [predicted_fold(treebank, part, names, random_state) for part in parts])


def folds_of(sentences: int, folds: int) -> list[Ints]:
    """Return the numbers of the sentences of each fold: blocks of neighbours, dealt out in turn."""
    size = max(1, min(BLOCK, sentences // folds))
    number = np.arange(sentences) // size % folds
    return [np.flatnonzero(number == fold) for fold in range(folds)]


def predicted_fold(treebank: Treebank, sentences: Ints, names: Sequence[str], random_state: int) -> Treebank:
    """Return some sentences with the columns that stages predict which are trained on all others."""
    others = np.setdiff1d(np.arange(treebank.number_of_sentences), sentences)
    rest = treebank.select(others)
    stages = {stage: class_of(stage).train(rest, dev=None, random_state=random_state) for stage in names}
    return Pipeline(stages).complete(treebank.select(sentences))


def merged(treebank: Treebank, folds: Sequence[Ints], predicted: Sequence[Treebank]) -> Treebank:
    """Return a treebank with the columns of the predicted folds, at the places of their sentences."""
    places = np.concatenate([words_in(treebank, sentences) for sentences in folds])

    def column(name: str) -> Column:
        strings = np.empty(treebank.tokens, object)
        strings[places] = [string for fold in predicted for string in strings_of(getattr(fold, name))]
        return column_of(strings.tolist())

    lemmas, upos, xpos, feats = map(column, ("lemmas", "upos", "xpos", "feats"))
    return replace(treebank, lemmas=lemmas, upos=upos, xpos=xpos, feats=feats)


def words_in(treebank: Treebank, sentences: Ints) -> Ints:
    """Return the numbers of the words of some sentences."""
    return np.concatenate([np.arange(*treebank.offsets[number : number + 2]) for number in sentences])


def with_columns(treebank: Treebank, other: Treebank) -> Treebank:
    """Return a treebank with the tags and lemmas of another one."""
    return replace(treebank, lemmas=other.lemmas, upos=other.upos, xpos=other.xpos, feats=other.feats)


def train_trees(session: Session, treebank: Treebank, dev: Treebank | None, *, order: int, random_state: int) -> Parser:
    """Train the parser and the labels of its arcs."""
    parser = Parser(order=order, random_state=random_state)
    data = [treebank] if dev is None else [treebank, dev]
    training = parser.start(treebank, dev)
    session.train(parser, training, data, stage="trees")
    parser.finish(training)
    if treebank.labelled:
        label_training = parser.start_labels(treebank, dev)
        session.train(parser, label_training, data, stage="labels", examples="families")
        parser.finish_labels(label_training)
    return parser


# ---------------------------------------------------------------- scores


def accuracies(pipeline: Pipeline, dev: Treebank, stage: str) -> dict[str, float]:
    """Return the shares of words with the right columns of a stage, with gold tokens."""
    predicted = Pipeline({name: part for name, part in pipeline.parts.items() if name != "trees"}).complete(dev)
    columns = {"UPOS": "upos", "XPOS": "xpos", "FEATS": "feats"} if stage == "tags" else {"Lemmas": "lemmas"}
    return {title: share_right(getattr(dev, name), getattr(predicted, name)) for title, name in columns.items()}


def share_right(gold: Column, predicted: Column) -> float:
    """Return the share of equal strings."""
    return sum(a == b for a, b in zip(strings_of(gold), strings_of(predicted), strict=True)) / len(gold.ids)


def scores_of(pipeline: Pipeline, dev: Treebank) -> dict[str, float]:
    """Return the F1 of each measure of the CoNLL 2018 shared task on the raw text of a dev set, or its gold tokens."""
    if "tokens" in pipeline.parts and dev.table is not None:
        content = pipeline(document_of(dev).text).to_conllu()
        predicted = Treebank.from_text(content, heads="trees" in pipeline.parts)
    else:
        predicted = pipeline.complete(replace(dev, heads=None, labels=None))
    measures = evaluate_raw(dev, predicted).measures
    return {name: counts.f1 for name, counts in measures.items() if NEEDED[name] <= set(pipeline.parts)}


def text_of_scores(scores: dict[str, float]) -> str:
    """Return scores for a line of a report."""
    return ", dev " + ", ".join(f"{name} {100 * score:.2f}" for name, score in scores.items())


def seconds_since(begin: float) -> str:
    """Return the seconds since a time, for a line of a report."""
    return f"{time.monotonic() - begin:.1f} s"
