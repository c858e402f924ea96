"""The HTML report of the synthetic study: one self-contained page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.figure import Figure

from swvp.studies.common.figures import looks
from swvp.studies.common.page import PageFigure, Picture, command, key, plain, template, unbroken, uri
from swvp.studies.common.words import counted, percent_text, signed
from swvp.studies.synthetic import plots
from swvp.studies.synthetic.settings import CONTROL, SETUPS
from swvp.studies.synthetic.study import DatasetResult, SyntheticResults
from swvp.studies.synthetic.summary import SIGNIFICANCE_TEST, SetupSummary
from swvp.studies.synthetic.tables import OURS, THEIRS, Spread, page_table, with_std
from swvp.studies.synthetic.words import CHOICES, has_beta, is_tuned, notes, rule_name, words

__all__ = ["render_synthetic"]


def render_synthetic(results: SyntheticResults, summaries: Sequence[SetupSummary]) -> str:
    """Return the page; the same results give the same bytes."""
    return template("synthetic/page.html.j2").render(
        results=results,
        settings=results.settings,
        header={name: plain(value).replace(",", ", ") for name, value in results.header.items()},
        summaries=summaries,
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
    lines = {name: key(name, **line) for name, line in plots.KEYS.items()}
    kinds = [lines[name] for name in ("last weights", "averaged weights", "paper", "ceiling")]
    drawn: dict[str, tuple[list[Picture], Callable[[SetupSummary], Figure]]] = {
        "accuracy": (kinds, plots.accuracies),
        "beta": ([*rules, lines["test"], lines["dev"]], partial(plots.beta_curves, results)),
        "learning": ([*keys.values(), lines["ceiling"]], partial(plots.learning_curves, results)),
        "rates": (rules[1:], partial(plots.rates, results)),
    }
    if not has_beta(results):
        del drawn["beta"], drawn["rates"]
    for name, (legend, draw) in drawn.items():
        panels = [Picture(uri(draw(summary)), f"Setup {summary.setup}") for summary in summaries]
        yield PageFigure(name, legend, [panels])


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
