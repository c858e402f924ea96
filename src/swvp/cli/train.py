"""Owns `swvp train …`: options in, a model file out."""

from __future__ import annotations

from typing import Annotated

import typer

from swvp.cli import options
from swvp.cli.options import Command, names
from swvp.errors import InputError

__all__ = ["app"]

app = typer.Typer(help="Train a model on labelled data.", no_args_is_help=True)

EXAMPLES = """
A column file has one token a line, its columns between tabs or blanks, an empty line after each sentence; the label is
the last column. CoNLL-U is known by its name (.conllu). Both may be .gz; - is standard input.

Examples:

  swvp train tagger train.txt --dev dev.txt --model chunker.swvp

  swvp train tagger esp.train --encoding iso-8859-1 --model ner.swvp

  swvp train tagger train.txt --features my.templates --constraint none --model mine.swvp

  swvp train tagger en-ud-train.conllu --target upos --dev en-ud-dev.conllu --model pos.swvp

  swvp train tagger train.txt --dev dev.txt --tune --model best.swvp

Rules: csp, or APPROACH-GAMMA[:SUBSTRUCTURES][:STEP] as in `swvp experiment synthetic --help`; their rivals mira, mira:K
(against the K best) and crf (likelihood; --epochs are then iterations).
"""


@app.command(epilog=EXAMPLES, cls=Command)
def tagger(
    train: options.Train,
    model: options.Model,
    dev: options.Dev = None,
    column: Annotated[
        int | None,
        typer.Option(help="Column of the label in a column file, from 0; negative from the end.", show_default="-1"),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Column of the label in CoNLL-U: upos, xpos, feats, deprel.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(help="Names of the columns that features see, as word,pos.", show_default="all; CoNLL-U: word"),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="Preset (pos, chunk, ner) or a file of templates, CRF++'s too.",
            show_default="chosen from the labels and columns",
        ),
    ] = None,
    rule: options.Rule = "a-wm:segments:sqrt",
    beta: options.Beta = 0.5,
    c: options.C = None,
    l2: Annotated[float, typer.Option(help="With rule crf: the weight of ‖w‖²/2.")] = 1.0,
    epochs: options.Epochs = 10,
    patience: options.Patience = None,
    average: options.Average = True,
    constraint: Annotated[
        str,
        typer.Option(
            help="No invalid sequence of labels: iob1, iob2 (or bio), bioes, none, or auto: the one they keep to."
        ),
    ] = "auto",
    order: Annotated[int, typer.Option(help="1, or 2: also features of three labels in a row.")] = 1,
    beam: Annotated[int, typer.Option(help="Search with so many hypotheses; 0 is exact search.")] = 0,
    fix: Annotated[
        str, typer.Option(help="With --beam, what is updated: early, max-violation, latest, none.")
    ] = "max-violation",
    minimum_count: options.MinimumCount = 1,
    hashed: Annotated[int | None, typer.Option(help="Hash attributes into so many numbers.")] = None,
    seed: options.Seed = 0,
    tune: options.Tune = False,
    rules: options.Rules = None,
    betas: options.Betas = None,
    jobs: options.Jobs = None,
    encoding: options.Encoding = "utf-8",
    conllu: Annotated[bool, typer.Option("--conllu", help="The files are CoNLL-U, whatever their names.")] = False,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    not_prose: options.NotProse = False,
    log: options.Log = None,
    checkpoint: options.Checkpoint = 10.0,
    fresh: options.Fresh = False,
    load: options.Load = None,
) -> None:
    """Train a tagger, chunker or named-entity recogniser.

    Shows the mistakes of each pass and the score on --dev, and keeps the best pass. Ctrl-C ends after the pass that
    runs; the same command goes on from there.
    """
    from swvp.cli.tagger_training import TaggerFiles, train_tagger
    from swvp.cli.training import run_options

    if target is not None and column is not None:
        raise InputError("--column and --target exclude each other")
    train_tagger(
        run_options(
            train=train,
            dev=dev,
            model=model,
            encoding=encoding,
            log=log,
            checkpoint=checkpoint,
            fresh=fresh,
            tune=tune,
            rules=rules,
            betas=betas,
            jobs=jobs,
            load=load,
        ),
        TaggerFiles(
            label=target if target is not None else column,
            columns=names(columns),
            features=features,
            conllu=conllu or None,
            check_prose=column is None and not not_prose,
        ),
        rule=rule,
        beta=beta,
        C=c,
        l2=l2,
        epochs=epochs,
        patience=patience,
        average=average,
        constraint=None if constraint == "none" else constraint,
        order=order,
        decoder="beam" if beam else "viterbi",
        width=beam or 8,
        fix=fix,
        minimum_count=minimum_count,
        hashed=hashed,
        random_state=seed,
    )


