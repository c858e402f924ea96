"""The HTML report of the parsing study: one self-contained page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from swvp.studies.common.figures import DEV, looks
from swvp.studies.common.page import PageFigure, Picture, command, key, plain, template, unbroken, uri
from swvp.studies.common.tables import Cell
from swvp.studies.common.words import counted, percent_text
from swvp.studies.parsing import plots
from swvp.studies.parsing.settings import CONTROL, CSP, REST
from swvp.studies.parsing.study import ParsingResults
from swvp.studies.parsing.summary import (
    COLUMNS,
    PAPER,
    PAPER_AVERAGE,
    PAPER_COLUMNS,
    OrderSummary,
    TreebankSummary,
)
from swvp.studies.parsing.tables import comparison_tables, gain_table, rule_table, score_tables
from swvp.studies.parsing.words import CHOICES, ORDERS, paper_notes, words

__all__ = ["render_parsing"]


def render_parsing(results: ParsingResults, summaries: Sequence[OrderSummary]) -> str:
    """Return the page; the same results give the same bytes."""
    return template("parsing/page.html.j2").render(
        results=results,
        settings=results.settings,
        header={name: setting_text(name, value) for name, value in results.header.items()},
        summaries=summaries,
        orders=ORDERS,
        words=[(topic, unbroken(text)) for topic, text in words(results, summaries)],
        scores=score_tables(summaries),
        comparisons=[table for summary in summaries for table in comparison_tables(summary)],
        gains={summary.order: gain_table(summary) for summary in summaries},
        rules={summary.order: rule_table(summary) for summary in summaries},
        figures=list(figures(results, summaries)),
        paper={order: paper_table(order) for order in PAPER},
        paper_columns=PAPER_COLUMNS,
        paper_notes={order: list(map(unbroken, paper_notes(order))) for order in PAPER},
        choices=CHOICES,
        control=CONTROL,
        rest=REST,
        command=command_of(results),
        counted=counted,
        percent=percent_text,
    )


def figures(results: ParsingResults, summaries: Sequence[OrderSummary]) -> Iterator[PageFigure]:
    """Yield each figure, with a row of panels for each order."""
    columns = {
        column: key(COLUMNS[column], color=look.colour, marker=look.marker)
        for column, look in plots.LOOKS.items()
        if summaries[0].means[column] is not None
    }
    rules = plots.tuned_rules(results)
    lines = [key(rule, color=look.colour, marker=look.marker) for rule, look in looks([CSP, *rules]).items()]
    parts = [key("test", color="black"), key("dev", color="black", linestyle=DEV)]

    def panels(draw: Callable[[OrderSummary, TreebankSummary], Figure]) -> list[list[Picture]]:
        return [
            [
                Picture(uri(draw(summary, treebank)), f"{treebank.treebank}, order {summary.order}")
                for treebank in summary.treebanks
            ]
            for summary in summaries
        ]

    if len(columns) > 1:
        legend = [picture for column, picture in columns.items() if column != CSP]
        row = [Picture(uri(plots.gains(summary)), f"Order {summary.order}") for summary in summaries]
        yield PageFigure("gains", legend, [row])
    if rules:
        yield PageFigure("beta", [*lines, *parts], in_rows(panels(partial(plots.beta_curves, results))))
    for lengths in ("by_sentence_length", "by_arc_length"):
        yield PageFigure(lengths, list(columns.values()), in_rows(panels(partial(plots.by_length, lengths=lengths))))


def in_rows(panels: list[list[Picture]]) -> list[list[Picture]]:
    """Return a row for each order, or one row for all orders of a single treebank."""
    return panels if len(panels[0]) > 1 else [[picture for row in panels for picture in row]]


def paper_table(order: int) -> list[tuple[str, list[Cell]]]:
    """Return Table 2 as printed; as there, the best of each line except Test B-WM is bold."""
    rows = []
    for name, scores in [*PAPER[order].items(), ("Average", PAPER_AVERAGE[order])]:
        best = max(scores[:3])
        rows.append((name, [Cell(f"{score:.2f}", k < 3 and score == best) for k, score in enumerate(scores)]))
    return rows


def command_of(results: ParsingResults) -> str:
    """Return the command that runs the study again, in the folder of its files.

    Only --paper allows several roots; all its other settings are written out.
    """
    settings = results.settings
    arguments = [f"{bank['name']}={','.join(bank['files'].values())}" for bank in results.header["treebanks"]]
    flags = {
        "treebanks": None,
        "sample_dev": "--sample-dev" if settings.sample_dev else None,
        "shuffle": None if settings.shuffle else "--no-shuffle",
        "one_root": "--paper" if settings.one_root is False else None,
        "projective": "--projective" if settings.projective else None,
        "control": None if settings.control else "--no-control",
    }
    return command(results.header, arguments=arguments, flags=flags)


def setting_text(name: str, value: Any) -> str:
    """Return a setting as the page shows it."""
    if name == "treebanks":
        return "; ".join(
            f"{bank['name']}: "
            + ", ".join(f"{file} ({bank['sha256'][part][:12]}…)" for part, file in bank["files"].items())
            for bank in value
        )
    return "default" if value is None else plain(value).replace(",", ", ")
