"""The synthetic study of the paper (section 6, Table 1): its trainings and its typed results.

In each of the paper's three setups and on each dataset, CSP is trained once and each SWVP rule once with every β. Test
accuracy is measured after every epoch and dev accuracy after the last one, with the last and with the averaged weights.

A tuned rule is the best of several trainings, but the paper's CSP is a single one. The control gives CSP as many
trainings, each on another random order of the examples, and chooses the best one on the dev set.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from swvp.cluster import task
from swvp.cluster.connect import Workers
from swvp.learning.rule import as_rule
from swvp.studies.common.running import (
    CONTROL,
    Ask,
    Header,
    Progress,
    check_jobs,
    documented,
    no_progress,
    results_json,
    run_trainings,
)
from swvp.studies.synthetic.runs import Run, Training, make_dataset, train_once, true_hmm
from swvp.studies.synthetic.settings import SyntheticSettings

__all__ = ["DatasetResult", "SyntheticResults", "run_synthetic", "trainings"]


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
    header: Header

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
        return results_json(self.header, "datasets", self.datasets, self.runs)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> SyntheticResults:
        """Return the results that `to_json` wrote."""
        return cls(
            settings=SyntheticSettings.from_json(fields["settings"]),
            datasets=[DatasetResult(**data) for data in fields["datasets"]],
            runs=[Run.from_json(run) for run in fields["runs"]],
            header=dict(fields["settings"]),
        )


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


@documented("SyntheticSettings", "SyntheticResults")
def run_synthetic(
    settings: SyntheticSettings,
    folder: str | Path,
    *,
    jobs: int = 1,
    fresh: bool = False,
    progress: Progress = no_progress,
    workers: Workers | None = None,
) -> SyntheticResults:
    """Run the synthetic study, or resume it.

    PARAMETERS

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

    def train(training: Training, stopped: Ask) -> Run | None:
        return train_once(settings, datasets(training.setup, training.dataset), training, stopped)

    runs, header = run_trainings(
        settings,
        folder,
        trainings(settings),
        train,
        on_worker=partial(train_on_worker, settings),
        read=Run.from_json,
        jobs=jobs,
        fresh=fresh,
        progress=progress,
        workers=workers,
    )
    results = []
    for setup, dataset in itertools.product(settings.setups, range(settings.datasets)):
        made, hmm = datasets(setup, dataset), true_hmm(settings, setup, dataset)
        matrices = hmm.transition.tolist(), hmm.emission.tolist()
        results.append(DatasetResult(setup, dataset, made.ceiling, made.expected_ceiling, *matrices))
    return SyntheticResults(settings, results, runs, header)


def train_on_worker(settings: SyntheticSettings, training: Training) -> Run | None:
    """Run one training as a task of a cluster; the worker keeps the dataset."""
    setup, number = training.setup, training.dataset
    key = ("synthetic", repr(settings), setup, number)
    data = task.kept(key, lambda: make_dataset(settings, setup, number))
    return train_once(settings, data, training, task.Stop())
