"""The options of a tagger: checks, what depends on the rule, features and constraint chosen from the data.

The kind of the labels decides, whatever the language:

    entities   types such as PER, Disease           preset ner
    chunks     types such as NP, ADVP               preset chunk, if there is a column pos
    tags       NOUN, VBD, …, and only words         preset pos

In all other cases (unknown types, no types, chunks without pos, tags with more columns) the presets that fit the
columns are tried: trained on four fifths of a sample, scored on the rest, and the best is chosen. The constraint is the
scheme of the labels; chunks have none, because there it makes no difference (CoNLL-2000, 936 dev sentences, four seeds:
F1 94.37 without, 94.38 with).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.errors import InputError, is_whole, shown
from swvp.evaluation.counts import look_like_phrases
from swvp.features.clusters import check_clusters
from swvp.features.encoder import Columns
from swvp.features.templates import PRESETS, parse_templates
from swvp.learning.perceptron import check_structure
from swvp.learning.rule import UpdateRule, as_rule
from swvp.structures.chain.attributes import AttributeChain
from swvp.structures.chain.search import SearchChain
from swvp.structures.chain.sparse import SparseChain
from swvp.tagging.corpus import Corpus, Labels, before_and_after
from swvp.tagging.crf import check_l2
from swvp.tagging.decoder import Constraint, Decoder, barrier, check_vote, costs_of, decoder_of
from swvp.training.options import TrainingOptions

__all__ = ["AUTO", "Choice", "TaggerOptions", "choose", "keeps_to", "presets_for"]

AUTO = "auto"
"""The constraint that is chosen from the labels."""

DEFAULT_RULE, SWVP_RULE = "softmax", "a-wm:segments:sqrt"
"""The default rule of exact search, chosen on dev sets of chunking, named entities and tags; and that of a beam, and of
users who give parts of a rule."""
SOFTMAX_MARGIN, ADAPTIVE_MARGIN = 5.0, 8.0
"""The default margins of the rule `softmax` and of other rules with the step `ada`, chosen on dev sets."""
MOST_HASHED = 2**32 - 1
"""The numbers of attributes have 32 bits."""


class TaggerOptions(TrainingOptions):
    """The options of a tagger; `swvp.SequenceTagger` documents them."""

    BETA = 0.5  # better for tagging than 1

    margin: float | None
    cost: Mapping[Any, float] | None
    vote: bool
    features: str | Sequence[str] | None
    columns: Sequence[str] | None
    constraint: Constraint | None
    order: int
    decoder: str
    width: int
    fix: str
    minimum_count: int
    hashed: int | None
    clusters: int | Mapping[str, str] | None
    candidates: int | None
    l2: float

    classes_: list[Any]
    chosen_: Choice

    def __init__(
        self,
        *,
        rule: str | UpdateRule | None = None,
        substructures: Any = None,
        gamma: Any = None,
        approach: str | None = None,
        beta: float | None = None,
        step: str | None = None,
        C: float | None = None,
        epochs: int = 10,
        average: bool = True,
        average_power: float | None = None,
        margin: float | None = None,
        cost: Mapping[Any, float] | None = None,
        vote: bool = False,
        features: str | Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        constraint: Constraint | None = AUTO,
        order: int = 1,
        decoder: str = "viterbi",
        width: int = 8,
        fix: str = "max-violation",
        minimum_count: int = 1,
        hashed: int | None = None,
        clusters: int | Mapping[str, str] | None = None,
        candidates: int | None = None,
        l2: float = 1.0,
        patience: int | None = None,
        random_state: Any = None,
        n_jobs: int = 1,
    ):
        self._set_options(locals())

    def check(self) -> UpdateRule:
        """Raise InputError if options are wrong whatever the data are; return the rule (CSP stands for a CRF)."""
        crf = self.rule == "crf"
        rule = as_rule("csp") if crf else self._rule()
        self._check_whole(["epochs", "minimum_count", "n_jobs"], optional=["patience", "hashed"])
        self._check_real("l2")
        if self.hashed is not None and self.minimum_count > 1:
            raise InputError("hashed attributes are not counted: leave out minimum_count")
        if self.hashed is not None and self.hashed > MOST_HASHED:
            raise InputError(f"hashed must be at most {MOST_HASHED}, not {self.hashed}")
        check_clusters(self.clusters)
        decoder = self._decoder_options()
        if (crf or any(stage.k_best > 1 for stage in rule.stages)) and not decoder.plain:
            name = "crf" if crf else rule.name
            raise InputError(f"rule '{name}' is for order 1 and exact search: use another rule with a beam or order 2")
        if rule.compares_all_outputs and self.decoder != "viterbi":
            raise InputError(f"rule '{rule.name}' is for exact search: use another rule with a beam")
        check_structure(rule, AttributeChain if decoder.plain else SearchChain)
        self._average_power(rule)
        if self.margin is not None:
            self._check_real("margin")
        if (self.margin or self.cost) and crf:
            raise InputError("margin and cost are for other rules than crf: leave them out")
        self._check_candidates(rule, decoder)
        if self.vote:
            check_vote(decoder, crf=crf)
        if crf:
            check_l2(self.l2)
        if not self._auto_constraint():
            barrier(self.constraint, [])
        return rule

    def _needs_dense(self, rule: UpdateRule, decoder: Decoder) -> bool:
        """Whether only taggers with all labels as candidates have what the options ask for."""
        lists_outputs = any(stage.k_best > 1 for stage in rule.stages)
        return self.rule == "crf" or self.vote or lists_outputs or not decoder.plain

    def _check_candidates(self, rule: UpdateRule, decoder: Decoder) -> None:
        if self.candidates is None:
            return
        if not is_whole(self.candidates, 0):
            raise InputError(f"candidates must be a whole number of at least 0, not {shown(self.candidates)}")
        if self.candidates and self._needs_dense(rule, decoder):
            raise InputError(
                "candidates are for order 1, exact search, no vote, and other rules than crf and mira:K: leave it out"
            )

    def _default_rule(self) -> str:
        parts = (self.substructures, self.gamma, self.approach, self.step)
        if self.decoder != "viterbi" or any(part is not None for part in parts):
            return SWVP_RULE
        return DEFAULT_RULE

    def _for_rule(self, problem: Any, rule: UpdateRule) -> tuple[Any, float]:
        """The problem with the margin of a rule, and the rule's power of averaging."""
        if isinstance(problem, (AttributeChain, SearchChain, SparseChain)):
            problem = problem._replace(costs=costs_of(self._margin(rule), self.cost, self.classes_))
        return problem, self._average_power(rule)

    def _margin(self, rule: UpdateRule) -> float:
        """The margin: the given one, or that of the rule, 0 unless its step is `ada`."""
        if self.margin is not None:
            return float(self.margin)
        if rule.compares_all_outputs:
            return SOFTMAX_MARGIN
        return ADAPTIVE_MARGIN if rule.adapts else 0.0

    def _constraint(self) -> Constraint | None:
        """The constraint that was given, or the chosen one."""
        return self.chosen_.constraint if self._auto_constraint() else self.constraint

    def _auto_constraint(self) -> bool:
        return isinstance(self.constraint, str) and self.constraint == AUTO

    def _decoder_options(self) -> Decoder:
        """The decoder, before the labels are known."""
        return decoder_of(self.decoder, np.zeros((1, 1)), self.order, self.width, self.fix)


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
"""Known types of chunks, in treebanks of many languages, and of named entities. For others, presets are tried."""

