"""The REST protocol of UDPipe: `/models` and `/process`, as its clients use them.

`data` is plain text with the parameter `tokenizer`, else words in the format of `input`. With `tagger` tags and lemmas
are predicted, with `parser` trees; without them those of the input stay. Values of `tagger` and `parser` are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from swvp.io.tree_checks import EMPTY
from swvp.io.treebank import DEPREL, Treebank, treebank_of_table
from swvp.serving.answers import written
from swvp.serving.documents import documents_of
from swvp.serving.limits import Deadline, HTTPError, Limits
from swvp.serving.models import Models
from swvp.serving.queries import Query, checked_text
from swvp.serving.served import Analysis, Served, ServedParser, ServedPipeline, ServedTagger
from swvp.text.document import Document
from swvp.text.pipeline import Pipeline

__all__ = ["PARAMETERS", "models", "process"]

PARAMETERS = ("data", "model", "tokenizer", "tagger", "parser", "input", "output")
INPUTS = ("conllu", "horizontal", "vertical")
STAGES = {"tokens": "tokenizer", "tags": "tagger", "lemmas": "tagger", "trees": "parser"}


def models(served: Models) -> dict[str, Any]:
    """Return the models with what each of them can do."""
    shown = {
        name: list(dict.fromkeys(STAGES[stage] for stage in each.describe()["stages"]))
        for name, each in served.served.items()
    }
    return {"models": shown, "default_model": served.default}


def process(served: Models, given: Mapping[str, str], limits: Limits, deadline: Deadline) -> dict[str, Any]:
    """Return the answer to `/process`; the errors of this protocol have status 400."""
    if "data" not in given:
        raise HTTPError(400, "The parameter 'data' is required.")
    model = find(served, given.get("model"))
    output = given.get("output") or "conllu"
    if output not in WRITERS:
        raise HTTPError(400, f"Unknown output format '{output}'; known are {', '.join(WRITERS)}.")
    query = query_of(given, model)
    pipeline = model.pipeline
    if pipeline is not None and "tokenizer" not in given:
        pipeline = None  # the words are given: they are not expanded
    analyses = [
        predicted(model, query, document, given, limits, deadline)
        for document in documents_of(query, pipeline, limits, deadline)
    ]
    return {"model": model.name, "acknowledgements": [], "result": WRITERS[output](model, analyses)}


def find(served: Models, name: str | None) -> Served:
    """Return a model by its name, or by the beginning of its name up to a hyphen."""
    if not name:
        return served.find(None)
    for known, model in served.served.items():
        if known == name or known.startswith(f"{name}-"):
            return model
    raise HTTPError(400, f"The requested model '{name}' does not exist.")


def query_of(given: Mapping[str, str], model: Served) -> Query:
    """Return what to analyse."""
    data = checked_text("data", given["data"]).replace("\r\n", "\n")  # multipart bodies have CR LF
    if "tokenizer" in given:
        if model.pipeline is None or "tokens" not in model.pipeline.parts:
            raise HTTPError(400, f"The model '{model.name}' has no tokenizer.")
        presegmented = "presegmented" in given["tokenizer"].split(";")
        return Query(text=data, input="presegmented" if presegmented else "text")
    how = (given.get("input") or "conllu").partition("=")[0]
    if how not in INPUTS:
        raise HTTPError(400, f"Cannot parse the input in '{how}' format; known are {', '.join(INPUTS)}.")
    return Query(conllu=data) if how == "conllu" else Query(text=data, input=how)


def predicted(
    model: Served, query: Query, document: Document, given: Mapping[str, str], limits: Limits, deadline: Deadline
) -> Analysis:
    """Return a document with the columns that were asked for."""
    tag, parse = "tagger" in given, "parser" in given
    analysis = Analysis(document)
    treebank = with_given_trees(document.treebank)
    if isinstance(model, ServedPipeline):
        wanted = {"tags": tag, "lemmas": tag, "trees": parse}
        parts = {name: part for name, part in model.model.parts.items() if wanted.get(name)}
        treebank = Pipeline(parts).complete(treebank)
    elif isinstance(model, ServedParser) and parse and treebank.tokens:
        treebank = treebank.with_trees(*model.parser.predict_trees(treebank))
    elif isinstance(model, ServedTagger) and tag:
        return model.labelled(replace(document, treebank=treebank), query)
    return analysis._replace(document=replace(document, treebank=treebank))


def with_given_trees(treebank: Treebank) -> Treebank:
    """Return a treebank with the trees of its file, if it has some."""
    if treebank.table is None or treebank.table.width <= DEPREL or treebank.table.column(DEPREL - 1).strings == [EMPTY]:
        return treebank
    given = treebank_of_table(treebank.table, heads=True)
    return treebank.with_trees(given.trees, given.labels)


# ---------------------------------------------------------------- writing


def in_format(output: str) -> Callable[[Served, list[Analysis]], str]:
    return lambda model, analyses: str(written(model, analyses, output))


def plain_text(model: Served, analyses: list[Analysis]) -> str:
    """Return the text of the documents, a sentence per line."""
    lines: Iterator[str] = (sentence.text for each in analyses for sentence in each.document.sentences)
    return "".join(f"{line}\n" for line in lines)


WRITERS: dict[str, Callable[[Served, list[Analysis]], str]] = {
    **{output: in_format(output) for output in ("conllu", "horizontal", "vertical")},
    "plaintext": plain_text,
}
