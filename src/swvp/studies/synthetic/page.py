"""The HTML report of the synthetic study: one self-contained page, with one Matplotlib figure per setup."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from swvp.studies.common.page import (
    GREY,
    WIDTH,
    PageFigure,
    Picture,
    beta_axis,
    command,
    draw_by_beta,
    draw_scores_by_beta,
    key,
    looks,
    page_answer,
    plain,
    short,
    styled,
    template,
    unbroken,
    uri,
)
from swvp.studies.common.running import CONTROL, CSP
from swvp.studies.common.tables import Spread, between, counted, percent_text, signed, std, with_std
from swvp.studies.synthetic.runs import WEIGHTS, Run
from swvp.studies.synthetic.settings import SETUPS
from swvp.studies.synthetic.study import DatasetResult, SyntheticResults
from swvp.studies.synthetic.summary import SIGNIFICANCE_TEST, SetupSummary, answers_of
from swvp.studies.synthetic.tables import OURS, THEIRS, page_table
from swvp.studies.synthetic.words import CHOICES, has_beta, is_tuned, notes, outside, rule_name, words

__all__ = ["KEYS", "accuracies", "beta_curves", "learning_curves", "rates", "render_synthetic"]


def render_synthetic(results: SyntheticResults, summaries: Sequence[SetupSummary]) -> str:
    """Return the page; the same results give the same bytes."""
    return template("synthetic/page.html.j2").render(
        results=results,
        settings=results.settings,
        header={name: plain(value).replace(",", ", ") for name, value in results.header.items()},
        summaries=summaries,
        answer=page_answer(
            answers_of(summaries),
            measure="test accuracy",
            datasets="setups",
            test="Wilcoxon signed-rank test over the datasets",
        ),
        setups=SETUPS,
        words=[(topic, unbroken(text)) for topic, text in words(results, summaries)],
        columns=[column.heading for column in OURS.values()],
        paper_columns=[column.heading for column in THEIRS.values()],
        tables={summary.setup: page_table(summary) for summary in summaries},
        ceilings={
            summary.setup: with_std(Spread(summary.ceiling, summary.ceiling_std, summary.datasets))
            for summary in summaries
        },
        notes={summary.setup: list(notes(summary)) for summary in summaries},
        significance_test=SIGNIFICANCE_TEST,
        figures=list(figures(results, summaries)),
        last_steps=last_steps(results),
        is_tuned=is_tuned(results),
        control=CONTROL,
        choices=CHOICES,
        command=command_of(results),
        hmms=hmms(results.datasets),
        counted=counted,
        percent=percent_text,
    )


def figures(results: SyntheticResults, summaries: Sequence[SetupSummary]) -> Iterator[PageFigure]:
    """Yield each figure, with a panel for each setup."""
    look = looks(results.settings.names)
    keys = {rule: key(rule, color=colour, marker=marker) for rule, (colour, marker) in look.items()}
    rules = [picture for rule, picture in keys.items() if rule != CONTROL]
    lines = {name: key(name, **line) for name, line in KEYS.items()}
    kinds = [lines[name] for name in ("last weights", "averaged weights", "paper", "ceiling")]
    drawn: dict[str, tuple[list[Picture], Callable[[SetupSummary], Figure]]] = {
        "accuracy": (kinds, accuracies),
        "learning": ([*keys.values(), lines["ceiling"]], partial(learning_curves, results)),
        "rates": (rules[1:], partial(rates, results)),
    }
    if not has_beta(results):
        del drawn["rates"]
    for name, (legend, draw) in drawn.items():
        panels = [Picture(uri(draw(summary)), f"Setup {summary.setup}") for summary in summaries]
        yield PageFigure(name, legend, [panels])
        if name == "accuracy" and has_beta(results):
            rows = [
                [
                    Picture(uri(beta_curves(results, summary, weights)), f"Setup {summary.setup}, {weights} weights")
                    for weights in WEIGHTS
                ]
                for summary in summaries
            ]
            yield PageFigure("wide", rules, rows)


def last_steps(results: SyntheticResults) -> list[tuple[str, str]]:
    """Return how the accuracy of the chosen runs changes in the last epoch: of tuned rules, CSP and the control.

    In points, with the last weights, as a mean over setups and datasets.
    """
    tuned = "rules with a tuned β"
    steps: dict[str, list[float]] = {tuned: [], "CSP": [], CONTROL: []}
    for setup in results.settings.setups:
        for rule in results.settings.names:
            for run in results.chosen(setup, rule, "last"):
                group = tuned if run.beta is not None else rule_name(rule)
                curve = run.accuracy["last_test"]
                if group in steps and len(curve) > 1:
                    steps[group].append(curve[-1] - curve[-2])
    return [(group, signed(float(np.mean(values)))) for group, values in steps.items() if values]


def command_of(results: SyntheticResults) -> str:
    """Return the command that runs the study again."""
    settings = results.settings
    flags = {
        "control": None if settings.control else "--no-control",
        "shuffle": "--shuffle" if settings.shuffle else None,
    }
    return command(results.header, flags=flags)


@dataclass(frozen=True)
class SharedHMM:
    """An HMM and the datasets that are sampled from it."""

    setup: int
    transition: list[list[float]]
    emission: list[list[float]]
    datasets: list[DatasetResult]


def hmms(datasets: Sequence[DatasetResult]) -> list[SharedHMM]:
    """Return each HMM once, with its datasets."""
    shared: list[SharedHMM] = []
    for data in datasets:
        hmm = SharedHMM(data.setup, data.transition, data.emission, [data])
        last = shared[-1] if shared else None
        if last and (last.setup, last.transition, last.emission) == (hmm.setup, hmm.transition, hmm.emission):
            last.datasets.append(data)
        else:
            shared.append(hmm)
    return shared


# ---------------------------------------------------------------- figures

KEYS: dict[str, dict[str, Any]] = {
    "last weights": {"color": "black", "marker": "o"},
    "averaged weights": {"color": "black", "marker": "o", "markerfacecolor": "white"},
    "paper": {"color": GREY, "marker": "x", "linestyle": "none", "markeredgewidth": 1.4},
    "ceiling": {"color": GREY, "linestyle": "dotted", "linewidth": 1.4},
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
def beta_curves(results: SyntheticResults, summary: SetupSummary, weights: str) -> Figure:
    """Draw accuracy by β, mean over the datasets, dev and test sets apart; rules without β are horizontal lines."""
    groups = rules_by_beta(results, summary)
    parts = {
        part: {
            rule: {beta: float(finals(runs, weights, part).mean()) for beta, runs in of_rule.items()}
            for rule, of_rule in groups.items()
        }
        for part in ("dev", "test")
    }
    errors = [
        std(list(finals(runs, weights, "test"))) / len(runs) ** 0.5
        for of_rule in groups.values()
        for runs in of_rule.values()
    ]
    figure = draw_scores_by_beta(
        parts,
        looks([rule.rule for rule in summary.rules]),
        results.settings.betas,
        title=f"Setup {summary.setup}, {weights}",
        measure="accuracy",
    )
    if summary.datasets > 1:
        figure.axes[1].set_title(f"s.e. ± {np.median(errors):.1f}", loc="right", fontweight="normal", color=GREY)
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
    look = looks([rule.rule for rule in summary.rules])
    for axes, count in zip(panels, ("back_offs", "condition_2_failures"), strict=True):
        for rule, groups in rules_by_beta(results, summary).items():
            if rule != CSP:
                values = {beta: share(runs, count) for beta, runs in groups.items()}
                draw_by_beta(axes, values, look[rule])
        top = max(1.0, axes.dataLim.y1)
        axes.set_ylim(-0.04 * top, 1.08 * top)
        axes.set_ylabel("% of updates")
    beta_axis(panels[-1], results.settings.betas)
    return figure


def stacked(summary: SetupSummary, titles: Sequence[str]) -> tuple[Figure, Sequence[Axes]]:
    figure = Figure(figsize=(WIDTH, 4.6))
    panels: Sequence[Axes] = list(figure.subplots(len(titles), 1, sharex=True))
    for axes, title in zip(panels, titles, strict=True):
        axes.set_title(f"Setup {summary.setup}, {title}")
    return figure, panels


def rules_by_beta(results: SyntheticResults, summary: SetupSummary) -> dict[str, dict[float | None, list[Run]]]:
    """Return the runs of each rule by β, the smallest first; CSP is the first rule, the control is left out."""
    rules = {}
    for rule in [rule.rule for rule in summary.rules if rule.rule != CONTROL]:
        groups: dict[float | None, list[Run]] = {}
        for run in results.of(summary.setup, rule):
            groups.setdefault(run.beta, []).append(run)
        rules[rule] = dict(sorted(groups.items(), key=lambda group: group[0] or 0.0))
    return rules


def finals(runs: Sequence[Run], kind: str, part: str) -> NDArray[np.float64]:
    """Return the accuracies after the last epoch, in percent."""
    return 100 * np.array([run.final(kind, part) for run in runs])


def share(runs: Sequence[Run], count: str) -> float:
    """Return a count in percent of the updates of all epochs."""
    counted, updates = (sum(run.total(key) for run in runs) for key in (count, "updates"))
    return float(100 * counted / max(updates, 1))
