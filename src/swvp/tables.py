"""Tables that results show in a notebook, and tables of weights."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from swvp.errors import InputError, escaped, shown

__all__ = ["WeightTable", "check_count", "html_table"]


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as HTML with every text escaped; the first cell of a row is its heading.

    Examples
    --------
    >>> html_table("x < y", ["", "n"], [["a&b", "<1"]])
    '<table><caption>x &lt; y</caption><tr><th></th><th>n</th></tr><tr><th>a&amp;b</th><td>&lt;1</td></tr></table>'
    """
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(
        f"<tr><th>{escape(row[0])}</th>{''.join(f'<td>{escape(cell)}</td>' for cell in row[1:])}</tr>" for row in rows
    )
    return f"<table><caption>{escape(caption)}</caption><tr>{head}</tr>{body}</table>"


class WeightTable(NamedTuple):
    """Rows of weights; a notebook and `print` show them as a table.

    Attributes
    ----------
    title : str
    headings : tuple of str
    rows : list of tuple
        The cells of each row; numbers are weights.
    """

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def cells(self) -> list[list[str]]:
        """Return the rows as text."""
        return [[cell_text(cell) for cell in row] for row in self.rows]

    def __str__(self) -> str:
        cells = [list(self.headings), *self.cells()]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.headings))]
        numbers = [bool(self.rows) and isinstance(self.rows[0][k], float) for k in range(len(widths))]
        lines = [
            "  ".join(f"{cell:>{w}}" if n else f"{cell:{w}}" for cell, w, n in zip(row, widths, numbers, strict=True))
            for row in cells
        ]
        return "\n".join([escaped(self.title), *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        return html_table(self.title, self.headings, self.cells())


def cell_text(cell: Any) -> str:
    """Return the text of a cell: weights with a sign and three digits, text escaped."""
    return f"{cell:+.3f}" if isinstance(cell, float) else escaped(str(cell))


def check_count(name: str, value: Any, least: int = 0) -> None:
    """Raise InputError unless the value is a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {shown(value)}")
