"""Owns `swvp inspect`: what a model file holds, and what decides its predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from swvp.cli import options

__all__ = ["EXAMPLES", "inspect", "last_pass", "rule_text"]

EXAMPLES = """
Examples:

  swvp inspect chunker.swvp

  swvp inspect chunker.swvp --label B-NP --top 30

  swvp inspect pos.swvp --sentence "Time flies"

  head -20 test.txt | swvp inspect chunker.swvp --explain -

  swvp inspect parser.swvp --explain test.conllu --top 20
"""


def inspect(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `swvp train` wrote.")],
    label: Annotated[str | None, typer.Option(help="Show the features of this label only (taggers).")] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="How many features and transitions to show; of a parser those of the sentence that is explained.",
            min=0,
            show_default="10; parsers: 0",
        ),
    ] = None,
    sentence: Annotated[
        str | None,
        typer.Option(
            help="Words between blanks: show what decides their labels or heads (taggers of words only; a parser "
            "that was trained with tags sees none here)."
        ),
    ] = None,
    explain: Annotated[
        str | None, typer.Option(help="The same for the first sentence of a file, or - for standard input.")
    ] = None,
    encoding: Annotated[str, typer.Option(help="Of the file of --explain.")] = "utf-8",
    conllu: Annotated[bool, typer.Option("--conllu", help="The file of --explain is CoNLL-U.")] = False,
    max_bytes: options.MaxBytes = options.MAX_BYTES,
) -> None:
    """Show what a model is, its heaviest features, or why it labels or parses a sentence as it does."""
    from swvp.cli.output import new_console
    from swvp.cli.score_tables import table
    from swvp.errors import InputError
    from swvp.escaping import escaped
    from swvp.io.container import kind_of
    from swvp.parsing import persistence as parsers
    from swvp.tables import WeightTable
    from swvp.tagging.tagger import Tagger

    if sentence is not None and explain is not None:
        raise InputError("--sentence and --explain exclude each other")

    console = new_console()

    def show(weights: WeightTable) -> None:
        console.print(f"\n{escaped(weights.title)}", style="bold")
        console.print(table(weights.headings, weights.cells(), texts=len(weights.headings) - 1))

    def tell(rows: list[tuple[str, str]]) -> None:
        for name, text in rows:
            console.print(f"{name:11} {escaped(text)}", soft_wrap=not console.is_terminal)

    if kind_of(model) == parsers.KIND:
        from swvp.cli.inspect_parser import described_parser, load_to_inspect, tables_of_sentence

        parser = load_to_inspect(model, label=label, top=top, sentence=sentence, explain=explain)
        if sentence is None and explain is None:
            tell(described_parser(parser, model))
        else:
            tree, tables = tables_of_sentence(parser, sentence, explain, encoding, top or 0)
            console.print(tree, soft_wrap=True)
            for weights in tables:
                show(weights)
        return
    tagger = Tagger.load(model)
    top = 10 if top is None else top
    if sentence is not None:
        show(tagger.explain(sentence.split()))
        return
    if explain is not None:
        show(explained(tagger, explain, encoding, conllu))
        return
    if label is not None:
        tagger.top_features(label, 0)  # a wrong label is told before anything is shown
    tell(described(tagger, model))
    if top:
        show(tagger.top_features(label, top))
        show(tagger.top_transitions(top))


def explained(tagger: Any, source: str, encoding: str, conllu: bool) -> Any:
    """What decides the labels of the first sentence of a file."""
    from swvp.cli.predicting import read_sentences
    from swvp.io.table import is_conllu, read_table
    from swvp.tagging.columns import layout_for_predicting, read_corpus

    layout = layout_for_predicting(tagger)
    if layout.conllu:
        table = read_sentences(source, encoding)
    else:
        table = read_table(source, encoding=encoding, conllu=conllu or is_conllu(source))
    corpus = read_corpus(table, layout, labelled=False, what="the tagger's training file")
    assert corpus.columns is not None
    words = [[strings[k] for k in ids] for strings, ids in zip(corpus.columns.strings, corpus.columns.ids, strict=True)]
    tokens = list(zip(*words, strict=True))[: corpus.offsets[1]]
    return tagger.explain([token[0] for token in tokens] if tagger.kind_ == "words" else tokens)


def rule_text(learner: Any) -> str:
    """The rule and its β, if it has one; the γ of a user's is only a name here."""
    from swvp.errors import InputError

    if learner.rule == "crf":
        return f"crf, l2 = {learner.l2:g}"
    try:
        rule = learner._rule()
    except InputError:
        return str(learner.rule) if learner.beta is None else f"{learner.rule}, β = {learner.beta:g}"
    return f"{rule.name}{f', β = {rule.beta:g}' if rule.uses_beta else ''}"


def last_pass(history: Any) -> str:
    last = history[-1]
    return f"{last.mistakes:,} of {last.examples:,} sentences wrong, {last.back_offs:,} back-offs"


def described(tagger: Any, path: Path) -> list[tuple[str, str]]:
    """What the file says of itself."""
    import numpy as np

    encoder = tagger.encoder_
    weights = int(np.count_nonzero(tagger.coef_))
    rows = [
        ("file", f"{path}, {path.stat().st_size / 1e6:.1f} MB"),
        ("labels", f"{len(tagger.classes_)}: {', '.join(map(str, tagger.classes_))}"),
        ("attributes", f"{tagger.n_attributes_:,}, weights that are not 0: {weights:,}"),
        ("rule", rule_text(tagger)),
        ("weights", "averaged" if tagger.average else "last"),
        ("constraint", str(tagger._constraint())),
        ("passes", f"{len(tagger.history_)}, the weights are those of pass {tagger.best_epoch_}"),
    ]
    if tagger.dev_scores_:
        rows.append(("dev scores", " ".join(f"{100 * score:.2f}" for score in tagger.dev_scores_)))
    if tagger.history_:
        rows.append(("last pass", last_pass(tagger.history_)))
    if tagger.kind_ != "features":
        rows.append(("columns", ", ".join(tagger.columns_)))
        rows.append(("templates", "; ".join(template.text for template in encoder.templates)))
    return rows
