"""Errors for users: one line that says what is wrong and what to do; escaping of texts, checks of numbers.

Tokens, labels, file names and templates may hold sequences that clear the screen, rename the window or hide what
follows. So control characters that would steer a terminal are escaped in what people see; output for programs stays
exact. Numbers that users and files give are checked: no bools, and no integers that a float or an int64 cannot hold.
"""

from __future__ import annotations

import difflib
import math
import numbers
import re
from collections.abc import Iterable
from typing import Any

__all__ = [
    "MOST_WHOLE",
    "STEERING",
    "InputError",
    "counted",
    "did_you_mean",
    "escaped",
    "is_power_of_two",
    "is_real",
    "is_whole",
    "one_line",
    "shown",
    "unknown_name",
]


class InputError(ValueError):
    """Raised for input that cannot be used; the message is one line for the user, with control characters escaped."""

    def __init__(self, message: str):
        super().__init__(one_line(message))


def counted(number: int, what: str) -> str:
    """Return a number of things, whose plural ends in s.

    >>> counted(1, "label"), counted(2000, "label")
    ('1 label', '2,000 labels')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InputError:
    """Return an error for an unknown name that lists the known ones and suggests the nearest.

    Examples
    --------
    >>> raise unknown_name("gamma", "wn", ["wm", "wmr"])
    Traceback (most recent call last):
    swvp.errors.InputError: unknown gamma 'wn' (did you mean 'wm'?); known: wm, wmr
    """
    known = list(known)
    return InputError(f"unknown {kind} '{name}'{did_you_mean(name, known)}; known: {', '.join(known)}")


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return a suggestion, such as " (did you mean 'wm'?)"; an empty string if no known name is near."""
    by_small_letters = {each.lower(): each for each in known}
    close = difflib.get_close_matches(str(name).lower(), list(by_small_letters), n=1, cutoff=0.5)
    return f" (did you mean '{by_small_letters[close[0]]}'?)" if close else ""


# ---------------------------------------------------------------- escaping

STEERING = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters; ESC begins sequences, line feeds would begin another message
    "\u2028\u2029"  # line and paragraph separators
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # directions: text that reads differently from what it is
    "\ud800-\udfff\ufffe\uffff"  # halves of characters, no characters
    "]"
)
MAX_LENGTH = 1000  # characters of a message


def escaped(text: str, keep: str = "") -> str:
    r"""Return the text with control characters as Python escapes them, except those in `keep`.

    Examples
    --------
    >>> print(escaped("a\tb\x1b[31m"))
    a\tb\x1b[31m
    """
    return STEERING.sub(lambda match: match[0] if match[0] in keep else ascii(match[0])[1:-1], text)


def one_line(text: str, longest: int = MAX_LENGTH) -> str:
    r"""Return a message as one line of at most `longest` characters.

    A longer message is cut in the middle, because its end says what to do.

    Examples
    --------
    >>> print(one_line("two\nlines"))
    two\nlines
    >>> one_line("x" * 50, 11)
    'xxxxxx … xx'
    """
    text = escaped(text)
    if len(text) <= longest:
        return text
    end = longest // 4
    return f"{text[: longest - end - 3]} … {text[-end:]}"


# ---------------------------------------------------------------- numbers

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
