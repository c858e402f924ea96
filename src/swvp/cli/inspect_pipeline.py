"""What `swvp inspect` shows of a pipeline: its stages and scores, or why a word has its lemma."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from swvp.cli.inspect import Rows, described_parser, file_text, print_rows
from swvp.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from swvp.text.lemmatizer import Explanation
    from swvp.text.pipeline import Pipeline

__all__ = ["inspect_pipeline"]

SOURCES = {
    "lexicon": "the dictionary (--lexicon)",
    "memory": "the training set has the form with this lemma and these tags",
    "model": "the best of the candidates below",
    "form": "there is no candidate: the form itself",
}
"""Where lemmas come from, by the names of `Explanation.source`."""


def inspect_pipeline(console: Console, path: Path, lemma: str | None, top: int | None, *, asked: bool) -> None:
    """Print the stages of a pipeline, its scores on the dev set, and its parser; or explain the lemma of a word."""
    from swvp.text.pipeline import Pipeline

    if asked or (top is not None and lemma is None):
        raise InputError(
            f"{path} is a pipeline: --label, --sentence and --explain are for taggers and parsers; --top needs "
            "--explain-lemma"
        )
    pipeline = Pipeline.load(path)
    if lemma is not None:
        explain_lemma(console, path, pipeline, lemma, 10 if top is None else top)
        return
    rows = [("file", file_text(path)), ("stages", ", ".join(pipeline.stages))]
    for stage, reason in pipeline.training.get("left out", {}).items():
        rows.append(("left out", f"{stage}: {reason}"))
    if scores := pipeline.training.get("dev"):
        rows.append(("dev F1", ", ".join(f"{name} {100 * score:.2f}" for name, score in scores.items())))
    if "lemmas" in pipeline.parts and (entries := len(pipeline.parts["lemmas"].lexicon)):
        rows.append(("lexicon", f"{entries:,} lemmas"))
    if "trees" in pipeline.parts:
        rows += [("", ""), *described_parser(pipeline.parts["trees"].parser, path)[1:]]
    print_rows(console, rows)


def explain_lemma(console: Console, path: Path, pipeline: Pipeline, word: str, top: int) -> None:
    """Print the lemma of a word, where it comes from, the other candidates, and the features that decide."""
    from swvp.cli.score_tables import table

    if "lemmas" not in pipeline.parts:
        raise InputError(f"{path}: no stage lemmas, but {', '.join(pipeline.stages)}")
    fields = word.split()
    if not 1 <= len(fields) <= 3:
        raise InputError(f"--explain-lemma: '{word}' has {len(fields)} parts; give FORM, 'FORM UPOS' or a third, FEATS")
    explanation: Explanation = pipeline.parts["lemmas"].explain(*fields, top=top)
    rows: Rows = [("lemma", explanation.lemma), ("why", SOURCES[explanation.source])]
    print_rows(console, rows)
    if explanation.candidates:
        cells = [(name, f"{score:.2f}") for name, score in explanation.candidates[: max(top, 1)]]
        console.print(table(("candidate", "score"), cells, texts=1))
    if explanation.features:
        cells = [(name, f"{weight:+.2f}") for name, weight in explanation.features]
        console.print(table(("feature, for the first candidate against the second", "weight"), cells, texts=1))
