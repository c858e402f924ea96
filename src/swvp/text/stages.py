"""The stages of a pipeline and the parts of its model file: which class each part is, and how all become one file.

Each part is a class with `contents`, `from_contents` and `array_names`; its arrays have its name before their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.errors import InputError, unknown_name
from swvp.io.compact import compact, restored, rounded
from swvp.io.container import Contents
from swvp.io.model_files import Format, Memory, load_model, require, save_model
from swvp.io.table import Column
from swvp.io.tree_checks import column_of
from swvp.io.treebank import Treebank
from swvp.parsing import persistence
from swvp.parsing.parser import Parser
from swvp.types import Floats, Heads

__all__ = [
    "KIND",
    "PARTS",
    "STAGES",
    "TreeStage",
    "Watch",
    "chosen_stages",
    "class_of",
    "ignore",
    "load_parts",
    "save_parts",
]

KIND = "pipeline"

STAGES = ("tokens", "tags", "lemmas", "trees")
"""The stages that users choose from, in the order in which a text goes through them."""

PARTS = {
    "tokens": ("swvp.text.tokenizer", "Tokenizer"),
    "multiword": ("swvp.text.multiword", "Expander"),
    "tags": ("swvp.text.morphology", "MorphologicalTagger"),
    "lemmas": ("swvp.text.lemmatizer", "Lemmatizer"),
    "trees": ("swvp.text.stages", "TreeStage"),
}
"""The parts of a model file: module and class. The stage `tokens` has two of them."""

Arrays = dict[str, NDArray[Any]]


def class_of(part: str) -> Any:
    """Return the class of a part."""
    module, name = PARTS[part]
    return getattr(import_module(module), name)


def chosen_stages(stages: Any) -> tuple[str, ...]:
    """Return the stages that a user names, in their order; raise InputError for other names."""
    names = stages.split(",") if isinstance(stages, str) else list(stages)
    names = [str(name).strip() for name in names if str(name).strip()]
    for name in names:
        if name not in STAGES:
            raise unknown_name("stage", name, STAGES)
    if not names:
        raise InputError(f"no stage: give some of {', '.join(STAGES)}")
    return tuple(name for name in STAGES if name in names)


class TreeStage:
    """The stage of trees: a parser of either order with its labels."""

    def __init__(self, parser: Parser):
        self.parser = parser

    @classmethod
    def reduced(cls, parser: Parser) -> Self:
        """Return the stage of a new parser without the smaller half of its weights, the others in 2 bytes each.

        On dev sets this changes UAS and LAS by less than 0.1, up or down, and halves the file.
        """
        for each in (parser, *parser.others_):
            weights = each.coef_
            sizes = np.abs(weights[weights != 0])
            if len(sizes):
                weights[np.abs(weights) < np.median(sizes)] = 0.0
            parts = [weights]
            if each.model_.pruner is not None:
                parts.append(each.model_.pruner.w)
            if each.labeller_ is not None:
                parts += each.labeller_.weights.values()
            for part in parts:
                part[...] = rounded(part)
        return cls(parser)

    def predict(self, treebank: Treebank) -> tuple[Heads, Column | None]:
        """Return the heads of all words, and the labels of their arcs."""
        return self.parser.predict_trees(treebank)

    def confidence(self, treebank: Treebank) -> tuple[Heads, Column | None, Floats]:
        """Return the heads of all words, the labels of their arcs, and the probabilities of the arcs."""
        trees = self.parser.confidence(treebank)
        heads = np.array([head for tree in trees for head in tree.heads], np.int32)
        labels = None
        if self.parser.labeller_ is not None:
            labels = column_of([label for tree in trees for label in tree.labels])
        return heads, labels, np.array([value for tree in trees for value in tree.confidence])

    def contents(self) -> tuple[dict[str, Any], Arrays]:
        """Return the description and the arrays of the parser."""
        meta, arrays, _ = persistence.contents(self.parser)
        return {"format": persistence.FORMAT.version, **meta}, arrays

    @staticmethod
    def array_names(meta: dict[str, Any]) -> set[str]:
        """Return the names of the arrays of a parser with this description."""
        return set(persistence.FORMAT.arrays_in(meta))

    @classmethod
    def from_contents(cls, meta: dict[str, Any], arrays: Mapping[str, NDArray[Any]], memory: Memory) -> Self:
        """Return the parser of a description and arrays; raise InputError if they do not fit together."""
        contents = persistence.FORMAT.migrated(Contents(persistence.KIND, meta, dict(arrays)))
        return cls(persistence.from_contents(contents, memory, Parser, Parser))


class Loaded(NamedTuple):
    """The parts of a model file, and what it says about its training."""

    parts: dict[str, Any]
    training: dict[str, Any]


def in_file(part: str, name: str) -> str:
    """Return the name, in the file, of an array of a part."""
    return f"{part} {name}"


def parts_in(meta: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the descriptions of the parts of a file, in their order."""
    described = meta["parts"]
    require(isinstance(described, dict) and set(described) <= set(PARTS) and bool(described), "parts")
    require(all(isinstance(part, dict) for part in described.values()), "parts")
    return {part: described[part] for part in PARTS if part in described}


