"""The numbers of the tagging study's tables, computed from its runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from swvp.evaluation.paired import Difference, Ints
from swvp.studies.common.answer import Answer, answered, compare_family
from swvp.studies.common.rules import Chosen, choose_rules
from swvp.studies.common.running import CSP
from swvp.studies.common.tables import std
from swvp.studies.tagging.runs import Run
from swvp.studies.tagging.study import DatasetSizes, TaggingResults

__all__ = ["RuleSummary", "TaggingSummary", "counts_of", "mean_dev", "mean_test", "summarise_tagging"]


@dataclass(frozen=True)
class RuleSummary:
    """A rule on a dataset with β chosen on the dev set: its runs, one for each seed, and the test against CSP.

    `tested` is None for CSP. Its corrected p is that of all rules and datasets together.
    """

    rule: str
    runs: list[Run]
    tested: Difference | None

    @property
    def name(self) -> str:
        """The rule with its β."""
        return self.runs[0].name

    @property
    def test(self) -> float:
        """The mean test score over the seeds, as a share."""
        return mean_test(self.runs)

    @property
    def std(self) -> float:
        """The standard deviation of the test score over the seeds; 0 for a single one."""
        return std([run.score for run in self.runs])

    @property
    def dev(self) -> float:
        """The mean dev score of the chosen epochs, as a share."""
        return mean_dev(self.runs)

    def mean(self, value: Callable[[Run], float]) -> float:
        """Return the mean of a value over the seeds."""
        return float(np.mean([value(run) for run in self.runs]))

    def rate(self, count: str) -> float:
        """Return a count as a share of the updates, over all epochs and seeds."""
        counted, updates = (sum(run.total_of(name) for run in self.runs) for name in (count, "updates"))
        return float(counted / max(updates, 1))


@dataclass(frozen=True)
class MeanRule:
    """A rule over all datasets: the mean gain over CSP, tested; None for CSP."""

    rule: str
    test: float
    tested: Difference | None


@dataclass(frozen=True)
class TaggingSummary:
    """The summary of the tagging study.

    Attributes
    ----------
    datasets : list of DatasetSizes
        The datasets, with their metrics.
    rules : dict
        The summary of each rule, in the order of the settings, by the name of the dataset.
    means : list of MeanRule
        Each rule over all datasets.
    answers : list of Answer
        Whether sub-structures pay: one answer, or none if the rules do not allow it.
    """

    datasets: list[DatasetSizes]
    rules: dict[str, list[RuleSummary]]
    means: list[MeanRule]
    answers: list[Answer]

    @property
    def measure(self) -> str:
        """What is measured: phrase F1, accuracy, or both on different datasets."""
        metrics = list(dict.fromkeys(dataset.metric for dataset in self.datasets))
        return f"test {metrics[0]}" if len(metrics) == 1 else "test score"


def mean_test(runs: Sequence[Run]) -> float:
    """Return the mean test score."""
    return float(np.mean([run.score for run in runs]))


def mean_dev(runs: Sequence[Run]) -> float:
    """Return the mean dev score of the chosen epochs."""
    return float(np.mean([run.dev_score for run in runs]))


def counts_of(runs: Sequence[Run]) -> Ints:
    """Return (right, total) of each run and test sentence."""
    return np.array([np.stack([run.right, run.total], axis=1) for run in runs], np.int64)


def summarise_tagging(results: TaggingResults, *, samples: int = 10_000) -> TaggingSummary:
    """Choose β for each rule and dataset, and test the differences.

    Parameters
    ----------
    results : TaggingResults
        From `run_tagging`.
    samples : int
        Samples of the bootstrap intervals and tests.

    Returns
    -------
    TaggingSummary
    """
    chosen = {
        data.name: {rule: choose(results, data.name, rule) for rule in results.settings.rules}
        for data in results.datasets
    }
    counts = {name: {rule: counts_of(runs) for rule, runs in rules.items()} for name, rules in chosen.items()}
    others = [rule for rule in results.settings.rules if rule != CSP]
    tests = compare_family(
        {rule: [(counts[name][CSP], counts[name][rule]) for name in chosen] for rule in others}, samples=samples
    )
    rules = {
        name: [RuleSummary(rule, runs, tests[rule][0][k] if rule in tests else None) for rule, runs in of_rules.items()]
        for k, (name, of_rules) in enumerate(chosen.items())
    }
    means = [
        MeanRule(
            rule,
            float(np.mean([mean_test(chosen[name][rule]) for name in chosen])),
            tests[rule][1] if rule in tests else None,
        )
        for rule in results.settings.rules
    ]
    return TaggingSummary(results.datasets, rules, means, answers_of(chosen, samples))


def choose(results: TaggingResults, dataset: str, rule: str) -> list[Run]:
    """Return the runs with the β of the best mean dev score; of equal ones the smallest."""
    return max(results.of(dataset, rule).values(), key=mean_dev)


def answers_of(chosen: dict[str, dict[str, list[Run]]], samples: int) -> list[Answer]:
    """Return the answer of the study, if its rules allow one."""
    named, counts = [], {}
    for name, rules in chosen.items():
        found = choose_rules({rule: mean_dev(runs) for rule, runs in rules.items()})
        if found is not None:
            named.append((name, Chosen(*(rules[rule][0].name for rule in found))))
            counts[name] = {rules[rule][0].name: counts_of(rules[rule]) for rule in (*found, CSP)}
    answer = answered("", named, counts, csp=CSP, samples=samples)
    return [] if answer is None else [answer]
