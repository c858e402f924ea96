"""Owns a tagger as a file: which arrays and descriptions it is made of, and that they fit together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp import __version__
from swvp.data.table import CONLLU
from swvp.errors import InputError
from swvp.learning.perceptron import Epoch
from swvp.learning.rule import UpdateRule
from swvp.storage.container import Contents, read_container, write_container
from swvp.structures.chain.encode import TemplateEncoder
from swvp.structures.chain.templates import parse_templates
from swvp.structures.operations import Floats
from swvp.tagging.layout import Layout
from swvp.tagging.sentences import KINDS, FeatureEncoder

__all__ = ["load_tagger", "save_tagger"]

KIND = "tagger"
MOST_THREADS = 64
"""A file that asks for more gets one."""


def save_tagger(tagger: Any, path: Path) -> None:
    """Write a fitted tagger; only weights that are not 0 take room."""
    if not all(isinstance(label, str) for label in tagger.classes_):
        raise InputError("only a tagger whose labels are strings can be saved")
    meta: dict[str, Any] = {
        "swvp": __version__,
        "options": options(tagger),
        "labels": tagger.classes_,
        "tokens": tagger.kind_,
        "history": [epoch.as_dict() | {"seconds": 0.0} for epoch in tagger.history_],  # same seed, same bytes
        "dev_scores": tagger.dev_scores_,
        "best_epoch": tagger.best_epoch_,
        "layout": None if getattr(tagger, "layout_", None) is None else tagger.layout_.as_dict(),
        "temperature": tagger.temperature_,
    }
    encoder = tagger.encoder_
    if isinstance(encoder, FeatureEncoder):
        meta["features"] = list(encoder.numbers)
        keys = np.zeros(0, np.int64)
    else:
        meta["columns"] = tagger.columns_
        meta["templates"] = [template.text for template in encoder.templates]
        meta["vocabularies"] = [list(vocabulary) for vocabulary in encoder.vocabularies]
        meta["word_labels"] = {
            column: [list(lexicon), list(lexicon.values())] for column, lexicon in encoder.lexicons.items()
        }
        keys = encoder.keys
    rows, columns = np.nonzero(tagger.coef_)
    arrays = {
        "keys": keys,
        "weights_per_attribute": np.bincount(rows, minlength=len(tagger.coef_)).astype(np.uint32),
        "weight_labels": columns.astype(np.uint32),
        "weights": tagger.coef_[rows, columns],
        "transitions": tagger.transitions_,
        "triples": np.zeros((0, 0, 0)) if tagger.triples_ is None else tagger.triples_,
        "allowed": np.isfinite(tagger.barrier_).astype(np.uint8),
    }
    try:
        write_container(path, KIND, meta, arrays)
    except UnicodeEncodeError as error:
        raise InputError(f"a tagger with half a character ({error.object[error.start]!a}) cannot be saved") from None


def options(tagger: Any) -> dict[str, Any]:
    """The constructor's arguments, as far as a file can hold them: a user's functions are left out."""
    given, kept = tagger.options(), {}
    rule = given["rule"]
    if isinstance(rule, UpdateRule):
        own = {name: getattr(rule, name) for name in ("beta", "C") if given[name] is None}  # its name has no numbers
        given |= own | {"rule": rule.name}
    for name, value in given.items():
        if isinstance(value, (set, frozenset)):
            value = sorted(value, key=str)
        if isinstance(value, (list, tuple)):
            value = [list(item) if isinstance(item, tuple) else item for item in value]
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (str, int, float, bool, list)):
            kept[name] = value
    return kept


def load_tagger(path: Path, make: Callable[..., Any]) -> Any:
    """Read a tagger; `make` is its class."""
    contents = read_container(path, KIND)
    try:
        return rebuild(contents, make)
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError, MemoryError) as error:
        what = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: its parts do not fit together ({what})") from None


def rebuild(contents: Contents, make: Callable[..., Any]) -> Any:
    meta, arrays = contents.meta, contents.arrays
    given = dict(meta["options"])
    if isinstance(given.get("constraint"), list):
        given["constraint"] = [tuple(pair) for pair in given["constraint"]]
    threads = given.get("n_jobs")
    given["n_jobs"] = threads if type(threads) is int and 1 <= threads <= MOST_THREADS else 1
    tagger = make(**given)
    labels = strings(meta["labels"])
    must(len(set(labels)) == len(labels) > 0, "labels")
    must(meta["tokens"] in KINDS, "kind of tokens")
    tagger.classes_, tagger.kind_ = labels, meta["tokens"]
    tagger.history_ = [Epoch(**epoch) for epoch in meta["history"]]
    must(all(type(value) in (int, float) for epoch in meta["history"] for value in epoch.values()), "history")
    tagger.dev_scores_ = [float(score) for score in meta["dev_scores"]]
    tagger.best_epoch_ = int(meta["best_epoch"])
    tagger.layout_ = None if meta["layout"] is None else layout(meta["layout"])
    if tagger.kind_ == "features":
        names = strings(meta["features"])
        must(tagger.layout_ is None, "layout")
        tagger.encoder_ = FeatureEncoder()
        tagger.encoder_.numbers = {name: number for number, name in enumerate(names)}
        must(len(tagger.encoder_.numbers) == len(names), "features")
        tagger.n_attributes_ = len(names)
    else:
        tagger.columns_ = strings(meta["columns"])
        must(0 < len(set(tagger.columns_)) == len(tagger.columns_), "columns")
        must(tagger.kind_ == "columns" or len(tagger.columns_) == 1, "columns")
        must(tagger.layout_ is None or list(tagger.layout_.names) == tagger.columns_, "columns")
        hashed = tagger.hashed
        must(hashed is None or (type(hashed) is int and 0 < hashed == len(arrays["weights_per_attribute"])), "hashed")
        tagger.encoder_ = TemplateEncoder(parse_templates(strings(meta["templates"]), tagger.columns_), hashed)
        lexicons = {
            column: dict(zip(strings(words), strings(labels), strict=True))
            for column, (words, labels) in meta["word_labels"].items()
        }
        tagger.encoder_.restore([strings(vocabulary) for vocabulary in meta["vocabularies"]], arrays["keys"], lexicons)
        tagger.n_attributes_ = tagger.encoder_.size
    ends = (len(labels) + 1, len(labels) + 1)
    must(arrays["transitions"].shape == arrays["allowed"].shape == ends, "transitions")
    tagger.transitions_ = np.array(arrays["transitions"], np.float64)
    triples = (len(labels) + 1,) * 3 if tagger.order == 2 else (0,) * 3
    must(arrays["triples"].shape == triples, "triples")
    tagger.triples_ = np.array(arrays["triples"], np.float64)
    tagger.barrier_ = np.where(arrays["allowed"] > 0, 0.0, -np.inf)
    tagger._decoder()
    tagger.coef_ = dense(arrays, tagger.n_attributes_, len(labels))
    temperature = meta.get("temperature", 1.0)
    must(type(temperature) in (int, float) and 0 < temperature < np.inf, "temperature")
    tagger.temperature_ = float(temperature)
    return tagger


def layout(given: dict[str, Any]) -> Layout:
    found = Layout(given["conllu"], tuple(given["names"]), tuple(given["inputs"]), given["label"], given["width"])
    numbers = (*found.inputs, found.label)
    must(type(found.conllu) is bool and type(found.width) is int, "layout")
    must(all(type(number) is int and 0 <= number < found.width for number in numbers), "columns")
    must(0 < len(found.inputs) == len(found.names) and (not found.conllu or found.width == len(CONLLU)), "columns")
    return found._replace(names=tuple(strings(list(found.names))))


def dense(arrays: dict[str, NDArray[Any]], attributes: int, labels: int) -> Floats:
    counts, columns, values = (arrays[name] for name in ("weights_per_attribute", "weight_labels", "weights"))
    must(counts.shape == (attributes,) and columns.ndim == values.ndim == 1, "weights")
    must(int(counts.sum(dtype=np.uint64)) == len(columns) == len(values), "numbers of weights")
    must(not len(columns) or int(columns.max()) < labels, "labels of weights")
    result = np.zeros((attributes, labels))
    result[np.repeat(np.arange(attributes), counts), columns] = values
    return result


def strings(value: Any) -> list[str]:
    must(isinstance(value, list) and all(isinstance(item, str) for item in value), "list of strings")
    return list(value)


def must(holds: bool, what: str) -> None:
    if not holds:
        raise InputError(f"its {what} cannot be right")