PARSER_EXAMPLES = """
A treebank is a file in CoNLL-U or CoNLL-X (10 columns between tabs), .gz too; - is standard input.

Examples:

  swvp train parser el-ud-train.conllu --dev el-ud-dev.conllu --model el.swvp

  swvp train parser train.conllu --dev dev.conllu --order 2 --model better.swvp

  swvp train parser train.conll --encoding iso-8859-1 --projective --model parser.swvp

  swvp train parser train.conllu --dev dev.conllu --tune --model best.swvp

Rules: csp, mira, or APPROACH-GAMMA[:SUBSTRUCTURES][:STEP], where sub-structures are sets of heads, as single,
components, subtrees.
"""


@app.command(epilog=PARSER_EXAMPLES, cls=Command)
def parser(
    train: options.Train,
    model: options.Model,
    dev: options.Dev = None,
    order: Annotated[int, typer.Option(help="1: features of arcs; 2: also of siblings and grandparents.")] = 1,
    projective: Annotated[bool, typer.Option("--projective", help="No crossing arcs.")] = False,
    several_roots: Annotated[
        bool | None,
        typer.Option(
            "--several-roots/--one-root",
            help="Several words of a sentence may have head 0, or only one.",
            show_default="as the training trees",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="Preset (first-order, turbo, light; second-order, turbo-standard) or a file of templates.",
            show_default="first-order or second-order",
        ),
    ] = None,
    labels: Annotated[bool, typer.Option(help="Learn the labels of arcs too, in a second stage.")] = True,
    prune: Annotated[bool, typer.Option(help="Look only at arcs of tags and lengths seen in training.")] = True,
    prune_heads: Annotated[int, typer.Option(help="Order 2: a word keeps at most so many heads.")] = 16,
    prune_threshold: Annotated[
        float | None,
        typer.Option(
            help="Order 2: and only those so many times as probable as its best.",
            show_default="0.003 or, projective, 0.0003",
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="By how much gold arcs must win; 0 is the perceptron's.", show_default="1"),
    ] = None,
    hashed: Annotated[int, typer.Option(help="How many weights; a power of 2.")] = 2**22,
    exact: Annotated[bool, typer.Option("--exact", help="A weight of its own for each feature (slower).")] = False,
    rule: Annotated[
        str | None,
        typer.Option(help="Update rule.", show_default="a-uniform:mira, in order 2 a-uniform:components:mira"),
    ] = None,
    beta: options.Beta = 0.5,
    c: options.C = None,
    epochs: options.Epochs = 10,
    patience: options.Patience = None,
    average: options.Average = True,
    seed: options.Seed = 0,
    tune: options.Tune = False,
    rules: options.Rules = None,
    betas: options.Betas = None,
    jobs: options.Jobs = None,
    encoding: options.Encoding = "utf-8",
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    log: options.Log = None,
    checkpoint: options.Checkpoint = 10.0,
    fresh: options.Fresh = False,
    load: options.Load = None,
) -> None:
    """Train a dependency parser.

    First the trees are learnt, then the labels of their arcs. Shows the mistakes of each pass and the score on --dev,
    and keeps the best pass. Ctrl-C ends after the pass that runs; the same command goes on from there.
    """
    from swvp.cli.parser_training import train_parser
    from swvp.cli.training import run_options

    train_parser(
        run_options(
            train=train,
            dev=dev,
            model=model,
            encoding=encoding,
            log=log,
            checkpoint=checkpoint,
            fresh=fresh,
            tune=tune,
            rules=rules,
            betas=betas,
            jobs=jobs,
            load=load,
        ),
        order=order,
        features=features,
        projective=projective,
        one_root=None if several_roots is None else not several_roots,
        labels=labels,
        prune=prune,
        prune_heads=prune_heads,
        prune_threshold=prune_threshold,
        margin=margin,
        hashed=None if exact else hashed,
        rule=rule,
        beta=beta,
        C=c,
        epochs=epochs,
        patience=patience,
        average=average,
        random_state=seed,
    )