def array_names(meta: dict[str, Any]) -> set[str]:
    """Return the names of the arrays in the file of a pipeline with this description."""
    return {
        in_file(part, name)
        for part, described in parts_in(meta).items()
        for name in class_of(part).array_names(described)
    }


FORMAT = Format(KIND, 1, array_names)


def save_parts(path: Path, parts: Mapping[str, Any], training: Mapping[str, Any]) -> None:
    """Write the parts of a pipeline as one file, completely or not at all."""
    meta, arrays = described_parts(parts)
    save_model(path, FORMAT, {"swvp": __version__, "training": dict(training), **meta}, arrays)


def described_parts(parts: Mapping[str, Any]) -> tuple[dict[str, Any], Arrays]:
    """Return the descriptions of parts for a file, and their arrays by their names in it."""
    described: dict[str, Any] = {}
    arrays: Arrays = {}
    recipes: dict[str, list[str]] = {}
    for part in PARTS:
        if part in parts:
            described[part], own = parts[part].contents()
            for name, array in own.items():
                arrays[in_file(part, name)], recipe = compact(array)
                if recipe is not None:
                    recipes[in_file(part, name)] = recipe
    return {"compact": recipes, "parts": described}, arrays


def rebuilt_parts(contents: Contents, memory: Memory) -> dict[str, Any]:
    """Return the parts of a file; raise InputError if they do not fit together."""
    parts = {}
    recipes = contents.meta["compact"]
    require(isinstance(recipes, dict), "types of arrays")
    for part, described in parts_in(contents.meta).items():
        kind = class_of(part)
        names = {name: in_file(part, name) for name in kind.array_names(described)}
        own = {name: restored(contents.arrays[key], recipes.get(key)) for name, key in names.items()}
        parts[part] = kind.from_contents(described, own, memory)
    return parts


def check_training(training: Any) -> None:
    """Raise InputError unless the description of a training is what `swvp inspect` can show."""
    require(isinstance(training, dict) and set(training) <= {"left out", "with tags", "dev"}, "training")
    require(type(training.get("with tags", False)) is bool, "training")
    left_out, scores = training.get("left out", {}), training.get("dev", {})
    require(isinstance(left_out, dict) and all(isinstance(reason, str) for reason in left_out.values()), "training")
    require(isinstance(scores, dict) and all(type(score) in (int, float) for score in scores.values()), "scores")


def load_parts(path: Path) -> Loaded:
    """Read the parts of a pipeline; raise InputError if the file is damaged or its parts do not fit together."""

    def rebuild(contents: Contents, memory: Memory) -> Loaded:
        parts = rebuilt_parts(contents, memory)
        training = contents.meta["training"]
        check_training(training)
        return Loaded(parts, training)

    return load_model(path, FORMAT, rebuild)


Watch = Callable[[int, int], object]
"""Called after each epoch with its number, from 1, and the number of epochs."""


def ignore(epoch: int, epochs: int) -> None:
    """Do nothing."""
