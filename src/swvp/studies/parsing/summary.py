"""The numbers of the parsing study's tables, computed from its runs, and Table 2 of the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swvp.evaluation.paired import Difference, Ints, compare_seeds
from swvp.studies.common.answer import Answer, answered
from swvp.studies.common.rules import REST, Chosen, choose_rules, is_swvp
from swvp.studies.common.running import CONTROL, CSP
from swvp.studies.common.tables import std
from swvp.studies.parsing.runs import Run, Trained
from swvp.studies.parsing.study import ParsingResults

__all__ = [
    "COLUMNS",
    "COMPARISONS",
    "ORDERS",
    "PAPER",
    "PAPER_AVERAGE",
    "PAPER_COLUMNS",
    "OrderSummary",
    "RuleSummary",
    "TreebankSummary",
    "choose",
    "csp_tries",
    "rate",
    "summarise_parsing",
]

B_WM = ("b-wm:parts", "b-wm")
"""The paper's rule: the first of these that was run."""
NEAR = 0.001
ORDERS = {1: "First", 2: "Second"}
COLUMNS = {
    "csp": "CSP",
    "b_wm": "B-WM",
    "top": "Top B-WM",
    "test": "Test B-WM",
    "best": "Best SWVP",
    "rival": "Best rival",
}
"""The columns of Table 2: `choose` chooses the run of each."""
COMPARISONS = {
    ("b_wm", "csp"): "B-WM against CSP",
    ("best", "csp"): "best SWVP against CSP",
    ("rival", "csp"): "best rival against CSP",
    ("best", "rival"): "best SWVP against the best rival",
}
"""The comparisons that are tested. Top B-WM and Test B-WM are chosen on the test set, so a test on it means nothing."""

PAPER_COLUMNS = ("CSP", "B-WM", "Top B-WM", "Test B-WM")

PAPER: dict[int, dict[str, tuple[float, float, float, float]]] = {
    1: {
        "English": (86.34, 86.40, 86.70, 86.70),
        "Chinese": (84.60, 84.50, 85.04, 85.05),
        "Arabic": (79.09, 79.17, 79.21, 79.21),
        "Greek": (80.41, 80.20, 80.28, 80.28),
        "Italian": (84.63, 84.64, 84.74, 84.70),
        "Turkish": (83.05, 82.89, 82.89, 82.89),
        "Basque": (79.47, 79.54, 79.54, 79.54),
        "Catalan": (88.51, 88.46, 88.50, 88.50),
        "Hungarian": (80.17, 80.07, 80.07, 80.21),
    },
    2: {
        "English": (88.02, 87.82, 87.82, 87.92),
        "Chinese": (86.82, 86.69, 86.83, 87.02),
        "Arabic": (76.07, 75.94, 76.09, 76.09),
        "Greek": (80.31, 80.40, 80.40, 80.61),
        "Italian": (84.03, 84.08, 84.15, 84.28),
        "Turkish": (83.02, 83.04, 83.04, 83.31),
        "Basque": (80.52, 80.57, 80.63, 80.64),
        "Catalan": (88.71, 88.81, 88.81, 88.82),
        "Hungarian": (80.61, 80.45, 80.45, 80.55),
    },
}
PAPER_AVERAGE = {1: (83.69, 83.65, 83.77, 83.79), 2: (83.12, 83.08, 83.13, 83.35)}
"""The line “Average” as printed; some of its numbers are not the mean of the lines above."""


@dataclass(frozen=True)
class TreebankSummary:
    """A treebank: the run of each column, None where the study has no rule for it, and the tested comparisons."""

    treebank: str
    runs: dict[str, Trained | None]
    compared: dict[tuple[str, str], Difference]

    def uas(self, column: str) -> float | None:
        """Return the test UAS in a column, as a share."""
        run = self.runs[column]
        return None if run is None else run.uas

    @property
    def best_is_rival(self) -> bool:
        """Whether the best SWVP rule and the best rival appear to be the same model.

        They are if they have the same number of correct words in each test sentence and in the dev set.
        """
        best, rival = self.runs["best"], self.runs["rival"]
        return (
            best is not None
            and rival is not None
            and best.right == rival.right
            and [run.dev for run in best.runs] == [run.dev for run in rival.runs]
        )


