"""Owns `swvp evaluate --trees`: the scores of predicted trees, and of two predictions against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from swvp.cli.streams import tell
from swvp.errors import InputError

__all__ = ["evaluate_tree_files"]


def evaluate_tree_files(
    gold: Path,
    predicted: Path | None,
    compare: Path | None,
    *,
    confusion: int,
    samples: int,
    seed: int,
    json_file: Path | None,
    encoding: str,
) -> None:
    """Score the trees of files in CoNLL-U or CoNLL-X."""
    from swvp.evaluation.trees import compare_trees, evaluate_trees
    from swvp.parsing.treebank import Treebank, read_treebank

    if predicted is None:
        raise InputError(f"trees need two files: {gold} PREDICTED --trees")

    def read(path: Path) -> Treebank:
        treebank = read_treebank(path, encoding=encoding, heads=True)
        several = treebank.several_roots
        if several:
            what = "sentence has" if several == 1 else "sentences have"
            tell(f"swvp: note: {path}: {several:,} {what} several roots")
        return treebank

    trees, found = read(gold), read(predicted)
    scores = evaluate_trees(trees, found)
    if scores.all.labels == 0:
        tell("swvp: note: no label is right: do both files have labels, of the same kind?")
    results: dict[str, Any] = {"gold": str(gold), "predicted": str(predicted), "scores": scores.as_dict()}
    against = None
    if compare is not None:
        other = read(compare)
        other_scores = evaluate_trees(trees, other)
        comparisons = [
            compare_trees(trees, found, other, measure=measure, samples=samples, seed=seed)
            for measure in ("uas", "las")
        ]
        results |= {
            "other": str(compare),
            "other_scores": other_scores.as_dict(),
            "comparison": {comparison.measure: comparison.as_dict() for comparison in comparisons},
        }
        against = (str(predicted), str(compare)), scores, other_scores, comparisons

    from swvp.cli.output import new_console, write_json

    if write_json(json_file, results):
        return

    from swvp.cli.score_tables import print_confusions, print_tree_comparison, print_trees

    console = new_console()
    print_trees(console, scores)
    if confusion and scores.confusion is not None:
        print_confusions(console, scores.confusion, confusion)
    if against is not None:
        print_tree_comparison(console, *against)
