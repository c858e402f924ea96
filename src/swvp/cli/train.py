"""What `swvp train tagger` and `swvp train parser` share: files, course, shards, a note on options without effect."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterator, Mapping, Sequence
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
from swvp.cluster.threads import Threads, Workers
from swvp.errors import InputError

if TYPE_CHECKING:
    from swvp.cli.train_parser import ParserOptions
    from swvp.cli.train_tagger import TaggerOptions
    from swvp.cluster.connect import Cluster
    from swvp.learning.rule import UpdateRule
    from swvp.training.rounds import Sharding
    from swvp.training.run import Run

__all__ = [
    "CourseOptions",
    "FileOptions",
    "ShardOptions",
    "app",
    "bytes_from",
    "cluster_of",
    "exit_when_stopped",
    "note_parser_options",
    "note_tagger_options",
    "of_features",
    "of_learning",
    "of_search",
    "of_tuning",
    "run_of",
    "sharding_of",
    "workers_of",
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
    from swvp.training.run import Run

    note_utf_8([*given.train, given.dev or ""], given.encoding)
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


def note_utf_8(files: Sequence[str], encoding: str) -> None:
    """Print a note if a file is in UTF-8 and is read in another encoding, which may work and give wrong characters."""
    from swvp.io.files import looks_like_utf_8
    from swvp.io.table import check_encoding

    if check_encoding(encoding) in ("utf-8", "utf-8-sig"):
        return
    for file in files:
        if looks_like_utf_8(file):
            print_message(f"note: {file} looks like UTF-8, but is read as {encoding}: leave out --encoding?")


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
        if str(given.cluster).isdigit():
            raise InputError(
                f"--cluster is the address of a Dask cluster; for word clusters: --clusters {given.cluster}"
            )
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


of_shards = partial(typer.Option, rich_help_panel="Large corpora")
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

BASE = 300 * 2**20
"""The memory of the process itself: Python, compiled code and the weights of a model of usual size."""
BYTES_PER_BYTE = {"tagger": 80, "parser": 30}
"""The memory that a block takes while it is read and encoded, for each byte of its text."""


@dataclass(kw_only=True)
class ShardOptions(ClusterOptions):
    """How a large corpus is trained on."""

    shards: Annotated[
        int | None,
        of_shards(
            metavar="S",
            min=1,
            help="Divide the data into S shards. In each round an epoch is trained on every shard, then the weights of "
            "all shards are mixed. --epochs and --patience count rounds.",
            show_default="1: nothing is mixed",
        ),
    ] = None
    memory: Annotated[
        str | None,
        of_shards(
            metavar="BYTES",
            help="Limit for memory, such as 500M or 4G: the data are divided into blocks, and only one of them is in "
            "memory at a time.",
            show_default="no limit",
        ),
    ] = None
    mixing: Annotated[
        str,
        of_shards(
            help="How weights are mixed. uniform: the mean of all shards; mistakes: shards with more mistakes in the "
            "round count more; changed: for each weight, the mean of the shards that changed it."
        ),
    ] = "uniform"
    keep: Annotated[
        str | None,
        of_shards(
            help="Weights to keep in each round: mixed; average (of all rounds); late (average of the later half); "
            "dev: the best of these three on --dev.",
            show_default="dev; without --dev or with 1 shard: average; without --dev, from 8 shards on: late",
        ),
    ] = None

    def uses_shards(self, data: Sequence[str]) -> bool:
        """Whether the data are trained on in shards: as asked for, or because they are not a single file."""
        asked = self.shards is not None or self.memory is not None
        several = len(data) > 1 or (data[0] != "-" and not Path(data[0]).is_file() and is_folder_or_glob(data[0]))
        if several and self.uses_cluster and self.shards is None:
            raise InputError("--cluster and --workers need --shards S: the number of shards decides the model")
        if not (asked or several) and (self.mixing != "uniform" or self.keep is not None):
            raise InputError("--mixing and --keep are for --shards")
        return asked or several


def is_folder_or_glob(name: str) -> bool:
    return Path(name).is_dir() or (not Path(name).exists() and any(sign in name for sign in "*?["))


def bytes_from(text: str) -> int:
    """A number of bytes, with or without a unit.

    >>> bytes_from("500M")
    524288000
    """
    match = re.fullmatch(r"([0-9]{1,15})([KMGT]?)B?", text.strip().upper())
    if match is None:
        raise InputError(f"--memory must be a number of bytes, such as 500M or 16G, not '{text}'")
    return int(match[1]) * UNITS[match[2]]


def sharding_of(given: ShardOptions, files: Sequence[str], model: Path, kind: str) -> Sharding:
    """The shards and blocks that the options ask for; the arrays of shards are stored beside the model."""
    from swvp.training.parts import size_of
    from swvp.training.rounds import Sharding

    shards, blocks = given.shards or 1, 1
    if given.memory is not None:
        left = bytes_from(given.memory) - BASE
        if left <= 0:
            raise InputError(f"--memory {given.memory} is too little: training takes {BASE // 2**20}M without any data")
        needed = sum(map(size_of, files)) * BYTES_PER_BYTE[kind]
        blocks = max(1, math.ceil(needed / shards / left))
    # workers of this machine share a folder; those of a cluster have folders of their own, on their own disks
    folder = None if given.cluster is not None else str(model.absolute().with_name(f"{model.name}.shards"))
    return Sharding(shards, blocks, given.mixing, given.keep, folder)


def workers_of(given: ShardOptions, threads: int) -> Workers:
    """The cluster that the options name, to be opened; without one, threads, or one if memory is short."""
    if not given.uses_cluster:
        return Threads(1 if given.memory is not None else threads)
    return given.new_cluster(print_message)


Useless = Iterator[tuple[str, str]]
"""Options without effect, each with the reason."""


def note_tagger_options(given: TaggerOptions, rule: UpdateRule, margin: float, *, shards: bool) -> None:
    """Print a note on options of a tagger that are given and have no effect; `rule` and `margin` are those used."""
    print_note([*course(given, rule, shards, crf=given.rule == "crf"), *of_tagger(given, margin)])


def note_parser_options(given: ParserOptions, rule: UpdateRule, *, shards: bool) -> None:
    """Print a note on options of a parser that are given and have no effect; `rule` is the one used."""
    print_note([*course(given, rule, shards), *of_parser(given)])


def print_note(useless: list[tuple[str, str]]) -> None:
    """Print all options without effect as one line."""
    if useless:
        print_message(f"note: without effect: {', '.join(f'{option} ({why})' for option, why in useless)}")


def is_given(given: object, name: str) -> bool:
    """Whether an option has another value than by default."""
    defaults = {field.name: field.default for field in dataclasses.fields(given)}  # type: ignore[arg-type]
    return bool(getattr(given, name) != defaults[name])


def course(given: TaggerOptions | ParserOptions, rule: UpdateRule, shards: bool, *, crf: bool = False) -> Useless:
    """Options of any training; `crf`: the rule is crf, which has none of the parts of `rule`."""
    if given.tune:
        if given.rule is not None:
            yield "--rule", "--tune tries --rules"
        if is_given(given, "beta"):
            yield "--beta", "--tune tries --betas"
    else:
        if is_given(given, "beta") and (crf or not rule.uses_beta):
            yield "--beta", f"rule {given.rule or rule.name} has no β"
        if given.C is not None and (crf or not {stage.step for stage in rule.stages} & {"mira", "ada"}):
            yield "--C", "for the steps mira and ada"
    if given.average_power is not None and not given.average:
        yield "--average-power", "--no-average"
    if given.jobs is not None and not (given.tune or shards) and getattr(given, "batch_size", 1) == 1:
        yield (
            "--jobs",
            "for --tune, --shards and --batch" if hasattr(given, "batch_size") else "for --tune, --shards",
        )


def of_tagger(given: TaggerOptions, margin: float) -> Useless:
    """Options of taggers."""
    if is_given(given, "l2") and (given.tune or given.rule != "crf"):
        yield "--l2", "for rule crf"
    if given.cost is not None and margin == 0 and not given.tune:
        yield "--cost", "the margin is 0: give --margin"
    if is_given(given, "fix") and not given.beam:
        yield "--fix", "for --beam"


def of_parser(given: ParserOptions) -> Useless:
    """Options of parsers."""
    if given.exact and is_given(given, "hashed"):
        yield "--hashed", "--exact"
    for name, option in (("prune_heads", "--prune-heads"), ("prune_threshold", "--prune-threshold")):
        if is_given(given, name) and (given.order == 1 or not given.prune):
            yield option, "for --order 2" if given.order == 1 else "--no-prune"
