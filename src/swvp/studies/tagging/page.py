"""The HTML report of the tagging study: one self-contained page, with its sentences and its figures."""

from __future__ import annotations

from collections.abc import Iterator

from swvp.studies.common.figures import ByBeta, draw_scores_by_beta, page_answer
from swvp.studies.common.page import PageFigure, Picture, command, key, looks, plain, short, template, unbroken, uri
from swvp.studies.common.rules import is_swvp
from swvp.studies.common.running import CSP
from swvp.studies.common.tables import between, counted, listed, name_of_test, percent_text, signed
from swvp.studies.tagging.settings import notation
from swvp.studies.tagging.study import TaggingResults
from swvp.studies.tagging.summary import TaggingSummary, mean_dev, mean_test
from swvp.studies.tagging.tables import mean_table, rule_table, title_of

__all__ = ["CHOICES", "render_tagging", "words"]


def render_tagging(results: TaggingResults, summary: TaggingSummary) -> str:
    """Return the page; the same results give the same bytes."""
    test = name_of_test(results.settings.seeds)
    return template("tagging/page.html.j2").render(
        results=results,
        settings=results.settings,
        header={name: setting_text(results, name) for name in results.header},
        answer=page_answer(summary.answers, measure=summary.measure, datasets="datasets", test=test),
        words=[(topic, unbroken(text)) for topic, text in words(results, summary)],
        means=mean_table(summary) if len(summary.datasets) > 1 else None,
        tables=[rule_table(dataset, summary.rules[dataset.name]) for dataset in summary.datasets],
        figures=list(figures(results, summary)),
        test=test,
        choices=CHOICES,
        command=command_of(results),
        counted=counted,
        percent=percent_text,
    )


def setting_text(results: TaggingResults, name: str) -> str:
    """Return a setting as the page shows it."""
    value = results.header[name]
    if name == "datasets":
        return "; ".join(
            f"{dataset.argument} ({', '.join(digest[:12] + '…' for _, digest in dataset.source.digests)})"
            for dataset in results.settings.datasets
        )
    if name == "options":
        return ", ".join(f"{option} = {plain(given)}" for option, given in value.items()) or "default"
    return "default" if value is None else plain(value).replace(",", ", ")


def command_of(results: TaggingResults) -> str:
    """Return the command that runs the study again, in the folder of its files."""
    settings = results.settings
    options = ",".join(f"{name}={value}" for name, value in settings.options.items())
    flags: dict[str, str | None] = {
        "datasets": None,
        "sample_dev": "--sample-dev" if settings.sample_dev else None,
        "options": f"--options={options}" if options else None,
    }
    return command(results.header, arguments=[dataset.argument for dataset in settings.datasets], flags=flags)


# ---------------------------------------------------------------- sentences

CHOICES = (
    ("The metric", "F1 of phrases if the labels are those of phrases (B-NP, I-NP, O), else accuracy of tokens"),
    ("Features and constraint", "chosen from the labels of the training set, once for all rules, unless given"),
    ("The dev set", "the DEV file; without one, or with --sample-dev, a sample of the training sentences"),
    ("Which rules are trained on a sampled dev set", "none, CSP included"),
    ("Which epoch", "that with the best dev score, in each training"),
    ("β", "that with the best mean dev score over the seeds, for each rule and dataset; of equal ones the smallest"),
    ("Seeds", "--seeds trainings of each rule and β; seed k has the same orders of the sentences for every rule"),
    ("Averaging", "averaged weights, unless options say otherwise"),
    (
        "Tests over seeds and sentences",
        "a bootstrap that draws sentences and, separately, seeds; with a single seed a permutation test over sentences",
    ),
    ("Many comparisons", "Holm’s method, over all rules and datasets of a table"),
)
"""What is open in such a comparison, and the choice made here."""


def words(results: TaggingResults, summary: TaggingSummary) -> Iterator[tuple[str, str]]:
    """Yield the items of the summary as (topic, text)."""
    for dataset in summary.datasets:
        rules = summary.rules[dataset.name]
        best = max(rules, key=lambda rule: rule.dev)
        text = f"the best rule on the dev set is {best.name}, test {dataset.metric} {percent_text(best.test)}"
        if best.tested is not None:
            text += f", {signed(best.tested.difference)} points against CSP ({percent_text(rules[0].test)})"
        yield dataset.name, f"{text[0].upper()}{text[1:]}."
    if results.settings.seeds > 1:
        spreads = [100 * rule.std for rules in summary.rules.values() for rule in rules]
        seeds = counted(results.settings.seeds, "seed")
        yield "Seeds", f"The standard deviation of the test score over {seeds} is {between(spreads)} points."
    tuned = [rule for rule in results.settings.rules if notation(rule).tuned]
    if tuned and len(results.settings.betas) > 1:
        yield "β", chosen_betas(results, summary)
    other = [rule for rule in results.settings.rules if rule != CSP and not is_swvp(rule)]
    if other:
        yield "Rules without sub-structures", f"{listed(['CSP', *other])}."


def chosen_betas(results: TaggingResults, summary: TaggingSummary) -> str:
    """Say how often β is at an end of the values that were tried."""
    betas = [rule.runs[0].beta for rules in summary.rules.values() for rule in rules if notation(rule.rule).tuned]
    low, high = results.settings.betas[0], results.settings.betas[-1]
    text = (
        f"The chosen β is the smallest tried ({low:g}) in {betas.count(low)} and the largest ({high:g}) in "
        f"{betas.count(high)} of {counted(len(betas), 'case')}"
    )
    return f"{text}: there, other values may be better still." if low in betas or high in betas else f"{text}."


# ---------------------------------------------------------------- figures


def figures(results: TaggingResults, summary: TaggingSummary) -> Iterator[PageFigure]:
    """Yield the scores by β, a panel for each dataset."""
    tuned = [rule for rule in results.settings.rules if notation(rule).tuned]
    if not tuned or len(results.settings.betas) < 2:
        return
    look = looks([CSP, *tuned])
    legend = [key(rule, color=colour, marker=marker) for rule, (colour, marker) in look.items()]
    panels = []
    for dataset in summary.datasets:
        csp = summary.rules[dataset.name][0]
        parts: dict[str, ByBeta] = {
            part: {
                rule: {beta: 100 * mean(runs) for beta, runs in results.of(dataset.name, rule).items()} for rule in look
            }
            for part, mean in (("dev", mean_dev), ("test", mean_test))
        }
        band = (100 * (csp.test - csp.std), 100 * (csp.test + csp.std))
        figure = draw_scores_by_beta(
            parts,
            look,
            results.settings.betas,
            title=short(dataset.name),
            measure=dataset.metric,
            bands={"test": band} if csp.std else None,
        )
        panels.append(Picture(uri(figure), title_of(dataset)))
    yield PageFigure("wide", legend, [panels])
