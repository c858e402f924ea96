"""The template language: its grammar, the functions of strings, and the templates of taggers.

A template is one or more atoms joined by `&`. Most atoms are a column, perhaps of a neighbouring token and through a
function of its string. Each function is one row of `FUNCTIONS`:

    word[-1]                    taggers: a column at an offset
    h.pos  m.word[+1]           parsers: a column of a side, here the head h and the modifier m, or of a neighbour
    m.feats.Case                labels of arcs: one of the morphological features
    lower(word[0])              in lower case
    prefix(word[0], 3)          the first 3 characters (nothing if there are fewer)
    suffix(word[0], 3)          the last 3
    shape(word[0])              Xx-d for McDonald-7: classes of characters, runs shortened
    kinds(word[0])              which classes of characters occur: upper, lower, digit, other
    tags(word[0])               taggers: the labels of this word, in lower case, in training (nothing if it is rare)
    cluster(word[0])            taggers: the path of the word's cluster (nothing if it has none); swvp.features.clusters
    cluster(word[0], 4)         taggers: the first 4 bits of this path, a coarser cluster
    bias                        always the same: the weight of a label itself

Each kind of template is a `Grammar`, and has other atoms of its own; those of parsers are in
`swvp.features.parser_templates`. Lines that are empty or start with # are skipped. Files of CRF++ are read too, for
taggers: `U05:%x[-1,0]/%x[0,0]` is `word[-1] & word[0]`, columns by number; `B` stands for the transitions, which are
always there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

from swvp.errors import InputError, did_you_mean, unknown_name
from swvp.features.presets import CLUSTER_TEMPLATES
from swvp.features.presets import TAGGER_PRESETS as PRESETS

__all__ = [
    "FUNCTIONS",
    "PRESETS",
    "Atom",
    "Grammar",
    "Slot",
    "Template",
    "TemplateFunction",
    "atom_texts",
    "parse_atom",
    "parse_lines",
    "parse_templates",
    "read_templates",
    "register_function",
    "with_clusters",
]


class TemplateFunction(NamedTuple):
    """A function of templates; `apply` takes a string and, if `takes_number`, a length.

    What a function with `learns_labels` returns is looked up among the labels of the training set, with
    `learns_clusters` among word clusters; only taggers can. With `number_optional`, templates may leave out the number.
    """

    apply: Callable[..., str]
    takes_number: bool = False
    learns_labels: bool = False
    learns_clusters: bool = False
    number_optional: bool = False

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


def word_of_cluster(string: str, number: int) -> str:
    """The string that a cluster is looked up by; the number cuts its path later."""
    return string.lower()


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
    "cluster": TemplateFunction(word_of_cluster, takes_number=True, learns_clusters=True, number_optional=True),
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
        number = f", {self.number}" if FUNCTIONS[self.function].takes_number and self.number else ""
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
    learns: bool = False
    """Whether functions may look up what is learnt in training, labels or clusters."""


class HasText(Protocol):
    """A template with its text, which is the same for equal templates."""

    @property
    def text(self) -> str: ...


Parsed = TypeVar("Parsed", bound=HasText)


def parse_lines(lines: Iterable[str], where: str, parse: Callable[[str, str], Parsed | None]) -> list[Parsed]:
    """Parse each line with `parse(text, place)` and return the templates, each once; None is no template."""
    templates: dict[str, Parsed] = {}
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
    learnt = [known for known, row in FUNCTIONS.items() if row.learns_labels or row.learns_clusters]
    functions = [known for known in FUNCTIONS if grammar.learns or known not in learnt]
    if function not in functions:
        raise unknown_name(f"function in {place}:", function, filter(None, functions))
    if side and side not in grammar.sides:
        raise unknown_name(f"side in {place}:", side, grammar.sides)
    column = column_name(match["column"], grammar, place)
    offset = bounded(match["offset"] or "0", grammar.farthest, f"{place}: '{text}' looks farther than")
    number = bounded(match["number"] or "0", MOST_NUMBER, f"{place}: '{text}' has a number of more than")
    takes_number = FUNCTIONS[function].takes_number
    left_out = match["number"] is None and FUNCTIONS[function].number_optional
    if not left_out and (takes_number != (match["number"] is not None) or (takes_number and number < 1)):
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


FARTHEST = 1000
CRFPP_LINE = re.compile(r"[UB]\w*(:.*)?|[UB].*%x.*")
CRFPP = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")


class Template(NamedTuple):
    """A conjunction of atoms; none at all is the bias."""

    text: str
    atoms: tuple[Atom, ...]


def parse_templates(lines: Iterable[str], columns: Sequence[str], where: str = "template") -> list[Template]:
    """Return the templates of these lines, over columns with these names; errors name the line.

    Parameters
    ----------
    lines : lines of a file of templates; empty lines and those that start with # are skipped
    columns : names of the columns
    where : name of the file, for errors

    >>> [template.text for template in parse_templates(["lower(word[0]) & pos[-1]", "U1:%x[0,1]"], ["word", "pos"])]
    ['lower(word[0]) & pos[-1]', 'pos[0]']
    """
    grammar = Grammar((), columns, FARTHEST, "word[0], pos[-1], suffix(word[0], 3)", learns=True)

    def parse(text: str, place: str) -> Template | None:
        if CRFPP_LINE.fullmatch(text):
            atoms = crfpp_atoms(text, grammar, place)
        else:
            atoms = [parse_atom(part, grammar, place) for part in atom_texts(text)]
        return None if atoms is None else Template(" & ".join(atom.text for atom in atoms) or "bias", tuple(atoms))

    return parse_lines(lines, where, parse)


def with_clusters(templates: Sequence[Template], columns: Sequence[str]) -> list[Template]:
    """The templates, and those of the clusters of words unless one of them has the function `cluster` already."""
    if any(FUNCTIONS[atom.function].learns_clusters for template in templates for atom in template.atoms):
        return list(templates)
    if "word" not in columns:
        raise InputError(f"clusters need a column named word, or templates with cluster(…): {', '.join(columns)}")
    return [*templates, *parse_templates(CLUSTER_TEMPLATES, columns)]


def crfpp_atoms(text: str, grammar: Grammar, place: str) -> list[Atom] | None:
    """The atoms of a line of CRF++, None for that of the transitions."""
    if text[0] == "B":
        if "%x" in text:
            raise InputError(f"{place}: '{text}': attributes of transitions are not supported; use U")
        return None
    columns = CRFPP.findall(text)
    if text.count("%") != len(columns):
        raise InputError(f"{place}: cannot read '{text}': CRF++ writes a column as %x[offset,number]")
    return [parse_atom(f"{column}[{offset}]", grammar, place) for offset, column in columns]


def read_templates(path: str | Path, presets: Iterable[str] | None = None) -> list[str]:
    """Return the lines of a file of templates.

    Parameters
    ----------
    path : the file, in UTF-8
    presets : names of presets, by default those of taggers, which the error lists if there is no such file
    """
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
