"""A parser as a model file: its arrays and its description, and the check that they fit together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.errors import InputError, is_power_of_two
from swvp.io.container import Contents
from swvp.io.model_files import Format, Memory, filled, load_model, require, save_model, sparse, sparse_names, strings
from swvp.learning.perceptron import Epoch
from swvp.parsing.ensemble import MOST_PARSERS
from swvp.parsing.labeller import Labeller
from swvp.parsing.tree_model import MOST_WEIGHTS, FeatureWeights, Pruner, Ranks, TreeModel
from swvp.structures.tree.encoding import FEW_VALUES, all_allowed
from swvp.structures.tree.first_order.features import NO_OWNERS
from swvp.training.options import epochs_of, remake, scores_of, stored, stored_history, temperature_in

__all__ = ["FORMAT", "KIND", "FittedParts", "contents", "from_contents", "load_parser", "save_parser"]

KIND = "parser"

Arrays = dict[str, NDArray[Any]]


class FittedParts(NamedTuple):
    """What a parser learns, besides its history."""

    model: TreeModel
    weights: FeatureWeights
    one_root: bool
    projective: bool
    labeller: Labeller | None
    label_history: list[Epoch]
    label_dev_scores: list[float]
    temperature: float
    others: list[Any]
    """The parsers of an ensemble after the first one."""


def array_names(meta: dict[str, Any]) -> set[str]:
    """Return the names of the arrays in the file of a parser with this description."""
    names = sparse_names("weights") | {"longest"}
    names |= {"owned", "owners"} if meta["exact"] else set()
    names |= {in_part("pruner", name) for name in Pruner.ARRAYS} if "pruner" in meta else set()
    names |= {in_part("labels", name) for name in Labeller.ARRAYS} if meta["labels"] is not None else set()
    for number, other in enumerate(others_in(meta), 2):
        names |= {in_part(f"parser {number}", name) for name in array_names(other)}
    return names


def others_in(meta: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the descriptions of the parsers of an ensemble after the first one."""
    others: list[dict[str, Any]] = meta.get("others", [])
    require(isinstance(others, list) and len(others) < MOST_PARSERS, "parsers")
    require(all(isinstance(other, dict) and "others" not in other for other in others), "parsers")
    return others


def in_part(part: str, name: str) -> str:
    """Return the name, in the file, of an array of the pruner, the labeller or another parser."""
    return f"{part} {name}"


def part_of(arrays: Arrays, part: str, names: Iterable[str]) -> Arrays:
    """Return the arrays of the pruner or the labeller by their own names."""
    return {name: arrays[in_part(part, name)] for name in names}


FORMAT = Format(KIND, 1, array_names)


def save_parser(parser: Any, path: Path) -> None:
    """Write a fitted parser, an ensemble with all its parsers; weights that are 0 take no space."""
    meta, arrays, weights = contents(parser)
    save_model(path, FORMAT, meta, arrays, *weights)


def contents(parser: Any) -> tuple[dict[str, Any], Arrays, list[NDArray[Any]]]:
    """Return what `save_parser` writes: the description, the arrays, and the weights as they are in memory."""
    meta, arrays, weights = contents_of(parser)
    for number, other in enumerate(parser.others_, 2):
        other_meta, other_arrays, other_weights = contents_of(other)
        meta.setdefault("others", []).append(other_meta)
        arrays |= {in_part(f"parser {number}", name): array for name, array in other_arrays.items()}
        weights += other_weights
    return meta, arrays, weights


def contents_of(parser: Any) -> tuple[dict[str, Any], Arrays, list[NDArray[Any]]]:
    """Return the description of one parser, its arrays, and the weights among them as they are in memory."""
    model: TreeModel = parser.model_
    labeller: Labeller | None = parser.labeller_
    check_unchanged(parser, model)
    meta: dict[str, Any] = {
        "swvp": __version__,
        "options": stored(parser.options()),
        "one_root": parser.has_one_root,
        "projective": parser.is_projective,
        **stored_history(parser),
        "templates": [template.text for template in model.templates],
        "ranks": {name: list(model.ranks[name]) for name in FEW_VALUES},
        "size": len(parser.coef_),
        "exact": len(parser.owners_) > 0,
        "labels": None if labeller is None else labeller.meta(),
        "label_history": [epoch.as_dict() | {"seconds": 0.0} for epoch in parser.label_history_],
        "label_dev_scores": parser.label_dev_scores_,
        "temperature": parser.temperature_,
    }
    arrays = sparse("weights", parser.coef_) | {"longest": model.longest}
    weights = [parser.coef_]
    if model.pruner is not None:
        meta["pruner"] = model.pruner.meta()
        arrays |= {in_part("pruner", name): array for name, array in model.pruner.arrays().items()}
        weights.append(model.pruner.w)
    if len(parser.owners_):
        places = np.flatnonzero(parser.owners_)
        arrays |= {"owned": places, "owners": parser.owners_[places].view(np.int64)}
        weights.append(parser.owners_)
    if labeller is not None:
        arrays |= {in_part("labels", name): array for name, array in labeller.arrays().items()}
        weights.append(labeller.weights["w"])
    return meta, arrays, weights


