"""Requests in JSON: every field is checked before a model sees it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from swvp.errors import shown, unknown_name
from swvp.io.tree_checks import EMPTY
from swvp.serving.limits import HTTPError, Limits, too_large
from swvp.text.sentence import form_of

__all__ = [
    "FIELDS",
    "INPUTS",
    "OUTPUTS",
    "Fields",
    "Query",
    "Token",
    "checked_text",
    "parsed_query",
    "read_json",
    "sentences_in",
]

INPUTS = ("text", "presegmented", "horizontal", "vertical", "conllu")
OUTPUTS = ("json", "conllu", "displacy", "horizontal", "vertical")
FIELDS = ("form", "lemma", "upos", "xpos", "feats")
"""The fields of a word that a client may give."""

Token = Mapping[str, str] | tuple[str, ...]
"""A token as a client gave it: fields by their names, or columns."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """What to analyse, and how: one of `text`, `tokens` and `conllu` is given.

    Parameters
    ----------
    text : str, optional
    tokens : list of lists of tokens, optional
    conllu : str, optional
    input : str, optional
        How the text is divided, one of `INPUTS`; None: as the model does it by default.
    output : str
        One of `OUTPUTS`.
    k : int, optional
        How many of the best analyses of each sentence are wanted besides.
    confidence : bool
        Whether probabilities are wanted.
    """

    text: str | None = None
    tokens: list[list[Token]] | None = None
    conllu: str | None = None
    input: str | None = None
    output: str = "json"
    k: int | None = None
    confidence: bool = False


def read_json(body: bytes) -> dict[str, Any]:
    """Return the object that a body holds; raise HTTPError if it holds something else."""
    try:
        given = json.loads(body)
    except RecursionError:
        raise HTTPError(400, "the body is nested too deeply") from None
    except ValueError as error:  # bad JSON, bad UTF-8, a number with too many digits
        raise HTTPError(400, f"the body is not JSON in UTF-8: {error}") from None
    if not isinstance(given, dict):
        raise HTTPError(400, 'the body must be a JSON object, such as {"text": "…"}')
    return given


class Fields:
    """The fields of an object; each is taken with its type, and none may be left over.

    Parameters
    ----------
    given : dict
    known : sequence of str
        The names that are allowed.
    """

    def __init__(self, given: Mapping[str, Any], known: Sequence[str]):
        self.given = given
        for name in given:
            if name not in known:
                raise unknown_name("field", name, known)

    def text(self, name: str, default: str | None = None) -> str | None:
        """Return a string, which must be valid Unicode."""
        value = self._value(name, str, "a string", default)
        return None if value is None else checked_text(name, value)

    def one_of(self, name: str, known: Sequence[str], default: str | None = None) -> str | None:
        """Return one of some names."""
        value = self.text(name, default)
        if value is not None and value not in known:
            raise unknown_name(name, value, known)
        return value

    def whole(self, name: str, least: int, most: int, default: int | None = None) -> int | None:
        """Return a whole number."""
        value: int | None = self._value(name, int, "a whole number", default)
        if value is not None and not least <= value <= most:
            raise HTTPError(400, f"{name} must be a whole number from {least} to {most}, not {shown(value)}")
        return value

    def number(self, name: str, least: float, most: float, default: float) -> float:
        """Return a number."""
        value = self._value(name, (int, float), "a number", default)
        if not least <= value <= most:
            raise HTTPError(400, f"{name} must be a number from {least:g} to {most:g}, not {shown(value)}")
        return float(value)

    def flag(self, name: str) -> bool:
        """Return true or false; false if it is missing."""
        value = self.given.get(name)
        if value is not None and not isinstance(value, bool):
            raise HTTPError(400, f"{name} must be true or false, not {shown(value)}")
        return bool(value)

    def texts(self, name: str, most: int) -> list[str] | None:
        """Return a list of strings."""
        values: list[Any] | None = self._value(name, list, "a list of strings", None)
        if values is None:
            return None
        if len(values) > most:
            raise too_large(name, len(values), most)
        if not all(isinstance(value, str) for value in values):
            raise HTTPError(400, f"{name} must be a list of strings")
        return [checked_text(name, value) for value in values]

    def _value(self, name: str, kind: Any, what: str, default: Any) -> Any:
        value = self.given.get(name)
        if value is None:
            return default
        if not isinstance(value, kind) or isinstance(value, bool):
            raise HTTPError(400, f"{name} must be {what}, not {shown(value)}")
        return value


def checked_text(name: str, value: str) -> str:
    """Return a text without halves of characters, which JSON can hold and UTF-8 cannot."""
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise HTTPError(400, f"{name}: half of a character (an unpaired surrogate)") from None
    return value


GIVEN = ("text", "tokens", "conllu", "texts")


def parsed_query(given: Mapping[str, Any], limits: Limits) -> list[Query] | Query:
    """Return what a request wants analysed: a query, or, for `texts`, one for each of them."""
    fields = Fields(given, ("model", *GIVEN, "input", "output", "k", "confidence"))
    present = [name for name in GIVEN if given.get(name) is not None]
    if len(present) != 1:
        raise HTTPError(400, f"give exactly one of {', '.join(GIVEN)}, not {' and '.join(present) or 'none'}")
    common: dict[str, Any] = {
        "input": fields.one_of("input", INPUTS),
        "output": fields.one_of("output", OUTPUTS, "json"),
        "k": fields.whole("k", 1, limits.k),
        "confidence": fields.flag("confidence"),
    }
    if present == ["texts"]:
        return [query_of_text(text, common) for text in fields.texts("texts", limits.texts) or []]
    if present == ["text"]:
        return query_of_text(fields.text("text") or "", common)
    if common["input"] not in (None, "conllu" if present == ["conllu"] else None):
        raise HTTPError(400, f"input says how a text is divided, but {present[0]} is given")
    if present == ["conllu"]:
        return Query(conllu=fields.text("conllu"), **(common | {"input": None}))
    return Query(tokens=sentences_in(given["tokens"], limits), **common)


def query_of_text(text: str, common: dict[str, Any]) -> Query:
    if common["input"] == "conllu":
        return Query(conllu=text, **(common | {"input": None}))
    return Query(text=text, **common)


def sentences_in(given: Any, limits: Limits) -> list[list[Token]]:
    """Return sentences of tokens as a client gave them; raise HTTPError if they are something else."""
    if not isinstance(given, list) or not all(isinstance(sentence, list) for sentence in given):
        raise HTTPError(400, 'tokens must be a list of sentences, which are lists of tokens: [["Ann", "left"]]')
    words = sum(map(len, given))
    if max(words, len(given)) > limits.words:
        raise too_large("words", max(words, len(given)), limits.words)
    return [[token_of(token) for token in sentence] for sentence in given]


def token_of(given: Any) -> Token:
    """Return a token with every field checked."""
    if isinstance(given, str):
        return (checked_token(given),)
    if isinstance(given, list) and given and all(map(is_text, given)):
        return tuple([checked_token(part) for part in given])
    if isinstance(given, dict) and isinstance(given.get("form"), str):
        for name, value in given.items():
            if name not in FIELDS:
                raise unknown_name("field of a token", name, FIELDS)
            if not isinstance(value, str):
                raise HTTPError(400, f"{name} of a token must be a string, not {shown(value)}")
        return {name: checked_token(value) if name == "form" or value else EMPTY for name, value in given.items()}
    raise HTTPError(400, f"a token must be a string, a list of strings or an object with form, not {shown(given)}")


def is_text(value: Any) -> bool:
    return type(value) is str


def checked_token(value: str) -> str:
    """Return a token without the characters that end a field or a line of a file."""
    if value.isascii() and value.isprintable() and not (value.isspace() or not value):
        return value  # as most are
    if not value.strip():
        raise HTTPError(400, "a token is empty")
    return form_of(checked_text("a token", value))
