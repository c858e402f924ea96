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
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from swvp.studies.common.tables import PageTable

__all__ = [
    "COLOURS",
    "GREY",
    "WIDTH",
    "Look",
    "PageAnswer",
    "PageFigure",
    "Picture",
    "command",
    "draw_by_beta",
    "key",
    "looks",
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
