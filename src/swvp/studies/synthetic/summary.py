"""The numbers of Table 1, computed from the runs of the synthetic study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import wilcoxon

from swvp.evaluation.paired import Difference, Floats, holm, interval_of
from swvp.studies.common.answer import Answer, Contrast
from swvp.studies.common.rules import choose_rules
from swvp.studies.common.running import CSP
from swvp.studies.common.tables import std
from swvp.studies.synthetic.runs import WEIGHTS, Run
from swvp.studies.synthetic.study import SyntheticResults

__all__ = [
    "PAPER",
    "SIGNIFICANCE_TEST",
    "GainsOfChoosing",
    "PaperScores",
    "RuleSummary",
    "SetupSummary",
    "Tuned",
    "answers_of",
    "gains_of_choosing",
    "summarise_synthetic",
]

SIGNIFICANCE_TEST = "Wilcoxon signed-rank test over the datasets, two-sided, against CSP with the same weights"
CLOSE = 0.005
SAMPLES = 10_000


class PaperScores(NamedTuple):
    """A line of Table 1: accuracy and standard deviation in percent, wins over CSP and generalisation of 10."""

    mean: float
    std: float
    wins: int | None
    generalised: int | None


PAPER: dict[int, dict[str, PaperScores]] = {
    1: {
        "b-wm": PaperScores(75.47, 3.05, 9, 10),
        "b-wmr": PaperScores(75.96, 2.42, 8, 10),
        "a-wm": PaperScores(74.18, 2.16, 7, 10),
        "a-wmr": PaperScores(75.17, 3.07, 7, 10),
        "csp": PaperScores(72.24, 3.45, None, None),
    },
    2: {
        "b-wm": PaperScores(63.18, 1.32, 9, 10),
        "b-wmr": PaperScores(63.02, 2.49, 9, 10),
        "a-wm": PaperScores(61.65, 2.30, 9, 10),
        "a-wmr": PaperScores(61.02, 1.93, 8, 10),
        "csp": PaperScores(57.89, 2.85, None, None),
    },
    3: {
        "b-wm": PaperScores(28.48, 1.9, 5, 10),
        "b-wmr": PaperScores(24.31, 5.2, 4, 10),
        "a-wm": PaperScores(30.45, 1.0, 6, 10),
        "a-wmr": PaperScores(25.8, 3.18, 2, 10),
        "csp": PaperScores(25.27, 8.55, None, None),
    },
}
"""Table 1 of the paper, by setup and rule."""


class GainsOfChoosing(NamedTuple):
    """What choosing a training gains over the mean of all, as shares of test accuracy.

    `own`: chosen on each dataset's own dev set. `others`: chosen on the dev sets of all other datasets, where only a β
    that is good for all of them gains something. The difference is the best of many draws of noise.
    """

    own: float
    others: float


@dataclass(frozen=True)
class Tuned:
    """A rule with β tuned on the dev sets, with the last or the averaged weights.

    Attributes
    ----------
    beta : list of float or None
        The tuned β of each dataset.
    dev : float
        The mean dev accuracy of the chosen runs, as a share.
    test : list of float
        The test accuracy of each dataset, as a share; `mean` and `std` are over the datasets.
    untuned : float or None
        The mean test accuracy over all β and datasets. None if there is only one training per dataset.
    choosing : GainsOfChoosing or None
        What choosing β gains over `untuned`. None for a single dataset too.
    wins : int or None
        On how many datasets the test accuracy is higher than CSP's. None for CSP itself.
    dev_only_wins : int or None
        On how many datasets the dev accuracy is higher than CSP's but the test accuracy is not.
    generalised : int or None
        On how many datasets the tuned β is the best on the test set, or at most half a point below the best.
    p_value : float or None
        Of `SIGNIFICANCE_TEST`. None for CSP and for a single dataset.
    back_off_rate, condition_2_rate : float
        Share of the updates that backed off to CSP, and that failed γ condition (2).
    """

    beta: list[float | None]
    dev: float
    test: list[float]
    mean: float
    std: float
    untuned: float | None
    choosing: GainsOfChoosing | None
    wins: int | None
    dev_only_wins: int | None
    generalised: int | None
    p_value: float | None
    back_off_rate: float
    condition_2_rate: float


@dataclass(frozen=True)
class RuleSummary:
    """A rule in a setup, with the last and with the averaged weights, and the paper's numbers if it has any."""

    rule: str
    last: Tuned
    averaged: Tuned
    paper: PaperScores | None

    def tuned(self, weights: str) -> Tuned:
        """Return the numbers with "last" or "averaged" weights."""
        return self.last if weights == "last" else self.averaged


