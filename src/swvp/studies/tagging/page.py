"""The tagging study as tables in the terminal and as one self-contained HTML page, with its sentences and figures.

A new column of a table is one entry here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from swvp.studies.common.answer import answer_lines, is_significant
from swvp.studies.common.page import (
    ByBeta,
    PageFigure,
    Picture,
    command,
    draw_scores_by_beta,
    key,
    looks,
    page_answer,
    plain,
    short,
    template,
    unbroken,
    uri,
)
from swvp.studies.common.rules import is_swvp
from swvp.studies.common.running import CSP
from swvp.studies.common.tables import (
    Cell,
    Column,
    PageRow,
    PageTable,
    Spread,
    between,
    counted,
    interval_text,
    listed,
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
from swvp.studies.tagging.settings import notation
from swvp.studies.tagging.study import DatasetSizes, TaggingResults
from swvp.studies.tagging.summary import RuleSummary, TaggingSummary, mean_dev, mean_test

__all__ = ["CHOICES", "COLUMNS", "mean_table", "print_tables", "render_tagging", "rule_table", "title_of", "words"]


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


def render_tagging(results: TaggingResults, summary: TaggingSummary) -> str:
    """Return the page; the same results give the same bytes."""
    test = name_of_test(results.settings.seeds)
    return template("tagging/page.html.j2").render(
        results=results,
        settings=results.settings,
        header={name: setting_text(results, name) for name in results.header},
        answer=page_answer(summary.answers, measure=summary.measure, datasets="datasets", test=test),
        words=[(topic, unbroken(text)) for topic, text in words(results, summary)],
        means=mean_table(summary) if len(summary.datasets) > 1 else None,
        tables=[rule_table(dataset, summary.rules[dataset.name]) for dataset in summary.datasets],
        figures=list(figures(results, summary)),
        test=test,
        choices=CHOICES,
        command=command_of(results),
        counted=counted,
        percent=percent_text,
    )


def setting_text(results: TaggingResults, name: str) -> str:
    """Return a setting as the page shows it."""
    value = results.header[name]
    if name == "datasets":
        return "; ".join(
            f"{dataset.argument} ({', '.join(digest[:12] + '…' for _, digest in dataset.source.digests)})"
            for dataset in results.settings.datasets
        )
    if name == "options":
        return ", ".join(f"{option} = {plain(given)}" for option, given in value.items()) or "default"
    return "default" if value is None else plain(value).replace(",", ", ")


def command_of(results: TaggingResults) -> str:
    """Return the command that runs the study again, in the folder of its files."""
    settings = results.settings
    options = ",".join(f"{name}={value}" for name, value in settings.options.items())
    flags: dict[str, str | None] = {
        "datasets": None,
        "sample_dev": "--sample-dev" if settings.sample_dev else None,
        "options": f"--options={options}" if options else None,
    }
    return command(results.header, arguments=[dataset.argument for dataset in settings.datasets], flags=flags)


# ---------------------------------------------------------------- sentences

CHOICES = (
    ("The metric", "F1 of phrases if the labels are those of phrases (B-NP, I-NP, O), else accuracy of tokens"),
    ("Features and constraint", "chosen from the labels of the training set, once for all rules, unless given"),
    ("The dev set", "the DEV file; without one, or with --sample-dev, a sample of the training sentences"),
    ("Which rules are trained on a sampled dev set", "none, CSP included"),
    ("Which epoch", "that with the best dev score, in each training"),
    ("β", "that with the best mean dev score over the seeds, for each rule and dataset; of equal ones the smallest"),
    ("Seeds", "--seeds trainings of each rule and β; seed k has the same orders of the sentences for every rule"),
    ("Averaging", "averaged weights, unless options say otherwise"),
    (
        "Tests over seeds and sentences",
        "a bootstrap that draws sentences and, separately, seeds; with a single seed a permutation test over sentences",
    ),
    ("Many comparisons", "Holm’s method, over all rules and datasets of a table"),
)
"""What is open in such a comparison, and the choice made here."""


def words(results: TaggingResults, summary: TaggingSummary) -> Iterator[tuple[str, str]]:
    """Yield the items of the summary as (topic, text)."""
    for dataset in summary.datasets:
        rules = summary.rules[dataset.name]
        best = max(rules, key=lambda rule: rule.dev)
        text = f"the best rule on the dev set is {best.name}, test {dataset.metric} {percent_text(best.test)}"
        if best.tested is not None:
            text += f", {signed(best.tested.difference)} points against CSP ({percent_text(rules[0].test)})"
        yield dataset.name, f"{text[0].upper()}{text[1:]}."
    if results.settings.seeds > 1:
        spreads = [100 * rule.std for rules in summary.rules.values() for rule in rules]
        seeds = counted(results.settings.seeds, "seed")
        yield "Seeds", f"The standard deviation of the test score over {seeds} is {between(spreads)} points."
    tuned = [rule for rule in results.settings.rules if notation(rule).tuned]
    if tuned and len(results.settings.betas) > 1:
        yield "β", chosen_betas(results, summary)
    other = [rule for rule in results.settings.rules if rule != CSP and not is_swvp(rule)]
    if other:
        yield "Rules without sub-structures", f"{listed(['CSP', *other])}."


def chosen_betas(results: TaggingResults, summary: TaggingSummary) -> str:
    """Say how often β is at an end of the values that were tried."""
    betas = [rule.runs[0].beta for rules in summary.rules.values() for rule in rules if notation(rule.rule).tuned]
    low, high = results.settings.betas[0], results.settings.betas[-1]
    text = (
        f"The chosen β is the smallest tried ({low:g}) in {betas.count(low)} and the largest ({high:g}) in "
        f"{betas.count(high)} of {counted(len(betas), 'case')}"
    )
    return f"{text}: there, other values may be better still." if low in betas or high in betas else f"{text}."


# ---------------------------------------------------------------- figures


def figures(results: TaggingResults, summary: TaggingSummary) -> Iterator[PageFigure]:
    """Yield the scores by β, a panel for each dataset."""
    tuned = [rule for rule in results.settings.rules if notation(rule).tuned]
    if not tuned or len(results.settings.betas) < 2:
        return
    look = looks([CSP, *tuned])
    legend = [key(rule, color=colour, marker=marker) for rule, (colour, marker) in look.items()]
    panels = []
    for dataset in summary.datasets:
        csp = summary.rules[dataset.name][0]
        parts: dict[str, ByBeta] = {
            part: {
                rule: {beta: 100 * mean(runs) for beta, runs in results.of(dataset.name, rule).items()} for rule in look
            }
            for part, mean in (("dev", mean_dev), ("test", mean_test))
        }
        band = (100 * (csp.test - csp.std), 100 * (csp.test + csp.std))
        figure = draw_scores_by_beta(
            parts,
            look,
            results.settings.betas,
            title=short(dataset.name),
            measure=dataset.metric,
            bands={"test": band} if csp.std else None,
        )
        panels.append(Picture(uri(figure), title_of(dataset)))
    yield PageFigure("wide", legend, [panels])