@dataclass(frozen=True)
class RuleSummary:
    """A rule with β tuned on each dev set: its run and its gain over CSP on each treebank it was trained on.

    Gains are differences of test UAS, as shares. `treebanks` is the number of all treebanks of the study.
    """

    rule: str
    runs: list[Trained]
    gains: list[float]
    treebanks: int

    @property
    def name(self) -> str:
        """The rule, and the number of its treebanks if these are not all."""
        return self.rule if len(self.runs) == self.treebanks else f"{self.rule} ({len(self.runs)} of {self.treebanks})"

    @property
    def is_control(self) -> bool:
        """Whether this is CSP on other orders or other sentences."""
        return self.rule in (CONTROL, REST)

    def mean(self, value: Callable[[Run], float]) -> float:
        """Return the mean of a value over the treebanks and seeds."""
        return float(np.mean([run.mean(value) for run in self.runs]))

    @property
    def uas(self) -> float:
        """The mean test UAS, as a share."""
        return self.mean(lambda run: run.uas)

    @property
    def std(self) -> float:
        """The standard deviation over the seeds of the mean test UAS over the treebanks; 0 for a single seed."""
        scores = np.mean([[one.uas for one in run.runs] for run in self.runs], axis=0)
        return std(scores.tolist())

    @property
    def seeds(self) -> int:
        """The number of seeds."""
        return len(self.runs[0].runs)

    @property
    def gain(self) -> float:
        """The mean gain over CSP."""
        return float(np.mean(self.gains))

    @property
    def won(self) -> int:
        """The number of treebanks with a higher UAS than CSP."""
        return sum(gain > 0 for gain in self.gains)

    @property
    def lost(self) -> int:
        """The number of treebanks with a lower UAS than CSP."""
        return sum(gain < 0 for gain in self.gains)

    @property
    def train_seconds(self) -> float:
        """CPU seconds of a training, median over the treebanks and seeds."""
        return float(np.median([one.timing.train for run in self.runs for one in run.runs]))

    @property
    def words_per_second(self) -> float:
        """Words parsed per CPU second, over all treebanks."""
        runs = [one for run in self.runs for one in run.runs]
        return sum(run.test.words for run in runs) / max(sum(run.timing.parse for run in runs), 1e-9)


@dataclass(frozen=True)
class OrderSummary:
    """Table 2 for one order of the parser; `means` and `overall` are over all treebanks."""

    order: int
    treebanks: list[TreebankSummary]
    means: dict[str, float | None]
    overall: dict[tuple[str, str], Difference]
    rules: list[RuleSummary]
    answer: Answer | None

    def score(self, column: str, base: str = "csp") -> tuple[int, int] | None:
        """Return on how many treebanks a column is above and below another one."""
        pairs = [(treebank.uas(column), treebank.uas(base)) for treebank in self.treebanks]
        if any(a is None or b is None for a, b in pairs):
            return None
        return sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)  # type: ignore[operator]

    def rule(self, name: str) -> RuleSummary | None:
        """Return the summary of a rule; None if the study does not have it."""
        return next((rule for rule in self.rules if rule.rule == name), None)


def summarise_parsing(results: ParsingResults, *, samples: int = 10_000) -> list[OrderSummary]:
    """Compute Table 2, with significance tests.

    Parameters
    ----------
    results : ParsingResults
        From `run_parsing`.
    samples : int
        Samples of the bootstrap intervals and permutation tests.

    Returns
    -------
    list of OrderSummary
        One per order of the parser.
    """
    lengths = {treebank.name: treebank.lengths for treebank in results.treebanks}
    summaries = []
    for order in results.settings.orders:
        chosen = {name: choose(results.of(name, order)) for name in lengths}
        counts = {
            (name, column): counts_of(run, lengths[name])
            for name, columns in chosen.items()
            for column, run in columns.items()
            if run is not None
        }
        tests = {pair: compare(counts, list(lengths), *pair, samples=samples) for pair in COMPARISONS}
        treebanks = [
            TreebankSummary(name, columns, {pair: test[0][k] for pair, test in tests.items() if test is not None})
            for k, (name, columns) in enumerate(chosen.items())
        ]
        means = {column: mean([treebank.uas(column) for treebank in treebanks]) for column in COLUMNS}
        overall = {pair: test[1] for pair, test in tests.items() if test is not None}
        rules = [summarise_rule(results, order, rule) for rule in results.names]
        answer = answer_of(results, order, samples=samples)
        summaries.append(OrderSummary(order, treebanks, means, overall, rules, answer))
    return summaries


