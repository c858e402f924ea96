"""The component `swvp` of spaCy, `nlp.add_pipe("swvp", config={"model": "el.swvp"})`, and documents as those of spaCy.

spaCy finds the component by the entry point group `spacy_factories`. Loading the entry point `factory` registers it, so
this module can be imported without spaCy.

Words are tokens of spaCy. Where spaces are not one blank, the rest of them is a token too, as spaCy's own tokenizers
have it, so that the text stays as it was. The words of a multiword token that are not pieces of it, as "de le" of
"du", are separated by blanks: only there the text changes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from swvp.errors import InputError
from swvp.io.tree_checks import EMPTY
from swvp.text.document import Document
from swvp.text.pipeline import Pipeline

__all__ = ["SpacyComponent", "annotate", "to_spacy"]

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


class Rows:
    """The columns of a Doc, filled token by token."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.spaces: list[bool] = []
        self.starts: list[bool | int | None] = []
        self.sources: list[int | None] = []  # the number of the word, None for spaces

    def add(self, text: str, source: int | None, start: bool) -> None:
        """Add a token that no blank follows."""
        self.words.append(text)
        self.spaces.append(False)
        self.starts.append(start)
        self.sources.append(source)

    def add_spaces(self, spaces: str) -> None:
        """Add the spaces after a token: a blank belongs to it, what follows is a token of its own."""
        if spaces.startswith(" ") and self.words:
            self.spaces[-1] = True
            spaces = spaces[1:]
        if spaces:
            self.add(spaces, None, False)

    def heads(self, of_words: list[int]) -> list[int]:
        """Return the heads of all tokens, given those of words; spaces belong to the token before, or the first one."""
        places = [place for place, source in enumerate(self.sources) if source is not None]
        heads, last = [], places[0]
        for place, source in enumerate(self.sources):
            heads.append(last if source is None else places[of_words[source]])
            last = last if source is None else place
        return heads

    def filled(self, values: list[str], spaces: str = "") -> list[str] | None:
        """Return a column of words as one of tokens; None if it has no value."""
        column = ["" if value == EMPTY else value for value in values]
        if not any(column):
            return None
        return [spaces if source is None else column[source] for source in self.sources]


def to_spacy(document: Document, vocab: Any = None) -> Any:
    """Return a document as a `Doc`."""
    try:
        from spacy.tokens import Doc
        from spacy.vocab import Vocab
    except ImportError:
        raise InputError("to_spacy needs spaCy: pip install spacy") from None
    rows = Rows()
    if not document.sentences:
        rows.add_spaces(document.text)
        return Doc(Vocab() if vocab is None else vocab, words=rows.words, spaces=rows.spaces)
    rows.add_spaces(document.text[: int(document.segmentation.token_starts[0])])
    number = 0
    for sentence in document.sentences:
        words = sentence.words
        for k, token in zip(sentence.token_numbers, sentence.tokens, strict=True):
            own = [word.form for word in words[token.first_word - 1 : token.last_word]]
            own = [token.text] if len(own) == 1 else own
            for place, form in enumerate(own):
                rows.add(form, number, token.first_word == 1 and not place)
                rows.spaces[-1] = place + 1 < len(own) and "".join(own) != token.text
                number += 1
            rows.add_spaces(document.spaces(k))
    return Doc(Vocab() if vocab is None else vocab, words=rows.words, spaces=rows.spaces, **columns_of(document, rows))


def columns_of(document: Document, rows: Rows) -> dict[str, Any]:
    """Return the columns of a Doc after words and spaces."""
    from spacy.parts_of_speech import IDS

    words = document.words
    columns: dict[str, Any] = {
        "tags": rows.filled([word.xpos for word in words], "_SP"),
        "pos": rows.filled([word.upos if word.upos in IDS or word.upos == EMPTY else "X" for word in words], "SPACE"),
        "morphs": rows.filled([word.feats for word in words]),
        "lemmas": rows.filled([word.lemma for word in words]),
    }
    if document.treebank.heads is None:
        return columns | {"sent_starts": rows.starts}
    heads, begin = [], 0
    for sentence in document.sentences:
        own = sentence.words
        heads += [begin + (word.head or word.id) - 1 for word in own]
        begin += len(own)
    labels = [("ROOT" if not word.head else word.deprel or "dep") for word in words]
    return columns | {"heads": rows.heads(heads), "deps": rows.filled(labels, "dep")}


def annotate(doc: Any, pipeline: Any) -> Any:
    """Set tags, lemmas and trees of a Doc, whose tokens stay; its sentences are those it has, or all is one."""
    from spacy.tokens import Doc

    rows = Rows()
    sentences: list[list[str]] = []
    spans = list(doc.sents) if doc.has_annotation("SENT_START") else [doc[:]]
    for span in spans:
        words = [token for token in span if not token.is_space]
        first = sum(map(len, sentences))
        numbers = {token.i: first + k for k, token in enumerate(words)}
        for token in span:
            rows.add(token.text, numbers.get(token.i), bool(words) and token.i == words[0].i)
            rows.spaces[-1] = bool(token.whitespace_)
        if words:
            sentences.append([token.text for token in words])
    if not sentences:
        return doc
    document = pipeline.only_words(sentences)
    made = Doc(doc.vocab, words=rows.words, spaces=rows.spaces, **columns_of(document, rows))
    made.user_data = doc.user_data
    return made
