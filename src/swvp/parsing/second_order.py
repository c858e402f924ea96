"""Owns what a parser of second order has beside one of arcs: templates of parts, a pruner, and its trees."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from swvp.errors import InputError, unknown_name
from swvp.parsing.pruner import Pruner
from swvp.structures.operations import Floats, Ints
from swvp.structures.tree.arcs import Heads
from swvp.structures.tree.encode import Keys, Nodes, Slot, slots_of
from swvp.structures.tree.part_templates import PART_PRESETS, PartTemplates, parse_part_templates
from swvp.structures.tree.parts import Candidates
from swvp.structures.tree.second import SecondOrder, new_part_model, predict_parts
from swvp.structures.tree.templates import PRESETS
from swvp.training.options import in_shares

__all__ = ["all_heads", "all_slots", "candidates_of", "chosen_parts", "predict_second"]


def chosen_parts(features: str | Sequence[str]) -> PartTemplates:
    """The templates a user asked for: a preset by name, or templates."""
    if isinstance(features, str):
        known = PRESETS | PART_PRESETS
        if features not in known:
            raise unknown_name("features", features, known)
        features = known[features]
    if not isinstance(features, Collection) or not all(isinstance(text, str) for text in features):
        raise InputError(f"features must be the name of a preset or a list of templates, not {features!r}")
    return parse_part_templates(features)


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
