"""Owns the tables of the synthetic study in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from swvp.experiments.summary import SIGNIFICANCE_TEST, RuleSummary, SetupSummary, Tuned
from swvp.experiments.synthetic import CONTROL, SETUPS

__all__ = ["print_tables"]

FULL_WIDTH = 78


def print_tables(console: Console, summaries: Sequence[SetupSummary]) -> None:
    """One table per setup: ours with the last and with the averaged weights, beside the paper's."""
    for summary in summaries:
        console.print()
        console.print(setup_table(summary, console.width))
    datasets = summaries[0].datasets
    console.print()
    console.print(
        f"Accuracy in percent ± standard deviation over {datasets} test sets. wins: test sets on which the rule beats "
        f"CSP; gen.: those on which the β tuned on the development set is the best or within 0.5 points of it. "
        f"* p < 0.05, ** p < 0.01: {SIGNIFICANCE_TEST}.",
        highlight=False,
        style="dim",
    )
    if any(rule.rule == CONTROL for summary in summaries for rule in summary.rules):
        console.print(
            f"{CONTROL}: CSP with as many tries as a tuned rule has, the best of random orders of the examples.",
            highlight=False,
            style="dim",
        )


def setup_table(summary: SetupSummary, width: int) -> Table:
    title = (
        f"Setup {summary.setup}: {SETUPS[summary.setup].name}; "
        f"best possible (Bayes) {with_std(summary.ceiling, summary.ceiling_std)}"
    )
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    headings = [
        "rule",
        "last w",
        "wins",
        "gen.",
        "averaged w",
        "wins",
        "back-\noff %",
        "cond.\n2 %",
        "paper",
        "wins",
        "gen.",
    ]
    shown = len(headings) if width >= FULL_WIDTH else headings.index("paper")  # narrow: without the paper's numbers
    for heading in headings[:shown]:
        table.add_column(heading, justify="left" if heading == "rule" else "right", no_wrap=heading != "rule")
    best_last = max(rule.last.mean for rule in summary.rules)
    best_averaged = max(rule.averaged.mean for rule in summary.rules)
    for rule in summary.rules:
        last, averaged = rule.last, rule.averaged
        row = (
            Text(rule.rule, overflow="fold"),
            Text(with_std(last.mean, last.std), style="bold" if last.mean == best_last else ""),
            wins(last),
            number(last.generalised),
            Text(with_std(averaged.mean, averaged.std), style="bold" if averaged.mean == best_averaged else ""),
            wins(averaged),
            f"{100 * last.back_off_rate:.1f}",
            f"{100 * last.condition_2_rate:.1f}",
            *paper(rule),
        )
        table.add_row(*row[:shown])
    return table


def with_std(mean: float, std: float) -> str:
    return f"{100 * mean:.2f} ±{100 * std:.1f}"


def number(value: int | None) -> str:
    return "" if value is None else str(value)


def wins(tuned: Tuned) -> str:
    p = 1.0 if tuned.p_value is None else tuned.p_value
    stars = "**" if p < 0.01 else "*" if p < 0.05 else ""
    return "" if tuned.wins is None else f"{tuned.wins}{stars:2}"


def paper(rule: RuleSummary) -> tuple[str, str, str]:
    if rule.paper is None:
        return "", "", ""
    mean, std, won, generalised = rule.paper
    return with_std(mean / 100, std / 100), number(won), number(generalised)
