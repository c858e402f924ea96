"""Owns the HTML report of the synthetic study: results in, one self-contained page out."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jinja2
import numpy as np
from matplotlib.figure import Figure

from swvp.experiments.summary import PAPER, SIGNIFICANCE_TEST, WEIGHTS, RuleSummary, SetupSummary, Tuned, std, summarise
from swvp.experiments.synthetic import CHOICES, SETUPS
from swvp.report import plots

__all__ = ["render"]

NONE = "–"
SIGNIFICANT = 0.05
COLUMNS = ("Accuracy (std)", "Mean over β", "Wins", "Gener.", "Dev only", "p", "Back-off", "Cond. (2)")
PAPER_COLUMNS = ("Accuracy (std)", "Wins", "Gener.")
BOLD = ("Accuracy (std)", "Mean over β", "Wins")


def render(results: dict[str, Any]) -> str:
    """The page; the same results give the same bytes."""
    loader = jinja2.PackageLoader("swvp.report", ".")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    summaries = summarise(results)
    return environment.get_template("synthetic.html.j2").render(
        results=results,
        settings=results["settings"],
        summaries=summaries,
        setups=SETUPS,
        words=list(words(results, summaries)),
        columns=COLUMNS,
        paper_columns=PAPER_COLUMNS,
        tables={summary.setup: list(table(results, summary)) for summary in summaries},
        notes={summary.setup: list(notes(summary)) for summary in summaries},
        test=SIGNIFICANCE_TEST,
        figures=list(figures(results, summaries)),
        choices=CHOICES,
        command=command(results["settings"]),
        hmms=hmms(results["datasets"]),
        percent=percent,
    )


def words(results: Mapping[str, Any], summaries: Sequence[SetupSummary]) -> Iterator[tuple[str, str]]:
    """The summary, as (what about, sentences); every statement follows from the numbers."""
    for kind in WEIGHTS:
        found = []
        for summary in summaries:
            csp, others = split(summary, kind)
            sentence = against({name: tuned.mean for name, tuned in others.items()}, csp.mean)
            tested = [tuned.p_value for tuned in others.values() if tuned.p_value is not None]
            if tested:
                sentence += f" ({sum(p < SIGNIFICANT for p in tested)} of {len(tested)} with p < {SIGNIFICANT})"
            found.append(f"in setup {summary.setup} {sentence}")
        yield f"{kind.capitalize()} weights", sentences(found)
    yield "Ceiling", sentences(ceiling(summary) for summary in summaries)
    if any(tuned.beta != [None] * len(tuned.beta) for summary in summaries for tuned in split(summary, "last")[1].values()):
        yield "Tuning", sentences(tuning(results, summary) for summary in summaries)
        worse = [rule for s in summaries for kind in WEIGHTS for rule in split(s, kind)[1].values()]
        failed = sum(tuned.dev_only_wins or 0 for tuned in worse)
        of = sum(len(tuned.test) for tuned in worse)
        yield (
            "From development to test",
            f"Of {of:,} comparisons, last and averaged, {failed} {'was' if failed == 1 else 'were'} won against CSP "
            "on the development set but not on the test set (the paper: 1 of 120).",
        )


def split(summary: SetupSummary, kind: str) -> tuple[Tuned, dict[str, Tuned]]:
    """CSP, and the other rules by name."""
    tuned: dict[str, Tuned] = {rule.rule: getattr(rule, kind) for rule in summary.rules}
    return tuned.pop("csp"), tuned


def against(values: Mapping[str, float], csp: float) -> str:
    """Which of the rules are above CSP, which below, and by how much."""
    if not values:
        return f"CSP reaches {percent(csp)} %, and no other rule was run"
    gaps = {name: round(100 * (value - csp), 2) for name, value in values.items()}
    parts = []
    for word, chosen in (
        ("above", [name for name, gap in gaps.items() if gap > 0]),
        ("below", [name for name, gap in gaps.items() if gap < 0]),
        ("level with", [name for name, gap in gaps.items() if gap == 0]),
    ):
        than = f"CSP ({percent(csp)} %)" if not parts else "it"
        if chosen:
            who = f"all {len(gaps)} rules" if len(chosen) == len(gaps) > 1 else listed(chosen)
            verb = "is" if len(chosen) == 1 else "are"
            parts.append(f"{who} {verb} {word} {than}" + by(abs(gaps[name]) for name in chosen))
        elif word == "above":
            parts.append(f"no rule is above {than}")
    return "; ".join(parts)


def by(gaps: Iterator[float]) -> str:
    low, *_, high = [*(ordered := sorted(gaps)), ordered[-1]]
    return "" if high == 0 else f" by {low:.2f} points" if low == high else f" by {low:.2f} to {high:.2f} points"


def ceiling(summary: SetupSummary) -> str:
    """How far from the best that is possible."""
    means = {(rule.rule, kind): getattr(rule, kind).mean for rule in summary.rules for kind in WEIGHTS}
    rule, kind = max(means, key=lambda each: means[each])

    def gap(mean: float) -> str:
        points = round(100 * (mean - summary.ceiling), 2)
        return f"{abs(points):.2f} points {'above' if points > 0 else 'below'} it" if points else "level with it"

    sentence = (
        f"in setup {summary.setup} the ceiling is {percent(summary.ceiling)} %; the best model, {rule} with {kind} "
        f"weights, is {gap(means[rule, kind])}, CSP with the last weights {gap(means['csp', 'last'])}"
    )
    others = {name: tuned.mean for name, tuned in split(summary, "last")[1].items()}
    if others:
        best = max(others, key=lambda name: others[name])
        sentence += f" and the best other rule with them, {best}, {gap(others[best])}"
    return sentence


def tuning(results: Mapping[str, Any], summary: SetupSummary) -> str:
    """What is left of the last weights' gain without a choice on the development set, or with one for CSP too."""
    csp, others = split(summary, "last")
    means = {name: untuned(results, summary.setup, name, "last") for name in others}
    known = {name: mean for name, mean in means.items() if mean is not None}
    sentence = f"in setup {summary.setup}, with the last weights and no choice of β (the mean over all), "
    sentence += against(known, csp.mean)
    if results["settings"]["epochs"] > 1:
        chosen = float(np.mean(best_pass(results, summary.setup, "last")))
        beaten = sum(tuned.mean < chosen for tuned in others.values())
        sentence += (
            f"; CSP with its best pass on the development set instead of the last reaches {percent(chosen)} %, "
            f"above {beaten} of {len(others)} tuned rules"
        )
    return sentence


