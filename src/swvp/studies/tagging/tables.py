"""The tables of the tagging study, on the page and in the terminal: a new column is one entry here."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from swvp.studies.common.answer import answer_lines, is_significant
from swvp.studies.common.tables import (
    Cell,
    Column,
    PageRow,
    PageTable,
    Spread,
    interval_text,
    name_of_test,
    new_table,
    p_text,
    page_cells,
    percent,
    percent_text,
    plus_minus,
    signed,
    styled_text,
    terminal_cells,
)
from swvp.studies.tagging.study import DatasetSizes
from swvp.studies.tagging.summary import RuleSummary, TaggingSummary

__all__ = ["COLUMNS", "mean_table", "print_tables", "rule_table", "title_of"]


def one_digit(share: float) -> str:
    return percent_text(share, 1)


def with_sign(share: float) -> str:
    return f"{percent_text(share, 1)} %"


COLUMNS: dict[str, Column[RuleSummary]] = {
    "beta": Column(
        heading="β", short="β", value=lambda row: row.runs[0].beta, page="{:g}".format, terminal="{:g}".format
    ),
    "dev": Column(
        heading="Dev", short="dev", value=lambda row: row.dev, page=percent_text, terminal=percent_text, rank=percent
    ),
    "test": Column(
        heading="Test",
        short="test",
        value=lambda row: Spread(row.test, row.std, len(row.runs)),
        page=plus_minus,
        terminal=plus_minus,
        rank=lambda spread: percent(spread.mean),
    ),
    "gain": Column(
        heading="Gain",
        short="gain",
        value=lambda row: row.tested and row.tested.difference,
        page=signed,
        terminal=signed,
    ),
    "interval": Column(
        heading="95 % interval", value=lambda row: row.tested and row.tested.interval, page=interval_text
    ),
    "p": Column(heading="p", short="p", value=lambda row: row.tested and row.tested.p, page=p_text, terminal=p_text),
    "holm": Column(
        heading="Holm",
        short="Holm",
        value=lambda row: row.tested and row.tested.corrected,
        page=p_text,
        terminal=p_text,
    ),
    "epoch": Column(heading="Epoch", value=lambda row: row.mean(lambda run: run.epoch), page="{:.1f}".format),
    "back_off": Column(
        heading="Back-off",
        short="back-\noff %",
        value=lambda row: row.rate("back_offs"),
        page=with_sign,
        terminal=one_digit,
    ),
    "condition_2": Column(heading="Cond. (2)", value=lambda row: row.rate("condition_2_failures"), page=with_sign),
    "seconds": Column(
        heading="CPU s",
        short="CPU s",
        value=lambda row: row.mean(lambda run: run.timing.train),
        page="{:.1f}".format,
        terminal="{:.1f}".format,
    ),
}
TESTED = ("gain", "interval", "p", "holm")


def title_of(dataset: DatasetSizes) -> str:
    """Return the name of a dataset with what is measured on it."""
    return f"{dataset.name}, {'phrase F1' if dataset.metric == 'F1' else dataset.metric}"


def rule_table(dataset: DatasetSizes, rules: Sequence[RuleSummary]) -> PageTable:
    """Return all rules on a dataset, with their tests against CSP; significant ones are bold."""
    columns = {name: page_cells(column, rules) for name, column in COLUMNS.items()}
    for name in TESTED:
        columns[name] = [
            Cell(cell.text, rule.tested is not None and is_significant(rule.tested))
            for cell, rule in zip(columns[name], rules, strict=True)
        ]
    rows = [
        PageRow(rule.rule, cells, "rule")
        for rule, cells in zip(rules, zip(*columns.values(), strict=True), strict=True)
    ]
    return PageTable(title_of(dataset), ["Rule", *(column.heading for column in COLUMNS.values())], rows)


def mean_table(summary: TaggingSummary) -> PageTable:
    """Return the gain of each rule over CSP on each dataset and on the mean; significant ones are bold."""
    rows = []
    for k, mean in enumerate(summary.means):
        found = [summary.rules[dataset.name][k] for dataset in summary.datasets]
        if mean.tested is None:
            cells = [Cell(percent_text(rule.test)) for rule in found]
            rows.append(PageRow(mean.rule, [*cells, Cell(percent_text(mean.test)), Cell(""), Cell("")], "rule"))
            continue
        cells = [Cell(signed(rule.tested.difference), is_significant(rule.tested)) for rule in found if rule.tested]
        bold = is_significant(mean.tested)
        numbers = (signed(mean.tested.difference), interval_text(mean.tested.interval), p_text(mean.tested.corrected))
        rows.append(PageRow(mean.rule, [*cells, *(Cell(text, bold) for text in numbers)], "rule"))
    names = [dataset.name for dataset in summary.datasets]
    return PageTable("All datasets", ["Rule", *names, "Mean", "95 % interval", "Holm"], rows)


NOTE = (
    "dev, test: mean over the seeds, ± standard deviation; β and the epoch are chosen on the dev set. gain: test score "
    "less that of CSP, in points; p: {test}; Holm: p corrected for all rules and datasets."
)


def print_tables(console: Console, summary: TaggingSummary) -> None:
    """Print the answer, and a table for each dataset."""
    for line in answer_lines(summary.answers, summary.measure, "datasets"):
        console.print(line, highlight=False)
    columns = [column for column in COLUMNS.values() if column.terminal is not None]
    for dataset in summary.datasets:
        rules = summary.rules[dataset.name]
        table = new_table(title_of(dataset), ["rule", *(column.short for column in columns)], gap=1)
        rows = zip(*(terminal_cells(column, rules) for column in columns), strict=True)
        for rule, cells in zip(rules, rows, strict=True):
            table.add_row(Text(rule.rule), *map(styled_text, cells))
        console.print()
        console.print(table)
    console.print()
    seeds = len(summary.rules[summary.datasets[0].name][0].runs)
    console.print(NOTE.format(test=name_of_test(seeds)), highlight=False, style="dim")
