"""A page that plays trainings, two or more rules side by side; one HTML file without any other.

Its styles and scripts are the files in `assets`, which the pages of a server load as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from swvp.io.files import write_bytes

__all__ = ["player_page", "write_player"]

STYLES = ("base.css", "drawings.css", "player.css")
SCRIPTS = ("dom.js", "layout.js", "tree.js", "plane.js", "player.js")
"""In an order in which each uses only those before it."""


def player_page(data: dict[str, Any]) -> str:
    """Return the page for what `export_trace` returns.

    The data are JSON inside the page. Its characters < and > are escaped, so that no text of the data ends the script.
    """
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
    parts = {"STYLE": "\n".join(map(asset, STYLES)), "SCRIPT": one_script(map(asset, SCRIPTS)), "DATA": text}
    return re.sub(r"\{(STYLE|SCRIPT|DATA)\}", lambda match: parts[match[1]], asset("player.html"))


def asset(name: str) -> str:
    """Return the text of a file in `assets`."""
    return files("swvp.tracing").joinpath("assets", name).read_text(encoding="utf-8")


def one_script(modules: Iterable[str]) -> str:
    """Return modules as one script, in which they need not import from each other."""
    return re.sub(r"^import .*\n|^export (?=\w)", "", "\n".join(modules), flags=re.MULTILINE)


def write_player(path: str | Path, data: dict[str, Any]) -> None:
    """Write a page that plays trainings: step by step or by itself, each rule in a column.

    Parameters
    ----------
    path : str or Path
        The HTML file, which is written completely or not at all. It needs no other file and no network.
    data : dict
        What `export_trace` returns.
    """
    write_bytes(path, player_page(data).encode())
