"""Owns the HTML report of the parsing study: results in, one self-contained page out."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from matplotlib.figure import Figure

from swvp.studies.common.figures import DEV, looks, swatch
from swvp.studies.common.page import plain, template, unbroken, uri
from swvp.studies.parsing import plots
from swvp.studies.parsing.paper_table import PAPER, PAPER_AVERAGE, PAPER_COLUMNS
from swvp.studies.parsing.runs import CONTROL, CSP, REST
from swvp.studies.parsing.study import CHOICES
from swvp.studies.parsing.summary import COLUMNS, TESTED, Line, OrderSummary, RuleLine, rate, shown
from swvp.studies.parsing.words import ORDERS, p_value, paper_notes, points, speeds, words
from swvp.studies.synthetic.words import SIGNIFICANT, counted, percent

__all__ = ["command", "render"]

NONE = "–"
RATES = (
    *("No punct.", "Violating", "Back-off", "Cond. (2)", "No viol."),
    *("Arcs left", "Heads", "Certified", "CPU s", "Words/s"),
)
NEVER_BOLD = ("test",)
Cell = tuple[str, bool]


def render(results: dict[str, Any], summaries: Sequence[OrderSummary]) -> str:
    """The page; the same results give the same bytes."""
    return template("parsing/page.html.j2").render(
        results=results,
        settings=results["settings"],
        summaries=summaries,
        orders=ORDERS,
        columns=COLUMNS,
        words=[(about, unbroken(text)) for about, text in words(results, summaries)],
        tables={summary.order: list(table(summary)) for summary in summaries},
        tests={summary.order: list(tests(summary)) for summary in summaries},
        rules={summary.order: [rule_row(summary, rule) for rule in summary.rules] for summary in summaries},
        rate_columns=RATES,
        rates={summary.order: [rate_row(rule) for rule in summary.rules] for summary in summaries},
        figures=list(figures(results, summaries)),
        paper=paper(),
        paper_columns=PAPER_COLUMNS,
        paper_notes={order: list(map(unbroken, paper_notes(order))) for order in PAPER},
        choices=CHOICES,
        control=CONTROL,
        rest=REST,
        command=command(results["settings"]),
        counted=counted,
        percent=percent,
        setting=setting,
    )


def table(summary: OrderSummary) -> Iterator[dict[str, Any]]:
    """The lines of Table 2: treebanks, the average, treebanks won and lost."""
    for line in summary.lines:
        yield {"name": line.treebank, "kind": "", "cells": bold(line.uas(column) for column in COLUMNS)}
    if len(summary.lines) > 1:
        yield {"name": "Average", "kind": "sum", "cells": bold(summary.means[column] for column in COLUMNS)}
    scores = [None if column == "csp" else summary.score(column) for column in COLUMNS]
    cells = [(NONE if score is None else f"{score[0]}–{score[1]}", False) for score in scores]
    yield {"name": "Won–lost against CSP", "kind": "sum", "cells": cells}


def bold(values: Any) -> list[Cell]:
    """Scores in percent, the best bold; an upper bound is not compared."""
    texts = [NONE if value is None else percent(value) for value in values]
    known = [text for column, text in zip(COLUMNS, texts, strict=True) if column not in NEVER_BOLD and text != NONE]
    best = max(known, key=float)
    return [(text, text == best and column not in NEVER_BOLD) for column, text in zip(COLUMNS, texts, strict=True)]


def tests(summary: OrderSummary) -> Iterator[dict[str, Any]]:
    """Each comparison: what is compared, and a row for each treebank and for all."""
    for pair, title in TESTED.items():
        if pair not in summary.overall:
            continue
        rows = []
        for line in summary.lines:
            found = line.compared[pair]
            names = [shown(run) for column in pair if (run := line.runs[column]) is not None]
            sure = found.corrected < SIGNIFICANT
            cells = [*measures(found), p_value(found.p), p_value(found.corrected)]
            rows.append({"name": line.treebank, "rules": names, "cells": cells, "sure": sure})
        if len(summary.lines) > 1:
            found = summary.overall[pair]
            cells = [*measures(found), p_value(found.p), NONE]
            rows.append({"name": "All", "rules": ["", ""], "cells": cells, "sure": found.p < SIGNIFICANT})
        yield {"title": title, "rows": rows}


def measures(found: Any) -> list[str]:
    low, high = found.interval
    return [points(found.difference), f"{points(low)} to {points(high)}"]


def rule_row(summary: OrderSummary, rule: RuleLine) -> dict[str, Any]:
    """A rule's mean, its gain over CSP on each treebank, with the β it was run with there."""
    runs = {run["treebank"]: (run, gain) for run, gain in zip(rule.runs, rule.gains, strict=True)}
    cells = []
    for line in summary.lines:
        run, gain = runs.get(line.treebank, (None, 0.0))
        if run is None:
            cells.append((NONE, ""))
            continue
        what = percent(run["test"][0] / run["test"][1]) if rule.rule == CSP else points(gain)
        cells.append((what, "" if run["beta"] is None else f"β {run['beta']:g}"))
    base = rule.rule == CSP
    mean = NONE if not rule.runs else percent(rule.mean) if base else points(rule.gain)
    won = NONE if base or not rule.runs else f"{rule.won}–{rule.lost}"
    kind = "control" if rule.rule in (CONTROL, REST) else "rule"
    return {"name": rule.name, "kind": kind, "cells": cells, "mean": mean, "won": won}


