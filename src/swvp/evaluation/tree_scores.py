"""Results of scoring trees: tokens with the right head and label, of all tokens and of groups of tokens.

`swvp.evaluation.trees` computes them, and says which tokens each score counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp.evaluation.counts import Confusion, Counts
from swvp.tables import html_table

__all__ = ["Attachment", "Bools", "Group", "Row", "TreeScores", "attachment", "groups", "percent"]

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]


def share(right: int | None, total: int) -> float | None:
    """Return right / total; 1 if the total is 0, None if `right` was not counted."""
    if right is None:
        return None
    return right / total if total else 1.0


class Attachment(NamedTuple):
    """How many tokens have the right head, the right label, and both.

    Attributes
    ----------
    tokens : int
        The scored tokens.
    heads, labels, both : int
        Those with the right head, the right label, and both; None instead of counts of labels if there are no labels.
    sentences : int
        The sentences with at least one scored token.
    exact_heads, exact_both : int
        Those in which all heads, or all heads and labels, are right; `exact_both` is None if there are no labels.

    Examples
    --------
    >>> scores = Attachment(tokens=4, heads=3, labels=2, both=2, sentences=1, exact_heads=0, exact_both=0)
    >>> scores.uas, scores.las
    (0.75, 0.5)
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
        """The unlabelled attachment score, the share of tokens with the right head."""
        return share(self.heads, self.tokens) or 0.0

    @property
    def las(self) -> float | None:
        """The labelled attachment score, the share of tokens with the right head and the right label."""
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
        """Return the counts and the scores computed from them, ready for JSON."""
        shares = ("uas", "las", "label_accuracy", "exact_uas", "exact_las")
        return {**self._asdict(), **{name: getattr(self, name) for name in shares}}


class Group(NamedTuple):
    """The tokens of a kind, such as those with one label; scores of no tokens are None.

    Attributes
    ----------
    gold, predicted : int
        How many tokens are of the kind in the gold trees, and in the prediction.
    heads, both : int
        How many of the gold ones have the right head, and the right head and label; `both` is None without labels.

    Examples
    --------
    >>> group = Group(gold=4, predicted=2, heads=2, both=1)
    >>> group.uas, group.las, group.precision
    (0.5, 0.25, 1.0)
    """

    gold: int
    predicted: int
    heads: int
    both: int | None

    @property
    def uas(self) -> float | None:
        """The share of gold tokens with the right head."""
        return share(self.heads, self.gold) if self.gold else None

    @property
    def las(self) -> float | None:
        """The share of gold tokens with the right head and label."""
        return share(self.both, self.gold) if self.gold else None

    @property
    def precision(self) -> float | None:
        """The share of predicted tokens that are gold tokens with the right head."""
        return share(self.heads, self.predicted) if self.predicted else None

    @property
    def labelled_precision(self) -> float | None:
        """The share of predicted tokens that are gold tokens with the right head and label."""
        return share(self.both, self.predicted) if self.predicted else None

    @property
    def wrong(self) -> int:
        """How many gold tokens have a wrong head or label."""
        return self.gold - (self.heads if self.both is None else self.both)

    def as_dict(self) -> dict[str, Any]:
        """Return the counts and the scores computed from them, ready for JSON."""
        return {**self._asdict(), "uas": self.uas, "las": self.las}


def attachment(offsets: Ints, scored: Bools | None, heads: Bools, labels: Bools | None) -> Attachment:
    """Count right heads and labels among the `scored` tokens (all if None)."""
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
    """Return the groups that occur; `gold` and `predicted` hold the group of each token, -1 for none."""
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


class Row(NamedTuple):
    """A row of a table: the scores of a group of tokens.

    `precision` is that of heads in tables of arcs, and that of heads and labels in tables of labels; None where tokens
    are in the same group in gold trees and in the prediction.
    """

    name: str
    uas: float | None
    las: float | None
    precision: float | None
    gold: int
    wrong: int


