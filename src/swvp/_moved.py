"""Errors that name the new place of what version 0.1.0 documented elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType

__all__ = ["point_to_new_names"]

MOVED = {
    "swvp.data.columns": "swvp.io (read_columns)",
    "swvp.data.table": "swvp.io (read_table, Table)",
    "swvp.estimator": "swvp (StructuredPerceptron)",
    "swvp.experiments": "swvp.studies",
    "swvp.learning.example": "swvp.rules (sets_of)",
    "swvp.parser": "swvp (DependencyParser)",
    "swvp.parsing.evaluate": "swvp.evaluation (evaluate_trees, compare_trees)",
    "swvp.scoring": "swvp.evaluation",
    "swvp.structures.chain.plain": "swvp.structures (PlainChain)",
    "swvp.structures.chain.templates": "swvp.features (PRESETS, parse_templates)",
    "swvp.structures.python": "swvp.rules (mixed_assignment, wrong_positions)",
    "swvp.structures.tree.templates": "swvp.features (parse_arc_templates)",
    "swvp.tagger": "swvp (SequenceTagger)",
    "swvp.tagging.compare": "swvp.evaluation (compare_tags)",
    "swvp.tagging.evaluate": "swvp.evaluation (evaluate_phrases, token_accuracy)",
    "swvp.tagging.scores": "swvp.evaluation (evaluate_tags)",
}


class MovedNames(MetaPathFinder):
    """The last finder that Python asks for a module: it raises ModuleNotFoundError with the new name of a moved one."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name in MOVED:
            raise ModuleNotFoundError(f"{name} has moved: import from {MOVED[name]}", name=name)


def point_to_new_names() -> None:
    """Add the finder behind all others, so that it costs nothing for modules that exist."""
    sys.meta_path.append(MovedNames())
