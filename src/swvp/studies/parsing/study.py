"""The parsing study of the paper (section 6, Table 2): runs its trainings and returns typed results.

On each treebank and with each order of the parser, CSP is trained once and each other rule once with every β. All are
measured after the last epoch, and β is chosen on the dev set. `settings.PAPER` is the paper's own protocol, as far as
it is known.

A tuned rule is the best of several trainings, but the paper's CSP is a single one. The control gives CSP as many
trainings, each on another random order of the sentences, and chooses the best one on the dev set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from swvp.cluster import task
from swvp.cluster.connect import Workers
from swvp.studies.common.rules import REST
from swvp.studies.common.running import (
    CONTROL,
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
from swvp.studies.common.sources import Source
from swvp.studies.parsing.runs import ParserOptions, Run, Trained, Training, train_once
from swvp.studies.parsing.settings import ParsingSettings, notation
from swvp.studies.parsing.treebanks import Data, read_data

__all__ = ["ParsingResults", "TreebankSizes", "run_parsing", "trainings"]


@dataclass(frozen=True)
class TreebankSizes:
    """The sizes of a treebank.

    `sentences` and `words` are by part: "whole" is the training set, "train" the same without a sampled dev set.
    `non_projective` and `several_roots` count trees of the training set. `lengths` are those of the test sentences.
    """

    name: str
    sampled: bool
    sentences: dict[str, int]
    words: dict[str, int]
    non_projective: int
    several_roots: int
    lengths: list[int]


@dataclass(frozen=True)
class ParsingResults:
    """The results of the parsing study.

    Attributes
    ----------
    settings : ParsingSettings
        What was run.
    treebanks : list of TreebankSizes
        The sizes of each treebank.
    runs : list of Run
        Every training, in the order of `trainings(settings)`.
    header : dict
        The settings as JSON, with the version of the program that ran the study.
    """

    settings: ParsingSettings
    treebanks: list[TreebankSizes]
    runs: list[Run]
    header: Header

    @property
    def sampled(self) -> bool:
        """Whether the dev set of a treebank is sampled from its training set."""
        return any(treebank.sampled for treebank in self.treebanks)

    @property
    def names(self) -> list[str]:
        """All rules, and the controls."""
        controls = [REST] * self.sampled + [CONTROL] * self.settings.control
        return [*self.settings.rules, *controls]

    def of(self, treebank: str, order: int) -> list[Trained]:
        """Return the runs on a treebank with a parser of this order; those with different seeds are together."""
        groups: dict[Training, list[Run]] = {}
        for run in self.runs:
            if (run.treebank, run.order) == (treebank, order):
                groups.setdefault(run.training._replace(seed=0), []).append(run)
        return [Trained(runs) for runs in groups.values()]

    def to_json(self) -> dict[str, Any]:
        """Return the content of results.json."""
        return results_json(self.header, "treebanks", self.treebanks, self.runs)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> ParsingResults:
        """Return the results that `to_json` wrote."""
        return cls(
            settings=ParsingSettings.from_json(fields["settings"]),
            treebanks=[TreebankSizes(**treebank) for treebank in fields["treebanks"]],
            runs=[Run.from_json(run) for run in fields["runs"]],
            header=dict(fields["settings"]),
        )


def trainings(settings: ParsingSettings) -> list[Training]:
    """Return every training of the study."""
    result = []
    for source in settings.treebanks:
        for order in settings.orders:
            for rule in settings.rules:
                betas = settings.betas if notation(rule).tuned else (None,)
                result += [Training(source.name, order, rule, beta) for beta in betas]
            if settings.samples(source):
                result.append(Training(source.name, order, REST))
            if settings.control:
                result += [Training(source.name, order, CONTROL, draw=draw) for draw in range(len(settings.betas))]
    seeds = range(settings.seed, settings.seed + settings.seeds)
    return [training._replace(seed=seed) for training in result for seed in seeds]


@documented("ParsingSettings", "ParsingResults")
def run_parsing(
    settings: ParsingSettings,
    folder: str | Path,
    *,
    jobs: int = 1,
    fresh: bool = False,
    progress: Progress = no_progress,
    workers: Workers | None = None,
) -> ParsingResults:
    """Run the parsing study, or resume it.

    PARAMETERS
    """
    check_jobs(jobs)
    sources = {source.name: source for source in settings.treebanks}
    read: Once[str, Data] = Once()

    def data(name: str) -> Data:
        return read.get(name, lambda: data_in(settings, sources[name]))

    def train(training: Training, stopped: Ask) -> Run | None:
        options = ParserOptions.of(settings, training.order)
        return train_once(options, data(training.treebank), training, stopped)

    treebanks = [sizes_of(name, data(name)) for name in sources]  # reads all before anything is trained
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
    return ParsingResults(settings, treebanks, runs, header)


def train_on_worker(settings: ParsingSettings, training: Training) -> Run | None:
    """Run one training as a task of a cluster; the worker keeps the treebank."""
    (source,) = (source for source in settings.treebanks if source.name == training.treebank)

    def read() -> Data:
        source.check()
        return data_in(settings, source)

    data = task.kept(("parsing", repr(settings), source.name), read)
    return train_once(ParserOptions.of(settings, training.order), data, training, task.Stop())


def data_in(settings: ParsingSettings, source: Source) -> Data:
    """Read a treebank of a study."""
    return read_data(
        source,
        sample_dev=settings.sample_dev,
        dev_sentences=settings.dev_sentences,
        sentences=settings.sentences,
        seed=settings.seed,
    )


def sizes_of(name: str, data: Data) -> TreebankSizes:
    """Return the sizes of a treebank."""
    parts = {part: getattr(data, part) for part in ("whole", "train", "dev", "test")}
    return TreebankSizes(
        name=name,
        sampled=data.sampled,
        sentences={part: treebank.number_of_sentences for part, treebank in parts.items()},
        words={part: treebank.tokens for part, treebank in parts.items()},
        non_projective=data.whole.nonprojective_trees(),
        several_roots=data.whole.several_roots,
        lengths=[int(length) for length in data.test.offsets[1:] - data.test.offsets[:-1]],
    )