def untuned(results: Mapping[str, Any], setup: int, rule: str, kind: str) -> float | None:
    """The test accuracy of a rule as the mean over all β and datasets; None where there is no β."""
    groups = plots.runs_by_beta(results, setup, rule)
    if None in groups:
        return None
    return float(np.mean([plots.finals(runs, kind, "test") for runs in groups.values()])) / 100


def best_pass(results: Mapping[str, Any], setup: int, kind: str) -> list[float]:
    """CSP's test accuracy after the pass that is best on the development set, for each dataset."""
    curves = [run["accuracy"] for run in plots.runs_by_beta(results, setup, "csp")[None]]
    return [curve[f"{kind}_test"][int(np.argmax(curve[f"{kind}_dev"]))] for curve in curves]


def table(results: Mapping[str, Any], summary: SetupSummary) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Groups of rows for last and averaged weights; a row is a name and its cells as (text, bold)."""
    for kind in WEIGHTS:
        rows = []
        for rule in summary.rules:
            tuned: Tuned = getattr(rule, kind)
            cells = ours(tuned, untuned(results, summary.setup, rule.rule, kind)) + printed(rule, kind)
            rows.append({"name": rule.rule, "cells": cells, "kind": "rule"})
        embolden(rows)
        if results["settings"]["epochs"] > 1:
            chosen = best_pass(results, summary.setup, kind)
            wins = sum(a > b for a, b in zip(chosen, split(summary, kind)[0].test, strict=True))
            texts = [with_std(float(np.mean(chosen)), std(chosen)), NONE, f"{wins}/{len(chosen)}"]
            texts += [NONE] * (len(COLUMNS) - 3) + [""] * len(PAPER_COLUMNS)
            name = "csp, best pass on dev"
            rows.insert(1, {"name": name, "cells": [(text, False) for text in texts], "kind": "control"})
        yield f"{kind.capitalize()} weights", rows


def ours(tuned: Tuned, over_betas: float | None) -> list[str]:
    def of(count: int | None) -> str:
        return NONE if count is None else f"{count}/{len(tuned.test)}"

    return [
        with_std(tuned.mean, tuned.std),
        NONE if over_betas is None else percent(over_betas),
        of(tuned.wins),
        NONE if over_betas is None else of(tuned.generalised),
        of(tuned.dev_only_wins),
        NONE if tuned.p_value is None else "<0.001" if tuned.p_value < 0.001 else f"{tuned.p_value:.3f}",
        f"{percent(tuned.back_off_rate, 1)} %",
        f"{percent(tuned.condition_2_rate, 1)} %",
    ]


def printed(rule: RuleSummary, kind: str) -> list[str]:
    """The paper's numbers. It does not speak of averaging in this study, so they stand beside the last weights."""
    if kind != "last" or rule.paper is None:
        return [NONE if kind == "last" else ""] * len(PAPER_COLUMNS)
    mean, spread, *counts = rule.paper
    return [f"{mean:.2f} ({spread:.2f})", *(NONE if count is None else f"{count}/10" for count in counts)]


