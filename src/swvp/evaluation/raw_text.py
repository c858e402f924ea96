"""Scores of an analysis of raw text, from tokens to trees: the measures of conll18_ud_eval.py (CoNLL 2018).

The predicted file may divide the same text into other tokens, words and sentences. So each measure is an F1, over spans
of characters (Tokens, Sentences) or over pairs of aligned words (all others).

Words that are tokens are aligned if they have the same span. Where either file has a multiword token, the words of the
whole stretch that multiword tokens cover are aligned by a longest common subsequence of their forms, in lower case.

A word counts for UAS if its head is aligned with the head of its gold word, or both are roots. CLAS, MLAS and BLEX
count content words only: CLAS is their LAS; MLAS also needs the right UPOS, FEATS and function words; BLEX the right
lemma. Labels are compared without subtypes, and FEATS by their universal features.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from swvp.errors import InputError
from swvp.evaluation.counts import Counts
from swvp.evaluation.trees import CONTENT
from swvp.io.surface import Span, Surface, first_difference, surface_of
from swvp.io.table import Column
from swvp.io.treebank import Treebank
from swvp.tables import html_table

__all__ = ["RawScores", "evaluate_raw"]

FUNCTIONAL = frozenset(("aux", "case", "cc", "clf", "cop", "det", "mark"))
# fmt: off
UNIVERSAL_FEATURES = frozenset(
    (
        "Abbr", "Animacy", "Aspect", "Case", "Definite", "Degree", "Evident", "Foreign", "Gender", "Mood", "NumType",
        "Number", "Person", "Polarity", "Polite", "Poss", "PronType", "Reflex", "Tense", "VerbForm", "Voice",
    )
)
# fmt: on
NONE = "_"
ROOT = -1
SHOWN = 20  # characters of a text that differs

Key = Callable[["Words", int, Callable[[int], Hashable]], Hashable]
Matches = dict[int, int]


class RawScores(NamedTuple):
    """The measures of the CoNLL 2018 shared task.

    Attributes
    ----------
    measures : dict of str to Counts
        Tokens, Sentences, Words, UPOS, XPOS, UFeats, AllTags, Lemmas and, if both files have trees, UAS, LAS, CLAS,
        MLAS and BLEX.
    aligned : dict of str to int
        For the measures of words, the number of aligned words that are counted.
    """

    measures: dict[str, Counts]
    aligned: dict[str, int]

    def aligned_accuracy(self, measure: str) -> float | None:
        """Return the share of right words among the aligned ones; None for spans, and without aligned words."""
        words = self.aligned.get(measure)
        return self.measures[measure].correct / words if words and measure != "Words" else None

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and scores of each measure, ready for JSON."""
        return {
            name: counts.as_dict() | {"aligned_accuracy": self.aligned_accuracy(name)}
            for name, counts in self.measures.items()
        }

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return a row of texts for each measure: its name, precision, recall, F1 and aligned accuracy, in percent."""
        result = []
        for name, counts in self.measures.items():
            shares = (counts.precision, counts.recall, counts.f1, self.aligned_accuracy(name))
            precision, recall, f1, aligned = ("" if share is None else f"{100 * share:.2f}" for share in shares)
            result.append((name, precision, recall, f1, aligned))
        return result

    def _repr_html_(self) -> str:
        return html_table("Raw text (%)", ["", "precision", "recall", "F1", "aligned"], self.rows())


def evaluate_raw(gold: Treebank, predicted: Treebank) -> RawScores:
    """Score an analysis of raw text against a gold treebank, as the CoNLL 2018 shared task does.

    Parameters
    ----------
    gold, predicted : Treebank
        Analyses of the same text. If one of them has no heads, trees are not scored.

    Returns
    -------
    RawScores

    Raises
    ------
    InputError
        If the texts differ, with the first place where they do.

    Examples
    --------
    >>> from swvp.io import treebank_of
    >>> gold = treebank_of([["I", "can", "not"], ["Go"]], heads=[[0, 1, 1], [0]])
    >>> predicted = treebank_of([["I", "cannot"], ["Go"]], heads=[[0, 1], [0]])
    >>> scores = evaluate_raw(gold, predicted)
    >>> {name: round(counts.f1, 3) for name, counts in scores.measures.items() if name in ("Sentences", "Words", "UAS")}
    {'Sentences': 1.0, 'Words': 0.571, 'UAS': 0.571}
    """
    a, b = Words(gold), Words(predicted)
    check_same_text(a, b)
    gold_of = {second: first for first, second in aligned_words(a, b)}
    for second, first in gold_of.items():
        if a.lemmas[first] == NONE:  # no gold lemma: whatever is predicted is right
            b.lemmas[second] = NONE
    measures = {"Tokens": equal_spans(a.surface.tokens, b.surface.tokens)}
    measures["Sentences"] = equal_spans(a.surface.sentences, b.surface.sentences)
    measures["Words"] = Counts(len(a), len(b), len(gold_of))
    aligned = {"Words": len(gold_of)}
    for name, key in KEYS.items():
        if name in TREE_KEYS and (gold.heads is None or predicted.heads is None):
            continue
        measures[name], aligned[name] = count_equal(a, b, gold_of, key, content_only=name in CONTENT_KEYS)
    return RawScores(measures, aligned)


class Words:
    """The words of one treebank with everything that is compared, as lists of one entry per word."""

    def __init__(self, treebank: Treebank):
        self.treebank, self.surface = treebank, surface_of(treebank)
        self.lower_forms = values(treebank.words, str.lower)
        self.lemmas, self.upos, self.xpos = (values(c) for c in (treebank.lemmas, treebank.upos, treebank.xpos))
        self.feats = values(treebank.feats, universal_features)
        self.labels: list[str] = []
        self.heads: list[int] = []
        self.function_words: list[list[int]] = []
        if treebank.heads is not None:
            labels = treebank.labels
            self.labels = [NONE] * len(self) if labels is None else values(labels, without_subtype)
            bounds = zip(treebank.offsets.tolist(), treebank.offsets[1:].tolist(), strict=False)
            heads = treebank.heads.tolist()
            self.heads = [begin + h - 1 if h else ROOT for begin, end in bounds for h in heads[begin:end]]
            self.function_words = [[] for _ in self.heads]
            for word, head in enumerate(self.heads):
                if head != ROOT and self.labels[word] in FUNCTIONAL:
                    self.function_words[head].append(word)

    def __len__(self) -> int:
        return len(self.lower_forms)


def values(column: Column, function: Callable[[str], str] = str) -> list[str]:
    """Return a function of the string of each word."""
    strings = [function(string) for string in column.strings]
    return [strings[number] for number in column.ids.tolist()]


def universal_features(feats: str) -> str:
    """Return the features that are defined for all languages, sorted.

    Examples
    --------
    >>> universal_features("Number=Sing|Case=Nom|NameType=Giv")
    'Case=Nom|Number=Sing'
    """
    return "|".join(sorted(one for one in feats.split("|") if one.partition("=")[0] in UNIVERSAL_FEATURES))


def without_subtype(label: str) -> str:
    """Return nsubj for nsubj:pass."""
    return label.partition(":")[0]


def check_same_text(a: Words, b: Words) -> None:
    """Raise InputError, with the first place where they differ, if two analyses are not of the same text."""
    one, other = a.surface.characters, b.surface.characters
    if one == other:
        return
    at = first_difference(one, other)
    places = [place_of(words, at) for words in (a, b)]
    texts = [repr(text[at : at + SHOWN]) if at < len(text) else "its end" for text in (one, other)]
    raise InputError(
        f"{places[1]}: the text differs from the gold text: it goes on with {texts[1]}, at {places[0]} with {texts[0]}"
    )


def place_of(words: Words, at: int) -> str:
    """Return file and line of the token with a character, or of the last token."""
    surface = words.surface
    for token, (_, end) in enumerate(surface.tokens):
        if at < end:
            return words.treebank.place(surface.first_words[token])
    return words.treebank.place(len(words) - 1)


def equal_spans(gold: Sequence[Span], predicted: Sequence[Span]) -> Counts:
    """Count the spans that both have; no span occurs twice."""
    return Counts(len(gold), len(predicted), len(set(gold) & set(predicted)))


# ---------------------------------------------------------------- alignment


def aligned_words(a: Words, b: Words) -> Iterator[tuple[int, int]]:
    """Yield the pairs of aligned words, in increasing order."""
    one, other = a.surface, b.surface
    i = j = 0
    while i < len(a) and j < len(b):
        if one.in_range[i] or other.in_range[j]:
            first, second = stretch(one, other, i, j)
            yield from common_words(a.lower_forms, b.lower_forms, first, second)
            i, j = first.stop, second.stop
        elif one.words[i] == other.words[j]:
            yield i, j
            i, j = i + 1, j + 1
        elif one.words[i][0] <= other.words[j][0]:
            i += 1
        else:
            j += 1


def stretch(one: Surface, other: Surface, i: int, j: int) -> tuple[range, range]:
    """Return the words that the multiword token of word i or j covers, with all multiword tokens that overlap it.

    A word that is a token and begins before the multiword token is left out at the beginning.
    """
    if one.in_range[i]:
        end = one.words[i][1]
        j += not other.in_range[j] and other.words[j][0] < one.words[i][0]
    else:
        end = other.words[j][1]
        i += one.words[i][0] < other.words[j][0]
    first, second = i, j
    while inside(one, i, end) or inside(other, j, end):
        from_one = i < len(one.words) and (j >= len(other.words) or one.words[i][0] <= other.words[j][0])
        surface, word = (one, i) if from_one else (other, j)
        if surface.in_range[word]:
            end = max(end, surface.words[word][1])
        i, j = (i + 1, j) if from_one else (i, j + 1)
    return range(first, i), range(second, j)


def inside(surface: Surface, word: int, end: int) -> bool:
    """Whether a word belongs to a stretch: a multiword token begins before its end, another word ends before it."""
    if word >= len(surface.words):
        return False
    return surface.words[word][0] < end if surface.in_range[word] else surface.words[word][1] <= end


def common_words(a: Sequence[str], b: Sequence[str], first: range, second: range) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a longest common subsequence of the forms of two ranges of words.

    Of several, it is the one that takes each pair of equal forms as soon as both are next, and otherwise leaves out a
    word of the first range if that loses nothing.
    """
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for p in reversed(range(len(first))):
        for q in reversed(range(len(second))):
            equal = a[first[p]] == b[second[q]]
            with_both = longest[p + 1][q + 1] + 1 if equal else 0
            longest[p][q] = max(with_both, longest[p + 1][q], longest[p][q + 1])
    p = q = 0
    while p < len(first) and q < len(second):
        if a[first[p]] == b[second[q]]:
            yield first[p], second[q]
            p, q = p + 1, q + 1
        elif longest[p][q] == longest[p + 1][q]:
            p += 1
        else:
            q += 1


