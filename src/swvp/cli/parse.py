"""The command `swvp parse`: a pipeline and texts in, their tokens, tags, lemmas and trees out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swvp.cli.options import MAX_BYTES, MaxBytes
from swvp.errors import InputError

__all__ = ["EXAMPLES", "parse"]

EXAMPLES = """
Inputs: text; presegmented (a sentence per line); horizontal (a sentence per
line, blanks between tokens); vertical (a token per line, an empty line after
each sentence); conllu (its words are kept, all other columns predicted).

Outputs: conllu; json (a line for each sentence); horizontal; vertical.

Examples:

  echo "Ann left. Bob stayed." | swvp parse en.swvp

  swvp parse en.swvp article.txt -o article.conllu --jobs 2

  swvp parse en.swvp --input horizontal --output json tokens.txt

  swvp parse en.swvp --stages tokens,tags article.txt

  swvp parse en.swvp --lexicon lemmas.tsv article.txt
"""


def parse(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File that `swvp train pipeline` wrote.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILES]...", help="Texts in UTF-8, or - (standard input).", show_default="-"),
    ] = None,
    output: Annotated[str, typer.Option("--output-file", "-o", help="File to write, or - (standard output).")] = "-",
    input_format: Annotated[
        str, typer.Option("--input", metavar="FORMAT", help="text, presegmented, horizontal, vertical or conllu.")
    ] = "text",
    output_format: Annotated[
        str, typer.Option("--output", metavar="FORMAT", help="conllu, json, horizontal or vertical.")
    ] = "conllu",
    stages: Annotated[
        str | None,
        typer.Option(help="Stages to use, such as tokens,tags.", show_default="all stages of the model"),
    ] = None,
    lexicon: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Dictionary of lemmas that goes before the model and its own dictionary: lines of form, UPOS "
            "(optional) and lemma, between tabs.",
        ),
    ] = None,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Add the probability of each arc: Confidence=… in MISC.")
    ] = False,
    max_bytes: MaxBytes = MAX_BYTES,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Number of threads.", show_default="one for each core, at most 8")
    ] = None,
) -> None:
    """Divide texts into sentences and words, and predict tags, lemmas and trees.

    Long texts are read and written in parts. Files may be compressed (.gz).
    """
    from swvp.cli.predict import MOST_JOBS
    from swvp.cli.terminal import print_message
    from swvp.io.files import write_blocks
    from swvp.text.files import analyse_file
    from swvp.text.pipeline import Pipeline, missing_tags
    from swvp.training.options import available_cores

    if jobs is not None and jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    threads = min(available_cores(), MOST_JOBS) if jobs is None else jobs
    pipeline = Pipeline.load(model)
    if stages is not None:
        pipeline = pipeline.only(stages)
    if lexicon is not None:
        pipeline.add_lexicon(lexicon)
    if note := missing_tags(pipeline, has_tags=input_format == "conllu"):
        print_message(f"note: {note}; give them with --input conllu")
    parts = (
        part
        for source in files or ["-"]
        for part in analyse_file(
            pipeline, source, input=input_format, output=output_format, n_jobs=threads, confidence=confidence
        )
    )
    write_blocks(output, parts)
