"""The command `swvp inspect`: what a model file contains, and why the model predicts what it predicts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swvp.cli.options import MAX_BYTES, Encoding, LoadExtensions, MaxBytes, load_python
from swvp.cli.terminal import print_message, size_text
from swvp.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from swvp.io.treebank import Treebank
    from swvp.parsing.parser import Parser
    from swvp.tables import WeightTable
    from swvp.tagging.tagger import Tagger
    from swvp.text.lemmatizer import Explanation
    from swvp.text.pipeline import Pipeline
    from swvp.training.options import TrainingOptions

__all__ = ["EXAMPLES", "described_parser", "described_tagger", "file_text", "inspect", "inspect_pipeline", "print_rows"]

EXAMPLES = """
Examples:

  swvp inspect chunker.swvp

  swvp inspect chunker.swvp --label B-NP --top 30

  swvp inspect pos.swvp --sentence "Time flies"

  head -20 test.txt | swvp inspect chunker.swvp --explain -

  swvp inspect parser.swvp --explain test.conllu --top 20

  swvp inspect el.swvp --explain-lemma "ψωμιά NOUN"
"""

Rows = list[tuple[str, str]]
"""Lines of a description: a name and its text."""


def inspect(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="File that `swvp train` wrote.")],
    label: Annotated[str | None, typer.Option(help="Taggers: show features of this label only.")] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="Number of features and transitions to show. Parsers: features of the explained sentence.",
            metavar="N",
            min=0,
            show_default="10; parsers: 0",
        ),
    ] = None,
    sentence: Annotated[
        str | None,
        typer.Option(
            help="Explain the labels or heads of these words, separated by spaces. Only for taggers that use no other "
            "columns; a parser gets no tags this way."
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(help="Explain the first sentence of this file, or - (standard input).", metavar="FILE"),
    ] = None,
    lemma: Annotated[
        str | None,
        typer.Option(
            "--explain-lemma",
            help="Pipelines: explain the lemma of this word, given as FORM, 'FORM UPOS' or 'FORM UPOS FEATS'.",
            metavar="WORD",
        ),
    ] = None,
    encoding: Encoding = "utf-8",
    conllu: Annotated[bool, typer.Option("--conllu", help="The file of --explain is CoNLL-U.")] = False,
    max_bytes: MaxBytes = MAX_BYTES,
    load: LoadExtensions = None,
) -> None:
    """Show what a model contains, or explain a prediction.

    Without --sentence or --explain: how it was trained, its scores, and the features with the largest weights.
    """
    from swvp.cli.terminal import new_console
    from swvp.io.container import kind_of
    from swvp.parsing.parser import Parser
    from swvp.pipeline import load_model

    if sentence is not None and explain is not None:
        raise InputError("--sentence and --explain exclude each other")
    if load is not None:
        load_python(load)
    console = new_console()
    if kind_of(model) == "pipeline":
        inspect_pipeline(console, model, lemma, top, asked=bool(label or sentence or explain))
        return
    if lemma is not None:
        raise InputError(f"{model} is no pipeline; --explain-lemma is for pipelines")
    loaded = load_model(model)
    if isinstance(loaded, Parser):
        check_parser_options(model, label, top, explains=sentence is not None or explain is not None)
        inspect_parser(console, loaded, model, sentence=sentence, source=explain, encoding=encoding, top=top or 0)
        return
    if sentence is not None:
        if loaded.kind_ == "columns":
            raise InputError(
                f"{model} uses the columns {', '.join(loaded.columns_)}, but --sentence gives words only: use "
                "--explain FILE with a file of these columns"
            )
        print_weights(console, loaded.explain(sentence.split()))
    elif explain is not None:
        print_weights(console, loaded.explain(first_tokens(loaded, explain, encoding, conllu)))
    else:
        inspect_tagger(console, loaded, model, label, 10 if top is None else top)


def print_weights(console: Console, weights: WeightTable) -> None:
    from swvp.cli.score_tables import table
    from swvp.errors import escaped

    console.print(f"\n{escaped(weights.title)}", style="bold")
    console.print(table(weights.headings, weights.cells(), texts=len(weights.headings) - 1))


def print_rows(console: Console, rows: Rows) -> None:
    from swvp.errors import escaped

    for name, text in rows:
        console.print(f"{name:11} {escaped(text)}", soft_wrap=not console.is_terminal)


# ---------------------------------------------------------------- taggers


def inspect_tagger(console: Console, tagger: Tagger, path: Path, label: str | None, top: int) -> None:
    """Print the description of a tagger and its largest weights."""
    features = tagger.top_features(label, top)  # raises InputError for an unknown label before anything is printed
    print_rows(console, described_tagger(tagger, path))
    if top:
        print_weights(console, features)
        print_weights(console, tagger.top_transitions(top))


def first_tokens(tagger: Tagger, source: str, encoding: str, conllu: bool) -> list[Any]:
    """The first sentence of a file, as the tagger takes sentences."""
    from swvp.io.table import is_conllu, read_table
    from swvp.pipeline import read_words
    from swvp.tagging.files import layout_for_predicting, read_corpus

    layout = layout_for_predicting(tagger)
    if layout.conllu:
        table = read_words(source, encoding)
    else:
        table = read_table(source, encoding=encoding, conllu=conllu or is_conllu(source))
    corpus = read_corpus(table, layout, labelled=False, what="the tagger's training file")
    assert corpus.columns is not None
    columns = zip(corpus.columns.strings, corpus.columns.ids, strict=True)
    words = [[strings[k] for k in ids] for strings, ids in columns]
    tokens = list(zip(*words, strict=True))[: corpus.offsets[1]]
    return [token[0] for token in tokens] if tagger.kind_ == "words" else tokens


def has_phrases(labels: Iterable[Any]) -> bool:
    """Whether the dev scores of a tagger with these labels are F1 of phrases."""
    from swvp.evaluation.counts import look_like_phrases

    names = list(labels)
    return all(isinstance(name, str) for name in names) and look_like_phrases([names])


def described_tagger(tagger: Tagger, path: Path) -> Rows:
    """What a tagger's model file contains."""
    from swvp.features.encoder import TemplateEncoder
    from swvp.tagging.decoder import nonzero

    weights = len(nonzero(tagger.coef_)[0])
    rows = [
        ("file", file_text(path)),
        ("labels", f"{len(tagger.classes_)}: {', '.join(map(str, tagger.classes_))}"),
        ("attributes", f"{tagger.n_attributes_:,}, non-zero weights: {weights:,}"),
        ("rule", rule_text(tagger)),
        ("margin", margin_text(tagger)),
        ("weights", "averaged" if tagger.average else "last"),
        ("constraint", str(tagger._constraint() or "none")),
        *epoch_rows(tagger, "dev F1" if has_phrases(tagger.classes_) else "dev scores"),
    ]
    if isinstance(tagger.encoder_, TemplateEncoder):
        rows.append(("columns", ", ".join(tagger.columns_)))
        rows.append(("templates", "; ".join(template.text for template in tagger.encoder_.templates)))
    return rows


