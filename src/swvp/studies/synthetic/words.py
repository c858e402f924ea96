"""Owns the sentences of the report: every statement follows from the numbers as they are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from swvp.studies.synthetic.study import CONTROL
from swvp.studies.synthetic.summary import WEIGHTS, SetupSummary, Tuned, final, runs_of

__all__ = [
    "SIGNIFICANT",
    "between",
    "chooses",
    "counted",
    "gains_of_choosing",
    "has_beta",
    "percent",
    "shown",
    "untuned",
    "words",
]

SIGNIFICANT = 0.05
PAPER_PASSES = 10


def words(results: Mapping[str, Any], summaries: Sequence[SetupSummary]) -> Iterator[tuple[str, str]]:
    """The summary, as (what about, text)."""
    settings = results["settings"]
    compared = len(settings["rules"]) > 1
    trainings = counted(len(settings["betas"]), "training")
    for kind in WEIGHTS if compared else ():
        yield f"{kind.capitalize()} weights", f"I{each(summaries, partial(outcome, kind=kind))}"
    yield "Ceiling", " ".join(f"In setup\u00a0{summary.setup} {ceiling(summary)}." for summary in summaries)
    if chooses(results):
        text = (
            f"A rule with β is the best of {trainings} by development accuracy, CSP a single one. Without that choice, "
        )
        text += "as the mean over β, rules above CSP with last weights are "
        text += f"{listed([untuned_wins(results, summary) for summary in summaries])}."
        if settings["control"]:
            text += f" With the same choice for CSP, of {trainings} on random orders ({CONTROL}), last weights, i"
            text += each(summaries, outcome_beside_control)
        yield "Tuning", text
        if settings["datasets"] > 1:
            yield "Best of many draws", draws(results, summaries)
    if compared:
        counts = []
        for kind in WEIGHTS:
            rules = [tuned for summary in summaries for tuned in split(summary, kind)[1].values()]
            failed = sum(tuned.dev_only_wins or 0 for tuned in rules)
            counts.append(f"{failed} of {sum(len(tuned.test) for tuned in rules):,} with {kind} weights")
        text = "Comparisons with CSP won on the development set but not on the test set: "
        yield "From development to test", f"{text}{listed(counts)} (in the paper 1 of 120)."
    yield "Convergence", convergence(results)


def draws(results: Mapping[str, Any], summaries: Sequence[SetupSummary]) -> str:
    """How much of what choosing β gains is that of a good β, and how much the luck of many draws."""
    tries = counted(len(results["settings"]["betas"]), "training")
    clauses = []
    for summary in summaries:
        parts = []
        for rule in split(summary, "last")[1]:
            if (gains := gains_of_choosing(results, summary.setup, rule)) is not None:
                parts.append(f"{shown(rule)} {100 * gains[0]:.2f} ({100 * gains[1]:.2f})")
        if results["settings"]["control"]:
            gains = gains_of_choosing(results, summary.setup, CONTROL)
            parts += [] if gains is None else [f"{CONTROL} {100 * gains[0]:.2f} ({100 * gains[1]:.2f})"]
        clauses.append(f"in setup\u00a0{summary.setup} {listed(parts)}" if parts else "")
    return (
        f"Choosing one of {tries} on a dataset’s own development set gains, over their mean, these points of test "
        "accuracy with last weights; in brackets what the same choice gains if it is made on the development sets of "
        f"the other datasets, where only a β that is good for all of them counts: {'; '.join(filter(None, clauses))}. "
        "The difference between the two is the best of so many draws of noise."
    )


def gains_of_choosing(
    results: Mapping[str, Any], setup: int, rule: str, kind: str = "last"
) -> tuple[float, float] | None:
    """What choosing gains over the mean of all runs: on each dataset's development set, and on those of all others.

    None where there is nothing to choose from.
    """
    runs = runs_of(results, setup, rule)
    tries = sorted({(run["beta"], run.get("order")) for run in runs}, key=str)
    datasets = sorted({run["dataset"] for run in runs})
    if len(tries) < 2 or len(datasets) < 2:
        return None
    dev, test = np.zeros((2, len(datasets), len(tries)))
    for run in runs:
        at = datasets.index(run["dataset"]), tries.index((run["beta"], run.get("order")))
        dev[at], test[at] = final(run, kind, "dev"), final(run, kind, "test")
    rows = np.arange(len(datasets))
    of_others = dev.sum(axis=0) - dev
    own, others = (test[rows, scores.argmax(axis=1)].mean() - test.mean() for scores in (dev, of_others))
    return float(own), float(others)


def convergence(results: Mapping[str, Any]) -> str:
    """What is true here of the paper's words that its balanced models converged after at most 10 iterations.

    Convergence of Algorithm 2 is a pass without a mistake. Where there is none, the change of the test accuracy tells
    whether more passes would matter.
    """
    balanced, other = ([run for run in results["runs"] if is_balanced(run["rule"]) is side] for side in (True, False))
    groups = {name: runs for name, runs in (("balanced rules", balanced), ("other rules", other)) if runs}
    found = [
        f"{sum(0 in run['history']['mistakes'][:PAPER_PASSES] for run in runs):,} of {len(runs):,} with {name}"
        for name, runs in groups.items()
    ]
    name, runs = next(iter(groups.items()))
    wrong = float(np.median([run["history"]["mistakes"][-1] for run in runs])) / results["settings"]["sizes"][0]
    text = (
        f"The paper says that its balanced models converged after at most {PAPER_PASSES} iterations. Trainings here "
        f"that had a pass without a mistake by then: {listed(found)}. In the last pass {name} err on "
        f"{percent(wrong, 1)}\u00a0% of the items (median)."
    )
    passes = results["settings"]["epochs"]
    early = PAPER_PASSES if passes > PAPER_PASSES else passes - 1
    if early:
        steps = [f"{median_step(runs, kind, early):.2f} points with {kind} weights" for kind in WEIGHTS]
        text += f" Between pass {early} and the last one their test accuracy moves by {listed(steps)} (median)."
    return text


def is_balanced(rule: str) -> bool:
    return rule.startswith("b-")


def median_step(runs: Sequence[Mapping[str, Any]], kind: str, early: int) -> float:
    """How many points lie between the test accuracies after a pass and after the last one, in the median."""
    curves = [run["accuracy"][f"{kind}_test"] for run in runs]
    return 100 * float(np.median([abs(curve[-1] - curve[min(early, len(curve)) - 1]) for curve in curves]))


def each(summaries: Sequence[SetupSummary], say: Callable[[SetupSummary], str]) -> str:
    """One clause per setup; the first letter, i or I, is the caller's."""
    return "; ".join(f"in setup\u00a0{summary.setup} {say(summary)}" for summary in summaries)[1:] + "."


