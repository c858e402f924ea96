"""The synthetic study of the paper (section 6, Table 1): its settings, its trainings, its typed results.

In each of the paper's three setups and on each dataset, CSP is trained once and each SWVP rule once with every β. Test
accuracy is measured after every epoch and dev accuracy after the last one, with the last and with the averaged weights.

A tuned rule is the best of several trainings, but the paper's CSP is a single one. The control gives CSP as many
trainings, each on another random order of the examples, and chooses the best one on the dev set.
"""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, is_whole, shown, unknown_name
from swvp.learning.perceptron import COUNTS, run_epochs
from swvp.learning.rule import PAPER_RULES, as_rule
from swvp.structures.chain.indicator import IndicatorChain, new_model, predict_all
from swvp.structures.operations import averaged_weights, weights
from swvp.studies.common.running import (
    CONTROL,
    Journal,
    Progress,
    check_jobs,
    check_settings,
    csp_first,
    finish,
    no_progress,
    settings_header,
    settings_in,
)
from swvp.studies.synthetic.hmm import HMM, permuted_hmm, posterior_decode, sample

__all__ = [
    "FULL",
    "LENGTH",
    "QUICK",
    "SETUPS",
    "WEIGHTS",
    "DatasetResult",
    "Run",
    "Setup",
    "SyntheticResults",
    "SyntheticSettings",
    "Training",
    "accuracy",
    "make_dataset",
    "run_synthetic",
    "train_once",
    "trainings",
    "true_hmm",
]


# ---------------------------------------------------------------- settings

LENGTH = 8
MOST_DATASETS = 10_000
HMM_CHOICES = ("per-setup", "per-dataset")


@dataclass(frozen=True)
class Setup:
    """One condition of the study, with the probabilities of the paper's footnote."""

    name: str
    symbols: int
    labels: int
    transition: tuple[float, ...]
    emission: tuple[float, ...]


SETUPS = {
    1: Setup("simple(++), learnable(+++)", 5, 3, (0.7, 0.2, 0.1), (0.75, 0.1, 0.05, 0.05, 0.05)),
    2: Setup("simple(++), learnable(++)", 5, 3, (0.5, 0.3, 0.2), (0.6, 0.15, 0.1, 0.1, 0.05)),
    3: Setup("simple(+), learnable(+)", 20, 7, (0.7, 0.2, 0.1), (0.4, 0.2, 0.1, 0.1, 0.1)),
}


