"""The tables of the parsing study in the terminal, at most 80 columns wide."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from swvp.studies.common.answer import answer_lines
from swvp.studies.common.rules import REST
from swvp.studies.common.running import CONTROL
from swvp.studies.common.tables import Cell, PageRow, name_of_test, new_table, percent_text, styled_text, terminal_cells
from swvp.studies.parsing.runs import Trained
from swvp.studies.parsing.summary import (
    COLUMNS,
    COMPARISONS,
    ORDERS,
    PAPER,
    PAPER_AVERAGE,
    OrderSummary,
    TreebankSummary,
)
from swvp.studies.parsing.tables import (
    TEST_COLUMNS,
    Comparison,
    comparison,
    comparisons,
    rule_columns,
    same_model,
    score_rows,
    score_tables,
)

__all__ = ["print_tables"]

EXPLANATION = (
    "Test UAS in percent, with punctuation. B-WM: β is chosen on the dev set. Top B-WM: the best on the test set of "
    "those within 0.1 points of the best on the dev set. Test B-WM: the best on the test set, an upper bound. Best "
    "SWVP and best rival: the best on the dev set of the rules with sub-structures, and of those without (CSP and "
    "MIRA, also with margins and other orders of the sentences)."
)
WON_LOST = "won-lost: treebanks with a higher and with a lower UAS than CSP."
TESTS = "gain: test UAS of the first less that of the second, in points; p: {test}. {about}"
ABOUT = (
    "The tests are about other sentences, not about other languages or orders of training.",
    "The tests are about other sentences and seeds, not about other languages.",
)
HOLM = "Holm: p corrected for the number of treebanks; All: mean over the treebanks, sentences drawn within each."


def print_tables(console: Console, summaries: Sequence[OrderSummary]) -> None:
    """Print Table 2, all rules and the tests, at most 80 columns wide."""
    several = len(summaries[0].treebanks) > 1
    answers = [summary.answer for summary in summaries if summary.answer]
    for line in answer_lines(answers, "test UAS", "treebanks"):
        console.print(line, highlight=False)
    for table in terminal_scores(summaries):
        console.print()
        console.print(table)
    for summary in summaries:
        console.print()
        console.print(terminal_rules(summary))
        console.print(pruning(summary), style="dim")
        if same := [treebank for treebank in summary.treebanks if treebank.best_is_rival]:
            console.print(f"Best SWVP and best rival: {same_model(same)}", style="dim")
    console.print()
    console.print(f"{EXPLANATION} {WON_LOST}" if several else EXPLANATION, style="dim")
    for summary in summaries:
        for test in terminal_comparisons(summary):
            console.print()
            console.print(test)
        if not several:
            console.print(chosen_rules(summary.treebanks[0]), style="dim")
    console.print()
    seeds = summaries[0].rules[0].seeds
    tests = TESTS.format(test=name_of_test(seeds), about=ABOUT[seeds > 1])
    console.print(f"{tests} {HOLM}" if several else tests, style="dim")
    if summaries[0].rule(CONTROL):
        text = f"{CONTROL}: CSP with as many trainings as a tuned rule, on random orders of the sentences."
        console.print(text, style="dim")
    if summaries[0].rule(REST):
        text = f"{REST}: CSP without the sampled dev sentences, like all other rules; csp is trained on them too."
        console.print(text, style="dim")


def cut(name: str, longest: int = 16) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"


def terminal_scores(summaries: Sequence[OrderSummary]) -> list[Table]:
    """Return Table 2 with the paper's averages below."""
    headings = ["", *(name.replace(" ", "\n") for name in COLUMNS.values())]
    if len(summaries[0].treebanks) == 1:
        (table,) = score_tables(summaries, with_std=False)
        scores = new_table(table.title, headings)
        add_rows(scores, table.rows)
        for summary in summaries:
            add_paper(scores, summary.order, f"paper, order {summary.order}")
        return [scores]
    tables = []
    for summary in summaries:
        scores = new_table(f"{ORDERS[summary.order]} order", headings)
        *treebanks, average, won_lost = score_rows(summary, dash="-", with_std=False)
        add_rows(scores, [*treebanks, average._replace(name="average"), won_lost._replace(name="won-lost")])
        add_paper(scores, summary.order, f"paper, {len(PAPER[summary.order])} banks")
        tables.append(scores)
    return tables


