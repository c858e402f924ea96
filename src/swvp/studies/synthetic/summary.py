"""Owns the numbers of Table 1, computed from the single runs of the synthetic study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from swvp.studies.synthetic.study import CONTROL

__all__ = [
    "PAPER",
    "SIGNIFICANCE_TEST",
    "WEIGHTS",
    "RuleSummary",
    "SetupSummary",
    "Tuned",
    "chosen_runs",
    "final",
    "runs_of",
    "summarise",
]

WEIGHTS = ("last", "averaged")
SIGNIFICANCE_TEST = "Wilcoxon signed-rank test over the datasets, two-sided, against CSP with the same weights"
CLOSE = 0.005

PAPER = {
    1: {
        "b-wm": (75.47, 3.05, 9, 10),
        "b-wmr": (75.96, 2.42, 8, 10),
        "a-wm": (74.18, 2.16, 7, 10),
        "a-wmr": (75.17, 3.07, 7, 10),
        "csp": (72.24, 3.45, None, None),
    },
    2: {
        "b-wm": (63.18, 1.32, 9, 10),
        "b-wmr": (63.02, 2.49, 9, 10),
        "a-wm": (61.65, 2.30, 9, 10),
        "a-wmr": (61.02, 1.93, 8, 10),
        "csp": (57.89, 2.85, None, None),
    },
    3: {
        "b-wm": (28.48, 1.9, 5, 10),
        "b-wmr": (24.31, 5.2, 4, 10),
        "a-wm": (30.45, 1.0, 6, 10),
        "a-wmr": (25.8, 3.18, 2, 10),
        "csp": (25.27, 8.55, None, None),
    },
}
"""Table 1 of the paper: accuracy, standard deviation, wins over CSP of 10, generalisation of 10."""


@dataclass(frozen=True)
class Tuned:
    """A rule with β tuned on the development sets, for one kind of weights; one entry per dataset.

    Accuracies are shares, not percent. `wins`, `dev_only_wins` and `generalised` count datasets: those where the
    rule is better than CSP on the test set; better on the development set but not on the test set; and those
    where the tuned β is the best on the test set or at most half a point below it.
    """

    beta: list[float | None]
    test: list[float]
    mean: float
    std: float
    wins: int | None
    dev_only_wins: int | None
    generalised: int | None
    p_value: float | None
    back_off_rate: float
    condition_2_rate: float


@dataclass(frozen=True)
class RuleSummary:
    rule: str
    last: Tuned
    averaged: Tuned
    paper: tuple[float, float, int | None, int | None] | None


@dataclass(frozen=True)
class SetupSummary:
    setup: int
    datasets: int
    ceiling: float
    ceiling_std: float
    rules: list[RuleSummary]


def summarise(results: dict[str, Any]) -> list[SetupSummary]:
    """Table 1, one summary per setup."""
    settings = results["settings"]
    summaries = []
    for setup in settings["setups"]:
        ceilings = [data["ceiling"] for data in results["datasets"] if data["setup"] == setup]
        tuned: dict[tuple[str, str], Tuned] = {}
        names = [*settings["rules"], *([CONTROL] if settings["control"] else [])]
        for rule in names:
            for kind in WEIGHTS:
                tuned[rule, kind] = tune(results, setup, rule, kind, tuned.get(("csp", kind)))
        rules = [
            RuleSummary(rule, tuned[rule, "last"], tuned[rule, "averaged"], PAPER[setup].get(rule)) for rule in names
        ]
        summaries.append(SetupSummary(setup, len(ceilings), float(np.mean(ceilings)), std(ceilings), rules))
    return summaries


def runs_of(results: Mapping[str, Any], setup: int, rule: str) -> list[dict[str, Any]]:
    """The runs of a rule in a setup."""
    return [run for run in results["runs"] if (run["setup"], run["rule"]) == (setup, rule)]


def chosen_runs(results: Mapping[str, Any], setup: int, rule: str, kind: str) -> list[dict[str, Any]]:
    """The run of each dataset that is the best on its development set, the first of equals: the smallest β."""
    best: dict[int, dict[str, Any]] = {}
    for run in runs_of(results, setup, rule):
        rival = best.get(run["dataset"])
        if rival is None or final(run, kind, "dev") > final(rival, kind, "dev"):
            best[run["dataset"]] = run
    return [best[dataset] for dataset in sorted(best)]


def tune(results: Mapping[str, Any], setup: int, rule: str, kind: str, csp: Tuned | None) -> Tuned:
    """Choose β on each development set, and look at the test set with it."""
    chosen = chosen_runs(results, setup, rule, kind)
    dev, test = ([final(run, kind, part) for run in chosen] for part in ("dev", "test"))
    counts = {
        name: sum(sum(run["history"][name]) for run in chosen)
        for name in ("updates", "back_offs", "condition_2_failures")
    }
    compared: dict[str, Any] = dict.fromkeys(("wins", "dev_only_wins", "generalised", "p_value"))
    if csp is not None:
        csp_dev = [final(run, kind, "dev") for run in chosen_runs(results, setup, "csp", kind)]
        best_test = [0.0] * len(test)
        for run in runs_of(results, setup, rule):
            best_test[run["dataset"]] = max(best_test[run["dataset"]], final(run, kind, "test"))
        better = [a > b for a, b in zip(test, csp.test, strict=True)]
        compared = {
            "wins": sum(better),
            "dev_only_wins": sum(d > c and not b for d, c, b in zip(dev, csp_dev, better, strict=True)),
            "generalised": sum(best - t <= CLOSE + 1e-12 for t, best in zip(test, best_test, strict=True)),
            "p_value": p_value(test, csp.test),
        }
    return Tuned(
        beta=[run["beta"] for run in chosen],
        test=test,
        mean=float(np.mean(test)),
        std=std(test),
        back_off_rate=counts["back_offs"] / max(counts["updates"], 1),
        condition_2_rate=counts["condition_2_failures"] / max(counts["updates"], 1),
        **compared,
    )


def final(run: dict[str, Any], kind: str, part: str) -> float:
    """The accuracy after the last pass."""
    return float(run["accuracy"][f"{kind}_{part}"][-1])


def std(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def p_value(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Of `SIGNIFICANCE_TEST`; None for a single dataset."""
    if len(a) < 2:
        return None
    differences = np.round(np.subtract(a, b), 12)  # equal differences must be equal: they are shares of whole numbers
    return float(wilcoxon(differences).pvalue) if differences.any() else 1.0
