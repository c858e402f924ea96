"""Owns the template language of arcs: which features an arc from a head to a modifier has, as data people can read.

A template is one or more atoms joined by `&`; all are conjoined with the direction of the arc. Atoms of one side are
columns of the head `h` or the modifier `m`, or of a neighbour, perhaps through a function of the string:

    h.pos                   the column itself
    m.pos[-1]               of the word before the modifier
    lower(h.word)           in lower case; also prefix(h.word, 3), suffix(m.word, 3), shape(m.word), kinds(m.word)
    h.marker, h.verbs       what its surroundings say, see `swvp.features.context`
    h.feats                 each of the morphological features: as many features as there are values

Atoms of the arc:

    distance                |h - m| in bins: 1, 2, 3, 4, 5, 6-10, 11-20, 21-30, 31-40, more
    length                  |h - m|, at most 255
    between.pos             each different value of a column of the words in between (alone or with sides)
    verbs                   how many verbs are in between, at most 3; also punctuation, coordinators
    bias                    nothing but the direction
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar

from swvp.errors import InputError, did_you_mean, unknown_name
from swvp.features.templates import FUNCTIONS, NUMBERED, check_atoms, check_number

__all__ = ["ARC_ATOMS", "COLUMNS", "PRESETS", "ArcTemplate", "SideAtom", "parse_arc_templates"]

OWN_COLUMNS = ("word", "lemma", "pos", "tag", "feats")
COLUMNS = (*OWN_COLUMNS, "marker", "verbs")
ARC_ATOMS = ("distance", "length", "verbs", "punctuation", "coordinators")
FARTHEST = 5
SIDE_ATOM = re.compile(
    r"(?:(?P<function>\w+)\(\s*)?(?P<side>[ghms])\.(?P<column>\w+)\s*(?:\[\s*(?P<offset>[+-]?\d+)\s*\])?"
    r"(?:\s*,\s*(?P<number>\d+))?\s*(?P<end>\))?"
)


class SideAtom(NamedTuple):
    """function(side.column[offset], number), or the column itself if the function is ""."""

    side: str
    column: str
    offset: int = 0
    function: str = ""
    number: int = 0

    @property
    def text(self) -> str:
        inner = f"{self.side}.{self.column}" + (f"[{self.offset:+d}]" if self.offset else "")
        if not self.function:
            return inner
        return f"{self.function}({inner}, {self.number})" if self.function in NUMBERED else f"{self.function}({inner})"


class HasText(Protocol):
    """A template by its text."""

    @property
    def text(self) -> str: ...


Named = TypeVar("Named", bound=HasText)


class ArcTemplate(NamedTuple):
    """A conjunction of atoms of the head, of the modifier and of the arc; `between` is a column or ""."""

    text: str
    head: tuple[SideAtom, ...]
    modifier: tuple[SideAtom, ...]
    arc: tuple[str, ...]
    between: str

    @property
    def atoms(self) -> tuple[SideAtom, ...]:
        return (*self.head, *self.modifier)


def parse_arc_templates(lines: Iterable[str], where: str = "template") -> list[ArcTemplate]:
    """Read templates; errors name the line.

    >>> parse_arc_templates(["h.pos & m.pos[-1] & distance"])[0].modifier
    (SideAtom(side='m', column='pos', offset=-1, function='', number=0),)
    """
    return parse_lines(lines, where, parse_template)


def parse_lines(lines: Iterable[str], where: str, parse: Callable[[str, str], Named]) -> list[Named]:
    """The templates of lines, each once; those that are empty or start with # are skipped."""
    templates: dict[str, Named] = {}
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text and not text.startswith("#"):
            check_atoms(text, f"{where} line {number}")
            template = parse(text, f"{where} line {number}")
            templates.setdefault(template.text, template)
    if not templates:
        raise InputError(f"{where}: no template in it")
    check_number(len(templates), where)
    return list(templates.values())


def number_of(function: str, number: str | None, place: str) -> int:
    """The number of a function that has one: the length of a prefix or a suffix."""
    if (function in NUMBERED) != (number is not None):
        wanted = f"needs a length, as in {function}(h.word, 3)" if function in NUMBERED else "takes no number"
        raise InputError(f"{place}: {function or 'a column'} {wanted}")
    return int(number or 0)


