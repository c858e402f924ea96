"""The tagging study: rules × β × seeds on datasets of the user, the epoch and β chosen on dev sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from swvp.cluster import task
from swvp.cluster.connect import Workers
from swvp.evaluation.counts import look_like_phrases
from swvp.studies.common.running import (
    Ask,
    Header,
    Once,
    Progress,
    check_jobs,
    documented,
    no_progress,
    results_json,
    run_trainings,
)
from swvp.studies.tagging.runs import Run, Training, train_once
from swvp.studies.tagging.settings import Data, Dataset, TaggingSettings, notation, read_data

__all__ = ["DatasetSizes", "TaggingResults", "run_tagging", "trainings"]


@dataclass(frozen=True)
class DatasetSizes:
    """A dataset: its sizes by part (train, dev, test), its labels, and what was chosen from them.

    `metric` is "F1" if the labels are those of phrases, else "accuracy".
    """

    name: str
    metric: str
    sampled: bool
    sentences: dict[str, int]
    tokens: dict[str, int]
    label: str
    labels: int
    features: str
    constraint: str | None


@dataclass(frozen=True)
class TaggingResults:
    """The results of the tagging study.

    Attributes
    ----------
    settings : TaggingSettings
        What was run.
    datasets : list of DatasetSizes
        The sizes of each dataset.
    runs : list of Run
        Every training, in the order of `trainings(settings)`.
    header : dict
        The settings as JSON, with the version of the program that ran the study.
    """

    settings: TaggingSettings
    datasets: list[DatasetSizes]
    runs: list[Run]
    header: Header

    @property
    def sampled(self) -> bool:
        """Whether the dev set of a dataset is sampled from its training set."""
        return any(dataset.sampled for dataset in self.datasets)

    def of(self, dataset: str, rule: str) -> dict[float | None, list[Run]]:
        """Return the runs of a rule on a dataset by β, each group in the order of the seeds."""
        groups: dict[float | None, list[Run]] = {}
        for run in self.runs:
            if (run.dataset, run.rule) == (dataset, rule):
                groups.setdefault(run.beta, []).append(run)
        return groups

    def to_json(self) -> dict[str, Any]:
        """Return the content of results.json."""
        return results_json(self.header, "datasets", self.datasets, self.runs)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> TaggingResults:
        """Return the results that `to_json` wrote."""
        return cls(
            settings=TaggingSettings.from_json(fields["settings"]),
            datasets=[DatasetSizes(**dataset) for dataset in fields["datasets"]],
            runs=[Run.from_json(run) for run in fields["runs"]],
            header=dict(fields["settings"]),
        )


def trainings(settings: TaggingSettings) -> list[Training]:
    """Return every training of the study."""
    return [
        Training(dataset.name, rule, beta, seed)
        for dataset in settings.datasets
        for rule in settings.rules
        for beta in settings.betas_of(notation(rule))
        for seed in range(settings.seed, settings.seed + settings.seeds)
    ]


@documented("TaggingSettings", "TaggingResults")
def run_tagging(
    settings: TaggingSettings,
    folder: str | Path,
    *,
    jobs: int = 1,
    fresh: bool = False,
    progress: Progress = no_progress,
    workers: Workers | None = None,
) -> TaggingResults:
    """Run the tagging study, or resume it.

    PARAMETERS
    """
    check_jobs(jobs)
    datasets = {dataset.name: dataset for dataset in settings.datasets}
    read: Once[str, Data] = Once()

    def data_of(name: str) -> Data:
        return read.get(name, lambda: data_in(settings, datasets[name]))

    def train(training: Training, stopped: Ask) -> Run | None:
        return train_once(settings, datasets[training.dataset], data_of(training.dataset), training, stopped)

    sizes = [sizes_of(dataset, data_of(name)) for name, dataset in datasets.items()]  # before anything is trained
    runs, header = run_trainings(
        settings,
        folder,
        trainings(settings),
        train,
        on_worker=partial(train_on_worker, settings.absolute()),
        read=Run.from_json,
        jobs=jobs,
        fresh=fresh,
        progress=progress,
        workers=workers,
    )
    return TaggingResults(settings, sizes, runs, header)


def train_on_worker(settings: TaggingSettings, training: Training) -> Run | None:
    """Run one training as a task of a cluster; the worker keeps the dataset."""
    (dataset,) = (dataset for dataset in settings.datasets if dataset.name == training.dataset)

    def read() -> Data:
        dataset.source.check()
        return data_in(settings, dataset)

    data = task.kept(("tagging", repr(settings), dataset.name), read)
    return train_once(settings, dataset, data, training, task.Stop())


def data_in(settings: TaggingSettings, dataset: Dataset) -> Data:
    """Read a dataset of a study."""
    return read_data(
        dataset,
        options=settings.options,
        sample_dev=settings.sample_dev,
        dev_sentences=settings.dev_sentences,
        sentences=settings.sentences,
        seed=settings.seed,
    )


def sizes_of(dataset: Dataset, data: Data) -> DatasetSizes:
    """Return the sizes of a dataset."""
    parts = {part: getattr(data, part) for part in ("train", "dev", "test")}
    assert data.train.labels is not None
    used = np.unique(data.train.labels.ids)
    names = [str(data.train.labels.names[k]) for k in used]
    features = data.chosen.features if dataset.features is None else dataset.option("features")
    return DatasetSizes(
        name=dataset.name,
        metric="F1" if look_like_phrases([names]) else "accuracy",
        sampled=data.sampled,
        sentences={part: len(corpus.offsets) - 1 for part, corpus in parts.items()},
        tokens={part: corpus.tokens for part, corpus in parts.items()},
        label=data.label,
        labels=len(names),
        features=str(features),
        constraint=data.chosen.constraint,
    )
