"""Owns `swvp predict`: a model and a file in, the file with labels out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swvp.errors import InputError

__all__ = ["predict"]

EXAMPLES = """
In a column file the labels become one more column, the last; in CoNLL-U they replace the column that the tagger was
trained on. Every other byte stays as it is.

Examples:

  swvp predict chunker.swvp test.txt -o tagged.txt

  zcat news.txt.gz | swvp predict chunker.swvp - | less
"""


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `swvp train` wrote.")],
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="Sentences: a file, .gz too, or - for standard input.")
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="File to write, .gz too, or - for standard output.")
    ] = "-",
    encoding: Annotated[str, typer.Option(help="Of the input and the output.")] = "utf-8",
    conllu: Annotated[bool, typer.Option("--conllu", help="The input is CoNLL-U, whatever its name.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads.")] = 1,
) -> None:
    """Label sentences with a trained model."""
    from swvp.data.files import write_bytes
    from swvp.data.table import is_conllu, read_table
    from swvp.tagging.layout import layout_for_predicting, read_corpus, write_labels
    from swvp.tagging.tagger import Tagger

    if jobs < 1:
        raise InputError(f"jobs must be at least 1, not {jobs}")
    tagger = Tagger.load(model)
    tagger.n_jobs = jobs
    layout = layout_for_predicting(tagger)
    # standard input has no name to tell by: it is taken as what the tagger was trained on
    as_conllu = conllu or is_conllu(source) or (source == "-" and layout.conllu)
    table = read_table(source, encoding=encoding, conllu=as_conllu)
    corpus = read_corpus(table, layout, labelled=False, what="the tagger's training file")
    write_bytes(output, write_labels(table, layout, tagger.predict_labels(corpus)))
