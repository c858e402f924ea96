"""What `swvp train tagger` and `swvp train parser` share: their group, their files and the course of a training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swvp.cli.options import (
    MAX_BYTES,
    ClusterOptions,
    Encoding,
    Group,
    MaxBytes,
    floats,
    load_python,
    names,
)
from swvp.cli.terminal import print_message
from swvp.errors import InputError

if TYPE_CHECKING:
    from swvp.cli.train_parser import ParserOptions
    from swvp.cli.train_tagger import TaggerOptions
    from swvp.cluster.connect import Cluster
    from swvp.training.session import Run

__all__ = [
    "CourseOptions",
    "FileOptions",
    "app",
    "cluster_of",
    "exit_when_stopped",
    "of_features",
    "of_learning",
    "of_search",
    "of_tuning",
    "run_of",
]

app = typer.Typer(cls=Group, help="Train a model on labelled data.", no_args_is_help=True)

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
        str | None,
        typer.Option(metavar="FILE", help="Dev set: each epoch is scored on this file, and the best one is saved."),
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
            show_default="1; rule softmax: 0.3",
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
            help="The weights after sentence t count t^(P-1) in the average. P = 1: all count the same; larger P: "
            "later ones count more.",
            show_default="1; with the step ada: 3",
        ),
    ] = None
    random_state: Annotated[int, of_learning("--seed", metavar="N", min=0, help="Seed for the order of sentences.")] = 0
    load: Annotated[Path | None, of_learning(help="Python file to run first, for example to register your own γ.")] = (
        None
    )
    tune: Annotated[
        bool, of_tuning("--tune", help="Try several rules and values of β; save the model that is best on --dev.")
    ] = False
    rules: Annotated[str | None, of_tuning(help="Rules to try, such as csp,a-wm,b-wm.", show_default="a selection")] = (
        None
    )
    betas: Annotated[
        str | None, of_tuning(help="Values of β to try, such as 0.5,1 or FIRST:LAST:STEP.", show_default="a selection")
    ] = None
    jobs: Annotated[
        int | None,
        of_tuning(
            "--jobs",
            "-j",
            help="Number of threads, for --tune, --shards and (parsers) --batch.",
            show_default="all cores",
        ),
    ] = None
    log: Annotated[Path | None, of_checkpoints(help="Training log to write: a JSON line for each epoch.")] = None
    checkpoint: Annotated[
        float,
        of_checkpoints(
            help="Seconds between checkpoints. Interrupted training resumes when the same command runs again."
        ),
    ] = 10.0
    fresh: Annotated[bool, of_checkpoints("--fresh", help="Start again; ignore checkpoints.")] = False


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
        raise InputError("--cluster and --workers need --shards S, the number of shards, or --tune")
    return given.new_cluster(print_message)


@contextmanager
def exit_when_stopped() -> Iterator[None]:
    """Exit with code 130 when the user stops training with Ctrl-C."""
    from swvp.training.training import Stopped

    try:
        yield
    except Stopped:
        raise typer.Exit(130) from None
