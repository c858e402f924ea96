"""Training a pipeline: its stages one after the other, the parser on tags and lemmas as they will be predicted.

A stage that is trained is stored beside the model file until the model is complete, so that an interrupted training
resumes after it.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from swvp.cluster.threads import Workers
from swvp.errors import InputError, unknown_name
from swvp.evaluation.raw_text import evaluate_raw
from swvp.io.files import CONLLU
from swvp.io.table import Column, read_table
from swvp.io.tree_checks import EMPTY
from swvp.io.treebank import HEAD, WITHOUT_HEADS, Treebank, treebank_of_table
from swvp.parsing.parser import Parser, stage_of
from swvp.text.jackknife import columns_of, folds_of, in_threads, merged, predicted_fold, with_columns
from swvp.text.lexicon import read_lexicon
from swvp.text.part_checkpoints import PartCheckpoints, digest_of
from swvp.text.pipeline import Pipeline
from swvp.text.sentence import strings_of
from swvp.text.stages import STAGES, TreeStage, Watch, chosen_stages, class_of, ignore
from swvp.text.stages_on_cluster import Recipe, paths_of, train_on_cluster
from swvp.text.treebank_text import document_of, files_of_folder, surface_sentences
from swvp.training.session import Session

__all__ = ["read_treebanks", "scores_of", "train_pipeline"]

FEW_WITHOUT_SPACE = 0.001
"""With a smaller share of tokens that no blank follows, a treebank does not tell how text is written."""

NEEDED = {
    **{name: {"tokens"} for name in ("Tokens", "Sentences", "Words")},
    **{name: {"tags"} for name in ("UPOS", "XPOS", "UFeats", "AllTags")},
    "Lemmas": {"lemmas"},
    **{name: {"trees"} for name in ("UAS", "LAS", "CLAS")},
    "MLAS": {"trees", "tags"},
    "BLEX": {"trees", "lemmas"},
}
"""The parts without which a measure says nothing about a pipeline."""

Note = Callable[[str | None], object]


class Options(NamedTuple):
    """What all stages need to know; `settings` are the options of each stage."""

    random_state: int
    folds: int
    n_jobs: int
    settings: Mapping[str, Mapping[str, Any]]


def train_pipeline(
    session: Session,
    train: str | Path | Treebank,
    dev: str | Path | Treebank | None = None,
    *,
    stages: str | Sequence[str] = STAGES,
    settings: Mapping[str, Mapping[str, Any] | None],
    folds: int = 5,
    random_state: int = 0,
    n_jobs: int = 1,
    encoding: str = "utf-8",
    lexicon: str | Path | None = None,
    workers: Workers | None = None,
) -> Pipeline:
    """Train a pipeline; the parameters are those of `Pipeline.train`, the session is that of the parser.

    With `workers`, a cluster that is not open yet, stages and folds are trained there; the parser is trained here.
    """
    wanted = chosen_stages(stages)
    for name, value in (("folds", folds), ("n_jobs", n_jobs)):
        if value < 1:
            raise InputError(f"{name} must be at least 1, not {value}")
    checked = {stage: checked_settings(stage, settings.get(stage) or {}) for stage in STAGES}
    parser = Parser(**{"random_state": random_state, **checked["trees"]})
    parser.check()
    entries = None if lexicon is None else read_lexicon(lexicon)
    note = session.note
    if isinstance(train, str | Path) and Path(train).is_dir():
        train, in_folder = files_of_folder(Path(train))
        dev = in_folder if dev is None else dev
        note(f"reading {train}" + (", without a dev set" if dev is None else f", dev set {name_of(dev)}"))
    paths = ("", None) if workers is None else paths_of(train, dev)
    treebank, dev_set = read_treebanks(train, dev, encoding)
    left_out = {stage: reason for stage in wanted if (reason := why_not(stage, treebank))}
    for stage, reason in left_out.items():
        note(f"note: no stage {stage}: {reason}")
    wanted = tuple(stage for stage in wanted if stage not in left_out)
    if not wanted:
        raise InputError(f"{treebank.name}: no stage can be trained on it")
    if entries is not None and "lemmas" not in wanted:
        raise InputError(f"{lexicon}: a dictionary of lemmas, but the pipeline has no stage lemmas")
    options = Options(random_state, min(folds, treebank.number_of_sentences), n_jobs, checked)
    note(f"training: {treebank.number_of_sentences:,} sentences, {treebank.tokens:,} words")
    checkpoints = PartCheckpoints(session, digest_of(treebank, dev_set))
    checkpoints.claim([*STAGES, "labels", *(f"fold-{number + 1}" for number in range(options.folds))])
    pipeline = Pipeline({}, {"left out": left_out, "with tags": why_not("tags", treebank) is None})
    trainer = Trainer(pipeline, treebank, dev_set, options, checkpoints, note, session.on_stage_epoch)
    if workers is not None:
        recipe = Recipe(*paths, encoding, checkpoints.data, random_state, options.folds, checked)
        train_on_cluster(recipe, wanted, checkpoints, workers, trainer.stamp, note)
    for stage in wanted:
        if stage != "trees":
            trainer.train_stage(stage)
    if "trees" in wanted:
        predicted = trainer.predicted_columns()
        dev_trees = dev_set if dev_set is not None and dev_set.heads is not None else None
        if dev_trees is not None:
            dev_trees = with_columns(dev_trees, columns_of(pipeline.complete(dev_trees)))
        train_trees(session, parser, predicted, dev_trees, n_jobs)
        pipeline.parts["trees"] = TreeStage.reduced(parser)
    if entries is not None:
        pipeline.parts["lemmas"].lexicon = entries
    trainer.score()
    return pipeline


def checked_settings(stage: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a stage; raise InputError for unknown ones."""
    if stage == "trees":
        known = set(inspect.signature(Parser).parameters)
    else:
        parameters = inspect.signature(class_of(stage).train).parameters.values()
        known = {each.name for each in parameters if each.kind is each.KEYWORD_ONLY} - {"dev", "random_state", "watch"}
    for name in given:
        if name not in known:
            raise unknown_name(f"option of {stage}", name, sorted(known))
    return dict(given)


