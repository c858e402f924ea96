"""Owns the template language of labels: which features an arc of a given tree has for the choice of its label.

A template is one or more atoms joined by `&`. Most atoms are SOURCE.COLUMN, perhaps of a neighbouring word or through
a function of the string, as in the templates of arcs: m.pos, h.word[-1], lower(m.word), suffix(m.word, 3). Sources are

    h m                     the head and the modifier of the arc
    g                       the head of the head
    previous next           the siblings beside the modifier: words with the same head
    first last              the first and the last word whose head is the modifier
    child sibling           each of the modifier's children, of its siblings: as many features as there are
    between                 each of the words between head and modifier

Columns are word, lemma, pos, tag, feats (each of the morphological features; of h and m only) and feats.NAME, the value
of one of them: m.feats.Case. A template has one source of many values at most. Other atoms:

    direction               whether the modifier is after its head
    distance                |h - m| in bins: 1, 2, 3, 4, 5, 6-10, 11-20, 21-30, 31-40, more
    verbs                   how many verbs are in between, at most 3; also punctuation, coordinators
    children siblings       how many words have the modifier, have the head as their head, at most 5
    place                   how many siblings are between head and modifier, at most 3
    shared                  each morphological feature that head and modifier have in common
    bias                    nothing
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from swvp.errors import InputError, unknown_name
from swvp.features.arc_templates import FARTHEST, OWN_COLUMNS, number_of, parse_lines
from swvp.features.templates import FUNCTIONS, NUMBERED

__all__ = ["LABELS", "MANY", "NODES", "NUMBERS", "SHARED", "LabelAtom", "LabelTemplate", "parse_label_templates"]

NODES = ("h", "m", "g", "previous", "next", "first", "last")
MANY = ("child", "sibling", "between")
NUMBERS = ("direction", "distance", "verbs", "punctuation", "coordinators", "children", "siblings", "place")
SHARED = "shared"
USABLE = [name for name in FUNCTIONS if name != "tags"]
ATOM = re.compile(
    r"(?:(?P<function>\w+)\(\s*)?(?P<source>[a-z]+)\.(?P<column>\w+)(?:\.(?P<name>[^\s&(),|=\[\]]+(?:\[[a-z]\w*\])?))?\s*"
    r"(?:\[\s*(?P<offset>[+-]?\d+)\s*\])?(?:\s*,\s*(?P<number>\d+))?\s*(?P<end>\))?"
)


class LabelAtom(NamedTuple):
    """function(source.column[offset], number); `name` is that of one of the feats. A number has no column."""

    source: str
    column: str = ""
    name: str = ""
    offset: int = 0
    function: str = ""
    number: int = 0

    @property
    def text(self) -> str:
        inner = ".".join(part for part in (self.source, self.column, self.name) if part)
        inner += f"[{self.offset:+d}]" if self.offset else ""
        if not self.function:
            return inner
        return f"{self.function}({inner}, {self.number})" if self.function in NUMBERED else f"{self.function}({inner})"

    @property
    def many(self) -> str:
        """The source of many values that this is, or ""."""
        each_feature = self.column == "feats" and not self.name
        return self.text if each_feature else self.source if self.source in (*MANY, SHARED) else ""


class LabelTemplate(NamedTuple):
    """A conjunction of atoms; those of the source of many values, `many`, come last."""

    text: str
    atoms: tuple[LabelAtom, ...]
    many: str


def parse_label_templates(lines: Iterable[str], where: str = "template") -> list[LabelTemplate]:
    """Read templates; errors name the line.

    >>> parse_label_templates(["child.lemma & m.pos"])[0]._replace(atoms=())
    LabelTemplate(text='m.pos & child.lemma', atoms=(), many='child')
    """
    return parse_lines(lines, where, parse_template)


def parse_template(text: str, place: str) -> LabelTemplate:
    found = {parse_atom(part, place) for part in (part.strip() for part in text.split("&")) if part != "bias"}
    atoms = sorted(found, key=lambda atom: (atom.many, atom))
    many = {atom.many for atom in atoms} - {""}
    if len(many) > 1:
        raise InputError(f"{place}: {' and '.join(sorted(many))} have many values; a template has one such source")
    return LabelTemplate(" & ".join(atom.text for atom in atoms) or "bias", tuple(atoms), "".join(many))


def parse_atom(text: str, place: str) -> LabelAtom:
    if text in (*NUMBERS, SHARED):
        return LabelAtom(text)
    found = ATOM.fullmatch(text)
    if found is None or bool(found["function"]) != bool(found["end"]):
        raise InputError(
            f"{place}: '{text}' is no atom; atoms are as h.pos, m.feats.Case, lower(child.word), m.pos[-1], distance"
        )
    source, column, name, function = found["source"], found["column"], found["name"] or "", found["function"] or ""
    if source not in (*NODES, *MANY):
        raise unknown_name(f"{place}: source", source, (*NODES, *MANY))
    if column not in OWN_COLUMNS:
        raise unknown_name(f"{place}: column", column, OWN_COLUMNS)
    if function not in USABLE:
        raise unknown_name(f"{place}: function", function, USABLE[1:])
    number = number_of(function, found["number"], f"{place}: '{text}'")
    offset = int(found["offset"] or 0)
    if abs(offset) > FARTHEST:
        raise InputError(f"{place}: '{text}' looks farther than {FARTHEST} words")
    if name and column != "feats":
        raise InputError(f"{place}: '{text}': only feats have names, as in m.feats.Case")
    if column == "feats" and (function or (not name and (offset or source not in ("h", "m")))):
        raise InputError(f"{place}: '{text}': write h.feats, m.feats, or the name of one, as in {source}.feats.Case")
    return LabelAtom(source, column, name, offset, function, number)


LABELS = (
    "bias",
    "direction",
    "m.pos",
    "h.pos",
    "m.tag",
    "lower(m.word)",
    "m.lemma & direction",
    "h.lemma & direction",
    "m.feats & direction",
    "h.pos & m.pos & direction",
    "h.pos & m.pos & distance & direction",
    "h.pos & m.lemma",
    "h.lemma & m.pos & direction",
    "h.lemma & m.lemma",
    "h.pos & m.feats & m.pos",
    "h.feats & h.pos & m.pos",
    "shared & h.pos & m.pos",
    "h.tag & m.tag & direction",
    "h.pos & m.feats.Case & direction",
    "h.pos & h.feats.Voice & m.pos & m.feats.Case",
    "h.lemma & m.feats.Case",
    "g.pos & h.pos & m.pos",
    "first.pos & m.pos & h.pos",
    "last.pos & m.pos & h.pos",
    "first.lemma & m.pos & h.pos",
    "child.pos & m.pos & h.pos",
    "child.lemma & m.pos & h.pos",
    "child.lemma & h.lemma",
    "sibling.pos & m.pos & h.pos",
    "previous.pos & m.pos & h.pos",
    "next.pos & m.pos & h.pos",
    "m.pos[-1] & m.pos & h.pos",
    "m.pos[+1] & m.pos & h.pos",
    "h.pos[-1] & m.pos & h.pos",
    "h.pos[+1] & m.pos & h.pos",
    "place & m.pos & h.pos & direction",
    "children & m.pos & h.pos",
    "siblings & m.pos & h.pos",
    "punctuation & m.pos & h.pos & direction",
)