# ---------------------------------------------------------------- parsers


def check_parser_options(path: Path, label: str | None, top: int | None, *, explains: bool) -> None:
    """Raise InputError if options are for taggers only."""
    if label is not None:
        raise InputError(f"{path} is a parser; --label is for taggers")
    if top is not None and not explains:
        raise InputError(
            f"{path}: the features of a parser are hashed, so it has no list of their names; --top needs --explain "
            "FILE, and shows the features of that sentence"
        )


def inspect_parser(
    console: Console, parser: Parser, path: Path, *, sentence: str | None, source: str | None, encoding: str, top: int
) -> None:
    """Print the description of a parser or, of a sentence, the tree, what decides its heads, its largest weights."""
    if sentence is None and source is None:
        print_rows(console, described_parser(parser, path))
        return
    from swvp.pipeline import lacks_tags

    treebank = one_sentence(sentence, source, encoding)
    if lacks_tags(parser, treebank):
        print_message(
            "note: words without tags (UPOS), but the parser was trained with tags: it parses them badly; "
            "give tagged words in CoNLL-U, --explain FILE",
        )
    tables = [parser.explain(treebank), *([parser.top_features(treebank, top)] if top else [])]
    console.print(str(parser.predict(treebank)[0]), soft_wrap=True)
    for weights in tables:
        print_weights(console, weights)


def one_sentence(sentence: str | None, source: str | None, encoding: str) -> Treebank:
    """The words of a sentence, or the first sentence of a file, as a treebank."""
    from swvp.io.treebank import treebank_of, treebank_of_table
    from swvp.pipeline import read_words

    if sentence is not None:
        if not sentence.split():
            raise InputError("--sentence: no word in it")
        return treebank_of([sentence.split()])
    assert source is not None
    treebank = treebank_of_table(read_words(source, encoding), heads=False)
    part = treebank.sentence(0)
    columns = [treebank.words, treebank.lemmas, treebank.upos, treebank.xpos, treebank.feats]
    rows = [[column.strings[k] for k in column.ids[part].tolist()] for column in columns]
    return treebank_of([list(zip(*rows, strict=True))])