# ---------------------------------------------------------------- measures of words


def attachment(words: Words, word: int, name: Callable[[int], Hashable]) -> Hashable:
    return name(words.heads[word])


def labelled(words: Words, word: int, name: Callable[[int], Hashable]) -> Hashable:
    return name(words.heads[word]), words.labels[word]


def morphology(words: Words, word: int, name: Callable[[int], Hashable]) -> Hashable:
    """What MLAS compares: the arc, UPOS and FEATS of a word, and those of its function words."""
    children = tuple(
        (name(child), words.labels[child], words.upos[child], words.feats[child])
        for child in words.function_words[word]
    )
    return labelled(words, word, name), words.upos[word], words.feats[word], children


KEYS: dict[str, Key] = {
    "UPOS": lambda words, word, name: words.upos[word],
    "XPOS": lambda words, word, name: words.xpos[word],
    "UFeats": lambda words, word, name: words.feats[word],
    "AllTags": lambda words, word, name: (words.upos[word], words.xpos[word], words.feats[word]),
    "Lemmas": lambda words, word, name: words.lemmas[word],
    "UAS": attachment,
    "LAS": labelled,
    "CLAS": labelled,
    "MLAS": morphology,
    "BLEX": lambda words, word, name: (labelled(words, word, name), words.lemmas[word]),
}
"""What is compared in two aligned words; `name` gives aligned words the same name."""
TREE_KEYS = ("UAS", "LAS", "CLAS", "MLAS", "BLEX")
CONTENT_KEYS = ("CLAS", "MLAS", "BLEX")


def count_equal(a: Words, b: Words, gold_of: Matches, key: Key, *, content_only: bool) -> tuple[Counts, int]:
    """Count the words, those of them that are aligned and have equal keys, and all aligned ones."""

    def counts(words: Words, word: int) -> bool:
        return not content_only or words.labels[word] in CONTENT

    def name_in_gold(word: int) -> Hashable:
        return word

    def name_in_predicted(word: int) -> Hashable:
        return ROOT if word == ROOT else gold_of.get(word, "not aligned")

    pairs = [(first, second) for second, first in gold_of.items() if counts(a, first)]
    correct = sum(key(a, first, name_in_gold) == key(b, second, name_in_predicted) for first, second in pairs)
    gold, predicted = (sum(counts(words, word) for word in range(len(words))) for words in (a, b))
    return Counts(gold, predicted, correct), len(pairs)
