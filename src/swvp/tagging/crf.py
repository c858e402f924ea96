"""Training by likelihood: a conditional random field with the features and weights of the tagger.

The objective is -Σ log p(y | x) + l2/2 · ‖w‖², where w are all weights (a, y) and (y', y); CRFsuite's c2 is l2/2.
With a constraint, p is over the allowed sequences only. The objective is convex; SciPy's L-BFGS starts from the weights
of the model.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from swvp.errors import InputError, is_real, shown
from swvp.learning.perceptron import COUNTS, Epoch
from swvp.structures.chain.attributes import AttributeChain, AttributeModel
from swvp.structures.chain.likelihood import expect, gather, occurrences
from swvp.structures.chain.marginals import new_chain_buffers, transitions
from swvp.structures.operations import weights
from swvp.training.training import Training, Watch, ignore
from swvp.types import Floats, Ints

__all__ = ["Iteration", "LikelihoodTraining", "Objective", "check_l2", "maximise_likelihood"]

MEMORY = 6
"""The number of steps that L-BFGS remembers."""

BLOCKS = 16
"""Parts of the work for threads: the same for any number of threads, so that sums have the same order."""


@dataclass(frozen=True)
class Iteration:
    """The state after one iteration of L-BFGS.

    `mistakes` counts sentences and `wrong_positions` tokens in which the gold label is not the most probable one;
    `evaluations` counts gradients so far, and `seconds` are those of this iteration.
    """

    iteration: int
    examples: int
    objective: float
    log_likelihood: float
    gradient_norm: float
    norm: float
    mistakes: int
    wrong_positions: int
    evaluations: int
    seconds: float

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


class Objective:
    """The objective and its gradient at weights given as one vector: (a, y), then (y', y)."""

    def __init__(self, problem: AttributeChain, attributes: int, barrier: Floats, l2: float, n_jobs: int = 1):
        self.problem, self.barrier, self.l2 = problem, barrier, l2
        self.attributes, self.labels = attributes, len(barrier) - 1
        self.occurrences = occurrences(problem.attributes, problem.values, problem.starts, attributes)
        self.sentences = blocks(problem.starts[problem.offsets])
        self.rows = blocks(self.occurrences.starts)
        self.out = np.zeros((len(problem.y), self.labels))
        longest = max(int(np.diff(problem.offsets).max(initial=0)), 1)
        self.buffers = [
            (np.zeros((longest, self.labels)), new_chain_buffers(self.labels, longest)) for _ in self.sentences
        ]
        self.pool = ThreadPoolExecutor(n_jobs) if n_jobs > 1 else None
        self.evaluations = 0
        self.log_likelihood = self.norm = self.gradient_norm = 0.0  # of the last evaluation, as all below
        self.wrong = np.zeros(2, np.int64)  # sentences and positions

    def __call__(self, x: Floats, gradient: Floats) -> float:
        """The value at x; the gradient is written into `gradient`."""
        w, w_move = self.split(x)
        g, g_move = self.split(gradient)
        moves = transitions(w_move + self.barrier)
        ends = (len(self.sentences), *w_move.shape)
        pairs, exact, wrong = np.zeros(ends), np.zeros(ends), np.zeros((len(self.sentences), 2), np.int64)

        def likelihood(k: int) -> float:
            first, last = self.sentences[k]
            node, buffers = self.buffers[k]
            return expect(self.problem, first, last, w, moves, node, buffers, self.out, pairs[k], exact[k], wrong[k])

        def gradients(k: int) -> float:
            first, last = self.rows[k]
            return gather(self.occurrences, first, last, self.out, w, self.l2, g)

        self.log_likelihood = sum(self.run(likelihood, len(self.sentences)))
        if self.log_likelihood == -np.inf:
            raise InputError("the constraint forbids the labels of a training sentence")
        squares = sum(self.run(gradients, len(self.rows))) + float((w_move * w_move).sum())
        g_move[:] = pairs.sum(0) * moves.factor + exact.sum(0) + self.l2 * w_move
        self.wrong = wrong.sum(0)
        self.evaluations += 1
        self.norm, self.gradient_norm = float(np.sqrt(squares)), float(np.sqrt(gradient @ gradient))
        return -self.log_likelihood + self.l2 / 2 * squares

    def split(self, x: Floats) -> tuple[Floats, Floats]:
        """The weights (a, y) and (y', y) in one vector."""
        size = self.attributes * self.labels
        return x[:size].reshape(self.attributes, self.labels), x[size:].reshape(self.barrier.shape)

    def run(self, work: Callable[[int], float], count: int) -> list[float]:
        return list(self.pool.map(work, range(count)) if self.pool else map(work, range(count)))


def blocks(starts: Ints) -> list[tuple[int, int]]:
    """Divide items, item i from starts[i] to starts[i + 1], into BLOCKS ranges of about the same size."""
    cuts = np.searchsorted(starts, np.linspace(starts[0], starts[-1], BLOCKS + 1)[1:-1])
    return list(zip([0, *cuts.tolist()], [*cuts.tolist(), len(starts) - 1], strict=True))


def check_l2(l2: Any) -> None:
    """Raise InputError unless l2 is a number of at least 0."""
    if not is_real(l2) or l2 < 0:
        raise InputError(f"l2 must be a number of at least 0, not {shown(l2)}")


def maximise_likelihood(
    problem: AttributeChain,
    model: AttributeModel,
    *,
    l2: float = 1.0,
    limit: int = 100,
    tolerance: float = 1e-6,
    n_jobs: int = 1,
    watch: Callable[[Iteration], object] = lambda iteration: None,
) -> None:
    """Train `model` by likelihood, in place: after each iteration its weights are those of that iteration.

    Stops after `limit` iterations, when one lowers the objective by less than `tolerance` of it, or when `watch`,
    which is called after each, raises StopIteration. The number of threads changes no weight.
    """
    from scipy.optimize import minimize  # takes long to import

    for name, given in {"limit": limit, "n_jobs": n_jobs}.items():
        if given < 1:
            raise InputError(f"{name} must be at least 1, not {given}")
    check_l2(l2)
    barrier = np.where(np.isneginf(model.moves), -np.inf, 0.0)
    objective = Objective(problem, len(model.w), barrier, l2, n_jobs)
    gradient = np.empty(model.w.size + model.w_move.size)
    reached: list[Iteration] = []
    began = time.perf_counter()

    def value_and_gradient(x: Floats) -> tuple[float, Floats]:
        return objective(x, gradient), gradient

    def after_iteration(intermediate_result: Any) -> None:
        nonlocal began
        w, w_move = objective.split(intermediate_result.x)
        model.w[:], model.w_move[:], model.moves[:] = w, w_move, w_move + barrier
        iteration = Iteration(
            iteration=len(reached) + 1,
            examples=len(problem.offsets) - 1,
            objective=float(intermediate_result.fun),
            log_likelihood=objective.log_likelihood,
            gradient_norm=objective.gradient_norm,
            norm=objective.norm,
            mistakes=int(objective.wrong[0]),
            wrong_positions=int(objective.wrong[1]),
            evaluations=objective.evaluations,
            seconds=time.perf_counter() - began,
        )
        reached.append(iteration)
        began = time.perf_counter()
        watch(iteration)

    minimize(
        value_and_gradient,
        weights(model),
        jac=True,
        method="L-BFGS-B",
        callback=after_iteration,
        options={"maxiter": limit, "maxfun": 10 * limit + 100, "maxcor": MEMORY, "ftol": tolerance, "gtol": 0.0},
    )


class LikelihoodTraining(Training):
    """The training of a CRF; its epochs are iterations of L-BFGS. It cannot resume from a checkpoint."""

    resumable = False
    stops_without_mistakes = False

    def __init__(self, *given: Any, l2: float, n_jobs: int, **named: Any):
        super().__init__(*given, **named)
        self.average = False
        self.l2, self.n_jobs = l2, n_jobs

    def run(self, epochs: int, patience: int | None = None, watch: Watch = ignore) -> None:
        def after(iteration: Iteration) -> None:
            self._record(as_epoch(iteration), watch)
            if self.finished(epochs, patience):
                raise StopIteration

        maximise_likelihood(self.problem, self.model, l2=self.l2, limit=epochs, n_jobs=self.n_jobs, watch=after)


def as_epoch(iteration: Iteration) -> Epoch:
    """An iteration as an epoch of the history, without updates."""
    counts = dict.fromkeys(COUNTS, 0) | {
        "mistakes": iteration.mistakes,
        "wrong_positions": iteration.wrong_positions,
    }
    return Epoch(
        epoch=iteration.iteration,
        examples=iteration.examples,
        norm=iteration.norm,
        seconds=iteration.seconds,
        **counts,
    )
