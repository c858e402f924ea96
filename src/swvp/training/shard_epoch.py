"""One epoch of one shard, as a task: a function of the weights at its beginning and of a recipe, and of nothing else.

So a task that is run twice, by any worker, returns the same bytes. The arrays of a shard are on the disk of the worker
(`shard_store`); a worker that has not got them says so, and they are built there. A shard may consist of several
*blocks*, of which only one is in memory at a time: these are trained on one after the other, without mixing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from swvp.cluster import task
from swvp.learning.epoch import COUNTS
from swvp.learning.perceptron import State, new_state, run_epochs
from swvp.learning.rule import UpdateRule
from swvp.structures.operations import refresh
from swvp.training.mixing import Packed, change_of, packed
from swvp.training.round_start import SQUARES, Dense, Start, weights_at
from swvp.training.shard_store import Arrays, ShardStore
from swvp.training.training import SUMS, weight_names
from swvp.types import Ints

__all__ = ["End", "Lacking", "Shard", "ShardLearner", "orders_of", "run_shard", "shard_generator"]


class ShardLearner(Protocol):
    """What is trained on a shard: small, and the same for all shards."""

    @property
    def rule(self) -> UpdateRule: ...

    @property
    def power(self) -> float: ...

    @property
    def batch_size(self) -> int: ...

    @property
    def n_jobs(self) -> int: ...

    def problem(self, arrays: Arrays) -> Any:
        """The problem whose arrays a block has."""

    def model(self, problem: Any) -> Any:
        """A model with all weights 0 and buffers for the examples of a problem."""


@dataclass(frozen=True)
class Shard:
    """The recipe of a shard: the keys of its blocks, and how many examples each of them has.

    `worker` is the address of the worker of a cluster that should train it, because it has the arrays.
    """

    number: int
    shards: int
    keys: tuple[str, ...]
    sizes: tuple[int, ...]
    seed: int
    folder: str | None
    worker: str | None = None

    @property
    def examples(self) -> int:
        return sum(self.sizes)

    @property
    def missing(self) -> list[str]:
        """The keys of the blocks that are not on the disk of this machine."""
        store = ShardStore(self.folder)
        return [key for key in self.keys if not store.has(key)]


class End(NamedTuple):
    """What a shard has changed: new values at places, averaging sums there; its counts, seconds of CPU, and worker."""

    arrays: Packed
    largest: float
    counts: dict[str, int]
    seconds: float
    worker: str | None = None


class Lacking(NamedTuple):
    """What a worker lacks for a shard: its arrays, or the weights that those of the round are made from."""

    arrays: bool


def shard_generator(seed: int, shards: int, number: int) -> np.random.Generator:
    """The random numbers of a shard; those of the only shard are those of plain training."""
    return np.random.default_rng(seed if shards == 1 else [seed, number])


def orders_of(shard: Shard, round: int) -> list[tuple[int, Ints]]:
    """The blocks of a shard in the order of a round, each with the order of its examples."""
    generator = shard_generator(shard.seed, shard.shards, shard.number)
    orders: list[tuple[int, Ints]] = []
    for _ in range(round):  # the orders of the rounds before are drawn too: a round needs no state of another one
        blocks = [0] if len(shard.sizes) == 1 else generator.permutation(len(shard.sizes)).tolist()
        orders = [(block, generator.permutation(shard.sizes[block])) for block in blocks]
    return orders


class Given:
    """The order that is drawn next: `run_epochs` draws it as from random numbers."""

    def __init__(self, order: Ints):
        self.order = order

    def permutation(self, examples: int) -> Ints:
        assert examples == len(self.order)
        return self.order


def run_shard(learner: ShardLearner, start: Start, shard: Shard) -> End | Lacking:
    """Train one epoch on a shard, if this machine has its arrays and this process the weights."""
    began = time.thread_time()
    given = weights_at(start)
    if shard.missing:
        return Lacking(arrays=True)
    if given is None:
        return Lacking(arrays=False)
    state: State | None = None
    model: Any = None
    counts = dict.fromkeys(COUNTS, 0)
    for problem, order in blocks_of(learner, shard, start.round):
        new = learner.model(problem)
        if model is None:
            model = with_values(new, given)
            state = state_of(learner, model, given, (start.round - 1) * shard.examples, start.largest)
        else:
            model = new._replace(**{name: getattr(model, name) for name in arrays_in(model)})
        refresh(model)
        for epoch in run_epochs(
            problem,
            model,
            learner.rule,
            examples=len(order),
            epochs=1,
            random_state=Given(order),  # type: ignore[arg-type]
            power=learner.power,
            state=state,
            first=start.round,
            batch_size=learner.batch_size,
            n_jobs=learner.n_jobs,
        ):
            for name in COUNTS:
                counts[name] += getattr(epoch, name)
    assert state is not None
    return End(
        changes(model, state, given), float(state.largest[0]), counts, time.thread_time() - began, task.address()
    )


def blocks_of(learner: ShardLearner, shard: Shard, round: int) -> Iterator[tuple[Any, Ints]]:
    """The problems of the blocks of a shard, one in memory at a time, and the orders of their examples."""
    store = ShardStore(shard.folder)
    for block, order in orders_of(shard, round):
        arrays = store.open(shard.keys[block])
        assert arrays is not None, "a block has vanished from the disk"
        yield learner.problem(arrays), order


def arrays_in(model: Any) -> list[str]:
    """The fields of a model that hold weights and averaging sums."""
    return [part for name in weight_names(model) for part in (name, SUMS[name])]


def with_values(model: Any, given: Dense) -> Any:
    """A new model with the weights of the beginning of a round."""
    for name in arrays_in(model):
        if name in given:
            getattr(model, name).reshape(-1)[:] = given[name]
    return model


def state_of(learner: ShardLearner, model: Any, given: Dense, clock: int, largest: float) -> State:
    """The state of a training that has seen this shard in all rounds before."""
    state = new_state(learner.rule, model)
    state.clock, state.largest[0] = clock, largest
    if len(state.squares):
        state.squares[:] = given[SQUARES]
    return state


def changes(model: Any, state: State, given: Dense) -> Packed:
    """What differs from the beginning of the round: weights and averaging sums at the same places, sums of squares."""
    arrays: dict[str, NDArray[Any]] = {}
    for name in weight_names(model):
        w, sums = getattr(model, name).reshape(-1), getattr(model, SUMS[name]).reshape(-1)
        places = np.flatnonzero((w != given[name]) | (sums != given.get(SUMS[name], 0.0)))
        arrays |= {f"{name} places": places, f"{name} values": w[places], f"{SUMS[name]} values": sums[places]}
    if len(state.squares):
        places, values = change_of(given[SQUARES], state.squares)
        arrays |= {f"{SQUARES} places": places, f"{SQUARES} values": values}
    return packed(arrays)