@dataclass(frozen=True, kw_only=True)
class SyntheticSettings:
    """The settings of the synthetic study. They determine all its numbers.

    Parameters
    ----------
    setups : tuple of int
        Which of the paper's setups 1, 2 and 3.
    datasets : int
        Datasets per setup.
    sizes : tuple of int
        Sequences in the training, dev and test set.
    epochs : int
        Epochs of each training.
    betas : tuple of float
        The values of β that a rule tries.
    rules : tuple of str
        Update rules. CSP is always run, as the first.
    hmm : {"per-setup", "per-dataset"}
        Whether the datasets of a setup share one HMM.
    shuffle : bool
        Whether each epoch has a new random order of the examples.
    seed : int
        Determines the HMMs, the samples and the random orders.
    control : bool
        Whether to train CSP on as many random orders as there are β values ("csp-orders").
    loaded : str
        Digest of the user's Python file that defines some of the rules; empty without one.

    Raises
    ------
    InputError
        If a setting is not valid.

    Examples
    --------
    >>> SyntheticSettings(rules=("a-wm",), datasets=2).rules
    ('csp', 'a-wm')
    """

    setups: tuple[int, ...] = (1, 2, 3)
    datasets: int = 10
    sizes: tuple[int, int, int] = (7000, 2000, 1000)
    epochs: int = 10
    betas: tuple[float, ...] = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0)
    rules: tuple[str, ...] = PAPER_RULES
    hmm: str = "per-setup"
    shuffle: bool = False
    seed: int = 0
    control: bool = True
    loaded: str = ""

    def __post_init__(self) -> None:
        for setup in self.setups:
            if setup not in SETUPS:
                raise unknown_name("setup", setup, map(str, SETUPS))
        if self.hmm not in HMM_CHOICES:
            raise unknown_name("hmm", self.hmm, HMM_CHOICES)
        check_settings(self, "setups", "rules", "betas")
        if len(self.sizes) != 3 or min(self.sizes) < 1:
            sizes = ",".join(map(str, self.sizes))
            raise InputError(f"sizes must be three numbers of at least 1 (train,dev,test), not '{sizes}'")
        if self.datasets < 1 or self.epochs < 1:
            raise InputError(f"datasets and epochs must be at least 1, not {self.datasets} and {self.epochs}")
        if self.datasets > MOST_DATASETS or not is_whole(self.epochs):
            given = f"{shown(self.datasets)} and {shown(self.epochs)}"
            raise InputError(f"datasets must be at most {MOST_DATASETS:,} and epochs 2^63 - 1, not {given}")
        for name in self.rules:
            for beta in self.betas:
                as_rule(name, beta=beta)
        object.__setattr__(self, "rules", csp_first([as_rule(rule).name for rule in self.rules], self.rules))

    @property
    def names(self) -> list[str]:
        """All rules, and the control if there is one."""
        return [*self.rules, *([CONTROL] if self.control else [])]

    def to_json(self) -> dict[str, Any]:
        """Return the settings and the version of the program, ready for JSON."""
        return settings_header("synthetic", self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> SyntheticSettings:
        """Return the settings that `to_json` wrote."""
        return cls(**settings_in(fields, cls))


FULL = SyntheticSettings()
QUICK = SyntheticSettings(datasets=3, sizes=(1400, 400, 200), epochs=5, betas=(0.5, 1.0, 2.0, 4.0))


# ---------------------------------------------------------------- results

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
class DatasetResult:
    """A dataset: its HMM, and the accuracy of the Bayes-optimal labels, measured on the test set and expected."""

    setup: int
    dataset: int
    ceiling: float
    expected_ceiling: float
    transition: list[list[float]]
    emission: list[list[float]]


@dataclass(frozen=True)
class SyntheticResults:
    """The results of the synthetic study.

    Attributes
    ----------
    settings : SyntheticSettings
        What was run.
    datasets : list of DatasetResult
        The HMM and the Bayes ceiling of each dataset.
    runs : list of Run
        Every training, in the order of `trainings(settings)`.
    header : dict
        The settings as JSON, with the version of the program that ran the study.
    """

    settings: SyntheticSettings
    datasets: list[DatasetResult]
    runs: list[Run]
    header: dict[str, Any]

    def of(self, setup: int, rule: str) -> list[Run]:
        """Return the runs of a rule in a setup."""
        return [run for run in self.runs if (run.setup, run.rule) == (setup, rule)]

    def chosen(self, setup: int, rule: str, weights: str) -> list[Run]:
        """Return the run of each dataset with the best dev accuracy; of equal ones the first, with the smallest β."""
        best: dict[int, Run] = {}
        for run in self.of(setup, rule):
            rival = best.get(run.dataset)
            if rival is None or run.final(weights, "dev") > rival.final(weights, "dev"):
                best[run.dataset] = run
        return [best[dataset] for dataset in sorted(best)]

    def to_json(self) -> dict[str, Any]:
        """Return the content of results.json."""
        datasets = [vars(data) for data in self.datasets]
        return {"settings": self.header, "datasets": datasets, "runs": [run.to_json() for run in self.runs]}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> SyntheticResults:
        """Return the results that `to_json` wrote."""
        return cls(
            settings=SyntheticSettings.from_json(fields["settings"]),
            datasets=[DatasetResult(**data) for data in fields["datasets"]],
            runs=[Run.from_json(run) for run in fields["runs"]],
            header=dict(fields["settings"]),
        )


@dataclass(frozen=True)
class Dataset:
    """The samples of a dataset, and the accuracy of the Bayes-optimal labels on its test set."""

    train: IndicatorChain
    dev: IndicatorChain
    test: IndicatorChain
    ceiling: float
    expected_ceiling: float


def trainings(settings: SyntheticSettings) -> list[Training]:
    """Return every training of the study."""
    result = []
    for setup, dataset in itertools.product(settings.setups, range(settings.datasets)):
        for rule in settings.rules:
            betas = settings.betas if as_rule(rule).uses_beta else (None,)
            result += [Training(setup, dataset, rule, beta) for beta in betas]
        if settings.control:
            result += [Training(setup, dataset, CONTROL, order=order) for order in range(len(settings.betas))]
    return result


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


def train_once(settings: SyntheticSettings, data: Dataset, training: Training, stopped: threading.Event) -> Run | None:
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


def run_synthetic(
    settings: SyntheticSettings,
    folder: str | Path,
    *,
    jobs: int = 1,
    fresh: bool = False,
    progress: Progress = no_progress,
) -> SyntheticResults:
    """Run the synthetic study, or resume it.

    Every finished training is written to `folder` at once. The results depend only on the settings, not on `jobs` or
    on interruptions.

    Parameters
    ----------
    settings : SyntheticSettings
        What to run.
    folder : str or Path
        Where the journal of finished trainings is. Trainings that it has are not run again.
    jobs : int
        Number of threads.
    fresh : bool
        Remove an earlier study from the folder and start from the beginning.
    progress : callable
        Called with the number of finished trainings and the number of all.

    Returns
    -------
    SyntheticResults
        Every training and its accuracies.

    Raises
    ------
    InputError
        If the folder holds another study's results, or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from swvp.studies import SyntheticSettings, run_synthetic, summarise_synthetic
    >>> settings = SyntheticSettings(setups=(1,), datasets=1, sizes=(50, 20, 20), epochs=2, rules=("a-wm",), betas=(1,))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = run_synthetic(settings, folder)
    >>> [rule.rule for rule in summarise_synthetic(results)[0].rules]
    ['csp', 'a-wm', 'csp-orders']
    """
    check_jobs(jobs)
    datasets = cache(lambda setup, number: make_dataset(settings, setup, number))

    def train(training: Training, stopped: threading.Event) -> Run | None:
        return train_once(settings, datasets(training.setup, training.dataset), training, stopped)

    header = settings.to_json()
    journal = Journal(Path(folder), header, read=Run.from_json, fresh=fresh)
    runs = finish(trainings(settings), train, journal, jobs=jobs, progress=progress)
    results = []
    for setup, dataset in itertools.product(settings.setups, range(settings.datasets)):
        made, hmm = datasets(setup, dataset), true_hmm(settings, setup, dataset)
        matrices = hmm.transition.tolist(), hmm.emission.tolist()
        results.append(DatasetResult(setup, dataset, made.ceiling, made.expected_ceiling, *matrices))
    return SyntheticResults(settings, results, runs, header)
