"""The command `swvp evaluate`: scores of predicted labels or trees, and tests of the difference of two predictions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swvp.cli.options import MAX_BYTES, Encoding, LoadExtensions, MaxBytes, NotProse, load_python, takes_options
from swvp.cli.terminal import print_message
from swvp.errors import InputError, unknown_name

if TYPE_CHECKING:
    from swvp.evaluation.tags import TagScores
    from swvp.io.treebank import Treebank
    from swvp.tagging.files import Labelled

__all__ = ["EXAMPLES", "evaluate"]

EXAMPLES = """
Files have one token per line and an empty line after each sentence. They may
be compressed (.gz), and one of them may be - (standard input).

Examples:

  swvp evaluate gold.txt predicted.txt --train train.txt --confusion 10

  swvp evaluate output.txt  (its last two columns: gold and predicted labels)

  swvp evaluate gold.conllu predicted.conllu --target feats --json scores.json

  swvp evaluate gold.txt predicted.txt --compare other.txt

  swvp evaluate gold.conllu predicted.conllu --trees --compare other.conllu

  swvp evaluate gold.conllu system.conllu --raw
"""

TREE_TARGETS = ("head", "heads", "tree", "trees", "uas", "las")


@dataclass(kw_only=True)
class EvaluateOptions:
    """The options of `swvp evaluate`."""

    gold: Annotated[
        Path,
        typer.Argument(
            help="File with the gold labels; without PREDICTED, a column file with gold and predicted labels last.",
            metavar="GOLD",
        ),
    ]
    predicted: Annotated[
        Path | None,
        typer.Argument(help="File with the same tokens and the predicted labels.", metavar="PREDICTED"),
    ] = None
    compare: Annotated[
        Path | None,
        typer.Option(help="Second prediction: test whether the scores differ significantly.", metavar="OTHER"),
    ] = None
    column: Annotated[
        int | None,
        typer.Option(help="Number of the label column, from 0; negative from the end.", show_default="-1, the last"),
    ] = None
    target: Annotated[
        str | None,
        typer.Option(help="Label column of CoNLL-U: upos, xpos, feats, deprel.", show_default="upos if CoNLL-U"),
    ] = None
    trees: Annotated[
        bool,
        typer.Option("--trees", help="Score dependency trees in CoNLL-U or CoNLL-X."),
    ] = False
    raw: Annotated[
        bool,
        typer.Option(
            "--raw",
            help="Score an analysis of raw text in CoNLL-U, from tokens to trees: its tokens and sentences may differ.",
        ),
    ] = False
    train: Annotated[
        Path | None, typer.Option(help="Training file: known and unknown words are also scored separately.")
    ] = None
    phrases: Annotated[
        bool | None,
        typer.Option(
            "--phrases/--no-phrases", help="Score phrases as conlleval does.", show_default="if labels are B-, I-, O"
        ),
    ] = None
    confusion: Annotated[int, typer.Option(help="Show the N most frequent confusions.", metavar="N")] = 0
    samples: Annotated[int, typer.Option(help="Random samples for each test of --compare.", metavar="N")] = 10_000
    seed: Annotated[int, typer.Option(help="Seed of the random samples.", metavar="N")] = 0
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Write all results to this file; -: print them instead of tables.", metavar="FILE"),
    ] = None
    encoding: Encoding = "utf-8"
    max_bytes: MaxBytes = MAX_BYTES
    not_prose: NotProse = False
    load: LoadExtensions = None


@takes_options
def evaluate(given: EvaluateOptions) -> None:
    """Score predicted labels or dependency trees; compare two predictions.

    Labels: accuracy, scores of each label, and of phrases as in conlleval.

    Trees: UAS and LAS as in the CoNLL scorers, with and without punctuation,
    by label, length and more.

    Raw text: tokens, sentences, tags, lemmas and trees as in CoNLL 2018.
    """
    from swvp.io.table import check_encoding
    from swvp.training.run import check_separate

    files = [path for path in (given.gold, given.predicted, given.compare, given.train) if path is not None]
    if [str(path) for path in files].count("-") > 1:
        raise InputError("only one file can be - (standard input)")
    if given.confusion < 0:
        raise InputError(f"--confusion must be at least 0, not {given.confusion}")
    if given.samples < 1:
        raise InputError(f"samples must be at least 1, not {given.samples}")
    inputs = {"GOLD": given.gold, "PREDICTED": given.predicted, "--compare": given.compare}
    check_separate({"--json": given.json_file}, inputs | {"--train": given.train, "--load": given.load})
    check_encoding(given.encoding)
    if given.load is not None:
        load_python(given.load)
    if given.raw:
        check_unused(given, "--raw", {"--trees": given.trees or None, "--compare": given.compare})
        evaluate_raw(given)
    elif given.trees:
        check_unused(given, "--trees", {})
        evaluate_trees(given)
    else:
        evaluate_labels(given, files)


def check_unused(given: EvaluateOptions, flag: str, others: dict[str, Any]) -> None:
    """Raise InputError if an option for labels, or one of some others, is given together with a flag."""
    labels = {
        "--column": given.column,
        "--target": given.target,
        "--train": given.train,
        "--phrases": given.phrases,
    }
    for name, value in labels.items():
        if value is not None:
            raise InputError(f"{name} is for labels: it cannot be used with {flag}")
    for name, value in others.items():
        if value is not None:
            raise InputError(f"{name} cannot be used with {flag}")


# ---------------------------------------------------------------- labels


def evaluate_labels(given: EvaluateOptions, files: list[Path]) -> None:
    """Print the scores of labels, or write them."""
    from swvp.cli.terminal import new_console, write_json
    from swvp.evaluation.tags import compare_tags, evaluate_tags
    from swvp.io.table import is_conllu
    from swvp.tagging.files import check_same_tokens

    check_target(given)
    read = LabelReader(given, any(map(is_conllu, files)))
    tokens, gold_labels, first = read.gold_and_predicted()
    known = None if given.train is None else {word for sentence in read(given.train).words for word in sentence}
    scores = evaluate_tags(gold_labels, first, words=tokens.words, known=known, phrases=given.phrases)
    for note in strange_labels(scores):
        print_message(f"note: {note}")
    unchanged = given.target is None and given.predicted not in (None, given.gold) and scores.accuracy == 1
    if unchanged and is_conllu(given.gold):
        print_message("note: these are scores of UPOS, the same in both files; --trees scores trees")
    predicted = str(given.predicted or given.gold)
    results: dict[str, Any] = {"gold": str(given.gold), "predicted": predicted, "scores": scores.as_dict()}
    against = None
    if given.compare is not None:
        other = read(given.compare, given.column)
        check_same_tokens(given.gold, tokens, given.compare, other)
        (second,) = other.labels
        phrases = scores.phrases is not None
        other_scores = evaluate_tags(gold_labels, second, words=tokens.words, known=known, phrases=phrases)
        measure = "f1" if phrases else "accuracy"
        comparison = compare_tags(gold_labels, first, second, measure=measure, samples=given.samples, seed=given.seed)
        results |= {
            "other": str(given.compare),
            "other_scores": other_scores.as_dict(),
            "comparison": comparison.as_dict(),
        }
        against = (predicted, str(given.compare)), scores, other_scores, comparison
    if write_json(given.json_file, results):
        return

    from swvp.cli.score_tables import print_comparison, print_confusions, print_scores

    console = new_console()
    print_scores(console, scores)
    if given.confusion:
        print_confusions(console, scores.confusion, given.confusion)
    if against is not None:
        print_comparison(console, *against)


def check_target(given: EvaluateOptions) -> None:
    """Raise InputError if the column of the labels is given wrongly."""
    from swvp.tagging.files import TARGETS

    if given.target in TREE_TARGETS:
        raise InputError(f"trees are scored with --trees, not with --target {given.target}")
    if given.target is not None and given.target not in TARGETS:
        raise unknown_name("target", given.target, TARGETS)
    if given.target is not None and given.column is not None:
        raise InputError("--column and --target exclude each other")


class LabelReader:
    """Reads files of labels with the options of a command."""

    def __init__(self, given: EvaluateOptions, any_conllu: bool):
        self.given, self.any_conllu = given, any_conllu

    def __call__(self, path: Path, *columns: int | str | None) -> Labelled:
        """Read a file with these columns as labels; None stands for the default column."""
        from swvp.io.files import is_conllu, looks_like_conllu
        from swvp.tagging.files import read_labelled

        given = self.given
        conllu = given.target is not None or is_conllu(path)
        if self.any_conllu and not conllu:  # the other file has that name
            conllu = str(path) == "-" or looks_like_conllu(path)
        default: int | str = (given.target or "upos") if conllu else -1
        chosen = [default if number is None else number for number in columns]
        check_prose = given.column is None and not given.not_prose
        return read_labelled(path, *chosen, encoding=given.encoding, conllu=conllu, check_prose=check_prose)

    def gold_and_predicted(self) -> tuple[Labelled, list[list[str]], list[list[str]]]:
        """The tokens, their gold labels and their predicted labels: from two files, or from one with both."""
        from swvp.io.table import is_conllu
        from swvp.tagging.files import check_same_tokens

        given = self.given
        if given.predicted is None:
            if given.column is not None or given.target is not None or is_conllu(given.gold):
                raise InputError(
                    f"{given.gold} alone must be a column file with both labels last; give two files: GOLD PREDICTED"
                )
            word = [-3] if given.train is not None or given.compare is not None else []  # words before the labels
            tokens = self(given.gold, *word, -2, -1)
            gold_labels, predicted_labels = tokens.labels[-2:]
            return tokens, gold_labels, predicted_labels
        tokens, other = self(given.gold, given.column), self(given.predicted, given.column)
        check_same_tokens(given.gold, tokens, given.predicted, other)
        return tokens, tokens.labels[0], other.labels[0]


def strange_labels(scores: TagScores) -> Iterator[str]:
    """Notes on labels: some that conlleval does not know, no predicted one among the gold ones."""
    from swvp.evaluation.counts import is_phrase_label

    strange = [label for label in scores.confusion.labels if not is_phrase_label(label)]
    if scores.phrases is not None and strange:
        yield f"phrases have labels O, B-, I-, E- and S-; '{strange[0]}' is none of them"
    labels = scores.by_label.values()
    if not any(counts.gold and counts.predicted for counts in labels):
        yield "no predicted label is among the gold ones: is the column the right one?"


# ---------------------------------------------------------------- trees


def evaluate_trees(given: EvaluateOptions) -> None:
    """Print the scores of trees, or write them."""
    from swvp.cli.terminal import new_console, write_json
    from swvp.evaluation import trees as scorer

    if given.predicted is None:
        raise InputError(f"--trees needs a second file: swvp evaluate {given.gold} PREDICTED --trees")
    gold, first = read_trees(given.gold, given.encoding), read_trees(given.predicted, given.encoding)
    scores = scorer.evaluate_trees(gold, first)
    if scores.all.labels == 0:
        print_message("note: no label is right: do both files have labels, of the same kind?")
    results: dict[str, Any] = {
        "gold": str(given.gold),
        "predicted": str(given.predicted),
        "scores": scores.as_dict(),
    }
    against = None
    if given.compare is not None:
        second = read_trees(given.compare, given.encoding)
        other_scores = scorer.evaluate_trees(gold, second)
        comparisons = [
            scorer.compare_trees(gold, first, second, measure=measure, samples=given.samples, seed=given.seed)
            for measure in ("uas", "las")
        ]
        results |= {
            "other": str(given.compare),
            "other_scores": other_scores.as_dict(),
            "comparison": {comparison.measure: comparison.as_dict() for comparison in comparisons},
        }
        against = (str(given.predicted), str(given.compare)), scores, other_scores, comparisons
    if write_json(given.json_file, results):
        return

    from swvp.cli.score_tables import print_confusions, print_tree_comparison, print_trees

    console = new_console()
    print_trees(console, scores)
    if given.confusion and scores.confusion is not None:
        print_confusions(console, scores.confusion, given.confusion)
    if against is not None:
        print_tree_comparison(console, *against)


def read_trees(path: Path, encoding: str) -> Treebank:
    """Read a treebank with heads; a note says how many sentences have several roots."""
    from swvp.io.treebank import read_treebank

    treebank = read_treebank(path, encoding=encoding, heads=True)
    several = treebank.several_roots
    if several:
        sentences = "sentence has" if several == 1 else "sentences have"
        print_message(f"note: {path}: {several:,} {sentences} several roots")
    return treebank


# ---------------------------------------------------------------- raw text


def evaluate_raw(given: EvaluateOptions) -> None:
    """Print the measures of an analysis of raw text, or write them."""
    from swvp.cli.terminal import new_console, write_json
    from swvp.evaluation.raw_text import TREE_KEYS, evaluate_raw

    if given.predicted is None:
        raise InputError(f"--raw needs a second file: swvp evaluate {given.gold} PREDICTED --raw")
    gold, predicted = (read_analysis(path, given.encoding) for path in (given.gold, given.predicted))
    for treebank in (gold, predicted):
        if treebank.heads is None:
            print_message(f"note: {treebank.name} has no heads: {', '.join(TREE_KEYS)} are not scored")
    scores = evaluate_raw(gold, predicted)
    results = {"gold": str(given.gold), "predicted": str(given.predicted), "scores": scores.as_dict()}
    if write_json(given.json_file, results):
        return

    from swvp.cli.score_tables import print_raw

    print_raw(new_console(), scores)


def read_analysis(path: Path, encoding: str) -> Treebank:
    """Read a treebank, with heads if it has any."""
    from swvp.io.table import read_table
    from swvp.io.treebank import HEAD, WITHOUT_HEADS, treebank_of_table

    table = read_table(path, encoding=encoding, conllu=True, widths=WITHOUT_HEADS)
    heads = table.width > HEAD and table.column(HEAD).strings != ["_"]
    return treebank_of_table(table, heads=heads)
