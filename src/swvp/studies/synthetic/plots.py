"""The figures of the synthetic study: one matplotlib figure per setup."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from swvp.studies.common.figures import DEV, GREY, WIDTH, Look, draw_by_beta, looks, short, styled
from swvp.studies.common.words import between
from swvp.studies.synthetic.settings import CONTROL
from swvp.studies.synthetic.study import WEIGHTS, Run, SyntheticResults
from swvp.studies.synthetic.summary import SetupSummary, std
from swvp.studies.synthetic.words import outside

__all__ = [
    "KEYS",
    "accuracies",
    "beta_curves",
    "learning_curves",
    "rates",
]

KEYS: dict[str, dict[str, Any]] = {
    "last weights": {"color": "black", "marker": "o"},
    "averaged weights": {"color": "black", "marker": "o", "markerfacecolor": "white"},
    "paper": {"color": GREY, "marker": "x", "linestyle": "none", "markeredgewidth": 1.4},
    "ceiling": {"color": GREY, "linestyle": "dotted", "linewidth": 1.4},
    "test": {"color": "black"},
    "dev": {"color": "black", "linestyle": DEV},
}
"""The entries of legends that are not rules."""


@styled
def accuracies(summary: SetupSummary) -> Figure:
    """Draw a row per rule: last weights (filled) and averaged (open), ± std; the paper's number; the ceiling."""
    rules = summary.rules
    look = looks([rule.rule for rule in rules])
    far = outside(summary)
    figure = Figure(figsize=(WIDTH, (1.35 if far else 1.15) + 0.4 * len(rules)))
    axes = figure.subplots()
    for row, rule in enumerate(rules):
        colour, marker = look[rule.rule]
        for tuned, shift, fill in ((rule.last, -0.13, colour), (rule.averaged, 0.13, "white")):
            axes.errorbar(
                [100 * tuned.mean],
                [row + shift],
                xerr=[100 * tuned.std],
                color=colour,
                marker=marker,
                markersize=5,
                markerfacecolor=fill,
                capsize=2,
                elinewidth=1,
            )
        if rule.paper is not None and rule.rule not in far:
            axes.plot([rule.paper.mean], [row - 0.13], color=GREY, marker="x", markersize=5.5, markeredgewidth=1.4)
    axes.axvline(100 * summary.ceiling, color=GREY, linestyle="dotted", linewidth=1.4)
    axes.set_yticks(range(len(rules)), [short(rule.rule) for rule in rules])
    axes.set_ylim(len(rules) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_title(f"Setup {summary.setup}, ceiling {100 * summary.ceiling:.1f}")
    axes.set_xlabel("test accuracy (%)")
    if far:
        text = f"Paper: {between(far.values())}, outside this range"
        figure.supxlabel(text, fontsize=8, color=GREY, style="italic")
    return figure


@styled
def beta_curves(results: SyntheticResults, summary: SetupSummary) -> Figure:
    """Draw accuracy by β, mean over the datasets: test solid, dev dashed; rules without β are horizontal lines."""
    figure, panels = stacked(summary, [f"{kind} weights" for kind in WEIGHTS])
    for axes, kind in zip(panels, WEIGHTS, strict=True):
        errors = []
        for look, groups in rules_by_beta(results, summary):
            for part, line in (("dev", DEV), ("test", "solid")):
                values = {beta: finals(runs, kind, part).mean() for beta, runs in groups.items()}
                draw_by_beta(axes, values, look, linestyle=line, marked=part == "test")
            errors += [std(list(finals(runs, kind, "test"))) / len(runs) ** 0.5 for runs in groups.values()]
        if summary.datasets > 1:
            axes.set_title(f"s.e. ± {np.median(errors):.1f}", loc="right", fontweight="normal", color=GREY)
        axes.set_ylabel("accuracy (%)")
    beta_axis(results, panels)
    return figure


@styled
def learning_curves(results: SyntheticResults, summary: SetupSummary) -> Figure:
    """Draw the test accuracy of the chosen runs by epoch, mean over the datasets; a converged run stays level."""
    figure, panels = stacked(summary, [f"{kind} weights" for kind in WEIGHTS])
    look = looks([rule.rule for rule in summary.rules])
    for axes, kind in zip(panels, WEIGHTS, strict=True):
        tests = {
            rule: [run.accuracy[f"{kind}_test"] for run in results.chosen(summary.setup, rule, kind)] for rule in look
        }
        epochs = max(len(curve) for curves in tests.values() for curve in curves)
        for rule, (colour, marker) in look.items():
            full = [[*curve, *[curve[-1]] * (epochs - len(curve))] for curve in tests[rule]]
            mean = 100 * np.mean(full, axis=0)
            axes.plot(range(1, epochs + 1), mean, color=colour, marker=marker, markersize=3.5)
        axes.axhline(100 * summary.ceiling, color=GREY, linestyle="dotted", linewidth=1.4)
        axes.set_xlim(0.6, epochs + 0.4)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))
        axes.set_ylabel("test accuracy (%)")
    panels[-1].set_xlabel("epoch")
    return figure