def add_rows(table: Table, rows: Sequence[PageRow]) -> None:
    for row in rows:
        table.add_row(Text(cut(row.name)), *map(styled_text, row.cells))


def add_paper(table: Table, order: int, name: str) -> None:
    printed = [f"{value:.2f}" for value in PAPER_AVERAGE[order]]
    table.add_row(name, *printed, *[""] * (len(COLUMNS) - len(printed)), style="dim")


def terminal_rules(summary: OrderSummary) -> Table:
    """Return the scores of all rules, and what happened in their training."""
    columns = rule_columns(summary, in_terminal=True)
    title = f"All rules, {ORDERS[summary.order].lower()} order, β tuned"
    table = new_table(title, ["rule", *(column.short for column in columns)])
    controls = [rule for rule in summary.rules if rule.is_control]
    cells = zip(*(terminal_cells(column, summary.rules, unranked=controls) for column in columns), strict=True)
    for rule, row in zip(summary.rules, cells, strict=True):
        table.add_row(Text(rule.name), *map(styled_text, row))
    return table


def pruning(summary: OrderSummary) -> str:
    """Return what pruning leaves, and how many trees are proved to be the best, over all rules."""
    runs = [one for rule in summary.rules for run in rule.runs for one in run.runs]
    recall, heads, certified = (
        sum(values) / len(runs)
        for values in zip(*((run.pruning.recall, run.pruning.heads, run.certified) for run in runs), strict=True)
    )
    return (
        f"pruning leaves {percent_text(recall)} % of the test arcs, {heads:.1f} heads per word; "
        f"{percent_text(certified, 1)} % of the trees are proved to be the best"
    )


def terminal_comparisons(summary: OrderSummary) -> list[Table]:
    """Return the tables of tests; the best rival is compared with CSP only on the page."""
    order = f"{ORDERS[summary.order]} order"
    pairs = [pair for pair in COMPARISONS if pair in summary.overall and pair != ("rival", "csp")]
    if len(summary.treebanks) == 1:
        rows = [
            comparison(f"{COLUMNS[first]} − {COLUMNS[second]}", summary.treebanks[0], (first, second))
            for first, second in pairs
        ]
        return [terminal_comparison(order, {}, rows, ["gain", "interval", "p"])] if rows else []
    tables = []
    for first, second in pairs:
        rows = comparisons(summary, (first, second))
        names = {COLUMNS[first]: [row.first for row in rows]}
        if second != "csp":
            names[COLUMNS[second]] = [row.second for row in rows]
        title = f"{order}: {COMPARISONS[first, second]}"
        tables.append(terminal_comparison(title, names, rows, ["gain", "interval", "p", "holm"]))
    return tables


def terminal_comparison(
    title: str, rules: dict[str, list[Trained | None]], rows: Sequence[Comparison], names: Sequence[str]
) -> Table:
    """Return a table of tests; `rules` are columns with the rules that are compared."""
    headings = ["", *rules, *(TEST_COLUMNS[name].short for name in names)]
    table = new_table(title, headings, left=range(1 + len(rules)))
    of_treebank, of_rule = (14, 11) if len(rules) > 1 else (22, 16)  # to fit into 80 columns
    cells = [[Cell(cut(row.name, of_treebank)) for row in rows]]
    cells += [[Cell("" if run is None else cut(run.name, of_rule)) for run in runs] for runs in rules.values()]
    cells += [terminal_cells(TEST_COLUMNS[name], rows) for name in names]
    for line in zip(*cells, strict=True):
        table.add_row(*map(styled_text, line))
    return table


def chosen_rules(treebank: TreebankSummary) -> str:
    """Return which rule is behind each column that is tested."""
    runs = {COLUMNS[column]: treebank.runs[column] for column in ("b_wm", "best", "rival")}
    return "; ".join(f"{title}: {run.name}" for title, run in runs.items() if run is not None)
