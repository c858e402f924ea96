"""Tuning: trainings with several rules on the same arrays, of which the best on the dev set is chosen.

The trainings run in threads, or as tasks of a cluster. A worker makes the same arrays from the same files, and sends
back the history of its training and its best weights, without zeros.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from threading import Event
from typing import NamedTuple

import numpy as np

from swvp.cluster import task
from swvp.cluster.threads import Workers
from swvp.errors import InputError
from swvp.io.model_files import Arrays, fill, sparse
from swvp.learning.perceptron import Epoch
from swvp.learning.rule import UpdateRule, as_rule
from swvp.training.training import Progress, Stopped, Training, weight_names

__all__ = ["Recipe", "Trial", "candidates", "fork", "tune"]


class Trial(NamedTuple):
    """The training with one rule: its best dev score, the epoch of it, the history and all dev scores."""

    rule: UpdateRule
    score: float
    epoch: int
    history: list[Epoch]
    scores: list[float]

    @property
    def seconds(self) -> float:
        return sum(epoch.seconds for epoch in self.history)

    def rate(self, count: str) -> float:
        """The share of updates that `count` counts, over all epochs."""
        updates = sum(epoch.updates for epoch in self.history)
        return float(sum(getattr(epoch, count) for epoch in self.history) / max(updates, 1))


def candidates(rules: Sequence[str], betas: Sequence[float], C: float | None = None) -> list[UpdateRule]:
    """Each rule with each β, once where β makes no difference; `C` is the longest step of all `mira` rules."""
    tried = []
    longest = {} if C is None else {"C": C}
    for name in rules:
        rule = as_rule(name, **longest)
        tried += [as_rule(name, beta=beta, **longest) for beta in betas] if rule.uses_beta else [rule]
    return list(dict.fromkeys(tried))


def tune(
    training: Training,
    rules: Sequence[UpdateRule],
    *,
    epochs: int,
    patience: int | None,
    jobs: int,
    watch: Callable[[Trial, int], object] = lambda trial, done: None,
    workers: Workers | None = None,
    recipe: Recipe | None = None,
) -> tuple[list[Trial], Training]:
    """Train once with each rule, each from zero weights on the same data in the same orders.

    Returns the trials in the order of the rules, and the finished training of the best one: the highest score, the
    earlier rule among equals. `training` must be new and stays so. With `workers`, an open connection to a cluster, the
    trainings run there; `recipe` says how a worker makes `training`.
    """
    if training.dev is None:
        raise InputError("tuning needs a dev set, to choose the best rule")
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    best: tuple[float, int, Training] | None = None
    trials: dict[int, Trial] = {}
    if workers is None or recipe is None:
        results = in_threads(training, rules, epochs, patience, jobs)
    else:
        results = on_cluster(training, rules, epochs, patience, workers, recipe)
    with contextlib.closing(results):
        for number, trained in results:
            score = max(trained.scores)
            trials[number] = Trial(rules[number], score, trained.best_epoch, trained.history, trained.scores)
            if best is None or (-score, number) < best[:2]:
                best = -score, number, trained
            del trained  # only the best keeps its arrays
            watch(trials[number], len(trials))
    assert best is not None
    return [trials[number] for number in range(len(rules))], best[2]


Results = Generator[tuple[int, Training], None, None]
"""The numbers of rules, and finished trainings with them."""


def in_threads(
    training: Training, rules: Sequence[UpdateRule], epochs: int, patience: int | None, jobs: int
) -> Results:
    """Yield the trainings as they end in threads of this process."""
    cancelled = Event()

    def stop_if_cancelled(progress: Progress) -> None:
        if cancelled.is_set():
            raise Stopped

    def run(number: int) -> tuple[int, Training]:
        trained = fork(training, rules[number])
        trained.run(epochs, patience, stop_if_cancelled)
        return number, trained

    with ThreadPoolExecutor(jobs) as pool:
        pending = [pool.submit(run, number) for number in range(len(rules))]
        try:
            while pending:
                future = next(as_completed(pending))
                pending.remove(future)
                result = future.result()
                del future
                yield result
                del result
        except BaseException:
            cancelled.set()  # those that run end after their epoch
            for future in pending:
                future.cancel()
            raise


# ---------------------------------------------------------------- on a cluster


class Recipe(NamedTuple):
    """How a worker makes a training.

    Parameters
    ----------
    start : callable
        A function of a module, or a `functools.partial` of one, that returns a new training and a digest of its data.
    key : str
        What the training depends on, for workers that keep it.
    digest : str
        The digest of the data here.
    files : str
        The names of the files, for messages.
    """

    start: Callable[[], tuple[Training, str]]
    key: str
    digest: str
    files: str


class TrainedWeights(NamedTuple):
    """What a worker sends back: the history, the dev scores, and the best weights without zeros."""

    history: list[Epoch]
    scores: list[float]
    arrays: Arrays


def on_cluster(
    training: Training,
    rules: Sequence[UpdateRule],
    epochs: int,
    patience: int | None,
    workers: Workers,
    recipe: Recipe,
) -> Results:
    """Yield the trainings as they end on the workers."""
    function = partial(train_on_worker, recipe, epochs, patience)
    with contextlib.closing(workers.map(function, rules, in_order=False, name=lambda rule: rule.name)) as results:
        for number, trained in results:
            if trained is not None:
                yield number, with_weights(training, rules[number], trained)


def train_on_worker(recipe: Recipe, epochs: int, patience: int | None, rule: UpdateRule) -> TrainedWeights | None:
    """Train with one rule as a task of a cluster; the worker keeps the data. None if the task is cancelled."""
    training, digest = task.kept(("tune", recipe.key, recipe.digest), recipe.start)
    if digest != recipe.digest:
        raise InputError(f"{recipe.files}: another content here than where the command was started")
    stop = task.Stop()

    def stop_if_cancelled(progress: Progress) -> None:
        if stop.is_set():
            raise Stopped

    trained = fork(training, rule)
    try:
        trained.run(epochs, patience, stop_if_cancelled)
    except Stopped:
        return None
    assert trained.best is not None
    arrays: Arrays = {}
    for name, array in trained.best.items():
        arrays |= sparse(name, array)
    return TrainedWeights(trained.history, trained.scores, arrays)


def with_weights(training: Training, rule: UpdateRule, trained: TrainedWeights) -> Training:
    """Return a training that looks as if it had run here."""
    finished = copy.copy(training)  # the model stays new: only the best weights are used
    finished.n_jobs = 1
    finished.use_rule(rule)
    finished.history, finished.scores = trained.history, trained.scores
    finished.best = {name: np.zeros_like(getattr(training.model, name)) for name in weight_names(training.model)}
    for name, array in finished.best.items():
        fill(array, trained.arrays, name)
    return finished


def fork(training: Training, rule: UpdateRule) -> Training:
    """The same training from the beginning with another rule, with its own copy of the model."""
    forked = copy.copy(training)
    forked.model = copy.deepcopy(training.model)
    forked.orders = copy.deepcopy(training.orders)
    forked.history, forked.scores = [], []
    forked.n_jobs = 1  # each training has a thread already
    forked.use_rule(rule)
    return forked
