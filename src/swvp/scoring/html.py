"""Owns the small tables that results show of themselves in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table"]


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as HTML, every text escaped; the first cell of a row is its heading.

    >>> html_table("x < y", ["", "n"], [["a&b", "<1"]])
    '<table><caption>x &lt; y</caption><tr><th></th><th>n</th></tr><tr><th>a&amp;b</th><td>&lt;1</td></tr></table>'
    """
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>" for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"
