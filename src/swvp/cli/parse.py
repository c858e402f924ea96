"""The command `swvp parse`: a pipeline and texts in, their tokens, tags, lemmas and trees out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from swvp.cli.bulk import OutputDir, predict_into
from swvp.cli.options import MAX_BYTES, ClusterOptions, MaxBytes, takes_options
from swvp.errors import InputError, unknown_name

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

  swvp parse en.swvp news/*.txt --output-dir parsed --workers 4
"""


@dataclass(kw_only=True)
class ParseOptions(ClusterOptions):
    """The options of `swvp parse`."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File that `swvp train pipeline` wrote.")]
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILES]...", help="Texts in UTF-8, or - (standard input).", show_default="-"),
    ] = None
    output: Annotated[str, typer.Option("--output-file", "-o", help="File to write, or - (standard output).")] = "-"
    output_dir: OutputDir = None
    input_format: Annotated[
        str, typer.Option("--input", metavar="FORMAT", help="text, presegmented, horizontal, vertical or conllu.")
    ] = "text"
    output_format: Annotated[
        str, typer.Option("--output", metavar="FORMAT", help="conllu, json, horizontal or vertical.")
    ] = "conllu"
    stages: Annotated[
        str | None,
        typer.Option(help="Stages to use, such as tokens,tags.", show_default="all stages of the model"),
    ] = None
    lexicon: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Dictionary of lemmas, which is asked before the model and its own dictionary: lines of form, UPOS "
            "(optional) and lemma, separated by tabs.",
        ),
    ] = None
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Add the probability of each arc: Confidence=… in MISC.")
    ] = False
    max_bytes: MaxBytes = MAX_BYTES
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", help="Number of threads.", show_default="one for each core, at most 8")
    ] = None


@takes_options
def parse(given: ParseOptions) -> None:
    """Divide texts into sentences and words, and predict tags, lemmas and trees.

    Long texts are read and written in parts. Files may be compressed (.gz).
    """
    from swvp.bulk.plan import endings
    from swvp.cli.predict import MOST_JOBS
    from swvp.cli.terminal import note_terminal, print_message
    from swvp.io.container import kind_of
    from swvp.io.files import write_blocks
    from swvp.text.files import OUTPUTS, analyse_file
    from swvp.text.pipeline import Pipeline, missing_tags
    from swvp.training.options import available_cores
    from swvp.training.run import check_separate

    if given.jobs is not None and given.jobs < 1:
        raise InputError(f"jobs must be at least 1, not {given.jobs}")
    if given.output_dir is None:
        inputs = {"MODEL": given.model, "FILES": given.files, "--lexicon": given.lexicon}
        check_separate({"--output-file": given.output}, inputs)
    threads = min(available_cores(), MOST_JOBS) if given.jobs is None else given.jobs
    if (kind := kind_of(given.model)) in ("tagger", "parser"):
        raise InputError(f"{given.model} is a {kind}, not a pipeline from raw text: use swvp predict {given.model}")
    if given.output_format not in OUTPUTS:
        raise InputError(f"{unknown_name('output', given.output_format, OUTPUTS)}; to write a file, use -o FILE")
    pipeline = Pipeline.load(given.model)
    if given.stages is not None:
        pipeline = pipeline.only(given.stages)
    if given.lexicon is not None:
        pipeline.add_lexicon(given.lexicon)
    if note := missing_tags(pipeline, has_tags=given.input_format == "conllu"):
        print_message(f"note: {note}; give them with --input conllu")
    options: dict[str, Any] = {
        "input": given.input_format,
        "output": given.output_format,
        "confidence": given.confidence,
    }
    if given.output_dir is not None:
        models = [given.model, *([] if given.lexicon is None else [given.lexicon])]
        lexicon = None if given.lexicon is None else 1
        predict_into(
            given.output_dir,
            "parse",
            models,
            given.files or ["-"],
            {**options, "stages": given.stages, "lexicon": lexicon},
            given,
            threads,
            output=given.output,
            named=endings(given.output_format),
        )
        return
    if given.uses_cluster:
        raise InputError("--cluster and --workers need --output-dir, where the outputs go")
    files = given.files or ["-"]
    note_terminal(files)
    parts = (
        part
        for source in files
        for part in analyse_file(
            pipeline, source, **options, n_jobs=threads, document_id=source if len(files) > 1 else None
        )
    )
    write_blocks(given.output, parts)
