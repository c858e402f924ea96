"""The tables of the parsing study, for the page and the terminal: a new column is one entry here.

With several treebanks a table has a row for each. With a single one, the orders or the comparisons are the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from swvp.evaluation.paired import Difference
from swvp.studies.common.running import CSP
from swvp.studies.common.tables import (
    GROUP,
    NONE,
    SIGNIFICANT,
    Cell,
    Column,
    PageRow,
    PageTable,
    Spread,
    interval_text,
    listed,
    p_text,
    page_cells,
    percent,
    percent_text,
    plus_minus,
    signed,
)
from swvp.studies.parsing.runs import Trained
from swvp.studies.parsing.summary import (
    COLUMNS,
    COMPARISONS,
    ORDERS,
    OrderSummary,
    RuleSummary,
    TreebankSummary,
    rate,
)

__all__ = [
    "RULE_COLUMNS",
    "TEST_COLUMNS",
    "Comparison",
    "GainRow",
    "comparison",
    "comparison_tables",
    "comparisons",
    "gain_table",
    "rule_columns",
    "rule_table",
    "same_model",
    "score_rows",
    "score_tables",
]

UPPER_BOUND = "test"
"""The column that is never bold: β is chosen on the test set."""


# Scores: Table 2


def score_cells(values: Sequence[Spread | None], missing: str = NONE) -> list[Cell]:
    """Return the UAS of each column in percent; the best is bold, except for the upper bound."""
    ranked = {
        column: percent(value.mean)
        for column, value in zip(COLUMNS, values, strict=True)
        if value is not None and column != UPPER_BOUND
    }
    best = max(ranked.values())
    return [
        Cell(missing if value is None else plus_minus(value), ranked.get(column) == best)
        for column, value in zip(COLUMNS, values, strict=True)
    ]


def scores_of(treebank: TreebankSummary, *, with_std: bool = True) -> list[Spread | None]:
    runs = [treebank.runs[column] for column in COLUMNS]
    return [None if run is None else Spread(run.uas, run.std, len(run.runs) if with_std else 1) for run in runs]


def means_of(summary: OrderSummary) -> list[Spread | None]:
    means = [summary.means[column] for column in COLUMNS]
    return [None if mean is None else Spread(mean, 0.0, 1) for mean in means]


def won_lost_cells(summary: OrderSummary, dash: str) -> list[Cell]:
    scores = [None if column == "csp" else summary.score(column) for column in COLUMNS]
    return [Cell(NONE if score is None else f"{score[0]}{dash}{score[1]}") for score in scores]


def score_rows(summary: OrderSummary, *, dash: str = "–", with_std: bool = True) -> list[PageRow]:
    """Return the rows of an order: treebanks, their average, and treebanks won and lost against CSP."""
    rows = [
        PageRow(treebank.treebank, score_cells(scores_of(treebank, with_std=with_std)))
        for treebank in summary.treebanks
    ]
    rows.append(PageRow("Average", score_cells(means_of(summary)), "sum"))
    rows.append(PageRow(f"Won{dash}lost against CSP", won_lost_cells(summary, dash), "sum"))
    return rows


def score_tables(summaries: Sequence[OrderSummary], *, with_std: bool = True) -> list[PageTable]:
    """Return Table 2: a table for each order, or a single one with the orders as rows."""
    if len(summaries[0].treebanks) > 1:
        return [
            PageTable(f"{ORDERS[summary.order]} order", ["Treebank", *COLUMNS.values()], score_rows(summary))
            for summary in summaries
        ]
    rows = [
        PageRow(f"{ORDERS[s.order]} order", score_cells(scores_of(s.treebanks[0], with_std=with_std)))
        for s in summaries
    ]
    return [PageTable(summaries[0].treebanks[0].treebank, ["Parser", *COLUMNS.values()], rows)]


# Significance tests


class Comparison(NamedTuple):
    """A row of a table of tests; the runs are None in the row of all treebanks."""

    name: str
    first: Trained | None
    second: Trained | None
    tested: Difference
    is_mean: bool = False

    @property
    def is_significant(self) -> bool:
        return (self.tested.p if self.is_mean else self.tested.corrected) < SIGNIFICANT


TEST_COLUMNS: dict[str, Column[Comparison]] = {
    "first": Column(heading="First", value=lambda row: row.first.name if row.first else "", page=str),
    "second": Column(heading="Second", value=lambda row: row.second.name if row.second else "", page=str),
    "gain": Column(heading="Gain", short="gain", value=lambda row: row.tested.difference, page=signed, terminal=signed),
    "interval": Column(
        heading="95 % interval",
        short="95 % interval",
        value=lambda row: row.tested.interval,
        page=interval_text,
        terminal=interval_text,
    ),
    "p": Column(heading="p", short="p", value=lambda row: row.tested.p, page=p_text, terminal=p_text),
    "holm": Column(
        heading="Holm",
        short="Holm",
        value=lambda row: None if row.is_mean else row.tested.corrected,
        page=p_text,
        terminal=p_text,
    ),
}


def comparison(name: str, treebank: TreebankSummary, pair: tuple[str, str]) -> Comparison:
    """Return the comparison of two columns on a treebank."""
    first, second = pair
    return Comparison(name, treebank.runs[first], treebank.runs[second], treebank.compared[pair])


def comparisons(summary: OrderSummary, pair: tuple[str, str]) -> list[Comparison]:
    """Return a comparison on each treebank, and over all."""
    rows = [comparison(treebank.treebank, treebank, pair) for treebank in summary.treebanks]
    return [*rows, Comparison("All", None, None, summary.overall[pair], is_mean=True)]


def comparison_rows(rows: Sequence[Comparison], names: Sequence[str]) -> list[PageRow]:
    """Return comparisons as rows of a table; the numbers of significant ones are bold."""
    columns = [page_cells(TEST_COLUMNS[name], rows) for name in names]
    lines = []
    for row, cells in zip(rows, zip(*columns, strict=True), strict=True):
        bold = [row.is_significant and name not in ("first", "second") for name in names]
        marked = [Cell(cell.text, is_bold) for cell, is_bold in zip(cells, bold, strict=True)]
        lines.append(PageRow(row.name, marked, "sum" if row.is_mean else ""))
    return lines


def comparison_tables(summary: OrderSummary) -> list[PageTable]:
    """Return one table of all comparisons, in groups if there are several treebanks; none without a comparison."""
    pairs = [pair for pair in COMPARISONS if pair in summary.overall]
    if not pairs:
        return []
    rows: list[PageRow] = []
    if len(summary.treebanks) > 1:
        heading, names = "Treebank", list(TEST_COLUMNS)
        for pair in pairs:
            rows += [PageRow(capitalised(COMPARISONS[pair]), [], GROUP)]
            rows += comparison_rows(comparisons(summary, pair), names)
    else:
        heading, names = "Comparison", [name for name in TEST_COLUMNS if name != "holm"]
        found = [comparison(capitalised(COMPARISONS[pair]), summary.treebanks[0], pair) for pair in pairs]
        rows += comparison_rows(found, names)
    headings = [heading, *(TEST_COLUMNS[name].heading for name in names)]
    return [PageTable(f"{ORDERS[summary.order]} order", headings, rows)]


def capitalised(text: str) -> str:
    return text[0].upper() + text[1:]


# All rules


def with_sign(share: float, digits: int = 2) -> str:
    return f"{percent_text(share, digits)} %"


def one_digit(share: float) -> str:
    return percent_text(share, 1)


def violating_share(rule: RuleSummary) -> float:
    violating, other = (sum(run.total(name) for run in rule.runs) for name in ("violating", "non_violating"))
    return float(violating / max(violating + other, 1))


RULE_COLUMNS: dict[str, Column[RuleSummary]] = {
    "uas": Column(
        heading="UAS", short="UAS", value=lambda rule: rule.uas, page=percent_text, terminal=percent_text, rank=percent
    ),
    "std": Column(heading="±", short="±", value=lambda rule: rule.std, page=percent_text, terminal=percent_text),
    "gain": Column(
        heading="Gain",
        short="gain",
        value=lambda rule: None if rule.rule == CSP else rule.gain,
        page=signed,
        terminal=signed,
    ),
    "won": Column(
        heading="Won–lost",
        short="won-\nlost",
        value=lambda rule: None if rule.rule == CSP else (rule.won, rule.lost),
        page=lambda pair: f"{pair[0]}–{pair[1]}",
        terminal=lambda pair: f"{pair[0]}-{pair[1]}",
    ),
    "beta": Column(
        heading="β", short="β", value=lambda rule: rule.runs[0].beta, page="{:g}".format, terminal="{:g}".format
    ),
    "no_punctuation": Column(
        heading="No punct.", value=lambda rule: rule.mean(lambda run: run.no_punctuation.value), page=percent_text
    ),
    "violating": Column(heading="Violating", value=violating_share, page=lambda share: with_sign(share, 1)),
    "back_off": Column(
        heading="Back-off",
        short="back-\noff %",
        value=lambda rule: rate(rule.runs, "back_offs"),
        page=with_sign,
        terminal=one_digit,
    ),
    "condition_2": Column(
        heading="Cond. (2)",
        short="cond.\n2 %",
        value=lambda rule: rate(rule.runs, "condition_2_failures"),
        page=with_sign,
        terminal=one_digit,
    ),
    "no_violation": Column(
        heading="No viol.", value=lambda rule: rate(rule.runs, "without_violation", of="mistakes"), page=with_sign
    ),
    "arcs": Column(heading="Arcs left", value=lambda rule: rule.mean(lambda run: run.pruning.recall), page=with_sign),
    "heads": Column(heading="Heads", value=lambda rule: rule.mean(lambda run: run.pruning.heads), page="{:.1f}".format),
    "certified": Column(
        heading="Certified",
        value=lambda rule: rule.mean(lambda run: run.certified),
        page=lambda share: with_sign(share, 1),
    ),
    "seconds": Column(
        heading="CPU s",
        short="CPU s",
        value=lambda rule: rule.train_seconds,
        page="{:.1f}".format,
        terminal="{:.1f}".format,
    ),
    "speed": Column(
        heading="Words/s",
        short="words/s",
        value=lambda rule: rule.words_per_second,
        page="{:,.0f}".format,
        terminal="{:,.0f}".format,
    ),
}


def rule_columns(summary: OrderSummary, *, in_terminal: bool) -> list[Column[RuleSummary]]:
    """Return the columns of all rules: won–lost with several treebanks, β with a single one, ± with several seeds."""
    without = ["beta" if len(summary.treebanks) > 1 else "won", *([] if summary.rules[0].seeds > 1 else ["std"])]
    columns = [column for name, column in RULE_COLUMNS.items() if name not in without]
    return [column for column in columns if (column.terminal if in_terminal else column.page) is not None]


def style_of(rule: RuleSummary) -> str:
    return "control" if rule.is_control else "rule"


def rule_table(summary: OrderSummary) -> PageTable:
    """Return the mean scores of all rules, and what happened in their training."""
    columns = rule_columns(summary, in_terminal=False)
    controls = [rule for rule in summary.rules if rule.is_control]
    cells = zip(*(page_cells(column, summary.rules, unranked=controls) for column in columns), strict=True)
    rows = [PageRow(rule.name, row, style_of(rule)) for rule, row in zip(summary.rules, cells, strict=True)]
    return PageTable("Means and rates", ["Rule", *(column.heading for column in columns)], rows)


class GainCell(NamedTuple):
    """The gain of a rule on a treebank, and the β it was trained with."""

    text: str
    beta: str = ""


class GainRow(NamedTuple):
    """The gains of a rule on all treebanks."""

    name: str
    cells: list[GainCell]
    style: str


def gain_table(summary: OrderSummary) -> list[GainRow]:
    """Return the gain of each rule over CSP on each treebank; in the row of CSP, its UAS."""
    rows = []
    for rule in summary.rules:
        runs = {run.treebank: (run, gain) for run, gain in zip(rule.runs, rule.gains, strict=True)}
        cells = []
        for treebank in summary.treebanks:
            if treebank.treebank not in runs:
                cells.append(GainCell(NONE))
                continue
            run, gain = runs[treebank.treebank]
            text = percent_text(run.uas) if rule.rule == CSP else signed(gain)
            cells.append(GainCell(text, "" if run.beta is None else f"β {run.beta:g}"))
        rows.append(GainRow(rule.name, cells, style_of(rule)))
    return rows


def same_model(treebanks: Sequence[TreebankSummary]) -> str:
    """Say on which treebanks the best SWVP rule and the best rival are the same model."""
    names = []
    for treebank in treebanks:
        best, rival = treebank.runs["best"], treebank.runs["rival"]
        assert best is not None
        assert rival is not None
        names.append(f"{treebank.treebank} ({best.name} and {rival.name})")
    return f"The same model under two names on {listed(names)}: there the sub-structures change nothing."
