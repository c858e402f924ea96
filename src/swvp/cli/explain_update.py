"""The command `swvp explain-update`: one update of a training on a file, as tables."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swvp.cli.compiling import expect_kernels
from swvp.cli.options import MAX_BYTES, Encoding, Load, MaxBytes, load_python, takes_options
from swvp.errors import InputError, counted

if TYPE_CHECKING:
    from rich.console import Console

    from swvp.tracing.trace import Trace
    from swvp.tracing.update import MixedAssignment, Update

__all__ = ["EXAMPLES", "explain_update"]

EXAMPLES = """
The file is a column file (a token per line, the label last) or a treebank in
CoNLL-U. Training starts from w = 0, in the order of the file, without a
margin, as in the paper. Positions and sentences are counted from 1.

Examples:

  swvp explain-update train.txt

  swvp explain-update train.conllu --rule b-wm --beta 2

  swvp explain-update train.conllu --target upos --rule csp

  swvp explain-update train.txt --sentence 7 --epoch 2 --json update.json

  swvp explain-update train.conllu --html training.html --against csp
"""


@dataclass(kw_only=True)
class ExplainOptions:
    """The options of the command."""

    file: Annotated[str, typer.Argument(metavar="FILE", help="Training file, or - (standard input).")]
    rule: Annotated[str, typer.Option(help="The update rule.")] = "a-wm"
    beta: Annotated[float, typer.Option(help="β, a parameter of the rule's γ.")] = 1.0
    sentence: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Explain an update of this sentence.",
            show_default="the first that has an update of several wrong positions without back-off",
        ),
    ] = None
    epoch: Annotated[int | None, typer.Option(metavar="E", min=1, help="Explain an update of this epoch.")] = None
    epochs: Annotated[int, typer.Option(min=1, help="Largest number of epochs, if --epoch is not given.")] = 10
    top: Annotated[int, typer.Option(metavar="N", min=0, help="Number of changed weights to show.")] = 10
    target: Annotated[
        str | None, typer.Option(help="CoNLL-U: train a tagger of this column (upos, xpos, …), not a parser.")
    ] = None
    trees: Annotated[bool, typer.Option("--trees", help="The file is a treebank, whatever its name.")] = False
    json: Annotated[str | None, typer.Option(metavar="FILE", help="JSON file to write, or - (standard output).")] = None
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.html",
            help="Write a page that plays the first updates of --rule and of --against side by side.",
        ),
    ] = None
    against: Annotated[str, typer.Option(metavar="RULE", help="With --html: the rule to compare with.")] = "csp"
    most: Annotated[
        int, typer.Option(metavar="N", min=1, help="With --html: largest number of updates of each rule.")
    ] = 50
    encoding: Encoding = "utf-8"
    max_bytes: MaxBytes = MAX_BYTES
    load: Load = None


@takes_options
def explain_update(given: ExplainOptions) -> None:
    """Show one training update: mixed assignments, margins, γ, and the weights that changed."""
    from swvp.cli.terminal import new_console, write_json
    from swvp.training.run import check_separate

    check_separate({"--json": given.json, "--html": given.html}, {"FILE": given.file, "--load": given.load})
    if given.load is not None:
        load_python(given.load)
    if given.html is not None:
        write_page(given, given.html)
        return
    update = chosen(given, trace_of(given, given.rule))
    if not write_json(given.json, update.to_dict()):
        print_update(new_console(), update)


def write_page(given: ExplainOptions, path: Path) -> None:
    """Write the page that plays two trainings."""
    from swvp.cli.terminal import print_message
    from swvp.tracing.export import run_of, training_data, write_player

    if given.sentence is not None or given.epoch is not None or given.json is not None:
        raise InputError("--html plays a training from its start: leave out --sentence, --epoch and --json")
    runs = []
    for rule in dict.fromkeys([given.against, given.rule]):
        trace = trace_of(given, rule)
        updates = list(itertools.islice(trace, given.most))
        runs.append(run_of(trace.rule, trace, updates))
    write_player(path, training_data(f"Training on {Path(given.file).name}", runs))
    made = ", ".join(f"{len(run['updates'])} updates of {run['rule']}" for run in runs)
    print_message(f"wrote {path}: {made}")


def trace_of(given: ExplainOptions, rule: str) -> Trace:
    """The trace of a training on the file, a tagger's or a parser's."""
    from swvp.io.files import is_conllu

    if given.trees and given.target is not None:
        raise InputError("--trees and --target exclude each other")
    epochs = given.epochs if given.epoch is None else given.epoch
    options: dict[str, Any] = {"rule": rule, "beta": given.beta, "margin": 0.0, "random_state": 0}
    if given.trees or (is_conllu(given.file) and given.target is None):
        from swvp.io.treebank import read_treebank
        from swvp.parsing.parser import Parser

        expect_kernels("train parser")
        treebank = read_treebank(given.file, encoding=given.encoding, heads=True)
        return Parser(labels=False, **options).trace(treebank, epochs=epochs, features=given.top, shuffle=False)
    from swvp.tagging.files import read_corpus
    from swvp.tagging.tagger import Tagger
    from swvp.tagging.train import TaggerFiles

    expect_kernels("train tagger")
    files = TaggerFiles(label=given.target, conllu=given.target is not None)
    table = files.read(given.file, given.encoding)
    layout = files.layout(table)
    tagger = Tagger(**options)
    tagger.use_layout(layout)
    corpus = read_corpus(table, layout, labelled=True)
    return tagger.trace_corpus(corpus, epochs=epochs, features=given.top, shuffle=False)


def chosen(given: ExplainOptions, trace: Trace) -> Update:
    """The update that the options choose; InputError if there is none."""
    first: Update | None = None
    for update in trace:
        if given.sentence not in (None, update.example + 1) or given.epoch not in (None, update.epoch):
            continue
        if given.sentence is not None or shows_gamma(update):
            return update
        if first is None or (len(first.wrong_positions) == 1 and len(update.wrong_positions) > 1):
            first = update
    if first is not None:
        return first
    if given.sentence is not None and given.sentence > trace.examples:
        raise InputError(f"--sentence {given.sentence}: {given.file} has {counted(trace.examples, 'sentence')}")
    where = "" if given.sentence is None else f" in sentence {given.sentence}"
    when = f"epoch {given.epoch}" if given.epoch is not None else counted(len(trace.history), "epoch")
    raise InputError(f"{given.file}: no mistake{where} in {when} with rule '{given.rule}'; choose another one")


def shows_gamma(update: Update) -> bool:
    """Whether several positions are wrong and γ was used."""
    return len(update.wrong_positions) > 1 and update.back_off is None and update.updated


# ---------------------------------------------------------------- tables


def print_update(console: Console, update: Update) -> None:
    """Print an update; every table fits into 60 columns if words and names do."""
    from swvp.cli.score_tables import table

    console.print(
        f"Mistake {update.number} of the training: epoch {update.epoch}, sentence {update.example + 1}, "
        f"rule {update.rule}",
        style="bold",
    )
    console.print()
    console.print(table(["", "token", "gold", "predicted", ""], token_rows(update), texts=5))
    console.print("\nMixed assignments: predicted on J, gold elsewhere", style="bold")
    console.print(table(["J", "violation", "margin", "γ", "step·γ"], mixed_rows(update), texts=2))
    console.print()
    for line in conclusions(update):
        console.print(line, soft_wrap=not console.is_terminal)
    console.print("\nScores", style="bold")
    console.print(table(["", "gold", "predicted", "gold − predicted"], score_rows(update)))
    if update.changes:
        console.print(f"\n{len(update.changes)} of {update.changed_weights:,} changed weights", style="bold")
        rows = [(c.name, f"{c.before:+.3f}", f"{c.after:+.3f}", f"{c.change:+.3f}") for c in update.changes]
        console.print(table(["feature", "before", "after", "change"], rows))


def token_rows(update: Update) -> list[tuple[str, ...]]:
    """A row for each position: its number, the token, both labels, and whether they differ."""

    def label(value: Any) -> str:
        if update.structure != "heads":
            return str(value)
        return "0 (root)" if value == 0 else f"{value} {update.tokens[value - 1]}"

    wrong = set(update.wrong_positions)
    pairs = zip(update.gold, update.predicted, strict=True)
    return [
        (str(k + 1), update.tokens[k] if update.tokens else "", label(y), label(z), "wrong" if k in wrong else "")
        for k, (y, z) in enumerate(pairs)
    ]


def mixed_rows(update: Update) -> list[tuple[str, ...]]:
    """A row for each mixed assignment; that of a back-off is the last one."""
    from swvp.tracing.update import shown_positions

    def row(mixed: MixedAssignment, name: str) -> tuple[str, ...]:
        amount = "" if mixed.amount is None else f"{mixed.amount:.3f}"
        return name, "yes" if mixed.violation else "no", f"{mixed.margin:+.3f}", f"{mixed.gamma:.3f}", amount

    rows = [row(mixed, shown_positions(mixed.positions)) for mixed in update.mixed]
    return rows if update.back_off is None else [*rows, row(update.back_off, "all (back-off)")]


def conclusions(update: Update) -> list[str]:
    """Condition (2), what kind of update it was, and its step."""
    lines = [
        f"condition (2)  Σγ·margin = {update.weighted_margin:+.3f}, {'holds' if update.condition_2 else 'fails'}"
        + (f"; {update.excluded} excluded to impose it" if update.excluded else "")
    ]
    if not update.updated:
        return [*lines, "update         none: gold is better than the prediction, or the step is 0"]
    kind = f"{len(update.used)} of {len(update.mixed)} mixed assignments have γ > 0"
    if update.back_off is not None:
        kind = "back-off to CSP, as no γ meets the conditions"
    step = "one for each feature (AdaGrad)" if update.step is None else f"{update.step:.4g}"
    return [*lines, f"update         {kind}", f"step           {step}"]


def score_rows(update: Update) -> list[tuple[str, ...]]:
    return [
        (name, f"{scores.gold:+.3f}", f"{scores.predicted:+.3f}", f"{scores.gold - scores.predicted:+.3f}")
        for name, scores in (("before", update.before), ("after", update.after))
    ]
