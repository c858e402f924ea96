"""Owns what a parser of second order has beside one of arcs: a pruner, the heads it leaves, and its trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from swvp.parsing.pruner import Pruner
from swvp.structures.tree.encoding import Keys, Nodes, Slot, slots_of
from swvp.structures.tree.first_order.model import Heads
from swvp.structures.tree.second_order.model import SecondOrder, new_part_model, predict_parts
from swvp.structures.tree.second_order.parts import Candidates
from swvp.training.options import in_shares
from swvp.types import Floats, Ints

__all__ = ["all_heads", "all_slots", "candidates_of", "predict_second"]


def all_slots(templates: Sequence[Any], pruner: Pruner | None) -> list[Slot]:
    """What the nodes of a treebank say, for the templates of parts and those of the pruner."""
    return slots_of([*templates, *(pruner.templates if pruner is not None else [])])


def all_heads(nodes: Nodes) -> Candidates:
    """Every word may have every other one as its head, or the root."""
    first, heads = [0], []
    for n in (np.diff(nodes.starts) - 1).tolist():
        table = np.tile(np.arange(n + 1, dtype=np.int32), (n, 1))
        heads.append(table[table != np.arange(1, n + 1)[:, None]])
        first += [first[-1] + n * k for k in range(1, n + 1)]
    return Candidates(np.array(first, np.int64), np.concatenate([np.zeros(0, np.int32), *heads]))


def candidates_of(pruner: Pruner | None, nodes: Nodes, gold: Heads | None, n_jobs: int) -> Candidates:
    """The heads that words may have; where nothing is pruned, all."""
    return all_heads(nodes) if pruner is None else pruner.candidates(nodes, gold, n_jobs)


def predict_second(problem: SecondOrder, w: Floats, owners: Keys | None, n_jobs: int) -> tuple[Heads, Ints]:
    """The best trees that were found; and how many sentences there are, how many of them certainly have the best."""
    out = np.zeros(len(problem.candidates.first) - 1, np.int32)
    solved: list[Ints] = []

    def predict(first: int, end: int) -> None:
        model = new_part_model(problem, len(w), w=w)._replace(owners=owners)
        predict_parts(problem, model, first, end, out)
        solved.append(model.solved[:2])

    in_shares(predict, len(problem.nodes.starts) - 1, n_jobs)
    return out, np.sum([np.zeros(2, np.int64), *solved], axis=0)
