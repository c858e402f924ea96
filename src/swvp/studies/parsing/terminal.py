"""Owns the tables of the parsing study in the terminal, narrow enough for 80 columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from swvp.evaluation.paired import Tested
from swvp.studies.parsing.paper_table import PAPER, PAPER_AVERAGE
from swvp.studies.parsing.runs import CONTROL, REST
from swvp.studies.parsing.summary import COLUMNS, TESTED, OrderSummary, rate, shown
from swvp.studies.parsing.words import ORDERS, identical, p_value, points, speeds
from swvp.studies.synthetic.words import percent

__all__ = ["print_parsing"]

LONGEST = 16
EXPLAINED = (
    "Test UAS in percent, punctuation included. B-WM: β chosen on development data. Top B-WM: the best on test of "
    "those within 0.1 points of the best on development data. Test B-WM: the best on test, an upper bound. Best SWVP "
    "and best rival: the best on development data of the rules with sub-structures, and of those without (CSP and "
    "MIRA, with margins and other orders too). won-lost: treebanks above and below CSP."
)
TESTS = (
    "gain: test UAS of the first less that of the second, in points; p: paired permutation test over sentences, Holm: "
    "corrected for the number of treebanks; all: mean over the treebanks, sentences swapped within each. They speak of "
    "other sentences, not of other languages or orders of training."
)


def print_parsing(console: Console, results: Mapping[str, Any], summaries: Sequence[OrderSummary]) -> None:
    """For each order: Table 2, the tests, all rules."""
    for summary in summaries:
        console.print()
        console.print(scores(summary))
        console.print()
        console.print(rules(summary))
        console.print(pruning(summary), style="dim")
        if same := [line for line in summary.lines if line.best_is_the_rival]:
            console.print(f"Best SWVP and best rival: {identical(same)}", style="dim")
    console.print()
    console.print(EXPLAINED, style="dim")
    for summary in summaries:
        for pair, title in TESTED.items():
            if pair in summary.overall and pair != ("rival", "csp"):
                console.print()
                console.print(tests(summary, pair, title))
    console.print()
    console.print(TESTS, style="dim")
    names = {run["rule"] for run in results["runs"]}
    if CONTROL in names:
        text = f"{CONTROL}: CSP with as many tries as a tuned rule has, the best of random orders of the sentences."
        console.print(text, style="dim")
    if REST in names:
        text = f"{REST}: CSP without the sampled development sentences, as all other rules; csp has them."
        console.print(text, style="dim")


def heading(title: str, columns: Sequence[str], texts: Sequence[int] = (0,)) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for k, name in enumerate(columns):
        table.add_column(name, justify="left" if k in texts else "right", no_wrap=True)
    return table


def cut(name: str) -> Text:
    return Text(name if len(name) <= LONGEST else name[: LONGEST - 1] + "…")


def scores(summary: OrderSummary) -> Table:
    """Table 2, with the paper's averages below."""
    table = heading(f"{ORDERS[summary.order]} order", ["", *(name.replace(" ", "\n") for name in COLUMNS.values())])
    for line in summary.lines:
        found = {column: line.uas(column) for column in COLUMNS}
        top = max(value for column, value in found.items() if column != "test" and value is not None)
        cells = [number(value, bold=value == top and column != "test") for column, value in found.items()]
        table.add_row(cut(line.treebank), *cells)
    if len(summary.lines) > 1:
        table.add_row("average", *(number(summary.means[column]) for column in COLUMNS))
    won = [Text("" if (pair := summary.score(column)) is None else f"{pair[0]}-{pair[1]}") for column in COLUMNS]
    table.add_row("won-lost", "", *won[1:])
    printed = [f"{value:.2f}" for value in PAPER_AVERAGE[summary.order]]
    table.add_row(f"paper, {len(PAPER[summary.order])} banks", *printed, "", "", style="dim")
    return table


def number(value: float | None, bold: bool = False) -> Text:
    return Text("–" if value is None else percent(value), style="bold" if bold else "")


def rules(summary: OrderSummary) -> Table:
    """Every rule with β tuned, its mean over the treebanks, and what happened in its updates."""
    columns = ["rule", "UAS", "gain", "won-\nlost", "back-\noff %", "cond.\n2 %", "CPU s", "words/s"]
    table = heading(f"All rules, {ORDERS[summary.order].lower()} order, β tuned", columns)
    for rule in summary.rules:
        seconds, speed = speeds(rule.runs)
        base = rule.rule == "csp"
        table.add_row(
            Text(rule.name),
            percent(rule.mean),
            "" if base else points(rule.gain),
            "" if base else f"{rule.won}-{rule.lost}",
            percent(rate(rule.runs, "back_offs"), 1),
            percent(rate(rule.runs, "condition_2_failures"), 1),
            f"{seconds:.1f}",
            f"{speed:,.0f}",
        )
    return table


def pruning(summary: OrderSummary) -> str:
    """What pruning leaves, and how many trees are certainly the best, of all rules."""
    runs = [run for rule in summary.rules for run in rule.runs]
    recall, heads = (sum(run["pruning"][what] for run in runs) / len(runs) for what in ("recall", "heads"))
    certified = sum(run["certified"] for run in runs) / len(runs)
    left = f"pruning leaves {percent(recall)} % of the test arcs, {heads:.1f} heads a word"
    return f"{left}; {percent(certified, 1)} % of the trees are certainly the best"


def tests(summary: OrderSummary, pair: tuple[str, str], title: str) -> Table:
    """The gains of a column over another, a line for each treebank."""
    first, second = pair
    which = [column for column in (first, second) if column != "csp"]
    columns = ["", *(COLUMNS[column] for column in which), "gain", "95 % interval", "p", "Holm"]
    table = heading(f"{ORDERS[summary.order]} order: {title}", columns, range(1 + len(which)))
    for line in summary.lines:
        found = line.compared[pair]
        names = [cut(shown(run)) for column in which if (run := line.runs[column]) is not None]
        table.add_row(cut(line.treebank), *names, *measures(found), p_value(found.p), p_value(found.corrected))
    if len(summary.lines) > 1:
        mean = summary.overall[pair]
        table.add_row("all", *[""] * len(which), *measures(mean), p_value(mean.p), "")
    return table


def measures(found: Tested) -> list[str]:
    low, high = found.interval
    return [points(found.difference), f"{points(low)} to {points(high)}"]
