"""Owns all scores of one prediction as one object: tokens, known and unknown words, sentences, labels, phrases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from swvp.errors import InputError
from swvp.scoring.counts import Counts, Share
from swvp.scoring.html import html_table
from swvp.tagging.confusion import Confusion, confusion
from swvp.tagging.evaluate import Labels, PhraseScores, evaluate_phrases, look_like_phrases, paired

__all__ = ["Share", "TagScores", "evaluate_tags"]


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
