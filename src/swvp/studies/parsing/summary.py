"""Owns the numbers of the parsing study's tables, computed from its single runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swvp.evaluation.paired import Ints, Tested, compare_sets
from swvp.studies.parsing.runs import CONTROL, CSP, REST, is_swvp

__all__ = [
    "COLUMNS",
    "TESTED",
    "Line",
    "OrderSummary",
    "RuleLine",
    "dev_uas",
    "rate",
    "runs_of",
    "share",
    "shown",
    "summarise",
    "uas",
]

B_WM = ("b-wm:parts", "b-wm")
"""The paper's rule: the first of these that was run."""
NEAR = 0.001
COLUMNS = {
    "csp": "CSP",
    "b_wm": "B-WM",
    "top": "Top B-WM",
    "test": "Test B-WM",
    "best": "Best SWVP",
    "rival": "Best rival",
}
TESTED = {
    ("b_wm", "csp"): "B-WM against CSP",
    ("best", "csp"): "best SWVP against CSP",
    ("rival", "csp"): "best rival against CSP",
    ("best", "rival"): "best SWVP against the best rival",
}
"""What is tested; Top B-WM and Test B-WM are chosen on the test set, so a test on it would say nothing."""

Run = Mapping[str, Any]


@dataclass(frozen=True)
class Line:
    """A treebank's runs by column; None where no rule of the study can be in it."""

    treebank: str
    runs: dict[str, Run | None]
    compared: dict[tuple[str, str], Tested]

    def uas(self, column: str) -> float | None:
        run = self.runs[column]
        return None if run is None else uas(run)

    @property
    def best_is_the_rival(self) -> bool:
        """Whether the best SWVP rule and the best rival are one model, as far as can be seen: they get the same number
        of words right in each test sentence and in the development set."""
        best, rival = self.runs["best"], self.runs["rival"]
        if best is None or rival is None:
            return False
        return bool(best["right"] == rival["right"] and best["dev"] == rival["dev"])


@dataclass(frozen=True)
class RuleLine:
    """A rule with β tuned on each development set: its runs and their gains over CSP, a treebank each."""

    rule: str
    runs: list[Run]
    gains: list[float]
    treebanks: int

    @property
    def name(self) -> str:
        """The rule, and on how many treebanks it was run if not on all."""
        known = len(self.runs)
        return self.rule if known == self.treebanks else f"{self.rule} ({known} of {self.treebanks})"

    @property
    def mean(self) -> float:
        return float(np.mean([uas(run) for run in self.runs]))

    @property
    def gain(self) -> float:
        return float(np.mean(self.gains))

    @property
    def won(self) -> int:
        return sum(gain > 0 for gain in self.gains)

    @property
    def lost(self) -> int:
        return sum(gain < 0 for gain in self.gains)


@dataclass(frozen=True)
class OrderSummary:
    """Table 2 for one order of the parser; `means` are over all treebanks."""

    order: int
    lines: list[Line]
    means: dict[str, float | None]
    overall: dict[tuple[str, str], Tested]
    rules: list[RuleLine]

    def score(self, column: str, base: str = "csp") -> tuple[int, int] | None:
        """On how many treebanks a column is above and below another one."""
        pairs = [(line.uas(column), line.uas(base)) for line in self.lines]
        if any(a is None or b is None for a, b in pairs):
            return None
        return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)  # type: ignore[operator]


def summarise(results: Mapping[str, Any], *, samples: int = 10_000) -> list[OrderSummary]:
    """One summary for each order."""
    settings = results["settings"]
    lengths = {bank["name"]: np.array(bank["lengths"], np.int64) for bank in results["treebanks"]}
    sampled = any(bank["sampled"] for bank in results["treebanks"])
    names = [*settings["rules"], *([REST] if sampled else []), *([CONTROL] if settings["control"] else [])]
    summaries = []
    for order in settings["orders"]:
        chosen = {name: choose(runs_of(results, name, order)) for name in lengths}
        counts = {
            (name, column): counts_of(run, lengths[name])
            for name, columns in chosen.items()
            for column, run in columns.items()
            if run is not None
        }
        tests = {pair: compare(counts, list(lengths), *pair, samples=samples) for pair in TESTED}
        lines = [
            Line(name, columns, {pair: found[0][k] for pair, found in tests.items() if found is not None})
            for k, (name, columns) in enumerate(chosen.items())
        ]
        means = {column: mean([line.uas(column) for line in lines]) for column in COLUMNS}
        overall = {pair: found[1] for pair, found in tests.items() if found is not None}
        rules = [rule_line(results, order, rule, list(lengths)) for rule in names]
        summaries.append(OrderSummary(order, lines, means, overall, rules))
    return summaries


