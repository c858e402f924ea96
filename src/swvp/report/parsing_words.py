"""Owns the sentences of the parsing study's report: every statement follows from the numbers as they are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from swvp.experiments.parsing_runs import CONTROL, REST
from swvp.experiments.parsing_summary import TESTED, OrderSummary, RuleLine
from swvp.experiments.table2 import PAPER, PAPER_AVERAGE, PAPER_COLUMNS
from swvp.report.words import SIGNIFICANT, counted, listed

__all__ = ["ORDERS", "p_value", "paper_notes", "points", "speeds", "words"]

ORDERS = {1: "First", 2: "Second"}


def points(difference: float) -> str:
    """A difference of shares in percentage points."""
    text = f"{100 * difference:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", "−")


def p_value(p: float) -> str:
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def speeds(runs: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """CPU seconds of a training, median over the runs, and words parsed in a second of CPU time, in all of them."""
    words, parse = (
        sum(values) for values in zip(*((run["test"][1], run["timing"]["parse"]) for run in runs), strict=True)
    )
    return float(np.median([run["timing"]["train"] for run in runs])), words / max(parse, 1e-9)


def words(summaries: Sequence[OrderSummary]) -> Iterator[tuple[str, str]]:
    """The summary, as (what about, text)."""
    for summary in summaries:
        about = f"{ORDERS[summary.order]} order"
        said = [against(summary, pair, title) for pair, title in TESTED.items() if pair in summary.overall]
        if said:
            yield about, " ".join(said)
        if (known := bound(summary)) is not None:
            yield f"{about}, chosen on the test set", known
        if (known := extra(summary)) is not None:
            yield f"{about}, more tries and more data", known


def against(summary: OrderSummary, pair: tuple[str, str], title: str) -> str:
    """How a column does against another one, losses too."""
    found, (won, lost) = summary.overall[pair], summary.score(*pair) or (0, 0)
    of = len(summary.lines)
    sure = [line.compared[pair] for line in summary.lines]
    better, worse = (sum(one.corrected < SIGNIFICANT and one.difference * sign > 0 for one in sure) for sign in (1, -1))
    subject = title[0].upper() + title[1:]
    low, high = found.interval
    sides = f"above on {won} of {counted(of, 'treebank')}, below on {lost}"
    mean = f"{points(found.difference)} points" + (" on average" if of > 1 else "")
    p = f"p\u00a0=\u00a0{p_value(found.p)}".replace("=\u00a0<", "<\u00a0")
    interval = f"95\u00a0% interval {points(low)} to {points(high)}, {p}"
    return f"{subject}: {mean} ({interval}); {sides}; significant after correction: {better} above, {worse} below."


def bound(summary: OrderSummary) -> str | None:
    """What choosing on the test set would add to B-WM."""
    tuned, top, test = (summary.means[column] for column in ("b_wm", "top", "test"))
    if tuned is None or top is None or test is None:
        return None
    return (
        f"With a choice that sees the test set, B-WM has {points(top - tuned)} (Top) and {points(test - tuned)} points "
        "(Test) more. That is no gain of a method; it says how much could be lost by choosing β on development data."
    )


def extra(summary: OrderSummary) -> str | None:
    """What the controls say."""
    said = []
    rules: dict[str, RuleLine] = {rule.rule: rule for rule in summary.rules}
    if CONTROL in rules:
        said.append(f"as many tries on other orders ({CONTROL}) give CSP {points(rules[CONTROL].gain)} points")
    if REST in rules and rules[REST].runs:
        said.append(f"leaving out the sampled sentences ({REST}) gives it {points(rules[REST].gain)}")
    return None if not said else listed(said)[0].upper() + listed(said)[1:] + "."


def paper_notes(order: int) -> Iterator[str]:
    """What a reader of the printed table should know."""
    means = np.mean(list(PAPER[order].values()), axis=0)
    other = [
        f"{name} {printed:.2f} (mean {mean:.2f})"
        for name, printed, mean in zip(PAPER_COLUMNS, PAPER_AVERAGE[order], means, strict=True)
        if abs(printed - mean) > 0.0151
    ]
    if other:
        yield f"Printed averages that are not the mean of the lines above them: {listed(other)}."
    beyond = [language for language, row in PAPER[order].items() if row[2] > row[3]]
    if beyond:
        yield f"Top B-WM cannot be above Test B-WM, but is printed so for {listed(beyond)}."
