"""The commands `swvp train tagger` and `swvp train parser`: files in, a model file out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swvp.cli.compiling import expect_kernels
from swvp.cli.options import (
    MAX_BYTES,
    ClusterOptions,
    Command,
    Encoding,
    MaxBytes,
    NotProse,
    factors,
    floats,
    load_python,
    names,
    settings_of,
    takes_options,
)
from swvp.cli.shards import ShardOptions, sharding_of, workers_of
from swvp.cli.terminal import print_message
from swvp.cli.without_effect import note_parser_options, note_tagger_options
from swvp.errors import InputError, unknown_name

if TYPE_CHECKING:
    from swvp.cluster.connect import Cluster
    from swvp.training.session import Run

__all__ = ["app"]

app = typer.Typer(help="Train a model on labelled data.", no_args_is_help=True)

of_features, of_search, of_learning, of_tuning, of_checkpoints = (
    partial(typer.Option, rich_help_panel=panel)
    for panel in ("Features and labels", "Search", "Learning", "Tuning", "Log and checkpoints")
)
"""An option in a panel of the help."""


@dataclass(kw_only=True)
class FileOptions:
    """The files of a training."""

    train: Annotated[
        list[str],
        typer.Argument(metavar="TRAIN...", help="Training files, folders or globs; or - (standard input)."),
    ]
    model: Annotated[Path, typer.Option("--model", "-m", help="Model file to write.")]
    dev: Annotated[
        str | None, typer.Option(help="Dev set: each epoch is scored on this file, and the best one is saved.")
    ] = None
    encoding: Encoding = "utf-8"
    max_bytes: MaxBytes = MAX_BYTES


@dataclass(kw_only=True)
class CourseOptions(ClusterOptions):
    """The course of a training, tuning and checkpoints."""

    beta: Annotated[float, of_learning(help="β, a parameter of the rule's γ.")] = 0.5
    C: Annotated[
        float | None,
        of_learning(
            "--C",
            help="Longest step of rules with the step mira; learning rate of those with the step ada.",
            show_default="1; tagger's rule softmax: 0.3",
        ),
    ] = None
    epochs: Annotated[int, of_learning(help="Largest number of epochs (passes over the training data).")] = 10
    patience: Annotated[
        int | None,
        of_learning(help="Stop after this number of epochs without a better dev score.", show_default="never"),
    ] = None
    average: Annotated[bool, of_learning(help="Predict with the averaged weights, or with the last ones.")] = True
    average_power: Annotated[
        float | None,
        of_learning(
            metavar="P",
            help="Late weights count more in the average: those after sentence t by t^(P-1). 1: all alike.",
            show_default="1; with the step ada: 3",
        ),
    ] = None
    random_state: Annotated[int, of_learning("--seed", metavar="N", min=0, help="Seed for the order of sentences.")] = 0
    load: Annotated[Path | None, of_learning(help="Python file to run first, for example to register your own γ.")] = (
        None
    )
    tune: Annotated[
        bool, of_tuning("--tune", help="Train with several rules and values of β; save the best on --dev.")
    ] = False
    rules: Annotated[str | None, of_tuning(help="Rules to try, such as csp,a-wm,b-wm.", show_default="a selection")] = (
        None
    )
    betas: Annotated[
        str | None, of_tuning(help="Values of β to try, such as 0.5,1 or FIRST:LAST:STEP.", show_default="a selection")
    ] = None
    jobs: Annotated[
        int | None,
        of_tuning("--jobs", "-j", help="Number of threads, for --tune and --batch.", show_default="all cores"),
    ] = None
    log: Annotated[Path | None, of_checkpoints(help="Training log to write: a JSON line for each epoch.")] = None
    checkpoint: Annotated[
        float,
        of_checkpoints(
            help="Seconds between checkpoints. Interrupted training resumes when the same command runs again."
        ),
    ] = 10.0
    fresh: Annotated[bool, of_checkpoints("--fresh", help="Start again; ignore checkpoints.")] = False


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
            help="Columns that features are made from, such as word,pos.",
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
            help="Look at the K best labels of each token, by the weights of its attributes; 0: all labels.",
            show_default="all up to 100 labels, else 8",
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
            help="With --beam, which part of the sentence an update uses, up to: early, max-violation, latest; "
            "none: the whole sentence."
        ),
    ] = "max-violation"
    rule: Annotated[
        str | None,
        of_learning(
            help="Update rule, see below.", show_default="softmax; --order 2: csp:ada; --beam: a-wm:segments:sqrt"
        ),
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
softmax (softmax-margin, learns from mistakes), crf (a conditional random
field; --epochs are then iterations of L-BFGS), or SWVP:
APPROACH-GAMMA[:SUBSTRUCTURES][:STEP]. csp:ada has adaptive steps,
b-maxent:all:K mixes the labels of the K best outputs.
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


@dataclass(kw_only=True)
class ParserModel(FileOptions):
    """The model of a parser."""

    order: Annotated[int, of_search(help="1: features of arcs; 2: also of siblings and grandparents.")] = 1
    projective: Annotated[
        bool | None,
        of_search(
            "--projective/--non-projective",
            help="Predict only trees without crossing arcs, or trees of any kind.",
            show_default="projective in order 1 if at most 15 % of the training trees have crossing arcs; else any",
        ),
    ] = None
    several_roots: Annotated[
        bool | None,
        of_search(
            "--several-roots/--one-root",
            help="Allow several words with head 0 in a sentence, or exactly one.",
            show_default="several if more than 5 % of the training trees have several",
        ),
    ] = None
    prune: Annotated[bool, of_search(help="Consider only arcs with tags and lengths seen in training.")] = True
    prune_heads: Annotated[int, of_search(help="Order 2: largest number of heads to consider for a word.")] = 16
    prune_threshold: Annotated[
        float | None,
        of_search(
            help="Order 2: drop heads whose probability is below this share of the best head's.",
            show_default="0.003; projective: 0.0003",
        ),
    ] = None
    features: Annotated[
        str | None,
        of_features(
            help="Preset (first-order, turbo, light; order 2: second-order, turbo-standard) or file of templates.",
            show_default="first-order; order 2: second-order",
        ),
    ] = None
    labels: Annotated[bool, of_features(help="Also learn the labels of arcs, in a second stage.")] = True
    hashed: Annotated[int, of_features(help="Hash size: the number of weights, a power of 2.")] = 2**22
    exact: Annotated[bool, of_features("--exact", help="No hashing: each feature has its own weight (slower).")] = False
    rule: Annotated[
        str | None,
        of_learning(help="Update rule, see below.", show_default="a-uniform:mira; order 2: a-uniform:components:mira"),
    ] = None
    margin: Annotated[
        float | None,
        of_learning(help="Score by which gold arcs must win in training; 0: as in the paper.", show_default="1"),
    ] = None
    ensemble: Annotated[
        int,
        of_learning(
            metavar="N",
            help="Train N parsers that vote: a little more accurate; training and parsing take N times as long.",
        ),
    ] = 1
    batch_size: Annotated[
        int,
        of_learning(
            "--batch", metavar="N", help="Predict N sentences at once, in --jobs threads; then update on each mistake."
        ),
    ] = 1


@dataclass(kw_only=True)
class ParserOptions(ShardOptions, CourseOptions, ParserModel):
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

    expect_kernels("train parser" if given.order == 1 else "train parser --order 2")
    run, data = run_of(given, {"--features": given.features})
    settings = settings_of(given, Parser) | {
        "features": None
        if given.features is None
        else read_features(given.features, Parser(order=given.order).model_class),
        "one_root": None if given.several_roots is None else not given.several_roots,
        "hashed": None if given.exact else given.hashed,
        "margin": MARGIN if given.margin is None else given.margin,
    }
    parser = Parser(**settings)
    note_parser_options(given, parser.check(), shards=data is not None)
    with exit_when_stopped():
        if data is None:
            train_parser(
                run,
                parser,
                [TrainingOutput()],
                default_margin=given.margin is None,
                workers=cluster_of(given),
            )
            return
        from swvp.parsing.train_shards import train_parser_on_shards

        sharding = sharding_of(given, data, given.model, "parser")
        threads = 1 if given.batch_size > 1 else run.threads  # the threads of a batch are those of --jobs
        with workers_of(given, threads) as workers:
            train_parser_on_shards(run, data, parser, sharding, [TrainingOutput()], workers)


def run_of(given: TaggerOptions | ParserOptions, inputs: Mapping[str, str | None]) -> tuple[Run, list[str] | None]:
    """The files and the course of a training, and the files of a corpus that is trained on in shards.

    The user's Python file has run before: it may register what the options name. `inputs` are files that are read
    besides the training file and the dev set.
    """
    from swvp.training.session import Run

    data = None
    if given.uses_shards(given.train):
        data = files_of_corpus(given)
    run = Run(
        train=given.train[0] if data is None else data[0],
        model=given.model,
        dev=given.dev,
        encoding=given.encoding,
        log=given.log,
        checkpoint=given.checkpoint,
        fresh=given.fresh,
        tune=given.tune,
        rules=names(given.rules),
        betas=floats("betas", given.betas),
        jobs=given.jobs,
        user_code=None if given.load is None else load_python(given.load),
        other_inputs={"--load": given.load, "TRAIN": given.train if data is None else data, **inputs},
    )
    return run, data


def files_of_corpus(given: TaggerOptions | ParserOptions) -> list[str]:
    """The files of a corpus that is trained on in shards; InputError if other options do not go with that."""
    from swvp.training.parts import files_of

    if given.tune:
        raise InputError("--tune trains on one file: leave out --shards, or tune on a part of the data")
    if given.load is not None and given.uses_cluster:
        raise InputError("--load runs a file in this process only: leave out --cluster and --workers, or --load")
    data = files_of(given.train)
    if given.uses_cluster:  # workers may run in another folder
        data = [str(Path(file).absolute()) for file in data]
    return data


def cluster_of(given: CourseOptions) -> Cluster | None:
    """The cluster that the trainings of a tuning run on, which is not open yet."""
    if not given.uses_cluster:
        return None
    if not given.tune:
        raise InputError("--cluster and --workers are for --shards S, where S decides the model, and for --tune")
    return given.new_cluster(print_message)


@contextmanager
def exit_when_stopped() -> Iterator[None]:
    """Exit with code 130 when the user stops training with Ctrl-C."""
    from swvp.training.training import Stopped

    try:
        yield
    except Stopped:
        raise typer.Exit(130) from None
