"""Counts and the scores computed from them: shares, precision, recall, F1, confusion tables, phrases.

Phrases are scored as conlleval scores them. A phrase is a type with its first and last token. conlleval reads IOB1,
IOB2, IOE and BIOES alike: a phrase begins where the prefix says so, where the type changes, or at an I after O, and
ends likewise; it never crosses sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from swvp.errors import InputError, escaped

__all__ = [
    "Confusion",
    "Counts",
    "Labels",
    "PhraseScores",
    "Share",
    "evaluate_phrases",
    "is_phrase_label",
    "look_like_phrases",
    "paired",
    "phrases",
    "token_accuracy",
]


class Share(NamedTuple):
    """A number of correct tokens or sentences, and the number of all.

    Attributes
    ----------
    right, total : int
        The number of right tokens (or sentences), and the number of all.

    Examples
    --------
    >>> share = Share(3, 4)
    >>> share.value, share.percent()
    (0.75, '75.00')
    """

    right: int
    total: int

    @property
    def value(self) -> float:
        """right / total; 1 if the total is 0."""
        return self.right / self.total if self.total else 1.0

    def percent(self) -> str:
        """Return the share in percent with two digits; a dash if the total is 0."""
        return f"{100 * self.value:.2f}" if self.total else "–"

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and the share, ready for JSON."""
        return {"right": self.right, "total": self.total, "value": self.value}


class Counts(NamedTuple):
    """The phrases of a type, or the tokens of a label: how many are gold, predicted, and both.

    Attributes
    ----------
    gold : int
        In the gold labels; also called the support.
    predicted : int
        In the prediction.
    correct : int
        In both.

    Examples
    --------
    >>> counts = Counts(gold=4, predicted=2, correct=2)
    >>> counts.precision, counts.recall, round(counts.f1, 3)
    (1.0, 0.5, 0.667)
    """

    gold: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        """correct / predicted; 0 if nothing is predicted."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """correct / gold; 0 if nothing is gold."""
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if both are 0."""
        return 2 * self.correct / (self.gold + self.predicted) if self.gold + self.predicted else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and the scores computed from them, ready for JSON."""
        return {**self._asdict(), "precision": self.precision, "recall": self.recall, "f1": self.f1}


class Confusion(NamedTuple):
    """How many tokens have each pair of gold and predicted label.

    Attributes
    ----------
    counts : mapping of (str, str) to int
        The number of tokens of each (gold label, predicted label); pairs that do not occur are absent.

    Examples
    --------
    >>> table = Confusion({("N", "N"): 2, ("V", "N"): 1})
    >>> table.labels, table.table()
    (['N', 'V'], [[2, 0], [1, 0]])
    >>> table.confusions()
    [('V', 'N', 1)]
    """

    counts: Mapping[tuple[str, str], int]

    @property
    def labels(self) -> list[str]:
        """All gold and predicted labels, sorted."""
        return sorted({label for pair in self.counts for label in pair})

    def confusions(self, most: int | None = None) -> list[tuple[str, str, int]]:
        """Return (gold label, predicted label, tokens) of wrong pairs, the most frequent first, ties by label.

        Parameters
        ----------
        most : int, optional
            Return at most this many pairs.
        """
        wrong = [(gold, predicted, count) for (gold, predicted), count in self.counts.items() if gold != predicted]
        return sorted(wrong, key=lambda row: (-row[2], row[:2]))[:most]

    def by_label(self) -> dict[str, Counts]:
        """Return the `Counts` of the tokens of each label; labels are sorted."""
        gold: Counter[str] = Counter()
        predicted: Counter[str] = Counter()
        for (a, b), count in self.counts.items():
            gold[a] += count
            predicted[b] += count
        return {
            label: Counts(gold[label], predicted[label], self.counts.get((label, label), 0)) for label in self.labels
        }

    def table(self) -> list[list[int]]:
        """Return the counts as a square table: a row per gold label, a column per predicted label, as in `labels`."""
        labels = self.labels
        return [[self.counts.get((gold, predicted), 0) for predicted in labels] for gold in labels]


# ---------------------------------------------------------------- phrases

BEGINS = {("B", "B"), ("I", "B"), ("O", "B"), ("E", "B"), ("O", "I"), ("E", "I"), ("E", "E"), ("O", "E")}
ENDS = {("B", "B"), ("B", "O"), ("I", "B"), ("I", "O"), ("E", "E"), ("E", "I"), ("E", "O"), ("E", "B")}
PHRASE_LABEL = re.compile(r"O|[BIES](-.+)?", re.DOTALL)

Labels = Iterable[Sequence[str]]


class PhraseScores(NamedTuple):
    """The scores that conlleval prints; `str` of it is conlleval's text.

    Attributes
    ----------
    tokens, right_tokens : int
        All tokens, and those with the right label.
    total : Counts
        The phrases of all types.
    by_type : dict of str to Counts
        The phrases of each type, sorted by type.

    Examples
    --------
    >>> scores = evaluate_phrases([["B-NP", "I-NP", "O"]], [["B-NP", "O", "O"]])
    >>> print(scores)
    processed 3 tokens with 1 phrases; found: 1 phrases; correct: 0.
    accuracy:  66.67%; precision:   0.00%; recall:   0.00%; FB1:   0.00
                   NP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
    """

    tokens: int
    right_tokens: int
    total: Counts
    by_type: dict[str, Counts]

    def __str__(self) -> str:
        total = self.total
        lines = [
            f"processed {self.tokens} tokens with {total.gold} phrases; "
            f"found: {total.predicted} phrases; correct: {total.correct}.",
            f"accuracy: {100 * self.right_tokens / max(self.tokens, 1):6.2f}%; {scores(total)}",
        ]
        for name, counts in sorted(self.by_type.items()):
            lines.append(f"{escaped(name):>17}: {scores(counts)}  {counts.predicted}")
        return "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and scores of all phrases and of each type, ready for JSON."""
        return {
            **self.total.as_dict(),
            "by_type": {kind: counts.as_dict() for kind, counts in self.by_type.items()},
        }


