"""Owns where commands write: what people read, on a terminal or not, and results for programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

__all__ = ["new_console", "write_json"]


def new_console(*, stderr: bool = False) -> Console:
    """Standard output or standard error; where it is no terminal there is nothing to fit into."""
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = 1000
    return console


def write_json(path: str | Path | None, results: dict[str, Any]) -> bool:
    """Write results to a file, if one is asked for. Whether that is all: to standard output nothing else goes."""
    if path is None:
        return False
    from swvp.data.files import write_bytes

    text = json.dumps(results, indent=1) + "\n"
    if str(path) == "-":
        sys.stdout.write(text)
        return True
    write_bytes(path, text.encode())
    return False