def embolden(rows: list[dict[str, Any]]) -> None:
    """Mark the best of each column where more is better; equal is what is printed equal."""
    marked = [name in BOLD for name in (*COLUMNS, *PAPER_COLUMNS)]
    best: list[float | None] = []
    for column, mark in enumerate(marked):
        numbers = [number(row["cells"][column]) for row in rows]
        known = [value for value in numbers if value is not None]
        best.append(max(known) if mark and len(rows) > 1 and known else None)
    for row in rows:
        row["cells"] = [(t, b is not None and number(t) == b) for t, b in zip(row["cells"], best, strict=True)]


def number(cell: str) -> float | None:
    """The first number of a cell."""
    return float(cell.replace("/", " ").split()[0]) if cell[:1].isdigit() else None


def notes(summary: SetupSummary) -> Iterator[str]:
    """What a reader of this table should know; only where the numbers call for it."""
    if left_out := plots.outside(summary):
        means = [100 * rule.last.mean for rule in summary.rules if rule.rule in left_out]
        printed = sorted(values[0] for values in PAPER[summary.setup].values())
        yield (
            f"The paper prints accuracies of {printed[0]:.0f} to {printed[-1]:.0f} % for this setup, ours are "
            f"{min(means):.0f} to {max(means):.0f} %. The generator follows the paper's footnote, and with it the best "
            f"possible is about {100 * summary.ceiling:.0f} %. We do not know what makes the difference."
        )
    lowest = 2.0 ** (1 - summary.datasets)
    if summary.datasets > 1 and lowest >= SIGNIFICANT:
        yield f"With {summary.datasets} datasets the test cannot give a p below {lowest:g}."


def figures(results: Mapping[str, Any], summaries: Sequence[SetupSummary]) -> Iterator[dict[str, Any]]:
    """Each figure: its heading, caption, legend as (picture, text), and a panel per setup as (picture, alt text)."""
    rules = [rule.rule for rule in summaries[0].rules]
    keys = [(uri(plots.swatch(color=c, marker=m, markersize=4)), name) for name, (c, m) in plots.looks(rules).items()]
    ceiling_key = (uri(plots.swatch(color=plots.GREY, linestyle="dotted")), "ceiling")
    last = uri(plots.swatch(color="black", marker="o", markersize=5))
    averaged = uri(plots.swatch(color="black", marker="o", markersize=5, markerfacecolor="white"))
    paper = uri(plots.swatch(color=plots.GREY, marker="x", linestyle="none", markersize=5, markeredgewidth=1.4))
    test, dev = uri(plots.swatch(color="black")), uri(plots.swatch(color="black", linestyle=plots.DEV))
    yield {
        "name": "accuracy",
        "legend": [(last, "last weights"), (averaged, "averaged weights"), (paper, "the paper’s"), ceiling_key],
        "panels": [(uri(plots.accuracies(each)), accuracy_alt(each)) for each in summaries],
    }
    kinds = [("learning", [*keys, ceiling_key], plots.learning_curves)]
    if any(None not in plots.runs_by_beta(results, each.setup, rule) for each in summaries for rule in rules):
        kinds.insert(0, ("beta", [*keys, (test, "test"), (dev, "development")], plots.beta_curves))
    if len(rules) > 1:
        kinds.append(("rates", keys[1:], plots.rates))
    for name, legend, draw in kinds:
        panels = [(uri(draw(results, each)), f"Setup {each.setup}: {', '.join(rules)}.") for each in summaries]
        yield {"name": name, "legend": legend, "panels": panels, "rise": rise(results, summaries)}


def accuracy_alt(summary: SetupSummary) -> str:
    listed = ", ".join(
        f"{rule.rule} {percent(rule.last.mean)} and {percent(rule.averaged.mean)}" for rule in summary.rules
    )
    return f"Setup {summary.setup}, test accuracy with last and averaged weights: {listed}; ceiling {percent(summary.ceiling)}."
