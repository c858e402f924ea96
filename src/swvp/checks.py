"""Owns which numbers users and files may give: neither bools nor integers that no float or int64 can hold."""

from __future__ import annotations

import math
import numbers
from typing import Any

__all__ = ["MOST_WHOLE", "is_real", "is_whole", "shown"]

MOST_WHOLE = 2**63 - 1
LONGEST = 60


def is_whole(value: Any, least: int = 1) -> bool:
    """Whether a value is a whole number of at least `least` that fits into 64 bits; True is no number.

    >>> is_whole(3), is_whole(True), is_whole(10**400)
    (True, False, False)
    """
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and least <= int(value) <= MOST_WHOLE


def is_real(value: Any) -> bool:
    """Whether a value is a finite number that a float can hold; True is no number.

    >>> is_real(0.5), is_real(float("inf")), is_real(10**400)
    (True, False, False)
    """
    try:
        return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(float(value))
    except OverflowError:
        return False


def shown(value: Any) -> str:
    """A value for a message, cut if it is long.

    >>> shown("abc"), len(shown(10**400)) < 100
    ("'abc'", True)
    """
    if isinstance(value, numbers.Integral) and not -(10**LONGEST) < value < 10**LONGEST:
        return f"a number of {int(math.log10(abs(int(value)))) + 1} digits"  # Python prints no more than 4300
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + " …"
