"""Owns `swvp inspect` for parsers: what the file says of itself, and what decides the trees of a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from swvp.cli.inspect import last_pass, rule_text
from swvp.cli.predicting import read_sentences
from swvp.cli.streams import tell
from swvp.errors import InputError
from swvp.parsing.parser import Parser
from swvp.parsing.treebank import Treebank, treebank_of, treebank_of_table
from swvp.tables import WeightTable

__all__ = ["described_parser", "load_to_inspect", "tables_of_sentence"]


def load_to_inspect(
    path: Path, *, label: str | None, top: int | None, sentence: str | None, explain: str | None
) -> Parser:
    """The parser of a file, if the options fit one."""
    if label is not None:
        raise InputError(f"{path}: a parser; --label is for taggers")
    if top is not None and sentence is None and explain is None:
        raise InputError(
            f"{path}: a parser, whose hashed weights have no names of their own; --top shows those that occur in a "
            "sentence, given by --explain FILE"
        )
    return Parser.load(path)


def tables_of_sentence(
    parser: Parser, sentence: str | None, source: str | None, encoding: str, top: int
) -> tuple[str, list[WeightTable]]:
    """The tree of a sentence of words, or of the first one of a file; what decides its heads; its heaviest features."""
    if sentence is not None:
        if not sentence.split():
            raise InputError("--sentence: no word in it")
        treebank = treebank_of([sentence.split()])
    else:
        assert source is not None
        treebank = first_sentence(treebank_of_table(read_sentences(source, encoding), heads=False))
    if treebank.upos.strings == ["_"] and len(parser.ranks_["pos"]) > 1:
        tell(
            "note: words without tags (UPOS), with which the parser was trained: it parses them badly; "
            "give tagged ones in CoNLL-U, --explain FILE",
        )
    tables = [parser.explain(treebank), *([parser.top_features(treebank, top)] if top else [])]
    return str(parser.predict(treebank)[0]), tables


def first_sentence(treebank: Treebank) -> Treebank:
    part = treebank.sentence(0)
    columns = [treebank.words, treebank.lemmas, treebank.upos, treebank.xpos, treebank.feats]
    rows = [[column.strings[k] for k in column.ids[part].tolist()] for column in columns]
    return treebank_of([list(zip(*rows, strict=True))])


def described_parser(parser: Any, path: Path) -> list[tuple[str, str]]:
    """What the file says of itself."""
    weights = int(np.count_nonzero(parser.coef_))
    kind = "each feature its own" if parser.owners_ is not None else "features share by hashing"
    trees = [
        "projective" if parser.projective else "of any kind",
        parser.model_.description,
        "one root" if parser.has_one_root else "several roots",
    ]
    rows = [
        ("file", f"{path}, {path.stat().st_size / 1e6:.1f} MB"),
        ("trees", ", ".join(trees)),
        ("weights", f"{len(parser.coef_):,}, {kind}, not 0: {weights:,}; {'averaged' if parser.average else 'last'}"),
        ("rule", f"{rule_text(parser)}, margin {parser.margin}"),
        ("passes", f"{len(parser.history_)}, the weights are those of pass {parser.best_epoch_}"),
    ]
    if parser.dev_scores_:
        rows.append(("dev UAS", percents(parser.dev_scores_)))
    if parser.history_:
        rows.append(("last pass", last_pass(parser.history_)))
    rows.append(("pruning", pruning_text(parser)))
    tags = parser.ranks_["pos"]
    rows.append(("tags", "none (UPOS is _)" if list(tags) == ["_"] else f"{len(tags)}: {', '.join(tags)}"))
    rows.append(("temperature", f"{parser.temperature_:g}"))
    rows += label_rows(parser)
    rows.append(("templates", f"{len(parser.templates_)}: " + "; ".join(t.text for t in parser.templates_)))
    return rows


def label_rows(parser: Any) -> list[tuple[str, str]]:
    """What is said of the second stage."""
    labeller = parser.labeller_
    if labeller is None:
        return [("labels", "not learnt")]
    rows = [
        ("labels", f"{len(labeller.classes)}: {', '.join(labeller.classes)}"),
        ("of labels", f"weights that are not 0: {np.count_nonzero(labeller.weights['w']):,}"),
        ("", f"passes: {len(parser.label_history_)}"),
    ]
    if parser.label_dev_scores_:
        rows.append(("", f"dev label accuracy: {percents(parser.label_dev_scores_)}"))
    return rows


def pruning_text(parser: Any) -> str:
    longest = parser.longest_
    if len(longest) == 1:
        return "none"
    known = longest[:-1, 1:-1]
    text = f"{np.count_nonzero(known):,} of {known.size:,} pairs of tags (with directions) have arcs"
    if parser.pruner_ is None:
        return text
    pruner = parser.pruner_
    return (
        f"{text}; a log-linear model keeps at most {pruner.most} heads of a word, from {pruner.threshold:g} of the best"
    )


def percents(scores: list[float]) -> str:
    return " ".join(f"{100 * score:.2f}" for score in scores)
