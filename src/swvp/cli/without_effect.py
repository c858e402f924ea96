"""Options of `swvp train` that change nothing together with the others that were given: a note names them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING

from swvp.cli.terminal import print_message

if TYPE_CHECKING:
    from swvp.cli.train_parser import ParserOptions
    from swvp.cli.train_tagger import TaggerOptions
    from swvp.learning.rule import UpdateRule

__all__ = ["note_parser_options", "note_tagger_options"]

Useless = Iterator[tuple[str, str]]
"""Options without effect, each with the reason."""


def note_tagger_options(given: TaggerOptions, rule: UpdateRule, margin: float, *, shards: bool) -> None:
    """Print a note on options of a tagger that are given and have no effect; `rule` and `margin` are those used."""
    print_note([*course(given, rule, shards, crf=given.rule == "crf"), *of_tagger(given, margin)])


def note_parser_options(given: ParserOptions, rule: UpdateRule, *, shards: bool) -> None:
    """Print a note on options of a parser that are given and have no effect; `rule` is the one used."""
    print_note([*course(given, rule, shards), *of_parser(given)])


def print_note(useless: list[tuple[str, str]]) -> None:
    """Print all options without effect as one line."""
    if useless:
        print_message(f"note: without effect: {', '.join(f'{option} ({why})' for option, why in useless)}")


def is_given(given: object, name: str) -> bool:
    """Whether an option has another value than by default."""
    defaults = {field.name: field.default for field in dataclasses.fields(given)}  # type: ignore[arg-type]
    return bool(getattr(given, name) != defaults[name])


def course(given: TaggerOptions | ParserOptions, rule: UpdateRule, shards: bool, *, crf: bool = False) -> Useless:
    """Options of any training; `crf`: the rule is crf, which has none of the parts of `rule`."""
    if given.tune:
        if given.rule is not None:
            yield "--rule", "--tune tries --rules"
        if is_given(given, "beta"):
            yield "--beta", "--tune tries --betas"
    else:
        if is_given(given, "beta") and (crf or not rule.uses_beta):
            yield "--beta", f"rule {given.rule or rule.name} has no β"
        if given.C is not None and (crf or not {stage.step for stage in rule.stages} & {"mira", "ada"}):
            yield "--C", "for the steps mira and ada"
    if given.average_power is not None and not given.average:
        yield "--average-power", "--no-average"
    if given.jobs is not None and not (given.tune or shards) and getattr(given, "batch_size", 1) == 1:
        yield (
            "--jobs",
            "for --tune, --shards and --batch" if hasattr(given, "batch_size") else "for --tune, --shards",
        )


def of_tagger(given: TaggerOptions, margin: float) -> Useless:
    """Options of taggers."""
    if is_given(given, "l2") and (given.tune or given.rule != "crf"):
        yield "--l2", "for rule crf"
    if given.cost is not None and margin == 0 and not given.tune:
        yield "--cost", "the margin is 0: give --margin"
    if is_given(given, "fix") and not given.beam:
        yield "--fix", "for --beam"


def of_parser(given: ParserOptions) -> Useless:
    """Options of parsers."""
    if given.exact and is_given(given, "hashed"):
        yield "--hashed", "--exact"
    for name, option in (("prune_heads", "--prune-heads"), ("prune_threshold", "--prune-threshold")):
        if is_given(given, name) and (given.order == 1 or not given.prune):
            yield option, "for --order 2" if given.order == 1 else "--no-prune"
