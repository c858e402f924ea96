"""Scores of predicted labels, and the comparison of two predictions.

A comparison by accuracy counts, in each sentence, the tokens with the right label out of all tokens. A comparison by F1
counts the correct phrases twice, out of the gold and the predicted phrases together. `swvp.evaluation.paired` has the
significance tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from swvp.errors import InputError, unknown_name
from swvp.evaluation.counts import (
    Confusion,
    Counts,
    Labels,
    PhraseScores,
    Share,
    evaluate_phrases,
    look_like_phrases,
    paired,
    phrases,
)
from swvp.evaluation.paired import Comparison, Ints, compare_counts, paired_bootstrap, paired_permutation
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
    """Count how often each gold label was predicted as each label.

    Parameters
    ----------
    gold, predicted : iterable of list of str
        The labels of each sentence.

    Returns
    -------
    Confusion

    Examples
    --------
    >>> table = confusion([["N", "V", "N"], ["V"]], [["N", "N", "N"], ["N"]])
    >>> table.labels, table.table()
    (['N', 'V'], [[2, 0], [2, 0]])
    >>> table.confusions()
    [('V', 'N', 2)]
    """
    counts: Counter[tuple[str, str]] = Counter()
    for a, b in paired(gold, predicted):
        counts.update(zip(a, b, strict=True))
    return Confusion(dict(counts))


@dataclass(frozen=True)
class TagScores:
    """The scores that `evaluate_tags` computes; a notebook shows them as tables.

    Attributes
    ----------
    tokens, sentences : Share
        Right tokens, and sentences with only right tokens.
    known, unknown : Share or None
        Right tokens whose word is, or is not, in the training data; None if the known words were not given.
    confusion : Confusion
        How often each gold label was predicted as each label.
    phrases : PhraseScores or None
        The scores of phrases; None if the labels are not phrase labels.

    Examples
    --------
    >>> scores = evaluate_tags([["N", "V"], ["N"]], [["N", "N"], ["N"]])
    >>> scores.tokens, scores.by_label["N"].precision
    (Share(right=2, total=3), 0.6666666666666666)
    """

    tokens: Share
    sentences: Share
    known: Share | None
    unknown: Share | None
    confusion: Confusion = field(repr=False)
    phrases: PhraseScores | None = field(repr=False)

    @property
    def accuracy(self) -> float:
        """The share of tokens with the right label."""
        return self.tokens.value

    @property
    def by_label(self) -> dict[str, Counts]:
        """The `Counts` of the tokens of each label: precision, recall and F1."""
        return self.confusion.by_label()

    def shares(self) -> list[tuple[str, Share]]:
        """Return (name, share) of tokens, known words, unknown words and sentences, without those that are None."""
        known = [("known words", self.known), ("unknown words", self.unknown)]
        rows = [("tokens", self.tokens), *known, ("sentences", self.sentences)]
        return [(name, share) for name, share in rows if share is not None]

    def as_dict(self) -> dict[str, Any]:
        """Return all scores, ready for JSON; `confusions` has the wrong pairs of labels, the most frequent first."""
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
    """Score predicted labels.

    Parameters
    ----------
    gold, predicted : iterable of list of str
        The labels of each sentence.
    words : iterable of list of str, optional
        The words of each sentence; required with `known`.
    known : collection of str, optional
        The words of the training data: known and unknown words are then scored separately.
    phrases : bool, optional
        Whether the labels are phrase labels (B-NP, I-NP, O …). By default the labels decide.

    Returns
    -------
    TagScores

    Raises
    ------
    InputError
        If gold labels, predicted labels or words have different lengths.

    Examples
    --------
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
    known_share = None if known is None else known_words_share(right, words, known)
    return TagScores(
        tokens=tokens,
        sentences=Share(sum(map(all, right)), len(right)),
        known=known_share,
        unknown=None if known_share is None else rest_of(tokens, known_share),
        confusion=confusion(gold, predicted),
        phrases=evaluate_phrases(gold, predicted) if phrases else None,
    )


def known_words_share(right: list[list[bool]], words: Iterable[Sequence[str]] | None, known: Collection[str]) -> Share:
    """Return the share of right tokens among those whose word is known."""
    if words is None:
        raise InputError("known words are given, but not the words of the sentences; give words too")
    words = list(words)
    if list(map(len, words)) != list(map(len, right)):
        raise InputError("the words and the labels are not of the same sentences")
    known = frozenset(known)
    right_known = [
        is_right
        for sentence, marks in zip(words, right, strict=True)
        for word, is_right in zip(sentence, marks, strict=True)
        if word in known
    ]
    return Share(sum(right_known), len(right_known))


def rest_of(whole: Share, part: Share) -> Share:
    """Return the share of what is not in the part."""
    return Share(whole.right - part.right, whole.total - part.total)


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
    """Compare two predictions of labels by a paired bootstrap and a paired permutation test.

    Parameters
    ----------
    gold, first, second : iterable of list of str
        The labels of each sentence: the gold ones and the two predictions.
    measure : {"accuracy", "f1"}
        Token accuracy, or the F1 of phrases.
    samples : int
        The number of samples of each test.
    seed : int
        The seed of the random draws.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> gold = [["N", "V"]] * 20
    >>> comparison = compare_tags(gold, [["N", "N"]] * 10 + [["N", "V"]] * 10, gold)
    >>> comparison.difference, comparison.permutation_p < 0.01
    (0.25, True)
    """
    gold = list(gold)
    a, b = sentence_counts(gold, first, measure), sentence_counts(gold, second, measure)
    return compare_counts(measure, a, b, samples=samples, seed=seed)


def sentence_counts(gold: Labels, predicted: Labels, measure: str = "accuracy") -> Ints:
    """Return (right, total) of each sentence: an array of shape (sentences, 2).

    Parameters
    ----------
    gold, predicted : iterable of list of str
        The labels of each sentence.
    measure : {"accuracy", "f1"}
        Right tokens of all tokens; or twice the correct phrases, of the gold and predicted phrases together.

    Examples
    --------
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
