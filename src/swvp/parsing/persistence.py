"""Owns a parser as a file: which arrays and descriptions it is made of, and that they fit together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.errors import InputError
from swvp.features.arc_templates import parse_arc_templates
from swvp.features.part_templates import parse_part_templates
from swvp.io.container import Contents
from swvp.io.memory import Memory
from swvp.io.model_files import Format, filled, load_model, must, save_model, sparse, sparse_names, strings
from swvp.parsing.labeller import LABEL_ARRAYS, Labeller
from swvp.parsing.pruner import Pruner
from swvp.structures.tree.encoding import FEW_VALUES, Tables, tables_of
from swvp.structures.tree.tag_pruning import all_allowed
from swvp.training.options import epochs_of, remake, restore_passes, scores_of, stored, stored_passes
from swvp.training.temperature import temperature_in

__all__ = ["KIND", "MOST_WEIGHTS", "load_parser", "save_parser"]

KIND = "parser"
MOST_WEIGHTS = 2**28


def array_names(meta: dict[str, Any]) -> set[str]:
    """The arrays of a parser: those of its stages that are there."""
    names = sparse_names("weights") | {"longest"}
    names |= {"owned", "owners"} if meta["exact"] else set()
    names |= {f"pruner {name}" for name in sparse_names("weights")} if "pruner" in meta else set()
    return names | ({f"labels {name}" for name in LABEL_ARRAYS} if meta["labels"] is not None else set())


FORMAT = Format(KIND, 1, array_names)


def save_parser(parser: Any, path: Path) -> None:
    """Write a fitted parser; only weights that are not 0 take room."""
    fitted = {"order": 1 if isinstance(parser.tables_, Tables) else 2}
    fitted |= {"prune": parser.pruner_ is not None} if fitted["order"] == 2 else {}
    for name, value in fitted.items():
        if getattr(parser, name) != value:
            raise InputError(f"{name} is not what the parser was fitted with: set it back to {value}, or fit again")
    labeller: Labeller | None = parser.labeller_
    meta: dict[str, Any] = {
        "swvp": __version__,
        "options": stored(parser.options()),
        "one_root": parser.has_one_root,
        **stored_passes(parser),
        "templates": [template.text for template in parser.templates_],
        "ranks": {name: list(parser.ranks_[name]) for name in FEW_VALUES},
        "size": len(parser.coef_),
        "exact": parser.owners_ is not None,
        "labels": None if labeller is None else labeller.meta(),
        "label_history": [epoch.as_dict() | {"seconds": 0.0} for epoch in parser.label_history_],
        "label_dev_scores": parser.label_dev_scores_,
        "temperature": parser.temperature_,
    }
    arrays = sparse("weights", parser.coef_) | {"longest": parser.longest_}
    if parser.pruner_ is not None:
        meta["pruner"] = parser.pruner_.meta()
        arrays |= {f"pruner {name}": array for name, array in parser.pruner_.arrays().items()}
    if parser.owners_ is not None:
        places = np.flatnonzero(parser.owners_)
        arrays |= {"owned": places, "owners": parser.owners_[places].view(np.int64)}
    if labeller is not None:
        arrays |= {f"labels {name}": array for name, array in labeller.arrays().items()}
    weights = [parser.coef_, *([] if parser.owners_ is None else [parser.owners_])]
    weights += [] if parser.pruner_ is None else [parser.pruner_.w]
    weights += [] if labeller is None else [labeller.weights["w"]]
    save_model(path, FORMAT, meta, arrays, *weights)


def load_parser(path: Path, make: Callable[..., Any]) -> Any:
    """Read a parser; `make` is its class."""
    return load_model(path, FORMAT, lambda contents, memory: rebuild(contents, memory, make))


def rebuild(contents: Contents, memory: Memory, make: Callable[..., Any]) -> Any:
    meta, arrays = contents.meta, contents.arrays
    parser = remake(make, meta["options"])
    restore_passes(parser, meta)
    if parser.one_root is None:
        must(type(meta["one_root"]) is bool, "kind of trees")
        parser.one_root_ = meta["one_root"]
    must(parser.order in (1, 2) and type(parser.prune) is bool, "order")
    must(type(meta["exact"]) is bool, "kind of weights")
    must(("pruner" in meta) == (parser.order == 2 and parser.prune), "pruner")
    own = named("pruner", arrays)
    parser.pruner_ = Pruner.rebuild(meta["pruner"], own, memory) if "pruner" in meta else None
    if parser.order == 1:
        parser.templates_, parser.tables_ = tables_of(parse_arc_templates(strings(meta["templates"])))
    else:
        parser._take_parts(parse_part_templates(strings(meta["templates"])))
    must([template.text for template in parser.templates_] == meta["templates"], "templates")
    parser.ranks_ = {
        name: {text: rank for rank, text in enumerate(strings(meta["ranks"][name]))} for name in FEW_VALUES
    }
    must(all(len(parser.ranks_[name]) == len(meta["ranks"][name]) for name in FEW_VALUES), "values of columns")
    longest = np.array(arrays["longest"], np.int32)
    tags = len(parser.ranks_["pos"]) + 2
    must(longest.shape in ((tags, tags, 2), all_allowed().shape), "pruning")
    parser._prune_by(longest)
    size = meta["size"]
    must(type(size) is int and 1 <= size <= MOST_WEIGHTS and size & (size - 1) == 0, "number of weights")
    parser.coef_ = filled(memory, size, arrays, "weights")
    parser.owners_ = None
    if meta["exact"]:
        places, owners = arrays["owned"], arrays["owners"]
        must(places.shape == owners.shape == (len(places),) and 2 * len(places) <= size, "owners of weights")
        must(not len(places) or 0 <= places.min() <= places.max() < size, "places of weights")
        must(places.dtype.kind in "iu" and owners.dtype == np.int64, "owners of weights")
        parser.owners_ = memory.filled((size,), places, owners.view(np.uint64), np.uint64)
    own = named("labels", arrays)
    parser.labeller_ = None if meta["labels"] is None else Labeller.rebuild(meta["labels"], own, memory)
    parser.label_history_ = epochs_of(meta["label_history"])
    parser.label_dev_scores_ = scores_of(meta["label_dev_scores"])
    parser.temperature_ = temperature_in(meta)
    return parser


def named(what: str, arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of one part of the parser, by their own names."""
    return {name.removeprefix(f"{what} "): array for name, array in arrays.items() if name.startswith(f"{what} ")}
