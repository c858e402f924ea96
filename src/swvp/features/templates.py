"""The templates of taggers: which attributes a position has.

    word[0]                 a column at an offset
    lower(word[0])          in lower case
    prefix(word[0], 3)      the first 3 characters (nothing if there are fewer)
    suffix(word[0], 3)      the last 3
    shape(word[0])          Xx-d for McDonald-7: classes of characters, runs shortened
    kinds(word[0])          which classes of characters occur: upper, lower, digit, other
    tags(word[0])           the labels that this word, in lower case, has in training (nothing if it is rare)
    bias                    always the same: the weight of a label itself

Files of CRF++ are read too: `U05:%x[-1,0]/%x[0,0]` is `word[-1] & word[0]`, columns by number; `B` stands for the
transitions, which are always there. The grammar is in `swvp.features.grammar`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from swvp.errors import InputError, did_you_mean
from swvp.features.functions import FUNCTIONS
from swvp.features.grammar import Atom, Grammar, atom_texts, parse_atom, parse_lines
from swvp.features.presets import TAGGER_PRESETS as PRESETS

__all__ = ["FUNCTIONS", "PRESETS", "Atom", "Template", "parse_templates", "read_templates"]

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
    grammar = Grammar((), columns, FARTHEST, "word[0], pos[-1], suffix(word[0], 3)", learns_labels=True)

    def parse(text: str, place: str) -> Template | None:
        if CRFPP_LINE.fullmatch(text):
            atoms = crfpp_atoms(text, grammar, place)
        else:
            atoms = [parse_atom(part, grammar, place) for part in atom_texts(text)]
        return None if atoms is None else Template(" & ".join(atom.text for atom in atoms) or "bias", tuple(atoms))

    return parse_lines(lines, where, parse)


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
