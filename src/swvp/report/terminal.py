"""Owns the tables of the synthetic study in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from swvp.experiments.summary import SIGNIFICANCE_TEST, RuleSummary, SetupSummary, Tuned
from swvp.experiments.synthetic import SETUPS

__all__ = ["print_tables"]


def print_tables(console: Console, summaries: Sequence[SetupSummary]) -> None:
    """One table per setup: ours with the last and with the averaged weights, beside the paper's."""
    for summary in summaries:
        console.print()
        console.print(setup_table(summary))
    console.print()
    console.print(
        "Accuracy in percent (standard deviation) over the test sets. wins: test sets on which the rule beats CSP; "
        "gen.: test sets on which the β tuned on the development set is the best or within 0.5 points of it; "
        "* p < 0.05, ** p < 0.01 by the " + SIGNIFICANCE_TEST + ".",
        highlight=False,
        style="dim",
    )


def setup_table(summary: SetupSummary) -> Table:
    title = (
        f"Setup {summary.setup}: {SETUPS[summary.setup].name}; "
        f"best possible (Bayes) {with_std(summary.ceiling, summary.ceiling_std)}"
    )
    table = Table(title=title, title_justify="left", title_style="bold", padding=(0, 0, 0, 1), pad_edge=False, box=None)
    table.add_column("rule", no_wrap=True)
    for heading in ("last w", "wins", "gen.", "averaged w", "wins", "back-off", "cond.2", "paper", "wins"):
        table.add_column(heading, justify="right", no_wrap=True)
    best_last = max(rule.last.mean for rule in summary.rules)
    best_averaged = max(rule.averaged.mean for rule in summary.rules)
    for rule in summary.rules:
        last, averaged = rule.last, rule.averaged
        table.add_row(
            rule.rule.replace("[", r"\["),
            bold(last.mean == best_last, with_std(last.mean, last.std)),
            wins(last),
            "" if last.generalised is None else str(last.generalised),
            bold(averaged.mean == best_averaged, with_std(averaged.mean, averaged.std)),
            wins(averaged),
            f"{100 * last.back_off_rate:.1f}%",
            f"{100 * last.condition_2_rate:.1f}%",
            *paper(rule),
        )
    return table


def with_std(mean: float, std: float) -> str:
    return f"{100 * mean:.2f} ({100 * std:.2f})"


def bold(yes: bool, text: str) -> str:
    return f"[bold]{text}[/bold]" if yes else text


def wins(tuned: Tuned) -> str:
    if tuned.wins is None:
        return ""
    stars = "" if tuned.p_value is None else "**" if tuned.p_value < 0.01 else "*" if tuned.p_value < 0.05 else ""
    return f"{tuned.wins}/{len(tuned.test)}{stars:2}"


def paper(rule: RuleSummary) -> tuple[str, str]:
    if rule.paper is None:
        return "", ""
    mean, std, won, _ = rule.paper
    return f"{mean:.2f} ({std:.2f})", "" if won is None else f"{won}/10"
