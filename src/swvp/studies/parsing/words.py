"""Owns the sentences of the parsing study's report: every statement follows from the numbers as they are printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from swvp.studies.parsing.paper_table import PAPER, PAPER_AVERAGE, PAPER_COLUMNS
from swvp.studies.parsing.runs import CONTROL, CSP, REST
from swvp.studies.parsing.summary import TESTED, Line, OrderSummary, runs_of, shown, uas
from swvp.studies.synthetic.words import SIGNIFICANT, listed

__all__ = ["ORDERS", "csp_tries", "identical", "p_value", "paper_notes", "points", "speeds", "words"]

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


def words(results: Mapping[str, Any], summaries: Sequence[OrderSummary]) -> Iterator[tuple[str, str]]:
    """The summary, as (what about, text)."""
    for summary in summaries:
        order = f"{ORDERS[summary.order]} order"
        for pair, title in TESTED.items():
            if pair in summary.overall:
                yield f"{order}, {title}", against(summary, pair)
        if same := [line for line in summary.lines if line.best_is_the_rival]:
            yield f"{order}, best SWVP and best rival", identical(same)
        if (known := bound(summary)) is not None:
            yield f"{order}, β chosen on the test set", known
        if (known := chance(results, summary)) is not None:
            yield f"{order}, orders of training", known
        if (known := less(summary)) is not None:
            yield f"{order}, sampled development sentences", known


def against(summary: OrderSummary, pair: tuple[str, str]) -> str:
    """How a column does against another one, losses too."""
    found, (won, lost) = summary.overall[pair], summary.score(*pair) or (0, 0)
    of, (low, high) = len(summary.lines), found.interval
    p = f"p\u00a0=\u00a0{p_value(found.p)}".replace("=\u00a0<", "<\u00a0")
    mean = f"{points(found.difference)} points" + (" on average" if of > 1 else "")
    text = f"{mean} (95\u00a0% interval {points(low)} to {points(high)}, {p})"
    if of == 1:
        return f"{text}."
    sure = [one.difference for line in summary.lines if (one := line.compared[pair]).corrected < SIGNIFICANT]
    above, below = (sum(sign * gain > 0 for gain in sure) for sign in (1, -1))
    sides = f"above on {won} of {of} treebanks ({above} significant after correction)"
    return f"{text}; {sides}, below on {lost} ({below} significant)."


def identical(lines: Sequence[Line]) -> str:
    """Where the best SWVP rule is no other model than a rule without sub-structures."""
    names = [f"{line.treebank} ({shown(line.runs['best'])} and {shown(line.runs['rival'])})" for line in lines]  # type: ignore[arg-type]
    return f"The same model under two names on {listed(names)}: there the choice of sub-structures changes nothing."


def bound(summary: OrderSummary) -> str | None:
    """What choosing on the test set would add to B-WM."""
    tuned, top, test = (summary.means[column] for column in ("b_wm", "top", "test"))
    if tuned is None or top is None or test is None:
        return None
    return (
        f"With a choice that sees the test set, B-WM has {points(top - tuned)} (Top) and {points(test - tuned)} points "
        "(Test) more. That is no gain of a method: it bounds what is lost by choosing β on development data."
    )


def chance(results: Mapping[str, Any], summary: OrderSummary) -> str | None:
    """What the control says: how much the order of the sentences alone changes."""
    control = next((rule for rule in summary.rules if rule.rule == CONTROL), None)
    if control is None:
        return None
    tried = [csp_tries(results, line.treebank, summary.order) for line in summary.lines]
    ranges = [100 * (max(tries) - min(tries)) for tries in tried]
    many = f"{len(tried[0])} random orders of the sentences"
    text = f"The test UAS of CSP on {many} ranges over {np.mean(ranges):.2f} points"
    if len(ranges) > 1:
        text += f" on average over the treebanks, {max(ranges):.2f} at most"
    return f"{text}. The one that is best on development data ({CONTROL}) is at {points(control.gain)} points from CSP."


def csp_tries(results: Mapping[str, Any], treebank: str, order: int) -> list[float]:
    """The test UAS of CSP on all orders that were tried, always with the same sentences."""
    runs = runs_of(results, treebank, order)
    same = REST if any(run["rule"] == REST for run in runs) else CSP
    return [uas(run) for run in runs if run["rule"] in (same, CONTROL)]


def less(summary: OrderSummary) -> str | None:
    """What the sampled sentences are worth."""
    rest = next((rule for rule in summary.rules if rule.rule == REST), None)
    if rest is None:
        return None
    return (
        f"CSP learns from them, all other rules do not. CSP without them ({REST}) is at {points(rest.gain)} points "
        "from CSP: that is what fewer sentences change, whatever the rule."
    )


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
