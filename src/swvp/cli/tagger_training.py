"""Owns training a tagger for someone who watches: files in, a line for each pass, checkpoints, the model file out."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import typer
from rich.console import Console

from swvp.cli.study import cores
from swvp.compiled import is_on_disk
from swvp.data.table import read_table
from swvp.errors import InputError
from swvp.learning.perceptron import Epoch, sweep
from swvp.learning.rule import as_rule
from swvp.storage.files import cannot_write, is_special
from swvp.structures.chain.templates import PRESETS, parse_templates, read_templates
from swvp.tagging.corpus import Corpus
from swvp.tagging.layout import Layout, layout_of, read_corpus
from swvp.tagging.rules import candidates
from swvp.tagging.tagger import Tagger
from swvp.training.checkpoint import remove_checkpoint, resume, save_checkpoint, stamp
from swvp.training.training import Progress, Training

__all__ = ["TaggerOptions", "train_tagger"]

NO_MATTER = ("epochs", "patience", "n_jobs")  # options that a training may go on with changed


@dataclass(frozen=True)
class TaggerOptions:
    """What the command line says about files and the run; the rest goes to Tagger."""

    train: str
    dev: str | None
    model: Path
    label: str | int | None
    columns: Sequence[str] | None
    features: str | None
    encoding: str
    conllu: bool | None
    log: Path | None
    checkpoint: float
    fresh: bool
    tune: bool
    rules: Sequence[str] | None
    betas: Sequence[float] | None
    jobs: int | None
    loaded: str | None


def train_tagger(options: TaggerOptions, **settings: Any) -> None:
    """Read, train or tune, save; say what happens."""
    messages = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if not messages.is_terminal:
        messages.width = 1000  # nothing to fit into
    check(options, settings)
    tried = candidates(options.rules, options.betas, settings["C"]) if options.tune else []
    layout, corpus, dev = read_files(options)
    tagger = Tagger(features=read_features(options.features, layout.names), columns=list(layout.names), **settings)
    tagger.layout_ = layout
    messages.print(described("training", corpus, layout))
    if dev is not None:
        messages.print(described("development", dev, layout))
        tell_unseen(messages, corpus, dev)
    if options.tune:
        from swvp.cli.tagger_tuning import tune_tagger

        assert dev is not None
        with log_file(options.log) as log:
            try:
                trials, training = tune_tagger(tagger, corpus, dev, tried, options.jobs or cores(), messages)
            except KeyboardInterrupt:
                messages.print("stopped; nothing is kept of a tuning")
                raise typer.Exit(130) from None
            for trial in trials:
                rule = {"rule": trial.rule.name, "beta": trial.rule.beta}
                write_lines(log, trial.history, trial.scores, **rule)
    else:
        training = tagger.start(corpus, dev)
        corpora = [corpus] if dev is None else [corpus, dev]
        run_training(tagger, training, corpora, options, messages)
    tagger.finish(training).save(options.model)
    remove_checkpoint(checkpoint_path(options))
    messages.print(summary(tagger, options.model), soft_wrap=True)


def check(options: TaggerOptions, settings: dict[str, Any]) -> None:
    """Refuse what cannot work or would have no effect, before anything is read."""
    model = options.model
    if not model.parent.is_dir():
        raise InputError(f"cannot write {model}: there is no folder {model.parent}")
    if model.is_dir():
        raise InputError(f"cannot write {model}: it is a folder")
    if is_special(model) or str(model) == "-":
        raise InputError(f"cannot write {model}: a model needs a file of its own")
    if not os.access(model.parent, os.W_OK):
        raise InputError(f"cannot write {model}: no permission to write into {model.parent}")
    for option, path in (("TRAIN", options.train), ("--dev", options.dev), ("--log", options.log)):
        if path is not None and (Path(path) == model or (model.exists() and same_file(Path(path), model))):
            raise InputError(f"--model and {option} are the same file, {path}")
    if options.tune and options.dev is None:
        raise InputError("--tune needs --dev: held-out sentences to choose by")
    if not options.tune and (options.rules is not None or options.betas is not None):
        raise InputError("--rules and --betas are for --tune; without it, use --rule and --beta")
    if settings["patience"] is not None and options.dev is None:
        raise InputError("--patience needs --dev: held-out sentences to score each pass on")
    if settings["rule"] != "crf":
        as_rule(settings["rule"], beta=settings["beta"])
    if options.jobs is not None and options.jobs < 1:
        raise InputError(f"jobs must be at least 1, not {options.jobs}")


def same_file(a: Path, b: Path) -> bool:
    return a.exists() and a.samefile(b)


def read_files(options: TaggerOptions) -> tuple[Layout, Corpus, Corpus | None]:
    if options.train == options.dev == "-":
        raise InputError("standard input can be only one of the files")
    table = read_table(options.train, encoding=options.encoding, conllu=options.conllu)
    layout = layout_of(table, options.label, options.columns)
    corpus = read_corpus(table, layout, labelled=True)
    if options.dev is None:
        return layout, corpus, None
    dev_table = read_table(options.dev, encoding=options.encoding, conllu=options.conllu)
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


def run_training(
    tagger: Tagger, training: Training, corpora: Sequence[Corpus], options: TaggerOptions, messages: Console
) -> None:
    """Run a training with lines for people, a log for programs and checkpoints for accidents."""
    path = checkpoint_path(options)
    if options.fresh and not path.is_dir():
        remove_checkpoint(path)
    kept = {name: value for name, value in tagger.options().items() if name not in NO_MATTER}
    kept |= {"load": options.loaded}
    stamped = stamp(training, json.loads(json.dumps(kept, default=repr)), *corpora)
    if training.resumable and resume(path, training, stamped):
        if len(training.history) > tagger.epochs:
            raise InputError(f"{path} is after pass {len(training.history)}, --epochs is {tagger.epochs}: use --fresh")
        messages.print(f"going on after pass {len(training.history)}, from {path}")
    if not is_on_disk(sweep):
        messages.print("the first training also compiles, for about 20 seconds; later ones do not")
    lines = EpochLines(messages, training, tagger.epochs)
    saved = time.monotonic()
    with log_file(options.log) as log, interruptible(messages) as stop:
        write_lines(log, training.history, training.scores)

        def after_pass(progress: Progress) -> None:
            nonlocal saved
            lines.show(progress)
            write_line(log, progress)
            if training.finished(tagger.epochs, tagger.patience):
                return
            if training.resumable and (stop or time.monotonic() - saved >= options.checkpoint):
                save_checkpoint(path, training, stamped)
                saved = time.monotonic()
            if stop:
                on = "; the same command goes on from there" if training.resumable else ""
                messages.print(f"stopped after pass {progress.epoch.epoch}{on}")
                raise typer.Exit(130)

        training.run(tagger.epochs, tagger.patience, after_pass)


def checkpoint_path(options: TaggerOptions) -> Path:
    return options.model.with_name(options.model.name + ".checkpoint")


class EpochLines:
    """A line for each pass: mistakes, score, seconds, time left.

    The first pass may also compile, so it says nothing about the others.
    """

    def __init__(self, console: Console, training: Training, epochs: int):
        self.console, self.training, self.epochs = console, training, epochs
        self.last = time.monotonic()
        self.first = len(training.history) + 1
        metric = "" if training.dev is None else f"{'dev ' + training.dev.metric:>13}"
        console.print(f"{'pass':>4}{'wrong sentences':>17}{'wrong tokens':>14}{metric}{'seconds':>9}{'left':>7}")

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        epoch = progress.epoch
        if epoch.epoch == self.first:
            self.began, left = now, ""
        else:
            left = clock((now - self.began) / (epoch.epoch - self.first) * (self.epochs - epoch.epoch))
        score = "" if progress.score is None else f"{100 * progress.score:11.2f}{' *' if progress.best else '  '}"
        counts = f"{epoch.epoch:4}{epoch.mistakes:17,}{epoch.wrong_positions:14,}"
        self.console.print(f"{counts}{score}{now - self.last:9.1f}{left:>7}")
        self.last = now


def clock(seconds: float) -> str:
    return f"{int(seconds + 0.5) // 60}:{int(seconds + 0.5) % 60:02}"


@contextmanager
def log_file(path: Path | None) -> Iterator[IO[str] | None]:
    if path is None:
        yield None
        return
    try:
        with path.open("w", encoding="utf-8") as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise cannot_write(path, error) from None


def write_line(log: IO[str] | None, progress: Progress, **more: Any) -> None:
    if log is not None:
        line = more | progress.epoch.as_dict() | {"dev_score": progress.score, "best": progress.best}
        log.write(json.dumps(line) + "\n")
        log.flush()


def write_lines(log: IO[str] | None, history: Sequence[Epoch], scores: Sequence[float], **more: Any) -> None:
    """The lines of passes that are over; those of a killed training are written again, each once."""
    for k, epoch in enumerate(history):
        best = not scores or scores[k] > max(scores[:k], default=-1.0)
        write_line(log, Progress(epoch, scores[k] if scores else None, best), **more)


@contextmanager
def interruptible(messages: Console) -> Iterator[list[bool]]:
    """The first Ctrl-C asks to stop after the pass that runs (then the list is not empty), the second stops at once."""
    asked: list[bool] = []

    def ask(*_: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(True)
        messages.print("stopping after this pass (Ctrl-C again: at once)")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    except KeyboardInterrupt:
        messages.print("stopped")
        raise typer.Exit(130) from None
    finally:
        signal.signal(signal.SIGINT, before)


def described(what: str, corpus: Corpus, layout: Layout) -> str:
    assert corpus.labels is not None
    sentences, labels = len(corpus.offsets) - 1, len(corpus.labels.names)
    names = ", ".join(layout.names)
    return (
        f"{what}: {sentences:,} sentences, {corpus.tokens:,} tokens, {labels} labels ({layout.label_name}) from {names}"
    )


def tell_unseen(messages: Console, corpus: Corpus, dev: Corpus) -> None:
    assert corpus.labels is not None
    assert dev.labels is not None
    unseen = [number for number, name in enumerate(dev.labels.names) if name not in set(corpus.labels.names)]
    if unseen:
        tokens = sum(int((dev.labels.ids == number).sum()) for number in unseen)
        names = ", ".join(str(dev.labels.names[number]) for number in unseen[:3]) + (" …" if len(unseen) > 3 else "")
        messages.print(f"note: {tokens} development tokens have labels unseen in training ({names}): counted as wrong")


def summary(tagger: Tagger, path: Path) -> str:
    size = path.stat().st_size / 1e6
    kept = f"pass {tagger.best_epoch_} of {len(tagger.history_)}"
    return f"{path}: {size:.1f} MB, {tagger.n_attributes_:,} attributes × {len(tagger.classes_)} labels, {kept}"