@dataclass(frozen=True)
class SetupSummary:
    """A setup: its rules, CSP first and the control last, and the Bayes ceiling as mean and std over the datasets."""

    setup: int
    datasets: int
    ceiling: float
    ceiling_std: float
    rules: list[RuleSummary]


def summarise_synthetic(results: SyntheticResults) -> list[SetupSummary]:
    """Compute Table 1.

    Parameters
    ----------
    results : SyntheticResults
        From `run_synthetic`.

    Returns
    -------
    list of SetupSummary
        One per setup.

    Examples
    --------
    >>> import tempfile
    >>> from swvp.studies import SyntheticSettings, run_synthetic
    >>> settings = SyntheticSettings(setups=(1,), datasets=1, sizes=(50, 20, 20), epochs=2, rules=("csp",))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     (setup,) = summarise_synthetic(run_synthetic(settings, folder))
    >>> setup.ceiling > setup.rules[0].last.mean
    True
    """
    settings = results.settings
    summaries = []
    for setup in settings.setups:
        ceilings = [data.ceiling for data in results.datasets if data.setup == setup]
        rules = []
        for rule in settings.names:
            last, averaged = (tune(results, setup, rule, weights) for weights in WEIGHTS)
            rules.append(RuleSummary(rule, last, averaged, PAPER[setup].get(rule)))
        summaries.append(SetupSummary(setup, len(ceilings), float(np.mean(ceilings)), std(ceilings), rules))
    return summaries


def answers_of(summaries: Sequence[SetupSummary]) -> list[Answer]:
    """Return whether sub-structures pay, with averaged and with last weights; none if the rules do not allow it.

    The rules are those with the best mean dev accuracy in each setup. p is that of a Wilcoxon signed-rank test over the
    datasets, the interval that of a bootstrap over them.
    """
    answers = []
    for weights in ("averaged", "last"):
        named, pays, alone = [], [], []
        for summary in summaries:
            tuned = {rule.rule: rule.tuned(weights) for rule in summary.rules}
            found = choose_rules({rule: each.dev for rule, each in tuned.items()})
            if found is None:
                continue
            best, rival, plain, csp = (np.array(tuned[rule].test) for rule in (*found, CSP))
            named.append((f"Setup {summary.setup}", found))
            pays.append(best - rival)
            alone.append(plain - csp)
        if named:
            (tests, mean), (alone_tests, alone_mean) = compare_datasets(pays), compare_datasets(alone)
            contrasts = [
                Contrast(name, *found, *both) for (name, found), *both in zip(named, tests, alone_tests, strict=True)
            ]
            answers.append(Answer(f"{weights.capitalize()} weights", contrasts, mean, alone_mean))
    return answers


def compare_datasets(gains: Sequence[Floats]) -> tuple[list[Difference], Difference]:
    """Test the gains on the datasets of each setup, corrected by Holm's method, and their mean over the setups."""
    rng = np.random.default_rng(0)
    drawn = [rng.choice(each, size=(SAMPLES, len(each))).mean(axis=1) for each in gains]
    p_values = [p_value(each, np.zeros(len(each))) or 1.0 for each in gains]
    tests = [
        Difference(float(each.mean()), interval_of(means), p, corrected)
        for each, means, p, corrected in zip(gains, drawn, p_values, holm(p_values), strict=True)
    ]
    pooled = np.concatenate(gains)
    p = p_value(pooled, np.zeros(len(pooled))) or 1.0
    mean = float(np.mean([each.mean() for each in gains]))
    return tests, Difference(mean, interval_of(np.mean(drawn, axis=0)), p, p)


