"""Errors for users: one line that says what is wrong and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from swvp.escaping import one_line

__all__ = ["InputError", "did_you_mean", "unknown_name"]


class InputError(ValueError):
    """Raised for input that cannot be used; the message is one line for the user, with control characters escaped."""

    def __init__(self, message: str):
        super().__init__(one_line(message))


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
    close = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return f" (did you mean '{close[0]}'?)" if close else ""
