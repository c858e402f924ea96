"""The models of a server by name, and loading them again while it serves.

A request keeps the model that it began with. A new model replaces the old one only after it was loaded and has analysed
a word. So a damaged file changes nothing, and no request waits for compilation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from swvp.errors import InputError, did_you_mean, escaped, shown
from swvp.serving.explanations import explain
from swvp.serving.limits import Deadline, HTTPError, Limits
from swvp.serving.queries import Query, sentences_in
from swvp.serving.served import Served, load_served

__all__ = ["ModelFile", "Models", "model_files"]

WARM_UP = 600.0
"""Seconds that the first analysis may take, in which kernels are loaded or compiled."""


class ModelFile(NamedTuple):
    """A model file and the name under which it is served."""

    name: str
    path: Path


def model_files(given: Sequence[str]) -> list[ModelFile]:
    """Return the files that a user names, as PATH or NAME=PATH; without a name it is that of the file."""
    files: list[ModelFile] = []
    for text in given:
        name, equals, path = text.partition("=")
        named = bool(equals) and not Path(text).exists()
        file = Path(path if named else text)
        name = name if named else file.name.removesuffix(".swvp")
        if not name or name != escaped(name) or "/" in name:
            raise InputError(f"{text}: '{name}' cannot be the name of a model: use NAME=PATH")
        if any(other.name == name for other in files):
            raise InputError(f"two models with the name {name}: use NAME=PATH")
        files.append(ModelFile(name, file))
    if not files:
        raise InputError("no model to serve: give the file of one")
    return files


class Models:
    """The models of a server.

    Parameters
    ----------
    files : sequence of ModelFile
        The first one is the default.
    examples : mapping of str to list of str
        Texts to try, by the names of models; those under "" are for all others.
    """

    def __init__(self, files: Sequence[ModelFile], examples: Mapping[str, list[str]] | None = None):
        self.files = list(files)
        self.examples = dict(examples or {})
        self.default = self.files[0].name
        self.served: dict[str, Served] = {file.name: loaded(file) for file in self.files}

    def find(self, name: Any) -> Served:
        """Return a model by its name, None for the default; raise HTTPError if there is none."""
        name = self.default if name is None else name
        if not isinstance(name, str):
            raise HTTPError(400, f"model must be a string, not {shown(name)}")
        if name not in self.served:
            hint = did_you_mean(name, self.served)
            raise HTTPError(404, f"no model '{name}'{hint}; there are: {', '.join(self.served)}")
        return self.served[name]

    def describe(self) -> dict[str, Any]:
        """Return what clients see of all models."""
        described = [
            served.describe() | {"examples": self.examples.get(name, self.examples.get("", []))}
            for name, served in self.served.items()
        ]
        return {"models": described, "default": self.default}

    def reload(self) -> list[tuple[str, bool]]:
        """Load all files again; return a line about each model, and whether it was loaded."""
        lines = []
        for file in self.files:
            try:
                self.served[file.name] = loaded(file)
                lines.append((f"reloaded {file.name}", True))
            except (InputError, OSError, MemoryError) as error:
                why = str(error) or "not enough memory"
                lines.append((f"did not reload {file.name}, the old model stays: {why}", False))
        return lines


def loaded(file: ModelFile) -> Served:
    """Load a model and call each of its functions once, so that no request waits for compiling."""
    served = load_served(file.name, file.path)
    features, limits, deadline = served.describe()["features"], Limits(), Deadline(WARM_UP)
    k, confidence = (2 if "k" in features else None), "confidence" in features
    columns = len(getattr(served, "columns", ["word"]))
    words: list[Any] = ["a", "b", "."] if columns == 1 else [["a"] * columns] * 3
    for query in (
        Query(tokens=sentences_in([words], limits)),
        Query(tokens=sentences_in([words], limits), k=k, confidence=confidence),
        *([Query(text="a b .")] if columns == 1 else []),
    ):
        for _ in served.analyse(query, limits, deadline):
            pass
    for what in served.explains:
        explain(served, {"tokens": words, "word": 1, "what": what}, limits, deadline)
    return served