def tune(results: SyntheticResults, setup: int, rule: str, weights: str) -> Tuned:
    """Choose β on each dev set, and compute the numbers of the chosen runs."""
    runs, chosen = results.of(setup, rule), results.chosen(setup, rule, weights)
    csp = None if rule == "csp" else results.chosen(setup, "csp", weights)
    test = [run.final(weights, "test") for run in chosen]
    has_choice = len(runs) > len(chosen)
    updates = max(sum(run.total("updates") for run in chosen), 1)
    return Tuned(
        beta=[run.beta for run in chosen],
        dev=float(np.mean([run.final(weights, "dev") for run in chosen])),
        test=test,
        mean=float(np.mean(test)),
        std=std(test),
        untuned=float(np.mean([run.final(weights, "test") for run in runs])) if has_choice else None,
        choosing=gains_of_choosing(results, setup, rule, weights),
        wins=None if csp is None else sum(is_better(chosen, csp, weights, "test")),
        dev_only_wins=None if csp is None else dev_only_wins(chosen, csp, weights),
        generalised=None if csp is None or not has_choice else generalised(runs, chosen, weights),
        p_value=None if csp is None else p_value(test, [run.final(weights, "test") for run in csp]),
        back_off_rate=sum(run.total("back_offs") for run in chosen) / updates,
        condition_2_rate=sum(run.total("condition_2_failures") for run in chosen) / updates,
    )


def is_better(runs: Sequence[Run], csp: Sequence[Run], weights: str, part: str) -> list[bool]:
    """Return for each dataset whether a run has a higher accuracy than CSP."""
    return [run.final(weights, part) > base.final(weights, part) for run, base in zip(runs, csp, strict=True)]


def dev_only_wins(runs: Sequence[Run], csp: Sequence[Run], weights: str) -> int:
    dev, test = (is_better(runs, csp, weights, part) for part in ("dev", "test"))
    return sum(d and not t for d, t in zip(dev, test, strict=True))


def generalised(runs: Sequence[Run], chosen: Sequence[Run], weights: str) -> int:
    best: dict[int, float] = {}
    for run in runs:
        best[run.dataset] = max(best.get(run.dataset, 0.0), run.final(weights, "test"))
    return sum(best[run.dataset] - run.final(weights, "test") <= CLOSE + 1e-12 for run in chosen)


def gains_of_choosing(
    results: SyntheticResults, setup: int, rule: str, weights: str = "last"
) -> GainsOfChoosing | None:
    """Return what choosing a training gains; None with a single training or a single dataset."""
    runs = results.of(setup, rule)
    tries = sorted({(run.beta, run.order) for run in runs}, key=str)
    datasets = sorted({run.dataset for run in runs})
    if len(tries) < 2 or len(datasets) < 2:
        return None
    dev, test = np.zeros((2, len(datasets), len(tries)))
    for run in runs:
        at = datasets.index(run.dataset), tries.index((run.beta, run.order))
        dev[at], test[at] = run.final(weights, "dev"), run.final(weights, "test")
    rows = np.arange(len(datasets))
    dev_of_others = dev.sum(axis=0) - dev
    own, others = (test[rows, scores.argmax(axis=1)].mean() - test.mean() for scores in (dev, dev_of_others))
    return GainsOfChoosing(float(own), float(others))


def p_value(a: Sequence[float] | Floats, b: Sequence[float] | Floats) -> float | None:
    """Return p of `SIGNIFICANCE_TEST`; None for a single dataset."""
    if len(a) < 2:
        return None
    differences = np.round(np.subtract(a, b), 12)  # equal differences must compare equal: they are ratios of integers
    return float(wilcoxon(differences).pvalue) if differences.any() else 1.0
