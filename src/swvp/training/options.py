"""What taggers and parsers share: the options of a training, its history, their form in files, threads, temperatures.

The temperature is the divisor of scores in probabilities, p ∝ exp(score / temperature). A perceptron's scores have an
arbitrary scale. The temperature is fitted so that the gold labels of a dev set are most probable. It changes no
prediction, and it belongs to the weights that it was fitted for.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import numbers
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, is_real, is_whole, shown, unknown_name
from swvp.io.model_files import require, threads
from swvp.learning.perceptron import Epoch
from swvp.learning.rule import UpdateRule, as_rule
from swvp.types import Ints

if TYPE_CHECKING:
    from swvp.training.training import Training

__all__ = [
    "LEAST",
    "Tempered",
    "TrainingOptions",
    "available_cores",
    "best_epoch_text",
    "epochs_of",
    "in_shares",
    "lines_of",
    "lowest_loss",
    "not_fitted",
    "one_sentence_note",
    "power_of",
    "remake",
    "scores_of",
    "shares",
    "stored",
    "stored_history",
    "temperature_in",
    "unseen_labels",
]

Learner = TypeVar("Learner")

PARTS = ("substructures", "gamma", "approach", "beta", "step", "C")
REAL = ("beta", "C", "l2", "margin", "prune_threshold", "average_power")
WHOLE = ("epochs", "minimum_count", "patience", "hashed", "prune_heads", "ensemble", "batch_size")
MAY_BE_NONE = ("beta", "C", "margin", "prune_threshold", "average_power", "patience", "hashed")
ADAPTIVE_POWER = 3.0
"""The power of averaging for rules with the step `ada`, whose early weights are the worst."""
MOST_SEED = 2**128
LONG_SENTENCE = 150
"""A single sentence of so many tokens deserves a note."""


class TrainingOptions:
    """An estimator whose constructor takes the options of a training, among others."""

    BETA: ClassVar[float] = 1.0
    """The default β of rules that are given by name."""

    rule: str | UpdateRule | None
    substructures: Any
    gamma: Any
    approach: str | None
    beta: float | None
    step: str | None
    C: float | None
    epochs: int
    average: bool
    average_power: float | None
    patience: int | None
    random_state: Any
    n_jobs: int
    history_: list[Epoch]
    dev_scores_: list[float]
    best_epoch_: int

    def _set_options(self, given: Mapping[str, Any]) -> None:
        """Set the arguments of the constructor, its `locals()`, as attributes, as scikit-learn expects them."""
        vars(self).update({name: value for name, value in given.items() if name != "self"})

    def options(self) -> dict[str, Any]:
        """The arguments of the constructor; that of a class which a user derived does not count."""
        classes = [cls for cls in type(self).__mro__ if issubclass(cls, TrainingOptions) and "__init__" in vars(cls)]
        return {name: getattr(self, name) for name in list(inspect.signature(classes[-1].__init__).parameters)[1:]}

    def use_rule(self, rule: UpdateRule) -> None:
        """Set the options `rule` and `beta` to those of a rule that tuning chose."""
        self.rule, self.beta = rule.name, rule.beta

    def use_threads(self, n_jobs: int) -> None:
        """Set the option `n_jobs`, which changes no result."""
        self.n_jobs = n_jobs

    def _rule(self) -> UpdateRule:
        """The rule, with the parts that were given separately."""
        given = {name: getattr(self, name) for name in PARTS if getattr(self, name) is not None}
        rule = self._default_rule() if self.rule is None else self.rule
        return as_rule(rule, **({"beta": self.BETA} | given if isinstance(rule, str) else given))

    def _default_rule(self) -> str:
        """The name of the default rule."""
        raise InputError("rule must be a name or an UpdateRule, not None")

    def _check_whole(self, names: Sequence[str], optional: Sequence[str] = ()) -> None:
        """Raise InputError for options that are no whole numbers of at least 1; those in `optional` may be None."""
        for name in (*names, *optional):
            value = getattr(self, name)
            if name in optional and value is None:
                continue
            if not is_whole(value):
                bounds = "from 1 to 2^63 - 1" if isinstance(value, int) and value > 1 else "of at least 1"
                raise InputError(f"{name} must be a whole number {bounds}, not {shown(value)}")
        seed = self.random_state
        if isinstance(seed, numbers.Integral) and not 0 <= int(seed) < MOST_SEED:
            raise InputError(f"random_state must be a seed from 0 to 2^128 - 1, not {shown(seed)}")

    def _check_real(self, *names: str) -> None:
        """Raise InputError for options that are no finite numbers of at least 0."""
        for name in names:
            value = getattr(self, name)
            if not is_real(value) or value < 0:
                raise InputError(f"{name} must be a number of at least 0, not {shown(value)}")

    def _average_power(self, rule: UpdateRule) -> float:
        return power_of(self.average_power, rule)

    def _take_history(self, training: Training) -> None:
        """Take the history, the dev scores and the best epoch of a training."""
        self.history_ = training.history
        self.dev_scores_ = training.scores
        self.best_epoch_ = training.best_epoch

    def _restore_history(self, meta: dict[str, Any]) -> None:
        """Take the history, the dev scores and the best epoch of a model file, which must be consistent."""
        self.history_ = epochs_of(meta["history"])
        self.dev_scores_ = scores_of(meta["dev_scores"])
        self.best_epoch_ = meta["best_epoch"]
        require(type(self.best_epoch_) is int and 0 <= self.best_epoch_ <= len(self.history_), "best epoch")


def power_of(given: float | None, rule: UpdateRule) -> float:
    """The power of averaging: the given one, or that of the rule's step."""
    if given is None:
        return ADAPTIVE_POWER if rule.adapts else 1.0
    if not is_real(given) or given < 1:
        raise InputError(f"average_power must be a number of at least 1, not {shown(given)}")
    return float(given)


