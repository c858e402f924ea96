"""Plots of trainings and predictions, as Matplotlib axes.

Colours are those of the reports, which people with colour-blindness can tell apart. Everything else follows the style
of the user, so that plots fit a dark notebook too.

>>> from swvp import plots
>>> axes = plots.beta_curve({"a-wm": {0.5: 91.2, 1.0: 91.4, 2.0: 91.1}, "csp": {None: 90.8}}, metric="F1")
>>> axes.get_xlabel()
'β'
>>> axes.figure.savefig("by-beta.png")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.ticker import MaxNLocator

from swvp.errors import InputError, shown
from swvp.evaluation.counts import Confusion
from swvp.evaluation.tags import evaluate_tags
from swvp.studies.common.page import COLOURS, beta_axis, draw_by_beta, looks
from swvp.tables import check_count
from swvp.tracing.update import Update
from swvp.types import Floats

__all__ = ["beta_curve", "calibration", "confusion_matrix", "gamma_margins", "learning_curve", "weights_over_time"]

BLUE, ORANGE, GREEN = COLOURS[0], COLOURS[2], COLOURS[4]
QUIET = "#8c8c8c"
SIZE = (6.0, 3.6)
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def new_axes(ax: Axes | None, size: tuple[float, float] = SIZE) -> Axes:
    """The axes of the user, or new ones, with a light grid and without the upper and right border."""
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, alpha=0.25, linewidth=0.7)
    ax.set_axisbelow(True)
    return ax


def literal(axes: Axes) -> Axes:
    """Make labels of the data stay as they are: a $ begins no formula."""
    legend = axes.get_legend()
    for text in [*axes.get_xticklabels(), *axes.get_yticklabels(), *([] if legend is None else legend.get_texts())]:
        text.set_parse_math(False)
    return axes


def learning_curve(learner: Any, *, metric: str = "dev score", ax: Axes | None = None) -> Axes:
    """Draw the dev score of each epoch, and the share of training examples with a mistake.

    Parameters
    ----------
    learner : fitted learner or Trace
        One with `history_` and, after training with a dev set, `dev_scores_` and `best_epoch_`; or a `Trace`.
    metric : str
        The name of the dev score.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        The axes of the mistakes; those of dev scores, on the right, share its epochs.
    """
    if isinstance(learner, list):
        raise InputError("a list is no learner: give the fitted learner itself, not its history_")
    history = getattr(learner, "history_", None) or getattr(learner, "history", None)
    if not history:
        raise InputError("there is no epoch to draw: fit the learner, or iterate over the trace, first")
    axes = new_axes(ax)
    epochs = [epoch.epoch for epoch in history]
    mistakes = [100 * epoch.mistakes / epoch.examples for epoch in history]
    lines = axes.plot(epochs, mistakes, color=ORANGE, marker="o", markersize=4, label="training examples wrong")
    axes.set_xlabel("epoch")
    axes.set_ylabel("training examples wrong (%)", color=ORANGE)
    axes.set_ylim(0, max(mistakes) * 1.08 or 1)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    scores = list(getattr(learner, "dev_scores_", []))
    if scores:
        right = axes.twinx()
        right.spines[["top", "left"]].set_visible(False)
        percents = [100 * score for score in scores]
        lines += right.plot(epochs[: len(scores)], percents, color=BLUE, marker="s", markersize=4, label=metric)
        best = int(np.argmax(scores))
        right.plot([epochs[best]], [percents[best]], "o", color=BLUE, markersize=11, fillstyle="none")
        right.annotate(
            f"best: {percents[best]:.2f}",
            (epochs[best], percents[best]),
            xytext=(0, 10),
            textcoords="offset points",
            ha="center",
            color=BLUE,
        )
        right.set_ylabel(f"{metric} (%)", color=BLUE)
        right.margins(y=0.18)
    axes.legend(handles=lines, loc="center right", frameon=False)
    return axes


def beta_curve(
    scores: Mapping[str, Mapping[float | None, float]], *, metric: str = "score", ax: Axes | None = None
) -> Axes:
    """Draw scores of rules by β; a rule without β, with the key None, is a horizontal line.

    Parameters
    ----------
    scores : mapping
        The score of each β of each rule, in percent: ``{"a-wm": {0.5: 91.2, 1.0: 91.4}, "csp": {None: 90.8}}``.
    metric : str
        The name of the score.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    betas = sorted({beta for values in scores.values() for beta in values if beta is not None})
    if not betas:
        raise InputError("there is no β to draw: give scores as {rule: {beta: score}}")
    axes = new_axes(ax)
    for rule, look in looks(list(scores)).items():
        before = len(axes.lines)
        draw_by_beta(axes, dict(sorted_by_beta(scores[rule])), look)
        axes.lines[before].set_label(rule)
        if look.colour == "#000000":  # CSP is black in reports; here in the colour of the user's text
            axes.lines[before].set_color(plt.rcParams["text.color"])
    beta_axis(axes, betas)
    axes.set_ylabel(metric)
    axes.legend(frameon=False)
    return literal(axes)


