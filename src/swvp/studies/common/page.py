"""What the HTML pages of all studies share: templates, embedded figures, settings and commands as text."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from swvp.studies.common.figures import svg, swatch

__all__ = ["PageFigure", "Picture", "command", "key", "plain", "template", "unbroken", "uri"]

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
