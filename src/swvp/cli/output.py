"""Consoles for people, on a terminal or not, and JSON files for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from swvp.errors import STEERING, escaped, one_line

__all__ = ["new_console", "write_json"]

OURS = "\n\u2068\u2069"  # line feeds, and the marks around right-to-left words of drawn trees


class EscapingConsole(Console):
    """A console that escapes control characters of the terminal in all texts."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; a text on standard error becomes one line."""

        def shown(item: Any) -> Any:
            if not isinstance(item, str):
                return item
            return one_line(item) if self.stderr else escaped(item, keep=OURS)

        super().print(*map(shown, objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or not STEERING.search(segment.text):
                yield segment
            else:
                yield Segment(escaped(segment.text, keep=OURS), segment.style)


def new_console(*, stderr: bool = False, width: int = 1000) -> Console:
    """A console on standard output or standard error; `width` is its width where there is no terminal."""
    console = EscapingConsole(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = width
    return console


def write_json(path: str | Path | None, results: dict[str, Any]) -> bool:
    """Write results to a file, if `path` is given; return whether they went to standard output, with nothing else."""
    if path is None:
        return False
    from swvp.io.files import write_bytes

    text = json.dumps(results, indent=1) + "\n"
    write_bytes(path, text.encode())
    return str(path) == "-"
