"""Figures that all studies draw: the answer to their question, and scores by β with dev and test set apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from swvp.studies.common.answer import Answer, Contrast, answer_lines, answer_table, is_significant
from swvp.studies.common.page import (
    GREY,
    WIDTH,
    Look,
    PageAnswer,
    PageFigure,
    Picture,
    draw_by_beta,
    key,
    short,
    styled,
    unbroken,
    uri,
)

__all__ = ["ByBeta", "beta_axis", "draw_answer", "draw_scores_by_beta", "page_answer"]

PAYS = Look("#D55E00", "D")
ALONE = Look("#8c8c8c", "^")
MANY = 6
"""More values of β than this are not all labelled: every tick is drawn, every second one has its number."""

ByBeta = Mapping[str, Mapping[float | None, float]]
"""The scores of rules by β, in percent; a rule without β has None."""

CAPTION = (
    "Orange: the best rule with sub-structures less the best one without that has the same step, in points of "
    "{measure}, with 95 % intervals; filled where the difference is significant after correction. Grey: the best one "
    "without, of any step, less CSP: the effect of step and margin. Rules, β and margins are chosen on the dev sets."
)
NOTE = (
    "The rules of each pair are chosen on the dev set. p: {test}. Holm: p corrected for the number of {datasets}; for "
    "the mean it is p itself. Bold: Holm below 0.05."
)


def page_answer(answers: Sequence[Answer], *, measure: str, datasets: str, test: str) -> PageAnswer:
    """Return the beginning of a page; `datasets` is what the datasets are called, `test` what gives the p-values."""
    lines = [unbroken(line) for line in answer_lines(answers, measure, datasets)]
    if not answers:
        return PageAnswer(lines)
    legend = [
        key("with sub-structures − without, same step", color=PAYS.colour, marker=PAYS.marker),
        key("without, any step − CSP: step and margin alone", color=ALONE.colour, marker=ALONE.marker),
    ]
    if any(len(answer.contrasts) > 1 for answer in answers):
        panels = [Picture(uri(draw_answer(answer.rows, answer.group, measure)), answer.group) for answer in answers]
    else:  # a row for each group instead of almost empty panels
        rows = [named(answer) for answer in answers]
        panels = [Picture(uri(draw_answer(rows, "", measure)), "")]
    heading = f"{datasets[:-1].capitalize()}"
    return PageAnswer(
        lines,
        PageFigure("wide", legend, [panels]),
        answer_table(answers, heading),
        CAPTION.format(measure=measure),
        Markup(NOTE).format(test=test, datasets=datasets),
    )


def named(answer: Answer) -> Contrast:
    """Return the only contrast of a group, with the name of the group."""
    (one,) = answer.contrasts
    return Contrast(answer.group or one.dataset, one.best, one.rival, one.plain, one.tested, one.alone)


@styled
def draw_answer(rows: Sequence[Contrast], title: str, measure: str) -> Figure:
    """Draw both differences of each row with their intervals."""
    figure = Figure(figsize=(1.5 * WIDTH, 0.8 + 0.42 * len(rows)))
    axes = figure.subplots()
    for row, contrast in enumerate(rows):
        for look, test, shift in ((PAYS, contrast.tested, -0.13), (ALONE, contrast.alone, 0.13)):
            low, high = test.interval
            fill = look.colour if is_significant(test) else "white"
            axes.plot([100 * low, 100 * high], [row + shift] * 2, color=look.colour, solid_capstyle="butt")
            axes.plot(
                [100 * test.difference],
                [row + shift],
                color=look.colour,
                marker=look.marker,
                markerfacecolor=fill,
                markersize=5,
            )
        if not contrast.best:
            axes.axhline(row - 0.5, color="#bbbbbb", linewidth=0.8)
    axes.axvline(0, color="black", linewidth=0.9)
    axes.set_yticks(range(len(rows)), [short(row.dataset) for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_title(title)
    axes.set_xlabel(f"difference (points of {measure})")
    return figure


def beta_axis(axes: Axes, betas: Sequence[float]) -> None:
    """Make an axis of β with a tick at each value that was tried; logarithmic unless the values are evenly spaced."""
    betas = sorted(betas)
    steps = np.diff(betas)
    if len(betas) > 2 and np.allclose(steps, steps[0]):
        margin = 0.04 * (betas[-1] - betas[0])
        axes.set_xlim(betas[0] - margin, betas[-1] + margin)
    else:
        axes.set_xscale("log", base=2)
        axes.set_xlim(betas[0] / 1.15, betas[-1] * 1.15)
    every = 1 if len(betas) <= MANY else 2
    axes.set_xticks(betas, [f"{beta:g}" if k % every == every - 1 else "" for k, beta in enumerate(betas)])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("β")


@styled
def draw_scores_by_beta(
    parts: Mapping[str, ByBeta],
    looks: Mapping[str, Look],
    betas: Sequence[float],
    *,
    title: str,
    measure: str,
    bands: Mapping[str, tuple[float, float]] | None = None,
) -> Figure:
    """Draw scores by β, dev and test set side by side; `bands` has a range of scores by part, which is shaded."""
    figure = Figure(figsize=(1.7 * WIDTH, 2.6))
    panels: Sequence[Axes] = list(figure.subplots(1, len(parts)))
    for axes, (part, scores) in zip(panels, parts.items(), strict=True):
        for rule, values in scores.items():
            draw_by_beta(axes, values, looks[rule])
        if bands is not None and part in bands:
            axes.axhspan(*bands[part], color=GREY, alpha=0.13, linewidth=0)
        beta_axis(axes, betas)
        axes.set_title(f"{title}, {part}")
    panels[0].set_ylabel(f"{measure} (%)")
    return figure