def answer_of(results: ParsingResults, order: int, *, samples: int) -> Answer | None:
    """Return whether sub-structures pay with parsers of this order; None if the rules do not allow an answer."""
    named, counts = [], {}
    for treebank in results.treebanks:
        runs = results.of(treebank.name, order)
        best: dict[str, Trained] = {}
        for run in (run for run in runs if run.is_scored):
            if run.rule not in best or run.dev_uas > best[run.rule].dev_uas:
                best[run.rule] = run
        found = choose_rules({rule: run.dev_uas for rule, run in best.items()})
        if found is not None:
            trained = [best[rule] for rule in found]
            named.append((treebank.name, Chosen(*(run.name for run in trained))))
            counts[treebank.name] = {run.name: counts_of(run, treebank.lengths) for run in (*trained, csp_of(runs))}
    group = f"{ORDERS[order]} order" if len(results.settings.orders) > 1 else ""
    return answered(group, named, counts, csp=CSP, samples=samples)


def counts_of(run: Trained, lengths: Sequence[int]) -> Ints:
    """Return (right, total) of each seed and test sentence."""
    return np.array([np.stack([right, lengths], axis=1) for right in run.right], np.int64)


def choose(runs: Sequence[Trained]) -> dict[str, Trained | None]:
    """Return the run of each column of Table 2, from all runs on one treebank with one order."""
    names = {run.rule for run in runs}
    paper = next((rule for rule in B_WM if rule in names), None)
    b_wm = [run for run in runs if run.rule == paper]
    best = best_of(b_wm, dev_uas)
    near = [run for run in b_wm if best is not None and best.dev_uas - run.dev_uas <= NEAR + 1e-12]
    tuned = [run for run in runs if run.is_scored]
    return {
        "csp": csp_of(runs),
        "b_wm": best,
        "top": best_of(near, uas),
        "test": best_of(b_wm, uas),
        "best": best_of([run for run in tuned if is_swvp(run.rule)], dev_uas),
        "rival": best_of([run for run in tuned if not is_swvp(run.rule)], dev_uas),
    }


def uas(run: Trained) -> float:
    return run.uas


def dev_uas(run: Trained) -> float:
    return run.dev_uas


def csp_of(runs: Sequence[Trained]) -> Trained:
    return next(run for run in runs if run.rule == CSP)


def best_of(runs: Iterable[Trained], score: Callable[[Trained], float]) -> Trained | None:
    """Return the run with the highest score; of equal ones the first, with the smallest β."""
    return max(runs, key=score, default=None)


def compare(
    counts: Mapping[tuple[str, str], Ints], names: Sequence[str], column: str, base: str, *, samples: int
) -> tuple[list[Difference], Difference] | None:
    """Return a test for each treebank, and one for their mean; None if a column is empty."""
    if any((name, part) not in counts for name in names for part in (column, base)):
        return None
    return compare_seeds([(counts[name, base], counts[name, column]) for name in names], samples=samples)


def summarise_rule(results: ParsingResults, order: int, rule: str) -> RuleSummary:
    """Return the summary of a rule over the treebanks it was trained on."""
    runs, gains = [], []
    for treebank in results.treebanks:
        all_runs = results.of(treebank.name, order)
        candidates = [run for run in all_runs if run.rule == rule]
        if candidates:
            run = candidates[0] if len(candidates) == 1 else max(candidates, key=dev_uas)
            runs.append(run)
            gains.append(run.uas - csp_of(all_runs).uas)
    return RuleSummary(rule, runs, gains, len(results.treebanks))


def csp_tries(results: ParsingResults, treebank: str, order: int) -> list[float]:
    """Return the test UAS of CSP on all orders of the same training sentences that were tried, seeds included."""
    runs = results.of(treebank, order)
    same_sentences = REST if any(run.rule == REST for run in runs) else CSP
    return [one.uas for run in runs if run.rule in (same_sentences, CONTROL) for one in run.runs]


def rate(runs: Iterable[Trained], count: str, of: str = "updates") -> float:
    """Return a count as a share of another one, over all epochs of the runs."""
    runs = list(runs)
    return float(sum(run.total(count) for run in runs) / max(sum(run.total(of) for run in runs), 1))


def mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