def best_epoch_text(learner: TrainingOptions) -> str:
    """Which epoch the weights are from, for reports."""
    return f"epoch {learner.best_epoch_} of {len(learner.history_)}"


def stored(options: dict[str, Any]) -> dict[str, Any]:
    """The options that a file can hold: a user's functions are left out."""
    given, result = dict(options), {}
    rule = given["rule"]
    if isinstance(rule, UpdateRule):
        numbers_of_rule = {name: getattr(rule, name) for name in ("beta", "C") if given[name] is None}
        given |= numbers_of_rule | {"rule": rule.name}  # the name has no numbers
    for name, value in given.items():
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=str)
        if isinstance(value, (list, tuple)):
            value = [list(item) if isinstance(item, tuple) else item for item in value]
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (str, int, float, bool, list)):
            result[name] = value
    return result


def stored_history(learner: TrainingOptions) -> dict[str, Any]:
    """The history of a training for a model file; without seconds, so that the same seed gives the same bytes."""
    return {
        "history": [epoch.as_dict() | {"seconds": 0.0} for epoch in learner.history_],
        "dev_scores": learner.dev_scores_,
        "best_epoch": learner.best_epoch_,
    }


def epochs_of(history: Any) -> list[Epoch]:
    """The epochs of a file; InputError unless they consist of numbers and are numbered from 1."""
    require(isinstance(history, list) and all(isinstance(epoch, dict) for epoch in history), "history")
    whole = {field.name for field in dataclasses.fields(Epoch) if field.type == "int"}
    for number, epoch in enumerate(history, 1):
        require(all(is_number(value, whole=name in whole) for name, value in epoch.items()), "history")
        require(epoch.get("epoch") == number, "history")
    return [Epoch(**epoch) for epoch in history]


def scores_of(scores: Any) -> list[float]:
    """The scores of a file; InputError unless they are numbers."""
    require(isinstance(scores, list) and all(is_number(score) for score in scores), "scores")
    return [float(score) for score in scores]


def is_number(value: Any, *, whole: bool = False) -> bool:
    """Whether a value of a file is a number of at least 0."""
    return is_whole(value, 0) if whole else is_real(value) and value >= 0


def remake(make: Callable[..., Learner], options: dict[str, Any]) -> Learner:
    """An estimator of the class `make` with the options of a file; InputError if they have wrong types."""
    parts = [value for name, value in options.items() if name in ("rule", *PARTS) and name not in REAL]
    require(all(value is None or isinstance(value, str) for value in parts), "rule")
    for name, value in options.items():
        if value is None and name in MAY_BE_NONE:
            continue
        require(name not in REAL or is_number(value), name)
        require(name not in WHOLE or is_whole(value), name)
    return make(**(options | {"n_jobs": threads(options.get("n_jobs"))}))


