"""Small trainings for the page that teaches: the lessons of `swvp.tracing`, and a few sentences of a client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from swvp.errors import InputError, unknown_name
from swvp.io.table import table_of
from swvp.io.treebank import WITH_HEADS, treebank_of_table
from swvp.learning.rule import as_rule
from swvp.parsing.parser import Parser
from swvp.serving.limits import Deadline, HTTPError, too_large
from swvp.serving.queries import Fields
from swvp.tagging.files import check_not_prose, layout_of, read_corpus
from swvp.tagging.tagger import Tagger
from swvp.tracing.export import export_trace, run_of, training_data
from swvp.tracing.lessons import LESSONS, lesson
from swvp.tracing.trace import Trace
from swvp.tracing.update import Update

__all__ = ["lesson_list", "lesson_trace", "user_trace"]

RULES = ("csp", "a-wm", "a-wmr", "b-wm", "b-wmr", "a-wm:segments", "a-uniform", "a-maxent", "mira", "a-wm:mira")
"""For a menu; any other name of a rule may be given, too."""

DEFAULT_RULES = ("csp", "a-wm")
MOST_RULES = 4
MOST_EPOCHS, MOST_USER_EPOCHS = 200, 50
MOST_UPDATES = 200
MOST_CHARACTERS, MOST_SENTENCES, MOST_WORDS = 20_000, 30, 40
HASH_SIZE = 2**16
"""The number of weights of a parser in a small training."""


def lesson_list() -> dict[str, Any]:
    """Return the names of lessons and of rules."""
    shown = [{"name": name, "title": make().title, "structure": structure(make())} for name, make in LESSONS.items()]
    defaults = {"rules": list(DEFAULT_RULES), "beta": 1.0, "epochs": 50}
    return {"lessons": shown, "rules": list(RULES), "default": defaults}


def structure(chosen: Any) -> str:
    return str(getattr(chosen.problem, "structure", "labels"))


def lesson_trace(name: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    """Return the training of a lesson; `parameters` are those of the address, as text."""
    for key in parameters:
        if key not in ("rules", "beta", "epochs"):
            raise unknown_name("parameter", key, ("rules", "beta", "epochs"))
    if name not in LESSONS:
        raise HTTPError(404, f"no lesson '{name}'; there are: {', '.join(LESSONS)}")
    rules = [rule.strip() for rule in parameters.get("rules", ",".join(DEFAULT_RULES)).split(",") if rule.strip()]
    try:
        given = {"beta": float(parameters.get("beta", 1.0)), "epochs": int(parameters.get("epochs", 50))}
    except ValueError:
        raise HTTPError(400, "beta must be a number, and epochs a whole number") from None
    fields = Fields(given, ("beta", "epochs"))
    beta = fields.number("beta", 0.0, 100.0, 1.0)
    return export_trace(
        lesson=lesson(name), rules=checked(rules), beta=beta, epochs=fields.whole("epochs", 1, MOST_EPOCHS, 50) or 50
    )


def checked(rules: Sequence[str]) -> Sequence[str]:
    """Return rules; raise HTTPError if there are none, or too many."""
    if not rules:
        raise HTTPError(400, "give at least one rule")
    if len(rules) > MOST_RULES:
        raise too_large("rules", len(rules), MOST_RULES)
    return list(dict.fromkeys(rules))


def user_trace(given: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
    """Return the training of a client's sentences."""
    fields = Fields(given, ("kind", "data", "rules", "beta", "epochs", "updates"))
    kind = fields.one_of("kind", ("column", "conllu"))
    data = fields.text("data") or ""
    if kind is None:
        raise HTTPError(400, "kind is missing: column or conllu")
    if len(data) > MOST_CHARACTERS:
        raise too_large("characters of data", len(data), MOST_CHARACTERS)
    rules = fields.texts("rules", MOST_RULES)
    beta = fields.number("beta", 0.0, 100.0, 1.0)
    epochs = fields.whole("epochs", 1, MOST_USER_EPOCHS, 10) or 10
    most = fields.whole("updates", 1, MOST_UPDATES, 50) or 50
    runs = []
    for rule in checked(DEFAULT_RULES if rules is None else rules):
        trace = new_trace(kind, data.replace("\r\n", "\n").encode(), rule, beta, epochs)
        updates: list[Update] = []
        truncated = False
        for update in trace:
            if len(updates) == most or deadline.passed():
                truncated = True
                break
            updates.append(update)
        runs.append(run_of(trace.rule, trace, updates) | {"truncated": truncated})
    return training_data("Your sentences", runs)


def new_trace(kind: str, data: bytes, rule: str, beta: float, epochs: int) -> Trace:
    """Return the trace of a training on sentences, in their order."""
    options: dict[str, Any] = {"rule": as_rule(rule, beta=beta), "margin": 0.0, "random_state": 0}
    if not data.strip():
        raise InputError("data: no sentence in it")
    table = table_of("data", data, conllu=kind == "conllu", widths=WITH_HEADS if kind == "conllu" else None)
    sizes = np.diff(table.offsets)
    if len(sizes) > MOST_SENTENCES:
        raise too_large("sentences", len(sizes), MOST_SENTENCES)
    if int(sizes.max(initial=0)) > MOST_WORDS:
        raise too_large("words of a sentence", int(sizes.max()), MOST_WORDS)
    if kind == "conllu":
        parser = Parser(
            labels=False, prune=False, hashed=HASH_SIZE, **options
        )  # pruning by so few trees leaves no choice
        return parser.trace(treebank_of_table(table, heads=True), epochs=epochs, shuffle=False)
    check_not_prose(table)
    layout = layout_of(table, None, None)
    tagger = Tagger(**options)
    tagger.use_layout(layout)
    return tagger.trace_corpus(read_corpus(table, layout, labelled=True), epochs=epochs, shuffle=False)