LABEL = re.compile(r"(?P<prefix>[BIESLUMW])[-_](?P<type>.+)", re.DOTALL)
WHOLE_PREFIX = {"B", "I", "E", "S", "M", "L", "U"}

MOST_SENTENCES, LEAST_SENTENCES = 2_000, 100
"""The largest sample that presets are tried on, and the smallest; below it the labels alone decide."""
EVERY = 5
"""Every fifth sentence of the sample is in its dev set."""
FEW = 0.01
"""The share of phrases that may begin with I- in labels that still count as IOB2."""

LIKELIER = 0.01
"""The score by which another preset must be better than the likeliest one; smaller differences are chance."""

Score = Callable[[str, Corpus, Corpus], float]
"""Trains with these features on the first corpus; returns the score on the second, from 0 to 1."""


class Choice(NamedTuple):
    """The chosen features (None if the user gave them) and constraint of a tagger, and the reason in words."""

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
    texts = ", ".join(f"{name} {100 * value:.1f}" for name, value in scores.items())
    return Choice(best, scheme, f"{shown}; on {len(dev.offsets) - 1} held-out sentences {texts}")


def kind_of_labels(labels: Labels) -> tuple[str, str]:
    """The kind of labels (entities, chunks, other phrases, tags), and a description of them."""
    counts = np.bincount(labels.ids, minlength=len(labels.names))
    names = [str(name) for name, count in zip(labels.names, counts, strict=True) if count]
    tokens = {str(name): int(count) for name, count in zip(labels.names, counts, strict=True)}
    inside = [name for name in names if name != "O"]
    if set(inside) <= WHOLE_PREFIX and "B" in inside and {"I", "E"} & set(inside):
        return "phrases", "phrases without types"
    matches = {name: LABEL.fullmatch(name) for name in inside}
    if not inside or not all(matches.values()) or not {m["prefix"] for m in matches.values() if m} & set("BIS"):
        examples = ", ".join(sorted(names, key=lambda name: -tokens[name])[:3])
        return "tags", f"tags ({examples}{', …' if len(names) > 3 else ''})"
    types: dict[str, int] = {}
    for name, match in matches.items():
        assert match is not None
        types[match["type"]] = types.get(match["type"], 0) + tokens[name]
    frequent = sorted(types, key=lambda kind: -types[kind])
    examples = f"({', '.join(frequent[:3])}{', …' if len(frequent) > 3 else ''})"
    for kind, known in KNOWN_TYPES.items():
        if 2 * sum(count for name, count in types.items() if known_as(name) & {*known.split()}) > sum(types.values()):
            return kind, f"{kind} {examples}"
    return "phrases", f"phrases {examples}"