@styled
def rates(results: SyntheticResults, summary: SetupSummary) -> Figure:
    """Draw the shares of updates that backed off to CSP, and that failed γ condition (2), by β."""
    figure, panels = stacked(summary, ["back-off", "condition (2) failed"])
    for axes, count in zip(panels, ("back_offs", "condition_2_failures"), strict=True):
        for look, groups in rules_by_beta(results, summary)[1:]:
            values = {beta: share(runs, count) for beta, runs in groups.items()}
            draw_by_beta(axes, values, look, linestyle="solid", marked=True)
        top = max(1.0, axes.dataLim.y1)
        axes.set_ylim(-0.04 * top, 1.08 * top)
        axes.set_ylabel("% of updates")
    beta_axis(results, panels)
    return figure


def stacked(summary: SetupSummary, titles: Sequence[str]) -> tuple[Figure, Sequence[Axes]]:
    figure = Figure(figsize=(WIDTH, 4.6))
    panels: Sequence[Axes] = list(figure.subplots(len(titles), 1, sharex=True))
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(f"Setup {summary.setup}, {title}")
    return figure, panels


def rules_by_beta(results: SyntheticResults, summary: SetupSummary) -> list[tuple[Look, dict[float | None, list[Run]]]]:
    """Return the look of each rule, CSP first and without the control, and its runs by β, the smallest first."""
    rules = []
    for rule, look in looks([rule.rule for rule in summary.rules]).items():
        groups: dict[float | None, list[Run]] = {}
        for run in results.of(summary.setup, rule):
            groups.setdefault(run.beta, []).append(run)
        if rule != CONTROL:
            rules.append((look, dict(sorted(groups.items(), key=lambda group: group[0] or 0.0))))
    return rules


def finals(runs: Sequence[Run], kind: str, part: str) -> NDArray[np.float64]:
    """Return the accuracies after the last epoch, in percent."""
    return 100 * np.array([run.final(kind, part) for run in runs])


def share(runs: Sequence[Run], count: str) -> float:
    """Return a count in percent of the updates of all epochs."""
    counted, updates = (sum(run.total(key) for run in runs) for key in (count, "updates"))
    return float(100 * counted / max(updates, 1))


def beta_axis(results: SyntheticResults, panels: Sequence[Axes]) -> None:
    betas = sorted(results.settings.betas)
    margin = 0.04 * (betas[-1] - betas[0]) or 0.5
    panels[-1].set_xlim(betas[0] - margin, betas[-1] + margin)
    if min(np.diff(betas), default=np.inf) > margin:
        panels[-1].set_xticks(betas, [f"{beta:g}" for beta in betas])
    else:  # the labels would overlap
        panels[-1].xaxis.set_major_locator(MaxNLocator(nbins=6))
    panels[-1].set_xlabel("β")