def lines_of(features: str | Sequence[str], presets: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """The templates of a preset, or those given; InputError if there is no such preset."""
    if isinstance(features, str):
        if features not in presets:
            raise unknown_name("features", features, presets)
        return presets[features]
    if not isinstance(features, Collection) or not all(isinstance(text, str) for text in features):
        raise InputError(f"features must be the name of a preset or a list of templates, not {features!r}")
    return features


def not_fitted(name: str, call: str = "fit(X, y)") -> Exception:
    """The error for an estimator that is used before it is fitted: that of scikit-learn, if it is installed."""
    text = f"this {name} is not fitted: call {call} first"
    try:
        from sklearn.exceptions import NotFittedError  # takes a second to import
    except ImportError:
        return InputError(text)
    return NotFittedError(text)  # type: ignore[no-any-return]


def shares(sentences: int, n_jobs: int) -> list[Ints]:
    """The numbers of the sentences, divided among `n_jobs` threads."""
    if not is_whole(n_jobs):
        raise InputError(f"n_jobs must be a whole number of at least 1, not {shown(n_jobs)}")
    return np.array_split(np.arange(sentences), max(1, min(int(n_jobs), sentences)))


def in_shares(work: Callable[[int, int], object], sentences: int, n_jobs: int) -> None:
    """Call work(first, end) for parts of the sentences, each in its own thread; parts are not empty."""
    if type(n_jobs) is int and n_jobs == 1 and sentences > 0:  # quick, for single sentences
        work(0, sentences)
        return
    parts = [(int(part[0]), int(part[-1]) + 1) for part in shares(sentences, n_jobs) if len(part)]
    if len(parts) <= 1:
        for part in parts:
            work(*part)
        return
    with ThreadPoolExecutor(len(parts)) as pool:
        list(pool.map(lambda part: work(*part), parts))


def available_cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_sentence_note(sentences: int, tokens: int) -> str | None:
    """A note on a training file that is one long sentence: its empty lines may be missing."""
    if sentences > 1 or tokens < LONG_SENTENCE:
        return None
    return f"note: one sentence of {tokens:,} tokens: is there an empty line after each sentence?"


def unseen_labels(known: Sequence[Any], labels: Sequence[Any], ids: NDArray[Any]) -> str | None:
    """A note on the labels of a dev set that training does not have; its tokens have the labels labels[ids]."""
    unseen = [number for number, name in enumerate(labels) if name not in set(known)]
    if not unseen:
        return None
    tokens = sum(int((ids == number).sum()) for number in unseen)
    names = ", ".join(str(labels[number]) for number in unseen[:3]) + (" …" if len(unseen) > 3 else "")
    have = "dev token has a label" if tokens == 1 else "dev tokens have labels"
    return f"note: {tokens:,} {have} unseen in training ({names}): counted as wrong"


# ---------------------------------------------------------------- temperatures

LEAST = 1e-300
"""Smaller probabilities are replaced by it in logarithms."""
GRID = 12
"""The grid of the first search has powers of 2 from -GRID to GRID."""


class Tempered:
    """An estimator with weights `coef_` and a temperature for them."""

    @property
    def temperature_(self) -> float:
        """The divisor of scores in probabilities: 1 unless it was fitted for the present weights."""
        temperature, weights = self.__dict__.get("_temperature", (1.0, None))
        return float(temperature) if weights is self._present_weights() else 1.0

    @temperature_.setter
    def temperature_(self, value: float) -> None:
        self._temperature = (value, self._present_weights())

    def _present_weights(self) -> Any:
        """An array that every training replaces: weights of transitions or, in a parser, all weights."""
        fitted = vars(self)
        return fitted.get("transitions_", fitted.get("coef_"))


def lowest_loss(loss: Callable[[float], float], unit: float) -> float:
    """The temperature with the lowest loss; `unit` is the typical difference of scores, or 0."""
    from scipy.optimize import minimize_scalar  # takes long to import

    # the scale of scores is arbitrary: first a grid of powers of 2, then the minimum near its best point
    def of_logarithm(log_temperature: float) -> float:
        return loss(math.exp(log_temperature))

    grid = math.log(unit if unit > 0 else 1.0) + math.log(2) * np.arange(-GRID, GRID + 1)
    lowest = grid[int(np.argmin([of_logarithm(point) for point in grid]))]
    bounds = (lowest - math.log(2), lowest + math.log(2))
    minimum = minimize_scalar(of_logarithm, bounds=bounds, method="bounded", options={"xatol": 1e-3})
    return math.exp(float(minimum.x))


def temperature_in(meta: dict[str, Any]) -> float:
    """The temperature in a model file, 1 if there is none; InputError if it cannot be one."""
    temperature = meta.get("temperature", 1.0)
    require(type(temperature) in (int, float) and 0 < temperature < np.inf, "temperature")
    return float(temperature)
