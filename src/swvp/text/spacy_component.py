"""The component `swvp` of spaCy: `nlp.add_pipe("swvp", config={"model": "el.swvp"})`.

spaCy finds it by the entry point group `spacy_factories`. Loading the entry point `factory` registers it, so this
module can be imported without spaCy.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from swvp.errors import InputError
from swvp.text.pipeline import Pipeline
from swvp.text.spacy_doc import annotate, to_spacy

__all__ = ["SpacyComponent"]

FILE = "model.swvp"
"""The name of the model file in a folder that spaCy writes."""


class SpacyComponent:
    """A pipeline as a component of spaCy.

    Parameters
    ----------
    model : str or Path, optional
        A file that `swvp train pipeline` wrote. It may be missing if the component is loaded with `from_disk` or
        `from_bytes`, as `spacy.load` does.
    tokenize : bool
        Whether the tokenizer of the pipeline, if it has one, replaces the tokens of the Doc.
    """

    def __init__(self, model: str | Path | None = None, *, tokenize: bool = True):
        self.model, self.tokenize = model, tokenize
        self._pipeline = Pipeline.load(model) if model is not None and Path(model).exists() else None

    @property
    def pipeline(self) -> Pipeline:
        """The pipeline; raises InputError if there is no model yet."""
        if self._pipeline is None:
            given = "give config={'model': FILE}" if self.model is None else f"there is no file {self.model}"
            raise InputError(f"the component swvp has no model: {given}")
        return self._pipeline

    def __call__(self, doc: Any) -> Any:
        """Return a Doc with the analysis of the pipeline: a new one if the tokens are those of the pipeline."""
        if not self.tokenize or "tokens" not in self.pipeline.parts:
            return annotate(doc, self.pipeline)
        made = to_spacy(self.pipeline(doc.text), doc.vocab)
        made.user_data = doc.user_data
        return made

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 128) -> Iterator[Any]:
        """Yield the Docs of a stream with their analyses."""
        yield from map(self, stream)

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder."""
        Path(path).mkdir(parents=True, exist_ok=True)
        self.pipeline.save(Path(path) / FILE)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> SpacyComponent:
        """Read the model from a folder."""
        self._pipeline = Pipeline.load(Path(path) / FILE)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the model file."""
        with tempfile.TemporaryDirectory() as folder:
            self.pipeline.save(Path(folder) / FILE)
            return (Path(folder) / FILE).read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> SpacyComponent:
        """Read a model file."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / FILE).write_bytes(data)
            self._pipeline = Pipeline.load(Path(folder) / FILE)
        return self


def register() -> Any:
    """Register the component with spaCy; return its factory."""
    from spacy.language import Language

    def factory(nlp: Any, name: str, model: str | None, tokenize: bool) -> SpacyComponent:
        return SpacyComponent(model, tokenize=tokenize)

    assigned = ["token.tag", "token.pos", "token.morph", "token.lemma", "token.dep", "token.head", "doc.sents"]
    config = {"model": None, "tokenize": True}
    return Language.factory("swvp", default_config=config, assigns=assigned, func=factory)


def __getattr__(name: str) -> Any:
    """Return the factory, which the entry point names."""
    if name != "factory":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return register()