def check_unchanged(parser: Any, model: TreeModel) -> None:
    """Raise InputError if `order`, or whether there is a pruner, was changed after the parser was fitted."""
    fitted = {"order": model.order} | ({"prune": model.pruner is not None} if model.uses_pruner else {})
    for name, value in fitted.items():
        if getattr(parser, name) != value:
            raise InputError(f"{name} is not what the parser was fitted with: set it back to {value}, or fit again")


def load_parser(path: Path, make: Callable[..., Any], single: Callable[..., Any]) -> Any:
    """Read a parser; `make` is its class, `single` that of the other parsers of an ensemble."""
    return load_model(path, FORMAT, lambda contents, memory: from_contents(contents, memory, make, single))


def from_contents(contents: Contents, memory: Memory, make: Callable[..., Any], single: Callable[..., Any]) -> Any:
    """Return the parser of a model file; raise an error if its parts do not fit together."""
    others = []
    for number, meta in enumerate(others_in(contents.meta), 2):
        arrays = part_of(contents.arrays, f"parser {number}", array_names(meta))
        others.append(rebuild_one(meta, arrays, memory, single, []))
    parser = rebuild_one(contents.meta, contents.arrays, memory, make, others)
    require(parser.ensemble == len(others) + 1, "parsers")
    classes = [each.labeller_ and each.labeller_.classes for each in (parser, *others)]
    require(all(each == classes[0] for each in classes), "labels")
    require(all(other.ensemble == 1 and other._kind() == parser._kind() for other in others), "parsers")
    return parser


def rebuild_one(
    meta: dict[str, Any], arrays: Arrays, memory: Memory, make: Callable[..., Any], others: list[Any]
) -> Any:
    """Return one parser of a model file, the first one with the others."""
    parser = remake(make, meta["options"])
    parser._restore_history(meta)
    require(parser.one_root is not None or type(meta["one_root"]) is bool, "kind of trees")
    require(parser.projective is not None or type(meta["projective"]) is bool, "kind of trees")
    require(type(parser.prune) is bool, "order")
    require(type(meta["exact"]) is bool, "kind of weights")
    labels = meta["labels"]
    return parser._restore(
        FittedParts(
            model=model_in(parser.model_class, parser.prune, meta, arrays, memory),
            weights=weights_in(meta, arrays, memory),
            one_root=bool(meta["one_root"] if parser.one_root is None else parser.one_root),
            projective=bool(meta["projective"] if parser.projective is None else parser.projective),
            labeller=None
            if labels is None
            else Labeller.rebuild(labels, part_of(arrays, "labels", Labeller.ARRAYS), memory),
            label_history=epochs_of(meta["label_history"]),
            label_dev_scores=scores_of(meta["label_dev_scores"]),
            temperature=temperature_in(meta),
            others=others,
        )
    )


def model_in(
    model_class: type[TreeModel], prune: bool, meta: dict[str, Any], arrays: Arrays, memory: Memory
) -> TreeModel:
    """Return the model of a file, without its weights."""
    require(("pruner" in meta) == (model_class.uses_pruner and prune), "pruner")
    pruner = None
    if "pruner" in meta:
        pruner = Pruner.rebuild(meta["pruner"], part_of(arrays, "pruner", Pruner.ARRAYS), memory)
    ranks = ranks_in(meta["ranks"])
    model = model_class(strings(meta["templates"]), ranks, pruner)
    require([template.text for template in model.templates] == meta["templates"], "templates")
    longest = np.array(arrays["longest"], np.int32)
    tags = len(ranks["pos"]) + 2
    require(longest.shape in ((tags, tags, 2), all_allowed().shape), "pruning")
    return model.prune_by(longest)


def ranks_in(described: dict[str, Any]) -> Ranks:
    """Return the ranks of a file: different values, each numbered by its place."""
    ranks = {name: {text: rank for rank, text in enumerate(strings(described[name]))} for name in FEW_VALUES}
    require(all(len(ranks[name]) == len(described[name]) for name in FEW_VALUES), "values of columns")
    return ranks


def weights_in(meta: dict[str, Any], arrays: Arrays, memory: Memory) -> FeatureWeights:
    """Return the weights of a file, in exact mode with their owners."""
    size = meta["size"]
    require(is_power_of_two(size, 1, MOST_WEIGHTS), "number of weights")
    w = filled(memory, size, arrays, "weights")
    if not meta["exact"]:
        return FeatureWeights(w, NO_OWNERS)
    places, owners = arrays["owned"], arrays["owners"]
    require(places.shape == owners.shape == (len(places),) and 2 * len(places) <= size, "owners of weights")
    require(not len(places) or 0 <= places.min() <= places.max() < size, "places of weights")
    require(places.dtype.kind in "iu" and owners.dtype == np.int64, "owners of weights")
    return FeatureWeights(w, memory.filled((size,), places, owners.view(np.uint64), np.uint64))
