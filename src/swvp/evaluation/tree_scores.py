"""Owns what scores of trees are counted in: tokens with the right head and label, of all tokens and of groups.

Owns all scores of predicted trees as one object; what is counted is said in `evaluate.py`.
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


class Row(NamedTuple):
    """A row of a table: UAS and LAS of the gold tokens of a kind; `precision` is of the predicted ones of that kind.

    The precision of arcs is that of their heads, the precision of a label that of head and label; None for tokens that
    are of the same kind in gold and prediction.
    """

    name: str
    uas: float | None
    las: float | None
    precision: float | None
    gold: int
    wrong: int


@dataclass(frozen=True)
class TreeScores:
    """What `evaluate_trees` finds; see above for what is scored.

    `no_punct` is None if no token has the UPOS PUNCT, `universal` and `clas` if no label is one of UD's content words.
    The groups are of all tokens, with whole labels: `by_direction` and `by_length` are of arcs, those from the root
    have no length. `by_label` and `by_upos` begin with the most wrong tokens. `not_projective` has two groups of arcs,
    those not projective in the gold trees (`gold`) and those in the prediction (`prediction`).
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
        """Of all tokens."""
        return self.all.uas

    @property
    def las(self) -> float | None:
        """Of all tokens, with whole labels."""
        return self.all.las

    def attachments(self) -> list[tuple[str, Attachment]]:
        """What there is of the scores, with their names."""
        rows = [
            ("all tokens", self.all),
            ("labels without subtypes", self.universal),
            ("no punctuation, by form", self.no_punctuation),
            ("no punctuation, by UPOS", self.no_punct),
        ]
        return [(name, scores) for name, scores in rows if scores is not None]

    def tables(self) -> list[tuple[str, list[Row]]]:
        """What tables show of the groups, with the names of the tables."""
        arcs = rows_of(self.by_direction, "precision")
        gold, found = self.not_projective["gold"], self.not_projective["prediction"]
        if gold.gold or found.gold:
            arcs.append(Row("not projective", gold.uas, gold.las, found.uas, gold.gold, gold.wrong))
        tables = [
            ("arc", arcs),
            ("length of the arc", rows_of(self.by_length, "precision")),
            ("length of the sentence", rows_of(self.by_sentence_length)),
            ("label", rows_of(self.by_label, "labelled_precision")),
            ("UPOS", rows_of(self.by_upos)),
        ]
        return [(name, rows) for name, rows in tables if rows]

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; `confusions` are the wrong pairs of labels, the most frequent first."""
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
    return [
        Row(name, one.uas, one.las, getattr(one, precision) if precision else None, one.gold, one.wrong)
        for name, one in table.items()
    ]


def percent(share: float | None) -> str:
    """A share in percent; a dash if there is none."""
    return "–" if share is None else f"{100 * share:.2f}"
