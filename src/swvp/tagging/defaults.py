"""Owns the features and the constraint of a tagger that was given none: chosen from its labels and columns.

What the labels are decides, whatever the language:

    entities   types such as PER, Disease           preset ner
    chunks     types such as NP, ADVP               preset chunk, if there is a column pos
    tags       NOUN, VBD, …, and only words         preset pos

In all other cases (types that are not known, no types, chunks without pos, tags with more columns) the presets that
fit the columns are tried: trained on some sentences, scored on others, and the best is taken. The constraint is the
scheme that the labels keep to; chunks have none, because there it makes no difference (CoNLL-2000, 936 held-out
sentences, four seeds: F1 94.37 without, 94.38 with).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError
from swvp.evaluation.phrases import look_like_phrases
from swvp.features.encoder import Columns
from swvp.features.templates import PRESETS, parse_templates
from swvp.tagging.constraints import barrier, before_and_after
from swvp.tagging.corpus import Corpus, Labels

__all__ = ["AUTO", "Choice", "choose", "keeps_to", "presets_for"]

AUTO = "auto"
"""The constraint that is chosen from the labels."""

KNOWN_TYPES = {
    "chunks": """
        NP VP PP ADVP ADJP SBAR PRT CONJP INTJ LST UCP
        AP AVP QP DP CLP DNP DVP LCP NUMP
        NC VC PC ADVC ADJC NX VX PX ADVX ADJX
        SN SV SADV SADJ GN GV GADV
        VGF VGNF VGINF VGNN JJP RBP CCP NEGP BLK FRAGP
    """,
    "entities": """
        PER PERS PERSON LOC LOCATION ORG ORGANIZATION ORGANISATION GPE GEO FAC FACILITY MISC OTH NORP
        DATE TIME MONEY PERCENT QUANTITY ORDINAL CARDINAL EVENT PRODUCT PROD WORK_OF_ART LAW LANGUAGE
        GROUP GRP CORP CORPORATION CW
        DISEASE GENE PROTEIN CHEMICAL DRUG SPECIES CELL_LINE CELL_TYPE DNA RNA
    """,
}
"""Types that leave no doubt: chunks in treebanks of many languages, and names. Held-out sentences decide on others."""

LABEL = re.compile(r"(?P<prefix>[BIESLUMW])[-_](?P<type>.+)", re.DOTALL)
WHOLE_PREFIX = {"B", "I", "E", "S", "M", "L", "U"}

MOST_SENTENCES, LEAST_SENTENCES = 2_000, 100
"""How many sentences presets are tried on, and with how few the labels alone decide."""
EVERY = 5
"""Of the sentences tried on, each fifth is held out."""
FEW = 0.01
"""The share of phrases that may begin with I- in what is still IOB2."""

LIKELIER = 0.01
"""By how much another preset must be better than the likeliest one: less is chance."""

Score = Callable[[str, Corpus, Corpus], float]
"""Train with these features on one corpus; the score on the other, from 0 to 1."""


class Choice(NamedTuple):
    """The features (None where a user gave them) and the constraint of a tagger, and why: for people."""

    features: str | None
    constraint: str | None
    why: str


def choose(corpus: Corpus, *, features: bool, constraint: bool, score: Score) -> Choice:
    """Choose features and a constraint, or one of them, for a corpus with labels."""
    assert corpus.labels is not None
    kind, shown = kind_of_labels(corpus.labels)
    scheme = scheme_of(corpus) if constraint and kind not in ("tags", "chunks") else None
    if not features or corpus.columns is None:
        return Choice(None, scheme, shown)
    fitting = presets_for(corpus.columns.names)
    order = preferred(kind, corpus, fitting)
    if not order:
        raise InputError(
            f"no preset of features fits the columns {', '.join(corpus.columns.names)}: name one of them word, "
            "or give templates as features"
        )
    if len(order) == 1 or np.count_nonzero(np.diff(corpus.offsets)) < LEAST_SENTENCES:
        return Choice(order[0], scheme, shown)
    train, dev = split(corpus)
    scores = {name: score(name, train, dev) for name in order}
    best = max(order, key=lambda name: scores[name] + LIKELIER * (name == order[0]))
    told = ", ".join(f"{name} {100 * value:.1f}" for name, value in scores.items())
    return Choice(best, scheme, f"{shown}; on {len(dev.offsets) - 1} held-out sentences {told}")


def kind_of_labels(labels: Labels) -> tuple[str, str]:
    """Whether labels are entities, chunks, phrases (of other types or of none) or tags; and how to say it."""
    counts = np.bincount(labels.ids, minlength=len(labels.names))
    names = [str(name) for name, count in zip(labels.names, counts, strict=True) if count]
    tokens = {str(name): int(count) for name, count in zip(labels.names, counts, strict=True)}
    inside = [name for name in names if name != "O"]
    if set(inside) <= WHOLE_PREFIX and "B" in inside and {"I", "E"} & set(inside):
        return "phrases", "phrases without types"
    matches = {name: LABEL.fullmatch(name) for name in inside}
    if not inside or not all(matches.values()) or not {m["prefix"] for m in matches.values() if m} & set("BIS"):
        some = ", ".join(sorted(names, key=lambda name: -tokens[name])[:3])
        return "tags", f"tags ({some}{', …' if len(names) > 3 else ''})"
    types: dict[str, int] = {}
    for name, match in matches.items():
        assert match is not None
        types[match["type"]] = types.get(match["type"], 0) + tokens[name]
    frequent = sorted(types, key=lambda kind: -types[kind])
    some = f"({', '.join(frequent[:3])}{', …' if len(frequent) > 3 else ''})"
    for kind, known in KNOWN_TYPES.items():
        if 2 * sum(count for name, count in types.items() if known_as(name) & {*known.split()}) > sum(types.values()):
            return kind, f"{kind} {some}"
    return "phrases", f"phrases {some}"


def known_as(kind: str) -> set[str]:
    """A type in upper case, and its first part: NP-SBJ is NP, LOCderiv is LOC."""
    first = re.match(r"[^\W_]+", kind)
    derived = re.match(r"[A-Z]{2,}(?=[a-z])", kind)
    return {kind.upper()} | {match[0].upper() for match in (first, derived) if match}


def presets_for(columns: Sequence[str]) -> list[str]:
    """The presets whose columns are there."""
    fitting = []
    for name, lines in PRESETS.items():
        try:
            parse_templates(lines, columns)
        except InputError:
            continue
        fitting.append(name)
    return fitting


def preferred(kind: str, corpus: Corpus, fitting: Sequence[str]) -> list[str]:
    """The presets to choose from, the likeliest first; one only where that is sure."""
    assert corpus.labels is not None
    if kind == "entities":
        order = ["ner"]
    elif kind == "chunks":
        order = ["chunk"] if "chunk" in fitting else ["pos", "ner"]
    elif kind == "tags":
        order = ["chunk", "pos"] if "chunk" in fitting else ["pos"]
    else:  # of names, most tokens are outside
        outside = [number for number, name in enumerate(corpus.labels.names) if name == "O"]
        sparse = 2 * int(np.isin(corpus.labels.ids, outside).sum()) > corpus.tokens
        order = ["ner", "chunk", "pos"] if sparse else ["chunk", "ner", "pos"]
    return [name for name in order if name in fitting]


def scheme_of(corpus: Corpus) -> str | None:
    """The constraint that the labels keep to; `iob2` also where a few phrases begin with I-."""
    assert corpus.labels is not None
    names, ids = corpus.labels
    if not all(isinstance(name, str) for name in names) or not look_like_phrases([names]):
        return None
    if any(name[0] in "ES" for name in names):
        return "bioes" if keeps_to("bioes", corpus) else None
    if keeps_to("iob2", corpus):
        return "iob2"
    if keeps_to("iob1", corpus):
        return "iob1"
    begins = int(np.isin(ids, [number for number, name in enumerate(names) if name[0] == "B"]).sum())
    return "iob2" if broken("iob2", corpus).sum() <= FEW * begins else None


def keeps_to(constraint: str, corpus: Corpus) -> bool:
    """Whether no transition of the labels is one that a constraint forbids."""
    return not broken(constraint, corpus).any()


def broken(constraint: str, corpus: Corpus) -> NDArray[np.bool_]:
    """For each token whether a constraint forbids its label after the one before, or as the last one."""
    assert corpus.labels is not None
    names, ids = corpus.labels
    bars = np.isneginf(barrier(constraint, names))
    before, after = before_and_after(ids, corpus.offsets, len(names))
    found: NDArray[np.bool_] = bars[before, ids] | (bars[ids, after] & (after == len(names)))
    return found


def split(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """Sentences to train on and sentences to score, taken evenly from all of the corpus."""
    filled = np.flatnonzero(np.diff(corpus.offsets))
    chosen = filled[np.linspace(0, len(filled) - 1, min(len(filled), MOST_SENTENCES)).astype(np.int64)]
    held_out = np.arange(len(chosen)) % EVERY == EVERY - 1
    return part_of(corpus, chosen[~held_out]), part_of(corpus, chosen[held_out])


def part_of(corpus: Corpus, sentences: NDArray[np.int64]) -> Corpus:
    """Some sentences of a corpus of columns."""
    assert corpus.columns is not None
    assert corpus.labels is not None
    sizes = np.diff(corpus.offsets)[sentences]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tokens = np.repeat(corpus.offsets[sentences] - offsets[:-1], sizes) + np.arange(offsets[-1])
    columns = Columns(corpus.columns.names, corpus.columns.strings, corpus.columns.ids[:, tokens], offsets)
    labels = Labels(corpus.labels.names, corpus.labels.ids[tokens])
    return Corpus(corpus.kind, columns, [], offsets, labels)