def split(summary: SetupSummary, kind: str) -> tuple[Tuned, dict[str, Tuned]]:
    """CSP, and the other rules by name, without the control."""
    tuned: dict[str, Tuned] = {rule.rule: getattr(rule, kind) for rule in summary.rules if rule.rule != CONTROL}
    return tuned.pop("csp"), tuned


def points(a: float, b: float) -> float:
    """The difference of two accuracies as a reader of the printed percentages would take it."""
    return round(float(percent(a)) - float(percent(b)), 2)


def outcome(summary: SetupSummary, kind: str) -> str:
    """How the rules compare with CSP, and how many of the differences are significant."""
    csp, others = split(summary, kind)
    tested = [tuned.p_value for tuned in others.values() if tuned.p_value is not None]
    significant = f" ({sum(p < SIGNIFICANT for p in tested)} of {len(tested)} with p\u00a0<\u00a0{SIGNIFICANT})"
    return against(others, csp, "CSP") + (significant if tested else "")


def outcome_beside_control(summary: SetupSummary) -> str:
    control = next(rule.last for rule in summary.rules if rule.rule == CONTROL)
    return against(split(summary, "last")[1], control, CONTROL)


def against(others: Mapping[str, Tuned], base: Tuned, name: str) -> str:
    """Which of the rules are above the base, which below, and by how much."""
    gaps = {rule: points(tuned.mean, base.mean) for rule, tuned in others.items()}
    parts: list[str] = []
    for word, sign in (("above", 1), ("below", -1), ("level with", 0)):
        sizes = {rule: abs(gap) for rule, gap in gaps.items() if np.sign(gap) == sign}
        if sizes:
            who = f"all {len(gaps)} rules" if len(sizes) == len(gaps) > 1 else listed(list(sizes))
            verb, than = "is" if len(sizes) == 1 else "are", "it" if parts else f"{name} ({percent(base.mean)}\u00a0%)"
            by = f" by {between(sizes.values())} points" if sign else ""
            parts.append(f"{who} {verb} {word} {than}{by}")
    return ", ".join(parts)


def ceiling(summary: SetupSummary) -> str:
    """How far from the ceiling the best model is, CSP with last weights, and the best other rule with them."""

    means = {(rule.rule, kind): getattr(rule, kind).mean for rule in summary.rules for kind in WEIGHTS}
    means = {key: mean for key, mean in means.items() if key[0] != CONTROL}
    best = max(means, key=lambda key: means[key])
    others = sorted((key for key in means if key[1] == "last" and key[0] != "csp"), key=lambda key: -means[key])
    gaps = {key: points(mean, summary.ceiling) for key, mean in means.items()}
    sides = {key: f"{abs(gap):.2f} points {'above' if gap > 0 else 'below'}" for key, gap in gaps.items()}
    top = f"the ceiling of {percent(summary.ceiling)}\u00a0%"
    lasts = [f"{shown(key[0])} {sides[key]}" for key in [("csp", "last"), *others[:1]]]
    return (
        f"{shown(best[0])} with {best[1]} weights is the best, {sides[best]} {top}; with last weights {listed(lasts)}"
    )


def shown(rule: str) -> str:
    return "CSP" if rule == "csp" else rule


def untuned_wins(results: Mapping[str, Any], summary: SetupSummary) -> str:
    csp, others = split(summary, "last")
    means = [untuned(results, summary.setup, name, "last") for name in others]
    gaps = [points(mean, csp.mean) for mean in means if mean is not None]
    return f"{sum(gap > 0 for gap in gaps)} of {len(gaps)} in setup\u00a0{summary.setup}"


def untuned(results: Mapping[str, Any], setup: int, rule: str, kind: str) -> float | None:
    """The mean test accuracy of all runs of a rule; None where there is nothing to choose from."""
    runs = runs_of(results, setup, rule)
    if len(runs) <= results["settings"]["datasets"]:
        return None
    return float(np.mean([final(run, kind, "test") for run in runs]))


def chooses(results: Mapping[str, Any]) -> bool:
    """Whether a rule has a choice of β."""
    return has_beta(results) and len(results["settings"]["betas"]) > 1


def has_beta(results: Mapping[str, Any]) -> bool:
    return any(run["beta"] is not None for run in results["runs"])


def listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def percent(share: float, digits: int = 2) -> str:
    return f"{100 * share:.{digits}f}"


def between(values: Iterable[float], digits: int = 2) -> str:
    """The smallest and the largest of the values, once if they are printed equal."""
    low, *_, high = [f"{value:.{digits}f}" for value in sorted(values) for _ in range(2)]
    return low if low == high else f"{low} to {high}"
