"""Tables of the scores of labels and of trees in the terminal, at most 60 columns wide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from swvp.errors import escaped
from swvp.evaluation.counts import Confusion, Counts
from swvp.evaluation.paired import Comparison
from swvp.evaluation.raw_text import RawScores
from swvp.evaluation.tags import TagScores
from swvp.evaluation.tree_scores import Row, TreeScores, percent

__all__ = ["print_comparison", "print_confusions", "print_raw", "print_scores", "print_tree_comparison", "print_trees"]

if TYPE_CHECKING:
    from swvp.evaluation.paired import Comparison  # needs NumPy, the other scores do not


def print_scores(console: Console, scores: TagScores) -> None:
    """Print conlleval's text for phrases, the accuracies and, for labels that are no phrases, a row for each."""
    if scores.phrases is not None:
        console.print(str(scores.phrases), soft_wrap=True)
        console.print()
    rows = [(name, f"{share.right:,}", f"{share.total:,}", share.percent()) for name, share in scores.shares()]
    console.print(table(["accuracy", "correct", "of", "%"], rows))
    if scores.phrases is None:
        console.print()
        print_labels(console, scores.by_label)


def print_labels(console: Console, labels: dict[str, Counts]) -> None:
    """Print the scores of labels, those with the most gold tokens first."""
    frequent = sorted(labels.items(), key=lambda item: (-item[1].gold, item[0]))
    rows = [
        (name, *(f"{100 * share:.2f}" for share in (counts.precision, counts.recall, counts.f1)), f"{counts.gold:,}")
        for name, counts in frequent
    ]
    console.print(table(["label", "precision", "recall", "F1", "gold"], rows))


def print_confusions(console: Console, confusion: Confusion, most: int) -> None:
    """Print the most frequent confusions, with their share of all wrong tokens."""
    rows = confusion.confusions()
    wrong = sum(count for _, _, count in rows)
    console.print()
    if not rows:
        console.print("No label is wrong.")
        return
    shown = [(gold, predicted, f"{n:,}", f"{100 * n / wrong:.1f}") for gold, predicted, n in rows[:most]]
    console.print(table(["gold", "predicted", "tokens", "% of wrong"], shown, texts=2))
    if len(rows) > most:
        console.print(f"and {len(rows) - most:,} more", style="dim")


def print_comparison(
    console: Console, names: tuple[str, str], first: TagScores, second: TagScores, comparison: Comparison
) -> None:
    """Print two predictions side by side, and the tests of their difference."""
    console.print()
    for which, name in zip(("first", "second"), names, strict=True):
        console.print(f"{which}: {name}", soft_wrap=True)
    pairs = [(name, a.value, b.value) for (name, a), (_, b) in zip(first.shares(), second.shares(), strict=True)]
    if first.phrases is not None and second.phrases is not None:
        pairs.insert(0, ("phrase F1", first.phrases.total.f1, second.phrases.total.f1))
    rows = [(name, f"{100 * a:.2f}", f"{100 * b:.2f}", f"{100 * (b - a):+.2f}") for name, a, b in pairs]
    console.print(table(["%", "first", "second", "second - first"], rows))
    console.print()
    console.print(comparison.name, style="bold")
    console.print(table(["", ""], comparison.rows()[2:], header=False))
    console.print(
        f"Two-sided, {comparison.samples:,} samples of {comparison.sentences:,} sentences, seed {comparison.seed}.",
        style="dim",
    )


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1, header: bool = True) -> Table:
    """A table whose first `texts` columns are texts, wrapped if they are too long; the others are numbers."""
    result = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold", show_header=header)
    for k, heading in enumerate(headings):
        text = k < texts
        result.add_column(Text(heading), justify="left" if text else "right", no_wrap=not text, overflow="fold")
    for row in rows:
        result.add_row(*(Text(escaped(cell)) for cell in row))
    return result


MOST_LABELS = 15
SCORERS = (
    "All tokens: as eval07.pl and eval.pl -p. No punctuation, by form: as eval.pl and eval07.pl -p (forms of Unicode "
    "punctuation only)."
)
UD_SCORERS = " Labels without subtypes, and CLAS: as conll18_ud_eval.py."


def print_trees(console: Console, scores: TreeScores) -> None:
    """Print the scores of all tokens, of whole trees, and of groups of tokens."""
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
    console.print(table(["% of trees without error", "heads", "heads and labels", "trees"], exact))
    for name, groups in scores.tables():
        console.print()
        print_rows(console, name, groups)


def print_rows(console: Console, name: str, rows: Sequence[Row]) -> None:
    """Print a table of groups; of labels only those with the most errors."""
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
    """Print two predictions side by side, and the tests of their differences."""
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


def print_raw(console: Console, scores: RawScores) -> None:
    """Print the measures of an analysis of raw text."""
    console.print(table(["%", "precision", "recall", "F1", "aligned"], scores.rows()))
    console.print("As conll18_ud_eval.py. Aligned: accuracy of the words that are aligned.", style="dim")