@dataclass(frozen=True)
class TreeScores:
    """The scores that `evaluate_trees` computes; a notebook shows them as tables.

    Attributes
    ----------
    all : Attachment
        All tokens, labels with their subtypes.
    no_punctuation : Attachment
        Without tokens whose form is punctuation.
    no_punct : Attachment or None
        Without tokens whose gold UPOS is PUNCT; None if there is no such token.
    universal : Attachment or None
        Labels without subtypes; None if no label is a UD label of content words.
    clas : Counts or None
        CLAS, the F1 of content words; None in the same case as `universal`.
    roots : Counts
        The words attached to the root.
    by_direction, by_length : dict of str to Group
        Arcs by direction and by length; arcs from the root have no length.
    by_sentence_length : dict of str to Group
        Tokens by the length of their sentence.
    by_label, by_upos : dict of str to Group
        Tokens by label and by tag; the groups with the most wrong tokens come first.
    not_projective : dict of str to Group
        The arcs that are not projective in the gold trees ("gold"), and those in the prediction ("prediction").
    confusion : Confusion or None
        How often each gold label was predicted as each label; None without labels.

    Examples
    --------
    >>> from swvp.evaluation import evaluate_trees
    >>> from swvp.io import treebank_of
    >>> gold = treebank_of([["Ann", "left"]], heads=[[2, 0]])
    >>> evaluate_trees(gold, gold).roots
    Counts(gold=1, predicted=1, correct=1)
    """

    all: Attachment
    no_punctuation: Attachment
    no_punct: Attachment | None
    universal: Attachment | None
    clas: Counts | None
    roots: Counts
    by_direction: dict[str, Group] = field(repr=False)
    by_length: dict[str, Group] = field(repr=False)
    by_sentence_length: dict[str, Group] = field(repr=False)
    by_label: dict[str, Group] = field(repr=False)
    by_upos: dict[str, Group] = field(repr=False)
    not_projective: dict[str, Group] = field(repr=False)
    confusion: Confusion | None = field(repr=False)

    @property
    def uas(self) -> float:
        """The UAS of all tokens."""
        return self.all.uas

    @property
    def las(self) -> float | None:
        """The LAS of all tokens, labels with their subtypes."""
        return self.all.las

    def attachments(self) -> list[tuple[str, Attachment]]:
        """Return (name, attachment scores), without those that are None."""
        rows = [
            ("all tokens", self.all),
            ("labels without subtypes", self.universal),
            ("no punctuation, by form", self.no_punctuation),
            ("no punctuation, by UPOS", self.no_punct),
        ]
        return [(name, scores) for name, scores in rows if scores is not None]

    def tables(self) -> list[tuple[str, list[Row]]]:
        """Return (name of a table, its rows) of the groups that are not empty."""
        arcs = rows_of(self.by_direction, "precision")
        gold, predicted = self.not_projective["gold"], self.not_projective["prediction"]
        if gold.gold or predicted.gold:
            arcs.append(Row("not projective", gold.uas, gold.las, predicted.uas, gold.gold, gold.wrong))
        tables = [
            ("arc", arcs),
            ("length of the arc", rows_of(self.by_length, "precision")),
            ("length of the sentence", rows_of(self.by_sentence_length)),
            ("label", rows_of(self.by_label, "labelled_precision")),
            ("UPOS", rows_of(self.by_upos)),
        ]
        return [(name, rows) for name, rows in tables if rows]

    def as_dict(self) -> dict[str, Any]:
        """Return all scores, ready for JSON; `confusions` has the wrong pairs of labels, the most frequent first."""
        scores = {name: getattr(self, name) for name in ("all", "no_punctuation", "no_punct", "universal", "clas")}
        by_kind = ("direction", "length", "sentence_length", "label", "upos")
        tables = {f"by_{kind}": getattr(self, f"by_{kind}") for kind in by_kind}
        tables["not_projective"] = self.not_projective
        confusions = [] if self.confusion is None else self.confusion.confusions()
        return {
            **{name: None if one is None else one.as_dict() for name, one in scores.items()},
            "roots": self.roots.as_dict(),
            **{name: {key: group.as_dict() for key, group in table.items()} for name, table in tables.items()},
            "confusions": [{"gold": a, "predicted": b, "count": count} for a, b, count in confusions],
        }

    def _repr_html_(self) -> str:
        headings = ["", "UAS", "LAS", "label", "tokens", "trees, heads", "trees, labels too", "trees"]
        rows = [
            [
                name,
                *map(percent, (one.uas, one.las, one.label_accuracy)),
                str(one.tokens),
                *map(percent, (one.exact_uas, one.exact_las)),
                str(one.sentences),
            ]
            for name, one in self.attachments()
        ]
        tables = [html_table("Trees", headings, rows)]
        headings = ["UAS", "LAS", "precision", "gold", "wrong"]
        for name, lines in self.tables():
            cells = [[line.name, *map(percent, line[1:4]), str(line.gold), str(line.wrong)] for line in lines]
            tables.append(html_table(f"By {name}", [name, *headings], cells))
        return "".join(tables)


def rows_of(table: dict[str, Group], precision: str | None = None) -> list[Row]:
    """Return the rows of a table of groups; `precision` names the property of `Group` that they show."""
    return [
        Row(name, one.uas, one.las, getattr(one, precision) if precision else None, one.gold, one.wrong)
        for name, one in table.items()
    ]


def percent(share: float | None) -> str:
    """Return a share in percent with two digits; a dash for None."""
    return "–" if share is None else f"{100 * share:.2f}"
