"""Owns what the pages of all studies share: templates, pictures inside a page, text as HTML."""

from __future__ import annotations

import base64
from typing import Any

import jinja2
from markupsafe import Markup, escape
from matplotlib.figure import Figure

from swvp.studies.common.figures import svg

__all__ = ["plain", "template", "unbroken", "uri"]


def template(name: str) -> jinja2.Template:
    """A template of a study, such as "synthetic/page.html.j2"."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("swvp.studies", "."),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


def plain(value: Any) -> str:
    """A setting as the command line takes it."""
    if isinstance(value, list):
        return ",".join(map(plain, value))
    return str(value).removesuffix(".0") if isinstance(value, float) else str(value)


def unbroken(text: str) -> Markup:
    """Escaped, and without line breaks inside names such as a-wm."""
    parts = [Markup("<span>{}</span>").format(word) if "-" in word else escape(word) for word in text.split(" ")]
    return Markup(" ").join(parts)


def uri(figure: Figure) -> str:
    return "data:image/svg+xml;base64," + base64.b64encode(svg(figure)).decode("ascii")
