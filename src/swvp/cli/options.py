"""Owns the options that the commands for training share: each is declared once, as the type of a parameter.

Owns reading lists of values from options: "1,2,3" and "0.5:5:0.5".

Owns what is said where a command lacks arguments or options: all of them at once.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer
from typer.core import TyperCommand

from swvp.errors import InputError
from swvp.io.files import MAX_BYTES, set_max_bytes

__all__ = [
    "MAX_BYTES",
    "Average",
    "Beta",
    "Betas",
    "C",
    "Checkpoint",
    "Command",
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
    "floats",
    "integers",
    "names",
    "takes_options",
]

Options = TypeVar("Options")


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


def takes_options(command: Callable[[Options], None]) -> Callable[..., None]:
    """Make a command of a function whose only parameter is a dataclass of options."""
    options = get_type_hints(command)["given"]
    hints = get_type_hints(options, include_extras=True)

    def run(**given: Any) -> None:
        command(options(**given))

    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(options)
    ]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = hints
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def names(text: str | None) -> tuple[str, ...] | None:
    """The parts between commas; None stays None.

    >>> names("csp, a-wm")
    ('csp', 'a-wm')
    """
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())


def integers(option: str, text: str | None) -> tuple[int, ...] | None:
    """Whole numbers between commas."""
    try:
        return None if text is None else tuple(int(part) for part in names(text) or ())
    except ValueError:
        raise InputError(f"--{option} takes whole numbers between commas, not '{text}'") from None


def floats(option: str, text: str | None) -> tuple[float, ...] | None:
    """Numbers between commas, or FIRST:LAST:STEP.

    >>> floats("betas", "0.5:2:0.5")
    (0.5, 1.0, 1.5, 2.0)
    """
    if text is None:
        return None
    try:
        if ":" not in text:
            return tuple(float(part) for part in names(text) or ())
        first, last, step = (float(part) for part in text.split(":"))
        count = int((last - first) / step + 1e-9) + 1
        if not 1 <= count <= 10_000:
            raise ValueError
        return tuple(round(first + step * k, 10) for k in range(count))
    except (ValueError, ZeroDivisionError, OverflowError):
        raise InputError(f"--{option} takes numbers between commas, or FIRST:LAST:STEP, not '{text}'") from None


class Command(TyperCommand):
    """A command that names everything that is missing, not only the first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            if type(error).__name__ != "MissingParameter":
                raise
            values, _, _ = self.make_parser(ctx).parse_args(args=given)
            missing = [param for param in self.get_params(ctx) if param.required and not values.get(param.name or "")]
            if len(missing) < 2:
                raise
            return ctx.fail(f"Missing {' and '.join(map(hint, missing))}.")  # type: ignore[no-any-return]


def hint(param: Any) -> str:
    """An argument or option as messages name it."""
    names = param.opts if param.param_type_name == "option" else [param.metavar or str(param.name).upper()]
    return f"{param.param_type_name} " + " / ".join(f"'{name}'" for name in names)
