"""Models as the server uses them: one class for each kind, all with `describe`, `analyse` and `explain`.

A model is never changed after it is loaded, and its buffers belong to one call. So all threads share one copy.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from swvp.errors import InputError
from swvp.evaluation.counts import is_phrase_label
from swvp.io.container import kind_of
from swvp.io.table import CONLLU, Column
from swvp.io.tree_checks import EMPTY, column_of
from swvp.parsing.parser import Parser
from swvp.pipeline import lacks_tags, load_model
from swvp.serving.documents import DIVIDED, documents_of, gold_words
from swvp.serving.limits import Deadline, HTTPError, Limits, too_large
from swvp.serving.queries import INPUTS, Query
from swvp.tagging.files import layout_for_predicting
from swvp.tagging.tagger import Tagger
from swvp.text.document import Document
from swvp.text.pipeline import Pipeline, missing_tags
from swvp.text.sentence import strings_of

__all__ = [
    "COLUMNS",
    "Analysis",
    "Served",
    "ServedParser",
    "ServedPipeline",
    "ServedTagger",
    "check_ranked",
    "load_served",
]

NO_TAGS = "no tags (UPOS), but the parser was trained with tags"
MOST_LABELS = 200
"""Longer lists of labels are not shown."""

OTHER_NAMES = {"word": "form", "pos": "upos", "tag": "upos"}
"""The names that taggers have for columns of CoNLL-U, if they differ."""

COLUMNS = ("upos", "xpos", "feats")
"""The columns into which the labels of a tagger are written, if it was trained on them."""


class Analysis(NamedTuple):
    """What a model predicts for a document.

    Parameters
    ----------
    document : Document
        With the columns and trees that were predicted.
    labels : list of list of str, optional
        The labels of each sentence, of a tagger.
    confidence : list of list of float, optional
        Their probabilities; those of trees are in the document.
    alternatives : list of list of dict, optional
        The k best analyses of each sentence.
    gold : list of dict, optional
        All words as they were given in CoNLL-U.
    notes : sequence of str
        Remarks for people.
    """

    document: Document
    labels: list[list[str]] | None = None
    confidence: list[list[float]] | None = None
    alternatives: list[list[dict[str, Any]]] | None = None
    gold: list[dict[str, Any]] | None = None
    notes: Sequence[str] = ()


class Served(Protocol):
    """A model of any kind."""

    name: str
    kind: str
    explains: tuple[str, ...]
    """What it can explain: label, head, lemma."""

    pipeline: Pipeline | None
    """What divides texts, if it can."""

    def describe(self) -> dict[str, Any]:
        """Return what clients see of it."""

    def analyse(self, query: Query, limits: Limits, deadline: Deadline) -> Iterator[Analysis]:
        """Yield the analyses of the parts of a query."""


def load_served(name: str, path: Path) -> Served:
    """Load a model of any kind; raise InputError if it cannot be served."""
    if kind_of(path) == "pipeline":
        return ServedPipeline(name, Pipeline.load(path))
    model = load_model(path)
    return ServedTagger(name, model) if isinstance(model, Tagger) else ServedParser(name, model)


def description(served: Served, **more: Any) -> dict[str, Any]:
    """Return what clients see of a model, with its labels left out if they are too many."""
    labels = more.get("labels")
    if labels is not None and len(labels) > MOST_LABELS:
        more["labels"] = None
    divides = served.pipeline is not None and "tokens" in served.pipeline.parts
    inputs = INPUTS if divides else (*DIVIDED, "conllu")
    return {
        "name": served.name,
        "kind": served.kind,
        "inputs": list(inputs),
        "explains": list(served.explains),
        "note": None,
        **more,
    }


def gold_of(query: Query, document: Document) -> list[dict[str, Any]] | None:
    """Return the words as they were given, if they were given in CoNLL-U."""
    return None if query.conllu is None else gold_words(document)


def check_ranked(document: Document, limits: Limits, what: str) -> None:
    """Raise HTTPError if a sentence is too long for k best analyses or an explanation."""
    offsets = document.treebank.offsets
    longest = int((offsets[1:] - offsets[:-1]).max(initial=0))
    if longest > limits.ranked_words:
        raise too_large(f"words of a sentence, with {what}", longest, limits.ranked_words)


# ---------------------------------------------------------------- parsers and pipelines


def ranked_trees(parser: Parser, document: Document, k: int, limits: Limits) -> list[list[dict[str, Any]]]:
    """Return the k best trees of each sentence."""
    check_ranked(document, limits, "k")
    if not document.treebank.tokens:
        return []
    return [
        [
            {
                "score": score,
                "heads": list(tree.heads),
                "deprels": None if tree.labels is None else list(tree.labels),
            }
            for tree, score in trees
        ]
        for trees in parser.predict_k_best(replace(document.treebank, heads=None, labels=None), k)
    ]


def labels_of(parser: Parser) -> list[str] | None:
    return None if parser.labeller_ is None else list(parser.labeller_.classes)


class ServedPipeline:
    """A pipeline."""

    kind = "pipeline"

    def __init__(self, name: str, pipeline: Pipeline):
        pipeline.use_one_thread()
        self.name, self.model = name, pipeline
        self.pipeline: Pipeline | None = pipeline
        known = {"head": "trees", "lemma": "lemmas"}
        self.explains = tuple(what for what, stage in known.items() if stage in pipeline.parts)
        self.parser: Parser | None = pipeline.parts["trees"].parser if "trees" in pipeline.parts else None

    def describe(self) -> dict[str, Any]:
        stages = list(self.model.stages)
        note = missing_tags(self.model, has_tags=False)
        return description(
            self,
            stages=stages,
            target="trees" if self.parser is not None else stages[-1],
            features=[*(["k", "confidence"] if self.parser else []), *(["explain"] if self.explains else [])],
            labels=None if self.parser is None else labels_of(self.parser),
            note=None if note is None else f"{note}: give them as CoNLL-U",
        )

    def analyse(self, query: Query, limits: Limits, deadline: Deadline) -> Iterator[Analysis]:
        if query.k is not None and self.parser is None:
            raise HTTPError(400, "k needs trees, and the model has no stage for them")
        for words in documents_of(query, self.model, limits, deadline):
            document = self.model.completed(words, confidence=query.confidence)
            alternatives = None
            if query.k is not None and self.parser is not None:
                alternatives = ranked_trees(self.parser, document, query.k, limits)
            yield Analysis(document, alternatives=alternatives, gold=gold_of(query, words))


class ServedParser:
    """A parser."""

    kind = "parser"
    pipeline: Pipeline | None = None
    explains: tuple[str, ...] = ("head",)

    def __init__(self, name: str, parser: Parser):
        parser.use_threads(1)
        self.name, self.parser = name, parser
        self.needs_tags = len(parser.ranks_["pos"]) > 1

    def describe(self) -> dict[str, Any]:
        return description(
            self,
            stages=["trees"],
            target="trees",
            features=["k", "confidence", "explain"],
            labels=labels_of(self.parser),
            note="the parser was trained with tags (UPOS): give them as CoNLL-U" if self.needs_tags else None,
        )

    def analyse(self, query: Query, limits: Limits, deadline: Deadline) -> Iterator[Analysis]:
        for words in documents_of(query, None, limits, deadline):
            treebank, confidence = words.treebank, None
            if not treebank.tokens:
                yield Analysis(words)
                continue
            if query.confidence:
                from swvp.text.stages import TreeStage

                heads, labels, confidence = TreeStage(self.parser).confidence(treebank)
            else:
                heads, labels = self.parser.predict_trees(treebank)
            document = replace(words, treebank=treebank.with_trees(heads, labels), confidence=confidence)
            yield Analysis(
                document,
                alternatives=None if query.k is None else ranked_trees(self.parser, document, query.k, limits),
                gold=gold_of(query, words),
                notes=["no tags (UPOS), but the parser was trained with tags"]
                if lacks_tags(self.parser, treebank)
                else (),
            )


# ---------------------------------------------------------------- taggers


class ServedTagger:
    """A tagger; its labels are a column of CoNLL-U, or of a column file."""

    kind = "tagger"
    pipeline: Pipeline | None = None

    def __init__(self, name: str, tagger: Tagger):
        layout = layout_for_predicting(tagger)  # raises InputError for a tagger of ready features
        tagger.use_threads(1)
        self.name, self.tagger = name, tagger
        self.target = CONLLU[layout.label] if layout.conllu else None
        self.columns = list(tagger.columns_)
        self.is_plain = tagger.order == 1 and tagger.decoder == "viterbi"
        self.explains: tuple[str, ...] = ("label",) if self.is_plain else ()
        self.labels = [str(label) for label in tagger.classes_]
        self.has_phrases = any(label != "O" for label in self.labels) and all(map(is_phrase_label, self.labels))

    def describe(self) -> dict[str, Any]:
        more = ", ".join(self.columns[1:])
        return description(
            self,
            stages=["tags"],
            target=self.target or "labels",
            features=["k", "confidence", "explain"] if self.is_plain else [],
            labels=self.labels,
            columns=self.columns,
            note=f"the tagger also uses columns ({more}): give them as tokens, or as CoNLL-U" if more else None,
        )

    def analyse(self, query: Query, limits: Limits, deadline: Deadline) -> Iterator[Analysis]:
        if (query.k is not None or query.confidence) and not self.is_plain:
            raise HTTPError(400, "k and confidence need a tagger of order 1 with exact search")
        for words in documents_of(query, None, limits, deadline):
            if query.k is not None:
                check_ranked(words, limits, "k")
            yield self.labelled(words, query)

    def labelled(self, words: Document, query: Query) -> Analysis:
        """Return a document with the labels of its words, and what else the query asks for."""
        X = self.inputs(query, words)
        labels = [list(map(str, sentence)) for sentence in self.tagger.predict(X)]
        confidence = alternatives = None
        if query.confidence:
            confidence = [each.tokens.tolist() for each in self.tagger.confidence(X)]
        if query.k is not None:
            alternatives = [
                [{"score": score, "labels": list(map(str, sentence))} for sentence, score in ranked]
                for ranked in self.tagger.predict_k_best(X, query.k)
            ]
        gold = gold_of(query, words)
        if gold is not None and self.target is not None:
            gold = [word | {"label": word[self.target]} for word in gold]
        return Analysis(self.with_column(words, labels), labels, confidence, alternatives, gold)

    def inputs(self, query: Query, document: Document) -> list[list[Any]]:
        """Return the sentences of a document as the tagger takes them."""
        treebank = document.treebank
        bounds = treebank.offsets.tolist()
        if self.columns == ["word"]:
            tokens: list[Any] = strings_of(treebank.words)
        elif query.tokens is not None and all(isinstance(token, tuple) for each in query.tokens for token in each):
            return [list(sentence) for sentence in query.tokens]
        else:
            by_name = treebank.columns() | {"form": treebank.words, "upos": treebank.upos, "xpos": treebank.xpos}
            names = [OTHER_NAMES.get(name, name) for name in self.columns]
            missing = [
                column
                for column, name in zip(self.columns, names, strict=True)
                if name not in by_name or by_name[name].strings == [EMPTY]
            ]
            if missing and treebank.tokens:
                raise InputError(
                    f"the tagger uses the columns {', '.join(self.columns)}, and {missing[0]} is missing: give each "
                    "token as a list of these columns"
                )
            tokens = list(zip(*(strings_of(by_name[name]) for name in names), strict=True))
        return [tokens[a:b] for a, b in itertools.pairwise(bounds)]

    def with_column(self, document: Document, labels: list[list[str]]) -> Document:
        """Return a document with the labels in their column, if it has one."""
        if self.target not in COLUMNS:
            return document
        column: Column = column_of(label for sentence in labels for label in sentence)
        changes: dict[str, Any] = {self.target: column}
        return replace(document, treebank=replace(document.treebank, **changes))
