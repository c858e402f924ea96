"""The HTML report of the parsing study: one self-contained page, with its sentences and its figures.

Every statement holds for the numbers as they are printed. The figures are gains over CSP, UAS by length, UAS by β.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from swvp.studies.common.page import (
    WIDTH,
    Look,
    PageFigure,
    Picture,
    command,
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
from swvp.studies.common.rules import REST
from swvp.studies.common.running import CONTROL, CSP
from swvp.studies.common.sources import MOST_DEV
from swvp.studies.common.tables import SIGNIFICANT, Cell, counted, listed, name_of_test, p_text, percent_text, signed
from swvp.studies.parsing.runs import Share, Trained
from swvp.studies.parsing.study import ParsingResults
from swvp.studies.parsing.summary import (
    COLUMNS,
    COMPARISONS,
    ORDERS,
    PAPER,
    PAPER_AVERAGE,
    PAPER_COLUMNS,
    OrderSummary,
    TreebankSummary,
    csp_tries,
)
from swvp.studies.parsing.tables import comparison_tables, gain_table, rule_table, same_model, score_tables

__all__ = [
    "CHOICES",
    "LOOKS",
    "by_beta",
    "by_length",
    "gains",
    "paper_notes",
    "render_parsing",
    "tuned_rules",
    "words",
]


def render_parsing(results: ParsingResults, summaries: Sequence[OrderSummary]) -> str:
    """Return the page; the same results give the same bytes."""
    return template("parsing/page.html.j2").render(
        results=results,
        settings=results.settings,
        header={name: setting_text(name, value) for name, value in results.header.items()},
        summaries=summaries,
        answer=page_answer(
            [summary.answer for summary in summaries if summary.answer],
            measure="test UAS",
            datasets="treebanks",
            test=name_of_test(results.settings.seeds),
        ),
        test=name_of_test(results.settings.seeds),
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
        for column, look in LOOKS.items()
        if summaries[0].means[column] is not None
    }
    rules = tuned_rules(results)
    lines = [key(rule, color=look.colour, marker=look.marker) for rule, look in looks([CSP, *rules]).items()]

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
        row = [Picture(uri(gains(summary)), f"Order {summary.order}") for summary in summaries]
        yield PageFigure("gains", legend, [row])
    if rules:
        yield PageFigure("wide", lines, in_rows(panels(partial(by_beta, results))))
    for lengths in ("by_sentence_length", "by_arc_length"):
        yield PageFigure(lengths, list(columns.values()), in_rows(panels(partial(by_length, lengths=lengths))))


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


# ---------------------------------------------------------------- sentences

CHOICES = (
    (
        "Treebanks and features",
        "the given treebanks, and this parser’s features unless --features names others. The paper has the CoNLL 2007 "
        "treebanks and TurboParser, so its scores are at other levels. --paper uses TurboParser’s templates, as far as "
        "this parser has them",
    ),
    (
        "The dev set",
        f"the DEV file; without one, or with --sample-dev, a random sample of --dev-sentences training sentences: by "
        f"default a tenth of them, at most {MOST_DEV:,}. --paper: exactly {MOST_DEV:,}, as in the paper",
    ),
    (
        "Which rules are trained on a sampled dev set",
        f"only CSP, as in the paper, because it has nothing to tune. All others are trained without it and not "
        f"retrained. {REST} is CSP without it",
    ),
    ("Which epoch", "the last one, for every rule: the dev set does not choose the epoch"),
    ("Averaging", "averaged weights, for every rule"),
    (
        "The order of the sentences",
        "random in each epoch, the same for every rule except the control; with --no-shuffle and --paper that of the "
        "file, as in TurboParser",
    ),
    (
        "β",
        "--betas, 0.5, 1, 2 and 4 by default; --paper: 0.5 to 5 by 0.5, “as in the synthetic data experiments”",
    ),
    (
        "The mixed assignment of a word in second order",
        "b-wm:parts: Δφ is that of the word’s own parts, gold minus predicted, because TurboParser’s gradient step, "
        "which the paper replaced, works on parts. b-wm: all parts are derived again from the mixed heads",
    ),
    (
        "Pruning in second order",
        "this parser’s; --paper: TurboParser’s 10 heads per word and 10^-4 of the probability of the best head, but "
        "with this parser’s log-linear model, which is trained differently",
    ),
    ("β with equal dev UAS", "the smallest"),
    ("“Within 0.1 %” in Top B-WM", "0.1 percentage points of dev UAS"),
    (
        "CSP is trained once, a tuned rule once for each β",
        f"as in the paper; the control {CONTROL} is the best of as many trainings of CSP on random orders",
    ),
    ("The margin", "0 as in the paper, unless the rule has one, as a-uniform:mira/1"),
    ("UAS", "all words, with punctuation, as the scorer of CoNLL 2007; also without"),
    (
        "Several roots",
        "predicted if more than one in twenty training trees have several, else exactly one; --paper: allowed, as in "
        "TurboParser",
    ),
    ("Trees", "non-projective, unless --projective"),
    ("Labels", "neither trained nor used"),
)
"""What the paper leaves open, and the choice made here."""


def words(results: ParsingResults, summaries: Sequence[OrderSummary]) -> Iterator[tuple[str, str]]:
    """Yield the items of the summary as (topic, text)."""
    for summary in summaries:
        order = f"{ORDERS[summary.order]} order"
        for pair, title in COMPARISONS.items():
            if pair in summary.overall:
                yield f"{order}, {title}", against(summary, pair)
        if same := [treebank for treebank in summary.treebanks if treebank.best_is_rival]:
            yield f"{order}, best SWVP and best rival", same_model(same)
        if (text := upper_bound(summary)) is not None:
            yield f"{order}, β chosen on the test set", text
        if (text := orders_of_training(results, summary)) is not None:
            yield f"{order}, orders of training", text
        if (text := fewer_sentences(summary)) is not None:
            yield f"{order}, sampled dev sentences", text


def against(summary: OrderSummary, pair: tuple[str, str]) -> str:
    """Compare two columns: the mean gain, and the treebanks won and lost."""
    test, (won, lost) = summary.overall[pair], summary.score(*pair) or (0, 0)
    number, (low, high) = len(summary.treebanks), test.interval
    p = f"p\u00a0=\u00a0{p_text(test.p)}".replace("=\u00a0<", "<\u00a0")
    mean = f"{signed(test.difference)} points" + (" on average" if number > 1 else "")
    text = f"{mean} (95\u00a0% interval {signed(low)} to {signed(high)}, {p})"
    if number == 1:
        return f"{text}."
    tests = [treebank.compared[pair] for treebank in summary.treebanks]
    significant = [one.difference for one in tests if one.corrected < SIGNIFICANT]
    above, below = (sum(sign * gain > 0 for gain in significant) for sign in (1, -1))
    sides = f"above on {won} of {number} treebanks ({above} significant after correction)"
    return f"{text}; {sides}, below on {lost} ({below} significant)."


def upper_bound(summary: OrderSummary) -> str | None:
    """Say what choosing β on the test set would add to B-WM."""
    tuned, top, test = (summary.means[column] for column in ("b_wm", "top", "test"))
    if tuned is None or top is None or test is None:
        return None
    return (
        f"If β were chosen with a look at the test set, B-WM would gain {signed(top - tuned)} (Top) and "
        f"{signed(test - tuned)} points (Test). This is not the gain of a method, but a bound on what is lost by "
        "choosing β on the dev set."
    )


def orders_of_training(results: ParsingResults, summary: OrderSummary) -> str | None:
    """Say how much the order of the sentences alone changes the score of CSP."""
    control = summary.rule(CONTROL)
    if control is None:
        return None
    tries = [csp_tries(results, treebank.treebank, summary.order) for treebank in summary.treebanks]
    ranges = [max(scores) - min(scores) for scores in tries]
    text = f"The test UAS of CSP on {len(tries[0])} random orders of the sentences varies by "
    text += f"{percent_text(float(np.mean(ranges)))} points"
    if len(ranges) > 1:
        text += f" on average over the treebanks, {percent_text(max(ranges))} at most"
    return (
        f"{text}. The training that is best on the dev set ({CONTROL}) differs from CSP by {signed(control.gain)} "
        "points."
    )


def fewer_sentences(summary: OrderSummary) -> str | None:
    """Say what the sampled dev sentences are worth as training sentences."""
    rest = summary.rule(REST)
    if rest is None:
        return None
    return (
        f"CSP is trained on them, all other rules are not. CSP without them ({REST}) differs from CSP by "
        f"{signed(rest.gain)} points: this is the effect of fewer sentences, whatever the rule."
    )


def paper_notes(order: int) -> Iterator[str]:
    """Yield notes on inconsistent numbers in the paper's table."""
    means = np.mean(list(PAPER[order].values()), axis=0)
    different = [
        f"{name} {printed:.2f} (mean {mean:.2f})"
        for name, printed, mean in zip(PAPER_COLUMNS, PAPER_AVERAGE[order], means, strict=True)
        if abs(printed - mean) > 0.0151
    ]
    if different:
        yield f"Printed averages that are not the mean of the lines above them: {listed(different)}."
    impossible = [language for language, row in PAPER[order].items() if row[2] > row[3]]
    if impossible:
        yield f"Top B-WM cannot be above Test B-WM, but is printed so for {listed(impossible)}."