def known_as(kind: str) -> set[str]:
    """A type in upper case, and its first part: NP-SBJ is NP, LOCderiv is LOC."""
    first = re.match(r"[^\W_]+", kind)
    derived = re.match(r"[A-Z]{2,}(?=[a-z])", kind)
    return {kind.upper()} | {match[0].upper() for match in (first, derived) if match}


def presets_for(columns: Sequence[str]) -> list[str]:
    """The presets that need no other columns."""
    fitting = []
    for name, lines in PRESETS.items():
        try:
            parse_templates(lines, columns)
        except InputError:
            continue
        fitting.append(name)
    return fitting


def preferred(kind: str, corpus: Corpus, fitting: Sequence[str]) -> list[str]:
    """The presets to try, the likeliest first; only one if there is no doubt."""
    assert corpus.labels is not None
    if kind == "entities":
        order = ["ner"]
    elif kind == "chunks":
        order = ["chunk"] if "chunk" in fitting else ["pos", "ner"]
    elif kind == "tags":
        order = ["chunk", "pos"] if "chunk" in fitting else ["pos"]
    else:  # most tokens are outside of names
        outside = [number for number, name in enumerate(corpus.labels.names) if name == "O"]
        sparse = 2 * int(np.isin(corpus.labels.ids, outside).sum()) > corpus.tokens
        order = ["ner", "chunk", "pos"] if sparse else ["chunk", "ner", "pos"]
    return [name for name in order if name in fitting]


def scheme_of(corpus: Corpus) -> str | None:
    """The scheme of the labels; `iob2` also if a few phrases begin with I-."""
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
    result: NDArray[np.bool_] = bars[before, ids] | (bars[ids, after] & (after == len(names)))
    return result


def split(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """Sentences to train on and sentences to score on, a sample spread evenly over the corpus."""
    filled = np.flatnonzero(np.diff(corpus.offsets))
    chosen = filled[np.linspace(0, len(filled) - 1, min(len(filled), MOST_SENTENCES)).astype(np.int64)]
    held_out = np.arange(len(chosen)) % EVERY == EVERY - 1
    return part_of(corpus, chosen[~held_out]), part_of(corpus, chosen[held_out])


def part_of(corpus: Corpus, sentences: NDArray[np.int64]) -> Corpus:
    """The corpus of these sentences."""
    assert corpus.columns is not None
    assert corpus.labels is not None
    sizes = np.diff(corpus.offsets)[sentences]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tokens = np.repeat(corpus.offsets[sentences] - offsets[:-1], sizes) + np.arange(offsets[-1])
    columns = Columns(corpus.columns.names, corpus.columns.strings, corpus.columns.ids[:, tokens], offsets)
    labels = Labels(corpus.labels.names, corpus.labels.ids[tokens])
    return Corpus(corpus.kind, columns, [], offsets, labels)
