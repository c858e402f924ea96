"""Minibatches (Zhao and Huang 2013): the examples of a batch are predicted in threads, then each makes its update.

All predictions of a batch are made with the weights w at its start. The updates follow one after the other, in the
order of the examples. So the number of threads changes nothing, not even the rounding of a sum.

Violations, γ and the steps of `mira` come from the scores of the prediction, that is from w, too. Margins under the
weights in between would be those of other predictions: y* is a violation for the weights that predicted it. So
w·Δ ≤ 0 for each update Δ, where the search is exact and condition (2) holds, and Theorem 1 keeps its form. If each of
the m ≤ N updates of a batch has ‖Δ‖ ≤ R and u·Δ ≥ δ for a unit vector u, then

    ‖w + ΣΔ‖² = ‖w‖² + 2 w·ΣΔ + ‖ΣΔ‖² ≤ ‖w‖² + m²R² ≤ ‖w‖² + N·mR²,    u·(w + ΣΔ) ≥ u·w + mδ,

hence at most N·R²/δ² mistakes in all, N times as many as with single examples. That is the worst case, in which all
updates of a batch are the same.

A *slot* is a model that shares the weights and has buffers of its own. There is one for each example of a batch,
because the update needs the scores of the prediction.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np

from swvp.compiled import implements, in_python
from swvp.errors import InputError, is_whole, shown
from swvp.learning.rule import UpdateRule
from swvp.structures.operations import find_mistakes, length, with_buffers
from swvp.structures.titles import title_of
from swvp.types import Ints

__all__ = ["MOST_EXAMPLES", "Batches", "check_batches"]

MOST_EXAMPLES = 1024
"""The largest batch: each example needs buffers."""


def check_batches(size: Any, rule: UpdateRule, structure: type) -> None:
    """Raise InputError if a batch cannot have this size, or if a rule or a structure cannot learn from batches."""
    if not is_whole(size) or size > MOST_EXAMPLES:
        raise InputError(f"batch_size must be a whole number from 1 to {MOST_EXAMPLES}, not {shown(size)}")
    if size == 1:
        return
    if not implements(structure, with_buffers):
        raise InputError(f"batch_size is for parsers, not for {title_of(structure)}: leave it out")
    if unable := [stage.name for stage in rule.stages if stage.k_best > 1 or stage.all_labels]:
        raise InputError(f"rule '{unable[0]}' cannot learn from batches: use another rule, or leave out batch_size")


class Batches:
    """The slots of a training, made once for all epochs, and the threads that fill them.

    In each batch the longest example takes the first slot, and so on. It is begun first, which balances the threads,
    and most slots touch little of their memory.
    """

    def __init__(self, problem: Any, model: Any, *, examples: int, size: int, n_jobs: int):
        self.size, self.n_jobs = int(size), int(n_jobs)
        self.slots = [with_buffers(problem, model) for _ in range(min(self.size, examples))]
        length_of = in_python(length.dispatch(type(problem)))  # type: ignore[attr-defined]
        self.lengths = np.array([length_of(problem, model, i) for i in range(examples)], np.int64)
        self.wrong = np.empty((len(self.slots), int(self.lengths.max(initial=1))), np.int64)

    def sweep(self, run: Any) -> Any:
        """A sweep with the arguments and the result of `run`, which makes the updates."""

        def sweep_batches(problem, model, rule, order, clock, power, largest, counts):
            with ThreadPoolExecutor(self.n_jobs) if self.n_jobs > 1 else nullcontext() as pool:
                for first in range(0, len(order), self.size):
                    batch = order[first : first + self.size]
                    predictions = self.predict(problem, batch, pool)
                    for t, (slot, wrong) in enumerate(predictions):
                        now = clock + first + t
                        if len(wrong) and not run(
                            problem, slot, rule, batch[t : t + 1], now, power, largest, counts, wrong
                        ):
                            return first + t
            return len(order)

        return sweep_batches

    def predict(self, problem: Any, batch: Ints, pool: ThreadPoolExecutor | None) -> list[tuple[Any, Ints]]:
        """Predict the examples of a batch; return for each its slot and its wrong positions."""
        by_length = np.argsort(-self.lengths[batch], kind="stable")

        def predict_one(number: int) -> tuple[Any, Ints]:
            slot, wrong = self.slots[number], self.wrong[number]
            count = find_mistakes(problem, slot, batch[by_length[number]], wrong)
            return slot, wrong[:count]

        numbers = range(len(batch))
        predictions = list(map(predict_one, numbers) if pool is None else pool.map(predict_one, numbers))
        return [predictions[number] for number in np.argsort(by_length).tolist()]
