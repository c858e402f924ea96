"""Owns the tables of the synthetic study in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from swvp.studies.synthetic.study import CONTROL, SETUPS
from swvp.studies.synthetic.summary import SIGNIFICANCE_TEST, SetupSummary, Tuned

__all__ = ["print_tables"]

COLUMNS = (
    "rule",
    "last w",
    "wins",
    "gen.",
    "averaged w",
    "wins*",
    "back-\noff %",
    "cond.\n2 %",
    "paper",
    "paper wins",
    "paper gen.",
)


def print_tables(console: Console, summaries: Sequence[SetupSummary]) -> None:
    """One table per setup: ours with the last and with the averaged weights, beside the paper's."""
    for summary in summaries:
        console.print()
        console.print(setup_table(summary, console))
    datasets = summaries[0].datasets
    sets = f"{datasets} test set{'s' if datasets > 1 else ''}"
    console.print()
    console.print(
        f"Accuracy in percent ± standard deviation over {sets}. wins: test sets on which the rule beats "
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


def setup_table(summary: SetupSummary, console: Console) -> Table:
    """The table with as many columns as fit: first the paper's go, then the rates, then what was counted."""
    for columns in (COLUMNS, COLUMNS[:8], COLUMNS[:6], ("rule", "last w", "averaged w")):
        table = table_of(summary, columns)
        if Measurement.get(console, console.options.update(width=1000), table).maximum <= console.width:
            break
    return table


def table_of(summary: SetupSummary, columns: Sequence[str]) -> Table:
    title = (
        f"Setup {summary.setup}: {SETUPS[summary.setup].name}; "
        f"best possible (Bayes) {with_std(summary.ceiling, summary.ceiling_std, summary.datasets)}"
    )
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in columns:
        text = heading.replace("wins", f"wins\n/{10 if 'paper' in heading else summary.datasets}")
        table.add_column(
            text.removesuffix("*").removeprefix("paper "),
            justify="left" if heading == "rule" else "right",
            no_wrap=True,
        )
    best = {kind: max(getattr(rule, kind).mean for rule in summary.rules) for kind in ("last", "averaged")}
    for rule in summary.rules:
        last, averaged = rule.last, rule.averaged
        mean, spread, won, generalised = rule.paper or (None, None, None, None)
        cells = {
            "rule": Text(rule.rule),
            "last w": accuracy(last, best["last"]),
            "wins": Text(wins(last)),
            "gen.": Text(number(last.generalised) if rule.rule == CONTROL or last.beta[0] is not None else ""),
            "averaged w": accuracy(averaged, best["averaged"]),
            "wins*": Text(wins(averaged)),
            "back-\noff %": Text(f"{100 * last.back_off_rate:.1f}"),
            "cond.\n2 %": Text(f"{100 * last.condition_2_rate:.1f}"),
            "paper": Text("" if mean is None or spread is None else with_std(mean / 100, spread / 100, 10)),
            "paper wins": Text(number(won)),
            "paper gen.": Text(number(generalised)),
        }
        table.add_row(*(cells[column] for column in columns))
    return table


def accuracy(tuned: Tuned, best: float) -> Text:
    return Text(with_std(tuned.mean, tuned.std, len(tuned.test)), style="bold" if tuned.mean == best else "")


def with_std(mean: float, std: float, datasets: int) -> str:
    return f"{100 * mean:.2f} ±{100 * std:.1f}" if datasets > 1 else f"{100 * mean:.2f}"


def number(value: int | None) -> str:
    return "" if value is None else str(value)


def wins(tuned: Tuned) -> str:
    p = 1.0 if tuned.p_value is None else tuned.p_value
    stars = "**" if p < 0.01 else "*" if p < 0.05 else ""
    return "" if tuned.wins is None else f"{tuned.wins}{stars:2}"
