"""The commands `swvp train tagger` and `swvp train parser`: files in, a model file out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swvp.cli.options import (
    MAX_BYTES,
    Command,
    Encoding,
    MaxBytes,
    NotProse,
    floats,
    names,
    settings_of,
    takes_options,
)
from swvp.errors import InputError

if TYPE_CHECKING:
    from swvp.training.session import Run

__all__ = ["app"]

app = typer.Typer(help="Train a model on labelled data.", no_args_is_help=True)

FEATURES, SEARCH, LEARNING = "Features and labels", "Search", "Learning"
TUNING, CHECKPOINTS = "Tuning", "Log and checkpoints"


@dataclass(kw_only=True)
class FileOptions:
    """The files of a training."""

    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Training file, or - (standard input).")]
    model: Annotated[Path, typer.Option("--model", "-m", help="Model file to write.")]
    dev: Annotated[
        str | None, typer.Option(help="Dev set: each epoch is scored on this file, and the best one is saved.")
    ] = None
    encoding: Encoding = "utf-8"
    max_bytes: MaxBytes = MAX_BYTES


@dataclass(kw_only=True)
class CourseOptions:
    """The course of a training, tuning and checkpoints."""

    beta: Annotated[float, typer.Option(help="β, a parameter of the rule's γ.", rich_help_panel=LEARNING)] = 0.5
    C: Annotated[
        float | None,
        typer.Option(
            "--C", help="Longest step, for rules with the step mira.", show_default="1", rich_help_panel=LEARNING
        ),
    ] = None
    epochs: Annotated[
        int, typer.Option(help="Largest number of epochs (passes over the training data).", rich_help_panel=LEARNING)
    ] = 10
    patience: Annotated[
        int | None,
        typer.Option(
            help="Stop after this number of epochs without a better dev score.",
            show_default="never",
            rich_help_panel=LEARNING,
        ),
    ] = None
    average: Annotated[
        bool, typer.Option(help="Use the average of all weight vectors, or the last one.", rich_help_panel=LEARNING)
    ] = True
    random_state: Annotated[
        int,
        typer.Option("--seed", metavar="N", min=0, help="Seed for the order of sentences.", rich_help_panel=LEARNING),
    ] = 0
    load: Annotated[
        Path | None,
        typer.Option(help="Python file to run first, for example to register your own γ.", rich_help_panel=LEARNING),
    ] = None
    tune: Annotated[
        bool,
        typer.Option(
            "--tune", help="Train with several rules and values of β; save the best on --dev.", rich_help_panel=TUNING
        ),
    ] = False
    rules: Annotated[
        str | None,
        typer.Option(help="Rules to try, as csp,a-wm,b-wm.", show_default="a selection", rich_help_panel=TUNING),
    ] = None
    betas: Annotated[
        str | None,
        typer.Option(
            help="Values of β to try, as 0.5,1 or FIRST:LAST:STEP.", show_default="a selection", rich_help_panel=TUNING
        ),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help="Number of threads.", show_default="all cores", rich_help_panel=TUNING),
    ] = None
    log: Annotated[
        Path | None,
        typer.Option(help="Training log to write: a JSON line for each epoch.", rich_help_panel=CHECKPOINTS),
    ] = None
    checkpoint: Annotated[
        float,
        typer.Option(
            help="Seconds between checkpoints. Interrupted training resumes when the same command runs again.",
            rich_help_panel=CHECKPOINTS,
        ),
    ] = 10.0
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start again; ignore checkpoints.", rich_help_panel=CHECKPOINTS)
    ] = False


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
            "--columns", help="Columns that features are made from, as word,pos.", show_default="all; CoNLL-U: word"
        ),
    ] = None
    conllu: Annotated[bool, typer.Option("--conllu", help="The files are CoNLL-U, whatever their names.")] = False
    not_prose: NotProse = False
    features: Annotated[
        str | None,
        typer.Option(
            help="Preset (pos, chunk, ner) or file of templates, also in CRF++ format.",
            show_default="chosen from the labels and columns",
            rich_help_panel=FEATURES,
        ),
    ] = None
    minimum_count: Annotated[
        int,
        typer.Option(
            "--min-count", help="Drop attributes that occur less often in the training file.", rich_help_panel=FEATURES
        ),
    ] = 1
    hashed: Annotated[
        int | None,
        typer.Option(
            help="Hash size: the number of values that attributes are hashed to.",
            show_default="no hashing",
            rich_help_panel=FEATURES,
        ),
    ] = None
    constraint: Annotated[
        str,
        typer.Option(
            help="Valid label sequences: iob1, iob2 (or bio), bioes, none; auto: the scheme of the training labels.",
            rich_help_panel=FEATURES,
        ),
    ] = "auto"
    order: Annotated[
        int, typer.Option(help="1: features of two labels in a row; 2: also of three.", rich_help_panel=SEARCH)
    ] = 1
    beam: Annotated[
        int, typer.Option(help="Beam search with this number of hypotheses; 0: exact search.", rich_help_panel=SEARCH)
    ] = 0
    fix: Annotated[
        str,
        typer.Option(
            help="With --beam, the prefix to update on: early, max-violation, latest; none: the whole sentence.",
            rich_help_panel=SEARCH,
        ),
    ] = "max-violation"
    rule: Annotated[str, typer.Option(help="Update rule, see below.", rich_help_panel=LEARNING)] = "a-wm:segments:sqrt"
    l2: Annotated[
        float, typer.Option(help="With rule crf: L2 regularisation, the factor of ‖w‖²/2.", rich_help_panel=LEARNING)
    ] = 1.0


@dataclass(kw_only=True)
class TaggerOptions(CourseOptions, TaggerColumns):
    """The options of `swvp train tagger`."""


TAGGER_EXAMPLES = """
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
crf (a conditional random field; --epochs are then iterations of L-BFGS),
or SWVP: APPROACH-GAMMA[:SUBSTRUCTURES][:STEP].
`swvp experiment synthetic --help` lists the parts.
"""


@app.command(epilog=TAGGER_EXAMPLES, cls=Command)
@takes_options
def tagger(given: TaggerOptions) -> None:
    """Train a tagger, chunker or named-entity recogniser.

    Prints the mistakes and, with --dev, the dev score of each epoch.

    Ctrl-C stops after the current epoch; the same command resumes.
    """
    from swvp.cli.progress import TrainingOutput
    from swvp.tagging.tagger import Tagger
    from swvp.tagging.train import TaggerFiles, read_features, train_tagger

    if given.target is not None and given.column is not None:
        raise InputError("--column and --target exclude each other")
    files = TaggerFiles(
        label=given.column if given.target is None else given.target,
        columns=names(given.column_names),
        templates=given.features,
        conllu=given.conllu or None,
        check_prose=given.column is None and not given.not_prose,
    )
    settings = settings_of(given, Tagger) | {
        "features": read_features(given.features),
        "constraint": None if given.constraint == "none" else given.constraint,
        "decoder": "beam" if given.beam else "viterbi",
        "width": given.beam or 8,
    }
    with exit_when_stopped():
        train_tagger(run_of(given, given), files, Tagger(**settings), [TrainingOutput()])


@dataclass(kw_only=True)
class ParserModel(FileOptions):
    """The model of a parser."""

    order: Annotated[
        int, typer.Option(help="1: features of arcs; 2: also of siblings and grandparents.", rich_help_panel=SEARCH)
    ] = 1
    projective: Annotated[
        bool, typer.Option("--projective", help="Only trees without crossing arcs.", rich_help_panel=SEARCH)
    ] = False
    several_roots: Annotated[
        bool | None,
        typer.Option(
            "--several-roots/--one-root",
            help="Whether several words of a sentence may have head 0.",
            show_default="as in the training trees",
            rich_help_panel=SEARCH,
        ),
    ] = None
    prune: Annotated[
        bool,
        typer.Option(help="Consider only arcs with tags and lengths seen in training.", rich_help_panel=SEARCH),
    ] = True
    prune_heads: Annotated[
        int, typer.Option(help="Order 2: largest number of heads to consider for a word.", rich_help_panel=SEARCH)
    ] = 16
    prune_threshold: Annotated[
        float | None,
        typer.Option(
            help="Order 2: least probability of a head, relative to that of the best head.",
            show_default="0.003; projective: 0.0003",
            rich_help_panel=SEARCH,
        ),
    ] = None
    features: Annotated[
        str | None,
        typer.Option(
            help="Preset (first-order, turbo, light; order 2: second-order, turbo-standard) or file of templates.",
            show_default="first-order; order 2: second-order",
            rich_help_panel=FEATURES,
        ),
    ] = None
    labels: Annotated[
        bool, typer.Option(help="Also learn the labels of arcs, in a second stage.", rich_help_panel=FEATURES)
    ] = True
    hashed: Annotated[
        int, typer.Option(help="Hash size: the number of weights, a power of 2.", rich_help_panel=FEATURES)
    ] = 2**22
    exact: Annotated[
        bool,
        typer.Option("--exact", help="No hashing: each feature has its own weight (slower).", rich_help_panel=FEATURES),
    ] = False
    rule: Annotated[
        str | None,
        typer.Option(
            help="Update rule, see below.",
            show_default="a-uniform:mira; order 2: a-uniform:components:mira",
            rich_help_panel=LEARNING,
        ),
    ] = None
    margin: Annotated[
        float | None,
        typer.Option(
            help="Score by which gold arcs must win in training; 0: as in the paper.",
            show_default="1",
            rich_help_panel=LEARNING,
        ),
    ] = None


@dataclass(kw_only=True)
class ParserOptions(CourseOptions, ParserModel):
    """The options of `swvp train parser`."""


PARSER_EXAMPLES = """
A treebank is a file in CoNLL-U or CoNLL-X (10 columns separated by tabs).
It may be compressed (.gz).