def described_parser(parser: Parser, path: Path) -> Rows:
    """What a parser's model file contains."""
    import numpy as np

    from swvp.parsing.options import MARGIN

    weights = int(np.count_nonzero(parser.coef_))
    sharing = "one for each feature" if len(parser.owners_) else "features share weights by hashing"
    trees = [
        "projective" if parser.is_projective else "of any kind",
        parser.model_.description,
        "one root" if parser.has_one_root else "several roots",
    ]
    tags = parser.ranks_["pos"]
    seeds = ", ".join(str(each.random_state) for each in (parser, *parser.others_))
    ensemble = [("ensemble", f"{parser.ensemble} parsers vote; seeds {seeds}; the lines below describe the first one")]
    return [
        ("file", file_text(path)),
        ("trees", ", ".join(trees)),
        *(ensemble if parser.others_ else []),
        (
            "weights",
            f"{len(parser.coef_):,}, {sharing}, non-zero: {weights:,}; {'averaged' if parser.average else 'last'}",
        ),
        ("rule", f"{rule_text(parser)}, margin {MARGIN if parser.margin is None else parser.margin:g}"),
        *([("batches", f"{parser.batch_size} sentences")] if parser.batch_size > 1 else []),
        *epoch_rows(parser, "dev UAS"),
        ("pruning", pruning_text(parser)),
        ("tags", "none (UPOS is _)" if list(tags) == ["_"] else f"{len(tags)}: {', '.join(tags)}"),
        ("temperature", f"{parser.temperature_:g}"),
        *label_rows(parser),
        ("templates", f"{len(parser.templates_)}: " + "; ".join(template.text for template in parser.templates_)),
    ]


def label_rows(parser: Parser) -> Rows:
    """The stage of the labels."""
    import numpy as np

    labeller = parser.labeller_
    if labeller is None:
        return [("labels", "not learnt")]
    rows = [
        ("labels", f"{len(labeller.classes)}: {', '.join(labeller.classes)}"),
        ("label model", f"non-zero weights: {np.count_nonzero(labeller.weights['w']):,}"),
        ("", f"epochs: {len(parser.label_history_)}"),
    ]
    if parser.label_dev_scores_:
        rows.append(("", f"dev label accuracy: {percents(parser.label_dev_scores_)}"))
    return rows


def pruning_text(parser: Parser) -> str:
    import numpy as np

    longest = parser.longest_
    if len(longest) == 1:
        return "none"
    known = longest[:-1, 1:-1]
    text = f"{np.count_nonzero(known):,} of {known.size:,} pairs of tags, with direction, may have an arc"
    if parser.pruner_ is None:
        return text
    pruner = parser.pruner_
    return (
        f"{text}; a log-linear model keeps at most {pruner.most} heads per word, each at least {pruner.threshold:g} "
        "times as probable as the best"
    )


# ---------------------------------------------------------------- both


def file_text(path: Path) -> str:
    return f"{path}, {size_text(path)}"


def rule_text(learner: Any) -> str:
    """The rule and its β, if it has one; of a user's γ the file has the name only."""
    if learner.rule == "crf" and hasattr(learner, "l2"):  # a damaged file of a parser may have that name, too
        return f"crf, l2 = {learner.l2:g}"
    try:
        rule = learner._rule()
    except InputError:
        return str(learner.rule) if learner.beta is None else f"{learner.rule}, β = {learner.beta:g}"
    return f"{rule.name}{f', β = {rule.beta:g}' if rule.uses_beta else ''}"


def margin_text(tagger: Tagger) -> str:
    """The margin of a tagger's training."""
    try:
        return "0" if tagger.rule == "crf" else f"{tagger._margin(tagger._rule()):g}"
    except InputError:  # the rule has a user's γ
        return "0" if tagger.margin is None else f"{tagger.margin:g}"


def epoch_rows(learner: TrainingOptions, scores: str) -> Rows:
    """The epochs of the training, their dev scores and the mistakes of the last one."""
    rows = [("epochs", f"{len(learner.history_)}, the weights are those of epoch {learner.best_epoch_}")]
    if learner.dev_scores_:
        rows.append((scores, percents(learner.dev_scores_)))
    if learner.history_:
        last = learner.history_[-1]
        rows.append(
            ("last epoch", f"{last.mistakes:,} of {last.examples:,} sentences wrong, {last.back_offs:,} back-offs")
        )
    return rows


def percents(scores: list[float]) -> str:
    return " ".join(f"{100 * score:.2f}" for score in scores)


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
