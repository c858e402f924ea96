"""Owns the templates of second-order parts: the language of arcs, with two more sides.

    siblings        h the head, m and s two of its children next to each other, s farther from h
    grandparent     g the head of h, h the head of m

A template with an atom of `s` is one of siblings, with an atom of `g` one of grandparents, others are of arcs:

    h.pos & m.pos & s.pos            three sides: columns, neighbours and functions of strings
    m.pos & s.pos & distance         only m and s, or only g and m: all that a template of arcs has, of the two
    siblings, grandparent            tell the kind of a template that has no s or g of its own, as h.pos & m.pos

Where m is START or s is STOP, templates of three sides see that instead of a word, templates of m and s see nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from swvp.errors import InputError
from swvp.features.arc_templates import (
    PRESETS as ARC_PRESETS,
)
from swvp.features.arc_templates import (
    ArcTemplate,
    SideAtom,
    W,
    arc_template,
    parse_atoms,
    parse_lines,
)

__all__ = ["PART_PRESETS", "PartTemplate", "PartTemplates", "Triple", "parse_part_templates"]

KINDS = {"arc": "hm", "siblings": "hms", "grandparent": "ghm"}
PAIRS = {"siblings": "ms", "grandparent": "gm"}
"""The sides of each kind; the two that templates of arcs are made for as well."""


class Triple(NamedTuple):
    """A conjunction of atoms of three sides, in the order h, m, s or g, h, m."""

    text: str
    sides: tuple[tuple[SideAtom, ...], ...]

    @property
    def atoms(self) -> tuple[SideAtom, ...]:
        return tuple(atom for side in self.sides for atom in side)

    @property
    def between(self) -> str:
        return ""


class PartTemplate(NamedTuple):
    """A template with its kind of part; of arcs and of pairs it is one of arcs, whose text tells the kind."""

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
    """Read templates of arcs, siblings and grandparents; errors name the line.

    >>> parse_part_templates(["h.pos & m.pos", "s.pos & h.pos", "g.pos & m.pos & distance"]).siblings[0].text
    'h.pos & s.pos'
    """
    found = PartTemplates([], [], [], [], [])
    for part in parse_lines(lines, where, parse_part):
        if isinstance(part.template, Triple):
            (found.siblings if part.kind == "siblings" else found.grandparents).append(part.template)
        elif part.kind == "arc":
            found.arcs.append(part.template)
        else:
            (found.sibling_pairs if part.kind == "siblings" else found.grandparent_pairs).append(part.template)
    return found


def parse_part(text: str, place: str) -> PartTemplate:
    names = [name.strip() for name in text.split("&")]
    told = [kind for kind in PAIRS if kind in names]
    sides, arc, between = parse_atoms(" & ".join([name for name in names if name not in told] or ["bias"]), place)
    used = {atom.side for atom in sides}
    kinds = {*told, *(["siblings"] if "s" in used else []), *(["grandparent"] if "g" in used else [])}
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


def triples(kind: str) -> list[str]:
    """TurboParser's 20 templates of words and tags of three sides."""
    sides = KINDS[kind]
    words, tags = [W.format(side) for side in sides], [f"{side}.pos" for side in sides]
    found = [kind, " & ".join(tags)]
    for a in range(3):
        others = [b for b in range(3) if b != a]
        found += [
            " & ".join([words[a], *(tags[b] for b in others)]),
            " & ".join([tags[a], *(words[b] for b in others)]),
        ]
        found += [" & ".join([kind, *(names[b] for b in others)]) for names in (tags, words)]
        found += [" & ".join([kind, words[b], tags[c]]) for b, c in (others, others[::-1])]
    return found


def pairs(kind: str, lines: Iterable[str]) -> list[str]:
    """Templates of arcs as those of m and s, or of g and m."""
    names = str.maketrans("hm", PAIRS[kind])

    def renamed(line: str) -> str:
        sides = re.sub(r"\b[hm](?=\.)", lambda found: found[0].translate(names), line)
        return sides if re.search(r"\b[gs]\.", sides) else f"{kind} & {sides}"

    return [renamed(line) for line in lines]


def second_order(arcs: str) -> list[str]:
    """The templates of arcs for arcs and for pairs, with the 20 of each kind of three sides."""
    lines = ARC_PRESETS[arcs]
    return [*lines, *(line for kind in PAIRS for line in (*triples(kind), *pairs(kind, lines)))]


PART_PRESETS = {"second-order": second_order("first-order"), "turbo-standard": second_order("turbo")}
