"""A training of the synthetic study: its HMM, samples from it, the best possible accuracy, and what is measured."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.learning.perceptron import COUNTS, run_epochs
from swvp.learning.rule import as_rule
from swvp.structures.chain.indicator import IndicatorChain, new_model, predict_all
from swvp.structures.operations import averaged_weights, weights
from swvp.studies.common.running import CONTROL, Ask
from swvp.studies.synthetic.settings import LENGTH, SETUPS, Setup, SyntheticSettings

__all__ = [
    "HMM",
    "WEIGHTS",
    "Dataset",
    "Run",
    "Training",
    "accuracy",
    "make_dataset",
    "permuted_hmm",
    "posterior_decode",
    "sample",
    "train_once",
    "true_hmm",
]


@dataclass(frozen=True)
class HMM:
    """P(y_1), P(y' | y) and P(x | y) as rows of probabilities."""

    initial: NDArray[np.float64]
    transition: NDArray[np.float64]
    emission: NDArray[np.float64]


def permuted_hmm(
    transition: Sequence[float], emission: Sequence[float], labels: int, symbols: int, rng: np.random.Generator
) -> HMM:
    """Return an HMM whose rows are independent random permutations of two vectors, padded with 0 and scaled to sum 1.

    The first label is uniform (section 6).
    """

    def rows(values: Sequence[float], width: int) -> NDArray[np.float64]:
        padded = np.zeros(width)
        padded[: len(values)] = values
        padded /= padded.sum()
        return np.stack([rng.permutation(padded) for _ in range(labels)])

    return HMM(np.full(labels, 1 / labels), rows(transition, labels), rows(emission, symbols))


def sample(hmm: HMM, items: int, length: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Sample sequences: observed symbols x and hidden labels y, both of shape (items, length)."""
    y = np.empty((items, length), np.int64)
    y[:, 0] = draw(hmm.initial[None].repeat(items, 0), rng)
    for t in range(1, length):
        y[:, t] = draw(hmm.transition[y[:, t - 1]], rng)
    x = draw(hmm.emission[y.ravel()], rng).reshape(items, length)
    return x, y


def draw(probabilities: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw an index for each row, with the probabilities of that row."""
    cumulative = probabilities.cumsum(1)
    cumulative[:, -1] = np.inf  # rounding must not leave a gap at the end
    index: NDArray[np.int64] = (rng.random((len(probabilities), 1)) >= cumulative).sum(1)
    return index


def posterior_decode(hmm: HMM, x: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return argmax_y P(y_t | x) and its probability at every position, by forward–backward on the true HMM.

    No predictor has a higher expected accuracy per position: this is the Bayes ceiling of the study.
    """
    items, length = x.shape
    emit = hmm.emission[:, x].transpose(1, 2, 0)  # (items, length, labels)
    forward = np.empty((items, length, len(hmm.initial)))
    backward = np.ones_like(forward)
    forward[:, 0] = hmm.initial * emit[:, 0]
    for t in range(1, length):
        forward[:, t] = forward[:, t - 1] @ hmm.transition * emit[:, t]
        forward[:, t] /= forward[:, t].sum(1, keepdims=True)
    for t in range(length - 2, -1, -1):
        backward[:, t] = (backward[:, t + 1] * emit[:, t + 1]) @ hmm.transition.T
        backward[:, t] /= backward[:, t].sum(1, keepdims=True)
    posterior = forward * backward
    posterior /= posterior.sum(2, keepdims=True)
    return posterior.argmax(2), posterior.max(2)


WEIGHTS = ("last", "averaged")


class Training(NamedTuple):
    """What identifies a training. β is None for a rule without β; `order` is the random order of the control."""

    setup: int
    dataset: int
    rule: str
    beta: float | None = None
    order: int | None = None


@dataclass(frozen=True)
class Run:
    """A finished training.

    `history` has the counts of each epoch and the norm of the weights after it. `accuracy` has shares of correct
    labels: "last_test" and "averaged_test" after each epoch, "last_dev" and "averaged_dev" after the last one.
    """

    setup: int
    dataset: int
    rule: str
    beta: float | None
    order: int | None
    history: dict[str, list[float]]
    accuracy: dict[str, list[float]]

    @property
    def training(self) -> Training:
        """What identifies this training."""
        return Training(self.setup, self.dataset, self.rule, self.beta, self.order)

    def final(self, weights: str, part: str) -> float:
        """Return the accuracy on "dev" or "test" after the last epoch."""
        return float(self.accuracy[f"{weights}_{part}"][-1])

    @property
    def scores(self) -> dict[str, float | None]:
        """The scores of this training, as shares, for a table of all runs."""
        return {f"{kind}_{part}": self.final(kind, part) for kind in WEIGHTS for part in ("dev", "test")}

    def total(self, count: str) -> float:
        """Return a count summed over all epochs."""
        return sum(self.history[count])

    def to_json(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Run:
        """Return the run that `to_json` wrote."""
        return cls(**{field.name: fields[field.name] for field in dataclasses.fields(cls)})


@dataclass(frozen=True)
class Dataset:
    """The samples of a dataset, and the accuracy of the Bayes-optimal labels on its test set."""

    train: IndicatorChain
    dev: IndicatorChain
    test: IndicatorChain
    ceiling: float
    expected_ceiling: float


def true_hmm(settings: SyntheticSettings, setup: int, dataset: int) -> HMM:
    """Return the HMM that a dataset is sampled from."""
    draw = 0 if settings.hmm == "per-setup" else dataset + 1
    given = SETUPS[setup]
    rng = np.random.default_rng([settings.seed, setup, draw])
    return permuted_hmm(given.transition, given.emission, given.labels, given.symbols, rng)


def make_dataset(settings: SyntheticSettings, setup: int, dataset: int) -> Dataset:
    """Sample a dataset and split it into training, dev and test set."""
    hmm = true_hmm(settings, setup, dataset)
    rng = np.random.default_rng([settings.seed, setup, dataset, 1])
    x, y = sample(hmm, sum(settings.sizes), LENGTH, rng)
    ends = np.cumsum([0, *settings.sizes])
    train, dev, test = (as_chain(x[a:b], y[a:b]) for a, b in itertools.pairwise(ends))
    best, probability = posterior_decode(hmm, x[ends[2] :])
    return Dataset(train, dev, test, float((best == y[ends[2] :]).mean()), float(probability.mean()))


def as_chain(x: NDArray[np.int64], y: NDArray[np.int64]) -> IndicatorChain:
    offsets = np.arange(len(x) + 1, dtype=np.int64) * x.shape[1]
    return IndicatorChain(x.ravel().astype(np.uint32), y.ravel().astype(np.uint32), offsets)


def accuracy(w: NDArray[np.float64], data: IndicatorChain, setup: Setup) -> float:
    """Return the share of labels that are predicted correctly."""
    predicted = np.empty_like(data.y)
    predict_all(new_model(setup.symbols, setup.labels, LENGTH, w), data.x, data.offsets, predicted)
    return float((predicted == data.y).mean())


def train_once(settings: SyntheticSettings, data: Dataset, training: Training, stopped: Ask) -> Run | None:
    """Run one training; return None if the event stopped it."""
    rule = as_rule("csp") if training.rule == CONTROL else as_rule(training.rule)
    rule = rule if training.beta is None else as_rule(rule, beta=training.beta)
    setup = SETUPS[training.setup]
    model = new_model(setup.symbols, setup.labels, LENGTH)
    examples = len(data.train.offsets) - 1
    orders = None
    if settings.shuffle or training.order is not None:
        number = 0 if training.order is None else training.order + 1
        orders = np.random.default_rng([settings.seed, training.setup, training.dataset, 2, number])
    history: dict[str, list[float]] = {key: [] for key in (*COUNTS, "norm")}
    curves: dict[str, list[float]] = {f"{kind}_{part}": [] for kind in WEIGHTS for part in ("dev", "test")}
    for epoch in run_epochs(data.train, model, rule, examples=examples, epochs=settings.epochs, random_state=orders):
        for name in history:
            history[name].append(getattr(epoch, name))
        vectors = {"last": weights(model), "averaged": averaged_weights(model, epoch.epoch * examples)}
        for kind, w in vectors.items():
            curves[f"{kind}_test"].append(accuracy(w, data.test, setup))
        if stopped.is_set():
            return None
    for kind, w in vectors.items():
        curves[f"{kind}_dev"].append(accuracy(w, data.dev, setup))
    return Run(*training, history=history, accuracy=curves)
