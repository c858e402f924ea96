"""The functions of strings that templates may use, as in suffix(word[0], 3). Each is one row of `FUNCTIONS`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from swvp.errors import InputError

__all__ = ["FUNCTIONS", "TemplateFunction", "register_function"]


class TemplateFunction(NamedTuple):
    """A function of templates; `apply` takes a string and, if `takes_number`, a length.

    What a function with `learns_labels` returns is looked up among the labels of the training set; only taggers can.
    """

    apply: Callable[..., str]
    takes_number: bool = False
    learns_labels: bool = False

    def __call__(self, string: str, number: int = 0) -> str:
        return self.apply(string, number) if self.takes_number else self.apply(string)


def column_itself(string: str) -> str:
    return string


def prefix(string: str, number: int) -> str:
    """The first characters, or nothing if there are fewer."""
    return string[:number] if len(string) >= number else ""


def suffix(string: str, number: int) -> str:
    """The last characters, or nothing if there are fewer."""
    return string[-number:] if len(string) >= number else ""


def character_class(character: str) -> str:
    if character.isdigit():
        return "d"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character


def shape(string: str) -> str:
    """The classes of the characters; a run of the same class becomes one character.

    >>> shape("McDonald-1997")
    'XxXx-d'
    """
    return re.sub(r"(.)\1+", r"\1", "".join(map(character_class, string)), flags=re.DOTALL)


def kinds(string: str) -> str:
    """The class of the first character, and all classes that occur.

    >>> kinds("U.N.")
    'X:.X'
    """
    classes = [c if c in "dXx" else "." for c in map(character_class, string)]
    return f"{classes[0]}:{''.join(sorted(set(classes)))}" if classes else ""


FUNCTIONS: dict[str, TemplateFunction] = {
    "": TemplateFunction(column_itself),
    "lower": TemplateFunction(str.lower),
    "prefix": TemplateFunction(prefix, takes_number=True),
    "suffix": TemplateFunction(suffix, takes_number=True),
    "shape": TemplateFunction(shape),
    "kinds": TemplateFunction(kinds),
    "tags": TemplateFunction(str.lower, learns_labels=True),
}
"""The functions by name; "" is the column itself."""


def register_function(name: str, function: Callable[..., str], *, takes_number: bool = False) -> None:
    """Register a function of your own for templates of taggers and parsers.

    Parameters
    ----------
    name : its name in templates, letters, digits and _
    function : takes the string of a column, and the number if `takes_number`; returns a string
    takes_number : whether templates give it a number, as in suffix(word[0], 3)

    A model file holds the name, not the function: register it again before you load such a model.

    >>> register_function("first", lambda string: string[:1])
    >>> FUNCTIONS["first"]("abc")
    'a'
    """
    if name in FUNCTIONS or not re.fullmatch(r"\w+", name):
        raise InputError(
            f"cannot name a function of templates '{name}': it exists, or has other characters than letters"
        )
    if not callable(function):
        raise InputError(f"function '{name}' of templates must be callable, not a {type(function).__name__}")
    FUNCTIONS[name] = TemplateFunction(function, takes_number)
