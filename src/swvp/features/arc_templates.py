"""The templates of arcs: which features an arc from a head to a modifier has.

All atoms are conjoined with the direction of the arc. Columns are those of the head `h` or the modifier `m`, or of a
neighbour, perhaps through a function of the string:

    h.pos                   the column itself
    m.pos[-1]               of the word before the modifier
    lower(h.word)           in lower case; also prefix(h.word, 3), suffix(m.word, 3), shape(m.word), kinds(m.word)
    h.marker, h.verbs       columns of the context of a word, see `swvp.features.context`
    h.feats                 each of the morphological features: one feature per value

Atoms of the arc:

    distance                |h - m| in bins: 1, 2, 3, 4, 5, 6-10, 11-20, 21-30, 31-40, more
    length                  |h - m|, at most 255
    between.pos             each different value of a column of the words in between (alone or with sides)
    verbs                   the number of verbs in between, at most 3; also punctuation, coordinators
    bias                    nothing but the direction
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from swvp.errors import InputError, unknown_name
from swvp.features.grammar import Atom, Grammar, atom_texts, parse_atom, parse_lines
from swvp.features.presets import ARC_PRESETS as PRESETS

__all__ = ["ARC_ATOMS", "COLUMNS", "PRESETS", "ArcTemplate", "parse_arc_templates"]

TREEBANK_COLUMNS = ("word", "lemma", "pos", "tag", "feats")
COLUMNS = (*TREEBANK_COLUMNS, "marker", "verbs")
BETWEEN_COLUMNS = tuple(name for name in COLUMNS if name != "feats")
ARC_ATOMS = ("distance", "length", "verbs", "punctuation", "coordinators")
FARTHEST = 5
GRAMMAR = Grammar(
    sides=("g", "h", "m", "s"),
    columns=COLUMNS,
    farthest=FARTHEST,
    example=f"h.pos, m.word[-1], suffix(h.word, 3), between.pos, {', '.join(ARC_ATOMS)}",
    others=ARC_ATOMS,
)


class ArcTemplate(NamedTuple):
    """A conjunction of atoms of the head, of the modifier and of the arc; `between` is a column or ""."""

    text: str
    head: tuple[Atom, ...]
    modifier: tuple[Atom, ...]
    arc: tuple[str, ...]
    between: str

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return (*self.head, *self.modifier)


def parse_arc_templates(lines: Iterable[str], where: str = "template") -> list[ArcTemplate]:
    """Return the templates of these lines; errors name the line.

    Parameters
    ----------
    lines : lines of a file of templates; empty lines and those that start with # are skipped
    where : name of the file, for errors

    >>> parse_arc_templates(["m.pos[-1] & distance & h.pos"])[0].text
    'h.pos & m.pos[-1] & distance'
    """
    return parse_lines(lines, where, parse_template)


def parse_template(text: str, place: str) -> ArcTemplate:
    """A template of arcs."""
    sides, arc, between = parse_atoms(atom_texts(text), place)
    if other := next((atom for atom in sides if atom.side not in "hm"), None):
        raise InputError(f"{place}: {other.text} is of second order; templates of arcs have h and m: use order 2")
    return arc_template(sides, arc, between, place)


def parse_atoms(texts: Sequence[str], place: str) -> tuple[list[Atom], list[str], str]:
    """The atoms of a template: those of sides, those of the arc, and the column in between or ""."""
    sides: list[Atom] = []
    arc: list[str] = []
    between = ""
    for text in texts:
        if text.startswith("between."):
            column = text.removeprefix("between.")
            if column not in BETWEEN_COLUMNS:
                raise unknown_name(f"column in {place}:", column, BETWEEN_COLUMNS)
            if between:
                raise InputError(f"{place}: a template has one atom between.COLUMN at most")
            between = column
        elif text in ARC_ATOMS:
            arc.append(text)
        else:
            atom = parse_atom(text, GRAMMAR, place)
            if atom.name or (atom.column == "feats" and (atom.offset or atom.function)):
                raise InputError(f"{place}: '{text}': only feats of the sides themselves can be used, as in h.feats")
            sides.append(atom)
    return sides, arc, between


def arc_template(sides: Sequence[Atom], arc: Sequence[str], between: str, place: str) -> ArcTemplate:
    """The template of atoms of h and m; InputError if they cannot be combined."""
    for side in "hm":
        if sum(atom.side == side and atom.column == "feats" for atom in sides) > 1:
            raise InputError(f"{place}: {side}.feats comes twice")
    multiple = any(atom.column == "feats" for atom in sides)
    if (between and (arc or multiple)) or (arc and multiple):
        raise InputError(f"{place}: between.COLUMN, feats and atoms as distance exclude each other in one template")
    names = [atom.text for atom in sorted(set(sides))] + [atom for atom in ARC_ATOMS if atom in arc]
    names += [f"between.{between}"] if between else []
    head, modifier = (tuple(atom for atom in sorted(set(sides)) if atom.side == side) for side in "hm")
    return ArcTemplate(" & ".join(names) or "bias", head, modifier, tuple(a for a in ARC_ATOMS if a in arc), between)
