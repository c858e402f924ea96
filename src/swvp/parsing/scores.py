"""Owns all scores of predicted trees as one object; what is counted is said in `evaluate.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from swvp.parsing.attachment import Attachment, Group
from swvp.scoring.confusion import Confusion
from swvp.scoring.counts import Counts
from swvp.scoring.html import html_table

__all__ = ["Row", "TreeScores", "percent"]


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
