"""Model files of taggers: which fields and arrays they have, and checks that these are consistent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swvp._version import __version__
from swvp.errors import InputError, is_whole
from swvp.features.encoder import TemplateEncoder
from swvp.features.templates import parse_templates
from swvp.io.container import Contents
from swvp.io.model_files import (
    ROWS,
    Format,
    Memory,
    by_rows,
    checked_rows,
    from_rows,
    in_rows,
    load_model,
    require,
    save_model,
    strings,
)
from swvp.io.table import CONLLU
from swvp.structures.chain.rows import Rows, WeightRows, weight_rows
from swvp.tagging.corpus import KINDS
from swvp.tagging.decoder import matrix
from swvp.tagging.files import Layout
from swvp.tagging.options import AUTO, Choice
from swvp.tagging.ready import FeatureEncoder
from swvp.training.options import remake, stored, stored_history, temperature_in

__all__ = ["ARRAYS", "contents_of", "load_tagger", "rebuild", "save_tagger"]

KIND = "tagger"
NEWER = ("clusters", "candidates")
"""Options that files do not hold if they are None."""
ARRAYS = {"keys", "transitions", "triples", "allowed", *ROWS}
"""The names of the arrays of a tagger."""
FORMAT = Format(KIND, 1, lambda meta: ARRAYS)


def save_tagger(tagger: Any, path: Path) -> None:
    """Write a fitted tagger; zero weights take no space."""
    _, meta, arrays = contents_of(tagger)
    save_model(path, FORMAT, meta, arrays, tagger.stored_weights())


def contents_of(tagger: Any) -> Contents:
    """The fields and arrays of a fitted tagger, for its file or as a part of another model's."""
    if not all(isinstance(label, str) for label in tagger.classes_):
        raise InputError("only a tagger whose labels are strings can be saved")
    if tagger.vote:
        raise InputError("a tagger that votes cannot be saved: a file holds one weight vector; set vote=False first")
    meta: dict[str, Any] = {
        "swvp": __version__,
        "options": stored(options_of(tagger)),
        "chosen": list(tagger.chosen_) if "chosen_" in vars(tagger) else None,
        "labels": tagger.classes_,
        "tokens": tagger.kind_,
        **stored_history(tagger),
        "layout": None if getattr(tagger, "layout_", None) is None else tagger.layout_.as_dict(),
        "temperature": tagger.temperature_,
        **({"candidates": tagger.candidates_} if tagger.candidates_ else {}),
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
        if encoder.clusters:
            meta["clusters"] = {
                column: [list(paths), list(paths.values())] for column, paths in encoder.clusters.items()
            }
        keys = encoder.keys
    arrays = {
        "keys": keys,
        **weights_by_row(tagger),
        "transitions": tagger.transitions_,
        "triples": np.zeros((0, 0, 0)) if tagger.triples_ is None else tagger.triples_,
        "allowed": np.isfinite(tagger.barrier_).astype(np.uint8),
    }
    return Contents(KIND, meta, arrays)


def weights_by_row(tagger: Any) -> Mapping[str, NDArray[Any]]:
    """The arrays of the weights of attributes, without zeros."""
    weights = tagger.stored_weights()
    return in_rows(tagger.n_attributes_, *weights.nonzero()) if isinstance(weights, WeightRows) else by_rows(weights)


def options_of(tagger: Any) -> dict[str, Any]:
    """The options; without newer ones that were not given, so that files of taggers without them stay as they were."""
    return {name: value for name, value in tagger.options().items() if name not in NEWER or value is not None}


def load_tagger(path: Path, make: Callable[..., Any]) -> Any:
    """Read a tagger; `make` is its class. Raises InputError for a file that is not consistent."""
    return load_model(path, FORMAT, lambda contents, memory: rebuild(contents, memory, make))


def rebuild(contents: Contents, memory: Memory, make: Callable[..., Any]) -> Any:
    """The tagger of a file's contents."""
    meta, arrays = contents.meta, contents.arrays
    given = dict(meta["options"])
    if isinstance(given.get("constraint"), list):
        given["constraint"] = [tuple(pair) for pair in given["constraint"]]
    require(is_whole(given.get("clusters", 1)), "clusters")
    require(is_whole(given.get("candidates", 0), 0) and is_whole(meta.get("candidates", 1)), "candidates")
    tagger = remake(make, given)
    require(tagger.vote is False, "vote")
    labels = strings(meta["labels"])
    require(len(set(labels)) == len(labels) > 0, "labels")
    ends = (len(labels) + 1, len(labels) + 1)
    require(arrays["transitions"].shape == arrays["allowed"].shape == ends, "transitions")
    triples = (len(labels) + 1,) * 3 if tagger.order == 2 else (0,) * 3
    require(arrays["triples"].shape == triples, "triples")
    tagger.restore(
        meta,
        **choice_of(meta),
        **encoder_of(meta, arrays, tagger.hashed),
        classes_=labels,
        transitions_=np.array(arrays["transitions"], np.float64),
        triples_=np.array(arrays["triples"], np.float64),
        barrier_=np.where(arrays["allowed"] > 0, 0.0, -np.inf),
    )
    decoder = tagger._decoder()
    tagger.candidates_ = meta.get("candidates", 0)
    require(tagger.candidates_ <= len(labels) and (decoder.plain or not tagger.candidates_), "candidates")
    weights: Any
    if tagger.candidates_:
        weights = matrix(*stored_rows(arrays, tagger.n_attributes_, len(labels)), len(labels))
    elif decoder.plain:
        rows, values = stored_rows(arrays, tagger.n_attributes_, len(labels))
        shape, counts = (tagger.n_attributes_, len(labels)), np.diff(rows.starts)
        memory.count(shape, np.repeat(np.arange(shape[0]) * shape[1], counts) + rows.labels, values.itemsize)
        weights = weight_rows(counts, rows.labels, values, len(labels))
    else:
        weights = from_rows(arrays, tagger.n_attributes_, len(labels), memory)
    tagger.restore_weights(weights, temperature_in(meta))
    return tagger


def stored_rows(arrays: Mapping[str, NDArray[Any]], attributes: int, labels: int) -> tuple[Rows, NDArray[Any]]:
    """The labels of attributes and their weights; InputError unless the labels of an attribute ascend."""
    counts, columns, values = checked_rows(arrays, attributes, labels)
    starts = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    ascends = np.ones(len(columns), bool)
    ascends[1:] = columns[1:] > columns[:-1]
    ascends[starts[:-1][counts > 0]] = True
    require(bool(ascends.all()), "labels of weights")
    return Rows(starts, columns.astype(np.uint32)), values.astype(np.float64)


def choice_of(meta: dict[str, Any]) -> dict[str, Any]:
    """What was chosen from the labels; files of older versions do not have it."""
    chosen = meta.get("chosen")
    require(chosen is not None or meta["options"].get("constraint") != AUTO, "constraint")
    if chosen is None:
        return {}
    require(all(text is None or isinstance(text, str) for text in chosen), "features and constraint")
    return {"chosen_": Choice(*chosen)}


def encoder_of(meta: dict[str, Any], arrays: Mapping[str, NDArray[Any]], hashed: Any) -> dict[str, Any]:
    """The encoder and what belongs to it: the kind of tokens and the columns."""
    kind = meta["tokens"]
    require(kind in KINDS, "kind of tokens")
    layout = None if meta["layout"] is None else layout_of(meta["layout"])
    state: dict[str, Any] = {"kind_": kind, "layout_": layout}
    if kind == "features":
        names = strings(meta["features"])
        require(layout is None, "layout")
        encoder = FeatureEncoder(names)
        require(encoder.size == len(names), "features")
        return state | {"encoder_": encoder, "n_attributes_": encoder.size}
    columns = strings(meta["columns"])
    require(0 < len(set(columns)) == len(columns), "columns")
    require(kind == "columns" or len(columns) == 1, "columns")
    require(layout is None or list(layout.names) == columns, "columns")
    require(hashed is None or (type(hashed) is int and 0 < hashed == len(arrays["weights_per_attribute"])), "hashed")
    templates = TemplateEncoder(parse_templates(strings(meta["templates"]), columns), hashed)
    labels, clusters = lexicons_of(meta["word_labels"]), lexicons_of(meta.get("clusters", {}))
    templates.restore([strings(vocabulary) for vocabulary in meta["vocabularies"]], arrays["keys"], labels, clusters)
    return state | {"columns_": columns, "encoder_": templates, "n_attributes_": templates.size}


def lexicons_of(given: dict[str, Any]) -> dict[str, dict[str, str]]:
    """What is known of the words of each column: their labels, or their clusters."""
    return {
        column: dict(zip(strings(words), strings(values), strict=True)) for column, (words, values) in given.items()
    }


def layout_of(given: dict[str, Any]) -> Layout:
    """The columns of the training file."""
    layout = Layout(given["conllu"], tuple(given["names"]), tuple(given["inputs"]), given["label"], given["width"])
    numbers = (*layout.inputs, layout.label)
    require(type(layout.conllu) is bool and type(layout.width) is int, "layout")
    require(all(type(number) is int and 0 <= number < layout.width for number in numbers), "columns")
    require(0 < len(layout.inputs) == len(layout.names), "columns")
    require(not layout.conllu or layout.width == len(CONLLU), "columns")
    return layout._replace(names=tuple(strings(list(layout.names))))
