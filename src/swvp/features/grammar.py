"""The grammar of feature templates, for taggers, arcs, second-order parts and labels of arcs alike.

A template is one or more atoms joined by `&`. Most atoms are a column, perhaps of a neighbouring token and through a
function of its string (`swvp.features.functions`):

    word[-1]                    taggers: a column at an offset
    h.pos  m.word[+1]           parsers: a column of a side, here the head h and the modifier m, or of a neighbour
    m.feats.Case                labels of arcs: one of the morphological features
    suffix(word[0], 3)          a function of the string

Each kind of template is a `Grammar`, and has other atoms of its own. Lines that are empty or start with # are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from swvp.errors import InputError, did_you_mean, unknown_name
from swvp.features.functions import FUNCTIONS

__all__ = ["Atom", "Grammar", "Slot", "atom_texts", "parse_atom", "parse_lines"]

MOST_TEMPLATES, MOST_ATOMS = 2000, 100
MOST_NUMBER = 1000

ATOM = re.compile(
    r"(?:(?P<function>\w+)\(\s*)?"
    r"(?:(?P<side>[a-z]+)\.)?(?P<column>\w+)(?:\.(?P<name>[^\s&(),|=\[\]]+(?:\[[a-z]\w*\])?))?\s*"
    r"(?:\[\s*(?P<offset>[+-]?\d+)\s*\])?(?:\s*,\s*(?P<number>\d+))?\s*(?P<end>\))?"
)


class Slot(NamedTuple):
    """What an atom takes from a token: function(column, number), or the morphological feature with this name."""

    column: str
    name: str = ""
    function: str = ""
    number: int = 0

    def value(self, string: str) -> str:
        """The value for a string of the column; "" if there is no morphological feature with the name."""
        if self.name:
            start = f"{self.name}="
            return next((part.removeprefix(start) for part in string.split("|") if part.startswith(start)), "")
        return FUNCTIONS[self.function](string, self.number)


class Atom(NamedTuple):
    """function(side.column.name[offset], number); missing parts are "" or 0."""

    side: str
    column: str = ""
    name: str = ""
    offset: int = 0
    function: str = ""
    number: int = 0

    @property
    def slot(self) -> Slot:
        return Slot(self.column, self.name, self.function, self.number)

    @property
    def text(self) -> str:
        if self.side:
            inner = ".".join(part for part in (self.side, self.column, self.name) if part)
            inner += f"[{self.offset:+d}]" if self.offset else ""
        else:
            inner = f"{self.column}[{self.offset}]"
        if not self.function:
            return inner
        number = f", {self.number}" if FUNCTIONS[self.function].takes_number else ""
        return f"{self.function}({inner}{number})"


class Grammar(NamedTuple):
    """A kind of template: the sides and columns of its atoms, and the limits.

    Without sides, atoms are column[offset], and a column may be given by its number. `others` are the atoms that are
    not columns, for suggestions in errors.
    """

    sides: Sequence[str]
    columns: Sequence[str]
    farthest: int
    example: str
    others: Sequence[str] = ()
    learns_labels: bool = False


class HasText(Protocol):
    """A template with its text, which is the same for equal templates."""

    @property
    def text(self) -> str: ...


Template = TypeVar("Template", bound=HasText)


def parse_lines(lines: Iterable[str], where: str, parse: Callable[[str, str], Template | None]) -> list[Template]:
    """Parse each line with `parse(text, place)` and return the templates, each once; None is no template."""
    templates: dict[str, Template] = {}
    for number, line in enumerate(lines, 1):
        text, place = line.strip(), f"{where} line {number}"
        if not text or text.startswith("#"):
            continue
        if text.count("&") >= MOST_ATOMS:
            raise InputError(f"{place}: more than {MOST_ATOMS} atoms in one template: use fewer")
        template = parse(text, place)
        if template is not None:
            templates.setdefault(template.text, template)
    if not templates:
        raise InputError(f"{where}: no template in it")
    if len(templates) > MOST_TEMPLATES:
        raise InputError(f"{where}: {len(templates):,} templates, the most are {MOST_TEMPLATES:,}: use fewer")
    return list(templates.values())


def atom_texts(text: str) -> list[str]:
    """The texts of the atoms of a template, without `bias`."""
    return [part for part in (part.strip() for part in text.split("&")) if part != "bias"]


def parse_atom(text: str, grammar: Grammar, place: str) -> Atom:
    """The atom of a column; InputError with the place and the problem if the text is not one."""
    match = ATOM.fullmatch(text)
    if (
        match is None
        or bool(match["function"]) != bool(match["end"])
        or bool(match["side"]) != bool(grammar.sides)
        or (match["offset"] is None and not grammar.sides)
    ):
        guess = did_you_mean(text, grammar.others)
        raise InputError(f"{place}: cannot read '{text}'{guess}; atoms are as {grammar.example}")
    function, side, name = match["function"] or "", match["side"] or "", match["name"] or ""
    functions = [known for known, row in FUNCTIONS.items() if grammar.learns_labels or not row.learns_labels]
    if function not in functions:
        raise unknown_name(f"function in {place}:", function, filter(None, functions))
    if side and side not in grammar.sides:
        raise unknown_name(f"side in {place}:", side, grammar.sides)
    column = column_name(match["column"], grammar, place)
    offset = bounded(match["offset"] or "0", grammar.farthest, f"{place}: '{text}' looks farther than")
    number = bounded(match["number"] or "0", MOST_NUMBER, f"{place}: '{text}' has a number of more than")
    takes_number = FUNCTIONS[function].takes_number
    if takes_number != (match["number"] is not None) or (takes_number and number < 1):
        problem = f"needs a length of at least 1, as in {grammar.example}" if takes_number else "takes no number"
        raise InputError(f"{place}: '{text}': {function or 'a column'} {problem}")
    return Atom(side, column, name, offset, function, number)


def column_name(name: str, grammar: Grammar, place: str) -> str:
    if not grammar.sides and name.isdecimal() and len(name) < 5 and int(name) < len(grammar.columns):
        return grammar.columns[int(name)]
    if name not in grammar.columns:
        raise unknown_name(f"column in {place}:", name, grammar.columns)
    return name


def bounded(digits: str, most: int, problem: str) -> int:
    """The number of these digits; InputError if its absolute value is more than `most`."""
    if len(digits.lstrip("+-0")) > 6 or abs(int(digits)) > most:
        raise InputError(f"{problem} {most}")
    return int(digits)
