"""What a client sends as documents: a text in one of several formats, tokens, or CoNLL-U.

A model without tokenizer takes text that is divided already: a sentence per line with blanks between tokens, or a token
per line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from swvp.errors import InputError
from swvp.io.table import CONLLU, Table, table_of
from swvp.io.tree_checks import EMPTY, column_of
from swvp.io.treebank import DEPREL, HEAD, WITHOUT_HEADS, treebank_of_table
from swvp.serving.limits import Deadline, HTTPError, Limits, too_large
from swvp.serving.queries import FIELDS, Query, Token
from swvp.text.document import Document, words_of
from swvp.text.files import INPUTS as READERS
from swvp.text.pipeline import Pipeline
from swvp.text.sentence import strings_of
from swvp.text.treebank_text import document_of

__all__ = ["DIVIDED", "check_size", "document_of_tokens", "documents_of", "form", "gold_words", "read_conllu"]

DIVIDED = ("horizontal", "vertical")
"""Formats of text in which tokens are divided already."""

SOURCE = "conllu"
"""What messages call the text of a client."""


def documents_of(query: Query, pipeline: Pipeline | None, limits: Limits, deadline: Deadline) -> Iterator[Document]:
    """Yield the words of a query, a long text in parts; no model has seen them yet.

    Parameters
    ----------
    query : Query
    pipeline : Pipeline or None
        What divides texts and multiword tokens; None for models that cannot.
    limits : Limits
    deadline : Deadline
        Is checked between parts.
    """
    words = 0
    for document in undivided(query, pipeline):
        deadline.check()
        words += document.treebank.tokens
        check_size(document, words, limits)
        yield document


def undivided(query: Query, pipeline: Pipeline | None) -> Iterator[Document]:
    """Yield the words of a query, which may be too many."""
    if query.conllu is not None:
        yield document_of(treebank_of_table(read_conllu(query.conllu), heads=False))
        return
    expander = None if pipeline is None else pipeline.parts.get("multiword")
    if query.tokens is not None:
        yield document_of_tokens(query.tokens, expander)
        return
    has_tokenizer = pipeline is not None and "tokens" in pipeline.parts
    how = query.input or ("text" if has_tokenizer else DIVIDED[0])
    if not has_tokenizer and how not in DIVIDED:
        raise HTTPError(400, f"the model has no tokenizer: input must be one of {', '.join(DIVIDED)}, not {how}")
    for part in READERS[how](pipeline, iter([query.text or ""])):  # type: ignore[arg-type]
        yield words_of(expander=expander, **part._asdict())


def document_of_tokens(sentences: list[list[Token]], expander: Any) -> Document:
    """Return tokens as a document, with the tags that they were given with, unless they are expanded to words."""
    document = Document.from_tokens([[form(token) for token in sentence] for sentence in sentences])
    if expander is not None:
        return words_of(document.text, document.segmentation, expander)
    rows = [fields_of(token) for sentence in sentences for token in sentence]
    columns: dict[str, Any] = {}
    for name, values in zip(("lemmas", "upos", "xpos", "feats"), list(zip(*rows, strict=True))[1:], strict=True):
        if any(value != EMPTY for value in values):
            columns[name] = column_of(values)
    return replace(document, treebank=replace(document.treebank, **columns)) if columns else document


def form(token: Token) -> str:
    """Return the form of a token."""
    return token[0] if isinstance(token, tuple) else token["form"]


def fields_of(token: Token) -> tuple[str, ...]:
    """Return form, lemma, UPOS, XPOS and FEATS of a token; of a tagger's columns only the form is known."""
    if isinstance(token, tuple):
        if len(token) == 2:
            return (token[0], EMPTY, token[1], EMPTY, EMPTY)
        return token if len(token) == len(FIELDS) else (token[0], EMPTY, EMPTY, EMPTY, EMPTY)
    return tuple(token.get(name, EMPTY) for name in FIELDS)


def check_size(document: Document, words: int, limits: Limits) -> None:
    """Raise HTTPError if a sentence is too long, or there are too many words in all."""
    if words > limits.words:
        raise too_large("words", words, limits.words)
    longest = int(np.diff(document.treebank.offsets).max(initial=0))
    if longest > limits.words_per_sentence:
        raise too_large("words of a sentence", longest, limits.words_per_sentence)


# ---------------------------------------------------------------- CoNLL-U


def read_conllu(text: str) -> Table:
    """Return a text in CoNLL-U as a table; raise InputError if it is something else."""
    content = text.replace("\r\n", "\n").encode()
    if not content.strip():
        raise InputError(f"{SOURCE}: no sentence in it")
    return table_of(SOURCE, content, conllu=True, widths=WITHOUT_HEADS)


def gold_words(document: Document) -> list[dict[str, Any]]:
    """Return the words of a document from CoNLL-U as they are given there."""
    treebank = document.treebank
    table = treebank.table
    assert table is not None
    columns = [strings_of(table.column(number)) for number in range(1, HEAD)]
    rows = [dict(zip(FIELDS, values, strict=True)) for values in zip(*columns, strict=True)]
    has_trees = table.width > DEPREL
    heads = strings_of(table.column(HEAD)) if has_trees else ["_"] * len(rows)
    labels = strings_of(table.column(DEPREL)) if has_trees else ["_"] * len(rows)
    ids = strings_of(table.column(CONLLU.index("id")))
    return [
        {"id": int(number), **row, "head": head_of(head), "deprel": None if label == "_" else label, "label": None}
        for number, row, head, label in zip(ids, rows, heads, labels, strict=True)
    ]


def head_of(given: str) -> int | None:
    """Return the number in the field HEAD, or None."""
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else None
