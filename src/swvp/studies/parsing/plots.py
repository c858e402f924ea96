"""The figures of the parsing study: gains over CSP, UAS by length, UAS by β."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from swvp.studies.common.figures import DEV, GREY, WIDTH, Look, draw_by_beta, looks, short, styled
from swvp.studies.parsing.runs import Run, Share
from swvp.studies.parsing.settings import CSP, REST
from swvp.studies.parsing.study import ParsingResults
from swvp.studies.parsing.summary import OrderSummary, TreebankSummary, csp_tries

__all__ = ["LOOKS", "beta_curves", "by_length", "gains", "tuned_rules"]

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

    def groups_of(run: Run) -> dict[str, Share]:
        groups: dict[str, Share] = getattr(run, lengths)
        return groups

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
    shares = [100 * groups_of(csp)[name].words / csp.test.words for name in names]
    labels = [f"{name.replace('-', '–')}\n{share:.0f} %" for name, share in zip(names, shares, strict=True)]
    bottom.set_xticks(range(len(names)), labels)
    return figure


def tuned_rules(results: ParsingResults) -> list[str]:
    """Return the rules whose β is chosen."""
    return list(dict.fromkeys(run.rule for run in results.runs if run.beta is not None))


@styled
def beta_curves(results: ParsingResults, summary: OrderSummary, treebank: TreebankSummary) -> Figure:
    """Draw UAS by β, a line for each rule: test solid, dev dashed; CSP is a horizontal line."""
    figure = Figure(figsize=(WIDTH, 2.7))
    axes = figure.subplots()
    runs = results.of(treebank.treebank, summary.order)
    for rule, look in looks([CSP, *tuned_rules(results)]).items():
        tests = [run for run in runs if run.rule == rule]
        devs = tests if tests[0].dev is not None else [run for run in runs if run.rule == REST]
        dev_scores = {run.beta: 100 * run.dev_uas for run in devs}
        test_scores = {run.beta: 100 * run.uas for run in tests}
        draw_by_beta(axes, dev_scores, look, linestyle=DEV, marked=False)
        draw_by_beta(axes, test_scores, look, linestyle="solid", marked=True)
    tries = csp_tries(results, treebank.treebank, summary.order)
    if len(tries) > 1:
        axes.axhspan(100 * min(tries), 100 * max(tries), color=GREY, alpha=0.13, linewidth=0)
    betas = results.settings.betas
    axes.set_xscale("log", base=2)
    axes.set_xticks(betas, [f"{beta:g}" for beta in betas])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlim(betas[0] / 1.12, betas[-1] * 1.12)
    axes.set_title(f"{short(treebank.treebank)}, order {summary.order}")
    axes.set_ylabel("UAS (%)")
    axes.set_xlabel("β")
    return figure
