"""The commands `swvp train pipeline`, `tokenizer`, `lemmatizer`: a treebank in, a model for `swvp parse` out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swvp.cli.options import MAX_BYTES, ClusterOptions, Encoding, MaxBytes, takes_options
from swvp.cli.terminal import print_message
from swvp.cli.train import exit_when_stopped

if TYPE_CHECKING:
    from swvp.training.session import Session

__all__ = ["COMMANDS", "lemmatizer", "pipeline", "tokenizer"]

EXAMPLES = """
A treebank is a file in CoNLL-U, or a folder with files *-ud-train.conllu and
*-ud-dev.conllu. Stages for which it has no data are left out.

Examples:

  swvp train pipeline UD_Greek-GDT --model el.swvp

  swvp train pipeline train.conllu --dev dev.conllu --order 1 -m fast.swvp

  swvp train pipeline train.conllu --stages tokens,tags -m tagger.swvp

  swvp train pipeline train.conllu --lexicon lemmas.tsv -m mine.swvp

  swvp train pipeline UD_Greek-GDT -m el.swvp --workers 4
"""

TOKENIZER_EXAMPLES = """
The model is a pipeline with the stage tokens only.

Examples:

  swvp train tokenizer UD_Greek-GDT --model tokens.swvp

  swvp parse tokens.swvp article.txt --output horizontal
"""

LEMMATIZER_EXAMPLES = """
The model is a pipeline with the stage lemmas only. It reads words with their
tags: --input conllu.

Examples:

  swvp train lemmatizer UD_Greek-GDT --model lemmas.swvp

  swvp parse lemmas.swvp --input conllu tagged.conllu
"""


@dataclass(kw_only=True)
class StageOptions:
    """The files and the course of any training of stages."""

    train: Annotated[str, typer.Argument(metavar="TRAIN", help="Training file, or the folder of a treebank.")]
    model: Annotated[Path, typer.Option("--model", "-m", help="Model file to write.")]
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Dev set: it chooses the best epochs, and the model is scored on it.",
            show_default="that of the folder",
        ),
    ] = None
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed for the order of sentences.")] = 0
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", help="Number of threads; the model does not depend on it.", show_default="all cores"
        ),
    ] = None
    encoding: Encoding = "utf-8"
    max_bytes: MaxBytes = MAX_BYTES
    fresh: Annotated[bool, typer.Option("--fresh", help="Start again; ignore checkpoints.")] = False


@dataclass(kw_only=True)
class LemmaOptions(StageOptions):
    """Also a dictionary of lemmas."""

    lexicon: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Dictionary of lemmas, which is asked before the model: lines of form, UPOS (optional) and lemma, "
            "separated by tabs.",
        ),
    ] = None


@dataclass(kw_only=True)
class PipelineOptions(ClusterOptions, LemmaOptions):
    """The options of `swvp train pipeline`."""

    stages: Annotated[str, typer.Option(help="Stages to train.")] = "tokens,tags,lemmas,trees"
    order: Annotated[int, typer.Option(help="Order of the parser: 2 is more accurate, 1 twice as fast.")] = 2
    folds: Annotated[
        int,
        typer.Option(
            help="The parser learns from predicted tags and lemmas, of this number of folds; 1: from gold ones."
        ),
    ] = 5
    checkpoint: Annotated[float, typer.Option(help="Seconds between checkpoints of the parser.")] = 10.0


@takes_options
def pipeline(given: PipelineOptions) -> None:
    """Train all stages from raw text to trees: tokens, tags, lemmas, parser.

    Prints each stage with its scores on the dev set.

    Ctrl-C stops; the same command resumes after the last stage or epoch.
    """
    train_stages(
        given,
        {"trees": {"order": given.order}},
        stages=given.stages,
        folds=given.folds,
        lexicon=given.lexicon,
        checkpoint=given.checkpoint,
        workers=given.new_cluster(print_message) if given.uses_cluster else None,
    )


@takes_options
def tokenizer(given: StageOptions) -> None:
    """Train a tokenizer, which finds sentences, tokens and multiword tokens.

    Learns from SpaceAfter=No in the column MISC of a treebank.
    """
    train_stages(given, {}, stages="tokens")


@takes_options
def lemmatizer(given: LemmaOptions) -> None:
    """Train a lemmatizer of words with tags.

    Prints its accuracy on the dev set.
    """
    train_stages(given, {}, stages="lemmas", lexicon=given.lexicon)


COMMANDS = ((pipeline, EXAMPLES), (tokenizer, TOKENIZER_EXAMPLES), (lemmatizer, LEMMATIZER_EXAMPLES))
"""The commands, with what their help ends with."""


def train_stages(
    given: StageOptions, settings: Mapping[str, Mapping[str, Any]], *, checkpoint: float = 10.0, **options: Any
) -> None:
    """Train a pipeline with these options and settings of its stages, and write it."""
    from swvp.cli.progress import TrainingOutput
    from swvp.text.train import train_pipeline
    from swvp.training.run import Run

    run = Run(
        train=given.train,
        model=given.model,
        dev=given.dev,
        encoding=given.encoding,
        checkpoint=checkpoint,
        fresh=given.fresh,
        jobs=given.jobs,
        other_inputs={"a file of TRAIN": treebank_files(given.train), "--lexicon": options.get("lexicon")},
    )
    run.check(patience=None)
    with exit_when_stopped(), run.session([TrainingOutput()]) as session, stopped_between_epochs(session):
        trained = train_pipeline(
            session,
            given.train,
            given.dev,
            settings=settings,
            random_state=given.seed,
            n_jobs=run.threads,
            encoding=given.encoding,
            **options,
        )
        session.save(trained, given.model, f"stages {', '.join(trained.stages)}")


def treebank_files(train: str) -> list[Path]:
    """The files of a folder that is trained on; none for a file."""
    from swvp.text.treebank_text import files_of_folder

    return [file for file in files_of_folder(Path(train)) if file is not None] if Path(train).is_dir() else []


@contextmanager
def stopped_between_epochs(session: Session) -> Iterator[None]:
    """Stop in one line at Ctrl-C in a stage whose epochs have no checkpoints."""
    from swvp.training.training import Stopped

    try:
        yield
    except Stopped:
        raise
    except KeyboardInterrupt:
        session.note("stopped; run the same command again to resume after the last finished stage")
        raise Stopped from None
