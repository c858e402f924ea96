"""Owns the options that the commands for training share: each is declared once, as the type of a parameter."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swvp.data.files import MAX_BYTES, set_max_bytes

__all__ = [
    "MAX_BYTES",
    "Average",
    "Beta",
    "Betas",
    "C",
    "Checkpoint",
    "Dev",
    "Encoding",
    "Epochs",
    "Fresh",
    "Jobs",
    "Load",
    "Log",
    "MaxBytes",
    "MinimumCount",
    "Model",
    "NotProse",
    "Patience",
    "Rule",
    "Rules",
    "Seed",
    "Train",
    "Tune",
]


def allow_bytes(most: int) -> int:
    """Set the limit for all files of the command."""
    set_max_bytes(most)
    return most


Train = Annotated[str, typer.Argument(metavar="TRAIN", help="Labelled sentences.")]
Model = Annotated[Path, typer.Option("--model", "-m", help="The model file to write.")]
Dev = Annotated[str | None, typer.Option(help="Labelled sentences that decide which pass is kept (the best).")]
Rule = Annotated[str, typer.Option(help="Update rule.")]
Beta = Annotated[float, typer.Option(help="β of the rule.")]
C = Annotated[float | None, typer.Option("--C", help="With step mira: the longest step.", show_default="1")]
Epochs = Annotated[int, typer.Option(help="Passes over the training sentences, at most.")]
Patience = Annotated[int | None, typer.Option(help="Stop after so many passes without a better dev score.")]
Average = Annotated[bool, typer.Option(help="Use the averaged weights, or the last ones.")]
MinimumCount = Annotated[int, typer.Option("--min-count", help="Leave out attributes that are rarer.")]
Seed = Annotated[int, typer.Option(min=0, help="Decides the order of the sentences.")]
Tune = Annotated[
    bool, typer.Option("--tune", help="Try rules, γ, sub-structures, steps and β on --dev, keep the best.")
]
Rules = Annotated[str | None, typer.Option(help="With --tune: the rules to try.")]
Betas = Annotated[str | None, typer.Option(help="With --tune: the β to try, as a list or FIRST:LAST:STEP.")]
Jobs = Annotated[int | None, typer.Option("--jobs", "-j", help="Threads for --tune.", show_default="all cores")]
NotProse = Annotated[
    bool, typer.Option("--not-prose", help="The lines are tokens with columns, though they look like prose.")
]
Encoding = Annotated[str, typer.Option(help="Of the files.")]
MaxBytes = Annotated[
    int,
    typer.Option(
        help="Refuse a .gz file or a pipe that gives more bytes than this, unpacked.", min=1, callback=allow_bytes
    ),
]
Log = Annotated[Path | None, typer.Option(help="Write what happened in each pass to this file, as JSON lines.")]
Checkpoint = Annotated[
    float, typer.Option(help="Seconds between checkpoints, from which the same command goes on if killed.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Start anew, whatever checkpoint there is.")]
Load = Annotated[Path | None, typer.Option(help="A Python file of yours to run first; it may register a γ or a JJ.")]
