"""Tables of reports, and their numbers and phrases, with the one place where numbers are rounded.

A column of a table is declared once for the HTML page and for the terminal. Sentences compare the values that `percent`
and `points` return, so every statement holds for the printed numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from rich.table import Table
from rich.text import Text

__all__ = [
    "GROUP",
    "NONE",
    "SIGNIFICANT",
    "Cell",
    "Column",
    "PageRow",
    "PageTable",
    "Spread",
    "between",
    "counted",
    "interval_text",
    "listed",
    "name_of_test",
    "new_table",
    "p_text",
    "page_cells",
    "percent",
    "percent_text",
    "plus_minus",
    "points",
    "signed",
    "std",
    "styled_text",
    "terminal_cells",
    "with_std",
]

Row = TypeVar("Row")


class Cell(NamedTuple):
    """The text of a cell, and whether it is bold."""

    text: str
    bold: bool = False


GROUP = "group"
"""The style of a row that is the heading of the rows below it."""


class PageRow(NamedTuple):
    """A row of a table on the page, with its style."""

    name: str
    cells: Sequence[Cell]
    style: str = ""


class PageTable(NamedTuple):
    """A table of the page."""

    title: str
    headings: Sequence[str]
    rows: Sequence[PageRow]


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


# ---------------------------------------------------------------- numbers and phrases

SIGNIFICANT = 0.05
NONE = "–"
"""What a page shows where there is no number."""


def percent(share: float, digits: int = 2) -> float:
    """Return a share in percent, rounded as it is printed."""
    return round(100 * share, digits)


def percent_text(share: float, digits: int = 2) -> str:
    """Return a share in percent as text.

    >>> percent_text(0.81804), percent_text(0.81804, 1)
    ('81.80', '81.8')
    """
    return f"{percent(share, digits):.{digits}f}"


class Spread(NamedTuple):
    """A mean and a standard deviation over datasets or seeds, as shares."""

    mean: float
    std: float
    number: int


def std(values: Sequence[float]) -> float:
    """Return the sample standard deviation; 0 for a single value."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def with_std(spread: Spread) -> str:
    """Return 80.05 (0.07), or 80.05 for a single dataset or seed."""
    mean = percent_text(spread.mean)
    return f"{mean} ({percent_text(spread.std)})" if spread.number > 1 else mean


def plus_minus(spread: Spread, digits: int = 2) -> str:
    """Return 80.05 ±0.07, or 80.05 for a single dataset or seed."""
    mean = percent_text(spread.mean)
    return f"{mean} ±{percent_text(spread.std, digits)}" if spread.number > 1 else mean


def points(a: float, b: float) -> float:
    """Return a - b in percentage points, as a reader of the printed percentages would compute it.

    >>> points(0.81804, 0.77266)
    4.53
    """
    return round(percent(a) - percent(b), 2)


def signed(difference: float) -> str:
    """Return a difference of shares in percentage points, with its sign.

    >>> signed(0.0123), signed(-0.0123), signed(-0.00001)
    ('+1.23', '−1.23', '0.00')
    """
    value = percent(difference)
    return f"{value:+.2f}".replace("-", "−") if value else "0.00"


def interval_text(interval: tuple[float, float]) -> str:
    """Return an interval of differences in percentage points.

    >>> interval_text((-0.001, 0.0123))
    '−0.10 to +1.23'
    """
    return f"{signed(interval[0])} to {signed(interval[1])}"


def p_text(p: float) -> str:
    """Return a p-value as text.

    >>> p_text(0.04), p_text(0.0001)
    ('0.040', '<0.001')
    """
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def name_of_test(seeds: int) -> str:
    """Return which test gives the p-values, with so many seeds."""
    return "paired bootstrap over seeds and sentences" if seeds > 1 else "paired permutation test over sentences"


def listed(names: Sequence[str]) -> str:
    """Join names as in a sentence.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless the number is 1.

    >>> counted(1, "training"), counted(1530, "training")
    ('1 training', '1,530 trainings')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def between(values: Iterable[float], digits: int = 2) -> str:
    """Return the smallest and the largest value, or one number if both are printed the same.

    >>> between([3.0, 1.0, 2.0]), between([1.001, 1.002])
    ('1.00 to 3.00', '1.00')
    """
    low, *_, high = [f"{value:.{digits}f}" for value in sorted(values) for _ in range(2)]
    return low if low == high else f"{low} to {high}"