# ---------------------------------------------------------------- data


def read_treebanks(
    train: str | Path | Treebank, dev: str | Path | Treebank | None, encoding: str = "utf-8"
) -> tuple[Treebank, Treebank | None]:
    """Return the training treebank and the dev set, which a folder may have too."""
    if isinstance(train, str | Path) and Path(train).is_dir():
        train, in_folder = files_of_folder(Path(train))
        dev = in_folder if dev is None else dev
    return read_any(train, encoding), None if dev is None else read_any(dev, encoding)


def name_of(source: str | Path | Treebank) -> str:
    """Return what a treebank is called in notes."""
    return source.name if isinstance(source, Treebank) else str(source)


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
    if stage == "tokens" and treebank.table is not None and treebank.table.width < len(CONLLU):
        return f"the file has {treebank.table.width} columns, without MISC, which says where no blank follows a token"
    if stage == "tags" and empty(treebank.upos, treebank.xpos, treebank.feats):
        return "the treebank has no tags (UPOS, XPOS and FEATS are _)"
    if stage == "lemmas" and empty(treebank.lemmas):
        return "the treebank has no lemmas (_)"
    if stage == "trees" and treebank.heads is None:
        return "the treebank has no heads (_)"
    return None


# ---------------------------------------------------------------- stages


