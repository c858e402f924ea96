"""The templates of parsers: features of arcs, of second-order parts, and of the labels of arcs.

Arcs, from a head to a modifier
-------------------------------
All atoms are conjoined with the direction of the arc. Columns are those of the head `h` or the modifier `m`, or of a
neighbour, perhaps through a function of the string:

    h.pos                   the column itself
    m.pos[-1]               of the word before the modifier
    lower(h.word)           in lower case; also prefix(h.word, 3), suffix(m.word, 3), shape(m.word), kinds(m.word)
    h.fine                  the fine tag, see `swvp.features.context`
    h.marker, h.follower    words around that say what it is, see there as well
    h.verbs                 the numbers of verbs before and after it
    h.feats                 each of the morphological features: one feature per value

Atoms of the arc:

    distance                |h - m| in bins: 1, 2, 3, 4, 5, 6-10, 11-20, 21-30, 31-40, more
    length                  |h - m|, at most 255
    between.pos             each different value of a column of the words in between (alone or with sides)
    verbs                   the number of verbs in between, at most 3; also punctuation, coordinators
    agreement.Case          whether head and modifier have the same Case; also Gender, Number and Person; the values are
                            same, different, first only, second only and none, see `swvp.features.agreement`
    bias                    nothing but the direction

Second-order parts
------------------
The grammar of arcs, with two more sides:

    siblings        h the head, m and s two of its children next to each other, s farther from h
    grandparent     g the head of h, h the head of m

A template with an atom of `s` is one of siblings, with an atom of `g` one of grandparents, others are of arcs:

    h.pos & m.pos & s.pos            three sides: columns, neighbours and functions of strings
    m.pos & s.pos & distance         only m and s, or only g and m: all that a template of arcs may have
    siblings, grandparent            name the kind of a template without s or g, as siblings & h.pos & m.pos

If m is START or s is STOP, templates of three sides have that value instead of a word, and templates of m and s have
no feature.

Labels
------
The features that an arc of a given tree has for the choice of its label. Most atoms are SIDE.COLUMN, perhaps of a
neighbouring word or through a function of the string, as in the templates of arcs: m.pos, h.word[-1], lower(m.word),
suffix(m.word, 3). Sides are

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

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from swvp.errors import InputError, unknown_name
from swvp.features.agreement import AGREEMENT
from swvp.features.presets import KINDS, PAIRS
from swvp.features.templates import Atom, Grammar, atom_texts, parse_atom, parse_lines

__all__ = [
    "ARC_ATOMS",
    "COLUMNS",
    "MANY",
    "NODES",
    "NUMBERS",
    "NUMERIC_ATOMS",
    "SHARED",
    "ArcTemplate",
    "LabelTemplate",
    "PartTemplate",
    "PartTemplates",
    "Triple",
    "parse_arc_templates",
    "parse_label_templates",
    "parse_part_templates",
]

TREEBANK_COLUMNS = ("word", "lemma", "pos", "tag", "feats")
COLUMNS = (*TREEBANK_COLUMNS, "marker", "follower", "verbs", "fine")
BETWEEN_COLUMNS = tuple(name for name in COLUMNS if name != "feats")
NUMERIC_ATOMS = ("distance", "length", "verbs", "punctuation", "coordinators")
ARC_ATOMS = (*NUMERIC_ATOMS, *(f"agreement.{name}" for name in AGREEMENT))
FARTHEST = 5
ARC_GRAMMAR = Grammar(
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
    return parse_lines(lines, where, parse_arc_template)


def parse_arc_template(text: str, place: str) -> ArcTemplate:
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
        elif text.startswith("agreement."):
            raise unknown_name(f"agreement in {place}:", text.removeprefix("agreement."), AGREEMENT)
        else:
            atom = parse_atom(text, ARC_GRAMMAR, place)
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
        raise InputError(f"{place}: between.COLUMN, feats and atoms like distance exclude each other in one template")
    names = [atom.text for atom in sorted(set(sides))] + [atom for atom in ARC_ATOMS if atom in arc]
    names += [f"between.{between}"] if between else []
    head, modifier = (tuple(atom for atom in sorted(set(sides)) if atom.side == side) for side in "hm")
    return ArcTemplate(" & ".join(names) or "bias", head, modifier, tuple(a for a in ARC_ATOMS if a in arc), between)


class Triple(NamedTuple):
    """A conjunction of atoms of three sides, in the order h, m, s or g, h, m."""

    text: str
    sides: tuple[tuple[Atom, ...], ...]

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(atom for side in self.sides for atom in side)

    @property
    def between(self) -> str:
        return ""


class PartTemplate(NamedTuple):
    """A template with its kind of part. Those of arcs and of pairs are `ArcTemplate`s, whose text shows the kind."""

    text: str
    kind: str
    template: ArcTemplate | Triple


class PartTemplates(NamedTuple):
    """Templates by what they are of."""

    arcs: list[ArcTemplate]
    sibling_pairs: list[ArcTemplate]
    grandparent_pairs: list[ArcTemplate]
    siblings: list[Triple]
    grandparents: list[Triple]

    @property
    def all(self) -> list[ArcTemplate | Triple]:
        return [template for kind in self for template in kind]


def parse_part_templates(lines: Iterable[str], where: str = "template") -> PartTemplates:
    """Return the templates of arcs, siblings and grandparents of these lines; errors name the line.

    Parameters
    ----------
    lines : lines of a file of templates; empty lines and those that start with # are skipped
    where : name of the file, for errors

    >>> parse_part_templates(["h.pos & m.pos", "s.pos & h.pos", "g.pos & m.pos & distance"]).siblings[0].text
    'h.pos & s.pos'
    """
    templates = PartTemplates([], [], [], [], [])
    for part in parse_lines(lines, where, parse_part):
        if isinstance(part.template, Triple):
            (templates.siblings if part.kind == "siblings" else templates.grandparents).append(part.template)
        elif part.kind == "arc":
            templates.arcs.append(part.template)
        else:
            (templates.sibling_pairs if part.kind == "siblings" else templates.grandparent_pairs).append(part.template)
    return templates


def parse_part(text: str, place: str) -> PartTemplate:
    texts = atom_texts(text)
    sides, arc, between = parse_atoms([atom for atom in texts if atom not in PAIRS], place)
    used = {atom.side for atom in sides}
    kinds = {kind for kind, side in (("siblings", "s"), ("grandparent", "g")) if kind in texts or side in used}
    if len(kinds) > 1:
        raise InputError(f"{place}: a template is of siblings (h, m, s) or of grandparents (g, h, m), not of both")
    kind = next(iter(kinds), "arc")
    if kind == "arc":
        of_arcs = arc_template(sides, arc, between, place)
        return PartTemplate(of_arcs.text, kind, of_arcs)
    prefix = [] if used & set("gs") else [kind]
    atoms = sorted(set(sides))
    if used <= set(PAIRS[kind]) and (used or arc or between):
        renamed = dict(zip(PAIRS[kind], "hm", strict=True))
        pair = arc_template([atom._replace(side=renamed[atom.side]) for atom in atoms], arc, between, place)
        after = [*pair.arc, *([f"between.{between}"] if between else [])]
        name = " & ".join(prefix + [atom.text for atom in atoms] + after)
        return PartTemplate(name, kind, pair._replace(text=name))
    if arc or between or any(atom.column == "feats" for atom in sides):
        raise InputError(
            f"{place}: distance, between.COLUMN, feats and the like are for two sides: {' and '.join(PAIRS[kind])}"
        )
    name = " & ".join(prefix + [atom.text for atom in atoms])
    by_side = tuple(tuple(atom for atom in atoms if atom.side == side) for side in KINDS[kind])
    return PartTemplate(name, kind, Triple(name, by_side))


NODES = ("h", "m", "g", "previous", "next", "first", "last")
MANY = ("child", "sibling", "between")
NUMBERS = ("direction", "distance", "verbs", "punctuation", "coordinators", "children", "siblings", "place")
SHARED = "shared"
LABEL_GRAMMAR = Grammar(
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
    return parse_lines(lines, where, parse_label_template)


def parse_label_template(text: str, place: str) -> LabelTemplate:
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
    atom = parse_atom(text, LABEL_GRAMMAR, place)
    if atom.name and atom.column != "feats":
        raise InputError(f"{place}: '{text}': only feats have names, as in m.feats.Case")
    if atom.column == "feats" and (atom.function or (not atom.name and (atom.offset or atom.side not in ("h", "m")))):
        raise InputError(f"{place}: '{text}': write h.feats, m.feats, or the name of one, as in {atom.side}.feats.Case")
    return atom
