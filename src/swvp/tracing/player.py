"""A page that plays trainings, two or more rules side by side; one HTML file without any other."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from swvp.io.files import write_bytes

__all__ = ["player_page", "write_player"]


def player_page(data: dict[str, Any]) -> str:
    """Return the page for what `export_trace` returns.

    The data are JSON inside the page. Its characters < and > are escaped, so that no text of the data ends the script.
    """
    text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c").replace(">", "\\u003e")
    page = files("swvp.tracing").joinpath("player.html").read_text(encoding="utf-8")
    return page.replace("{DATA}", text)


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
