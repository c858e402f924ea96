"""The sentences of the parsing study's report. Every statement holds for the numbers as they are printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swvp.studies.common.words import SIGNIFICANT, listed, p_text, percent_text, signed
from swvp.studies.parsing.settings import CONTROL, REST
from swvp.studies.parsing.study import ParsingResults
from swvp.studies.parsing.summary import (
    COMPARISONS,
    PAPER,
    PAPER_AVERAGE,
    PAPER_COLUMNS,
    OrderSummary,
    TreebankSummary,
    csp_tries,
)
from swvp.studies.parsing.treebanks import MOST_DEV

__all__ = ["CHOICES", "ORDERS", "paper_notes", "same_model", "words"]

ORDERS = {1: "First", 2: "Second"}

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


def same_model(treebanks: Sequence[TreebankSummary]) -> str:
    """Say on which treebanks the best SWVP rule and the best rival are the same model."""
    names = []
    for treebank in treebanks:
        best, rival = treebank.runs["best"], treebank.runs["rival"]
        assert best is not None
        assert rival is not None
        names.append(f"{treebank.treebank} ({best.name} and {rival.name})")
    return f"The same model under two names on {listed(names)}: there the sub-structures change nothing."


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
