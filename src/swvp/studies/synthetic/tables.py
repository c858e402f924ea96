"""The tables of the synthetic study, on the page and in the terminal: a new column is one entry here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from swvp.studies.common.answer import answer_lines
from swvp.studies.common.running import CONTROL
from swvp.studies.common.tables import (
    Cell,
    Column,
    Spread,
    counted,
    new_table,
    p_text,
    page_cells,
    percent,
    percent_text,
    plus_minus,
    styled_text,
    terminal_cells,
    with_std,
)
from swvp.studies.synthetic.runs import WEIGHTS
from swvp.studies.synthetic.settings import SETUPS
from swvp.studies.synthetic.summary import SIGNIFICANCE_TEST, PaperScores, RuleSummary, SetupSummary, Tuned, answers_of

__all__ = ["OURS", "THEIRS", "PageRow", "page_table", "print_tables"]

PAPER_DATASETS = 10


class Row(NamedTuple):
    """A rule with the last or the averaged weights."""

    rule: RuleSummary
    weights: str

    @property
    def tuned(self) -> Tuned:
        return self.rule.tuned(self.weights)

    @property
    def paper(self) -> PaperScores | None:
        """The paper's numbers. It does not mention averaging in this study, so they are beside the last weights."""
        return self.rule.paper if self.weights == "last" else None


class Wins(NamedTuple):
    """On how many datasets something holds, and the p-value of the comparison."""

    number: int
    datasets: int
    p: float | None = None


def count(row: Row, name: str, p: float | None = None) -> Wins | None:
    number: int | None = getattr(row.tuned, name)
    return None if number is None else Wins(number, len(row.tuned.test), p)


def tuned_on_others(row: Row) -> float | None:
    """Return the accuracy with β chosen on the dev sets of the other datasets."""
    tuned = row.tuned
    return None if tuned.untuned is None or tuned.choosing is None else tuned.untuned + tuned.choosing.others


def paper_count(row: Row, name: str) -> Wins | None:
    number: int | None = None if row.paper is None else getattr(row.paper, name)
    return None if number is None else Wins(number, PAPER_DATASETS)


def paper_spread(row: Row) -> Spread | None:
    return None if row.paper is None else Spread(row.paper.mean / 100, row.paper.std / 100, PAPER_DATASETS)


def short_std(spread: Spread) -> str:
    return plus_minus(spread, 1)


def of_datasets(wins: Wins) -> str:
    return f"{wins.number}/{wins.datasets}"


def with_stars(wins: Wins) -> str:
    p = 1.0 if wins.p is None else wins.p
    stars = "**" if p < 0.01 else "*" if p < 0.05 else ""
    return f"{wins.number}{stars:2}"


def one_digit(share: float) -> str:
    return percent_text(share, 1)


def number_of(wins: Wins) -> str:
    return str(wins.number)


def with_sign(share: float) -> str:
    return f"{percent_text(share, 1)} %"


OURS: dict[str, Column[Row]] = {
    "accuracy": Column(
        heading="Accuracy (std)",
        value=lambda row: Spread(row.tuned.mean, row.tuned.std, len(row.tuned.test)),
        page=with_std,
        terminal=short_std,
        rank=lambda spread: percent(spread.mean),
    ),
    "untuned": Column(heading="Untuned", value=lambda row: row.tuned.untuned, page=percent_text, rank=percent),
    "others": Column(heading="By others", value=tuned_on_others, page=percent_text, rank=percent),
    "wins": Column(
        heading="Wins",
        value=lambda row: count(row, "wins", row.tuned.p_value),
        page=of_datasets,
        terminal=with_stars,
        rank=lambda wins: wins.number,
    ),
    "generalised": Column(
        heading="Gener.", value=lambda row: count(row, "generalised"), page=of_datasets, terminal=number_of
    ),
    "dev_only": Column(heading="Dev only", value=lambda row: count(row, "dev_only_wins"), page=of_datasets),
    "p": Column(heading="p", value=lambda row: row.tuned.p_value, page=p_text),
    "back_off": Column(
        heading="Back-off", value=lambda row: row.tuned.back_off_rate, page=with_sign, terminal=one_digit
    ),
    "condition_2": Column(
        heading="Cond. (2)", value=lambda row: row.tuned.condition_2_rate, page=with_sign, terminal=one_digit
    ),
}
"""The columns with our numbers."""

