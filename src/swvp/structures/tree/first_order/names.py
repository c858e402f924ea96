"""The names of the features of an arc, as people read them: h.pos=VERB & m.pos=NOUN & distance=2, right.

This is the definition of the features, in plain Python and from strings. `features` in the same folder has the same
features, in the same order, as hashes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from swvp.features.context import COORDINATOR, PUNCTUATION, VERB, flags_of_tag, is_punctuation
from swvp.features.parser_templates import ArcTemplate
from swvp.features.templates import Atom
from swvp.structures.tree.encoding import ARC, BETWEEN, MOST_FEATS, group_of, parts_of
from swvp.structures.tree.first_order.features import MOST_COUNT, MOST_LENGTH

__all__ = ["SentenceColumns", "feature_names", "feature_parts", "values_of"]

SentenceColumns = Mapping[str, Sequence[str]]
"""word, lemma, pos, tag, feats, marker and verbs of the words of one sentence."""

ROOT, BEGIN, END = "(root)", "(begin)", "(end)"
BINS = ((5, None), (10, "6-10"), (20, "11-20"), (30, "21-30"), (40, "31-40"))


def feature_names(sentence: SentenceColumns, templates: Sequence[ArcTemplate], h: int, m: int) -> list[str]:
    """The names of all features of the arc from h to m, for templates in the order of their groups.

    A feature that comes twice on an arc is there twice.
    """
    direction = "right" if m > h else "left"
    return [f"{' & '.join(parts) or 'bias'}, {direction}" for _, parts in feature_parts(sentence, templates, h, m)]


def feature_parts(
    sentence: SentenceColumns, templates: Sequence[ArcTemplate], h: int, m: int
) -> list[tuple[ArcTemplate, list[str]]]:
    """All features of the arc from h to m, as (template, its atoms with their values), without the direction."""
    between = range(min(h, m) + 1, max(h, m))
    of_arc = arc_values(sentence, abs(h - m), between)
    of_sides = [template for template in templates if group_of(template)[0] < BETWEEN]
    of_words = [template for template in templates if group_of(template)[0] == BETWEEN]
    of_arcs = [template for template in templates if group_of(template)[0] == ARC]
    features = [(template, parts) for template in of_sides for parts in side_parts(sentence, template, h, m)]
    column = of_words[0].between if of_words else "pos"
    for value in dict.fromkeys(sentence[column][k - 1] for k in between):
        for template in of_words:
            between_value = [f"between.{column}={value}"]
            features += [(template, [*parts, *between_value]) for parts in side_parts(sentence, template, h, m)]
    for template in of_arcs:
        arc_atoms = [f"{atom}={of_arc[atom]}" for atom in template.arc]
        features += [(template, [*parts, *arc_atoms]) for parts in side_parts(sentence, template, h, m)]
    return features


def side_parts(sentence: SentenceColumns, template: ArcTemplate, h: int, m: int) -> list[list[str]]:
    """The values of the atoms of the two sides: once, or for each pair of their morphological features."""
    heads, modifiers = values_of(sentence, template.head, h), values_of(sentence, template.modifier, m)
    return [[*a, *b] for a, b in product(heads, modifiers)]


def values_of(sentence: SentenceColumns, atoms: Sequence[Atom], node: int) -> list[list[str]]:
    values = [
        [f"{atom.text}={value}" for value in feats_of(sentence, node)]
        if atom.column == "feats"
        else [f"{atom.text}={value_of(sentence, atom, node)}"]
        for atom in atoms
    ]
    return [list(parts) for parts in product(*values)]


def feats_of(sentence: SentenceColumns, node: int) -> list[str]:
    return parts_of(sentence["feats"][node - 1])[:MOST_FEATS] if node else []


def value_of(sentence: SentenceColumns, atom: Atom, node: int) -> str:
    """The value of an atom at a node; the root has no neighbours."""
    at = node + atom.offset
    if atom.offset and (at < 1 or node == 0):
        return BEGIN
    if at > len(sentence["word"]):
        return END
    return atom.slot.value(sentence[atom.column][at - 1]) if at else ROOT


def arc_values(sentence: SentenceColumns, length: int, between: Sequence[int]) -> dict[str, str]:
    """The values of the atoms of an arc."""
    flags = [flags_of_word(sentence, k) for k in between]

    def count(flag: int) -> str:
        return at_most(sum(bool(flags_of & flag) for flags_of in flags), MOST_COUNT)

    bins = next((name or str(length) for most, name in BINS if length <= most), "more than 40")
    return {
        "distance": bins,
        "length": at_most(length, MOST_LENGTH),
        "verbs": count(VERB),
        "punctuation": count(PUNCTUATION),
        "coordinators": count(COORDINATOR),
    }


def at_most(number: int, most: int) -> str:
    return str(number) if number < most else f"{most}+"


def flags_of_word(sentence: SentenceColumns, k: int) -> int:
    mark = PUNCTUATION * is_punctuation(sentence["word"][k - 1])
    return flags_of_tag(sentence["pos"][k - 1]) | flags_of_tag(sentence["tag"][k - 1]) | mark
