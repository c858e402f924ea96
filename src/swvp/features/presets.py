"""The presets: ready lists of templates for taggers, for arcs, for second-order parts, and for labels of arcs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from swvp.errors import InputError, unknown_name
from swvp.features.agreement import AGREEMENT

__all__ = ["ARC_PRESETS", "CLUSTER_TEMPLATES", "LABEL_TEMPLATES", "PART_PRESETS", "TAGGER_PRESETS", "register_preset"]

KINDS = {"arc": "hm", "siblings": "hms", "grandparent": "ghm"}
"""The sides of each kind of part."""

PAIRS = {"siblings": "ms", "grandparent": "gm"}
"""The two sides of a part that templates of arcs are used for as well."""


def window(column: str, first: int, last: int) -> list[str]:
    return [f"{column}[{offset}]" for offset in range(first, last + 1)]


def neighbours(column: str, first: int, last: int, size: int) -> list[str]:
    """Conjunctions of `size` offsets next to each other."""
    return [" & ".join(f"{column}[{at + k}]" for k in range(size)) for at in range(first, last - size + 2)]


AFFIXES = [f"{function}(word[0], {size})" for size in (1, 2, 3, 4) for function in ("prefix", "suffix")]

TAGGER_PRESETS: dict[str, list[str]] = {
    "pos": [
        "bias",
        *window("word", -2, 2),
        *neighbours("word", -1, 1, 2),
        "lower(word[0])",
        *AFFIXES,
        "suffix(word[0], 5)",
        "suffix(word[0], 6)",
        "prefix(word[0], 5)",
        "shape(word[0])",
        "kinds(word[0])",
        "shape(word[0]) & suffix(word[0], 3)",
        *(
            f"{function}(word[{offset}]{rest})"
            for offset in (-1, 1)
            for function, rest in (("suffix", ", 3"), ("shape", ""))
        ),
        *(f"suffix(word[0], 3) & suffix(word[{offset}], 2)" for offset in (-1, 1)),
        *(f"suffix(word[0], 2) & word[{offset}]" for offset in (-1, 1)),
        *(f"tags(word[{offset}])" for offset in (-2, -1, 0, 1, 2)),
        *(f"tags(word[{offset}]) & tags(word[{offset + 1}])" for offset in (-2, -1, 0, 1)),
        "tags(word[-1]) & tags(word[1])",
        "tags(word[-1]) & tags(word[0]) & tags(word[1])",
        *(f"tags(word[{offset}]) & word[0]" for offset in (-1, 1)),
    ],
    "chunk": [
        "bias",
        *window("word", -2, 2),
        *neighbours("word", -1, 1, 2),
        *window("pos", -2, 2),
        *neighbours("pos", -2, 2, 2),
        *neighbours("pos", -2, 2, 3),
        *(f"{function}(word[0], {size})" for size in (2, 3) for function in ("prefix", "suffix")),
        "shape(word[0])",
        *(f"tags(word[{offset}])" for offset in (-2, -1, 0, 1, 2)),
        *(f"tags(word[{offset}]) & tags(word[{offset + 1}])" for offset in (-1, 0)),
        "tags(word[-1]) & tags(word[0]) & tags(word[1])",
    ],
    "ner": [
        "bias",
        *window("word", -2, 2),
        *neighbours("word", -1, 1, 2),
        *(f"lower(word[{offset}])" for offset in (-1, 0, 1)),
        *AFFIXES,
        "prefix(word[0], 5)",
        "suffix(word[0], 5)",
        *(f"{function}(word[{offset}])" for offset in (-2, -1, 0, 1, 2) for function in ("shape", "kinds")),
        "shape(word[-1]) & shape(word[0])",
        "shape(word[0]) & shape(word[1])",
        "shape(word[-1]) & shape(word[0]) & shape(word[1])",
        "suffix(word[-1], 3)",
        "suffix(word[1], 3)",
        "lower(word[-1]) & shape(word[0])",
        "lower(word[1]) & shape(word[0])",
        "word[0] & shape(word[-1])",
        "word[0] & shape(word[1])",
        "lower(word[-2]) & shape(word[-1]) & shape(word[0])",
        "lower(word[2]) & shape(word[1]) & shape(word[0])",
        "lower(word[-2]) & lower(word[-1]) & shape(word[0])",
        *(f"lower(word[{offset}])" for offset in (-3, 3)),
        "lower(word[-1]) & lower(word[1])",
        "lower(word[-1]) & shape(word[0]) & lower(word[1])",
    ],
}
"""Templates for common tasks: `pos` and `ner` need the column word, `chunk` also pos."""

CLUSTER_TEMPLATES = [f"cluster(word[{offset}])" for offset in (-2, -1, 0, 1, 2)]
"""Templates that taggers with word clusters have besides those of a preset, chosen on dev sets."""

WORD = "lower({}.word)"


def alone(side: str, tag: str = "fine") -> list[str]:
    """Templates of one side: the word, its neighbours and its morphology; `tag` is the column of its second tag."""
    w, p = WORD.format(side), f"{side}.pos"
    lines = [p, f"{side}.{tag}", w, f"{side}.lemma", f"{w} & {p}", f"{side}.feats", f"{w} & {side}.feats"]
    for k in ("-1", "+1"):
        word = f"lower({side}.word[{k}])"
        lines += [f"{side}.pos[{k}]", f"{side}.{tag}[{k}]", word, f"{side}.lemma[{k}]", f"{word} & {side}.pos[{k}]"]
        lines += [f"{p} & {side}.pos[{k}]", f"{p} & {side}.pos[{k}] & {side}.pos[{k[0]}2]"]
    return lines


def turbo() -> list[str]:
    """The arc-factored features of TurboParser (large set), but each tag in between counts once."""
    hw, hp, mw, mp = WORD.format("h"), "h.pos", WORD.format("m"), "m.pos"
    lines = ["bias", *alone("h", "tag"), *alone("m", "tag")]
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
    """The templates with the best dev scores: less of TurboParser's morphology, but lemmas, fine tags and context.

    Agreement and the columns `fine` and `follower` are new in 0.2.0; models of older versions keep their own templates.
    """
    hw, hp, mw, mp = WORD.format("h"), "h.pos", WORD.format("m"), "m.pos"
    pair, tags = f"{hp} & {mp}", "h.fine & m.fine"
    sides = [line for side in "hm" for line in alone(side) if line != f"{WORD.format(side)} & {side}.feats"]
    lines = ["bias", *sides, pair, f"{hw} & {mw}", f"{hp} & {mw}", f"{hw} & {mp}", f"{hp} & {mw} & {mp}"]
    lines += [f"{hw} & {hp} & {mp}", "h.lemma & m.lemma", f"h.lemma & {mp}", f"{hp} & m.lemma"]
    lines += ["h.feats & m.pos", "h.feats & h.pos & m.pos", "h.pos & m.feats", "h.pos & m.feats & m.pos"]
    lines += ["h.feats & h.pos & m.feats & m.pos"]
    for side in "hm":
        lines += [f"{pair} & {side}.pos[{k}]" for k in ("-1", "+1")]
        lines += [f"{pair} & {side}.pos[-2] & {side}.pos[-1]", f"{pair} & {side}.pos[+1] & {side}.pos[+2]"]
        lines += [f"{pair} & lower({side}.word[{k}])" for k in ("-1", "+1")]
        lines += [f"{tags} & {side}.fine[{k}]" for k in ("-1", "+1")]
    lines += [f"{tags} & h.fine[{a}] & m.fine[{b}]" for a in ("-1", "+1") for b in ("-1", "+1")]
    lines += [f"{pair} & h.pos[-1] & h.pos[+1] & m.pos[-1] & m.pos[+1]"]
    lines += [
        f"{pair} & h.marker",
        f"{pair} & m.marker",
        f"{pair} & h.marker & m.marker",
        f"{pair} & m.marker & distance",
    ]
    lines += ["h.lemma & m.marker", f"h.lemma & {mp} & m.marker", f"{hp} & m.lemma & m.marker"]
    lines += [f"{pair} & h.follower", f"{pair} & m.follower", f"{pair} & m.marker & m.follower", "h.lemma & m.follower"]
    lines += [f"{pair} & h.verbs", f"{pair} & m.verbs", f"{hp} & m.lemma & h.verbs"]
    lines += ["length", "distance", f"{hp} & distance", f"{mp} & distance", f"{pair} & distance"]
    for count in ("verbs", "punctuation", "coordinators"):
        lines += [count, f"{pair} & {count}", f"{pair} & distance & {count}"]
    lines += [f"{pair} & verbs & punctuation & coordinators"]
    agreements = [f"agreement.{name}" for name in AGREEMENT]
    lines += [f"{pair} & {agreement}" for agreement in agreements]
    lines += [f"{pair} & {' & '.join(agreements)}"]
    return [*lines, *(f"{sides} & between.pos" for sides in (pair, f"{hw} & {mp}", f"{hp} & {mw}"))]


def light() -> list[str]:
    """The templates of the pruner: few of them, chosen to keep the gold heads among few candidates."""
    hw, hp, mw, mp = WORD.format("h"), "h.pos", WORD.format("m"), "m.pos"
    pair = f"{hp} & {mp}"
    lines = ["bias", hp, hw, f"{hw} & {hp}", "h.pos[-1]", "h.pos[+1]", pair, f"{hp} & {mw}", f"{hw} & {mp}"]
    lines += ["h.fine & m.fine", f"{hw} & m.marker"]
    for side in "hm":
        lines += [f"{pair} & {side}.{what}" for what in ("pos[-1]", "pos[+1]", "marker", "verbs")]
        for k in ("-1", "+1"):
            lines += [f"{pair} & lower({side}.word[{k}])", f"h.fine & m.fine & {side}.fine[{k}]"]
    lines += [f"{pair} & h.marker & m.marker", "distance"]
    lines += [f"{sides} & distance" for sides in (hp, mp, hw, mw, pair)]
    return [*lines, f"{pair} & verbs & punctuation & coordinators", f"{pair} & between.pos"]


ARC_PRESETS = {"first-order": first_order(), "turbo": turbo(), "light": light()}
"""Templates of arcs; `light` is for the pruner."""


def triples(kind: str) -> list[str]:
    """TurboParser's 20 templates of words and tags of three sides."""
    sides = KINDS[kind]
    words, tags = [WORD.format(side) for side in sides], [f"{side}.pos" for side in sides]
    lines = [kind, " & ".join(tags)]
    for a in range(3):
        others = [b for b in range(3) if b != a]
        lines += [
            " & ".join([words[a], *(tags[b] for b in others)]),
            " & ".join([tags[a], *(words[b] for b in others)]),
        ]
        lines += [" & ".join([kind, *(names[b] for b in others)]) for names in (tags, words)]
        lines += [" & ".join([kind, words[b], tags[c]]) for b, c in (others, others[::-1])]
    return lines