Examples:

  swvp train parser el-ud-train.conllu --dev el-ud-dev.conllu --model el.swvp

  swvp train parser train.conllu --dev dev.conllu --order 2 -m better.swvp

  swvp train parser train.conll --encoding iso-8859-1 --projective -m p.swvp

  swvp train parser train.conllu --dev dev.conllu --tune --model best.swvp

Rules: csp (the structured perceptron), mira, mira:K (order 1 only),
or SWVP: APPROACH-GAMMA[:SUBSTRUCTURES][:STEP], with sub-structures such as
single, components, subtrees.
`swvp experiment parsing --help` lists the parts.
"""


@app.command(epilog=PARSER_EXAMPLES, cls=Command)
@takes_options
def parser(given: ParserOptions) -> None:
    """Train a dependency parser: first its trees, then the labels of their arcs.

    Prints the mistakes and, with --dev, the dev score of each epoch.

    Ctrl-C stops after the current epoch; the same command resumes.
    """
    from swvp.cli.progress import TrainingOutput
    from swvp.parsing.options import MARGIN
    from swvp.parsing.parser import Parser
    from swvp.parsing.train import read_features, train_parser

    settings = settings_of(given, Parser) | {
        "features": None
        if given.features is None
        else read_features(given.features, Parser(order=given.order).model_class),
        "one_root": None if given.several_roots is None else not given.several_roots,
        "hashed": None if given.exact else given.hashed,
        "margin": MARGIN if given.margin is None else given.margin,
    }
    with exit_when_stopped():
        train_parser(run_of(given, given), Parser(**settings), [TrainingOutput()], default_margin=given.margin is None)


def run_of(files: FileOptions, course: CourseOptions) -> Run:
    """The files and the course of a training, after the user's Python file has run."""
    from swvp.cli.study import load_python
    from swvp.training.session import Run

    return Run(
        train=files.train,
        model=files.model,
        dev=files.dev,
        encoding=files.encoding,
        log=course.log,
        checkpoint=course.checkpoint,
        fresh=course.fresh,
        tune=course.tune,
        rules=names(course.rules),
        betas=floats("betas", course.betas),
        jobs=course.jobs,
        user_code=None if course.load is None else load_python(course.load),
    )


@contextmanager
def exit_when_stopped() -> Iterator[None]:
    """Exit with code 130 when the user stops training with Ctrl-C."""
    from swvp.training.training import Stopped

    try:
        yield
    except Stopped:
        raise typer.Exit(130) from None
