"""What the figures of all studies share: their style, the look of each rule, and SVG."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeVar

import matplotlib.style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

__all__ = ["COLOURS", "DEV", "GREY", "WIDTH", "Look", "draw_by_beta", "looks", "short", "styled", "svg", "swatch"]

WIDTH = 3.6
GREY = "#6b6b6b"
DEV = (0, (3, 1.5))
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


def draw_by_beta(axes: Axes, values: Mapping[float | None, float], look: Look, *, linestyle: Any, marked: bool) -> None:
    """Draw values by β as a line, or the value of a rule without β as a horizontal line."""
    if None in values:
        axes.axhline(values[None], color=look.colour, linestyle=linestyle)
        return
    betas, heights = [beta for beta in values if beta is not None], list(values.values())
    line = axes.plot(betas, heights, color=look.colour, linestyle=linestyle, alpha=1 if marked else 0.75)[0]
    if marked or len(values) == 1:
        line.set(marker=look.marker, markerfacecolor=look.colour if marked else "white")


def short(name: str) -> str:
    """Return a name that fits beside an axis."""
    return name if len(name) <= 24 else f"{name[:23]}…"
