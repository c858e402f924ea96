"""Jackknifing: tags and lemmas of a treebank as they will be predicted, for the parser to learn from.

The treebank is divided into folds. The tags and lemmas of each fold are predicted by stages trained on the other folds,
so that the parser sees as many wrong ones as it will see later.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from swvp.io.table import Column
from swvp.io.tree_checks import column_of
from swvp.io.treebank import Treebank
from swvp.text.pipeline import Pipeline
from swvp.text.sentence import strings_of
from swvp.text.stages import class_of
from swvp.types import Ints

__all__ = ["COLUMNS", "columns_of", "folds_of", "in_threads", "merged", "predicted_fold", "with_columns"]

BLOCK = 10
"""Neighbouring sentences that are in the same fold: they often have the same words."""

EPOCHS = 4
"""Stages of folds are trained so long: tags and lemmas are nearly as good as after twice as many epochs."""

COLUMNS = ("lemmas", "upos", "xpos", "feats")
"""The columns that stages predict before the parser."""


def folds_of(sentences: int, folds: int) -> list[Ints]:
    """Return the numbers of the sentences of each fold: blocks of neighbours, dealt out in turn."""
    size = max(1, min(BLOCK, sentences // folds))
    number = np.arange(sentences) // size % folds
    return [np.flatnonzero(number == fold) for fold in range(folds)]


def predicted_fold(
    treebank: Treebank, sentences: Ints, random_state: int, settings: Mapping[str, Mapping[str, Any]]
) -> Treebank:
    """Return some sentences with the columns that stages predict which are trained on all others.

    `settings` has the options of each stage.
    """
    others = np.setdiff1d(np.arange(treebank.number_of_sentences), sentences)
    rest = treebank.select(others)
    stages = {
        stage: class_of(stage).train(rest, dev=None, random_state=random_state, **{"epochs": EPOCHS, **given})
        for stage, given in settings.items()
    }
    return Pipeline(stages).complete(treebank.select(sentences))


def merged(treebank: Treebank, folds: Sequence[Ints], predicted: Sequence[Treebank]) -> Treebank:
    """Return a treebank with the columns of the predicted folds, at the places of their sentences."""
    places = np.concatenate([words_in(treebank, sentences) for sentences in folds])

    def column(name: str) -> Column:
        strings = np.empty(treebank.tokens, object)
        strings[places] = [string for fold in predicted for string in strings_of(getattr(fold, name))]
        return column_of(strings.tolist())

    return with_columns(treebank, {name: column(name) for name in COLUMNS})


def words_in(treebank: Treebank, sentences: Ints) -> Ints:
    """Return the numbers of the words of some sentences."""
    return np.concatenate([np.arange(*treebank.offsets[number : number + 2]) for number in sentences])


def columns_of(treebank: Treebank) -> dict[str, Column]:
    """Return the predicted columns of a treebank."""
    return {name: getattr(treebank, name) for name in COLUMNS}


def with_columns(treebank: Treebank, columns: Mapping[str, Column]) -> Treebank:
    """Return a treebank with other tags and lemmas."""
    lemmas, upos, xpos, feats = (columns[name] for name in COLUMNS)
    return replace(treebank, lemmas=lemmas, upos=upos, xpos=xpos, feats=feats)


def in_threads(work: Callable[[int], Any], number: int, n_jobs: int, watch: Callable[[int], object]) -> list[Any]:
    """Return [work(0), …, work(number - 1)], computed in threads; `watch` is called with how many are done.

    The threads are daemons, unlike those of the standard library's pools: Ctrl-C ends the program at once.
    """
    results: list[Any] = [None] * number
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
    stopped = threading.Event()
    for k in range(number):
        waiting.put(k)

    def run() -> None:
        while not stopped.is_set():
            try:
                k = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                results[k] = work(k)
            except BaseException as error:
                done.put(error)
                return
            done.put(None)

    for _ in range(min(n_jobs, number)):
        threading.Thread(target=run, daemon=True).start()
    try:
        for k in range(number):
            error = done.get()
            if error is not None:
                raise error
            watch(k + 1)
    finally:
        stopped.set()
    return results
