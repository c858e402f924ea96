"""Owns a tagger as a file: which arrays and descriptions it is made of, and that they fit together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from swvp._version import __version__
from swvp.errors import InputError
from swvp.features.encoder import TemplateEncoder
from swvp.features.templates import parse_templates
from swvp.io.container import Contents
from swvp.io.memory import Memory
from swvp.io.model_files import ROWS, Format, by_rows, from_rows, load_model, must, save_model, strings
from swvp.io.table import CONLLU
from swvp.tagging.columns import Layout
from swvp.tagging.corpus import KINDS, FeatureEncoder
from swvp.tagging.defaults import AUTO, Choice
from swvp.training.options import remake, restore_passes, stored, stored_passes
from swvp.training.temperature import temperature_in

__all__ = ["load_tagger", "save_tagger"]

KIND = "tagger"
FORMAT = Format(KIND, 1, lambda meta: {"keys", "transitions", "triples", "allowed", *ROWS})


def save_tagger(tagger: Any, path: Path) -> None:
    """Write a fitted tagger; only weights that are not 0 take room."""
    if not all(isinstance(label, str) for label in tagger.classes_):
        raise InputError("only a tagger whose labels are strings can be saved")
    if tagger.vote:
        raise InputError("a tagger that votes cannot be saved: a file holds one weight vector; set vote=False first")
    meta: dict[str, Any] = {
        "swvp": __version__,
        "options": stored(tagger.options()),
        "chosen": list(tagger.chosen_) if "chosen_" in vars(tagger) else None,
        "labels": tagger.classes_,
        "tokens": tagger.kind_,
        **stored_passes(tagger),
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
    arrays = {
        "keys": keys,
        **by_rows(tagger.coef_),
        "transitions": tagger.transitions_,
        "triples": np.zeros((0, 0, 0)) if tagger.triples_ is None else tagger.triples_,
        "allowed": np.isfinite(tagger.barrier_).astype(np.uint8),
    }
    save_model(path, FORMAT, meta, arrays, tagger.coef_)


def load_tagger(path: Path, make: Callable[..., Any]) -> Any:
    """Read a tagger; `make` is its class."""
    return load_model(path, FORMAT, lambda contents, memory: rebuild(contents, memory, make))


def rebuild(contents: Contents, memory: Memory, make: Callable[..., Any]) -> Any:
    meta, arrays = contents.meta, contents.arrays
    given = dict(meta["options"])
    if isinstance(given.get("constraint"), list):
        given["constraint"] = [tuple(pair) for pair in given["constraint"]]
    tagger = remake(make, given)
    must(tagger.vote is False, "vote")
    chosen = meta.get("chosen")  # files of older versions have none
    must(chosen is not None or given.get("constraint") != AUTO, "constraint")
    if chosen is not None:
        must(all(text is None or isinstance(text, str) for text in chosen), "features and constraint")
        tagger.chosen_ = Choice(*chosen)
    labels = strings(meta["labels"])
    must(len(set(labels)) == len(labels) > 0, "labels")
    must(meta["tokens"] in KINDS, "kind of tokens")
    tagger.classes_, tagger.kind_ = labels, meta["tokens"]
    restore_passes(tagger, meta)
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
    tagger.coef_ = from_rows(arrays, tagger.n_attributes_, len(labels), memory)
    tagger.temperature_ = temperature_in(meta)
    return tagger


def layout(given: dict[str, Any]) -> Layout:
    found = Layout(given["conllu"], tuple(given["names"]), tuple(given["inputs"]), given["label"], given["width"])
    numbers = (*found.inputs, found.label)
    must(type(found.conllu) is bool and type(found.width) is int, "layout")
    must(all(type(number) is int and 0 <= number < found.width for number in numbers), "columns")
    must(0 < len(found.inputs) == len(found.names) and (not found.conllu or found.width == len(CONLLU)), "columns")
    return found._replace(names=tuple(strings(list(found.names))))
