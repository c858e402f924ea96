"""The command `swvp train parser`: treebanks in, a model file out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from swvp.cli.compiling import expect_kernels
from swvp.cli.options import settings_of, takes_options
from swvp.cli.train import (
    CourseOptions,
    FileOptions,
    ShardOptions,
    cluster_of,
    exit_when_stopped,
    note_parser_options,
    of_features,
    of_learning,
    of_search,
    run_of,
    sharding_of,
    workers_of,
)

__all__ = ["EXAMPLES", "ParserOptions", "parser"]


@dataclass(kw_only=True)
class ParserModel(FileOptions):
    """The model of a parser."""

    order: Annotated[int, of_search(help="1: features of arcs; 2: also of siblings and grandparents.")] = 1
    projective: Annotated[
        bool | None,
        of_search(
            "--projective/--non-projective",
            help="Predict only trees without crossing arcs, or trees of any kind.",
            show_default="projective in order 1 if at most 15 % of the training trees have crossing arcs; else any",
        ),
    ] = None
    several_roots: Annotated[
        bool | None,
        of_search(
            "--several-roots/--one-root",
            help="Allow several words with head 0 in a sentence, or exactly one.",
            show_default="several if more than 5 % of the training trees have several",
        ),
    ] = None
    prune: Annotated[bool, of_search(help="Consider only arcs with tags and lengths seen in training.")] = True
    prune_heads: Annotated[int, of_search(help="Order 2: largest number of heads to consider for a word.")] = 16
    prune_threshold: Annotated[
        float | None,
        of_search(
            help="Order 2: drop heads whose probability is below this share of the best head's.",
            show_default="0.003; projective: 0.0003",
        ),
    ] = None
    features: Annotated[
        str | None,
        of_features(
            help="Preset (first-order, turbo, light; order 2: second-order, turbo-standard) or file of templates.",
            show_default="first-order; order 2: second-order",
        ),
    ] = None
    labels: Annotated[bool, of_features(help="Also learn the labels of arcs, in a second stage.")] = True
    hashed: Annotated[int, of_features(help="Hash size: the number of weights, a power of 2.")] = 2**22
    exact: Annotated[bool, of_features("--exact", help="No hashing: each feature has its own weight (slower).")] = False
    rule: Annotated[
        str | None,
        of_learning(help="Update rule, see below.", show_default="a-uniform:mira; order 2: a-uniform:components:mira"),
    ] = None
    margin: Annotated[
        float | None,
        of_learning(help="Score by which gold arcs must win in training; 0: as in the paper.", show_default="1"),
    ] = None
    ensemble: Annotated[
        int,
        of_learning(
            metavar="N",
            help="Train N parsers that vote: a little more accurate; training and parsing take N times as long.",
        ),
    ] = 1
    batch_size: Annotated[
        int,
        of_learning(
            "--batch", metavar="N", help="Predict N sentences at once, in --jobs threads; then update on each mistake."
        ),
    ] = 1


@dataclass(kw_only=True)
class ParserOptions(ShardOptions, CourseOptions, ParserModel):
    """The options of `swvp train parser`."""


EXAMPLES = """
A treebank is a file in CoNLL-U or CoNLL-X (10 columns separated by tabs).
It may be compressed (.gz).

Examples:

  swvp train parser el-ud-train.conllu --dev el-ud-dev.conllu --model el.swvp

  swvp train parser train.conllu --dev dev.conllu --order 2 -m better.swvp

  swvp train parser train.conll --encoding iso-8859-1 --projective -m p.swvp

  swvp train parser train.conllu --dev dev.conllu --tune --model best.swvp

Rules: csp (the structured perceptron), mira, mira:K (order 1 only),
or SWVP: APPROACH-GAMMA[:SUBSTRUCTURES][:STEP], with sub-structures such as
single, components, subtrees.
`swvp experiment parsing --help` lists the parts.
"""


@takes_options
def parser(given: ParserOptions) -> None:
    """Train a dependency parser: first its trees, then the labels of their arcs.

    Prints the mistakes and, with --dev, the dev score of each epoch; * marks
    the best so far.

    Ctrl-C stops after the current epoch; the same command resumes.
    """
    from swvp.cli.progress import TrainingOutput
    from swvp.parsing.options import MARGIN
    from swvp.parsing.parser import Parser
    from swvp.parsing.train import read_features, train_parser

    expect_kernels("train parser" if given.order == 1 else "train parser --order 2")
    run, data = run_of(given, {"--features": given.features})
    settings = settings_of(given, Parser) | {
        "features": None
        if given.features is None
        else read_features(given.features, Parser(order=given.order).model_class),
        "one_root": None if given.several_roots is None else not given.several_roots,
        "hashed": None if given.exact else given.hashed,
        "margin": MARGIN if given.margin is None else given.margin,
    }
    parser = Parser(**settings)
    note_parser_options(given, parser.check(), shards=data is not None)
    with exit_when_stopped():
        if data is None:
            train_parser(
                run,
                parser,
                [TrainingOutput()],
                default_margin=given.margin is None,
                workers=cluster_of(given),
            )
            return
        from swvp.parsing.train_shards import train_parser_on_shards

        sharding = sharding_of(given, data, given.model, "parser")
        threads = 1 if given.batch_size > 1 else run.threads  # the threads of a batch are those of --jobs
        with workers_of(given, threads) as workers:
            train_parser_on_shards(run, data, parser, sharding, [TrainingOutput()], workers)