THEIRS: dict[str, Column[Row]] = {
    "paper": Column(
        heading="Accuracy (std)",
        value=paper_spread,
        page=with_std,
        terminal=short_std,
        rank=lambda spread: percent(spread.mean),
    ),
    "paper_wins": Column(
        heading="Wins",
        value=lambda row: paper_count(row, "wins"),
        page=of_datasets,
        terminal=number_of,
        rank=lambda wins: wins.number,
    ),
    "paper_generalised": Column(
        heading="Gener.", value=lambda row: paper_count(row, "generalised"), page=of_datasets, terminal=number_of
    ),
}
"""The columns with the paper's numbers."""

TERMINAL = (
    ("last w", "last", "accuracy"),
    ("wins\n/{datasets}", "last", "wins"),
    ("gen.", "last", "generalised"),
    ("averaged w", "averaged", "accuracy"),
    ("wins\n/{datasets}", "averaged", "wins"),
    ("back-\noff %", "last", "back_off"),
    ("cond.\n2 %", "last", "condition_2"),
    ("paper", "last", "paper"),
    ("wins\n/10", "last", "paper_wins"),
    ("gen.", "last", "paper_generalised"),
)
"""The columns in the terminal: heading, weights, name."""


class PageRow(NamedTuple):
    """A rule in a table on the page."""

    rule: str
    is_control: bool
    cells: list[Cell]


def page_table(summary: SetupSummary) -> list[tuple[str, list[PageRow]]]:
    """Return the rows for the last and for the averaged weights, each group with its heading."""
    groups = []
    for weights in WEIGHTS:
        rows = [Row(rule, weights) for rule in summary.rules]
        controls = [row for row in rows if row.rule.rule == CONTROL]
        columns = [page_cells(column, rows, unranked=controls) for column in (OURS | THEIRS).values()]
        if weights == "averaged":
            columns[len(OURS) :] = [[Cell("")] * len(rows)] * len(THEIRS)
        lines = [
            PageRow(row.rule.rule, row in controls, list(cells))
            for row, cells in zip(rows, zip(*columns, strict=True), strict=True)
        ]
        groups.append((f"{weights.capitalize()} weights", lines))
    return groups


def print_tables(console: Console, summaries: Sequence[SetupSummary]) -> None:
    """Print a table for each setup: our numbers with the last and the averaged weights, beside the paper's."""
    for line in answer_lines(answers_of(summaries), "test accuracy", "setups"):
        console.print(line, highlight=False)
    for summary in summaries:
        console.print()
        console.print(setup_table(summary, console))
    console.print()
    notes = [
        f"Accuracy in percent ± standard deviation over {counted(summaries[0].datasets, 'test set')}. wins: test sets "
        "on which the rule beats CSP; gen.: test sets on which the β tuned on the dev set is the best or within 0.5 "
        f"points of it. * p < 0.05, ** p < 0.01: {SIGNIFICANCE_TEST}."
    ]
    if any(rule.rule == CONTROL for rule in summaries[0].rules):
        notes.append(f"{CONTROL}: CSP with as many trainings as a tuned rule, on random orders of the examples.")
    for note in notes:
        console.print(note, highlight=False, style="dim")


def setup_table(summary: SetupSummary, console: Console) -> Table:
    """Return the table with as many columns as fit: the paper's are dropped first, then the rates, then the counts."""
    only_accuracies = (TERMINAL[0], TERMINAL[3])
    for columns in (TERMINAL, TERMINAL[:7], TERMINAL[:5], only_accuracies):
        table = table_of(summary, columns)
        if Measurement.get(console, console.options.update(width=1000), table).maximum <= console.width:
            break
    return table


def table_of(summary: SetupSummary, columns: Sequence[tuple[str, str, str]]) -> Table:
    ceiling = short_std(Spread(summary.ceiling, summary.ceiling_std, summary.datasets))
    title = f"Setup {summary.setup}: {SETUPS[summary.setup].name}; best possible (Bayes) {ceiling}"
    headings = [heading.format(datasets=summary.datasets) for heading, _, _ in columns]
    table = new_table(title, ["rule", *headings], gap=1)
    cells = [[Cell(rule.rule) for rule in summary.rules]]
    for _, weights, name in columns:
        rows = [Row(rule, weights) for rule in summary.rules]
        controls = [row for row in rows if row.rule.rule == CONTROL]
        cells.append(terminal_cells((OURS | THEIRS)[name], rows, unranked=controls))
    for line in zip(*cells, strict=True):
        table.add_row(*map(styled_text, line))
    return table
