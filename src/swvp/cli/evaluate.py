"""Owns `swvp evaluate`: the scores of predicted labels or trees, and of two predictions against each other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swvp.cli import options
from swvp.cli.streams import tell
from swvp.errors import InputError, unknown_name

if TYPE_CHECKING:
    from swvp.evaluation.tags import TagScores

__all__ = ["EXAMPLES", "evaluate"]

EXAMPLES = """
Files have one token a line and an empty line after each sentence; they may be .gz, and one may be - (standard input).

Examples:

  swvp evaluate gold.txt predicted.txt --train train.txt --confusion 10

  swvp evaluate output.txt  (gold labels in the last but one column, predicted ones in the last)

  swvp evaluate gold.conllu predicted.conllu --target feats --json scores.json

  swvp evaluate gold.txt predicted.txt --compare other.txt

  swvp evaluate gold.conllu predicted.conllu --trees --compare other.conllu
"""

TREE_TARGETS = ("head", "heads", "tree", "trees", "uas", "las")


def evaluate(
    gold: Annotated[Path, typer.Argument(help="File with the gold labels; with both if it is alone.", metavar="GOLD")],
    predicted: Annotated[
        Path | None,
        typer.Argument(help="File with the same tokens and the predicted labels.", metavar="PREDICTED"),
    ] = None,
    compare: Annotated[
        Path | None, typer.Option(help="Another prediction: is it better, by more than chance?", metavar="OTHER")
    ] = None,
    column: Annotated[
        int | None, typer.Option(help="Column of the labels: from 0, or from the end: -1.", show_default="the last")
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="The files are CoNLL-U: upos (as for names in .conllu), xpos, feats or deprel."),
    ] = None,
    trees: Annotated[
        bool,
        typer.Option("--trees", help="Score dependency trees of CoNLL-U or CoNLL-X, whatever the files' names."),
    ] = False,
    train: Annotated[
        Path | None, typer.Option(help="File with the known words: scores also of known and unknown ones.")
    ] = None,
    phrases: Annotated[
        bool | None,
        typer.Option("--phrases/--no-phrases", help="Score phrases as conlleval does.", show_default="if B-, I-, O"),
    ] = None,
    confusion: Annotated[int, typer.Option(help="Show this many of the most frequent confusions.", metavar="N")] = 0,
    samples: Annotated[int, typer.Option(help="Samples of each test of --compare.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Decides the samples.")] = 0,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write everything to this file; - writes only that, to the output.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of the files.")] = "utf-8",
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    not_prose: options.NotProse = False,
) -> None:
    """Score predicted labels (tokens, labels, phrases as conlleval does) or dependency trees; compare two predictions.

    Trees are scored as the CoNLL scorers do: UAS, LAS, with and without punctuation, by label, length and more.
    """
    from swvp.evaluation.tags import evaluate_tags
    from swvp.io.table import check_encoding, is_conllu
    from swvp.tagging.columns import TARGETS
    from swvp.tagging.labelled import Labelled, check_same_tokens, read_labelled

    files = [path for path in (gold, predicted, compare, train) if path is not None]
    if [str(path) for path in files].count("-") > 1:
        raise InputError("only one file can be - (standard input)")
    if confusion < 0:
        raise InputError(f"--confusion must be at least 0, not {confusion}")
    if samples < 1:
        raise InputError(f"samples must be at least 1, not {samples}")
    check_encoding(encoding)
    if trees:
        labels = {"--column": column, "--target": target, "--train": train, "--phrases": phrases}
        for name, value in labels.items():
            if value is not None:
                raise InputError(f"{name} is for labels: it cannot be used with --trees")
        from swvp.cli.tree_scores import evaluate_tree_files

        evaluate_tree_files(
            gold,
            predicted,
            compare,
            confusion=confusion,
            samples=samples,
            seed=seed,
            json_file=json_file,
            encoding=encoding,
        )
        return
    if target in TREE_TARGETS:
        raise InputError(f"trees are scored with --trees, not with --target {target}")
    if target is not None and target not in TARGETS:
        raise unknown_name("target", target, TARGETS)
    if target is not None and column is not None:
        raise InputError("--column and --target exclude each other")
    any_conllu = any(map(is_conllu, files))

    def read(path: Path, *columns: int | str | None) -> Labelled:
        conllu = target is not None or (any_conllu if str(path) == "-" else is_conllu(path))
        default: int | str = (target or "upos") if conllu else -1
        chosen = [default if number is None else number for number in columns]
        check = column is None and not not_prose
        return read_labelled(path, *chosen, encoding=encoding, conllu=conllu, check_prose=check)

    if predicted is None:
        if column is not None or target is not None or is_conllu(gold):
            raise InputError(
                f"{gold} alone must be a column file with both labels last; give two files: GOLD PREDICTED"
            )
        word = [-3] if train is not None or compare is not None else []  # there must be words before the labels
        tokens = read(gold, *word, -2, -1)
        gold_labels, first = tokens.labels[-2:]
    else:
        tokens, other = read(gold, column), read(predicted, column)
        check_same_tokens(gold, tokens, predicted, other)
        (gold_labels,), (first,) = tokens.labels, other.labels
    known = None if train is None else {word for sentence in read(train).words for word in sentence}

    scores = evaluate_tags(gold_labels, first, words=tokens.words, known=known, phrases=phrases)
    for note in strange_labels(scores):
        tell(f"swvp: {note}")
    if target is None and is_conllu(gold) and predicted not in (None, gold) and scores.accuracy == 1:
        tell("swvp: these are scores of UPOS, the same in both files; --trees scores trees")
    results: dict[str, Any] = {"gold": str(gold), "predicted": str(predicted or gold), "scores": scores.as_dict()}
    against = None
    if compare is not None:
        from swvp.evaluation.tags import compare_tags as compare_labels

        other = read(compare, column)
        check_same_tokens(gold, tokens, compare, other)
        (second,) = other.labels
        phrases = scores.phrases is not None
        other_scores = evaluate_tags(gold_labels, second, words=tokens.words, known=known, phrases=phrases)
        measure = "f1" if phrases else "accuracy"
        comparison = compare_labels(gold_labels, first, second, measure=measure, samples=samples, seed=seed)
        results |= {"other": str(compare), "other_scores": other_scores.as_dict(), "comparison": comparison.as_dict()}
        against = (str(predicted or gold), str(compare)), scores, other_scores, comparison

    from swvp.cli.output import new_console, write_json

    if write_json(json_file, results):
        return

    from swvp.cli.score_tables import print_comparison, print_confusions, print_scores

    console = new_console()
    print_scores(console, scores)
    if confusion:
        print_confusions(console, scores.confusion, confusion)
    if against is not None:
        print_comparison(console, *against)


def strange_labels(scores: TagScores) -> Iterator[str]:
    """What should be told about the labels: phrases of labels that conlleval does not know, nothing in common."""
    from swvp.evaluation.phrases import is_phrase_label

    strange = [label for label in scores.confusion.labels if not is_phrase_label(label)]
    if scores.phrases is not None and strange:
        yield f"phrases have labels O, B-, I-, E- and S-; '{strange[0]}' is none of them"
    labels = scores.by_label.values()
    if not any(counts.gold and counts.predicted for counts in labels):
        yield "no predicted label is among the gold ones: is the column the right one?"
