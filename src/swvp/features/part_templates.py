"""The templates of second-order parts: the grammar of arcs, with two more sides.

    siblings        h the head, m and s two of its children next to each other, s farther from h
    grandparent     g the head of h, h the head of m

A template with an atom of `s` is one of siblings, with an atom of `g` one of grandparents, others are of arcs:

    h.pos & m.pos & s.pos            three sides: columns, neighbours and functions of strings
    m.pos & s.pos & distance         only m and s, or only g and m: all that a template of arcs may have
    siblings, grandparent            name the kind of a template without s or g, as siblings & h.pos & m.pos

If m is START or s is STOP, templates of three sides have that value instead of a word, and templates of m and s have
no feature.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from swvp.errors import InputError
from swvp.features.arc_templates import ArcTemplate, arc_template, parse_atoms
from swvp.features.grammar import Atom, atom_texts, parse_lines
from swvp.features.presets import KINDS, PAIRS, PART_PRESETS

__all__ = ["KINDS", "PAIRS", "PART_PRESETS", "PartTemplate", "PartTemplates", "Triple", "parse_part_templates"]


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
