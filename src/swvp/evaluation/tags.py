"""Owns counting the confusions of labels.

Owns all scores of one prediction as one object: tokens, known and unknown words, sentences, labels, phrases.

Owns the comparison of two predictions of labels: by token accuracy, or by the F1 of phrases.

Counted are, of a sentence's tokens, those labelled right (accuracy); or, of its gold and predicted phrases together,
those in both, counted twice (F1). The tests are those of `scoring/paired.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swvp.errors import InputError, unknown_name
from swvp.evaluation.counts import Confusion, Counts, Share
from swvp.evaluation.paired import Comparison, Ints, compare_counts, paired_bootstrap, paired_permutation
from swvp.evaluation.phrases import Labels, PhraseScores, evaluate_phrases, look_like_phrases, paired, phrases
from swvp.tables import html_table

__all__ = [
    "TAG_MEASURES",
    "Comparison",
    "Confusion",
    "Share",
    "TagScores",
    "compare_tags",
    "confusion",
    "evaluate_tags",
    "paired_bootstrap",
    "paired_permutation",
    "sentence_counts",
]


def confusion(gold: Labels, predicted: Labels) -> Confusion:
    """Count the pairs of labels.

    >>> found = confusion([["N", "V", "N"], ["V"]], [["N", "N", "N"], ["N"]])
    >>> found.labels, found.table()
    (['N', 'V'], [[2, 0], [2, 0]])
    >>> found.confusions()
    [('V', 'N', 2)]
    """
    counts: Counter[tuple[str, str]] = Counter()
    for a, b in paired(gold, predicted):
        counts.update(zip(a, b, strict=True))
    return Confusion(dict(counts))


@dataclass(frozen=True)
class TagScores:
    """What `evaluate_tags` finds.

    `known` and `unknown` are the tokens whose word is, or is not, in the training data; None if that was not told.
    A sentence is right if all its tokens are. `phrases` is None for labels that are not those of phrases.
    """

    tokens: Share
    sentences: Share
    known: Share | None
    unknown: Share | None
    confusion: Confusion = field(repr=False)
    phrases: PhraseScores | None = field(repr=False)

    @property
    def accuracy(self) -> float:
        """The share of tokens labelled right."""
        return self.tokens.value

    @property
    def by_label(self) -> dict[str, Counts]:
        """Precision, recall and F1 of the tokens of each label."""
        return self.confusion.by_label()

    def shares(self) -> list[tuple[str, Share]]:
        """What there is of tokens, known words, unknown words and sentences, with their names."""
        known = [("known words", self.known), ("unknown words", self.unknown)]
        rows = [("tokens", self.tokens), *known, ("sentences", self.sentences)]
        return [(name, share) for name, share in rows if share is not None]

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; `confusions` are the wrong pairs of labels, the most frequent first."""
        return {
            "tokens": self.tokens.as_dict(),
            "known": None if self.known is None else self.known.as_dict(),
            "unknown": None if self.unknown is None else self.unknown.as_dict(),
            "sentences": self.sentences.as_dict(),
            "phrases": None if self.phrases is None else self.phrases.as_dict(),
            "by_label": {label: counts.as_dict() for label, counts in self.by_label.items()},
            "confusions": [
                {"gold": gold, "predicted": predicted, "count": count}
                for gold, predicted, count in self.confusion.confusions()
            ],
        }

    def _repr_html_(self) -> str:
        shares = [[name, str(share.right), str(share.total), share.percent()] for name, share in self.shares()]
        tables = [html_table("Labelled right", ["", "right", "of", "%"], shares)]
        headings = ["", "precision", "recall", "F1", "gold", "predicted"]
        if self.phrases is not None:
            rows = {"all": self.phrases.total, **self.phrases.by_type}
            tables.append(html_table("Phrases", headings, map(html_row, rows, rows.values())))
        labels = self.by_label
        tables.append(html_table("Tokens of each label", headings, map(html_row, labels, labels.values())))
        return "".join(tables)


