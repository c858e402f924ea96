"""The API as OpenAPI 3.1; docs/reference/http-api.md describes it for people."""

from __future__ import annotations

from typing import Any

from swvp._version import __version__
from swvp.serving.queries import FIELDS, INPUTS, OUTPUTS

__all__ = ["openapi"]

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
WHOLE = {"type": "integer"}
OBJECT = {"type": "object"}
NULLABLE_TEXT = {"type": ["string", "null"]}
TOKEN = {
    "description": "A form, a list of columns, or an object of fields.",
    "oneOf": [
        TEXT,
        {"type": "array", "items": TEXT, "minItems": 1},
        {"type": "object", "required": ["form"], "properties": dict.fromkeys(FIELDS, TEXT)},
    ],
}
ERRORS = {
    "400": "The request is wrong.",
    "401": "A token is needed.",
    "404": "There is no such model.",
    "413": "It is too large.",
    "415": "The body is not JSON.",
    "429": "There is too much work; try again after Retry-After.",
    "503": "The work took too long.",
}


def array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def fields(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return schema | ({"required": list(required)} if required else {})


SCHEMAS: dict[str, Any] = {
    "Error": fields(("error",), error=TEXT),
    "Token": TOKEN,
    "Query": {
        **fields(
            model=TEXT,
            text=TEXT,
            tokens=array(array({"$ref": "#/components/schemas/Token"})),
            conllu=TEXT,
            texts=array(TEXT),
            input={"enum": list(INPUTS)},
            output={"enum": list(OUTPUTS)},
            k={"type": "integer", "minimum": 1, "maximum": 10},
            confidence={"type": "boolean"},
        ),
        "description": "Exactly one of text, tokens, conllu and texts.",
        "additionalProperties": False,
    },
    "Word": fields(
        ("id", "form"),
        id=WHOLE,
        form=TEXT,
        lemma=TEXT,
        upos=TEXT,
        xpos=TEXT,
        feats=TEXT,
        head={"type": ["integer", "null"]},
        deprel=NULLABLE_TEXT,
        label=NULLABLE_TEXT,
        confidence=NUMBER,
    ),
    "Sentence": fields(
        ("id", "text", "start", "end", "tokens", "words"),
        id=WHOLE,
        text=TEXT,
        start=WHOLE,
        end=WHOLE,
        tokens=array(fields(id=WHOLE, text=TEXT, start=WHOLE, end=WHOLE, words=array(WHOLE))),
        words=array({"$ref": "#/components/schemas/Word"}),
        gold=array({"$ref": "#/components/schemas/Word"}),
        alternatives=array(fields(score=NUMBER, heads=array(WHOLE), deprels=array(TEXT), labels=array(TEXT))),
    ),
    "Analysis": fields(
        ("model",),
        model=TEXT,
        sentences=array({"$ref": "#/components/schemas/Sentence"}),
        notes=array(TEXT),
        output=TEXT,
        result={},
        results=array(OBJECT),
        seconds=NUMBER,
    ),
    "Question": {
        **fields(
            ("tokens", "word"),
            model=TEXT,
            tokens=array({"$ref": "#/components/schemas/Token"}),
            word=WHOLE,
            what={"enum": ["label", "head", "lemma"]},
            top=WHOLE,
        ),
        "additionalProperties": False,
    },
    "Explanation": fields(
        ("model", "what", "contributions", "total"),
        model=TEXT,
        what=TEXT,
        word=OBJECT,
        predicted=TEXT,
        second=NULLABLE_TEXT,
        total=NUMBER,
        contributions=array(fields(feature=TEXT, value=NUMBER)),
        title=TEXT,
        seconds=NUMBER,
    ),
    "TraceQuery": {
        **fields(
            ("kind", "data"),
            kind={"enum": ["column", "conllu"]},
            data=TEXT,
            rules=array(TEXT),
            beta=NUMBER,
            epochs=WHOLE,
            updates=WHOLE,
        ),
        "additionalProperties": False,
    },
}


def answers(schema: dict[str, Any], *errors: str) -> dict[str, Any]:
    """Return the answers of an operation: one of this schema, and errors."""
    error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {
        "200": {"description": "The answer.", "content": {"application/json": {"schema": schema}}},
        **{status: {"description": ERRORS[status], "content": error} for status in errors},
    }


def operation(summary: str, schema: dict[str, Any], *errors: str, body: str = "", **more: Any) -> dict[str, Any]:
    """Return an operation; `body` is the name of the schema of its body."""
    described: dict[str, Any] = {"summary": summary, "responses": answers(schema, *errors), **more}
    if body:
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{body}"}}}
        described["requestBody"] = {"required": True, "content": content}
    return described


def parameter(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


POSTED = ("400", "401", "404", "413", "415", "429", "503")


def openapi() -> dict[str, Any]:
    """Return the description of the API.

    Returns
    -------
    dict
    """
    process = operation("Analyse as UDPipe's REST service does.", OBJECT, "400", "429", "503")
    udpipe_fields = dict.fromkeys(("data", "model", "tokenizer", "tagger", "parser", "input", "output"), TEXT)
    form = {"schema": fields(("data",), **udpipe_fields)}
    by_post = process | {
        "requestBody": {"content": {"multipart/form-data": form, "application/x-www-form-urlencoded": form}}
    }
    by_get = process | {"parameters": [parameter(name, "query", TEXT) for name in udpipe_fields]}
    of_lesson = [parameter("name", "path", TEXT), *(parameter(n, "query", TEXT) for n in ("rules", "beta", "epochs"))]
    return {
        "openapi": "3.1.0",
        "info": {"title": "swvp", "version": __version__, "description": "Tags, trees, lemmas and explanations."},
        "paths": {
            "/api/v1/models": {"get": operation("List the models.", OBJECT, "401")},
            "/api/v1/analyze": {
                "post": operation("Analyse texts.", {"$ref": "#/components/schemas/Analysis"}, *POSTED, body="Query")
            },
            "/api/v1/explain": {
                "post": operation(
                    "Explain a label, a head or a lemma.",
                    {"$ref": "#/components/schemas/Explanation"},
                    *POSTED,
                    body="Question",
                )
            },
            "/api/v1/lessons": {"get": operation("List the lessons.", OBJECT, "401")},
            "/api/v1/lessons/{name}": {
                "get": operation("Train a lesson.", OBJECT, "400", "401", "404", "429", "503", parameters=of_lesson)
            },
            "/api/v1/trace": {"post": operation("Train on a few sentences.", OBJECT, *POSTED, body="TraceQuery")},
            "/api/v1/openapi.json": {"get": operation("Describe the API.", OBJECT)},
            "/models": {"get": operation("List the models as UDPipe's REST service does.", OBJECT)},
            "/process": {"get": by_get, "post": by_post},
            "/health": {"get": operation("Say that the server answers.", OBJECT)},
            "/metrics": {
                "get": {
                    "summary": "Counts and times, for Prometheus.",
                    "responses": {"200": {"description": "Text.", "content": {"text/plain": {"schema": TEXT}}}},
                }
            },
        },
        "components": {
            "schemas": SCHEMAS,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
