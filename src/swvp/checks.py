"""Checks of numbers that users and files give: no bools, and no integers that a float or an int64 cannot hold."""

from __future__ import annotations

import math
import numbers
from typing import Any

__all__ = ["MOST_WHOLE", "is_power_of_two", "is_real", "is_whole", "shown"]

MOST_WHOLE = 2**63 - 1
LONGEST = 60


def is_whole(value: Any, least: int = 1) -> bool:
    """Whether a value is a whole number of at least `least` that fits into 64 bits; a bool is not a number.

    >>> is_whole(3), is_whole(True), is_whole(10**400)
    (True, False, False)
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and least <= int(value) <= MOST_WHOLE


def is_power_of_two(value: Any, least: int = 1, most: int = MOST_WHOLE) -> bool:
    """Whether a value is a power of two from `least` to `most`, as hash sizes are.

    >>> is_power_of_two(1024), is_power_of_two(1000), is_power_of_two(True), is_power_of_two(2**20, most=1024)
    (True, False, False, False)
    """
    return is_whole(value, least) and int(value) <= most and int(value) & (int(value) - 1) == 0


def is_real(value: Any) -> bool:
    """Whether a value is a finite number that a float can hold; a bool is not a number.

    >>> is_real(0.5), is_real(float("inf")), is_real(10**400)
    (True, False, False)
    """
    try:
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


def shown(value: Any) -> str:
    """The text of a value for a message, shortened if it is long.

    >>> shown("abc"), len(shown(10**400)) < 100
    ("'abc'", True)
    """
    if isinstance(value, numbers.Integral) and not -(10**LONGEST) < value < 10**LONGEST:
        return f"a number of {int(math.log10(abs(int(value)))) + 1} digits"  # Python prints no more than 4300
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"