class Trainer:
    """Trains the stages of one pipeline before the parser, and scores it."""

    def __init__(
        self,
        pipeline: Pipeline,
        treebank: Treebank,
        dev: Treebank | None,
        options: Options,
        checkpoints: PartCheckpoints,
        note: Note,
        on_epoch: Callable[[str, int, int], object],
    ):
        self.pipeline, self.treebank, self.dev, self.options = pipeline, treebank, dev, options
        self.checkpoints, self.note, self.on_epoch = checkpoints, note, on_epoch
        self.seconds: dict[str, float] = {}  # of the stages that were trained now

    def train_stage(self, stage: str) -> None:
        """Train a stage, or take it from its checkpoint."""
        begin = time.monotonic()
        if stage == "tokens":
            self.note(spaces_note(self.treebank))
        parts, path = self.checkpoints.parts(stage, self.stamp(stage), lambda: self._train(stage))
        self.pipeline.parts |= parts
        spent = time.monotonic() - begin
        if path is None:
            self.seconds[stage] = spent
        took = f"{spent:.1f} s" if path is None else f"from {path}"
        self.note(f"{stage}: {took}{self._dev_scores(stage)}")

    def predicted_columns(self) -> Treebank:
        """Return the treebank with the columns that the parser learns from, which are predicted fold by fold."""
        names: list[str] = [stage for stage in ("tags", "lemmas") if stage in self.pipeline.parts]
        if not names or self.options.folds < 2:
            return self.treebank
        treebank, options, begin = self.treebank, self.options, time.monotonic()
        folds = folds_of(treebank.number_of_sentences, options.folds)
        settings = {stage: options.settings[stage] for stage in names}
        stamp = {stage: self.stamp(stage) for stage in names} | {"folds": options.folds}

        def predict(number: int) -> Treebank:
            sentences = folds[number]
            return self.checkpoints.columns(
                number + 1,
                stamp,
                treebank.select(sentences),
                lambda: predicted_fold(treebank, sentences, options.random_state, settings),
            )

        def watch(done: int) -> None:
            if done < len(folds):
                left = (time.monotonic() - begin) / done * (len(folds) - done)
                self.note(f"fold {done} of {len(folds)}, {time_text(left)} left")

        about = ""
        if self.seconds.keys() >= set(names):
            seconds = sum(self.seconds[stage] for stage in names) * (len(folds) - 1) / min(options.n_jobs, len(folds))
            about = f", about {time_text(seconds)}"
        self.note(f"predicting {' and '.join(names)} in {len(folds)} folds{about}")
        predicted = in_threads(predict, len(folds), options.n_jobs, watch)
        self.note(f"predicted {' and '.join(names)}: {time.monotonic() - begin:.1f} s")
        return merged(treebank, folds, predicted)

    def score(self) -> None:
        """Score all stages on the dev set."""
        if self.dev is None:
            return
        scores = scores_of(self.pipeline, self.dev)
        self.pipeline.training["dev"] = {name: round(score, 6) for name, score in scores.items()}
        text = "from raw text" if "tokens" in self.pipeline.parts else "with gold tokens"
        self.note(f"dev, {text}: " + ", ".join(f"{name} {100 * score:.2f}" for name, score in scores.items()))

    def _train(self, stage: str) -> dict[str, Any]:
        return trained_stage(
            stage, self.treebank, self.dev, self.options.random_state, self.options.settings, self._watch(stage)
        )

    def _watch(self, stage: str) -> Watch:
        return lambda epoch, epochs: self.on_epoch(stage, epoch, epochs)

    def stamp(self, stage: str) -> dict[str, Any]:
        """Return the options that a checkpoint of a stage names."""
        return {"random_state": self.options.random_state, stage: dict(self.options.settings[stage])}

    def _dev_scores(self, stage: str) -> str:
        """Return the scores of a stage, for a line of a report."""
        if self.dev is None or (stage == "tokens" and self.dev.table is None):
            return ""
        if stage == "tokens":
            scores = scores_of(Pipeline(self.pipeline.parts), self.dev)
        else:
            scores = accuracies(self.pipeline, self.dev, stage)
        return ", dev " + ", ".join(f"{name} {100 * score:.2f}" for name, score in scores.items())


def trained_stage(
    stage: str,
    treebank: Treebank,
    dev: Treebank | None,
    random_state: int,
    settings: Mapping[str, Mapping[str, Any]],
    watch: Watch = ignore,
) -> dict[str, Any]:
    """Return the parts of a stage, trained."""
    options = {"random_state": random_state, "watch": watch, **settings[stage]}
    if stage != "tokens":
        return {stage: class_of(stage).train(treebank, dev=dev, **options)}
    table, dev_table = treebank.table, None if dev is None else dev.table
    return {
        "tokens": class_of("tokens").train(table, dev=dev_table, **options),
        "multiword": class_of("multiword").train(table),
    }


def train_trees(session: Session, parser: Parser, treebank: Treebank, dev: Treebank | None, n_jobs: int) -> None:
    """Train the parser and the labels of its arcs; of an ensemble, all its parsers."""
    data = [treebank] if dev is None else [treebank, dev]
    others = parser.new_others()
    for number, each in enumerate([parser, *others], 1):
        if each.batch_size > 1:
            each.use_threads(n_jobs)
        training = each.start(treebank, dev)
        session.train(each, training, data, stage=stage_of("trees", number))
        each.finish(training)
        if each.labels and treebank.labelled:
            label_training = each.start_labels(treebank, dev)
            session.train(each, label_training, data, stage=stage_of("labels", number), examples="families")
            each.finish_labels(label_training)
        each.use_threads(1)  # the file is the same for any number of threads
    parser.others_ += others


def spaces_note(treebank: Treebank) -> str | None:
    """Return a note if a treebank does not say where tokens follow each other without a blank."""
    assert treebank.table is not None
    spaces = [token.space_after for _, tokens in surface_sentences(treebank.table) for token in tokens]
    without = len(spaces) - sum(spaces)
    if without >= FEW_WITHOUT_SPACE * len(spaces):
        return None
    return (
        f"note: {without:,} of {len(spaces):,} tokens have SpaceAfter=No: tokens are learnt as divided by blanks, "
        "also punctuation"
    )


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


def time_text(seconds: float) -> str:
    """Return a time as minutes and seconds.

    >>> time_text(125.4)
    '2:05'
    """
    return f"{int(seconds + 0.5) // 60}:{int(seconds + 0.5) % 60:02}"