# ---------------------------------------------------------------- figures

LOOKS = {
    "csp": Look("#000000", "o"),
    "b_wm": Look("#0072B2", "s"),
    "best": Look("#D55E00", "D"),
    "rival": Look("#8c8c8c", "^"),
}
"""The columns of Table 2 that are drawn."""


@styled
def gains(summary: OrderSummary) -> Figure:
    """Draw the gains of B-WM, the best SWVP rule and the best rival over CSP, with intervals: a row per treebank."""
    columns = [column for column in ("b_wm", "best", "rival") if (column, "csp") in summary.overall]
    rows = [(treebank.treebank, treebank.compared) for treebank in summary.treebanks]
    if len(rows) > 1:
        rows.append(("all", summary.overall))
    figure = Figure(figsize=(1.35 * WIDTH, 0.85 + 0.2 * len(rows) * max(len(columns), 1)))
    axes = figure.subplots()
    for row, (_, compared) in enumerate(rows):
        for k, column in enumerate(columns):
            test = compared[column, "csp"]
            low, high = test.interval
            at = row + 0.24 * (k - (len(columns) - 1) / 2)
            colour = LOOKS[column].colour
            axes.barh([at], [100 * test.difference], height=0.2, color=colour, alpha=0.35)
            axes.plot([100 * low, 100 * high], [at, at], color=colour, linewidth=1.4, solid_capstyle="butt")
            axes.plot([100 * test.difference], [at], color=colour, marker=LOOKS[column].marker, markersize=4)
    axes.axvline(0, color="black", linewidth=0.9)
    axes.set_yticks(range(len(rows)), [short(name) for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.set_title(f"Order {summary.order}")
    axes.set_xlabel("gain over CSP (points of test UAS)")
    return figure


@styled
def by_length(summary: OrderSummary, treebank: TreebankSummary, lengths: str) -> Figure:
    """Draw UAS in groups of words (above), and the gains over CSP (below); `lengths` is a field of a run."""

    def groups_of(trained: Trained) -> dict[str, Share]:
        groups: list[dict[str, Share]] = [getattr(run, lengths) for run in trained.runs]
        return {name: Share(*map(sum, zip(*(group[name] for group in groups), strict=True))) for name in groups[0]}

    figure = Figure(figsize=(WIDTH, 3.4))
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    csp = treebank.runs["csp"]
    assert csp is not None
    names = [name for name, group in groups_of(csp).items() if group.words]
    base = [100 * groups_of(csp)[name].value for name in names]
    for column, look in LOOKS.items():
        run = treebank.runs[column]
        if run is None:
            continue
        values = [100 * groups_of(run)[name].value for name in names]
        style = {"color": look.colour, "marker": look.marker, "markersize": 3.5}
        top.plot(range(len(names)), values, **style)
        if column != "csp":
            bottom.plot(range(len(names)), [a - b for a, b in zip(values, base, strict=True)], **style)
    bottom.axhline(0, color="black", linewidth=0.9)
    top.set_title(f"{short(treebank.treebank)}, order {summary.order}")
    top.set_ylabel("test UAS (%)")
    bottom.set_ylabel("gain (points)")
    shares = [100 * groups_of(csp)[name].words / csp.share(lambda run: run.test).words for name in names]
    labels = [f"{name.replace('-', '–')}\n{share:.0f} %" for name, share in zip(names, shares, strict=True)]
    bottom.set_xticks(range(len(names)), labels)
    return figure


def tuned_rules(results: ParsingResults) -> list[str]:
    """Return the rules whose β is chosen."""
    return list(dict.fromkeys(run.rule for run in results.runs if run.beta is not None))


def by_beta(results: ParsingResults, summary: OrderSummary, treebank: TreebankSummary) -> Figure:
    """Draw UAS by β, dev and test set apart, a line for each rule; CSP is a horizontal line."""
    runs = results.of(treebank.treebank, summary.order)
    look = looks([CSP, *tuned_rules(results)])
    parts: dict[str, dict[str, dict[float | None, float]]] = {"dev": {}, "test": {}}
    for rule in look:
        tests = [run for run in runs if run.rule == rule]
        devs = tests if tests[0].is_scored else [run for run in runs if run.rule == REST]
        parts["dev"][rule] = {run.beta: 100 * run.dev_uas for run in devs}
        parts["test"][rule] = {run.beta: 100 * run.uas for run in tests}
    tries = [100 * score for score in csp_tries(results, treebank.treebank, summary.order)]
    return draw_scores_by_beta(
        parts,
        look,
        results.settings.betas,
        title=f"{short(treebank.treebank)}, order {summary.order}",
        measure="UAS",
        bands={"test": (min(tries), max(tries))} if len(tries) > 1 else None,
    )
