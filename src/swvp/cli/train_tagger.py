"""The command `swvp train tagger`: files in, a model file out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from swvp.cli.compiling import expect_kernels
from swvp.cli.options import NotProse, factors, names, settings_of, takes_options
from swvp.cli.train import (
    CourseOptions,
    FileOptions,
    ShardOptions,
    cluster_of,
    exit_when_stopped,
    note_tagger_options,
    of_features,
    of_learning,
    of_search,
    run_of,
    sharding_of,
    workers_of,
)
from swvp.errors import InputError, unknown_name

__all__ = ["EXAMPLES", "TaggerOptions", "tagger"]


@dataclass(kw_only=True)
class TaggerColumns(FileOptions):
    """The columns and features of a tagger, and its search."""

    column: Annotated[
        int | None,
        typer.Option(
            help="Column file: number of the label column, from 0; negative from the end.", show_default="-1, the last"
        ),
    ] = None
    target: Annotated[str | None, typer.Option(help="CoNLL-U: the column to learn: upos, xpos, feats or deprel.")] = (
        None
    )
    column_names: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="Columns that features use, such as word,pos. In column files these are names for the first columns.",
            show_default="all; CoNLL-U: word, for deprel word,pos",
        ),
    ] = None
    conllu: Annotated[bool, typer.Option("--conllu", help="The files are CoNLL-U, whatever their names.")] = False
    not_prose: NotProse = False
    features: Annotated[
        str | None,
        of_features(
            help="Preset (pos, chunk, ner) or file of templates, also in CRF++ format.",
            show_default="chosen from the labels and columns",
        ),
    ] = None
    minimum_count: Annotated[
        int,
        of_features(
            "--min-count", help="Drop attributes that occur fewer than N times in the training file.", metavar="N"
        ),
    ] = 1
    hashed: Annotated[
        int | None,
        of_features(help="Hash size: the number of values that attributes are hashed to.", show_default="no hashing"),
    ] = None
    clusters: Annotated[
        int | None,
        of_features(
            metavar="N",
            help="Learn N word clusters from the training file, and use them as features.",
            show_default="none; with --cluster-text: 256",
        ),
    ] = None
    cluster_text: Annotated[
        str | None,
        of_features(
            metavar="FILE",
            help="Learn the word clusters from this file too: one sentence per line, CoNLL-U, or a column file.",
        ),
    ] = None
    candidates: Annotated[
        int | None,
        of_search(
            metavar="K",
            help="Consider only the K best labels of each token, by the weights of its attributes; 0: all labels.",
            show_default="all if there are at most 100 labels, else 8",
        ),
    ] = None
    constraint: Annotated[
        str,
        of_features(
            help="Valid label sequences: iob1, iob2 (or bio), bioes, none; auto: chosen from the training labels."
        ),
    ] = "auto"
    order: Annotated[int, of_search(help="1: features of two labels in a row; 2: also of three.")] = 1
    beam: Annotated[int, of_search(help="Beam search with this number of hypotheses; 0: exact search.")] = 0
    fix: Annotated[
        str,
        of_search(
            help="With --beam: an update uses only the beginning of the sentence, up to the place that early, "
            "max-violation or latest chooses; none: the whole sentence."
        ),
    ] = "max-violation"
    rule: Annotated[
        str | None,
        of_learning(help="Update rule, see below.", show_default="softmax; --beam: a-wm:segments:sqrt"),
    ] = None
    margin: Annotated[
        float | None,
        of_learning(
            help="Score by which the gold labels must win in training, for each wrong label.",
            show_default="5 for softmax, 8 for the step ada, else 0",
        ),
    ] = None
    cost: Annotated[
        str | None,
        of_learning(
            metavar="LABEL=FACTOR,…",
            help="Factors of the margin, for a gold label or a pair GOLD>PREDICTED, such as B-PER=2,O>B-PER=0.5.",
            show_default="1 for all",
        ),
    ] = None
    l2: Annotated[float, of_learning(help="With rule crf: L2 regularisation, the factor of ‖w‖²/2.")] = 1.0


@dataclass(kw_only=True)
class TaggerOptions(ShardOptions, CourseOptions, TaggerColumns):
    """The options of `swvp train tagger`."""


EXAMPLES = """
A column file has one token per line, columns separated by tabs or spaces,
and an empty line after each sentence; the label is the last column.
Files named *.conllu are CoNLL-U. Files may be compressed (.gz).

Examples:

  swvp train tagger train.txt --dev dev.txt --model chunker.swvp

  swvp train tagger esp.train --encoding iso-8859-1 --model ner.swvp

  swvp train tagger train.txt --features my.txt --constraint none -m mine.swvp

  swvp train tagger train.conllu --target upos --dev dev.conllu -m pos.swvp

  swvp train tagger train.txt --dev dev.txt --tune --model best.swvp

Rules: csp (the structured perceptron), mira, mira:K (k-best MIRA),
softmax (softmax-margin, learns from mistakes), crf (a conditional random
field; --epochs are then iterations of L-BFGS), or SWVP:
APPROACH-GAMMA[:SUBSTRUCTURES][:STEP]. csp:ada has adaptive steps,
b-maxent:all:K mixes the labels of the K best outputs.
`swvp experiment synthetic --help` lists the parts.
"""


@takes_options
def tagger(given: TaggerOptions) -> None:
    """Train a tagger, chunker or named-entity recogniser.

    Prints the mistakes and, with --dev, the dev score of each epoch; * marks
    the best so far.

    Ctrl-C stops after the current epoch; the same command resumes.
    """
    from swvp.cli.progress import TrainingOutput
    from swvp.tagging.tagger import Tagger
    from swvp.tagging.train import TaggerFiles, read_features, train_tagger

    expect_kernels("train tagger")
    if given.target is not None and given.column is not None:
        raise InputError("--column and --target exclude each other")
    run, data = run_of(given, {"--features": given.features, "--cluster-text": given.cluster_text})
    files = TaggerFiles(
        label=given.column if given.target is None else given.target,
        columns=names(given.column_names),
        templates=given.features,
        conllu=given.conllu or None,
        check_prose=given.column is None and not given.not_prose,
        cluster_text=given.cluster_text,
    )
    check_search(given)
    settings = settings_of(given, Tagger) | {
        "features": read_features(given.features),
        "constraint": None if given.constraint == "none" else given.constraint,
        "cost": factors(given.cost),
        "decoder": "beam" if given.beam else "viterbi",
        "width": given.beam or 8,
    }
    tagger = Tagger(**settings)
    rule = tagger.check()
    note_tagger_options(given, rule, tagger._margin(rule), shards=data is not None)
    with exit_when_stopped():
        if data is None:
            train_tagger(run, files, tagger, [TrainingOutput()], workers=cluster_of(given))
            return
        from swvp.tagging.train_shards import train_tagger_on_shards

        sharding = sharding_of(given, data, given.model, "tagger")
        with workers_of(given, run.threads) as workers:
            train_tagger_on_shards(run, data, files, tagger, sharding, [TrainingOutput()], workers)


def check_search(given: TaggerOptions) -> None:
    """Raise InputError for a beam or a constraint that the shell names otherwise than Python."""
    from swvp.tagging.decoder import SCHEMES

    if given.beam < 0:
        raise InputError(f"--beam must be 0 (exact search) or more, not {given.beam}")
    constraints = (*SCHEMES, "none", "auto")
    if given.constraint not in constraints:
        raise unknown_name("constraint", given.constraint, constraints)
