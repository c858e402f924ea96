"""Owns the errors that users meet: one line that says what is wrong and what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from swvp.escaping import one_line

__all__ = ["InputError", "did_you_mean", "unknown_name"]


class InputError(ValueError):
    """Input that cannot be used; the message is one line meant for the user, whatever a file put into it."""

    def __init__(self, message: str):
        super().__init__(one_line(message))


def unknown_name(kind: str, name: object, known: Iterable[str]) -> InputError:
    """An error for a wrong name that lists the right ones and guesses the one meant.

    >>> raise unknown_name("gamma", "wn", ["wm", "wmr"])
    Traceback (most recent call last):
    swvp.errors.InputError: unknown gamma 'wn' (did you mean 'wm'?); known: wm, wmr
    """
    known = list(known)
    return InputError(f"unknown {kind} '{name}'{did_you_mean(name, known)}; known: {', '.join(known)}")


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """A guess at the name that was meant, in brackets after a blank; nothing if none is near."""
    close = difflib.get_close_matches(str(name), list(known), n=1, cutoff=0.5)
    return f" (did you mean '{close[0]}'?)" if close else ""
