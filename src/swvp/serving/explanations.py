"""Which features decided a label, a head or a lemma: the tables of `swvp inspect --explain` as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from swvp.errors import unknown_name
from swvp.parsing.parser import Parser
from swvp.serving.documents import check_size, document_of_tokens, form
from swvp.serving.limits import Deadline, HTTPError, Limits
from swvp.serving.queries import Fields, Query, Token, sentences_in
from swvp.serving.served import Served, ServedParser, ServedPipeline, ServedTagger, check_ranked
from swvp.text.document import Document
from swvp.text.pipeline import Pipeline

__all__ = ["explain"]

ALL = 10**6
MOST_SHOWN = 200


def explain(served: Served, given: Mapping[str, Any], limits: Limits, deadline: Deadline) -> dict[str, Any]:
    """Return why a word has its label, head or lemma.

    Parameters
    ----------
    served : Served
    given : mapping
        The request.
    limits : Limits
    deadline : Deadline

    Returns
    -------
    dict
    """
    if not served.explains:
        raise HTTPError(400, f"the model {served.name} explains nothing")
    fields = Fields(given, ("model", "tokens", "word", "what", "top"))
    what = fields.text("what") or served.explains[0]
    if what not in served.explains:
        raise unknown_name("what", what, served.explains)
    tokens = sentences_in([given.get("tokens")], limits)[0]
    if not tokens:
        raise HTTPError(400, "tokens must be the words of a sentence")
    word = fields.whole("word", 1, len(tokens))
    if word is None:
        raise HTTPError(400, f"word is missing: give a number from 1 to {len(tokens)}")
    top = fields.whole("top", 0, MOST_SHOWN, 20)
    document = document_of_tokens([tokens], None)
    check_size(document, document.treebank.tokens, limits)
    check_ranked(document, limits, "explain")
    deadline.check()
    found = EXPLAINERS[what](served, tokens, document, word)
    contributions = found.pop("contributions")
    answer = {
        "model": served.name,
        "what": what,
        "word": {"id": word, "form": form(tokens[word - 1])},
        **found,
        "total": sum(value for _, value in contributions),
        "features": len(contributions),
        "contributions": [{"feature": name, "value": value} for name, value in contributions[:top]],
    }
    return answer | {"shown": len(answer["contributions"])}


def explain_head(served: Served, tokens: list[Token], document: Document, word: int) -> dict[str, Any]:
    """Why a word has its head; a pipeline predicts the tags of the words first."""
    if isinstance(served, ServedPipeline):
        assert served.parser is not None
        parser: Parser = served.parser
        without = {name: part for name, part in served.model.parts.items() if name != "trees"}
        treebank = Pipeline(without).complete(document.treebank)
    else:
        assert isinstance(served, ServedParser)
        parser, treebank = served.parser, document.treebank
    treebank = replace(treebank, heads=None, labels=None)
    table = parser.explain(treebank, word, ALL)
    place = {name: table.headings.index(name) for name in ("head", "second", "feature", "difference")}
    rows = [[row[place[name]] for name in place] for row in table.rows]
    predicted = rows[0][0] if rows else None
    second = rows[0][1] if rows and number_in(rows[0][1]) is not None else None
    if predicted is None:  # no feature differs
        heads, _ = parser.predict_trees(treebank)
        head = int(heads[word - 1])
        predicted = "0 (root)" if head == 0 else f"{head} {form(tokens[head - 1])}"
    return {
        "predicted": predicted,
        "second": second,
        "for": {"head": number_in(predicted)},
        "against": None if second is None else {"head": number_in(second)},
        "contributions": [(row[2], float(row[3])) for row in rows if second is not None],
        "title": table.title,
    }


def number_in(name: str) -> int | None:
    """Return the number of a word as an explanation names it, "3 left"; None if it names none."""
    number = name.partition(" ")[0]
    return int(number) if number.isdigit() else None


def explain_label(served: Served, tokens: list[Token], document: Document, word: int) -> dict[str, Any]:
    """Why a token has its label."""
    assert isinstance(served, ServedTagger)
    X = served.inputs(Query(tokens=[tokens]), document)
    table = served.tagger.explain(X[0], word - 1, ALL)
    if not table.rows:
        label = str(served.tagger.predict(X)[0][word - 1])
        return {"predicted": label, "second": None, "for": {"label": label}, "against": None, "contributions": [],
                "title": table.title}  # fmt: skip
    _, label, second, _, _ = table.rows[0]
    return {
        "predicted": str(label),
        "second": str(second),
        "for": {"label": str(label)},
        "against": {"label": str(second)},
        "contributions": [(row[3], float(row[4])) for row in table.rows],
        "title": table.title,
    }


def explain_lemma(served: Served, tokens: list[Token], document: Document, word: int) -> dict[str, Any]:
    """Why a word has its lemma; a pipeline predicts its tags first."""
    assert isinstance(served, ServedPipeline)
    parts = {name: part for name, part in served.model.parts.items() if name == "tags"}
    treebank = Pipeline(parts).complete(document.treebank) if parts else document.treebank
    one = treebank.select(np.array([0]))
    upos, xpos, feats = (column.strings[column.ids[word - 1]] for column in (one.upos, one.xpos, one.feats))
    found = served.model.parts["lemmas"].explain(form(tokens[word - 1]), upos, feats, xpos, top=ALL)
    ranked: Sequence[tuple[str, float]] = found.candidates
    second = ranked[1][0] if len(ranked) > 1 else None
    return {
        "predicted": found.lemma,
        "second": second,
        "for": {"lemma": found.lemma},
        "against": None if second is None else {"lemma": second},
        "source": found.source,
        "candidates": [{"lemma": lemma, "score": score} for lemma, score in ranked],
        "contributions": [(name, float(value)) for name, value in found.features],
        "title": "What decided the lemma: weight for it minus weight for the second best",
    }


EXPLAINERS = {"label": explain_label, "head": explain_head, "lemma": explain_lemma}