def rate_row(rule: RuleLine) -> dict[str, Any]:
    """What happened in the updates of a rule with β tuned, and how long it took."""
    runs = rule.runs
    seconds, speed = speeds(runs)
    violating = sum(sum(run["history"]["violating"]) for run in runs)
    mixed = violating + sum(sum(run["history"]["non_violating"]) for run in runs)
    clean = [run["no_punctuation"] for run in runs]
    values = {
        "No punct.": percent(sum(right / max(of, 1) for right, of in clean) / len(runs)),
        "Violating": f"{percent(violating / max(mixed, 1), 1)} %",
        "Back-off": f"{percent(rate(runs, 'back_offs'))} %",
        "Cond. (2)": f"{percent(rate(runs, 'condition_2_failures'))} %",
        "No viol.": f"{percent(rate(runs, 'without_violation', of='mistakes'))} %",
        "Arcs left": f"{percent(sum(run['pruning']['recall'] for run in runs) / len(runs))} %",
        "Heads": f"{sum(run['pruning']['heads'] for run in runs) / len(runs):.1f}",
        "Certified": f"{percent(sum(run['certified'] for run in runs) / len(runs), 1)} %",
        "CPU s": f"{seconds:.1f}",
        "Words/s": f"{speed:,.0f}",
    }
    return {"name": rule.name, "kind": "control" if rule.rule in (CONTROL, REST) else "rule", "cells": values}


def figures(results: Mapping[str, Any], summaries: Sequence[OrderSummary]) -> Iterator[dict[str, Any]]:
    """Each figure: its name, legend as (picture, text), and groups of panels as (what it is of, picture)."""

    def key(text: str, **line: Any) -> tuple[str, str]:
        return uri(swatch(**line)), text

    drawn = {
        column: key(COLUMNS[column], color=look.colour, marker=look.marker) for column, look in plots.LOOKS.items()
    }
    drawn = {column: found for column, found in drawn.items() if summaries[0].means[column] is not None}
    rules = plots.tuned_rules(results)
    lines = [key(rule, color=look.colour, marker=look.marker) for rule, look in looks([CSP, *rules]).items()]
    parts = [key("test", color="black"), key("development", color="black", linestyle=DEV)]

    def each(draw: Callable[[OrderSummary, Line], Figure]) -> list[list[tuple[str, str]]]:
        return [
            [(f"{line.treebank}, order {summary.order}", uri(draw(summary, line))) for line in summary.lines]
            for summary in summaries
        ]

    if len(drawn) > 1:
        panels = [[(f"order {summary.order}", uri(plots.gains(summary))) for summary in summaries]]
        yield {"name": "gains", "legend": [found for column, found in drawn.items() if column != CSP], "groups": panels}
    if rules:
        yield {"name": "beta", "legend": [*lines, *parts], "groups": each(partial(plots.beta_curves, results))}
    for what in ("by_sentence_length", "by_arc_length"):
        panels = each(partial(plots.by_length, what=what))
        yield {"name": what, "legend": list(drawn.values()), "groups": panels}


def paper() -> dict[int, list[tuple[str, list[Cell]]]]:
    """Table 2 as printed; bold is the best but Test B-WM, as there."""
    tables = {}
    for order, rows in PAPER.items():
        lines = []
        for name, row in [*rows.items(), ("Average", PAPER_AVERAGE[order])]:
            best = max(row[:3])
            lines.append((name, [(f"{value:.2f}", k < 3 and value == best) for k, value in enumerate(row)]))
        tables[order] = lines
    return tables


def command(settings: Mapping[str, Any]) -> str:
    """The command line that redoes the study where the files lie."""
    parts = ["swvp", "experiment", settings["study"]]
    for bank in settings["treebanks"]:
        parts.append(f"{bank['name']}={','.join(bank['files'].values())}")
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            parts += (
                [option] if value and name != "control" else ["--no-control"] if name == "control" and not value else []
            )
        elif value is not None and name not in ("study", "version", "code", "loaded", "treebanks"):
            parts += [option, plain(value)]
    return shlex.join(parts)


def setting(name: str, value: Any) -> str:
    """A setting as the page shows it."""
    if name == "treebanks":
        return "; ".join(
            f"{bank['name']}: "
            + ", ".join(f"{file} ({bank['sha256'][part][:12]}…)" for part, file in bank["files"].items())
            for bank in value
        )
    return "all" if value is None else plain(value).replace(",", ", ")
