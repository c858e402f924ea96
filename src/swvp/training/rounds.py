"""Rounds of training on shards: each shard makes one epoch from the mixed weights, then the leader mixes.

A round takes the place of an epoch in the training loop (`swvp.training.training`): the leader scores the mixed weights
or their averages on the dev set, saves checkpoints, and stops by the same rules. Shards are trained by whatever runs
tasks: threads of this process, one after the other, or the workers of a cluster.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swvp.cluster.threads import Workers
from swvp.errors import InputError, unknown_name
from swvp.learning.epoch import COUNTS, Epoch
from swvp.structures.exact import averaged
from swvp.structures.operations import norm, refresh
from swvp.training.mixing import (
    MIXINGS,
    Mixture,
    Sparse,
    bytes_of,
    grid_for,
    late_sums,
    packed,
    share_of,
    unpacked,
)
from swvp.training.round_start import SQUARES, Sender, Start
from swvp.training.shard_epoch import End, Lacking, Shard, ShardLearner, run_shard
from swvp.training.shard_store import ShardStore
from swvp.training.training import SUMS, Training, Watch, Weights, ignore, weight_names
from swvp.types import Floats

__all__ = ["KEPT", "RoundTraining", "Sharding", "check_sharding", "shard_notes"]

KEPT = ("mixed", "average", "late", "dev")
"""Which weights are kept: those of the last mixing, the mean of all rounds, that of the late ones, or the best of the
three on the dev set."""
FEW_SHARDS = 8
"""From so many shards on, the mean of all rounds is worse than the late ones: mixing averages already."""

BUILDS = 20
"""How often a round builds what its workers have not got."""


@dataclass(frozen=True)
class Sharding:
    """How a corpus is trained on in shards.

    Parameters
    ----------
    shards : int
        The number of shards. With one there is nothing to mix.
    blocks : int
        The number of blocks of each shard, of which one at a time is in memory.
    mixing : str
        "uniform", or "mistakes": shares in proportion to the mistakes of a shard in the round.
    keep : str, optional
        Which weights are kept, one of `KEPT`. By default the best on the dev set; without one the average or, from 8
        shards on, that of the late rounds.
    folder : str, optional
        Where the arrays of shards are stored; by default a folder for temporary files.
    """

    shards: int = 1
    blocks: int = 1
    mixing: str = "uniform"
    keep: str | None = None
    folder: str | None = None

    @property
    def parts(self) -> int:
        """The number of parts that the corpus is divided into."""
        return self.shards * self.blocks

    def keeps(self, *, dev: bool) -> str:
        """Which weights are kept."""
        if self.keep is not None:
            return self.keep
        if dev and self.shards > 1:
            return "dev"
        return "average" if self.shards < FEW_SHARDS else "late"

    def recipes(self, keys: Sequence[str], sizes: Sequence[int], seed: Any) -> list[Shard]:
        """The shards of blocks with these keys and numbers of examples, in their order."""
        if not isinstance(seed, (int, np.integer)):
            raise InputError(f"training on shards needs a whole number as its seed, not {seed!r}")
        ranges = [slice(k * self.blocks, (k + 1) * self.blocks) for k in range(self.shards)]
        return [
            Shard(k, self.shards, tuple(keys[own]), tuple(sizes[own]), int(seed), self.folder)
            for k, own in enumerate(ranges)
        ]

    def remove_store(self) -> None:
        """Remove the arrays of shards from the disk of this machine; workers of a cluster remove their own."""
        if self.folder is not None:
            ShardStore(self.folder).remove()

    def options(self) -> dict[str, Any]:
        """What decides the weights, for checkpoints."""
        return {"shards": self.shards, "blocks": self.blocks, "mixing": self.mixing, "keep": self.keep}


def check_sharding(sharding: Sharding, *, dev: bool) -> None:
    """Raise InputError if options are wrong or do not fit together."""
    for name in ("shards", "blocks"):
        if getattr(sharding, name) < 1:
            raise InputError(f"{name} must be at least 1, not {getattr(sharding, name)}")
    if sharding.mixing not in MIXINGS:
        raise unknown_name("mixing", sharding.mixing, MIXINGS)
    if sharding.keep is not None and sharding.keep not in KEPT:
        raise unknown_name("keep", sharding.keep, KEPT)
    if sharding.keep == "dev" and not dev:
        raise InputError("--keep dev needs --dev, to choose the best weights of each round")


class RoundTraining(Training):
    """A training whose epochs are rounds over shards; see `Training` for what else it takes.

    `build` makes the arrays of shards on the machine of the worker that has not got them. `on_shard` is called with the
    number of shards that are done, and their number.
    """

    on_shard: Callable[[int, int], object] | None = None

    def __init__(
        self,
        *args: Any,
        sharding: Sharding,
        shards: Sequence[Shard],
        learner: ShardLearner,
        workers: Workers,
        build: Callable[[Sequence[Shard]], object],
        tokens: int,
        **settings: Any,
    ):
        super().__init__(*args, examples=sum(shard.examples for shard in shards), **settings)
        self.sharding, self.shards, self.learner = sharding, shards, learner
        self.workers, self.build, self.tokens = workers, build, tokens
        self.places: list[str | None] = [None] * len(shards)  # the workers that have the arrays of the shards
        self.keep = sharding.keeps(dev=self.dev is not None) if self.average else "mixed"
        self.grid = grid_for(self.rule)
        self.sender: Sender
        self.early: dict[str, Floats] = {}  # Σ (t^p - (t-1)^p) w_t at the last two rounds that are powers of 2
        if self.keep in ("late", "dev"):
            for name in weight_names(self.model):
                shape = getattr(self.model, name).shape
                self.early |= {f"{when} {name}": np.zeros(shape) for when in ("before", "since")}
        self.traffic: list[tuple[int, int]] = []
        """Of each round of this process, the bytes that go to a worker and those that come back from all of them."""
        self.seconds: list[list[float]] = []
        """Of each round of this process, the CPU seconds of each shard."""
        self.mixing_seconds: list[float] = []
        """Of each round of this process, the CPU seconds of mixing."""

    @property
    def settings(self) -> dict[str, Any]:
        return self.sharding.options()

    def more_arrays(self) -> dict[str, Floats]:
        return self.early

    def run(self, epochs: int, patience: int | None = None, watch: Watch = ignore) -> None:
        """Train up to `epochs` rounds in all; see `Training.run`."""
        self.sender = Sender(self.model, self.state, shards=len(self.shards), here=not self.workers.addresses)
        while not self.finished(epochs, patience):
            self._record(self._round(len(self.history) + 1), watch)

    # ------------------------------------------------------------ a round

    def _round(self, number: int) -> Epoch:
        began = time.perf_counter()
        start = self.sender.start(number, float(self.state.largest[0]))
        names = weight_names(self.model)
        own_means = self.sharding.mixing == "changed"
        weights = {name: Mixture(getattr(self.model, name), changed=own_means) for name in names}
        sums = {name: Mixture(getattr(self.model, SUMS[name]), changed=own_means) for name in names}
        squares = Mixture(self.state.squares, changed=True)
        counts = dict.fromkeys(COUNTS, 0)
        received, mixing, seconds, largest = 0, 0.0, [], start.largest
        for shard, end in zip(self.shards, self._ends(start), strict=True):
            mixing -= time.thread_time()
            share = share_of(self.sharding.mixing, end.counts["mistakes"])
            arrays = unpacked(end.arrays)
            longer = (self.examples / shard.examples) ** self.average_power
            for name in names:
                places = arrays[f"{name} places"]
                weights[name].add(share, Sparse(places, arrays[f"{name} values"]))
                own = Sparse(places, arrays[f"{SUMS[name]} values"])
                if len(self.shards) == 1:
                    sums[name].add(share, own)
                else:  # they began at 0
                    sums[name].add_to(share, own, longer)
            if len(self.state.squares):
                squares.add(share, Sparse(arrays[f"{SQUARES} places"], arrays[f"{SQUARES} values"]))
            largest = max(largest, end.largest)
            for name in COUNTS:
                counts[name] += end.counts[name]
            received += bytes_of(end.arrays)
            seconds.append(end.seconds)
            mixing += time.thread_time()
            if self.on_shard is not None:
                self.on_shard(len(seconds), len(self.shards))
        mixing -= time.thread_time()
        changed = self._write(weights, sums, squares)
        self.sender.changed = packed(changed) if len(self.shards) > 1 else end.arrays
        refresh(self.model)
        self.state.largest[0] = largest
        self.state.clock = number * self.examples
        self._keep_sums(number)
        mixing += time.thread_time()
        self.traffic.append((bytes_of(start.arrays), received))
        self.seconds.append(seconds)
        self.mixing_seconds.append(mixing)
        return Epoch(
            epoch=number,
            examples=self.examples,
            norm=norm(self.model),
            seconds=time.perf_counter() - began,
            **counts,
        )

    def _write(self, weights: dict[str, Mixture], sums: dict[str, Mixture], squares: Mixture) -> dict[str, Any]:
        """Write the means of a round; return the places and values of the weights and sums of squares it changed."""
        changed: dict[str, Any] = {}
        for name, mixture in weights.items():
            new = mixture.write(self.grid)
            sums[name].write()
            changed |= {f"{name} places": new.places, f"{name} values": new.values}
        if len(self.state.squares):
            new = squares.write()
            changed |= {f"{SQUARES} places": new.places, f"{SQUARES} values": new.values}
        return changed

    def _ends(self, start: Start) -> Iterator[End]:
        """The results of the shards in their order; what a worker lacks is built there, or sent to it, first."""
        early: dict[int, End] = {}
        waiting = list(range(len(self.shards)))
        turn = 0
        for _ in range(BUILDS):
            task = functools.partial(run_shard, self.learner, start)
            placed = self._placed(waiting)
            missing: list[int] = []
            to_build: list[Shard] = []
            for number, end in self.workers.map(task, placed, name=name_of):
                shard = waiting[number]
                if isinstance(end, Lacking):
                    missing.append(number)
                    to_build += [placed[number]] if end.arrays else []
                else:
                    self.places[shard] = end.worker
                    early[shard] = end
                while turn in early:
                    yield early.pop(turn)
                    turn += 1
            if not missing:
                return
            self.build(to_build)
            waiting = [waiting[number] for number in missing]
            start = self.sender.start(start.round, start.largest, whole=True)
        raise InputError("the arrays of shards vanish as soon as they are built: is the disk of a worker full?")

    def _placed(self, numbers: Sequence[int]) -> list[Shard]:
        """These shards, each with the worker that has its arrays, or with one that will have them."""
        addresses = self.workers.addresses
        for number in numbers if addresses else ():
            if self.places[number] not in addresses:
                self.places[number] = addresses[number % len(addresses)]
        return [dataclasses.replace(self.shards[number], worker=self.places[number]) for number in numbers]

    # ------------------------------------------------------------ the weights that are kept

    def _keep_sums(self, number: int) -> None:
        """After a round that is a power of 2, remember the sum of all weights until now."""
        if not self.early or number & (number - 1):
            return
        for name in weight_names(self.model):
            self.early[f"before {name}"][:] = self.early[f"since {name}"]
            total = getattr(self.model, name) * self._clock() - getattr(self.model, SUMS[name])
            self.early[f"since {name}"][:] = total

    def _late_begin(self) -> int:
        """The round after which the late rounds begin: the largest power of 2 that is at most half of the rounds."""
        rounds = len(self.history)
        return 0 if rounds < 2 else 1 << (rounds.bit_length() - 2)

    def kept(self, keep: str) -> Weights:
        """The weights of the last mixing, the mean of all rounds, or that of the late rounds."""
        clock, weights = self._clock(), {}
        then = float(self._late_begin() * self.examples) ** self.average_power
        for name in weight_names(self.model):
            w, delayed = getattr(self.model, name), getattr(self.model, SUMS[name])
            if keep == "mixed":
                weights[name] = w.copy()
            elif keep == "average" or not then:
                weights[name] = averaged(w, delayed, clock)
            else:
                before = self.early[f"before {name}"]
                weights[name] = averaged(w, late_sums(w, delayed, before, then), clock - then)
        return weights

    def weights(self) -> Weights:
        """The weights to keep; without a dev set the late ones stand for the best on it."""
        return self.kept("late" if self.keep == "dev" else self.keep)

    def scored(self) -> tuple[Weights, float]:
        """The weights to keep, and their dev score."""
        if self.keep != "dev":
            return super().scored()
        assert self.dev is not None
        tried = [self.kept(keep) for keep in ("late", "mixed", "average")]
        scores = [self.dev.score(weights, self.model) for weights in tried]
        best = int(np.argmax(scores))
        return tried[best], scores[best]

    def result(self) -> Weights:
        """The weights of the best round, or those of the last one."""
        return self.weights() if self.best is None else self.best


def name_of(shard: Shard) -> str:
    """A shard as messages name it."""
    return f"shard {shard.number + 1} of {shard.shards}"


def shard_notes(sharding: Sharding, sizes: Sequence[int], tokens: int, files: int) -> list[str]:
    """Notes on a divided corpus; `sizes` are the numbers of sentences of its parts."""
    sentences = sum(sizes)
    text = f"training: {sentences:,} sentences, {tokens:,} tokens in {files:,} file{'' if files == 1 else 's'}"
    shards = f"{sharding.shards} shard{'' if sharding.shards == 1 else 's'}"
    blocks = "" if sharding.blocks == 1 else f" of {sharding.blocks} blocks"
    return [f"{text}; {shards}{blocks}, {min(sizes):,} to {max(sizes):,} sentences each"]
