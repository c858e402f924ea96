"""Owns what scores of trees are counted in: tokens with the right head and label, of all tokens and of groups."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Attachment", "Bools", "Group", "attachment", "groups"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def share(right: int | None, total: int) -> float | None:
    """right / total; 1 if there is nothing to get wrong, None if it was not counted."""
    if right is None:
        return None
    return right / total if total else 1.0


class Attachment(NamedTuple):
    """The tokens that are scored, and those of them with the right head, the right label, both.

    `sentences` have a scored token; `exact_heads` of them have only right heads, `exact_both` only right heads and
    labels. What is about labels is None if there are none.
    """

    tokens: int
    heads: int
    labels: int | None
    both: int | None
    sentences: int
    exact_heads: int
    exact_both: int | None

    @property
    def uas(self) -> float:
        """Unlabelled attachment score: the share of tokens with the right head."""
        return share(self.heads, self.tokens) or 0.0

    @property
    def las(self) -> float | None:
        """Labelled attachment score: the share of tokens with the right head and the right label."""
        return share(self.both, self.tokens)

    @property
    def label_accuracy(self) -> float | None:
        """The share of tokens with the right label, whatever their head."""
        return share(self.labels, self.tokens)

    @property
    def exact_uas(self) -> float:
        """The share of sentences with only right heads."""
        return share(self.exact_heads, self.sentences) or 0.0

    @property
    def exact_las(self) -> float | None:
        """The share of sentences with only right heads and labels."""
        return share(self.exact_both, self.sentences)

    def as_dict(self) -> dict[str, Any]:
        """The counts and the shares made of them."""
        shares = ("uas", "las", "label_accuracy", "exact_uas", "exact_las")
        return {**self._asdict(), **{name: getattr(self, name) for name in shares}}


class Group(NamedTuple):
    """Tokens of a kind: in the gold trees, in the prediction, and the gold ones with the right head, and label too.

    Shares of nothing are None.
    """

    gold: int
    predicted: int
    heads: int
    both: int | None

    @property
    def uas(self) -> float | None:
        return share(self.heads, self.gold) if self.gold else None

    @property
    def las(self) -> float | None:
        return share(self.both, self.gold) if self.gold else None

    @property
    def precision(self) -> float | None:
        """The share of predicted tokens of the kind with the right head, if these are of the kind in gold too."""
        return share(self.heads, self.predicted) if self.predicted else None

    @property
    def labelled_precision(self) -> float | None:
        """The same, with the right label too."""
        return share(self.both, self.predicted) if self.predicted else None

    @property
    def wrong(self) -> int:
        """The gold tokens that are not right in everything there is."""
        return self.gold - (self.heads if self.both is None else self.both)

    def as_dict(self) -> dict[str, Any]:
        """The counts and the shares made of them."""
        return {**self._asdict(), "uas": self.uas, "las": self.las}


def attachment(offsets: Ints, scored: Bools | None, heads: Bools, labels: Bools | None) -> Attachment:
    """Count the tokens that are `scored` (all if None), given those with the right head and the right label."""
    scored = np.ones(len(heads), np.bool_) if scored is None else scored
    both = None if labels is None else heads & labels
    begins = offsets[:-1]

    def count(right: Bools | None) -> int | None:
        return None if right is None else int(np.count_nonzero(right & scored))

    def exact(right: Bools | None) -> int | None:
        if right is None:
            return None
        return int(np.count_nonzero(np.logical_and.reduceat(right | ~scored, begins) & has_scored))

    has_scored = np.logical_or.reduceat(scored, begins)
    tokens, sentences = int(np.count_nonzero(scored)), int(np.count_nonzero(has_scored))
    return Attachment(tokens, count(heads) or 0, count(labels), count(both), sentences, exact(heads) or 0, exact(both))


def groups(names: list[str], gold: Ints, predicted: Ints, heads: Bools, both: Bools | None) -> dict[str, Group]:
    """The groups that occur; `gold` and `predicted` say which one each token is in, -1 for none."""
    size = len(names)

    def counts(which: Ints) -> list[int]:
        result: list[int] = np.bincount(which[which >= 0], minlength=size).tolist()
        return result

    in_gold, in_predicted, right = counts(gold), counts(predicted), counts(gold[heads])
    right_both = None if both is None else counts(gold[both])
    return {
        name: Group(in_gold[k], in_predicted[k], right[k], None if right_both is None else right_both[k])
        for k, name in enumerate(names)
        if in_gold[k] or in_predicted[k]
    }
