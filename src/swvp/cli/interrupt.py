"""Ctrl-C in any command, at any moment: one line and exit code 130.

typer would print another line, or a traceback for errors that a KeyboardInterrupt has become. So it is replaced by an
exception that neither typer nor a command handles.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["EXIT_CODE", "Interrupted", "interruptible"]

EXIT_CODE = 130
"""What shells report for a program that SIGINT has ended."""


class Interrupted(BaseException):
    """Raised when the user stops a command that has nothing to say about it."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise Interrupted for a Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted from None
    except SystemError as error:  # Numba's, if Ctrl-C comes while it calls a kernel
        if not isinstance(error.__cause__ or error.__context__, KeyboardInterrupt):
            raise
        raise Interrupted from None
