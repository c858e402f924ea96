"""The names of the features of second-order parts, as people read them.

    h.pos=VERB & m.pos=NOUN & s.pos=ADV, right                      siblings to the right of h
    h.pos=VERB & m.pos=(start) & s.pos=NOUN, left                   the first child to the left
    h.pos=VERB & m.pos=NOUN & s=(stop), left                        the last child; the template has no atom of s
    g.pos=VERB & h.pos=NOUN & m.pos=ADJ, left, between h and g      m is to the left of h
    g.pos=VERB & m.pos=ADJ & distance=2, right                      of a pair: m is to the right of g

This is the definition of the features, in plain Python and from strings. `features` in the same folder has the same
features, in the same order, as hashes: those of three sides, then those of two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from swvp.features.parser_templates import ArcTemplate, PartTemplates, Triple
from swvp.features.presets import KINDS, PAIRS
from swvp.structures.tree.first_order.names import SentenceColumns, feature_parts, values_of

__all__ = ["Named", "grandparent_names", "sibling_names"]

Named = tuple[str, str]
"""The text of a template and the name of a feature of it."""

START, STOP = "(start)", "(stop)"


def sibling_names(
    sentence: SentenceColumns, templates: PartTemplates, h: int, m: int | None, s: int | None, right: bool
) -> list[Named]:
    """The features of the siblings m and s of h on one side of it; without m it is START, without s it is STOP."""
    ends = {"m": START} if m is None else {}
    ends |= {"s": STOP} if s is None else {}
    direction = "right" if right else "left"
    names = triple_names(sentence, templates.siblings, (h, m or 0, s or 0), ends, "siblings", direction)
    if m is not None and s is not None:
        names += pair_names(sentence, templates.sibling_pairs, m, s, "siblings")
    return names


def grandparent_names(sentence: SentenceColumns, templates: PartTemplates, g: int, h: int, m: int) -> list[Named]:
    """The features of m, its head h and the head g of h."""
    where = {h: "beyond h", m: "between h and g", g: "beyond g"}[sorted((g, h, m))[1]]
    direction = f"{'right' if m > h else 'left'}, {where}"
    names = triple_names(sentence, templates.grandparents, (g, h, m), {}, "grandparent", direction)
    return names + pair_names(sentence, templates.grandparent_pairs, g, m, "grandparent")


def triple_names(
    sentence: SentenceColumns,
    templates: Iterable[Triple],
    nodes: Sequence[int],
    ends: Mapping[str, str],
    kind: str,
    direction: str,
) -> list[Named]:
    """The names of features of three nodes, in the order of the sides; `ends` are the sides that are START or STOP."""
    names = []
    for template in templates:
        parts = kind_prefix(template, kind)
        for name, atoms, node in zip(KINDS[kind], template.sides, nodes, strict=True):
            if name in ends:
                parts += [f"{text}={ends[name]}" for text in [atom.text for atom in atoms] or [name]]
            else:
                parts += values_of(sentence, atoms, node)[0]
        names.append((template.text, f"{' & '.join(parts)}, {direction}"))
    return names


def pair_names(
    sentence: SentenceColumns, templates: Iterable[ArcTemplate], first: int, second: int, kind: str
) -> list[Named]:
    """The names of features of two nodes, by templates of arcs with the sides of the part."""
    direction = "right" if second > first else "left"
    return [
        (template.text, f"{' & '.join([*kind_prefix(template, kind), *parts])}, {direction}")
        for template, parts in feature_parts(
            sentence, [of_part(template, kind) for template in templates], first, second
        )
    ]


def of_part(template: ArcTemplate, kind: str) -> ArcTemplate:
    """The template of a pair with the sides of its text."""
    first, second = tuple(PAIRS[kind])
    return template._replace(
        head=tuple(atom._replace(side=first) for atom in template.head),
        modifier=tuple(atom._replace(side=second) for atom in template.modifier),
    )


def kind_prefix(template: ArcTemplate | Triple, kind: str) -> list[str]:
    """The kind of a template whose text starts with it, because it has no side of its own to show it."""
    return [kind] if template.text.split(" & ")[0] == kind else []
