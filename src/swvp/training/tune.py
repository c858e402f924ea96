"""Owns the search for a rule: many trainings on the same arrays, chosen by their score on development data."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event
from typing import NamedTuple

from swvp.errors import InputError
from swvp.learning.perceptron import Epoch
from swvp.learning.rule import UpdateRule, as_rule
from swvp.training.training import Progress, Training

__all__ = ["Trial", "candidates", "fork", "tune"]


class Trial(NamedTuple):
    """One training: its best score, at which pass, what happened in all of them and the score of each."""

    rule: UpdateRule
    score: float
    epoch: int
    history: list[Epoch]
    scores: list[float]

    @property
    def seconds(self) -> float:
        return sum(epoch.seconds for epoch in self.history)

    def rate(self, count: str) -> float:
        """The share of updates that `count` counts, over all passes."""
        updates = sum(epoch.updates for epoch in self.history)
        return float(sum(getattr(epoch, count) for epoch in self.history) / max(updates, 1))


def candidates(rules: Sequence[str], betas: Sequence[float], C: float | None = None) -> list[UpdateRule]:
    """Every rule with every β, once where β makes no difference; C for all steps `mira`."""
    found = []
    longest = {} if C is None else {"C": C}
    for name in rules:
        rule = as_rule(name, **longest)
        found += [as_rule(name, beta=beta, **longest) for beta in betas] if rule.uses_beta else [rule]
    return list(dict.fromkeys(found))


class Stopped(Exception):  # noqa: N818
    """Ends a training of which nobody wants the result."""


def tune(
    training: Training,
    rules: Sequence[UpdateRule],
    *,
    epochs: int,
    patience: int | None,
    jobs: int,
    watch: Callable[[Trial, int], object] = lambda trial, done: None,
) -> tuple[list[Trial], Training]:
    """Train once with each rule, each from 0 on the same data in the same orders.

    Returns the trials in the order of the rules, and the finished training of the best one: the highest score, the
    earlier rule among equals. `training` is a new one and is left as it is.
    """
    if training.dev is None:
        raise InputError("tuning needs development data to choose by")
    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    best: tuple[float, int, Training] | None = None
    trials: dict[int, Trial] = {}
    stopped = Event()

    def stop_if_asked(progress: Progress) -> None:
        if stopped.is_set():
            raise Stopped

    def run(number: int) -> tuple[int, Training]:
        own = fork(training, rules[number])
        own.run(epochs, patience, stop_if_asked)
        return number, own

    with ThreadPoolExecutor(jobs) as pool:
        pending = [pool.submit(run, number) for number in range(len(rules))]
        try:
            while pending:
                future = next(as_completed(pending))
                pending.remove(future)
                number, own = future.result()
                score = max(own.scores)
                trials[number] = Trial(rules[number], score, own.best_epoch, own.history, own.scores)
                if best is None or (-score, number) < best[:2]:
                    best = -score, number, own
                del own, future
                watch(trials[number], len(trials))
        except BaseException:
            stopped.set()  # those that run end after their pass
            for future in pending:
                future.cancel()
            raise
    assert best is not None
    return [trials[number] for number in range(len(rules))], best[2]


def fork(training: Training, rule: UpdateRule) -> Training:
    """The same training from the beginning with another rule, with arrays of its own to work in."""
    own = copy.copy(training)
    own.model = copy.deepcopy(training.model)
    own.orders = copy.deepcopy(training.orders)
    own.largest = training.largest.copy()
    own.history, own.scores, own.rule = [], [], rule
    return own
