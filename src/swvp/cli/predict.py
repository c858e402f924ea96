"""The command `swvp predict`: models and a file in, the file with labels or trees out; or many files into a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from swvp.cli.bulk import OutputDir, predict_into
from swvp.cli.compiling import expect_kernels
from swvp.cli.options import (
    MAX_BYTES,
    ClusterOptions,
    Encoding,
    LoadExtensions,
    MaxBytes,
    NotProse,
    load_python,
    takes_options,
)
from swvp.cli.terminal import note_terminal, print_message
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

  swvp predict pos.swvp news/*.conllu --output-dir tagged --workers 4
"""


@dataclass(kw_only=True)
class PredictOptions(ClusterOptions):
    """The options of `swvp predict`."""

    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] INPUT...",
            help="Model file (leave it out with --model), and input file or - (standard input); with --output-dir "
            "any number of files.",
        ),
    ]
    models: Annotated[
        list[Path] | None,
        typer.Option(
            "--model", "-m", help="Model file. May be repeated: each model reads the output of the one before."
        ),
    ] = None
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, or - (standard output).")] = "-"
    output_dir: OutputDir = None
    encoding: Encoding = "utf-8"
    conllu: Annotated[bool, typer.Option("--conllu", help="The input is CoNLL-U, whatever its name.")] = False
    max_bytes: MaxBytes = MAX_BYTES
    not_prose: NotProse = False
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", help=f"Number of threads; by default one for each core, at most {MOST_JOBS}."),
    ] = None
    load: LoadExtensions = None


@takes_options
def predict(given: PredictOptions) -> None:
    """Predict labels with a tagger, trees with a parser, or both in turn.

    Files may be compressed (.gz). With --output-dir, outputs that an earlier
    command has finished are not made again.
    """
    from swvp.io.files import write_blocks
    from swvp.pipeline import load_models, predict_blocks
    from swvp.training.options import available_cores
    from swvp.training.run import check_separate

    if given.jobs is not None and given.jobs < 1:
        raise InputError(f"jobs must be at least 1, not {given.jobs}")
    jobs = min(available_cores(), MOST_JOBS) if given.jobs is None else given.jobs
    models, files = given.models or [], given.files
    if not models:
        models, files = [Path(files[0])], files[1:]
    if (given.output_dir is None and len(files) != 1) or not files:
        if not files:
            raise InputError("INPUT is missing: swvp predict MODEL INPUT")
        raise InputError(f"{len(files)} inputs: give one, or for several also --output-dir")
    if given.load is not None:
        load_python(given.load)
    options: dict[str, Any] = {"encoding": given.encoding, "conllu": given.conllu, "check_prose": not given.not_prose}
    if given.output_dir is not None:
        predict_into(given.output_dir, "predict", models, files, options, given, jobs, output=given.output)
        return
    if given.uses_cluster:
        raise InputError("--cluster and --workers need --output-dir, where the outputs go")
    check_separate({"--output": given.output}, {"MODEL": models, "INPUT": files, "--load": given.load})
    loaded = load_models(models)
    if len(loaded) == 1:
        expect_kernels(f"predict {type(loaded[0]).__name__.lower()}{' --order 2' if loaded[0].order == 2 else ''}")
    note_terminal(files)
    write_blocks(given.output, predict_blocks(loaded, files[0], **options, n_jobs=jobs, note=print_message))
