"""Columns of tables, each declared once for the HTML page and for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from rich.table import Table
from rich.text import Text

from swvp.studies.common.words import NONE

__all__ = ["Cell", "Column", "new_table", "page_cells", "styled_text", "terminal_cells"]

Row = TypeVar("Row")


class Cell(NamedTuple):
    """The text of a cell, and whether it is bold."""

    text: str
    bold: bool = False


@dataclass(frozen=True, kw_only=True)
class Column(Generic[Row]):
    """A column: its headings, the value of a row, and how the value is formatted.

    Parameters
    ----------
    heading, short : str
        The heading on the page and in the terminal.
    value : callable
        Computes the value of a row; None if the row has none.
    page, terminal : callable, optional
        Format a value on the page and in the terminal. Without one, the column is not shown there.
    rank : callable, optional
        The number, rounded as printed, by which values are compared: the largest one is bold.
    """

    heading: str = ""
    short: str = ""
    value: Callable[[Row], Any]
    page: Callable[[Any], str] | None = None
    terminal: Callable[[Any], str] | None = None
    rank: Callable[[Any], float] | None = None


def page_cells(column: Column[Row], rows: Sequence[Row], *, unranked: Collection[Row] = ()) -> list[Cell]:
    """Return the cells of a column on the page; rows in `unranked` are never bold."""
    assert column.page is not None
    return cells(column, rows, column.page, NONE, unranked)


def terminal_cells(column: Column[Row], rows: Sequence[Row], *, unranked: Collection[Row] = ()) -> list[Cell]:
    """Return the cells of a column in the terminal; rows in `unranked` are never bold."""
    assert column.terminal is not None
    return cells(column, rows, column.terminal, "", unranked)


def cells(
    column: Column[Row], rows: Sequence[Row], text: Callable[[Any], str], missing: str, unranked: Collection[Row]
) -> list[Cell]:
    values = [column.value(row) for row in rows]
    ranks = [
        0.0 if column.rank is None or value is None or row in unranked else column.rank(value)
        for row, value in zip(rows, values, strict=True)
    ]
    best = max(ranks, default=0.0) if len(rows) - len(unranked) > 1 else 0.0
    return [
        Cell(missing if value is None else text(value), bool(best) and rank == best)
        for value, rank in zip(values, ranks, strict=True)
    ]


def new_table(title: str, headings: Sequence[str], *, left: Collection[int] = (0,), gap: int = 2) -> Table:
    """Return an empty table for the terminal; columns not in `left` are aligned to the right."""
    table = Table(
        title=title, title_justify="left", title_style="bold", box=None, padding=(0, gap, 0, 0), pad_edge=False
    )
    for k, heading in enumerate(headings):
        table.add_column(Text(heading), justify="left" if k in left else "right", no_wrap=True)
    return table


def styled_text(cell: Cell) -> Text:
    """Return a cell as text for the terminal."""
    return Text(cell.text, style="bold" if cell.bold else "")
