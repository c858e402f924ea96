"""Owns the template language: which attributes a position has, as data that people can read.

A template is one or more atoms joined by `&`. An atom is a column at an offset, `word[-1]`, perhaps through a
function of its string:

    word[0]                 the column itself
    lower(word[0])          in lower case
    prefix(word[0], 3)      the first 3 characters (nothing if there are fewer)
    suffix(word[0], 3)      the last 3
    shape(word[0])          Xx-d for McDonald-7: classes of characters, runs shortened
    kinds(word[0])          which classes of characters occur: upper, lower, digit, other
    tags(word[0])           the labels that this word, in lower case, has in training (nothing if it is rare)
    bias                    always the same: the weight of a label itself

Lines that are empty or start with # are skipped. Files of CRF++ are read too: `U05:%x[-1,0]/%x[0,0]` is
`word[-1] & word[0]`, columns by number; `B` stands for the transitions, which are always there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from swvp.errors import InputError, did_you_mean, unknown_name

__all__ = [
    "FUNCTIONS",
    "PRESETS",
    "Atom",
    "Template",
    "check_atoms",
    "check_number",
    "parse_templates",
    "read_templates",
]


class Atom(NamedTuple):
    """function(column[offset], number), or column[offset] if the function is ""."""

    column: str
    offset: int
    function: str = ""
    number: int = 0


class Template(NamedTuple):
    """A conjunction of atoms; none at all is the bias."""

    text: str
    atoms: tuple[Atom, ...]


def prefix(string: str, number: int) -> str:
    return string[:number] if len(string) >= number else ""


def suffix(string: str, number: int) -> str:
    return string[-number:] if len(string) >= number else ""


def character_class(character: str) -> str:
    if character.isdigit():
        return "d"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character


def shape(string: str, number: int) -> str:
    """Runs of the same class become one character.

    >>> shape("McDonald-1997", 0)
    'XxXx-d'
    """
    return re.sub(r"(.)\1+", r"\1", "".join(map(character_class, string)), flags=re.DOTALL)


def kinds(string: str, number: int) -> str:
    """The classes of characters that occur, and which comes first.

    >>> kinds("U.N.", 0)
    'X:.X'
    """
    classes = [c if c in "dXx" else "." for c in map(character_class, string)]
    return f"{classes[0]}:{''.join(sorted(set(classes)))}" if classes else ""


FUNCTIONS: dict[str, Callable[[str, int], str]] = {
    "": lambda string, number: string,
    "lower": lambda string, number: string.lower(),
    "prefix": prefix,
    "suffix": suffix,
    "shape": shape,
    "kinds": kinds,
    "tags": lambda string, number: string.lower(),  # looked up in what training has learnt
}
NUMBERED = ("prefix", "suffix")
FARTHEST = 1000
MOST_TEMPLATES, MOST_ATOMS = 2000, 100

ATOM = re.compile(
    r"(?:(?P<function>\w+)\(\s*)?(?P<column>[^\W\d]\w*|\d+)\s*\[\s*(?P<offset>[+-]?\d+)\s*\](?:\s*,\s*(?P<number>\d+))?\s*(?P<end>\))?"
)
CRFPP_LINE = re.compile(r"[UB]\w*(:.*)?|[UB].*%x.*")
CRFPP = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")


def parse_templates(lines: Iterable[str], columns: Sequence[str], where: str = "template") -> list[Template]:
    """Read templates over the columns of these names; errors name the line.

    >>> parse_templates(["lower(word[0]) & pos[-1]"], ["word", "pos"])[0].atoms
    (Atom(column='word', offset=0, function='lower', number=0), Atom(column='pos', offset=-1, function='', number=0))
    """
    templates: dict[tuple[Atom, ...], Template] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        place = f"{where} line {number}"
        check_atoms(text, place)
        if CRFPP_LINE.fullmatch(text):
            atoms = crfpp_atoms(text, columns, place)
        elif text == "bias":
            atoms = ()
        else:
            atoms = tuple(parse_atom(part.strip(), columns, place) for part in text.split("&"))
        if atoms is not None:
            templates.setdefault(atoms, Template(" & ".join(map(atom_text, atoms)) or "bias", atoms))
    if not templates:
        raise InputError(f"{where}: no template in it")
    check_number(len(templates), where)
    return list(templates.values())


def check_atoms(text: str, place: str) -> None:
    """Refuse a template that is longer than anyone needs: tables have room for the longest."""
    if text.count("&") >= MOST_ATOMS:
        raise InputError(f"{place}: more than {MOST_ATOMS} atoms in one template: use fewer")


def check_number(templates: int, where: str) -> None:
    """Refuse so many templates that each token would take too much memory."""
    if templates > MOST_TEMPLATES:
        raise InputError(f"{where}: {templates:,} templates, the most are {MOST_TEMPLATES:,}: use fewer")


def read_templates(path: str | Path, presets: Iterable[str] | None = None) -> list[str]:
    """The templates of a file, as lines; a name that is neither a file nor a preset (of taggers) is told."""
    try:
        return Path(path).read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        known = list(presets or PRESETS)
        guess = did_you_mean(path, known)
        raise InputError(
            f"features '{path}': neither a preset ({', '.join(known)}) nor a file of templates{guess}"
        ) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: a file of templates must be UTF-8") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None


def parse_atom(text: str, columns: Sequence[str], place: str) -> Atom:
    match = ATOM.fullmatch(text)
    if match is None or bool(match["function"]) != bool(match["end"]):
        raise InputError(f"{place}: cannot read '{text}': write column[offset] or function(column[offset], number)")
    function = match["function"] or ""
    if function not in FUNCTIONS:
        raise unknown_name(f"function in {place}:", function, [name for name in FUNCTIONS if name])
    for digits in (match["offset"], match["number"] or "0"):
        if len(digits.lstrip("+-0")) > 4 or abs(int(digits)) > FARTHEST:
            raise InputError(f"{place}: '{text}': offsets and numbers are at most {FARTHEST}")
    if (match["number"] is not None) != (function in NUMBERED) or (match["number"] and int(match["number"]) < 1):
        takes = "takes a number of at least 1" if function in NUMBERED else "takes no number"
        raise InputError(f"{place}: '{text}': {function or 'a column'} {takes}")
    return Atom(column_name(match["column"], columns, place), int(match["offset"]), function, int(match["number"] or 0))


def column_name(name: str, columns: Sequence[str], place: str) -> str:
    if name.isdecimal() and len(name) < 5 and int(name) < len(columns):
        return columns[int(name)]
    if name not in columns:
        raise unknown_name(f"column in {place}:", name, columns)
    return name


def crfpp_atoms(text: str, columns: Sequence[str], place: str) -> tuple[Atom, ...] | None:
    if text[0] == "B":
        if "%x" in text:
            raise InputError(f"{place}: '{text}': attributes of transitions are not supported; use U")
        return None
    found = CRFPP.findall(text)
    if text.count("%") != len(found):
        raise InputError(f"{place}: cannot read '{text}': CRF++ writes a column as %x[offset,number]")
    return tuple(parse_atom(f"{column}[{offset}]", columns, place) for offset, column in found)


def atom_text(atom: Atom) -> str:
    inner = f"{atom.column}[{atom.offset}]"
    if not atom.function:
        return inner
    return f"{atom.function}({inner}, {atom.number})" if atom.function in NUMBERED else f"{atom.function}({inner})"


def window(column: str, first: int, last: int) -> list[str]:
    return [f"{column}[{offset}]" for offset in range(first, last + 1)]


def neighbours(column: str, first: int, last: int, size: int) -> list[str]:
    """Conjunctions of `size` offsets next to each other."""
    return [" & ".join(f"{column}[{at + k}]" for k in range(size)) for at in range(first, last - size + 2)]


AFFIXES = [f"{function}(word[0], {size})" for size in (1, 2, 3, 4) for function in ("prefix", "suffix")]

PRESETS: dict[str, list[str]] = {
    "pos": [
        "bias",
        *window("word", -2, 2),
        *neighbours("word", -1, 1, 2),
        "lower(word[0])",
        *AFFIXES,
        "suffix(word[0], 5)",
        "suffix(word[0], 6)",
        "prefix(word[0], 5)",
        "shape(word[0])",
        "kinds(word[0])",
        "shape(word[0]) & suffix(word[0], 3)",
        *(
            f"{function}(word[{offset}]{rest})"
            for offset in (-1, 1)
            for function, rest in (("suffix", ", 3"), ("shape", ""))
        ),
        *(f"suffix(word[0], 3) & suffix(word[{offset}], 2)" for offset in (-1, 1)),
        *(f"suffix(word[0], 2) & word[{offset}]" for offset in (-1, 1)),
        *(f"tags(word[{offset}])" for offset in (-2, -1, 0, 1, 2)),
        *(f"tags(word[{offset}]) & tags(word[{offset + 1}])" for offset in (-2, -1, 0, 1)),
        "tags(word[-1]) & tags(word[1])",
        "tags(word[-1]) & tags(word[0]) & tags(word[1])",
        *(f"tags(word[{offset}]) & word[0]" for offset in (-1, 1)),
    ],
    "chunk": [
        "bias",
        *window("word", -2, 2),
        *neighbours("word", -1, 1, 2),
        *window("pos", -2, 2),
        *neighbours("pos", -2, 2, 2),
        *neighbours("pos", -2, 2, 3),
    ],
    "ner": [
        "bias",
        *window("word", -2, 2),
        *neighbours("word", -1, 1, 2),
        *(f"lower(word[{offset}])" for offset in (-1, 0, 1)),
        *AFFIXES,
        "prefix(word[0], 5)",
        "suffix(word[0], 5)",
        *(f"{function}(word[{offset}])" for offset in (-2, -1, 0, 1, 2) for function in ("shape", "kinds")),
        "shape(word[-1]) & shape(word[0])",
        "shape(word[0]) & shape(word[1])",
        "shape(word[-1]) & shape(word[0]) & shape(word[1])",
        "suffix(word[-1], 3)",
        "suffix(word[1], 3)",
        "lower(word[-1]) & shape(word[0])",
        "lower(word[1]) & shape(word[0])",
        "word[0] & shape(word[-1])",
        "word[0] & shape(word[1])",
        "lower(word[-2]) & shape(word[-1]) & shape(word[0])",
        "lower(word[2]) & shape(word[1]) & shape(word[0])",
        "lower(word[-2]) & lower(word[-1]) & shape(word[0])",
    ],
}
"""Templates for common tasks: `pos` and `ner` need the column word, `chunk` also pos."""
