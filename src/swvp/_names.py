"""The names of a package: public ones, imported when they are first used, and errors for those that have moved.

`import swvp` and `swvp --help` should answer at once, but Numba, SciPy and scikit-learn take a second to import. A
module that version 0.1.0 documented elsewhere raises an error that gives its new place.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

__all__ = ["lazy_names", "point_to_new_names"]


def lazy_names(
    package: str, modules: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package with the names {name: module it comes from}.

    A name whose module is `package.name` is that module itself.
    """

    def get(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module = importlib.import_module(modules[name])
        return module if modules[name] == f"{package}.{name}" else getattr(module, name)

    return list(modules), get, lambda: sorted(modules)


MOVED = {
    "swvp.data": "swvp.io (read_columns, read_table, Table)",
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


class MovedNames:
    """The last finder that Python asks for a module: it raises ModuleNotFoundError with the new name of a moved one.

    It does not derive from `importlib.abc.MetaPathFinder`, which takes half as long to import as all of `swvp`.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name in MOVED:
            raise ModuleNotFoundError(f"{name} has moved: import from {MOVED[name]}", name=name)


def point_to_new_names() -> None:
    """Add the finder behind all others, so that it costs nothing for modules that exist."""
    sys.meta_path.append(MovedNames)
