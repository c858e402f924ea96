"""The command `swvp train pipeline`: a treebank in, one model file from raw text to trees out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swvp.cli.options import MAX_BYTES, Encoding, MaxBytes
from swvp.cli.train import exit_when_stopped

__all__ = ["EXAMPLES", "pipeline"]

EXAMPLES = """
A treebank is a file in CoNLL-U, or a folder with files *-ud-train.conllu and
*-ud-dev.conllu. Stages for which it has no data are left out.

Examples:

  swvp train pipeline UD_Greek-GDT --model el.swvp

  swvp train pipeline train.conllu --dev dev.conllu --order 2 -m better.swvp

  swvp train pipeline train.conllu --stages tokens,tags -m tagger.swvp
"""


def pipeline(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Training file, or the folder of a treebank.")],
    model: Annotated[Path, typer.Option("--model", "-m", help="Model file to write.")],
    dev: Annotated[
        str | None,
        typer.Option(help="Dev set, to choose epochs and to score all stages.", show_default="in the folder"),
    ] = None,
    stages: Annotated[str, typer.Option(help="Stages to train.")] = "tokens,tags,lemmas,trees",
    order: Annotated[int, typer.Option(help="Parser: 1: features of arcs; 2: also of siblings and grandparents.")] = 1,
    folds: Annotated[
        int,
        typer.Option(
            help="The parser learns from tags and lemmas that are predicted in this number of folds; 1: gold ones."
        ),
    ] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed for the order of sentences.")] = 0,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Number of threads.", show_default="all cores")
    ] = None,
    encoding: Encoding = "utf-8",
    max_bytes: MaxBytes = MAX_BYTES,
    checkpoint: Annotated[float, typer.Option(help="Seconds between checkpoints of the parser.")] = 10.0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start again; ignore checkpoints.")] = False,
) -> None:
    """Train all stages from raw text to trees: tokens, tags, lemmas, parser.

    Prints each stage with its scores on the dev set.
    """
    from swvp.cli.progress import TrainingOutput
    from swvp.text.train import train_pipeline
    from swvp.training.session import Run

    run = Run(train=train, model=model, dev=dev, encoding=encoding, checkpoint=checkpoint, fresh=fresh, jobs=jobs)
    run.check(patience=None)
    with exit_when_stopped(), run.session([TrainingOutput()]) as session:
        trained = train_pipeline(
            session,
            train,
            dev,
            stages=stages,
            order=order,
            folds=folds,
            random_state=seed,
            n_jobs=run.threads,
            encoding=encoding,
            note=session.note,
        )
        session.save(trained, model, f"stages {', '.join(trained.stages)}")