def scores(counts: Counts) -> str:
    return (
        f"precision: {100 * counts.precision:6.2f}%; recall: {100 * counts.recall:6.2f}%; FB1: {100 * counts.f1:6.2f}"
    )


def phrases(labels: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return the phrases of one sentence as (type, first token, token after the last).

    Examples
    --------
    >>> phrases(["B-NP", "I-NP", "O", "I-VP", "I-NP"])
    [('NP', 0, 2), ('VP', 3, 4), ('NP', 4, 5)]
    """
    spans = []
    begin, previous, previous_type = -1, "O", ""
    for k, label in enumerate([*labels, "O"]):
        prefix, _, kind = label.partition("-")
        single = prefix == "S"
        prefix = "B" if single else prefix
        changed = kind != previous_type
        if begin >= 0 and ((previous, prefix) in ENDS or (previous != "O" and changed)):
            spans.append((previous_type, begin, k))
            begin = -1
        if (previous, prefix) in BEGINS or (prefix not in ("O", ".") and changed):
            begin = k
        if single:
            spans.append((kind, k, k + 1))
            begin, prefix, kind = -1, "O", ""
        previous, previous_type = prefix, kind
    return spans


def evaluate_phrases(gold: Labels, predicted: Labels) -> PhraseScores:
    """Return precision, recall and F1 of phrases, as conlleval computes them.

    Parameters
    ----------
    gold, predicted : iterable of list of str
        The labels of each sentence, in IOB1, IOB2, IOE or BIOES.

    Returns
    -------
    PhraseScores

    Examples
    --------
    >>> scores = evaluate_phrases([["B-NP", "I-NP", "O"], ["B-NP"]], [["B-NP", "O", "O"], ["B-NP"]])
    >>> scores.total, scores.total.f1
    (Counts(gold=2, predicted=2, correct=1), 0.5)
    """
    tokens = right = 0
    in_gold: Counter[str] = Counter()
    in_predicted: Counter[str] = Counter()
    in_both: Counter[str] = Counter()
    for a, b in paired(gold, predicted):
        tokens += len(a)
        right += sum(x == y for x, y in zip(a, b, strict=True))
        gold_phrases, predicted_phrases = phrases(a), phrases(b)
        in_gold.update(kind for kind, _, _ in gold_phrases)
        in_predicted.update(kind for kind, _, _ in predicted_phrases)
        in_both.update(kind for kind, _, _ in set(gold_phrases) & set(predicted_phrases))
    kinds = sorted({*in_gold, *in_predicted})
    by_type = {kind: Counts(in_gold[kind], in_predicted[kind], in_both[kind]) for kind in kinds}
    total = Counts(in_gold.total(), in_predicted.total(), in_both.total())
    return PhraseScores(tokens, right, total, by_type)


def token_accuracy(gold: Labels, predicted: Labels) -> float:
    """Return the share of tokens with the right label; 1 if there is no token.

    Parameters
    ----------
    gold, predicted : iterable of list of str
        The labels of each sentence.

    Examples
    --------
    >>> token_accuracy([["N", "V"], ["N"]], [["N", "N"], ["N"]])
    0.6666666666666666
    """
    right = [x == y for a, b in paired(gold, predicted) for x, y in zip(a, b, strict=True)]
    return sum(right) / len(right) if right else 1.0


def paired(gold: Labels, predicted: Labels) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Return the gold and the predicted labels of each sentence; raise InputError if their numbers differ."""
    gold, predicted = list(gold), list(predicted)
    if len(gold) != len(predicted):
        raise InputError(f"{len(gold)} sentences with gold labels and {len(predicted)} with predicted ones")
    for number, (a, b) in enumerate(zip(gold, predicted, strict=True)):
        if len(a) != len(b):
            raise InputError(f"sentence {number} has {len(a)} gold labels and {len(b)} predicted ones")
    return list(zip(gold, predicted, strict=True))


def is_phrase_label(label: str) -> bool:
    """Return whether conlleval knows the label: O, or B, I, E or S, alone or with a type.

    Examples
    --------
    >>> [is_phrase_label(label) for label in ("O", "B-NP", "S", "NOUN", "L-NP")]
    [True, True, True, False, False]
    """
    return PHRASE_LABEL.fullmatch(label) is not None


def look_like_phrases(gold: Labels, predicted: Labels = ()) -> bool:
    """Return whether all gold labels are phrase labels, and some gold or predicted label begins a phrase."""
    in_gold = {label for sentence in gold for label in sentence}
    in_predicted = {label for sentence in predicted for label in sentence}
    has_phrase = any(label != "O" and is_phrase_label(label) for label in in_gold | in_predicted)
    return has_phrase and all(map(is_phrase_label, in_gold))
