"""Owns the tables of a predicted treebank's scores in the terminal, narrow enough for 60 columns."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from swvp.parsing.scores import Row, TreeScores, percent
from swvp.report.scores import table
from swvp.scoring.paired import Comparison

__all__ = ["print_tree_comparison", "print_trees"]

MOST_LABELS = 15
SCORERS = (
    "All tokens: as eval07.pl and eval.pl -p. No punctuation, by form: as eval.pl and eval07.pl -p (forms of Unicode "
    "punctuation only)."
)
UD_SCORERS = " Labels without subtypes, and CLAS: as conll18_ud_eval.py."


def print_trees(console: Console, scores: TreeScores) -> None:
    """The scores of all tokens, of whole trees, and of groups of tokens."""
    rows = [
        (name, percent(one.uas), percent(one.las), percent(one.label_accuracy), f"{one.tokens:,}")
        for name, one in scores.attachments()
    ]
    if scores.clas is not None:
        rows.append(("content words, CLAS", "", percent(scores.clas.f1), "", f"{scores.clas.gold:,}"))
    console.print(table(["%", "UAS", "LAS", "label", "tokens"], rows))
    console.print(SCORERS + (UD_SCORERS if scores.clas is not None else ""), style="dim")
    console.print()
    exact = [
        (name, percent(one.exact_uas), percent(one.exact_las), f"{one.sentences:,}")
        for name, one in scores.attachments()
    ]
    console.print(table(["% of trees all right", "heads", "and labels", "trees"], exact))
    for name, groups in scores.tables():
        console.print()
        print_rows(console, name, groups)


def print_rows(console: Console, name: str, rows: Sequence[Row]) -> None:
    """A table of groups; of labels only the worst."""
    most = MOST_LABELS if name == "label" else len(rows)
    precise = any(row.precision is not None for row in rows)
    headings = [name, "UAS", "LAS", *["precision"] * precise, "gold", "wrong"]
    lines = []
    for row in rows[:most]:
        precision = [percent(row.precision)] if precise else []
        lines.append([row.name, percent(row.uas), percent(row.las), *precision, f"{row.gold:,}", f"{row.wrong:,}"])
    console.print(table(headings, lines))
    if len(rows) > most:
        console.print(f"and {len(rows) - most:,} more: --json has all", style="dim")


def print_tree_comparison(
    console: Console,
    names: tuple[str, str],
    first: TreeScores,
    second: TreeScores,
    comparisons: Sequence[Comparison],
) -> None:
    """Two predictions side by side, and the tests of their differences."""
    console.print()
    for which, name in zip(("first", "second"), names, strict=True):
        console.print(f"{which}: {name}", soft_wrap=True)
    pairs = [
        (f"{measure}, {name}", getattr(a, measure.lower()), getattr(b, measure.lower()))
        for (name, a), (_, b) in zip(first.attachments(), second.attachments(), strict=True)
        for measure in ("UAS", "LAS")
        if not (measure == "UAS" and a is first.universal)
    ]
    rows = [
        (name, percent(a), percent(b), f"{100 * (b - a):+.2f}")
        for name, a, b in pairs
        if a is not None and b is not None
    ]
    console.print(table(["%", "first", "second", "difference"], rows))
    for comparison in comparisons:
        console.print()
        console.print(f"{comparison.name}, all tokens", style="bold")
        console.print(table(["", ""], comparison.rows()[2:], header=False))
    console.print(
        f"Two-sided, {comparisons[0].samples:,} samples of {comparisons[0].sentences:,} sentences, "
        f"seed {comparisons[0].seed}.",
        style="dim",
    )
