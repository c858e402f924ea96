"""The templates of labels: which features an arc of a given tree has for the choice of its label.

Most atoms are SIDE.COLUMN, perhaps of a neighbouring word or through a function of the string, as in the templates of
arcs: m.pos, h.word[-1], lower(m.word), suffix(m.word, 3). Sides are

    h m                     the head and the modifier of the arc
    g                       the head of the head
    previous next           the siblings beside the modifier: words with the same head
    first last              the first and the last word whose head is the modifier
    child sibling           each of the modifier's children, of its siblings: one feature per word
    between                 each of the words between head and modifier

Columns are word, lemma, pos, tag, feats (each of the morphological features; of h and m only) and feats.NAME, the value
of one of them: m.feats.Case. A template has at most one side with many values. Other atoms:

    direction               whether the modifier is after its head
    distance                |h - m| in bins: 1, 2, 3, 4, 5, 6-10, 11-20, 21-30, 31-40, more
    verbs                   the number of verbs in between, at most 3; also punctuation, coordinators
    children siblings       the number of words with the modifier as head, with the head as head, at most 5
    place                   the number of siblings between head and modifier, at most 3
    shared                  each morphological feature that head and modifier have in common
    bias                    nothing
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from swvp.errors import InputError
from swvp.features.arc_templates import FARTHEST, TREEBANK_COLUMNS
from swvp.features.grammar import Atom, Grammar, atom_texts, parse_atom, parse_lines
from swvp.features.presets import LABEL_TEMPLATES as LABELS

__all__ = ["LABELS", "MANY", "NODES", "NUMBERS", "SHARED", "LabelTemplate", "parse_label_templates"]

NODES = ("h", "m", "g", "previous", "next", "first", "last")
MANY = ("child", "sibling", "between")
NUMBERS = ("direction", "distance", "verbs", "punctuation", "coordinators", "children", "siblings", "place")
SHARED = "shared"
GRAMMAR = Grammar(
    sides=(*NODES, *MANY),
    columns=TREEBANK_COLUMNS,
    farthest=FARTHEST,
    example="h.pos, m.feats.Case, suffix(child.word, 3), m.pos[-1], distance",
    others=(*NUMBERS, SHARED),
)


class LabelTemplate(NamedTuple):
    """A conjunction of atoms; those of the side with many values, `many`, come last."""

    text: str
    atoms: tuple[Atom, ...]
    many: str


def parse_label_templates(lines: Iterable[str], where: str = "template") -> list[LabelTemplate]:
    """Return the templates of these lines; errors name the line.

    Parameters
    ----------
    lines : lines of a file of templates; empty lines and those that start with # are skipped
    where : name of the file, for errors

    >>> parse_label_templates(["child.lemma & m.pos"])[0]._replace(atoms=())
    LabelTemplate(text='m.pos & child.lemma', atoms=(), many='child')
    """
    return parse_lines(lines, where, parse_template)


def parse_template(text: str, place: str) -> LabelTemplate:
    atoms = sorted({label_atom(part, place) for part in atom_texts(text)}, key=lambda atom: (many_of(atom), atom))
    many = {many_of(atom) for atom in atoms} - {""}
    if len(many) > 1:
        raise InputError(f"{place}: {' and '.join(sorted(many))} have many values; a template has one such side")
    return LabelTemplate(" & ".join(atom.text for atom in atoms) or "bias", tuple(atoms), "".join(many))


def many_of(atom: Atom) -> str:
    """The side with many values that an atom is of, or ""."""
    if atom.column == "feats" and not atom.name:
        return atom.text
    return atom.side if atom.side in (*MANY, SHARED) else ""


def label_atom(text: str, place: str) -> Atom:
    """An atom of a column, or one without a column whose side is its name."""
    if text in (*NUMBERS, SHARED):
        return Atom(text)
    atom = parse_atom(text, GRAMMAR, place)
    if atom.name and atom.column != "feats":
        raise InputError(f"{place}: '{text}': only feats have names, as in m.feats.Case")
    if atom.column == "feats" and (atom.function or (not atom.name and (atom.offset or atom.side not in ("h", "m")))):
        raise InputError(f"{place}: '{text}': write h.feats, m.feats, or the name of one, as in {atom.side}.feats.Case")
    return atom
