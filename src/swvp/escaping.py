"""Escaping of text of unknown origin: control characters that would steer a terminal.

Tokens, labels, file names and templates may hold sequences that clear the screen, rename the window or hide what
follows. Only what people see is escaped; output for programs stays exact.
"""

from __future__ import annotations

import re

__all__ = ["STEERING", "escaped", "one_line"]

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