def choose(runs: Sequence[Run]) -> dict[str, Run | None]:
    """The run of each column of the table, of all runs with one treebank and order."""
    names = {run["rule"] for run in runs}
    paper = next((rule for rule in B_WM if rule in names), None)
    b_wm = [run for run in runs if run["rule"] == paper]
    best = best_of(b_wm, dev_uas)
    near = [run for run in b_wm if best is not None and dev_uas(best) - dev_uas(run) <= NEAR + 1e-12]
    tuned = [run for run in runs if run["dev"] is not None]
    return {
        "csp": next(run for run in runs if run["rule"] == CSP),
        "b_wm": best,
        "top": best_of(near, uas),
        "test": best_of(b_wm, uas),
        "best": best_of([run for run in tuned if is_swvp(run["rule"])], dev_uas),
        "rival": best_of([run for run in tuned if not is_swvp(run["rule"])], dev_uas),
    }


def best_of(runs: Iterable[Run], score: Callable[[Run], float]) -> Run | None:
    """The first of those with the highest score: the smallest β."""
    return max(runs, key=score, default=None)


def compare(
    counts: Mapping[tuple[str, str], Ints], names: Sequence[str], column: str, base: str, *, samples: int
) -> tuple[list[Tested], Tested] | None:
    """A test for each treebank, and one over all; None if there is nothing to compare."""
    if any((name, part) not in counts for name in names for part in (column, base)):
        return None
    return compare_sets([(counts[name, base], counts[name, column]) for name in names], samples=samples)


def rule_line(results: Mapping[str, Any], order: int, rule: str, names: Sequence[str]) -> RuleLine:
    """A rule, on the treebanks that it was trained on."""
    runs, gains = [], []
    for name in names:
        of_bank = runs_of(results, name, order)
        csp = next(run for run in of_bank if run["rule"] == CSP)
        own = [run for run in of_bank if run["rule"] == rule]
        if own:
            run = own[0] if len(own) == 1 else best_of(own, dev_uas)
            assert run is not None
            runs.append(run)
            gains.append(uas(run) - uas(csp))
    return RuleLine(rule, runs, gains, len(names))


def runs_of(results: Mapping[str, Any], treebank: str, order: int) -> list[Run]:
    """The runs on a treebank with a parser of this order."""
    return [run for run in results["runs"] if (run["treebank"], run["order"]) == (treebank, order)]


def counts_of(run: Run, lengths: Ints) -> Ints:
    """The right words and the words of each test sentence."""
    return np.stack([np.array(run["right"], np.int64), lengths], axis=1)


def uas(run: Run) -> float:
    """UAS on the test set, as a share."""
    return share(run["test"])


def dev_uas(run: Run) -> float:
    """UAS on the development set, as a share."""
    return share(run["dev"])


def share(counted: Sequence[int]) -> float:
    return counted[0] / max(counted[1], 1)


def rate(runs: Iterable[Run], count: str, of: str = "updates") -> float:
    """The share of the updates of all passes, or `of` something else, that `count` counts."""
    runs = list(runs)
    found, total = (sum(sum(run["history"][key]) for run in runs) for key in (count, of))
    return float(found / max(total, 1))


def mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def shown(run: Run) -> str:
    """A rule with the β it was run with: b-wm@0.5, a-wm@0.5/30."""
    if run["beta"] is None:
        return str(run["rule"])
    name, slash, margin = run["rule"].partition("/")
    return f"{name}@{run['beta']:g}{slash}{margin}"