def parse_template(text: str, place: str) -> ArcTemplate:
    """A template of arcs."""
    sides, arc, between = parse_atoms(text, place)
    if other := next((atom for atom in sides if atom.side not in "hm"), None):
        raise InputError(f"{place}: {other.text} is of second order; templates of arcs have h and m: use order 2")
    return arc_template(sides, arc, between, place)


def parse_atoms(text: str, place: str) -> tuple[list[SideAtom], list[str], str]:
    """The atoms of a template: those of sides, those of the arc, and the column in between or ""."""
    sides: list[SideAtom] = []
    arc: list[str] = []
    between = ""
    for part in (part.strip() for part in text.split("&")):
        if part.startswith("between."):
            column = part.removeprefix("between.")
            if column not in COLUMNS or column == "feats":
                raise unknown_name(f"column in {place}:", column, [name for name in COLUMNS if name != "feats"])
            if between:
                raise InputError(f"{place}: a template has one atom between.COLUMN at most")
            between = column
        elif part in ARC_ATOMS:
            arc.append(part)
        elif part != "bias":
            sides.append(parse_side(part, place))
    return sides, arc, between


def arc_template(sides: Sequence[SideAtom], arc: Sequence[str], between: str, place: str) -> ArcTemplate:
    """The template of atoms of h and m, if they go together."""
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


def parse_side(text: str, place: str) -> SideAtom:
    found = SIDE_ATOM.fullmatch(text)
    if found is None or bool(found["function"]) != bool(found["end"]):
        guess = did_you_mean(text, ARC_ATOMS)
        raise InputError(
            f"{place}: '{text}' is no atom{guess}; atoms are as h.pos, m.word[-1], suffix(h.word, 3), between.pos, "
            + ", ".join(ARC_ATOMS)
        )
    function = found["function"] or ""
    if function not in FUNCTIONS or function == "tags":
        raise unknown_name(f"function in {place}:", function, [name for name in FUNCTIONS if name not in ("", "tags")])
    if found["column"] not in COLUMNS:
        raise unknown_name(f"column in {place}:", found["column"], COLUMNS)
    offset = int(found["offset"] or 0)
    if abs(offset) > FARTHEST:
        raise InputError(f"{place}: '{text}' looks farther than {FARTHEST} words")
    if found["column"] == "feats" and (offset or function):
        raise InputError(f"{place}: feats are those of the head or the modifier themselves: h.feats, m.feats")
    number = number_of(function, found["number"], f"{place}: '{text}'")
    return SideAtom(found["side"], found["column"], offset, function, number)


W, L, P, Q = "lower({}.word)", "{}.lemma", "{}.pos", "{}.tag"


def alone(side: str) -> list[str]:
    """Templates of one side: the word, its neighbours and its morphology."""
    w, lemma, p, q = (name.format(side) for name in (W, L, P, Q))
    lines = [p, q, w, lemma, f"{w} & {p}", f"{side}.feats", f"{w} & {side}.feats"]
    for k in ("-1", "+1"):
        word = f"lower({side}.word[{k}])"
        lines += [f"{side}.pos[{k}]", f"{side}.tag[{k}]", word, f"{side}.lemma[{k}]", f"{word} & {side}.pos[{k}]"]
        lines += [f"{p} & {side}.pos[{k}]", f"{p} & {side}.pos[{k}] & {side}.pos[{k[0]}2]"]
    return lines


def turbo() -> list[str]:
    """The arc-factored features of TurboParser (large set), but each tag in between counts once."""
    hw, hp, mw, mp = W.format("h"), "h.pos", W.format("m"), "m.pos"
    lines = ["bias", *alone("h"), *alone("m")]
    lines += [f"{a} & {b}" for a, b in ((hp, mp), (hw, mw), (hp, mw), (hw, mp))]
    lines += [f"{hp} & {mw} & {mp}", f"{hw} & {hp} & {mp}", f"{hw} & {hp} & {mw} & {mp}"]
    lines += [
        " & ".join(parts)
        for parts in (
            ("h.feats", "m.feats"),
            ("h.feats", mp),
            ("h.feats", "m.feats", mp),
            (hp, "m.feats"),
            ("h.feats", hp, "m.feats"),
            ("h.feats", hp, mp),
            (hp, "m.feats", mp),
            ("h.feats", hp, "m.feats", mp),
        )
    ]
    near_h, near_m = ("h.pos[-1]", "h.pos[+1]"), ("m.pos[-1]", "m.pos[+1]")
    pair = f"{hp} & {mp}"
    lines += [f"{pair} & {near}" for near in (*near_h, *near_m)]
    lines += [f"{pair} & {a} & {b}" for a in near_h for b in near_m]
    lines += [f"{pair} & {' & '.join((*near_h, *near_m))}"]
    lines += ["length", *(f"{base}distance" for base in ("", f"{hp} & ", f"{mp} & ", f"{pair} & "))]
    for count in ("verbs", "punctuation", "coordinators"):
        lines += [count, f"{pair} & {count}"]
    lines += [f"{a} & {b} & between.pos" for a in (hp, hw) for b in (mp, mw)]
    return lines


