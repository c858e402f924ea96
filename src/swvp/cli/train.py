"""Owns `swvp train …`: options in, a model file out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swvp.cli.values import names
from swvp.errors import InputError

__all__ = ["app"]

app = typer.Typer(help="Train a model on labelled data.", no_args_is_help=True)

EXAMPLES = """
A column file has one token a line, its columns between tabs or blanks, an empty line after each sentence; the label is
the last column. CoNLL-U is known by its name (.conllu). Both may be .gz; - is standard input.

Examples:

  swvp train tagger train.txt --dev dev.txt --model chunker.swvp

  swvp train tagger esp.train --encoding iso-8859-1 --features ner --constraint iob2 --model ner.swvp

  swvp train tagger en-ud-train.conllu --target upos --dev en-ud-dev.conllu --model pos.swvp

  swvp train tagger train.txt --dev dev.txt --tune --model best.swvp

Rules: csp, or APPROACH-GAMMA[:SUBSTRUCTURES][:STEP] as in `swvp experiment synthetic --help`; their rivals mira, mira:K
(against the K best) and crf (likelihood; --epochs are then iterations).
"""


@app.command(epilog=EXAMPLES)
def tagger(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Labelled sentences.")],
    model: Annotated[Path, typer.Option("--model", "-m", help="The model file to write.")],
    dev: Annotated[
        str | None, typer.Option(help="Labelled sentences that decide which pass is kept (the best).")
    ] = None,
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
            show_default="pos, or chunk if there are more columns",
        ),
    ] = None,
    rule: Annotated[str, typer.Option(help="Update rule.")] = "a-wm:segments:sqrt",
    beta: Annotated[float, typer.Option(help="β of the rule.")] = 0.5,
    c: Annotated[float | None, typer.Option("--C", help="With step mira: the longest step.", show_default="1")] = None,
    l2: Annotated[float, typer.Option(help="With rule crf: the weight of ‖w‖²/2.")] = 1.0,
    epochs: Annotated[int, typer.Option(help="Passes over the training sentences, at most.")] = 10,
    patience: Annotated[int | None, typer.Option(help="Stop after so many passes without a better dev score.")] = None,
    average: Annotated[bool, typer.Option(help="Use the averaged weights, or the last ones.")] = True,
    constraint: Annotated[str | None, typer.Option(help="No invalid sequence of labels: bio, iob2 or bioes.")] = None,
    order: Annotated[int, typer.Option(help="1, or 2: also features of three labels in a row.")] = 1,
    beam: Annotated[int, typer.Option(help="Search with so many hypotheses; 0 is exact search.")] = 0,
    fix: Annotated[
        str, typer.Option(help="With --beam, what is updated: early, max-violation, latest, none.")
    ] = "max-violation",
    minimum_count: Annotated[int, typer.Option("--min-count", help="Leave out attributes that are rarer.")] = 1,
    hashed: Annotated[int | None, typer.Option(help="Hash attributes into so many numbers.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the order of the sentences.")] = 0,
    tune: Annotated[
        bool, typer.Option("--tune", help="Try rules, γ, sub-structures, steps and β on --dev, keep the best.")
    ] = False,
    rules: Annotated[str | None, typer.Option(help="With --tune: the rules to try.")] = None,
    betas: Annotated[str | None, typer.Option(help="With --tune: the β to try, as a list or FIRST:LAST:STEP.")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Threads for --tune.", show_default="all cores")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of the files.")] = "utf-8",
    conllu: Annotated[bool, typer.Option("--conllu", help="The files are CoNLL-U, whatever their names.")] = False,
    log: Annotated[
        Path | None, typer.Option(help="Write what happened in each pass to this file, as JSON lines.")
    ] = None,
    checkpoint: Annotated[
        float, typer.Option(help="Seconds between checkpoints, from which the same command goes on if killed.")
    ] = 10.0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start anew, whatever checkpoint there is.")] = False,
    load: Annotated[
        Path | None, typer.Option(help="A Python file of yours to run first; it may register a γ or a JJ.")
    ] = None,
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
        ),
        rule=rule,
        beta=beta,
        C=c,
        l2=l2,
        epochs=epochs,
        patience=patience,
        average=average,
        constraint=constraint,
        order=order,
        decoder="beam" if beam else "viterbi",
        width=beam or 8,
        fix=fix,
        minimum_count=minimum_count,
        hashed=hashed,
        random_state=seed,
    )