def sorted_by_beta(values: Mapping[float | None, float]) -> list[tuple[float | None, float]]:
    return sorted(values.items(), key=lambda item: -1.0 if item[0] is None else item[0])


def gamma_margins(updates: Update | Iterable[Update], *, ax: Axes | None = None) -> Axes:
    """Draw γ of each mixed assignment against its margin; violations are on the left of 0.

    Parameters
    ----------
    updates : Update or iterable of Update
        Updates of a trace, as from `SequenceTagger.trace`. Back-offs are left out: their γ is 1.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    if isinstance(updates, Update):
        updates = [updates]
    mixed = [term for update in updates if update.back_off is None and update.updated for term in update.mixed]
    if not mixed:
        raise InputError("there is no mixed assignment to draw: every update is a back-off; trace more of them")
    axes = new_axes(ax)
    axes.axvline(0, color=QUIET, linewidth=0.9)
    for violation, colour, marker in ((True, ORANGE, "o"), (False, BLUE, "D")):
        points = [(term.margin, term.gamma) for term in mixed if term.violation is violation]
        if points:
            x, y = zip(*points, strict=True)
            name = "violations" if violation else "no violations"
            axes.scatter(x, y, s=22, color=colour, alpha=0.55, linewidth=0, marker=marker, label=f"{name} ({len(x):,})")
    axes.set_xlabel("margin  w·Δφ(x, y, m$^J$)")
    axes.set_ylabel("γ(m$^J$)")
    axes.set_ylim(-0.03, 1.03)
    axes.legend(frameon=False)
    return axes


def weights_over_time(updates: Iterable[Update], *, n: int = 6, ax: Axes | None = None) -> Axes:
    """Draw the weights that end farthest from 0 over the mistakes of a training.

    Parameters
    ----------
    updates : iterable of Update
        All updates of a trace, from the first. Only weights that the updates name are known, so trace with
        ``features=1000`` or as many as an update may change.
    n : int
        The number of weights.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_count("n", n, 1)
    courses: dict[int, list[tuple[int, float]]] = {}
    names: dict[int, str] = {}
    last = 0
    for update in updates:
        last = update.number
        for change in update.changes:
            courses.setdefault(change.feature, [(0, change.before)]).append((update.number, change.after))
            names[change.feature] = change.name
    if not courses:
        raise InputError("there is no weight to draw: trace updates with features ≥ 1")
    axes = new_axes(ax, (6.6, 3.8))
    farthest = sorted(courses, key=lambda feature: (-abs(courses[feature][-1][1]), feature))[:n]
    for k, feature in enumerate(farthest):
        x, y = zip(*courses[feature], (last, courses[feature][-1][1]), strict=True)
        style = ("-", "--", ":")[k // len(COLOURS) % 3]
        label = names[feature]
        axes.step(x, y, where="post", color=COLOURS[k % len(COLOURS)], linestyle=style, label=label)
    axes.axhline(0, color=QUIET, linewidth=0.9)
    axes.set_xlabel("mistakes so far")
    axes.set_ylabel("weight")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small")
    return literal(axes)


def confusion_matrix(
    confusion: Any, predicted: Sequence[Sequence[str]] | None = None, *, most: int = 15, ax: Axes | None = None
) -> Axes:
    """Draw how often each gold label was predicted as each label, in percent of the gold label.

    Parameters
    ----------
    confusion : Confusion or TagScores
        What `swvp.evaluation.confusion` or `evaluate_tags` returns; or the gold labels of each sentence.
    predicted : list of lists, optional
        The predicted labels of each sentence, if gold labels are given.
    most : int
        The largest number of labels: those that are part of the most wrong tokens are shown.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_count("most", most, 1)
    if predicted is not None:
        confusion = evaluate_tags(confusion, predicted)
    table = getattr(confusion, "confusion", confusion)
    if not isinstance(table, Confusion):
        raise InputError(f"confusion must be what evaluate_tags returns, or gold labels, not {shown(confusion)}")
    if not table.counts:
        raise InputError("there is no token to draw")
    wrong = {
        label: sum(n for (g, p), n in table.counts.items() if g != p and label in (g, p)) for label in table.labels
    }
    labels = sorted(sorted(table.labels, key=lambda label: (-wrong[label], label))[:most])
    counts = np.array([[table.counts.get((gold, label), 0) for label in labels] for gold in labels], float)
    totals = np.array([sum(n for (g, _), n in table.counts.items() if g == gold) for gold in labels], float)
    shares = 100 * counts / np.maximum(totals, 1)[:, None]
    side = 1.8 + 0.42 * len(labels)
    axes = new_axes(ax, (side + 0.6, side))
    axes.grid(visible=False)
    cells = cells_of(shares, np.array(to_rgba(axes.get_facecolor())))
    axes.imshow(cells)
    for row, column in zip(*np.nonzero(counts), strict=True):
        text = f"{shares[row, column]:.0f}" if shares[row, column] >= 1 else "<1"
        dark = cells[row, column, :3] @ LUMINANCE < 0.5
        axes.text(column, row, text, ha="center", va="center", fontsize=8, color="white" if dark else "#222222")
    axes.set_xticks(range(len(labels)), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(labels)), [f"{name} ({int(n):,})" for name, n in zip(labels, totals, strict=True)])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_xlabel("predicted")
    axes.set_ylabel("gold (tokens)")
    axes.set_title("% of the gold label", loc="left", fontsize="medium")
    return literal(axes)


def cells_of(shares: Floats, ground: Floats) -> Floats:
    """Colours of a matrix: from the background to blue for right cells, to orange for wrong ones.

    Wrong cells are stronger than their shares, which are small.
    """
    diagonal = np.eye(len(shares), dtype=bool)
    strength = np.where(diagonal, shares / 100, np.sqrt(shares / 100))[..., None]
    colour = np.where(diagonal[..., None], to_rgba(BLUE), to_rgba(ORANGE))
    return np.asarray(ground + strength * (colour - ground), float)


def calibration(
    probabilities: Sequence[float] | Floats, right: Sequence[bool], *, bins: int = 10, ax: Axes | None = None
) -> Axes:
    """Draw how often predictions of a probability are right; on the diagonal, probabilities are right on average.

    Parameters
    ----------
    probabilities : sequence of float
        The probability of each prediction, as in `tokens` of `SequenceTagger.confidence`.
    right : sequence of bool
        Whether each prediction is right.
    bins : int
        The number of groups of equal width.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
    """
    check_count("bins", bins, 1)
    given, correct = np.asarray(probabilities, float), np.asarray(right, bool)
    if given.shape != correct.shape or given.ndim != 1 or not given.size:
        raise InputError("probabilities and right must be two lists of the same length, not empty")
    if not ((given >= 0) & (given <= 1)).all():
        raise InputError("probabilities must be numbers from 0 to 1")
    group = np.minimum((given * bins).astype(int), bins - 1)
    axes = new_axes(ax, (4.6, 4.2))
    axes.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle="--", label="right on average")
    filled = [g for g in range(bins) if (group == g).any()]
    x = [given[group == g].mean() for g in filled]
    y = [correct[group == g].mean() for g in filled]
    number = np.array([np.count_nonzero(group == g) for g in filled])
    error = abs(np.array(x) - np.array(y)) @ number / number.sum()
    axes.plot(x, y, color=BLUE, linewidth=1.3, zorder=2)
    axes.scatter(x, y, s=18 + 220 * number / number.sum(), color=BLUE, zorder=3, label="predictions")
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="probability", ylabel="share that is right")
    axes.set_aspect("equal")
    axes.set_title(f"{given.size:,} predictions, mean gap {100 * error:.1f} points", loc="left", fontsize="medium")
    axes.legend(loc="upper left", frameon=False, markerscale=0.6)
    return axes