def first_order() -> list[str]:
    """What did best on development sets: less of TurboParser's morphology, but lemmas, fine tags and surroundings."""
    hw, hp, mw, mp = W.format("h"), "h.pos", W.format("m"), "m.pos"
    pair, tags = f"{hp} & {mp}", "h.tag & m.tag"
    sides = [line for side in "hm" for line in alone(side) if line != f"{W.format(side)} & {side}.feats"]
    lines = ["bias", *sides, pair, f"{hw} & {mw}", f"{hp} & {mw}", f"{hw} & {mp}", f"{hp} & {mw} & {mp}"]
    lines += [f"{hw} & {hp} & {mp}", "h.lemma & m.lemma", f"h.lemma & {mp}", f"{hp} & m.lemma"]
    lines += ["h.feats & m.pos", "h.feats & h.pos & m.pos", "h.pos & m.feats", "h.pos & m.feats & m.pos"]
    lines += ["h.feats & h.pos & m.feats & m.pos"]
    for side in "hm":
        lines += [f"{pair} & {side}.pos[{k}]" for k in ("-1", "+1")]
        lines += [f"{pair} & {side}.pos[-2] & {side}.pos[-1]", f"{pair} & {side}.pos[+1] & {side}.pos[+2]"]
        lines += [f"{pair} & lower({side}.word[{k}])" for k in ("-1", "+1")]
        lines += [f"{tags} & {side}.tag[{k}]" for k in ("-1", "+1")]
    lines += [f"{tags} & h.tag[{a}] & m.tag[{b}]" for a in ("-1", "+1") for b in ("-1", "+1")]
    lines += [f"{pair} & h.pos[-1] & h.pos[+1] & m.pos[-1] & m.pos[+1]"]
    lines += [
        f"{pair} & h.marker",
        f"{pair} & m.marker",
        f"{pair} & h.marker & m.marker",
        f"{pair} & m.marker & distance",
    ]
    lines += ["h.lemma & m.marker", f"h.lemma & {mp} & m.marker", f"{hp} & m.lemma & m.marker"]
    lines += [f"{pair} & h.verbs", f"{pair} & m.verbs", f"{hp} & m.lemma & h.verbs"]
    lines += ["length", "distance", f"{hp} & distance", f"{mp} & distance", f"{pair} & distance"]
    for count in ("verbs", "punctuation", "coordinators"):
        lines += [count, f"{pair} & {count}", f"{pair} & distance & {count}"]
    lines += [f"{pair} & verbs & punctuation & coordinators"]
    return [*lines, *(f"{sides} & between.pos" for sides in (pair, f"{hw} & {mp}", f"{hp} & {mw}"))]


def light() -> list[str]:
    """What the pruner looks at: few templates, those that keep the most gold heads among few others."""
    hw, hp, mw, mp = W.format("h"), "h.pos", W.format("m"), "m.pos"
    pair = f"{hp} & {mp}"
    lines = ["bias", hp, hw, f"{hw} & {hp}", "h.pos[-1]", "h.pos[+1]", pair, f"{hp} & {mw}", f"{hw} & {mp}"]
    lines += ["h.tag & m.tag", f"{hw} & m.marker"]
    for side in "hm":
        lines += [f"{pair} & {side}.{what}" for what in ("pos[-1]", "pos[+1]", "marker", "verbs")]
        for k in ("-1", "+1"):
            lines += [f"{pair} & lower({side}.word[{k}])", f"h.tag & m.tag & {side}.tag[{k}]"]
    lines += [f"{pair} & h.marker & m.marker", "distance"]
    lines += [f"{sides} & distance" for sides in (hp, mp, hw, mw, pair)]
    return [*lines, f"{pair} & verbs & punctuation & coordinators", f"{pair} & between.pos"]


PRESETS = {"first-order": first_order(), "turbo": turbo(), "light": light()}
