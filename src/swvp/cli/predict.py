"""Owns `swvp predict`: models and a file in, the file with labels or trees out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swvp.cli import options
from swvp.errors import InputError

__all__ = ["predict"]

EXAMPLES = """
In a column file the labels become one more column, the last; in CoNLL-U they replace the column that the tagger was
trained on. A parser fills in the heads and labels of CoNLL-U or CoNLL-X. For a model of CoNLL-U a file of one word a
line is made CoNLL-U first. Every other byte stays as it is. With several models each gets what the one before it wrote.

Examples:

  swvp predict chunker.swvp test.txt -o tagged.txt

  zcat news.txt.gz | swvp predict chunker.swvp - | less

  swvp predict --model pos.swvp --model parser.swvp words.txt -o trees.conllu
"""


def predict(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] INPUT",
            help="A file that `swvp train` wrote, unless --model names it; sentences: a file, .gz too, or - for "
            "standard input.",
        ),
    ],
    models: Annotated[
        list[Path] | None, typer.Option("--model", "-m", help="A model; give it again for each that comes after.")
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", help="File to write, .gz too, or - for standard output.")
    ] = "-",
    encoding: Annotated[str, typer.Option(help="Of the input and the output.")] = "utf-8",
    conllu: Annotated[bool, typer.Option("--conllu", help="The input is CoNLL-U, whatever its name.")] = False,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
    not_prose: options.NotProse = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads.")] = 1,
) -> None:
    """Label sentences with a trained tagger, parse them with a trained parser, or one after the other."""
    from swvp.cli.predicting import run_models
    from swvp.io.files import write_bytes

    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    wanted = 1 if models else 2
    if len(files) != wanted:
        what = "INPUT, as the models are given with --model" if models else "MODEL and INPUT, or INPUT and --model"
        raise InputError(f"{len(files)} files: give {what}")
    chain = models or [Path(files[0])]
    write_bytes(
        output, run_models(chain, files[-1], encoding=encoding, conllu=conllu, check_prose=not not_prose, jobs=jobs)
    )
