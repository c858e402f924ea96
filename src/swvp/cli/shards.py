"""Options of training on shards, and what they mean for the files of a corpus."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swvp.cli.options import ClusterOptions
from swvp.cli.terminal import print_message
from swvp.cluster.threads import Threads, Workers
from swvp.errors import InputError

if TYPE_CHECKING:
    from swvp.training.rounds import Sharding

__all__ = ["ShardOptions", "bytes_from", "sharding_of", "workers_of"]

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
