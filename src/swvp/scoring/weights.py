"""Owns weights as tables: rows that show themselves, in a notebook and as text."""

from __future__ import annotations

import numbers
from typing import Any, NamedTuple

from swvp.checks import shown
from swvp.errors import InputError
from swvp.escaping import escaped
from swvp.scoring.html import html_table

__all__ = ["WeightTable", "check_count"]


class WeightTable(NamedTuple):
    """Rows of weights that show themselves as a table, in a notebook and as text."""

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def cells(self) -> list[list[str]]:
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
    return f"{cell:+.3f}" if isinstance(cell, float) else escaped(str(cell))


def check_count(name: str, value: Any, least: int = 0) -> None:
    """Refuse what is no whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {shown(value)}")
