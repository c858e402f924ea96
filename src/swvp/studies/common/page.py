"""What the HTML pages of all studies share: templates, settings and commands as text, and figures.

The figures have one style and the same look of a rule everywhere; they are embedded as SVG.
"""

from __future__ import annotations

import base64
import functools
import io
import shlex
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

import jinja2
import matplotlib.style
import numpy as np
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from swvp.studies.common.answer import Answer, Contrast, answer_lines, answer_table, is_significant
from swvp.studies.common.tables import PageTable

__all__ = [
    "COLOURS",
    "GREY",
    "WIDTH",
    "ByBeta",
    "Look",
    "PageAnswer",
    "PageFigure",
    "Picture",
    "beta_axis",
    "command",
    "draw_answer",
    "draw_by_beta",
    "draw_scores_by_beta",
    "key",
    "looks",
    "page_answer",
    "plain",
    "short",
    "styled",
    "svg",
    "swatch",
    "template",
    "unbroken",
    "uri",
]

NOT_OPTIONS = ("study", "version", "code", "loaded")


class Picture(NamedTuple):
    """An embedded picture and the text beside it."""

    uri: str
    text: str


class PageFigure(NamedTuple):
    """A figure of a page: its name, its legend, and rows of panels."""

    name: str
    legend: Sequence[Picture]
    rows: Sequence[Sequence[Picture]]

    @property
    def is_single(self) -> bool:
        """Whether there is only one panel; the caption is then beside it."""
        return sum(map(len, self.rows)) == 1


class PageAnswer(NamedTuple):
    """The beginning of a page: its first lines, and the figure and table behind them."""

    lines: Sequence[Markup]
    figure: PageFigure | None = None
    table: PageTable | None = None
    caption: str = ""
    note: str = ""


def template(name: str) -> jinja2.Template:
    """Return a template, such as "synthetic/page.html.j2"."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("swvp.studies", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def plain(value: Any) -> str:
    """Return a setting as the command line takes it.

    >>> plain([0.5, 1.0]), plain("per-setup")
    ('0.5,1', 'per-setup')
    """
    if isinstance(value, list):
        return ",".join(map(plain, value))
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def command(header: Mapping[str, Any], *, arguments: Sequence[str] = (), flags: Mapping[str, str | None]) -> str:
    """Return the command that runs a study with these settings again.

    `flags` has what to write for a setting instead of --name value; None for nothing.
    """
    parts = ["swvp", "experiment", header["study"], *arguments]
    for name, value in header.items():
        if name in flags:
            parts += [flag] if (flag := flags[name]) is not None else []
        elif value is not None and name not in NOT_OPTIONS:
            parts += [f"--{name.replace('_', '-')}", plain(value)]
    return shlex.join(parts)


def unbroken(text: str) -> Markup:
    """Return a text as HTML without line breaks inside names such as a-wm."""
    parts = [Markup("<span>{}</span>").format(word) if "-" in word else escape(word) for word in text.split(" ")]
    return Markup(" ").join(parts)


def uri(figure: Figure) -> str:
    """Return a figure as the address of an embedded picture."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg(figure)).decode("ascii")


def key(text: str, **line: Any) -> Picture:
    """Return an entry of a legend, drawn as this line."""
    return Picture(uri(swatch(**line)), text)


# ---------------------------------------------------------------- figures

WIDTH = 3.6
GREY = "#6b6b6b"
COLOURS = ("#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#CC79A7")
MARKERS = ("s", "^", "D", "v", "P", "X", "<")
LOOKS = {"csp": ("#000000", "o"), "csp-orders": ("#8c8c8c", "o"), "csp-rest": ("#8c8c8c", "s")}
STYLE: dict[str, Any] = {
    "font.size": 8.5,
    "font.family": "DejaVu Sans",
    "text.parse_math": False,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "xtick.color": "#444444",
    "ytick.color": "#444444",
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "swvp",
    "svg.fonttype": "path",
}

P = ParamSpec("P")
T = TypeVar("T")
drawing = threading.RLock()


class Look(NamedTuple):
    """The colour and the marker of a rule, the same in every figure."""

    colour: str
    marker: str


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """Make a function draw in the style of the report. The style is global in matplotlib, hence the lock."""

    @functools.wraps(draw)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        with drawing, matplotlib.style.context(["default", STYLE]):
            return draw(*args, **kwargs)

    return wrapped


def looks(rules: Sequence[str]) -> dict[str, Look]:
    """Return a colour and a marker for each rule; up to 35 rules have different pairs."""
    others = [rule for rule in rules if rule not in LOOKS]
    pairs = {rule: (COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]) for k, rule in enumerate(others)}
    return {rule: Look(*{**LOOKS, **pairs}[rule]) for rule in rules}


@styled
def svg(figure: Figure) -> bytes:
    """Return a figure as SVG; the same figure gives the same bytes."""
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    return file.getvalue()


@styled
def swatch(**line: Any) -> Figure:
    """Draw a short piece of a line, for a legend."""
    figure = Figure(figsize=(0.36, 0.16))
    figure.set_layout_engine("none")
    figure.add_artist(Line2D([0.05, 0.5, 0.95], [0.5, 0.5, 0.5], markevery=[1], **line))
    return figure


def draw_by_beta(axes: Axes, values: Mapping[float | None, float], look: Look) -> None:
    """Draw values by β as a line, or the value of a rule without β as a horizontal line."""
    if None in values:
        axes.axhline(values[None], color=look.colour)
        return
    betas, heights = [beta for beta in values if beta is not None], list(values.values())
    axes.plot(betas, heights, color=look.colour, marker=look.marker)


def short(name: str) -> str:
    """Return a name that fits beside an axis."""
    return name if len(name) <= 24 else f"{name[:23]}…"


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
