"""Tuning: trainings with several rules on the same arrays, of which the best on the dev set is chosen."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import NamedTuple

from swvp.errors import InputError
from swvp.learning.perceptron import Epoch
from swvp.learning.rule import UpdateRule, as_rule
from swvp.training.training import Progress, Stopped, Training

__all__ = ["Trial", "candidates", "fork", "tune"]


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
) -> tuple[list[Trial], Training]:
    """Train once with each rule, each from zero weights on the same data in the same orders.

    Returns the trials in the order of the rules, and the finished training of the best one: the highest score, the
    earlier rule among equals. `training` must be new and stays so.
    """
    if training.dev is None:
        raise InputError("tuning needs a dev set, to choose the best rule")
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    best: tuple[float, int, Training] | None = None
    trials: dict[int, Trial] = {}
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
                number, trained = future.result()
                score = max(trained.scores)
                trials[number] = Trial(rules[number], score, trained.best_epoch, trained.history, trained.scores)
                if best is None or (-score, number) < best[:2]:
                    best = -score, number, trained
                del trained, future  # only the best keeps its arrays
                watch(trials[number], len(trials))
        except BaseException:
            cancelled.set()  # those that run end after their epoch
            for future in pending:
                future.cancel()
            raise
    assert best is not None
    return [trials[number] for number in range(len(rules))], best[2]


def fork(training: Training, rule: UpdateRule) -> Training:
    """The same training from the beginning with another rule, with its own copy of the model."""
    forked = copy.copy(training)
    forked.model = copy.deepcopy(training.model)
    forked.orders = copy.deepcopy(training.orders)
    forked.history, forked.scores = [], []
    forked.n_jobs = 1  # each training has a thread already
    forked.use_rule(rule)
    return forked
