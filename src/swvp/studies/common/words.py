"""Numbers and phrases of reports, with the one place where numbers are rounded.

Sentences compare the values that `percent` and `points` return, so every statement holds for the printed numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = [
    "NONE",
    "SIGNIFICANT",
    "between",
    "counted",
    "listed",
    "p_text",
    "percent",
    "percent_text",
    "points",
    "signed",
]

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


def p_text(p: float) -> str:
    """Return a p-value as text.

    >>> p_text(0.04), p_text(0.0001)
    ('0.040', '<0.001')
    """
    return "<0.001" if p < 0.001 else f"{p:.3f}"


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