def html_row(name: str, counts: Counts) -> list[str]:
    shares = (counts.precision, counts.recall, counts.f1)
    return [name, *(f"{100 * share:.2f}" for share in shares), str(counts.gold), str(counts.predicted)]


def evaluate_tags(
    gold: Labels,
    predicted: Labels,
    *,
    words: Iterable[Sequence[str]] | None = None,
    known: Collection[str] | None = None,
    phrases: bool | None = None,
) -> TagScores:
    """All scores of a prediction.

    `known` are the words of the training data; with them, `words` (those of each sentence) are needed. `phrases`
    says whether the labels are those of phrases (B-NP, I-NP, O …); by default that is seen from the labels.

    >>> gold, predicted = [["N", "V"], ["N"]], [["N", "N"], ["N"]]
    >>> scores = evaluate_tags(gold, predicted, words=[["ann", "left"], ["bo"]], known={"ann"})
    >>> scores.tokens, scores.known, scores.unknown, scores.sentences
    (Share(right=2, total=3), Share(right=1, total=1), Share(right=1, total=2), Share(right=1, total=2))
    """
    pairs = paired(gold, predicted)
    gold, predicted = [a for a, _ in pairs], [b for _, b in pairs]
    right = [[x == y for x, y in zip(a, b, strict=True)] for a, b in pairs]
    tokens = Share(sum(map(sum, right)), sum(map(len, right)))
    if phrases is None:
        phrases = look_like_phrases(gold, predicted)
    seen = None if known is None else by_knowledge(right, words, known)
    return TagScores(
        tokens=tokens,
        sentences=Share(sum(map(all, right)), len(right)),
        known=seen,
        unknown=None if seen is None else Share(tokens.right - seen.right, tokens.total - seen.total),
        confusion=confusion(gold, predicted),
        phrases=evaluate_phrases(gold, predicted) if phrases else None,
    )


def by_knowledge(right: list[list[bool]], words: Iterable[Sequence[str]] | None, known: Collection[str]) -> Share:
    """The tokens whose words are known."""
    if words is None:
        raise InputError("known words are given, but not the words of the sentences")
    words = list(words)
    if list(map(len, words)) != list(map(len, right)):
        raise InputError("the words and the labels are not of the same sentences")
    known = frozenset(known)
    of_known = [
        good
        for sentence, marks in zip(words, right, strict=True)
        for word, good in zip(sentence, marks, strict=True)
        if word in known
    ]
    return Share(sum(of_known), len(of_known))


TAG_MEASURES = ("accuracy", "f1")


def compare_tags(
    gold: Labels,
    first: Labels,
    second: Labels,
    *,
    measure: str = "accuracy",
    samples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare two predictions by token accuracy (`accuracy`) or phrase F1 (`f1`).

    >>> gold = [["N", "V"]] * 20
    >>> found = compare_tags(gold, [["N", "N"]] * 10 + [["N", "V"]] * 10, gold)
    >>> found.difference, found.permutation_p < 0.01
    (0.25, True)
    """
    gold = list(gold)
    a, b = sentence_counts(gold, first, measure), sentence_counts(gold, second, measure)
    return compare_counts(measure, a, b, samples=samples, seed=seed)


def sentence_counts(gold: Labels, predicted: Labels, measure: str = "accuracy") -> Ints:
    """(right, of) of each sentence; see above.

    >>> sentence_counts([["B-X", "O"]], [["B-X", "B-X"]], "accuracy").tolist()
    [[1, 2]]
    >>> sentence_counts([["B-X", "O"]], [["B-X", "B-X"]], "f1").tolist()
    [[2, 3]]
    """
    if measure not in TAG_MEASURES:
        raise unknown_name("measure", measure, TAG_MEASURES)
    rows = []
    for a, b in paired(gold, predicted):
        if measure == "accuracy":
            rows.append((sum(x == y for x, y in zip(a, b, strict=True)), len(a)))
        else:
            in_gold, in_predicted = set(phrases(a)), set(phrases(b))
            rows.append((2 * len(in_gold & in_predicted), len(in_gold) + len(in_predicted)))
    return np.array(rows, np.int64).reshape(-1, 2)
