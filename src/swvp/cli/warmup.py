"""The command `swvp warmup`: compiles and caches the kernels of taggers and parsers, for images and CI.

It runs the commands themselves on a tiny example in a temporary folder, so that it cannot miss what they use.
"""

from __future__ import annotations

import contextlib
import enum
import io
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from swvp.cli.compiling import expect_kernels
from swvp.cli.terminal import print_message
from swvp.compile_events import CompileObserver, add_observer, remove_observer
from swvp.errors import InputError
from swvp.errors import counted as in_words

__all__ = ["COMMANDS", "EXAMPLES", "run_quietly", "warmup", "write_examples"]

EXAMPLES = """
Kernels are compiled when they are first used, once for each user and version
of swvp, Python and Numba. This command compiles them in advance. Options that
it does not use, such as --non-projective, --beam or rules other than the
default and csp, may still compile something at their first use.

Examples:

  swvp warmup tagger

  swvp warmup parser --order 2

  swvp warmup pipeline

  NUMBA_CACHE_DIR=/opt/kernels swvp warmup
"""


class Kind(enum.StrEnum):
    """Which models to compile for."""

    TAGGER = "tagger"
    PARSER = "parser"
    PIPELINE = "pipeline"
    ALL = "all"


COMMANDS = {
    "tagger": (
        "train tagger chunks.txt --dev chunks.txt --epochs 1 -m chunker.swvp",
        "predict chunker.swvp chunks.txt -o chunked.txt",
        "evaluate chunks.txt chunked.txt --compare chunked.txt --samples 2",
        "inspect chunker.swvp",
        "inspect chunker.swvp --explain chunks.txt",
        "train tagger trees.conllu --target upos --epochs 1 -m pos.swvp",
        "predict pos.swvp trees.conllu -o tagged.conllu",
        "predict pos.swvp words.txt -o words.conllu",
        "evaluate trees.conllu tagged.conllu --train trees.conllu",
        "inspect pos.swvp --sentence Time",
        "train tagger chunks.txt --rule csp --epochs 1 -m csp.swvp",
    ),
    "parser": (
        "train parser trees.conllu --dev trees.conllu --epochs 1 -m parser.swvp",
        "predict parser.swvp trees.conllu -o parsed.conllu",
        "predict parser.swvp words.txt -o words.conllu",
        "evaluate trees.conllu parsed.conllu --trees --compare parsed.conllu --samples 2",
        "inspect parser.swvp",
        "inspect parser.swvp --explain trees.conllu --top 3",
    ),
    "pipeline": (
        "train pipeline trees.conllu --dev trees.conllu --folds 2 -m pipeline.swvp",
        "parse pipeline.swvp text.txt -o parsed.conllu",
    ),
}
"""The commands that are run, by kind of model; those that train parsers get --order 2 too, if it is given."""

CHUNKS = """\
The DT B-NP
old JJ I-NP
dog NN I-NP
chases VBZ B-VP
three CD B-NP
cats NNS I-NP
. . O

Mary NNP B-NP
sleeps VBZ B-VP
"""
HEADS = ((("Time", "NOUN", 2, "nsubj"), ("flies", "VERB", 0, "root"), (".", "PUNCT", 2, "punct")),) * 2 + (
    (
        ("Dogs", "NOUN", 2, "nsubj"),
        ("chase", "VERB", 0, "root"),
        ("old", "ADJ", 4, "amod"),
        ("cats", "NOUN", 2, "obj"),
        ("today", "ADV", 2, "advmod"),
    ),
)


def warmup(
    kind: Annotated[
        Kind,
        typer.Argument(
            metavar="[KIND]",
            help="Models to compile for: tagger, parser, pipeline, or all (taggers and parsers, not pipelines).",
        ),
    ] = Kind.ALL,
    order: Annotated[
        int, typer.Option(help="Parsers: 2 also compiles the kernels of second order, which takes twice as long.")
    ] = 1,
) -> None:
    """Compile kernels in advance, so that later commands start at once.

    Prints the cache folder, the number of kernels and the time.
    """
    if order not in (1, 2):
        raise InputError(f"--order must be 1 or 2, not {order}")
    if order == 2 and kind == Kind.TAGGER:
        raise InputError("--order 2 is for parsers: swvp warmup parser --order 2")
    from swvp.cache import cache_folder

    kinds = ["tagger", "parser"] if kind == Kind.ALL else [str(kind)]
    expect_kernels(*(f"warmup {name}{' --order 2' if name == 'parser' and order == 2 else ''}" for name in kinds))
    check_cache()
    note_unused_package()
    counted, start = Counter(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="swvp-warmup-") as folder, counted.added():
        write_examples(Path(folder))
        for name in kinds:
            for orders in range(1, 2 if name == "tagger" else order + 1):
                for command in COMMANDS[name]:
                    run_quietly(command + (" --order 2" if orders == 2 and "train" in command else ""), Path(folder))
    check_cache()
    seconds = time.monotonic() - start
    print_message(
        f"{cache_folder()}: {in_words(counted.compiled, 'kernel')} compiled, {counted.loaded} already there, "
        f"{seconds:.0f} s"
    )


def check_cache() -> None:
    """Raise InputError if machine code cannot be cached."""
    from swvp.cache import cache_problem

    problem = cache_problem()
    if problem is not None:
        raise InputError(f"machine code cannot be cached: {problem}; set NUMBA_CACHE_DIR to another folder")


def note_unused_package() -> None:
    """Say why an installed package of machine code is not used, because everything is compiled then."""
    from swvp.baseline import baseline_problem
    from swvp.compiled import fingerprint

    problem = baseline_problem(fingerprint())
    if problem is not None:
        print_message(f"note: the machine code of swvp-kernels is not used: {problem}")


class Counter(CompileObserver):
    """Counts the kernels that are compiled and those that are loaded from the cache."""

    def __init__(self) -> None:
        self.compiled = self.loaded = 0

    def on_load(self, kernel: str) -> None:
        self.loaded += 1

    def on_end(self, kernel: str) -> None:
        self.compiled += 1

    @contextlib.contextmanager
    def added(self) -> Iterator[None]:
        add_observer(self)
        try:
            yield
        finally:
            remove_observer(self)


def write_examples(folder: Path) -> None:
    """Write the files that the commands read."""
    trees = "".join(
        "".join(
            f"{number}\t{form}\t{form.lower()}\t{tag}\t{tag}\t_\t{head}\t{label}\t_\t_\n"
            for number, (form, tag, head, label) in enumerate(sentence, 1)
        )
        + "\n"
        for sentence in HEADS
    )
    (folder / "chunks.txt").write_text(CHUNKS)
    (folder / "trees.conllu").write_text(trees)
    (folder / "words.txt").write_text("Time\nflies\n")
    (folder / "text.txt").write_text("Time flies.\n")


def run_quietly(command: str, folder: Path) -> None:
    """Run a command on the files of a folder, without its output."""
    from swvp.cli import app

    words = [str(folder / word) if "." in word else word for word in command.split()]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        app(words, standalone_mode=False)
