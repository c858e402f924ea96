"""The Structured Weighted Violations Perceptron (Dror & Reichart, EMNLP 2016) and what is built on it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from swvp.errors import InputError as InputError
    from swvp.estimator import StructuredPerceptron as StructuredPerceptron
    from swvp.learning import theory as theory
    from swvp.learning.rule import UpdateRule as UpdateRule
    from swvp.learning.rule import as_rule as as_rule
    from swvp.learning.rule import register_gamma as register_gamma
    from swvp.learning.rule import register_substructures as register_substructures
    from swvp.parser import DependencyParser as DependencyParser
    from swvp.parsing.tree import DependencyTree as DependencyTree
    from swvp.parsing.treebank import Treebank as Treebank
    from swvp.tagger import SequenceTagger as SequenceTagger

__version__ = "0.1.0"

LAZY = {
    "DependencyParser": "swvp.parser",
    "DependencyTree": "swvp.parsing.tree",
    "InputError": "swvp.errors",
    "SequenceTagger": "swvp.tagger",
    "StructuredPerceptron": "swvp.estimator",
    "Treebank": "swvp.parsing.treebank",
    "UpdateRule": "swvp.learning.rule",
    "as_rule": "swvp.learning.rule",
    "register_gamma": "swvp.learning.rule",
    "register_substructures": "swvp.learning.rule",
}

__all__ = [
    "DependencyParser",
    "DependencyTree",
    "InputError",
    "SequenceTagger",
    "StructuredPerceptron",
    "Treebank",
    "UpdateRule",
    "as_rule",
    "register_gamma",
    "register_substructures",
    "theory",
]


def __getattr__(name: str) -> Any:
    # imported when first used: `swvp --help` needs none of them
    if name == "theory":
        return importlib.import_module("swvp.learning.theory")
    if name in LAZY:
        return getattr(importlib.import_module(LAZY[name]), name)
    raise AttributeError(f"module 'swvp' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
