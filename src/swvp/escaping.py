"""Owns how text of unknown origin is shown to people: characters that would steer a terminal are escaped.

Tokens, labels, names of files, lines of templates: whoever wrote them could also have written a sequence that clears
the screen, renames the window or hides what follows. Results for programs are not escaped, they stay as they are.
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
LONGEST = 1000  # characters of a message


def escaped(text: str, keep: str = "") -> str:
    r"""The text with each character that would steer a terminal as Python writes it, except those in `keep`.

    >>> print(escaped("a\tb\x1b[31m"))
    a\tb\x1b[31m
    """
    return STEERING.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


def one_line(text: str, longest: int = LONGEST) -> str:
    r"""A message as one line of at most `longest` characters, cut in its middle: its end says what to do.

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