def fine_triples(kind: str) -> list[str]:
    """Templates of the fine tags of three sides, and of the lemma of one of them."""
    sides = KINDS[kind]
    tags = [f"{side}.fine" for side in sides]
    return [
        " & ".join(tags),
        *(" & ".join([f"{side}.lemma", *(tag for tag in tags if tag[0] != side)]) for side in sides),
    ]


def pairs(kind: str, lines: Iterable[str]) -> list[str]:
    """Templates of arcs as those of m and s, or of g and m."""
    names = str.maketrans("hm", PAIRS[kind])

    def renamed(line: str) -> str:
        sides = re.sub(r"\b[hm](?=\.)", lambda match: match[0].translate(names), line)
        return sides if re.search(r"\b[gs]\.", sides) else f"{kind} & {sides}"

    return [renamed(line) for line in lines]


def second_order(arcs: str) -> list[str]:
    """The templates of arcs for arcs and for pairs, with the 20 of each kind of three sides."""
    lines = ARC_PRESETS[arcs]
    return [*lines, *(line for kind in PAIRS for line in (*triples(kind), *pairs(kind, lines)))]


PART_PRESETS = {
    "second-order": [*second_order("first-order"), *(line for kind in PAIRS for line in fine_triples(kind))],
    "turbo-standard": second_order("turbo"),
}
"""Templates of arcs, siblings and grandparents."""

LABEL_TEMPLATES = (
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
"""The templates of labels of arcs."""

PRESETS = {"tagger": TAGGER_PRESETS, "arcs": ARC_PRESETS, "parts": PART_PRESETS}


def register_preset(name: str, templates: Iterable[str], *, kind: str = "tagger") -> None:
    """Register a list of templates of your own, so that its name can be given as `features`.

    Parameters
    ----------
    name : the name of the preset
    templates : lines, as a file of templates has them; they are parsed when the preset is used
    kind : "tagger", "arcs" (a parser of order 1) or "parts" (a parser of order 2)

    >>> register_preset("words", ["bias", "lower(word[0])", "suffix(word[0], 3)"])
    """
    if kind not in PRESETS:
        raise unknown_name("kind of preset", kind, PRESETS)
    if name in PRESETS[kind]:
        raise InputError(f"cannot name a preset '{name}': there is one with this name")
    PRESETS[kind][name] = [str(line) for line in templates]
