"""The command `swvp predict`: models and a file in, the file with labels or trees out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swvp.cli.compiling import expect_kernels
from swvp.cli.options import MAX_BYTES, Encoding, LoadExtensions, MaxBytes, NotProse, load_python
from swvp.cli.terminal import print_message
from swvp.errors import InputError

__all__ = ["EXAMPLES", "predict"]

MOST_JOBS = 8
"""The largest number of threads by default: each takes memory for its block."""

EXAMPLES = """
In a column file, a tagger adds its labels as a new last column. In CoNLL-U it
replaces the column that it was trained on. A parser replaces the heads and
labels of CoNLL-U or CoNLL-X. Parsers and taggers trained on CoNLL-U also read
files with one word per line. All other bytes stay as they are.

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
            help="Model file (leave it out with --model), and input file or - (standard input).",
        ),
    ],
    models: Annotated[
        list[Path] | None,
        typer.Option(
            "--model", "-m", help="Model file. May be repeated: each model reads the output of the one before."
        ),
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, or - (standard output).")] = "-",
    encoding: Encoding = "utf-8",
    conllu: Annotated[bool, typer.Option("--conllu", help="The input is CoNLL-U, whatever its name.")] = False,
    max_bytes: MaxBytes = MAX_BYTES,
    not_prose: NotProse = False,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help=f"Number of threads; by default one for each core, at most {MOST_JOBS}."),
    ] = None,
    load: LoadExtensions = None,
) -> None:
    """Predict labels with a tagger, trees with a parser, or both in turn.

    Files may be compressed (.gz).
    """
    from swvp.io.files import write_blocks
    from swvp.pipeline import load_models, predict_blocks
    from swvp.training.options import available_cores

    if jobs is not None and jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    if len(files) != (1 if models else 2):
        needed = "INPUT, as the models are given with --model" if models else "MODEL and INPUT, or INPUT and --model"
        raise InputError(f"{len(files)} files: give {needed}")
    if load is not None:
        load_python(load)
    loaded = load_models(models or [Path(files[0])])
    if len(loaded) == 1:
        expect_kernels(f"predict {type(loaded[0]).__name__.lower()}{' --order 2' if loaded[0].order == 2 else ''}")
    blocks = predict_blocks(
        loaded,
        files[-1],
        encoding=encoding,
        conllu=conllu,
        check_prose=not not_prose,
        n_jobs=min(available_cores(), MOST_JOBS) if jobs is None else jobs,
        note=print_message,
    )
    write_blocks(output, blocks)
